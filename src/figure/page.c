/* SPDX-License-Identifier: MIT */
/* src/figure/page.c - see page.h. */
#include "figure/page.h"

#include "base/file.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <string.h>

enum { PNG_SCALE = 2, N_COLOURS = 7 };

static const double COLOURS[N_COLOURS][3] = {
    { 0.00, 0.45, 0.70 }, { 0.84, 0.37, 0.00 }, { 0.00, 0.62, 0.45 }, { 0.80, 0.47, 0.65 },
    { 0.90, 0.62, 0.00 }, { 0.34, 0.71, 0.91 }, { 0.00, 0.00, 0.00 },
};

typedef struct sink {
    rela_writer *writer;
    rela_status status;
    rela_error *err;
} sink;

static cairo_status_t write_bytes(void *closure, const unsigned char *bytes, unsigned int len);
static cairo_surface_t *make_surface(const char *path, sink *s, double w, double h, bool *png);
static void set_font(cairo_t *c);

rela_status rela_page_save(const char *path, double w, double h,
                           void (*draw)(void *ctx, cairo_t *c), void *ctx, rela_error *err)
{
    sink s = { .status = RELA_OK, .err = err };
    bool png = false;
    s.status = rela_writer_open(&s.writer, path, err);
    if (s.status != RELA_OK)
        return s.status;
    cairo_surface_t *surface = make_surface(path, &s, w, h, &png);
    if (!surface) {
        rela_writer_abort(s.writer);
        return rela_fail(err, RELA_ARG, "%s: a figure must end in .svg, .png or .pdf", path);
    }
    cairo_t *c = cairo_create(surface);
    if (png)
        cairo_scale(c, PNG_SCALE, PNG_SCALE);
    cairo_set_source_rgb(c, 1, 1, 1);
    cairo_paint(c);
    set_font(c);
    draw(ctx, c);
    cairo_status_t cs = cairo_status(c); /* of the first call that failed */
    cairo_destroy(c);
    if (png && cs == CAIRO_STATUS_SUCCESS)
        cs = cairo_surface_write_to_png_stream(surface, write_bytes, &s);
    cairo_surface_finish(surface);
    if (cs == CAIRO_STATUS_SUCCESS)
        cs = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (s.status == RELA_OK && cs != CAIRO_STATUS_SUCCESS && cs != CAIRO_STATUS_SURFACE_FINISHED)
        s.status = rela_fail(err, RELA_NOMEM, "%s: %s", path, cairo_status_to_string(cs));
    if (s.status == RELA_OK)
        return rela_writer_commit(s.writer, err);
    rela_writer_abort(s.writer);
    return s.status;
}

cairo_t *rela_page_ruler(void)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    cairo_t *c = cairo_create(surface);
    cairo_surface_destroy(surface); /* the context keeps it */
    if (cairo_status(c) != CAIRO_STATUS_SUCCESS) {
        cairo_destroy(c);
        return NULL;
    }
    set_font(c);
    return c;
}

double rela_page_text_width(cairo_t *c, const char *s)
{
    cairo_text_extents_t e;
    cairo_text_extents(c, s, &e);
    return e.x_advance;
}

void rela_page_text(cairo_t *c, const char *s, double x, double y, double align)
{
    if (!s)
        return;
    cairo_move_to(c, x - align * rela_page_text_width(c, s), y);
    cairo_show_text(c, s);
}

void rela_page_colour(cairo_t *c, size_t number)
{
    const double *colour = COLOURS[number % N_COLOURS];
    cairo_set_source_rgb(c, colour[0], colour[1], colour[2]);
}

static void set_font(cairo_t *c)
{
    cairo_select_font_face(c, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(c, RELA_FONT);
}

static cairo_status_t write_bytes(void *closure, const unsigned char *bytes, unsigned int len)
{
    sink *s = closure;
    if (s->status == RELA_OK)
        s->status = rela_writer_write(s->writer, (const char *)bytes, len, s->err);
    return s->status == RELA_OK ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static cairo_surface_t *make_surface(const char *path, sink *s, double w, double h, bool *png)
{
    const char *dot = strrchr(path, '.');
    if (dot && strcmp(dot, ".svg") == 0)
        return cairo_svg_surface_create_for_stream(write_bytes, s, w, h);
    if (dot && strcmp(dot, ".pdf") == 0)
        return cairo_pdf_surface_create_for_stream(write_bytes, s, w, h);
    *png = dot && strcmp(dot, ".png") == 0;
    return *png ? cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)w * PNG_SCALE,
                                             (int)h * PNG_SCALE)
                : NULL;
}

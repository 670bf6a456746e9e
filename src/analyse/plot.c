/* SPDX-License-Identifier: MIT */
/* src/analyse/plot.c - see plot.h. */
#include "analyse/plot.h"

#include "base/file.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TICKS = 6, PNG_SCALE = 2, N_COLOURS = 7 };

static const double COLOURS[N_COLOURS][3] = {
    { 0.00, 0.45, 0.70 }, { 0.84, 0.37, 0.00 }, { 0.00, 0.62, 0.45 }, { 0.80, 0.47, 0.65 },
    { 0.90, 0.62, 0.00 }, { 0.34, 0.71, 0.91 }, { 0.00, 0.00, 0.00 },
};

static const double MARGIN_LEFT = 62, MARGIN_RIGHT = 16, MARGIN_TOP = 34, MARGIN_BOTTOM = 46;
static const double FONT = 11, FONT_TITLE = 13;

/* An axis: the range of values and where it lies on the page. */
typedef struct axis {
    double low, high; /* values (logarithms if log) */
    double from, to;  /* page */
    bool log;
} axis;

typedef struct page {
    cairo_t *c;
    const rela_plot *p;
    axis x, y;
} page;

typedef struct sink {
    rela_writer *writer;
    rela_status status;
    rela_error *err;
} sink;

static cairo_status_t write_bytes(void *closure, const unsigned char *bytes, unsigned int len);
static cairo_surface_t *make_surface(const char *path, sink *s, double w, double h, bool *png);
static void draw(cairo_t *c, const rela_plot *p, double w, double h);
static void find_range(axis *a, const rela_plot *p, bool vertical);
static void draw_axis(const page *g, bool vertical);
static void draw_series(const page *g, size_t i);
static void draw_legend(const page *g);
static double place(const axis *a, double v);
static double nice_step(double range);
static void text_at(cairo_t *c, const char *s, double x, double y, double align);
static void tick_text(char *out, size_t size, double v, double step);

rela_status rela_plot_save(const rela_plot *p, const char *path, rela_error *err)
{
    const double w = p->width > 0 ? p->width : 480, h = p->height > 0 ? p->height : 320;
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
    draw(c, p, w, h);
    cairo_destroy(c);
    if (png)
        (void)cairo_surface_write_to_png_stream(surface, write_bytes, &s);
    cairo_surface_finish(surface);
    const cairo_status_t cs = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (s.status == RELA_OK && cs != CAIRO_STATUS_SUCCESS && cs != CAIRO_STATUS_SURFACE_FINISHED)
        s.status = rela_fail(err, RELA_NOMEM, "%s: %s", path, cairo_status_to_string(cs));
    if (s.status == RELA_OK)
        return rela_writer_commit(s.writer, err);
    rela_writer_abort(s.writer);
    return s.status;
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

static void draw(cairo_t *c, const rela_plot *p, double w, double h)
{
    page g = { .c = c,
               .p = p,
               .x = { .from = MARGIN_LEFT, .to = w - MARGIN_RIGHT },
               .y = { .from = h - MARGIN_BOTTOM, .to = MARGIN_TOP, .log = p->log_y } };
    cairo_set_source_rgb(c, 1, 1, 1);
    cairo_paint(c);
    cairo_select_font_face(c, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    find_range(&g.x, p, false);
    find_range(&g.y, p, true);
    cairo_set_source_rgb(c, 0, 0, 0);
    cairo_set_font_size(c, FONT_TITLE);
    text_at(c, p->title, (g.x.from + g.x.to) / 2, MARGIN_TOP - 14, 0.5);
    cairo_set_font_size(c, FONT);
    draw_axis(&g, false);
    draw_axis(&g, true);
    cairo_rectangle(c, g.x.from, g.y.to, g.x.to - g.x.from, g.y.from - g.y.to);
    cairo_clip(c);
    for (size_t i = 0; i < p->n_series; i++)
        draw_series(&g, i);
    cairo_reset_clip(c);
    draw_legend(&g);
}

static bool usable(const axis *a, double v)
{
    return isfinite(v) && (!a->log || v > 0);
}

static void find_range(axis *a, const rela_plot *p, bool vertical)
{
    a->low = INFINITY;
    a->high = -INFINITY;
    for (size_t i = 0; i < p->n_series; i++)
        for (size_t j = 0; j < p->series[i].n; j++) {
            const double v = vertical ? p->series[i].y[j] : p->series[i].x[j];
            if (!usable(a, v))
                continue;
            const double t = a->log ? log10(v) : v;
            a->low = t < a->low ? t : a->low;
            a->high = t > a->high ? t : a->high;
        }
    if (!(a->low <= a->high)) { /* nothing to show */
        a->low = 0;
        a->high = 1;
    }
    if (a->low == a->high) {
        a->low -= 0.5;
        a->high += 0.5;
    }
    if (vertical) { /* air above and below the curves */
        const double air = 0.05 * (a->high - a->low);
        a->low -= air;
        a->high += air;
    }
}

static double place(const axis *a, double v)
{
    const double t = a->log ? log10(v) : v;
    return a->from + (t - a->low) / (a->high - a->low) * (a->to - a->from);
}

static double nice_step(double range)
{
    const double rough = range / TICKS, unit = pow(10, floor(log10(rough)));
    const double m = rough / unit;
    return unit * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10);
}

static void tick_text(char *out, size_t size, double v, double step)
{
    const int digits = step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);
    if (fabs(v) >= 1e5)
        rela_format_text(out, size, "%.3gK", v / 1e3);
    else
        rela_format_text(out, size, "%.*f", digits > 8 ? 8 : digits, v);
}

static void draw_tick(const page *g, bool vertical, double at, const char *label)
{
    cairo_t *c = g->c;
    cairo_set_source_rgb(c, 0.88, 0.88, 0.88);
    cairo_set_line_width(c, 0.7);
    if (vertical) {
        cairo_move_to(c, g->x.from, at);
        cairo_line_to(c, g->x.to, at);
    } else {
        cairo_move_to(c, at, g->y.from);
        cairo_line_to(c, at, g->y.to);
    }
    cairo_stroke(c);
    cairo_set_source_rgb(c, 0, 0, 0);
    if (vertical)
        text_at(c, label, g->x.from - 6, at + 4, 1);
    else
        text_at(c, label, at, g->y.from + 15, 0.5);
}

static void draw_axis(const page *g, bool vertical)
{
    const axis *a = vertical ? &g->y : &g->x;
    cairo_t *c = g->c;
    char label[48];
    const double step = nice_step(a->high - a->low);
    const double first = ceil(a->low / step);
    const int n = (int)floor(a->high / step + 1e-9 - first);
    for (int i = 0; i <= n; i++) {
        const double v = (first + i) * step;
        const double value = a->log ? pow(10, v) : fabs(v) < 1e-12 * step ? 0 : v;
        if (a->log)
            rela_format_text(label, sizeof label, "%.3g", value);
        else
            tick_text(label, sizeof label, value, step);
        draw_tick(g, vertical, place(a, value), label);
    }
    cairo_set_source_rgb(c, 0, 0, 0);
    cairo_set_line_width(c, 1);
    cairo_move_to(c, g->x.from, vertical ? g->y.to : g->y.from);
    cairo_line_to(c, vertical ? g->x.from : g->x.to, g->y.from);
    cairo_stroke(c);
    if (!vertical) {
        text_at(c, g->p->x_label, (a->from + a->to) / 2, a == &g->x ? g->y.from + 34 : 0, 0.5);
        return;
    }
    cairo_save(c);
    cairo_translate(c, 14, (a->from + a->to) / 2);
    cairo_rotate(c, -1.57079632679489661923);
    text_at(c, g->p->y_label, 0, 0, 0.5);
    cairo_restore(c);
}

static void set_style(cairo_t *c, size_t i)
{
    static const double DASHES[][2] = { { 0, 0 }, { 7, 3 }, { 2, 2 } };
    const double *colour = COLOURS[i % N_COLOURS], *dash = DASHES[i % 3];
    cairo_set_source_rgb(c, colour[0], colour[1], colour[2]);
    cairo_set_dash(c, dash, dash[0] > 0 ? 2 : 0, 0);
    cairo_set_line_width(c, 1.6);
}

static void draw_series(const page *g, size_t i)
{
    const rela_series *s = &g->p->series[i];
    bool pen_down = false;
    set_style(g->c, i);
    for (size_t j = 0; j < s->n; j++) {
        const bool good = isfinite(s->x[j]) && usable(&g->y, s->y[j]);
        if (good && pen_down)
            cairo_line_to(g->c, place(&g->x, s->x[j]), place(&g->y, s->y[j]));
        else if (good)
            cairo_move_to(g->c, place(&g->x, s->x[j]), place(&g->y, s->y[j]));
        pen_down = good;
    }
    cairo_stroke(g->c);
    cairo_set_dash(g->c, NULL, 0, 0);
    for (size_t j = 0; g->p->markers && j < s->n; j++) {
        if (!isfinite(s->x[j]) || !usable(&g->y, s->y[j]))
            continue;
        cairo_arc(g->c, place(&g->x, s->x[j]), place(&g->y, s->y[j]), 2.4, 0, 6.28318530717958648);
        cairo_fill(g->c);
    }
}

static void draw_legend(const page *g)
{
    double width = 0, y = g->y.to + 8;
    size_t n = 0;
    for (size_t i = 0; i < g->p->n_series; i++) {
        cairo_text_extents_t e;
        if (!g->p->series[i].label)
            continue;
        cairo_text_extents(g->c, g->p->series[i].label, &e);
        width = e.x_advance > width ? e.x_advance : width;
        n++;
    }
    if (n < 2)
        return;
    const double left = g->x.to - width - 44;
    cairo_set_source_rgba(g->c, 1, 1, 1, 0.85);
    cairo_rectangle(g->c, left - 4, y - 4, width + 44, 15 * (double)n + 6);
    cairo_fill(g->c);
    for (size_t i = 0; i < g->p->n_series; i++) {
        if (!g->p->series[i].label)
            continue;
        set_style(g->c, i);
        cairo_move_to(g->c, left, y + 6);
        cairo_line_to(g->c, left + 28, y + 6);
        cairo_stroke(g->c);
        cairo_set_dash(g->c, NULL, 0, 0);
        cairo_set_source_rgb(g->c, 0, 0, 0);
        text_at(g->c, g->p->series[i].label, left + 34, y + 10, 0);
        y += 15;
    }
}

/* align: 0 left, 0.5 centre, 1 right of x. */
static void text_at(cairo_t *c, const char *s, double x, double y, double align)
{
    cairo_text_extents_t e;
    if (!s)
        return;
    cairo_text_extents(c, s, &e);
    cairo_move_to(c, x - align * e.x_advance, y);
    cairo_show_text(c, s);
}

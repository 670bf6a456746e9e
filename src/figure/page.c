/* SPDX-License-Identifier: MIT */
/* src/figure/page.c - see page.h. */
#include "figure/page.h"

#include "base/file.h"
#include "base/markup.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

enum { PNG_SCALE = 2, N_COLOURS = 7, LINE_BYTES = 512 };

static const double COLOURS[N_COLOURS][3] = {
    { 0.00, 0.45, 0.70 }, { 0.84, 0.37, 0.00 }, { 0.00, 0.62, 0.45 }, { 0.80, 0.47, 0.65 },
    { 0.90, 0.62, 0.00 }, { 0.34, 0.71, 0.91 }, { 0.00, 0.00, 0.00 },
};

typedef struct sink {
    rela_writer *writer;
    rela_buffer svg;   /* the drawing that cairo made, without text */
    rela_buffer texts; /* elements to add to it */
    rela_status status;
    rela_error *err;
} sink;

/* Its address is the user data key under which a context has the sink of an SVG. */
static const cairo_user_data_key_t TEXTS;

static rela_status save(rela_file_set *set, const char *path, double w, double h,
                        void (*draw)(void *ctx, cairo_t *c), void *ctx, rela_error *err);
static bool start_fonts(void);
static cairo_status_t write_bytes(void *closure, const unsigned char *bytes, unsigned int len);
static cairo_status_t keep_bytes(void *closure, const unsigned char *bytes, unsigned int len);
static cairo_surface_t *make_surface(const char *path, sink *s, double w, double h);
static cairo_status_t draw_surface(sink *s, cairo_surface_t *surface,
                                   void (*draw)(void *ctx, cairo_t *c), void *ctx);
static void add_text(sink *s, cairo_t *c, const char *text, double x, double y, double align);
static rela_status write_svg(sink *s);
static void set_font(cairo_t *c);
static double start_width(cairo_t *c, const char *s, size_t n);
static size_t broken_word(cairo_t *c, const char *s, double width);

rela_status rela_page_save(rela_file_set *set, const char *path, double w, double h,
                           void (*draw)(void *ctx, cairo_t *c), void *ctx, rela_error *err)
{
    rela_mem_purpose_set("figures");
    const rela_status st = start_fonts()
                               ? save(set, path, w, h, draw, ctx, err)
                               : rela_fail(err, RELA_NOMEM, "%s: no memory for fonts", path);
    rela_mem_purpose_set(NULL);
    return st;
}

static rela_status save(rela_file_set *set, const char *path, double w, double h,
                        void (*draw)(void *ctx, cairo_t *c), void *ctx, rela_error *err)
{
    sink s = { .status = RELA_OK, .err = err };
    s.status = rela_writer_open_in(&s.writer, set, path, err);
    if (s.status != RELA_OK)
        return s.status;
    cairo_surface_t *surface = make_surface(path, &s, w, h);
    if (!surface) {
        rela_writer_abort(s.writer);
        return rela_fail(err, RELA_ARG, "%s: a figure must end in .svg, .png or .pdf", path);
    }
    const bool svg = cairo_surface_get_type(surface) == CAIRO_SURFACE_TYPE_SVG;
    const cairo_status_t cs = draw_surface(&s, surface, draw, ctx);
    cairo_surface_destroy(surface);
    if (s.status == RELA_OK && cs != CAIRO_STATUS_SUCCESS && cs != CAIRO_STATUS_SURFACE_FINISHED)
        s.status = rela_fail(err, RELA_NOMEM, "%s: %s", path, cairo_status_to_string(cs));
    if (s.status == RELA_OK && svg)
        s.status = write_svg(&s);
    rela_buffer_free(&s.svg);
    rela_buffer_free(&s.texts);
    if (s.status == RELA_OK)
        return rela_writer_commit(s.writer, err);
    rela_writer_abort(s.writer);
    return s.status;
}

/* fontconfig, which cairo asks for fonts, tries again for ever if there is no memory to read its
 * configuration; so it is read here before. cairo may have been built without it. */
static bool start_fonts(void)
{
    typedef void *loader(void);
    typedef int setter(void *config);
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool started;
    void *symbols[] = { dlsym(RTLD_DEFAULT, "FcInitLoadConfigAndFonts"),
                        dlsym(RTLD_DEFAULT, "FcConfigSetCurrent") };
    (void)pthread_mutex_lock(&lock);
    if (!started && symbols[0] && symbols[1]) {
        loader *load = NULL;
        setter *set_current = NULL;
        memcpy(&load, &symbols[0], sizeof load);
        memcpy(&set_current, &symbols[1], sizeof set_current);
        void *config = load();
        started = config && set_current(config);
    } else {
        started = true;
    }
    const bool good = started;
    (void)pthread_mutex_unlock(&lock);
    return good;
}

cairo_t *rela_page_ruler(void)
{
    rela_mem_purpose_set("figures");
    if (!start_fonts()) {
        rela_mem_purpose_set(NULL);
        return NULL;
    }
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    cairo_t *c = cairo_create(surface);
    cairo_surface_destroy(surface); /* the context keeps it */
    if (cairo_status(c) != CAIRO_STATUS_SUCCESS) {
        cairo_destroy(c);
        rela_mem_purpose_set(NULL);
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

size_t rela_page_line(cairo_t *c, const char *s, double width)
{
    size_t fits = 0;
    for (size_t n = strcspn(s, " ");; n += 1 + strcspn(s + n + 1, " ")) {
        if (start_width(c, s, n) > width)
            break;
        fits = n;
        if (s[n] == '\0')
            break;
    }
    return fits || *s == '\0' ? fits : broken_word(c, s, width);
}

void rela_page_shorten(char *out, size_t size, cairo_t *c, const char *s, double width)
{
    const size_t len = strlen(s), most = rela_utf8_count(s, len);
    rela_format_text(out, size, "%s", s);
    for (size_t n = most; n > 2 && rela_page_text_width(c, out) > width; n--) {
        const size_t first = rela_utf8_prefix(s, len, n / 2);
        const size_t last = rela_utf8_prefix(s, len, most - (n - 1) / 2);
        rela_format_text(out, size, "%.*s\xE2\x80\xA6%s", (int)first, s, s + last);
    }
}

size_t rela_page_per_line(size_t *lines, size_t n, double item, double width)
{
    const double fit = width > 0 ? floor(width / item + 1e-9) : (double)n;
    const size_t most = fit < 1 ? 1 : fit < (double)n ? (size_t)fit : n;
    *lines = most ? (n + most - 1) / most : 0;
    return *lines ? (n + *lines - 1) / *lines : 1;
}

/* Width of the first n bytes of s. */
static double start_width(cairo_t *c, const char *s, size_t n)
{
    char line[LINE_BYTES];
    rela_format_text(line, sizeof line, "%.*s", (int)n, s);
    return rela_page_text_width(c, line);
}

static size_t broken_word(cairo_t *c, const char *s, double width)
{
    const size_t word = strcspn(s, " ");
    size_t n = rela_utf8_prefix(s, word, 1);
    for (size_t k = 2; n < word; k++) {
        const size_t more = rela_utf8_prefix(s, word, k);
        if (start_width(c, s, more) > width)
            break;
        n = more;
    }
    return n;
}

void rela_page_text(cairo_t *c, const char *s, double x, double y, double align)
{
    if (!s)
        return;
    const double width = rela_page_text_width(c, s); /* fails if s is not UTF-8 */
    sink *svg = cairo_get_user_data(c, &TEXTS);
    if (svg) {
        add_text(svg, c, s, x, y, align);
        return;
    }
    cairo_move_to(c, x - align * width, y);
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

static cairo_status_t keep_bytes(void *closure, const unsigned char *bytes, unsigned int len)
{
    sink *s = closure;
    if (s->status == RELA_OK)
        s->status = rela_buffer_append(&s->svg, (const char *)bytes, len, s->err);
    return s->status == RELA_OK ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

/* Without the time of day, so that the same figure gives the same bytes. */
static cairo_surface_t *make_pdf(sink *s, double w, double h)
{
    cairo_surface_t *pdf = cairo_pdf_surface_create_for_stream(write_bytes, s, w, h);
    cairo_pdf_surface_set_metadata(pdf, CAIRO_PDF_METADATA_CREATE_DATE, "");
    return pdf;
}

static cairo_surface_t *make_surface(const char *path, sink *s, double w, double h)
{
    const char *dot = strrchr(path, '.');
    if (dot && strcmp(dot, ".svg") == 0)
        return cairo_svg_surface_create_for_stream(keep_bytes, s, w, h);
    if (dot && strcmp(dot, ".pdf") == 0)
        return make_pdf(s, w, h);
    return dot && strcmp(dot, ".png") == 0
               ? cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)w * PNG_SCALE,
                                            (int)h * PNG_SCALE)
               : NULL;
}

static cairo_status_t draw_surface(sink *s, cairo_surface_t *surface,
                                   void (*draw)(void *ctx, cairo_t *c), void *ctx)
{
    const cairo_surface_type_t type = cairo_surface_get_type(surface);
    cairo_t *c = cairo_create(surface);
    if (type == CAIRO_SURFACE_TYPE_IMAGE)
        cairo_scale(c, PNG_SCALE, PNG_SCALE);
    cairo_set_source_rgb(c, 1, 1, 1);
    cairo_paint(c);
    set_font(c);
    if (type == CAIRO_SURFACE_TYPE_SVG)
        (void)cairo_set_user_data(c, &TEXTS, s, NULL); /* a failure is in the status of c */
    draw(ctx, c);
    cairo_status_t cs = cairo_status(c); /* of the first call that failed */
    cairo_destroy(c);
    if (type == CAIRO_SURFACE_TYPE_IMAGE && cs == CAIRO_STATUS_SUCCESS)
        cs = cairo_surface_write_to_png_stream(surface, write_bytes, s);
    cairo_surface_finish(surface);
    return cs == CAIRO_STATUS_SUCCESS ? cairo_surface_status(surface) : cs;
}

/* ---- text of an SVG ---- */

/* cairo turns text into outlines, which cannot be searched or copied. So we write text elements of
 * our own, above the drawing. The anchor keeps a text in place if another font is used. */
static void add_text(sink *s, cairo_t *c, const char *text, double x, double y, double align)
{
    static const char *const ANCHORS[] = { "start", "middle", "end" };
    cairo_matrix_t m, font;
    double red = 0, green = 0, blue = 0, alpha = 0;
    cairo_get_matrix(c, &m);
    cairo_get_font_matrix(c, &font);
    cairo_user_to_device(c, &x, &y);
    (void)cairo_pattern_get_rgba(cairo_get_source(c), &red, &green, &blue, &alpha);
    const double angle = atan2(m.yx, m.xx) * 57.29577951308232088;
    if (s->status == RELA_OK)
        s->status = rela_buffer_printf(&s->texts, s->err,
                                       "<text x=\"%.2f\" y=\"%.2f\" font-size=\"%g\" "
                                       "text-anchor=\"%s\" fill=\"rgb(%.0f,%.0f,%.0f)\"",
                                       x, y, font.xx, ANCHORS[(int)(2 * align)], 255 * red,
                                       255 * green, 255 * blue);
    if (s->status == RELA_OK && angle != 0)
        s->status = rela_buffer_printf(&s->texts, s->err, " transform=\"rotate(%.2f %.2f %.2f)\"",
                                       angle, x, y);
    if (s->status == RELA_OK)
        s->status = rela_buffer_append_char(&s->texts, '>', s->err);
    if (s->status == RELA_OK)
        s->status = rela_markup_append(&s->texts, text, s->err);
    if (s->status == RELA_OK)
        s->status = rela_buffer_append_text(&s->texts, "</text>\n", s->err);
}

/* Writes the drawing, with the texts inserted before its closing tag. */
static rela_status write_svg(sink *s)
{
    static const char OPEN[] = "<g font-family=\"sans-serif\">\n", CLOSE[] = "</g>\n";
    size_t end = s->svg.len;
    while (end > 0 && s->svg.data[end] != '<')
        end--;
    rela_status st = rela_writer_write(s->writer, s->svg.data, end, s->err);
    if (st == RELA_OK)
        st = rela_writer_write(s->writer, OPEN, sizeof OPEN - 1, s->err);
    if (st == RELA_OK && s->texts.len)
        st = rela_writer_write(s->writer, s->texts.data, s->texts.len, s->err);
    if (st == RELA_OK)
        st = rela_writer_write(s->writer, CLOSE, sizeof CLOSE - 1, s->err);
    return st == RELA_OK ? rela_writer_write(s->writer, s->svg.data + end, s->svg.len - end, s->err)
                         : st;
}

double rela_tick_step(double range, int n)
{
    const double rough = range / n, unit = pow(10, floor(log10(rough)));
    const double m = rough / unit;
    return unit * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10);
}

void rela_tick_text(char *out, size_t size, double v, double step)
{
    const int digits = step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);
    if (fabs(v) >= 1e5)
        rela_format_text(out, size, "%.3gK", v / 1e3);
    else
        rela_format_text(out, size, "%.*f", digits > 8 ? 8 : digits, v);
}

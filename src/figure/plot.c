/* SPDX-License-Identifier: MIT */
/* src/figure/plot.c - see plot.h. */
#include "figure/plot.h"

#include "base/str.h"
#include "figure/page.h"

#include <math.h>

enum { TICKS = 6, LABEL_BYTES = 256 };

static const double MARGIN_LEFT = 62, MARGIN_RIGHT = 16, MARGIN_TOP = 34, MARGIN_BOTTOM = 46;
static const double WIDTH = 480, HEIGHT = 320, LEGEND_LINE = 15, SAMPLE = 28;

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

static void draw_page(void *ctx, cairo_t *c);
static void draw(cairo_t *c, const rela_plot *p, double w, double h);
static void draw_legend(cairo_t *c, const rela_plot *p, double w, double y);
static double legend_height(cairo_t *ruler, const rela_plot *p, double w);
static void find_range(axis *a, const rela_plot *p, bool vertical);
static void draw_axis(const page *g, bool vertical);
static void draw_series(const page *g, size_t i);
static double place(const axis *a, double v);

/* A figure: panels in rows. */
typedef struct figure {
    const rela_plot *plots;
    size_t n, per_line;
    double w, h; /* of the panels */
} figure;

/* A single curve needs no legend. All panels have the same series. */
static bool has_legend(const rela_plot *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_series; i++)
        n += p->series[i].label != NULL;
    return n > 1;
}

static double width_of(const rela_plot *p)
{
    return p->width > 0 ? p->width : WIDTH;
}

static double height_of(const rela_plot *p)
{
    return p->height > 0 ? p->height : HEIGHT;
}

bool rela_plot_available(void)
{
    return true;
}

rela_status rela_plot_save(const rela_plot *p, rela_file_set *set, const char *path,
                           rela_error *err)
{
    return rela_plots_save(p, 1, 1, set, path, err);
}

rela_status rela_plots_save(const rela_plot *plots, size_t n, size_t per_line, rela_file_set *set,
                            const char *path, rela_error *err)
{
    const size_t lines = (n + per_line - 1) / per_line, columns = n < per_line ? n : per_line;
    figure f = { plots, n, per_line, (double)columns * width_of(plots),
                 (double)lines * height_of(plots) };
    double legend = 0;
    if (has_legend(plots)) {
        cairo_t *ruler = rela_page_ruler();
        if (!ruler)
            return rela_fail(err, RELA_NOMEM, "%s: no memory to draw", path);
        legend = legend_height(ruler, plots, f.w);
        cairo_destroy(ruler);
    }
    return rela_page_save(set, path, f.w, f.h + legend, draw_page, &f, err);
}

static void draw_page(void *ctx, cairo_t *c)
{
    const figure *f = ctx;
    for (size_t i = 0; i < f->n; i++) {
        const rela_plot *p = &f->plots[i];
        cairo_save(c);
        const size_t column = i % f->per_line, line = i / f->per_line;
        cairo_translate(c, (double)column * width_of(p), (double)line * height_of(p));
        draw(c, p, width_of(p), height_of(p));
        cairo_restore(c);
    }
    if (has_legend(f->plots))
        draw_legend(c, f->plots, f->w, f->h);
}

static void draw(cairo_t *c, const rela_plot *p, double w, double h)
{
    page g = { .c = c,
               .p = p,
               .x = { .from = MARGIN_LEFT, .to = w - MARGIN_RIGHT },
               .y = { .from = h - MARGIN_BOTTOM, .to = MARGIN_TOP, .log = p->log_y } };
    find_range(&g.x, p, false);
    find_range(&g.y, p, true);
    cairo_set_source_rgb(c, 0, 0, 0);
    cairo_set_font_size(c, RELA_FONT_TITLE);
    rela_page_text(c, p->title, (g.x.from + g.x.to) / 2, MARGIN_TOP - 14, 0.5);
    cairo_set_font_size(c, RELA_FONT);
    draw_axis(&g, false);
    draw_axis(&g, true);
    for (size_t i = 0; i < p->n_series; i++)
        draw_series(&g, i);
}

static bool usable(const axis *a, double v)
{
    return isfinite(v) && (!a->log || v > 0);
}

/* Of a single value: from zero to it, as there is no other scale; a layer or a logarithm is in the
 * middle. */
static void widen_range(axis *a, bool middle)
{
    if (middle) {
        a->low -= 0.5;
        a->high += 0.5;
    } else if (a->low == 0) {
        a->high = 1;
    } else {
        a->low = fmin(a->low, 0);
        a->high = fmax(a->high, 0);
    }
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
    if (vertical && p->y_low < p->y_high) {
        a->low = p->y_low < a->low ? p->y_low : a->low;
        a->high = p->y_high > a->high ? p->y_high : a->high;
        return;
    }
    if (!(a->low <= a->high)) { /* nothing to show */
        a->low = 0;
        a->high = 1;
    }
    const bool single = a->low == a->high, whole = !vertical && p->whole_x;
    if (single)
        widen_range(a, whole || a->log);
    if (whole) { /* so that markers do not touch the axis */
        a->low -= 0.15;
        a->high += 0.15;
    }
    if (vertical) { /* air above and below the curves */
        const double air = 0.05 * (a->high - a->low);
        a->low -= single && a->low == 0 ? 0 : air;
        a->high += single && a->high == 0 ? 0 : air;
    }
}

static double place(const axis *a, double v)
{
    const double t = a->log ? log10(v) : v;
    return a->from + (t - a->low) / (a->high - a->low) * (a->to - a->from);
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
        rela_page_text(c, label, g->x.from - 6, at + 4, 1);
    else
        rela_page_text(c, label, at, g->y.from + 15, 0.5);
}

static void draw_axis(const page *g, bool vertical)
{
    const axis *a = vertical ? &g->y : &g->x;
    cairo_t *c = g->c;
    char label[48];
    double step = rela_tick_step(a->high - a->low, TICKS);
    if (!vertical && g->p->whole_x && step < 1)
        step = 1;
    const double first = ceil(a->low / step);
    const int n = (int)floor(a->high / step + 1e-9 - first);
    for (int i = 0; i <= n; i++) {
        const double v = (first + i) * step;
        const double value = a->log ? pow(10, v) : fabs(v) < 1e-12 * step ? 0 : v;
        if (a->log)
            rela_format_text(label, sizeof label, "%.3g", value);
        else
            rela_tick_text(label, sizeof label, value, step);
        draw_tick(g, vertical, place(a, value), label);
    }
    cairo_set_source_rgb(c, 0, 0, 0);
    cairo_set_line_width(c, 1);
    cairo_move_to(c, g->x.from, vertical ? g->y.to : g->y.from);
    cairo_line_to(c, vertical ? g->x.from : g->x.to, g->y.from);
    cairo_stroke(c);
    if (!vertical) {
        rela_page_text(c, g->p->x_label, (a->from + a->to) / 2, a == &g->x ? g->y.from + 34 : 0,
                       0.5);
        return;
    }
    cairo_save(c);
    cairo_translate(c, 14, (a->from + a->to) / 2);
    cairo_rotate(c, -1.57079632679489661923);
    rela_page_text(c, g->p->y_label, 0, 0, 0.5);
    cairo_restore(c);
}

static rela_style style_of(const rela_plot *p, size_t i)
{
    return p->styles ? p->styles[i] : (rela_style){ .colour = (int)i, .dash = (int)(i % 3) };
}

static void set_style(cairo_t *c, const rela_plot *p, size_t i)
{
    static const double DASHES[][2] = { { 0, 0 }, { 7, 3 }, { 2, 2 } };
    const rela_style style = style_of(p, i);
    const double *dash = DASHES[style.dash % 3];
    rela_page_colour(c, (size_t)style.colour);
    cairo_set_dash(c, dash, dash[0] > 0 ? 2 : 0, 0);
    cairo_set_line_width(c, 1.6);
}

/* Whether there is a point to show. */
static bool good_point(const rela_series *s, size_t j, bool log_y)
{
    const axis y = { .log = log_y };
    return j < s->n && isfinite(s->x[j]) && usable(&y, s->y[j]);
}

/* A point without neighbours is on no line, so it needs a marker to be seen. */
static bool has_marker(const rela_plot *p, size_t i, size_t j)
{
    const rela_series *s = &p->series[i];
    return good_point(s, j, p->log_y) &&
           (p->markers || style_of(p, i).markers ||
            !(good_point(s, j + 1, p->log_y) || (j > 0 && good_point(s, j - 1, p->log_y))));
}

static void draw_marker(cairo_t *c, double x, double y)
{
    cairo_new_path(c);
    cairo_arc(c, x, y, 2.4, 0, 6.28318530717958648);
    cairo_fill(c);
}

static void draw_series(const page *g, size_t i)
{
    const rela_series *s = &g->p->series[i];
    bool pen_down = false;
    set_style(g->c, g->p, i);
    for (size_t j = 0; j < s->n; j++) {
        const bool good = good_point(s, j, g->p->log_y);
        if (good && pen_down)
            cairo_line_to(g->c, place(&g->x, s->x[j]), place(&g->y, s->y[j]));
        else if (good)
            cairo_move_to(g->c, place(&g->x, s->x[j]), place(&g->y, s->y[j]));
        pen_down = good;
    }
    cairo_stroke(g->c);
    cairo_set_dash(g->c, NULL, 0, 0);
    for (size_t j = 0; j < s->n; j++)
        if (has_marker(g->p, i, j))
            draw_marker(g->c, place(&g->x, s->x[j]), place(&g->y, s->y[j]));
}

/* Looks like the series: with a line if it has one, with a marker if it has any. */
static void draw_sample(cairo_t *c, const rela_plot *p, size_t i, double x, double y)
{
    const rela_series *s = &p->series[i];
    bool line = false, marker = false;
    for (size_t j = 0; j < s->n; j++) {
        line = line || (good_point(s, j, p->log_y) && good_point(s, j + 1, p->log_y));
        marker = marker || has_marker(p, i, j);
    }
    set_style(c, p, i);
    cairo_move_to(c, x, y);
    cairo_line_to(c, x + SAMPLE, y);
    if (line || !marker)
        cairo_stroke(c);
    cairo_set_dash(c, NULL, 0, 0);
    if (marker)
        draw_marker(c, x + SAMPLE / 2, y);
}

/* The label of a series as it fits into a page of width w; returns the width of its entry. */
static double legend_entry(char label[LABEL_BYTES], cairo_t *c, const rela_series *s, double w)
{
    rela_page_shorten(label, LABEL_BYTES, c, s->label, w - MARGIN_LEFT - SAMPLE - 6);
    return rela_page_text_width(c, label) + SAMPLE + 28;
}

/* Entries side by side, as many lines as they need. */
static void draw_legend(cairo_t *c, const rela_plot *p, double w, double y)
{
    char label[LABEL_BYTES];
    double x = MARGIN_LEFT;
    y += 4;
    for (size_t i = 0; i < p->n_series; i++) {
        if (!p->series[i].label)
            continue;
        const double wide = legend_entry(label, c, &p->series[i], w);
        if (x > MARGIN_LEFT && x + wide > w) {
            x = MARGIN_LEFT;
            y += LEGEND_LINE;
        }
        draw_sample(c, p, i, x, y);
        cairo_set_source_rgb(c, 0, 0, 0);
        rela_page_text(c, label, x + SAMPLE + 6, y + 4, 0);
        x += wide;
    }
}

/* Room for as many lines as the entries need. */
static double legend_height(cairo_t *ruler, const rela_plot *p, double w)
{
    char label[LABEL_BYTES];
    double x = MARGIN_LEFT;
    size_t lines = 1;
    for (size_t i = 0; i < p->n_series; i++) {
        if (!p->series[i].label)
            continue;
        const double wide = legend_entry(label, ruler, &p->series[i], w);
        if (x > MARGIN_LEFT && x + wide > w) {
            x = MARGIN_LEFT;
            lines++;
        }
        x += wide;
    }
    return LEGEND_LINE * (double)lines + 6;
}

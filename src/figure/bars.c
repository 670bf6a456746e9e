/* SPDX-License-Identifier: MIT */
/* src/figure/bars.c - see bars.h. */
#include "figure/bars.h"

#include "base/str.h"
#include "figure/page.h"
#include "figure/ticks.h"

#include <math.h>

enum { TICKS = 5 };

static const double BAR = 34, GAP = 26, LEFT = 62, TOP = 34, BOTTOM = 26, INSIDE = 220, LINE = 16,
                    ABOVE = 16; /* room for the value of the highest bar */

static void draw(void *ctx, cairo_t *c);
static void draw_axes(const rela_bars *b, cairo_t *c, double step, double high);
static void draw_group(const rela_bars *b, cairo_t *c, size_t group, double x, double high);
static double highest(const rela_bars *b);

rela_status rela_bars_save(const rela_bars *b, const char *path, rela_error *err)
{
    const double group = BAR * (double)b->n_series + GAP;
    double w = LEFT + group * (double)b->n_groups + GAP;
    w = w < 320 ? 320 : w;
    const double h = TOP + INSIDE + BOTTOM + LINE * (double)(b->n_series + 1);
    rela_bars own = *b;
    return rela_page_save(path, w, h, draw, &own, err);
}

static void draw(void *ctx, cairo_t *c)
{
    const rela_bars *b = ctx;
    const double step = rela_tick_step(highest(b), TICKS), base = TOP + INSIDE;
    const double high = ceil(highest(b) / step - 1e-9) * step; /* the axis ends with a tick */
    cairo_set_source_rgb(c, 0, 0, 0);
    cairo_set_font_size(c, RELA_FONT_TITLE);
    rela_page_text(c, b->title, 14, 20, 0);
    cairo_set_font_size(c, RELA_FONT);
    draw_axes(b, c, step, high);
    for (size_t i = 0; i < b->n_groups; i++)
        draw_group(b, c, i, LEFT + GAP / 2 + (BAR * (double)b->n_series + GAP) * (double)i, high);
    for (size_t k = 0; k < b->n_series; k++) {
        const double y = base + BOTTOM + LINE * (double)(k + 1);
        rela_page_colour(c, k);
        cairo_rectangle(c, LEFT, y - 9, 12, 10);
        cairo_fill(c);
        cairo_set_source_rgb(c, 0, 0, 0);
        rela_page_text(c, b->series[k], LEFT + 18, y, 0);
    }
}

static void draw_axes(const rela_bars *b, cairo_t *c, double step, double high)
{
    const double base = TOP + INSIDE, left = LEFT - 4;
    const double right = LEFT + (BAR * (double)b->n_series + GAP) * (double)b->n_groups;
    char label[48];
    cairo_set_line_width(c, 0.7);
    for (int i = 0; i * step <= high * (1 + 1e-9); i++) {
        const double y = base - i * step / high * (INSIDE - ABOVE);
        cairo_set_source_rgb(c, 0.88, 0.88, 0.88);
        cairo_move_to(c, left, y);
        cairo_line_to(c, right, y);
        cairo_stroke(c);
        cairo_set_source_rgb(c, 0, 0, 0);
        rela_tick_text(label, sizeof label, i * step, step);
        rela_page_text(c, label, left - 6, y + 4, 1);
    }
    cairo_set_line_width(c, 1);
    cairo_move_to(c, left, TOP);
    cairo_line_to(c, left, base);
    cairo_line_to(c, right, base);
    cairo_stroke(c);
    cairo_save(c);
    cairo_translate(c, 14, TOP + INSIDE / 2);
    cairo_rotate(c, -1.57079632679489661923);
    rela_page_text(c, b->y_label, 0, 0, 0.5);
    cairo_restore(c);
}

static void draw_group(const rela_bars *b, cairo_t *c, size_t group, double x, double high)
{
    const double base = TOP + INSIDE, middle = x + BAR * (double)b->n_series / 2;
    char label[32];
    for (size_t k = 0; k < b->n_series; k++) {
        const double v = b->values[group * b->n_series + k];
        if (!isfinite(v))
            continue;
        const double tall = v > 0 ? v / high * (INSIDE - ABOVE) : 0;
        const double left = x + BAR * (double)k;
        rela_page_colour(c, k);
        cairo_rectangle(c, left + 1, base - tall, BAR - 2, tall);
        cairo_fill(c);
        cairo_set_source_rgb(c, 0, 0, 0);
        rela_format_text(label, sizeof label, "%.*f", b->digits, v);
        rela_page_text(c, label, left + BAR / 2, base - tall - 4, 0.5);
    }
    cairo_set_source_rgb(c, 0, 0, 0);
    rela_page_text(c, b->groups[group], middle, base + 16, 0.5);
}

static double highest(const rela_bars *b)
{
    double high = 0;
    for (size_t i = 0; i < b->n_groups * b->n_series; i++)
        if (isfinite(b->values[i]) && b->values[i] > high)
            high = b->values[i];
    return high > 0 ? high : 1;
}

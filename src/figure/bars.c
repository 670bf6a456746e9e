/* SPDX-License-Identifier: MIT */
/* src/figure/bars.c - see bars.h. */
#include "figure/bars.h"

#include "base/str.h"
#include "figure/page.h"
#include "figure/ticks.h"

#include <math.h>

enum { TICKS = 5 };

static const double BAR = 34, GAP = 26, LEFT = 62, TOP = 34, BOTTOM = 26, INSIDE = 220, LINE = 16,
                    MARGIN = 14, NAME = 18, ABOVE = 16; /* room for the value of the highest bar */

/* The bars and how far apart their groups begin, so that neither bars nor names overlap. */
typedef struct layout {
    const rela_bars *b;
    double pitch, width;
} layout;

static void measure(layout *s, cairo_t *ruler);
static void draw(void *ctx, cairo_t *c);
static void draw_axes(const layout *s, cairo_t *c, double step, double high);
static void draw_group(const rela_bars *b, cairo_t *c, size_t group, double middle, double high);
static double highest(const rela_bars *b);

rela_status rela_bars_save(const rela_bars *b, const char *path, rela_error *err)
{
    layout s = { .b = b };
    cairo_t *ruler = rela_page_ruler();
    if (!ruler)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to draw", path);
    measure(&s, ruler);
    cairo_destroy(ruler);
    const double h = TOP + INSIDE + BOTTOM + LINE * (double)(b->n_series + 1);
    return rela_page_save(path, s.width, h, draw, &s, err);
}

static void measure(layout *s, cairo_t *ruler)
{
    const rela_bars *b = s->b;
    s->pitch = BAR * (double)b->n_series + GAP;
    for (size_t i = 0; i < b->n_groups; i++)
        s->pitch = fmax(s->pitch, rela_page_text_width(ruler, b->groups[i]) + GAP / 2);
    s->width = fmax(320, LEFT + s->pitch * (double)b->n_groups + GAP);
    for (size_t i = 0; i < b->n_series; i++)
        s->width = fmax(s->width, LEFT + NAME + rela_page_text_width(ruler, b->series[i]) + MARGIN);
    cairo_set_font_size(ruler, RELA_FONT_TITLE);
    if (b->title)
        s->width = fmax(s->width, rela_page_text_width(ruler, b->title) + 2 * MARGIN);
}

static void draw(void *ctx, cairo_t *c)
{
    const layout *s = ctx;
    const rela_bars *b = s->b;
    const double step = rela_tick_step(highest(b), TICKS), base = TOP + INSIDE;
    const double high = ceil(highest(b) / step - 1e-9) * step; /* the axis ends with a tick */
    cairo_set_source_rgb(c, 0, 0, 0);
    cairo_set_font_size(c, RELA_FONT_TITLE);
    rela_page_text(c, b->title, MARGIN, 20, 0);
    cairo_set_font_size(c, RELA_FONT);
    draw_axes(s, c, step, high);
    for (size_t i = 0; i < b->n_groups; i++)
        draw_group(b, c, i, LEFT + s->pitch * ((double)i + 0.5), high);
    for (size_t k = 0; k < b->n_series; k++) {
        const double y = base + BOTTOM + LINE * (double)(k + 1);
        rela_page_colour(c, k);
        cairo_rectangle(c, LEFT, y - 9, 12, 10);
        cairo_fill(c);
        cairo_set_source_rgb(c, 0, 0, 0);
        rela_page_text(c, b->series[k], LEFT + NAME, y, 0);
    }
}

static void draw_axes(const layout *s, cairo_t *c, double step, double high)
{
    const double base = TOP + INSIDE, left = LEFT - 4;
    const double right = LEFT + s->pitch * (double)s->b->n_groups;
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
    rela_page_text(c, s->b->y_label, 0, 0, 0.5);
    cairo_restore(c);
}

static void draw_group(const rela_bars *b, cairo_t *c, size_t group, double middle, double high)
{
    const double base = TOP + INSIDE, x = middle - BAR * (double)b->n_series / 2;
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

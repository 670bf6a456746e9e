/* SPDX-License-Identifier: MIT */
/* src/figure/bars.c - see bars.h. */
#include "figure/bars.h"

#include "base/str.h"
#include "figure/page.h"

#include <math.h>
#include <stdbool.h>

enum { TICKS = 5, NAME_BYTES = 256 };

static const double BAR = 34, GAP = 26, LEFT = 62, TOP = 34, BOTTOM = 26, INSIDE = 220, LINE = 16,
                    MARGIN = 14, NAME = 18, ABOVE = 16, /* room for the value of the highest bar */
    LEAST = 265, NAMES_MOST = 120;

/* The bars, in lines of groups; how far apart groups begin, so that neither bars nor names overlap,
 * and how far apart lines do. */
typedef struct layout {
    const rela_bars *b;
    double pitch, line_pitch, width;
    size_t per_line, lines;
} layout;

static void measure(layout *s, double width, cairo_t *ruler);
static void draw(void *ctx, cairo_t *c);
static void draw_line(const layout *s, cairo_t *c, size_t line);
static void draw_legend(const layout *s, cairo_t *c);
static void draw_axes(const layout *s, cairo_t *c, size_t n, double step, double high);
static void draw_group(const layout *s, cairo_t *c, size_t group, double middle, double high);
static size_t name_lines(const layout *s, cairo_t *c, size_t group, double x, double y, bool draw);
static double highest(const rela_bars *b);

rela_status rela_bars_save(const rela_bars *b, double width, rela_file_set *set, const char *path,
                           rela_error *err)
{
    layout s = { .b = b };
    cairo_t *ruler = rela_page_ruler();
    if (!ruler)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to draw", path);
    measure(&s, width, ruler);
    cairo_destroy(ruler);
    const double h = TOP + s.line_pitch * (double)s.lines + LINE * (double)b->n_series;
    return rela_page_save(set, path, s.width, h, draw, &s, err);
}

static void measure(layout *s, double width, cairo_t *ruler)
{
    const rela_bars *b = s->b;
    size_t most = 1;
    s->pitch = BAR * (double)b->n_series + GAP;
    for (size_t i = 0; i < b->n_groups; i++) {
        const double name = rela_page_text_width(ruler, b->groups[i]) + GAP / 2;
        s->pitch = fmax(s->pitch, fmin(name, NAMES_MOST));
    }
    for (size_t i = 0; i < b->n_groups; i++) {
        const size_t n = name_lines(s, ruler, i, 0, 0, false);
        most = n > most ? n : most;
    }
    const double room = width > 0 ? fmax(width - LEFT - GAP, 1) : 0;
    s->per_line = rela_page_per_line(&s->lines, b->n_groups, s->pitch, room);
    s->lines = s->lines ? s->lines : 1;
    s->line_pitch = INSIDE + BOTTOM + LINE * (double)most;
    s->width = fmax(LEAST, LEFT + s->pitch * (double)s->per_line + GAP);
}

static void draw(void *ctx, cairo_t *c)
{
    const layout *s = ctx;
    char title[NAME_BYTES];
    cairo_set_source_rgb(c, 0, 0, 0);
    cairo_set_font_size(c, RELA_FONT_TITLE);
    rela_page_shorten(title, sizeof title, c, s->b->title ? s->b->title : "",
                      s->width - 2 * MARGIN);
    rela_page_text(c, s->b->title ? title : NULL, MARGIN, 20, 0);
    cairo_set_font_size(c, RELA_FONT);
    for (size_t i = 0; i < s->lines; i++) {
        cairo_save(c);
        cairo_translate(c, 0, s->line_pitch * (double)i);
        draw_line(s, c, i);
        cairo_restore(c);
    }
    cairo_translate(c, 0, TOP + s->line_pitch * (double)s->lines - LINE);
    draw_legend(s, c);
}

static void draw_line(const layout *s, cairo_t *c, size_t line)
{
    const double step = rela_tick_step(highest(s->b), TICKS);
    const double high = ceil(highest(s->b) / step - 1e-9) * step; /* the axis ends with a tick */
    const size_t first = line * s->per_line, left = s->b->n_groups - first;
    const size_t n = left < s->per_line ? left : s->per_line;
    draw_axes(s, c, n, step, high);
    for (size_t i = 0; i < n; i++)
        draw_group(s, c, first + i, LEFT + s->pitch * ((double)i + 0.5), high);
}

static void draw_legend(const layout *s, cairo_t *c)
{
    char name[NAME_BYTES];
    for (size_t k = 0; k < s->b->n_series; k++) {
        const double y = LINE * (double)(k + 1);
        rela_page_shorten(name, sizeof name, c, s->b->series[k], s->width - LEFT - NAME - MARGIN);
        rela_page_colour(c, k);
        cairo_rectangle(c, LEFT, y - 9, 12, 10);
        cairo_fill(c);
        cairo_set_source_rgb(c, 0, 0, 0);
        rela_page_text(c, name, LEFT + NAME, y, 0);
    }
}

static void draw_axes(const layout *s, cairo_t *c, size_t n, double step, double high)
{
    const double base = TOP + INSIDE, left = LEFT - 4;
    const double right = LEFT + s->pitch * (double)n;
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

static void draw_group(const layout *s, cairo_t *c, size_t group, double middle, double high)
{
    const rela_bars *b = s->b;
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
    (void)name_lines(s, c, group, middle, base + 16, true);
}

/* Number of lines of the name of a group; x: its middle. */
static size_t name_lines(const layout *s, cairo_t *c, size_t group, double x, double y, bool draw)
{
    char line[NAME_BYTES];
    size_t n = 0;
    for (const char *at = s->b->groups[group]; *at; n++) {
        const size_t len = rela_page_line(c, at, s->pitch - GAP / 2);
        rela_format_text(line, sizeof line, "%.*s", (int)len, at);
        if (draw)
            rela_page_text(c, line, x, y + LINE * (double)n, 0.5);
        at += len + (at[len] == ' ');
    }
    return n;
}

static double highest(const rela_bars *b)
{
    double high = 0;
    for (size_t i = 0; i < b->n_groups * b->n_series; i++)
        if (isfinite(b->values[i]) && b->values[i] > high)
            high = b->values[i];
    return high > 0 ? high : 1;
}

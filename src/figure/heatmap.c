/* SPDX-License-Identifier: MIT */
/* src/figure/heatmap.c - see heatmap.h. */
#include "figure/heatmap.h"

#include "base/str.h"
#include "figure/page.h"

#include <math.h>

static const double CELL = 15, NUMBER_CELL = 26, AIR = 16, TITLE = 22, CAPTION = 24, LINE = 17,
                    SLANT = 0.87, HATCH = 5, LEAST = 265;
/* The palest shade of a weight above zero, so that it differs from an exact zero; the shade from
 * which white numbers are easier to read than black ones. */
static const double PALEST = 0.12, DARK = 0.85;
/* Greys of a null row: behind the hatching, its lines, the mark beside it. Values are blue and
 * outlines orange, so that the three cannot be mixed up. */
static const double NULL_GROUND = 0.95, NULL_LINES = 0.68, NULL_MARK = 0.35;
enum { OUTLINES = 1 }; /* number of the colour */

enum { LINE_BYTES = 512 };

/* The layout of a page, which gives all maps the same space. */
typedef struct layout {
    const rela_heatmap *maps;
    size_t n, per_line;
    const char *caption;
    double left, top;  /* room for the names of rows and columns */
    double wide, tall; /* space of one map */
    double width, height;
    double head; /* height of the caption */
} layout;

static void measure(layout *s, double width, cairo_t *ruler);
static size_t caption_lines(const layout *s, cairo_t *c, bool draw);
static void draw(void *ctx, cairo_t *c);
static void draw_map(const layout *s, cairo_t *c, const rela_heatmap *m);
static void draw_row(const layout *s, cairo_t *c, const rela_heatmap *m, size_t row, double high);
static void draw_outlines(const layout *s, cairo_t *c, const rela_heatmap *m);
static void hatch(cairo_t *c, double x, double y, double w, double h);
static void empty_set(cairo_t *c, double x, double y);
static bool is_null(const rela_heatmap *m, size_t row);
static double cell_of(const rela_heatmap *m);
static double shade_of(const rela_heatmap *m, double v, double high);

rela_status rela_heatmaps_save(const rela_heatmap *maps, size_t n, double width,
                               const char *caption, rela_file_set *set, const char *path,
                               rela_error *err)
{
    layout s = { .maps = maps, .n = n, .caption = caption };
    cairo_t *ruler = rela_page_ruler();
    if (!ruler)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to draw", path);
    measure(&s, width, ruler);
    cairo_destroy(ruler);
    return rela_page_save(set, path, s.width, s.height, draw, &s, err);
}

static void measure(layout *s, double width, cairo_t *ruler)
{
    for (size_t i = 0; i < s->n; i++) {
        const rela_heatmap *m = &s->maps[i];
        double left = 0, top = 0, last = 0;
        for (size_t k = 0; k < m->n_rows; k++)
            left = fmax(left, rela_page_text_width(ruler, m->rows[k]));
        for (size_t k = 0; k < m->n_columns; k++) {
            const double w = rela_page_text_width(ruler, m->columns[k]);
            top = fmax(top, w * SLANT);
            last = fmax(last, w / 2 - cell_of(m) * (double)(m->n_columns - 1 - k));
        }
        s->left = fmax(s->left, left + 8);
        s->top = fmax(s->top, top + 10);
        s->wide = fmax(s->wide, cell_of(m) * (double)m->n_columns + fmax(18, last));
        s->wide = fmax(s->wide, m->title ? rela_page_text_width(ruler, m->title) - s->left : 0);
        s->tall = fmax(s->tall, CELL * (double)m->n_rows);
    }
    s->wide += s->left + AIR;
    s->tall += s->top + TITLE + AIR;
    size_t lines = 0;
    s->per_line = rela_page_per_line(&lines, s->n, s->wide, width > 0 ? fmax(width - AIR, 1) : 0);
    s->width = fmax(LEAST, s->wide * (double)s->per_line + AIR);
    cairo_set_font_size(ruler, RELA_FONT_TITLE);
    s->head = s->caption ? CAPTION + LINE * ((double)caption_lines(s, ruler, false) - 1) : 0;
    s->height = s->tall * (double)lines + AIR + s->head;
}

/* Breaks the caption into lines. */
static size_t caption_lines(const layout *s, cairo_t *c, bool draw)
{
    char line[LINE_BYTES];
    size_t n = 0;
    for (const char *at = s->caption; at && *at; n++) {
        const size_t len = rela_page_line(c, at, s->width - 2 * AIR);
        rela_format_text(line, sizeof line, "%.*s", (int)len, at);
        if (draw)
            rela_page_text(c, line, AIR, 20 + LINE * (double)n, 0);
        at += len + (at[len] == ' ');
    }
    return n ? n : 1;
}

static void draw(void *ctx, cairo_t *c)
{
    const layout *s = ctx;
    cairo_set_source_rgb(c, 0, 0, 0);
    cairo_set_font_size(c, RELA_FONT_TITLE);
    (void)caption_lines(s, c, true);
    cairo_set_font_size(c, RELA_FONT);
    for (size_t i = 0; i < s->n; i++) {
        const size_t line = i / s->per_line, column = i % s->per_line;
        cairo_save(c);
        cairo_translate(c, AIR + s->wide * (double)column, s->head + s->tall * (double)line);
        draw_map(s, c, &s->maps[i]);
        cairo_restore(c);
    }
}

static void draw_map(const layout *s, cairo_t *c, const rela_heatmap *m)
{
    const double cell = cell_of(m), top = TITLE + s->top;
    double high = m->high;
    for (size_t i = 0; i < m->n_rows * m->n_columns && !(m->high > 0); i++)
        if (isfinite(m->values[i]))
            high = fmax(high, m->values[i]);
    cairo_set_source_rgb(c, 0, 0, 0);
    rela_page_text(c, m->title, s->left, TITLE - 8, 0);
    for (size_t k = 0; k < m->n_columns; k++) {
        cairo_save(c);
        cairo_translate(c, s->left + cell * ((double)k + 0.62), top - 5);
        cairo_rotate(c, -1.04719755119659774615); /* 60 degrees */
        rela_page_text(c, m->columns[k], 0, 0, 0);
        cairo_restore(c);
    }
    for (size_t i = 0; i < m->n_rows; i++)
        draw_row(s, c, m, i, high > 0 ? high : 1);
    cairo_set_source_rgb(c, 0.6, 0.6, 0.6);
    cairo_set_line_width(c, 0.7);
    cairo_rectangle(c, s->left, top, cell * (double)m->n_columns, CELL * (double)m->n_rows);
    cairo_stroke(c);
    draw_outlines(s, c, m);
}

static void set_grey(cairo_t *c, double level)
{
    cairo_set_source_rgb(c, level, level, level);
}

static void draw_row(const layout *s, cairo_t *c, const rela_heatmap *m, size_t row, double high)
{
    const double cell = cell_of(m), y = TITLE + s->top + CELL * (double)row;
    const bool null = m->null_rows && is_null(m, row);
    char label[16];
    cairo_set_source_rgb(c, 0, 0, 0);
    rela_page_text(c, m->rows[row], s->left - 5, y + CELL - 4, 1);
    if (null) {
        hatch(c, s->left, y, cell * (double)m->n_columns, CELL);
        set_grey(c, NULL_MARK);
        empty_set(c, s->left + cell * (double)m->n_columns + 9, y + CELL / 2);
        return;
    }
    for (size_t k = 0; k < m->n_columns; k++) {
        const double v = m->values[row * m->n_columns + k], x = s->left + cell * (double)k;
        if (!isfinite(v))
            continue;
        const double shade = shade_of(m, v, high);
        cairo_set_source_rgb(c, 1 - shade, 1 - 0.62 * shade, 1 - 0.35 * shade);
        cairo_rectangle(c, x, y, cell, CELL);
        cairo_fill(c);
        cairo_set_source_rgb(c, 0.88, 0.88, 0.88);
        cairo_set_line_width(c, 0.4);
        cairo_rectangle(c, x, y, cell, CELL);
        cairo_stroke(c);
        if (!m->numbers)
            continue;
        rela_format_text(label, sizeof label, "%.0f", 100 * v);
        if (shade > DARK)
            cairo_set_source_rgb(c, 1, 1, 1);
        else
            cairo_set_source_rgb(c, 0, 0, 0);
        rela_page_text(c, label, x + cell / 2, y + CELL - 4, 0.5);
    }
}

/* Inside the cells, so that outlines of neighbouring cells do not touch. */
static void draw_outlines(const layout *s, cairo_t *c, const rela_heatmap *m)
{
    static const double DASH[] = { 3, 2 };
    const double cell = cell_of(m), top = TITLE + s->top, in = 1;
    rela_page_colour(c, OUTLINES);
    cairo_set_line_width(c, 1.4);
    for (size_t i = 0; i < m->n_outlines; i++) {
        const rela_outline *o = &m->outlines[i];
        cairo_set_dash(c, DASH, o->dashed ? 2 : 0, 0);
        cairo_rectangle(c, s->left + cell * (double)o->column + in,
                        top + CELL * (double)o->row + in, cell * (double)o->n_columns - 2 * in,
                        CELL * (double)o->n_rows - 2 * in);
        cairo_stroke(c);
    }
    cairo_set_dash(c, NULL, 0, 0);
}

static void hatch(cairo_t *c, double x, double y, double w, double h)
{
    cairo_save(c);
    cairo_rectangle(c, x, y, w, h);
    cairo_clip(c);
    set_grey(c, NULL_GROUND);
    cairo_paint(c);
    set_grey(c, NULL_LINES);
    cairo_set_line_width(c, 0.8);
    for (int i = 0; i < (int)((w + h) / HATCH) + 1; i++) {
        const double at = x - h + HATCH * i;
        cairo_move_to(c, at, y + h);
        cairo_line_to(c, at + h, y);
    }
    cairo_stroke(c);
    cairo_restore(c);
}

/* The sign of null attention as lines, since many fonts do not have it. */
static void empty_set(cairo_t *c, double x, double y)
{
    const double r = 3.4, over = 4.6;
    cairo_set_line_width(c, 1.1);
    cairo_new_path(c);
    cairo_arc(c, x, y, r, 0, 6.28318530717958648);
    cairo_move_to(c, x - over * 0.71, y + over * 0.71);
    cairo_line_to(c, x + over * 0.71, y - over * 0.71);
    cairo_stroke(c);
}

static bool is_null(const rela_heatmap *m, size_t row)
{
    for (size_t k = 0; k < m->n_columns; k++)
        if (m->values[row * m->n_columns + k] != 0)
            return false;
    return true;
}

static double cell_of(const rela_heatmap *m)
{
    return m->numbers ? NUMBER_CELL : CELL;
}

/* 0..1. With numbers it need not show more than they do; without, small weights stay visible. */
static double shade_of(const rela_heatmap *m, double v, double high)
{
    const double part = v < high ? v / high : 1;
    if (!(v > 0))
        return 0;
    return m->numbers ? part : PALEST + (1 - PALEST) * sqrt(part);
}

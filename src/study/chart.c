/* SPDX-License-Identifier: MIT */
/* src/study/chart.c - see chart.h. */
#include "study/chart.h"

#include "base/markup.h"
#include "base/str.h"

#include <math.h>

enum { WIDTH = 340, HEIGHT = 232, LEFT = 46, RIGHT = 12, TOP = 30, BOTTOM = 40, TICKS = 5 };

/* From values to points of the page. */
typedef struct frame {
    double x_low, x_high, y_low, y_high;
} frame;

static frame frame_of(const rela_chart *c);
static void axes(rela_composer *t, const rela_chart *c, const frame *f);
static void draw_series(rela_composer *t, const rela_chart_series *s, const frame *f);
static void marker(rela_composer *t, int colour, double x, double y);
static double step_of(double range, bool whole);
static int digits_of(double step);

void rela_chart_text(rela_composer *t, const char *text)
{
    if (t->status == RELA_OK)
        t->status = rela_markup_append(t->out, text, t->err);
}

static double px(const frame *f, double x)
{
    return LEFT + (x - f->x_low) / (f->x_high - f->x_low) * (WIDTH - LEFT - RIGHT);
}

static double py(const frame *f, double y)
{
    return HEIGHT - BOTTOM - (y - f->y_low) / (f->y_high - f->y_low) * (HEIGHT - TOP - BOTTOM);
}

void rela_chart_draw(rela_composer *t, const rela_chart *c)
{
    const frame f = frame_of(c);
    rela_compose(t, "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH,
                 HEIGHT);
    rela_chart_text(t, c->title);
    for (size_t i = 0; i < c->n_series; i++) {
        const rela_chart_series *s = &c->series[i];
        rela_compose(t, "%s", i ? "; " : ": ");
        rela_chart_text(t, s->name);
        for (size_t k = 0; k < s->n; k++)
            rela_compose(t, " %.3g", s->y[k]);
    }
    rela_compose(t, "\"><text class=\"t\" x=\"%d\" y=\"16\">", LEFT);
    rela_chart_text(t, c->title);
    rela_compose(t, "</text>");
    axes(t, c, &f);
    for (size_t i = 0; i < c->n_levels; i++)
        rela_compose(t,
                     "<path class=\"level s%d\" d=\"M%d %.1fH%d\"/><path class=\"level s%d\" "
                     "d=\"M%d %.1fh-9\"/>",
                     c->levels[i].colour, LEFT, py(&f, c->levels[i].y), WIDTH - RIGHT,
                     c->levels[i].colour, WIDTH - RIGHT, py(&f, c->levels[i].y));
    for (size_t i = 0; i < c->n_series; i++)
        draw_series(t, &c->series[i], &f);
    rela_compose(t, "</svg>\n");
}

static void widen(double *low, double *high, double value)
{
    if (!isfinite(value))
        return;
    *low = value < *low ? value : *low;
    *high = value > *high ? value : *high;
}

static frame frame_of(const rela_chart *c)
{
    frame f = { INFINITY, -INFINITY, INFINITY, -INFINITY };
    const bool given = c->y_low != 0 || c->y_high != 0;
    for (size_t i = 0; i < c->n_series; i++)
        for (size_t k = 0; k < c->series[i].n; k++) {
            const rela_chart_series *s = &c->series[i];
            widen(&f.x_low, &f.x_high, s->x[k]);
            widen(&f.y_low, &f.y_high, s->y[k]);
            widen(&f.y_low, &f.y_high, s->low ? s->low[k] : s->y[k]);
            widen(&f.y_low, &f.y_high, s->high ? s->high[k] : s->y[k]);
        }
    for (size_t i = 0; i < c->n_levels; i++)
        widen(&f.y_low, &f.y_high, c->levels[i].y);
    if (given) {
        widen(&f.y_low, &f.y_high, c->y_low);
        widen(&f.y_low, &f.y_high, c->y_high);
    }
    if (!(f.x_high > f.x_low)) {
        f.x_low = isfinite(f.x_low) ? f.x_low - 0.5 : 0;
        f.x_high = f.x_low + 1;
    }
    if (!(f.y_high > f.y_low)) {
        f.y_low = isfinite(f.y_low) ? f.y_low - 0.5 : 0;
        f.y_high = f.y_low + 1;
    }
    const double step = step_of(f.y_high - f.y_low, false);
    f.y_low = step * floor(f.y_low / step + 1e-9);
    f.y_high = step * ceil(f.y_high / step - 1e-9);
    if (c->whole_x) {
        f.x_low -= 0.25;
        f.x_high += 0.25;
    }
    return f;
}

static void axes(rela_composer *t, const rela_chart *c, const frame *f)
{
    const double y_step = step_of(f->y_high - f->y_low, false);
    const double x_step = step_of(f->x_high - f->x_low, c->whole_x);
    const int bottom = HEIGHT - BOTTOM;
    /* NOLINTNEXTLINE(clang-analyzer-security.FloatLoopCounter): half a step of room at the end */
    for (double y = f->y_low; y <= f->y_high + y_step / 2; y += y_step)
        rela_compose(t,
                     "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"n\" x=\"%d\" "
                     "y=\"%.1f\" text-anchor=\"end\">%.*f</text>",
                     LEFT, py(f, y), WIDTH - RIGHT, LEFT - 6, py(f, y) + 3.5, digits_of(y_step),
                     fabs(y) < y_step / 2 ? 0.0 : y);
    /* NOLINTNEXTLINE(clang-analyzer-security.FloatLoopCounter): a tick more or less is no harm */
    for (double x = x_step * ceil(f->x_low / x_step); x <= f->x_high; x += x_step)
        rela_compose(t, "<text class=\"n\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.*f</text>",
                     px(f, x), bottom + 15, digits_of(x_step), x);
    rela_compose(t, "<path class=\"axis\" d=\"M%d %dH%d\"/>", LEFT, bottom, WIDTH - RIGHT);
    rela_compose(t, "<text class=\"n\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">",
                 (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8);
    rela_chart_text(t, c->x_label);
    rela_compose(t,
                 "</text><text class=\"n\" transform=\"translate(11 %d) rotate(-90)\" "
                 "text-anchor=\"middle\">",
                 (TOP + bottom) / 2);
    rela_chart_text(t, c->y_label);
    rela_compose(t, "</text>");
}

static void draw_series(rela_composer *t, const rela_chart_series *s, const frame *f)
{
    bool open = false;
    for (size_t i = 0; s->low && s->high && i < s->n; i++)
        if (isfinite(s->low[i]) && isfinite(s->high[i]))
            rela_compose(t, "<path class=\"bar s%d\" d=\"M%.1f %.1fV%.1f\"/>", s->colour,
                         px(f, s->x[i]), py(f, s->low[i]), py(f, s->high[i]));
    rela_compose(t, "<path class=\"line%s s%d\" d=\"", s->dashed ? " dashed" : "", s->colour);
    for (size_t i = 0; i < s->n; i++) {
        const bool there = isfinite(s->y[i]);
        if (there)
            rela_compose(t, "%c%.1f %.1f", open ? 'L' : 'M', px(f, s->x[i]), py(f, s->y[i]));
        open = there;
    }
    rela_compose(t, "\"/>");
    for (size_t i = 0; i < s->n; i++)
        if (isfinite(s->y[i]))
            marker(t, s->colour, px(f, s->x[i]), py(f, s->y[i]));
}

/* Shapes differ as well as colours. */
static void marker(rela_composer *t, int colour, double x, double y)
{
    switch (colour % 4) {
    case 0:
        rela_compose(t, "<circle class=\"m s%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.2\"/>", colour, x,
                     y);
        break;
    case 1:
        rela_compose(t, "<path class=\"m s%d\" d=\"M%.1f %.1fl3.6 6.2h-7.2z\"/>", colour, x,
                     y - 3.8);
        break;
    case 2:
        rela_compose(t, "<path class=\"m s%d\" d=\"M%.1f %.1fh5.6v5.6h-5.6z\"/>", colour, x - 2.8,
                     y - 2.8);
        break;
    default:
        rela_compose(t, "<path class=\"m s%d\" d=\"M%.1f %.1fl3.8 3.8l-3.8 3.8l-3.8 -3.8z\"/>",
                     colour, x, y - 3.8);
    }
}

/* 1, 2 or 5 times a power of ten, so that there are about TICKS of them. */
static double step_of(double range, bool whole)
{
    const double power = pow(10, floor(log10(range / TICKS)));
    const double rest = range / TICKS / power;
    const double step = power * (rest > 5 ? 10 : rest > 2 ? 5 : rest > 1 ? 2 : 1);
    return whole && step < 1 ? 1 : step;
}

static int digits_of(double step)
{
    const int digits = (int)ceil(-log10(step) - 1e-9);
    return digits > 0 ? digits : 0;
}

static void key(rela_composer *t, int colour, bool dashed, const char *kind, const char *name)
{
    rela_compose(t,
                 "<li><svg class=\"key\" viewBox=\"0 0 28 12\" aria-hidden=\"true\"><path "
                 "class=\"%s%s s%d\" d=\"M1 6H27\"/>",
                 kind, dashed ? " dashed" : "", colour);
    if (kind[1] == 'i')
        marker(t, colour, 14, 6);
    rela_compose(t, "</svg> ");
    rela_chart_text(t, name);
    rela_compose(t, "</li>");
}

void rela_chart_legend(rela_composer *t, const rela_chart *c)
{
    rela_compose(t, "<ul class=\"legend\">");
    for (size_t i = 0; i < c->n_series; i++)
        key(t, c->series[i].colour, c->series[i].dashed, "line", c->series[i].name);
    for (size_t i = 0; i < c->n_levels; i++)
        if (c->levels[i].name)
            key(t, c->levels[i].colour, false, "level", c->levels[i].name);
    rela_compose(t, "</ul>\n");
}

/* ---- heat maps ---- */

enum { CELL = 17, LETTER = 6, LABEL_MAX = 16, SHADES = 10 };

/* Characters of a text, at most LABEL_MAX. */
static size_t label_length(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n < LABEL_MAX ? n : LABEL_MAX;
}

static size_t longest(const char *const *labels, size_t n)
{
    size_t most = 1;
    for (size_t i = 0; i < n; i++)
        most = label_length(labels[i]) > most ? label_length(labels[i]) : most;
    return most;
}

static void label(rela_composer *t, const char *text)
{
    char shown[4 * LABEL_MAX + 4];
    size_t at = 0, n = 0;
    for (; text[at] && n <= LABEL_MAX; at++)
        n += ((unsigned char)text[at] & 0xC0) != 0x80;
    rela_format_text(shown, sizeof shown, "%.*s%s", (int)(n > LABEL_MAX ? at - 1 : at), text,
                     n > LABEL_MAX ? "\xE2\x80\xA6" : "");
    rela_chart_text(t, shown);
}

static void map_row(rela_composer *t, const rela_chart_map *m, size_t row, double left, double y,
                    double high)
{
    bool any = false;
    for (size_t i = 0; i < m->n_columns; i++) {
        const double v = m->values[row * m->n_columns + i];
        int shade = v > 0 && high > 0 ? (int)ceil(sqrt(v / high) * (SHADES - 1)) : 0;
        shade = shade > SHADES - 1 ? SHADES - 1 : shade;
        any = any || v > 0;
        if (shade)
            rela_compose(t,
                         "<rect class=\"q%d\" x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\"/>",
                         shade, left + (double)i * CELL, y, CELL, CELL);
    }
    if (!any)
        rela_compose(t, "<rect class=\"null\" x=\"%.0f\" y=\"%.0f\" width=\"%zu\" height=\"%d\"/>",
                     left, y, m->n_columns * CELL, CELL);
    rela_compose(t, "<text class=\"n\" x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">", left - 5,
                 y + 12);
    label(t, m->rows[row]);
    rela_compose(t, "%s</text>", any ? "" : " \xE2\x88\x85");
}

void rela_chart_draw_map(rela_composer *t, const rela_chart_map *m)
{
    const double left = (double)longest(m->rows, m->n_rows) * LETTER + 26;
    const double top = (double)longest(m->columns, m->n_columns) * LETTER * 0.78 + 34;
    const double width = left + (double)m->n_columns * CELL + 30;
    const double height = top + (double)m->n_rows * CELL + 4;
    double high = m->high;
    for (size_t i = 0; m->high <= 0 && i < m->n_rows * m->n_columns; i++)
        high = m->values[i] > high ? m->values[i] : high;
    rela_compose(t,
                 "<svg class=\"map\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" role=\"img\" "
                 "aria-label=\"",
                 width, height, width);
    rela_chart_text(t, m->title);
    rela_compose(t, "\"><text class=\"t\" x=\"4\" y=\"14\">");
    rela_chart_text(t, m->title);
    rela_compose(t, "</text>");
    for (size_t i = 0; i < m->n_columns; i++) {
        rela_compose(t, "<text class=\"n\" transform=\"translate(%.0f %.0f) rotate(-52)\">",
                     left + (double)i * CELL + 11, top - 5);
        label(t, m->columns[i]);
        rela_compose(t, "</text>");
    }
    for (size_t i = 0; i < m->n_rows; i++)
        map_row(t, m, i, left, top + (double)i * CELL, high);
    rela_compose(t, "<rect class=\"frame\" x=\"%.0f\" y=\"%.0f\" width=\"%zu\" height=\"%zu\"/>",
                 left, top, m->n_columns * CELL, m->n_rows * CELL);
    rela_compose(t, "</svg>\n");
}

/* SPDX-License-Identifier: MIT */
/* src/study/chart.h - curves and heat maps as SVG inside an HTML page.
 *
 * Text stays text, colours and fonts come from the styles of the page (classes s0 .. s7 for
 * series), and every drawing has a title and a description for those who cannot see it. */
#ifndef RELA_STUDY_CHART_H
#define RELA_STUDY_CHART_H

#include "base/compose.h"

#include <stdbool.h>
#include <stddef.h>

enum { RELA_CHART_COLOURS = 8 };

typedef struct rela_chart_series {
    const char *name;
    const double *x, *y;
    const double *low, *high; /* intervals; NULL: none */
    size_t n;                 /* points that are not finite break the line */
    int colour;               /* 0 .. RELA_CHART_COLOURS - 1 */
    bool dashed;
} rela_chart_series;

/* A published value: a line across the plot. */
typedef struct rela_chart_level {
    const char *name; /* NULL: not in the legend */
    double y;
    int colour;
} rela_chart_level;

typedef struct rela_chart {
    const char *title, *x_label, *y_label;
    const rela_chart_series *series;
    size_t n_series;
    const rela_chart_level *levels;
    size_t n_levels;
    bool whole_x;         /* ticks at whole numbers only */
    double y_low, y_high; /* both 0: those of the values */
} rela_chart;

typedef struct rela_chart_map {
    const char *title;
    const char *const *rows, *const *columns;
    size_t n_rows, n_columns;
    const double *values; /* (n_rows, n_columns), at least 0; a row of zeros is marked */
    double high;          /* of the darkest shade; 0: the largest value */
} rela_chart_map;

/* Text for HTML. */
void rela_chart_text(rela_composer *t, const char *text);
void rela_chart_draw(rela_composer *t, const rela_chart *c);
/* One legend for several charts. */
void rela_chart_legend(rela_composer *t, const rela_chart *c);
void rela_chart_draw_map(rela_composer *t, const rela_chart_map *m);

#endif

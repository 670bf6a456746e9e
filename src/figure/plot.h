/* SPDX-License-Identifier: MIT */
/* src/figure/plot.h - line charts as SVG, PNG or PDF (by the file extension), through cairo.
 *
 * Colours are those of Okabe and Ito, which colour-blind readers can tell apart; lines also differ
 * in their dashes. Files are written atomically. */
#ifndef RELA_FIGURE_PLOT_H
#define RELA_FIGURE_PLOT_H

#include "base/file.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct rela_series {
    const char *label; /* UTF-8; NULL: not in the legend */
    const double *x, *y;
    size_t n; /* points that are not finite break the line */
} rela_series;

typedef struct rela_style {
    int colour;   /* from 0 */
    int dash;     /* 0: none, 1: dashed, 2: dotted */
    bool markers; /* a dot at every point of this series */
} rela_style;

typedef struct rela_plot {
    const char *title, *x_label, *y_label;
    const rela_series *series;
    const rela_style *styles; /* (n_series); NULL: by index */
    size_t n_series;
    bool log_y;           /* values that are not positive are left out */
    bool markers;         /* a dot at every point; one without neighbours always has it */
    double width, height; /* points; 0: 480 x 320 */
    bool whole_x;         /* ticks at whole numbers only */
    double y_low, y_high; /* range of the axis, extended to fit the data; both 0: data only */
} rela_plot;

/* False in a build without cairo: there saving a plot, bars or heat maps fails with RELA_UNSUP. */
bool rela_plot_available(void);

/* RELA_ARG unless path ends in .svg, .png or .pdf. */
rela_status rela_plot_save(const rela_plot *p, rela_file_set *set, const char *path,
                           rela_error *err);
/* Several plots of the same size and series, per_line side by side, with one legend below all.
 * Labels that are wider than the page lose their middle. */
rela_status rela_plots_save(const rela_plot *plots, size_t n, size_t per_line, rela_file_set *set,
                            const char *path, rela_error *err);

#endif

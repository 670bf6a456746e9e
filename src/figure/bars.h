/* SPDX-License-Identifier: MIT */
/* src/figure/bars.h - grouped bars with their values above them, as SVG, PNG or PDF. */
#ifndef RELA_FIGURE_BARS_H
#define RELA_FIGURE_BARS_H

#include "base/file.h"

typedef struct rela_bars {
    const char *title, *y_label;
    const char *const *groups; /* names below the groups */
    const char *const *series; /* names of the bars of a group */
    size_t n_groups, n_series;
    const double *values; /* (n_groups, n_series); not finite: no bar */
    int digits;           /* after the point, of the values shown */
} rela_bars;

/* As many groups side by side as fit into width (points; 0: all), but at least one. Names that are
 * wider than their place are broken into lines or lose their middle. */
rela_status rela_bars_save(const rela_bars *b, double width, rela_file_set *set, const char *path,
                           rela_error *err);

#endif

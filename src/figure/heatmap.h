/* SPDX-License-Identifier: MIT */
/* src/figure/heatmap.h - matrices as shades of one colour, several on a page, as SVG, PNG or PDF.
 *
 * A row that is zero everywhere is hatched and marked, so that it cannot be taken for a row of
 * small weights. */
#ifndef RELA_FIGURE_HEATMAP_H
#define RELA_FIGURE_HEATMAP_H

#include "base/file.h"

#include <stdbool.h>
#include <stddef.h>

/* A frame around some cells. */
typedef struct rela_outline {
    size_t row, column, n_rows, n_columns;
    bool dashed;
} rela_outline;

typedef struct rela_heatmap {
    const char *title;
    const char *const *rows; /* names, UTF-8 */
    const char *const *columns;
    size_t n_rows, n_columns;
    const double *values; /* (n_rows, n_columns), 0 or more; not finite: left blank */
    double high;          /* value of the darkest shade; 0: the largest value */
    bool numbers;         /* write the values, in percent, into the cells */
    bool null_rows;       /* mark rows that are all zero */
    const rela_outline *outlines;
    size_t n_outlines;
} rela_heatmap;

/* Shades grow with the square root of a value; everything above zero differs from zero. With
 * numbers they grow with the value. As many maps side by side as fit into width (points; 0: all),
 * but at least one. caption, which is broken into lines, may be NULL. */
rela_status rela_heatmaps_save(const rela_heatmap *maps, size_t n, double width,
                               const char *caption, rela_file_set *set, const char *path,
                               rela_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* src/figure/plot_none.c - stands in for plot.c, bars.c and heatmap.c where rela_figures, and so
 * cairo, is not linked: in librela.so, and in programs of the static library that do not draw. */
#include "figure/bars.h"
#include "figure/heatmap.h"
#include "figure/plot.h"

static rela_status unavailable(const char *path, rela_error *err);

bool rela_plot_available(void)
{
    return false;
}

rela_status rela_plot_save(const rela_plot *p, rela_file_set *set, const char *path,
                           rela_error *err)
{
    (void)p;
    (void)set;
    return unavailable(path, err);
}

rela_status rela_plots_save(const rela_plot *plots, size_t n, size_t per_line, rela_file_set *set,
                            const char *path, rela_error *err)
{
    (void)plots;
    (void)n;
    (void)per_line;
    (void)set;
    return unavailable(path, err);
}

rela_status rela_bars_save(const rela_bars *b, double width, rela_file_set *set, const char *path,
                           rela_error *err)
{
    (void)b;
    (void)width;
    (void)set;
    return unavailable(path, err);
}

rela_status rela_heatmaps_save(const rela_heatmap *maps, size_t n, double width,
                               const char *caption, rela_file_set *set, const char *path,
                               rela_error *err)
{
    (void)maps;
    (void)n;
    (void)width;
    (void)caption;
    (void)set;
    return unavailable(path, err);
}

static rela_status unavailable(const char *path, rela_error *err)
{
    return rela_fail(err, RELA_UNSUP, "%s: this build draws no figures", path);
}

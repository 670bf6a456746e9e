/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_figures.c - the figures: decoding speed by source length, attention kernels, and
 * forecasts for several machines. */
#include "bench/bench_job.h"
#include "figure/bars.h"
#include "figure/plot.h"

#include <math.h>
#include <string.h>

enum { PATH_SIZE = 4096, BARS_MAX = 6, LABEL = 48 };

static const char *const ENDINGS[] = { "svg", "png", "pdf" };
enum { N_ENDINGS = sizeof ENDINGS / sizeof ENDINGS[0] };

static rela_status draw_lengths(const rela_bench_job *j, rela_error *err);
static rela_status draw_kernels(const rela_bench_job *j, rela_error *err);
static rela_status draw_scale(const rela_bench_job *j, rela_error *err);

rela_status rela_bench_figures(const rela_bench_job *j, rela_error *err)
{
    rela_status st = RELA_OK;
    if (!rela_plot_available())
        return RELA_OK;
    if (j->o.parts & RELA_BENCH_TRANSLATE)
        st = draw_lengths(j, err);
    if (st == RELA_OK && (j->o.parts & RELA_BENCH_ATTENTION))
        st = draw_kernels(j, err);
    if (st == RELA_OK && (j->o.parts & RELA_BENCH_SCALE))
        st = draw_scale(j, err);
    return st;
}

/* The paper's Fig. 2, and the same relative to softmax. */
static rela_status draw_lengths(const rela_bench_job *j, rela_error *err)
{
    double relative[RELA_BENCH_KINDS_MAX][RELA_BENCH_GROUPS];
    rela_series series[2][RELA_BENCH_KINDS_MAX];
    for (size_t i = 0; i < j->n_models; i++) {
        for (size_t g = 0; g < RELA_BENCH_GROUPS; g++)
            relative[i][g] = j->r.group_speed[i][g] / j->r.group_speed[0][g];
        series[0][i] = (rela_series){ j->models[i]->name, j->r.group_length, j->r.group_speed[i],
                                      RELA_BENCH_GROUPS };
        series[1][i] =
            (rela_series){ j->models[i]->name, j->r.group_length, relative[i], RELA_BENCH_GROUPS };
    }
    const rela_plot plots[] = { { .title = "Decoding one sentence at a time",
                                  .x_label = "source tokens",
                                  .y_label = "target tokens/s",
                                  .series = series[0],
                                  .n_series = j->n_models,
                                  .markers = true,
                                  .y_high = 1 }, /* the axis starts at 0 */
                                { .title = "Relative to softmax",
                                  .x_label = "source tokens",
                                  .y_label = "speed / softmax",
                                  .series = series[1],
                                  .n_series = j->n_models,
                                  .markers = true,
                                  .y_high = 1 } };
    rela_status st = RELA_OK;
    for (size_t e = 0; e < N_ENDINGS && st == RELA_OK; e++) {
        char path[PATH_SIZE];
        rela_format_text(path, sizeof path, "%s/lengths.%s", j->o.out, ENDINGS[e]);
        st = rela_plots_save(plots, 2, 2, j->set, path, err);
    }
    return st;
}

/* Bars by length for the kinds measured in models, also with shifted scores. */
static rela_status draw_kernels(const rela_bench_job *j, rela_error *err)
{
    char lengths[RELA_BENCH_LENGTHS_MAX][LABEL], labels[BARS_MAX][LABEL];
    const char *groups[RELA_BENCH_LENGTHS_MAX], *bars[BARS_MAX];
    double values[RELA_BENCH_LENGTHS_MAX * BARS_MAX];
    const double(*rows[BARS_MAX])[RELA_BENCH_LENGTHS_MAX];
    size_t n = 0;
    for (size_t m = 0; m < j->n_models; m++)
        for (size_t i = 0; i < j->n_kinds; i++)
            for (int shifted = 0; shifted < 2 && j->kinds[i] == j->models[m]; shifted++) {
                const double(*row)[RELA_BENCH_LENGTHS_MAX] =
                    shifted ? &j->r.shifted[i] : &j->r.kernel[i];
                if (n == BARS_MAX || !isfinite((*row)[0]))
                    continue;
                rela_format_text(labels[n], LABEL, "%s%s", j->kinds[i]->name,
                                 shifted ? ", 90 % zeros" : "");
                bars[n] = labels[n];
                rows[n++] = row;
            }
    for (size_t i = 0; i < j->n_lengths; i++) {
        rela_format_text(lengths[i], LABEL, "T = %u", (unsigned)j->lengths[i]);
        groups[i] = lengths[i];
        for (size_t k = 0; k < n; k++)
            values[i * n + k] = 1 / (*rows[k])[i];
    }
    const rela_bars drawing = { .title = "Attention, forward and backward",
                                .y_label = "time / softmax",
                                .groups = groups,
                                .series = bars,
                                .n_groups = j->n_lengths,
                                .n_series = n,
                                .values = values,
                                .digits = 2 };
    rela_status st = RELA_OK;
    for (size_t e = 0; e < N_ENDINGS && st == RELA_OK; e++) {
        char path[PATH_SIZE];
        rela_format_text(path, sizeof path, "%s/attention.%s", j->o.out, ENDINGS[e]);
        st = rela_bars_save(&drawing, 0, j->set, path, err);
    }
    return st;
}

static rela_status draw_scale(const rela_bench_job *j, rela_error *err)
{
    char labels[RELA_BENCH_LINKS_MAX][LABEL];
    rela_series series[RELA_BENCH_LINKS_MAX];
    double doublings[RELA_BENCH_NODES];
    rela_status st = RELA_OK;
    for (size_t k = 0; k < RELA_BENCH_NODES; k++)
        doublings[k] = (double)k;
    for (size_t i = 0; i < j->n_links; i++) {
        rela_format_text(labels[i], LABEL, "%g Gb/s", j->links[i]);
        series[i] = (rela_series){ labels[i], doublings, j->r.scale[i], RELA_BENCH_NODES };
    }
    const rela_plot plot = { .title = "Forecast: training on several machines",
                             .x_label = "machines: 2 to the power of",
                             .y_label = "speed / perfect",
                             .series = series,
                             .n_series = j->n_links,
                             .markers = true,
                             .whole_x = true,
                             .y_high = 1 };
    for (size_t e = 0; e < N_ENDINGS && st == RELA_OK; e++) {
        char path[PATH_SIZE];
        rela_format_text(path, sizeof path, "%s/scale.%s", j->o.out, ENDINGS[e]);
        st = rela_plot_save(&plot, j->set, path, err);
    }
    return st;
}

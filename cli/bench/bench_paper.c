/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_paper.c - Tables 2 and 4 of Zhang, Titov and Sennrich (2021), "Sparse attention
 * with linear units", next to our measurements. */
#include "bench/bench_job.h"
#include "model/build.h"

#include <math.h>
#include <string.h>

/* Published: millions of parameters, speed relative to softmax; train_torch: with PyTorch. */
static const struct {
    const char *kind;
    double params, train, decode, train_torch;
} TABLE_2[] = { { "softmax", 72.31, 1, 1, 1 },
                { "sparsemax", 72.31, 0.26, 0.54, 0.87 },
                { "entmax15", 72.31, 0.27, 0.49, 0.90 },
                { "rela-g", 72.34, 0.93, 0.98, 0.95 } };

static rela_status table_2(rela_bench_job *j, rela_error *err);
static rela_status table_4(rela_bench_job *j, rela_error *err);

rela_status rela_bench_paper(rela_bench_job *j, rela_error *err)
{
    rela_status st = RELA_OK;
    if (j->o.parts & (RELA_BENCH_TRAIN | RELA_BENCH_TRANSLATE))
        st = table_2(j, err);
    if (st == RELA_OK && (j->o.parts & RELA_BENCH_ATTENTION))
        st = table_4(j, err);
    return st;
}

/* Millions of parameters of the model with a kind of attention. */
static rela_status count_params(double *millions, const rela_bench_job *j, const char *kind,
                                rela_error *err)
{
    rela_config c = j->config;
    rela_params params = { .n = 0 };
    rela_status st = rela_config_attend(&c, kind, err);
    st = st ? st : rela_params_of(&params, &c, false, err);
    *millions = 1e-6 * (double)params.count;
    rela_params_deinit(&params);
    return st;
}

static rela_status table_2(rela_bench_job *j, rela_error *err)
{
    static const rela_bench_column COLUMNS[] = {
        { "kind", "kind", RELA_BENCH_TEXT, 0 },
        { "params_million", "M params", RELA_BENCH_NUMBER, 2 },
        { "params_million_paper", "paper", RELA_BENCH_NUMBER, 2 },
        { "train", "train", RELA_BENCH_NUMBER, 2 },
        { "train_paper", "paper", RELA_BENCH_NUMBER, 2 },
        { "train_paper_torch", "paper, PyTorch", RELA_BENCH_NUMBER, 2 },
        { "decode", "decode", RELA_BENCH_NUMBER, 2 },
        { "decode_paper", "paper", RELA_BENCH_NUMBER, 2 },
    };
    rela_bench_table *table =
        rela_bench_table_new(j, "table2",
                             "the paper's Table 2: parameters, and speed relative to softmax; ours "
                             "decodes batches of 32 "
                             "with beam 4",
                             COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    rela_status st = RELA_OK;
    for (size_t i = 0; i < j->n_models && st == RELA_OK; i++) {
        double paper[4] = { (double)NAN, (double)NAN, (double)NAN, (double)NAN }, millions = 0;
        for (size_t k = 0; k < sizeof TABLE_2 / sizeof TABLE_2[0]; k++)
            if (strcmp(TABLE_2[k].kind, j->models[i]->name) == 0) {
                paper[0] = TABLE_2[k].train;
                paper[1] = TABLE_2[k].train_torch;
                paper[2] = TABLE_2[k].decode;
                paper[3] = TABLE_2[k].params;
            }
        st = count_params(&millions, j, j->models[i]->name, err);
        const rela_bench_cell row[] = {
            rela_bench_text(j->models[i]->name), rela_bench_number(millions),
            rela_bench_number(paper[3]),         rela_bench_number(j->r.train[i]),
            rela_bench_number(paper[0]),         rela_bench_number(paper[1]),
            rela_bench_number(j->r.decode[i]),   rela_bench_number(paper[2]),
        };
        st = st ? st : rela_bench_table_add(table, row, sizeof row / sizeof row[0], err);
    }
    return st;
}

static size_t find_kind(const rela_bench_job *j, const char *name)
{
    size_t i = 0;
    while (i < j->n_kinds && strcmp(j->kinds[i]->name, name) != 0)
        i++;
    return i;
}

/* FLOPs for a sentence of T tokens as the paper counts them, and the measured time: score rows of
 * all heads and, for rela-g, the norm of all tokens. */
static rela_status table_4(rela_bench_job *j, rela_error *err)
{
    static const rela_bench_column COLUMNS[] = {
        { "length", "T", RELA_BENCH_NUMBER, 0 },
        { "softmax_flops", "softmax FLOPs", RELA_BENCH_NUMBER, 0 },
        { "rela_flops", "rela-g FLOPs", RELA_BENCH_NUMBER, 0 },
        { "flops_ratio", "softmax/rela-g", RELA_BENCH_NUMBER, 2 },
        { "softmax_us", "softmax us", RELA_BENCH_NUMBER, 1 },
        { "rela_us", "rela-g us", RELA_BENCH_NUMBER, 1 },
        { "time_ratio", "softmax/rela-g", RELA_BENCH_NUMBER, 2 },
    };
    const size_t rela = find_kind(j, "rela-g");
    if (rela == j->n_kinds)
        return RELA_OK;
    rela_bench_table *table = rela_bench_table_new(
        j, "table4",
        "the paper's Table 4: 3HT^2 - HT against HT^2 + 10Td + T operations, and measured time",
        COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    const double h = (double)j->config.heads, d = (double)j->config.d;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < j->n_lengths && st == RELA_OK; i++) {
        const double t = j->lengths[i];
        const double flops[] = { 3 * h * t * t - h * t, h * t * t + 10 * t * d + t };
        const double us[] = { 1e6 * h * t * j->r.weigh[0][i],
                              1e6 * (h * t * j->r.weigh[rela][i] + t * j->r.norm[rela]) };
        const rela_bench_cell row[] = {
            rela_bench_number(t),
            rela_bench_number(flops[0]),
            rela_bench_number(flops[1]),
            rela_bench_number(flops[0] / flops[1]),
            rela_bench_number(us[0]),
            rela_bench_number(us[1]),
            rela_bench_number(us[0] / us[1]),
        };
        st = rela_bench_table_add(table, row, sizeof row / sizeof row[0], err);
    }
    return st;
}

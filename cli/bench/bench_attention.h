/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_attention.h - results of bench_attention.c, shown by bench_attention_table.c. */
#ifndef RELA_BENCH_BENCH_ATTENTION_H
#define RELA_BENCH_BENCH_ATTENTION_H

#include "bench/bench_job.h"
#include "nn/attn/attn.h"

enum { RELA_BENCH_SHARES = 8, RELA_BENCH_CENTRED = 0, RELA_BENCH_SHIFTED = 6 };
enum { RELA_BENCH_CASES_MAX = 2 * RELA_BENCH_KINDS_MAX + 2 * RELA_BENCH_SHARES };

/* All cases of one sentence length. Heads are concatenated in rows, as in the layers. */
typedef struct rela_bench_attention {
    rela_bench_job *j;
    size_t length, heads, d_head, d, n, rows;
    uint32_t *at;                /* (n + 1) */
    real *in[RELA_BENCH_SHARES]; /* (rows, 3d) queries, keys, values; later ones give lower scores
                                  */
    real *z, *y, *dy, *dz;
    real *din;                /* (rows, 3d) */
    real *norm;               /* gain, gate (d each); then their gradients */
    real *learned, *dlearned; /* (n_learned) arrays of the kind */
    size_t n_learned;         /* the most of any kind */
    real *made;               /* the array that the kind makes */
    size_t n_made;
    uint64_t *kept;
    size_t kept_words;
    real numbers[RELA_ATTN_NUMBERS_MAX];
    rela_attn_scratch scratch;
    void *block, *scratch_block;
    rela_plan scratch_plan;
    /* cases */
    struct {
        size_t kind;
        int share;
        rela_attn_path path;
        double zeros;
    } cases[RELA_BENCH_CASES_MAX];
    size_t n_plain; /* cases of the first table; the second has pairs of dense and automatic path */
    size_t n_cases;
    double *seconds[2]; /* forward and backward: (case, round) */
    /* of the current turn */
    rela_attn attn;
    const real *qkv;
    bool with_norm;
} rela_bench_attention;

/* Tables: kinds against softmax; time saved by skipping zeros. */
rela_bench_table *rela_bench_attention_table(rela_bench_job *j);
rela_bench_table *rela_bench_zeros_table(rela_bench_job *j);
rela_status rela_bench_attention_report(rela_bench_attention *s, size_t which,
                                        rela_bench_table *table, rela_error *err);
rela_status rela_bench_zeros_report(rela_bench_attention *s, rela_bench_table *table,
                                    rela_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_job.h - one run of rela_bench: shared state, and its parts.
 *
 * A part measures its cases in rounds and adds tables to the job. Each part has a file. */
#ifndef RELA_BENCH_BENCH_JOB_H
#define RELA_BENCH_BENCH_JOB_H

#include "base/file.h"
#include "bench/bench.h"
#include "bench/bench_table.h"
#include "model/config.h"
#include "tensor/plan.h"
#include "train/update.h"

enum {
    RELA_BENCH_KINDS_MAX = 64,
    RELA_BENCH_LENGTHS_MAX = 16,
    RELA_BENCH_SHEETS_MAX = 12,
    RELA_BENCH_GROUPS = 10, /* of source lengths, as in the paper's Fig. 2 */
    RELA_BENCH_LINKS_MAX = 8,
    RELA_BENCH_NODES = 9 /* forecasts for 1, 2, 4, ... machines */
};

/* Peak rates of the machine: on one thread and on all. */
typedef struct rela_bench_peak {
    double multiply_adds[2]; /* GFLOP/s */
    double product[2];       /* GFLOP/s of one large matrix product per thread */
    double reading[2];       /* GB/s from memory */
} rela_bench_peak;

/* Medians used in tables and figures; NAN: not measured. Speeds are relative to softmax unless
 * noted. */
typedef struct rela_bench_results {
    double train[RELA_BENCH_KINDS_MAX], decode[RELA_BENCH_KINDS_MAX];
    double kernel[RELA_BENCH_KINDS_MAX][RELA_BENCH_LENGTHS_MAX];  /* forward and backward */
    double shifted[RELA_BENCH_KINDS_MAX][RELA_BENCH_LENGTHS_MAX]; /* the same, with 90 % zeros */
    double weigh[RELA_BENCH_KINDS_MAX][RELA_BENCH_LENGTHS_MAX];   /* seconds for a row of scores */
    double norm[RELA_BENCH_KINDS_MAX];                            /* seconds for a row of d */
    double group_length[RELA_BENCH_GROUPS];                       /* mean, in tokens */
    double group_speed[RELA_BENCH_KINDS_MAX][RELA_BENCH_GROUPS];  /* target tokens per second */
    double scale[RELA_BENCH_LINKS_MAX][RELA_BENCH_NODES];         /* efficiency; 1: perfect */
} rela_bench_results;

typedef struct rela_bench_job {
    rela_bench_options o;
    rela_config config; /* of the preset or model; parts set the kind */
    rela_net trained;   /* without weights if there is no model */
    const rela_kern *k;
    int n_threads;
    size_t rounds;
    const rela_attn_kind *kinds[RELA_BENCH_KINDS_MAX]; /* softmax is the first */
    size_t n_kinds;                                    /* for kernels */
    const rela_attn_kind *models[RELA_BENCH_KINDS_MAX];
    size_t n_models; /* for training and translation */
    uint32_t lengths[RELA_BENCH_LENGTHS_MAX];
    size_t n_lengths;
    double links[RELA_BENCH_LINKS_MAX]; /* Gb/s */
    size_t n_links;
    rela_bench_peak peak;
    rela_bench_results r;
    rela_bench_table tables[RELA_BENCH_SHEETS_MAX];
    size_t n_tables;
    uint64_t done, total; /* turns */
    rela_file_set *set;   /* of the files in o.out */
} rela_bench_job;

/* A part of the benchmark; turns: how many it has in each round. */
typedef struct rela_bench_part {
    int32_t flag; /* 0: always */
    size_t (*turns)(const rela_bench_job *j);
    rela_status (*run)(rela_bench_job *j, rela_error *err);
} rela_bench_part;

extern const rela_bench_part rela_bench_part_peak, rela_bench_part_products,
    rela_bench_part_gradients, rela_bench_part_attention, rela_bench_part_weights,
    rela_bench_part_train, rela_bench_part_translate, rela_bench_part_scale;

/* ---- measuring ---- */

/* Calls turn for each of n cases in each round; a turn stores its own result. */
rela_status rela_bench_rounds(rela_bench_job *j, size_t n,
                              rela_status (*turn)(void *ctx, size_t i, size_t round,
                                                  rela_error *err),
                              void *ctx, rela_error *err);

/* Seconds per call of work. A first call warms up; if it takes more than twice `seconds` it is the
 * result, otherwise work is repeated for about `seconds`. threads: how many work uses, which
 * decides the clock. */
double rela_bench_time(void (*work)(void *ctx), void *ctx, double seconds, int threads);
double rela_bench_clock(int threads); /* CPU time for one thread, else wall-clock time */

/* Context of a tap: counts the unmasked weights and those that are exactly zero. */
typedef struct rela_bench_zeros {
    double zeros, weights;
} rela_bench_zeros;
void rela_bench_see_zeros(void *zeros, const rela_attn_view *v);

/* ---- tables ---- */

/* A new table of the job; lent. name, title and columns must outlive the job. */
rela_bench_table *rela_bench_table_new(rela_bench_job *j, const char *name, const char *title,
                                       const rela_bench_column *columns, size_t n_columns);

/* Adds the paper's tables next to our results. */
rela_status rela_bench_paper(rela_bench_job *j, rela_error *err);
/* Writes figures to the output directory. */
rela_status rela_bench_figures(const rela_bench_job *j, rela_error *err);

/* ---- work ---- */

/* Allocates what the dry run of plan p has counted, and restarts p in it. *block is given
 * (rela_mem_free). */
rela_status rela_bench_block(void **block, rela_plan *p, rela_error *err);

/* Writes first values of the learned arrays of a kind, one after the other, to out, if given, and
 * where each begins to at. Returns how many numbers they have together. */
size_t rela_bench_learned(real *out, size_t at[RELA_ATTN_PARAMS_MAX], const rela_attn_shape *shape);

/* GFLOP/s of large square matrix products, one per thread at the same time. */
rela_status rela_bench_product_rate(double *rate, int threads, double seconds, rela_error *err);
/* Multiply-adds of the matrix products of a token: of a source, of the target without logits, and
 * of a logit. */
typedef struct rela_bench_macs {
    double source, target, logit;
    double self_layers, cross_layers; /* of both sides; of the target */
} rela_bench_macs;
rela_bench_macs rela_bench_macs_of(const rela_config *c);
/* FLOPs of the matrix products of a forward pass over one update, with attention scores; causal
 * attention counts half. */
double rela_bench_update_flops(const rela_config *c, const rela_model_batch *u);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/bench/bench.h - how fast this machine runs the library: its peak, and as shares of that
 * products, attention of every kind, training and translation.
 *
 * Weights and tokens are random, from the seed, so nothing is read. Cases are measured in rounds,
 * one after the other in each round, and given as median, lowest and highest. What runs on one
 * thread is measured in processor time of that thread, the rest by the clock; a machine that others
 * use disturbs the second more. docs/performance.md explains how to read the tables. */
#ifndef RELA_BENCH_BENCH_H
#define RELA_BENCH_BENCH_H

#include "rela/rela.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to measure; the peak always is. */
enum {
    RELA_BENCH_ATTENTION = 1,
    RELA_BENCH_TRAIN = 2,
    RELA_BENCH_TRANSLATE = 4,
    RELA_BENCH_ALL = 7,
    RELA_BENCH_SCALE = 8 /* forecasts for several machines */
};

typedef struct rela_bench_options {
    size_t struct_size;       /* set by _init; lets the struct grow at its end */
    int32_t parts;            /* sum of RELA_BENCH_... */
    const char *preset;       /* sizes of the model: "tiny", "base", "paper", "demo" */
    const char *const *kinds; /* of attention, compared with softmax, which is always measured */
    size_t n_kinds;           /* 0: all in the kernels; those of the paper's Table 2 elsewhere */
    const uint32_t *lengths;  /* of the sentences in the kernels of attention */
    size_t n_lengths;         /* 0: 25, 100, 1000, 4000 */
    int32_t train_length;     /* tokens of the sentences in training */
    int32_t n_threads;        /* 0: every core this process may use */
    int32_t rounds;
    double seconds; /* least time of one measurement; one piece of work is always done */
    uint64_t seed;
    const char *out; /* directory for JSON, tables and figures, made if need be; NULL: none */
    /* A trained model: the sizes are its own, and updates of training with its kind of attention
     * start with its weights, so that they have its zeros. NULL: preset and fresh weights. */
    const char *model;
    /* Called on the calling thread; not 0 stops with RELA_CANCEL. NULL: may be NULL. */
    int (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *progress_ctx;
    /* Share of the weights of kinds max(0, s) that is made zero in training, by biases of queries
     * and keys: trained models have more zeros than fresh weights. 0: what there is. */
    double zeros;
    const double *links; /* between the machines of forecasts, in Gb/s */
    size_t n_links;      /* 0: 1, 10, 100 */
    int32_t slot_tokens; /* target tokens of a thread and update in forecasts */
} rela_bench_options;

/* Everything, tiny, sentences of 25 tokens, all threads, 3 rounds of 0.02 seconds, seed 1, slots of
 * 512 tokens. */
void rela_bench_options_init(rela_bench_options *o, size_t size);

/* Measures, and appends tables for readers and the same as JSON to the two buffers, either of which
 * may be NULL. RELA_ARG for an unknown preset or kind and for numbers out of range. */
rela_status rela_bench(rela_buffer *table, rela_buffer *json, const rela_bench_options *o,
                       rela_error *err);

#ifdef __cplusplus
}
#endif
#endif

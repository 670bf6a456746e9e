/* SPDX-License-Identifier: MIT */
/* cli/bench/bench.h - measures the speed of the library on this machine: the peak of the machine
 * and, as shares of it, matrix products, every kind of attention, training and translation.
 *
 * Weights and tokens are random, from the seed, so no input is needed. Every round measures all
 * cases in turn; results are median, lowest and highest over the rounds. Work on one thread is
 * measured in CPU time of that thread, other work in wall-clock time, which suffers more if the
 * machine is shared. docs/performance.md explains how to read the tables. */
#ifndef RELA_BENCH_BENCH_H
#define RELA_BENCH_BENCH_H

#include "rela/rela.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to measure. The peak is always measured. */
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
    const char *preset;       /* size of the model: "tiny", "base", "paper", "demo" */
    const char *const *kinds; /* of attention, to compare with softmax, which is always measured */
    size_t n_kinds;           /* 0: all for kernels, those of the paper's Table 2 for models */
    const uint32_t *lengths;  /* of the sentences in attention kernels */
    size_t n_lengths;         /* 0: 25, 100, 1000, 4000 */
    int32_t train_length;     /* tokens of a sentence in training */
    int32_t n_threads;        /* 0: every core this process may use */
    int32_t rounds;
    double seconds; /* minimum time of one measurement; the work always runs at least once */
    uint64_t seed;
    const char *out; /* directory for JSON, tables and figures, created if missing; NULL: none */
    /* A trained model, which replaces the preset. Training with its kind of attention starts from
     * its weights and so has as many zeros. NULL: preset and fresh weights. */
    const char *model;
    /* Called on the calling thread; non-zero stops with RELA_CANCEL. May be NULL. */
    int (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *progress_ctx;
    /* Share of attention weights that rectified kinds, max(0, s), shall have zero in training; set
     * by biases of queries and keys, as trained models have more zeros than fresh ones. 0: leave
     * them as they are. */
    double zeros;
    const double *links; /* link speeds for forecasts, in Gb/s */
    size_t n_links;      /* 0: 1, 10, 100 */
    int32_t slot_tokens; /* target tokens per thread and update in forecasts */
} rela_bench_options;

/* Defaults: everything, tiny, sentences of 25 tokens, all threads, 3 rounds of 0.02 seconds, seed
 * 1, slots of 512 tokens. */
void rela_bench_options_init(rela_bench_options *o, size_t size);

/* Measures and appends the results as text tables and as JSON; either buffer may be NULL. RELA_ARG
 * for an unknown preset or kind and for numbers out of range. */
rela_status rela_bench(rela_buffer *table, rela_buffer *json, const rela_bench_options *o,
                       rela_error *err);

#ifdef __cplusplus
}
#endif
#endif

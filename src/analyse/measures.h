/* SPDX-License-Identifier: MIT */
/* src/analyse/measures.h - sparsity, null rate and head diversity of attention, by head and layer.
 *
 * Sparsity of a head: the share of exact zeros among the unmasked query-key pairs. Null rate: the
 * share of queries whose row is all zero, or that have no keys (empty source). Micro averages over
 * the corpus, macro over sentences. Diversity of a layer: the Jensen-Shannon divergence of its
 * heads in nats, averaged over the queries of a sentence, then over sentences: JS =
 * Ent(mean_h p_h) - mean_h Ent(p_h), between 0 and ln(heads). Weights of a head that sum to one are
 * p_h itself; others are normalised by a softmax of w^tau over the unmasked keys (negative weights
 * keep their sign), and a null head puts all its mass on an extra slot. One object per thread; they
 * are summed in a fixed order. */
#ifndef RELA_ANALYSE_MEASURES_H
#define RELA_ANALYSE_MEASURES_H

#include "session/watch.h"

enum { RELA_TAUS = 4 };
extern const double rela_taus[RELA_TAUS]; /* 1, 0.5, 0.25, 0.1 */

typedef struct rela_head_sums {
    uint64_t zeros, pairs, null_rows, rows;
    double zero_shares, null_shares; /* per-sentence shares, summed */
    uint64_t sentences, with_keys;   /* all; those with keys */
} rela_head_sums;

typedef struct rela_layer_sums {
    double js[RELA_TAUS];     /* sums over sentences */
    uint64_t null_rows, rows; /* queries that are null in every head */
    uint64_t sentences;       /* with keys */
} rela_layer_sums;

/* Arrays are indexed by stack, numbered as in the block list of the model. */
typedef struct rela_measures {
    const rela_attn_stack *stacks; /* (n_stacks) lent by the model */
    size_t n_stacks, heads;
    bool sum_one[RELA_STACKS_MAX];       /* the weights of all heads */
    bool *head_sum_one[RELA_STACKS_MAX]; /* (layers, heads) those of this head */
    bool diversity;                      /* measure it too; takes most of the time */
    bool skip_end; /* null rates without the last query, which predicts <eos> */
    rela_head_sums *head[RELA_STACKS_MAX];   /* (layers, heads) */
    rela_layer_sums *layer[RELA_STACKS_MAX]; /* (layers) */
    double *scratch;
    size_t cap_scratch;
} rela_measures;

/* The net must outlive it. */
rela_status rela_measures_init(rela_measures *m, const rela_net *net, rela_error *err);
void rela_measures_deinit(rela_measures *m);
void rela_measures_clear(rela_measures *m);

rela_status rela_measures_count(rela_measures *m, const rela_heads *h, rela_error *err);
void rela_measures_add(rela_measures *sum, const rela_measures *x);

/* Whether all weights of all kinds sum to one: then the temperature of diversity has no effect. */
bool rela_measures_sum_one(const rela_measures *m);

/* 0 if there is nothing to average. */
double rela_sparsity_micro(const rela_head_sums *s);
double rela_sparsity_macro(const rela_head_sums *s);
double rela_null_micro(const rela_head_sums *s);
double rela_null_macro(const rela_head_sums *s);
double rela_layer_js(const rela_layer_sums *s, size_t tau);

/* Null rate of one head on one pair. */
double rela_head_null(const rela_heads *h, size_t head, bool skip_end);

/* Mean and sample variance (divisor n - 1; 0 for one head) over the heads of a layer. */
typedef struct rela_spread {
    double mean, variance;
} rela_spread;
rela_spread rela_spread_over_heads(const rela_measures *m, size_t stack, size_t layer,
                                   double (*figure)(const rela_head_sums *s));

/* Divergence of the heads for one query. w: row of the first head; heads are stride apart; n:
 * unmasked keys; sum_one: (heads). scratch: (2 * (n + 1)). */
double rela_js(const real *w, size_t heads, size_t stride, size_t n, const bool *sum_one,
               double tau, double *scratch);

#endif

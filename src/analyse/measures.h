/* SPDX-License-Identifier: MIT */
/* src/analyse/measures.h - zeros, null rows and head diversity of attention, per head and layer.
 *
 * Sparsity of a head: exact zeros over the query-key pairs that can be seen. Null rate: queries
 * whose whole row is zero, or that have no keys, as those of an empty source. Micro counts over the
 * corpus, macro is the mean over sentences. Diversity of a layer: the Jensen-Shannon divergence of
 * its heads, natural logarithm, mean over the queries of a sentence, then over sentences: JS =
 * Ent(mean_h p_h) - mean_h Ent(p_h), between 0 and ln(heads). Weights that sum to one are the p_h;
 * others are made so by a softmax of w^tau over the keys that can be seen (negative ones keep their
 * sign), and a null head is all on a slot of its own. One object per thread; they are added up in a
 * fixed order. */
#ifndef RELA_ANALYSE_MEASURES_H
#define RELA_ANALYSE_MEASURES_H

#include "session/watch.h"

enum { RELA_TAUS = 4 };
extern const double rela_taus[RELA_TAUS]; /* 1, 0.5, 0.25, 0.1 */

typedef struct rela_head_sums {
    uint64_t zeros, pairs, null_rows, rows;
    double zero_shares, null_shares; /* sums over sentences of their shares */
    uint64_t sentences, with_keys;   /* all of them; those with keys */
} rela_head_sums;

typedef struct rela_layer_sums {
    double js[RELA_TAUS];     /* sums over sentences */
    uint64_t null_rows, rows; /* of the layer attention: queries that no head answers */
    uint64_t sentences;       /* with keys */
} rela_layer_sums;

/* Arrays are by stack, as the list of the model numbers them. */
typedef struct rela_measures {
    const rela_attn_stack *stacks; /* (n_stacks) lent by the model */
    size_t n_stacks, heads;
    bool sum_one[RELA_STACKS_MAX];
    bool diversity;                          /* also measure it; it costs most of the time */
    bool skip_end;                           /* null rates without the last query, the end */
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

/* Figures; a share of nothing is 0. */
double rela_sparsity_micro(const rela_head_sums *s);
double rela_sparsity_macro(const rela_head_sums *s);
double rela_null_micro(const rela_head_sums *s);
double rela_null_macro(const rela_head_sums *s);
double rela_layer_js(const rela_layer_sums *s, size_t tau);

/* Null rate of one head on one pair. */
double rela_head_null(const rela_heads *h, size_t head, bool skip_end);

/* Mean and variance (n - 1 below the line; 0 for one head) over the heads of a layer. */
typedef struct rela_spread {
    double mean, variance;
} rela_spread;
rela_spread rela_spread_over_heads(const rela_measures *m, size_t stack, size_t layer,
                                   double (*figure)(const rela_head_sums *s));

/* The divergence of one query. w: row of the first head; heads lie stride apart; n keys can be
 * seen. scratch: 2 * (n + 1). */
double rela_js(const real *w, size_t heads, size_t stride, size_t n, bool sum_one, double tau,
               double *scratch);

#endif

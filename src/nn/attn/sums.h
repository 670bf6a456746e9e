/* SPDX-License-Identifier: MIT */
/* src/nn/attn/sums.h - attention whose weights are products of features: the method of kinds that
 * map queries and keys to positive features f and weigh key j by f(q) . f(k_j), divided by the sum
 * of the row.
 *
 * No rows are formed: the values mixed by a query are f(q) S with the sum S of f(k_j) v_j^T, and
 * the divisor is the same product with values of 1, which are appended to the values as one more
 * column. With a causal mask a chunk of queries adds the keys of the chunk to the sums of those
 * before. Time and memory are linear in the length, and decoding has S alone as its state.
 *
 * If all products of a row underflow, every key counts the same and no gradient passes to the
 * features: for such rows S has a last feature that is 1 in every key. */
#ifndef RELA_NN_ATTN_SUMS_H
#define RELA_NN_ATTN_SUMS_H

#include "nn/attn/method.h"

/* A map of rows x (rows, d_head) to features y (rows, n). */
typedef struct rela_attn_map {
    const rela_attn *a;
    const rela_attn_row *row;
    bool queries; /* not keys */
    size_t rows;
    const real *x;
    size_t ldx;
    real *y; /* backward: as the forward map wrote it */
    size_t ldy;
    real *dy; /* backward only: with ldy; may be overwritten */
    real *dx; /* backward only: with ldx, written */
} rela_attn_map;

typedef struct rela_attn_features {
    size_t (*n)(const rela_attn_shape *shape);
    void (*map)(const rela_attn_map *m);
    void (*map_back)(const rela_attn_map *m);
} rela_attn_features;

/* The members of a rela_attn_method, whose member `features` the kind sets. */
void rela_attn_sums_plan(rela_attn_scratch *s, rela_plan *p, const rela_attn_shape *shape,
                         size_t max_len);
void rela_attn_sums_forward(const rela_attn_head *h, real *out, size_t ldz);
void rela_attn_sums_back(const rela_attn_head *h, const rela_attn_head_grad *g);
void rela_attn_sums_weights(const rela_attn_head *h, real *w, size_t ld, size_t first, size_t m);
size_t rela_attn_sums_state(const rela_attn_shape *shape);
void rela_attn_sums_put(const rela_attn *a, const rela_attn_row *c, real *state, const real *before,
                        const real *key, const real *value);
void rela_attn_sums_attend(const rela_attn *a, const rela_attn_row *c, real *z, const real *q,
                           const real *state);

/* All of them, for the table of a kind. */
#define RELA_ATTN_SUMS                                                                             \
    .plan = rela_attn_sums_plan, .forward = rela_attn_sums_forward, .back = rela_attn_sums_back,   \
    .weights = rela_attn_sums_weights, .state = rela_attn_sums_state, .put = rela_attn_sums_put,   \
    .attend = rela_attn_sums_attend

#endif

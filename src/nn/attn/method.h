/* SPDX-License-Identifier: MIT */
/* src/nn/attn/method.h - how one head of one sentence is computed: a table of functions.
 *
 * Kinds that turn rows of scores into weights share two methods, strips and tiles (see head.h).
 * A kind whose weights are never formed row by row, such as one that keeps running sums, brings
 * its own in rela_attn_kind.method. All that the other code must know about a method stands here:
 * what is optional and missing, the method cannot do. */
#ifndef RELA_NN_ATTN_METHOD_H
#define RELA_NN_ATTN_METHOD_H

#include "nn/attn/head.h"

typedef struct rela_attn_method {
    /* ---- batches ---- */

    /* Takes the scratch of one head for sentences of up to max_len keys, which all heads use one
     * after the other. Methods of kinds take arrays of reals into s->own. */
    void (*plan)(rela_attn_scratch *s, rela_plan *p, const rela_attn_shape *shape, size_t max_len);
    /* out (n_q, d_head) with leading dimension ldz; n_k is at least 1. If there is a tap, strips
     * and tiles show it their weights. */
    void (*forward)(const rela_attn_head *h, real *out, size_t ldz);
    /* Gradients; g->dq, g->dk and g->dv are overwritten. n_k is at least 1. */
    void (*back)(const rela_attn_head *h, const rela_attn_head_grad *g);
    /* Optional: rows of weights for taps, which methods of kinds need for nothing else: those of
     * the queries [first, first + m), w (m, n_k) with leading dimension ld, 0 where masked. */
    void (*weights)(const rela_attn_head *h, real *w, size_t ld, size_t first, size_t m);
    /* Optional: words of 8 bytes kept from forward to back, of a head of a sentence; and the most
     * of all heads and sentences together, for max_len keys in a sentence. */
    size_t (*kept)(const rela_attn_head *h);
    size_t (*kept_most)(const rela_attn_shape *shape, size_t q_rows, size_t k_rows, size_t max_len);

    /* ---- decoding; NULL: keys and values are cached, and rows of weights formed ---- */

    /* Reals of the state of a head, which stands for all its keys and values so far. */
    size_t (*state)(const rela_attn_shape *shape);
    /* The state after one more key and value (d_head). before: the state before, which may be the
     * same array; NULL: there is none. c is for the head, its scratch as large as a state. */
    void (*put)(const rela_attn *a, const rela_attn_row *c, real *state, const real *before,
                const real *key, const real *value);
    /* z (d_head) of a query (d_head). */
    void (*attend)(const rela_attn *a, const rela_attn_row *c, real *z, const real *q,
                   const real *state);

    const struct rela_attn_features *features; /* for the functions of sums.h only */
} rela_attn_method;

extern const rela_attn_method rela_attn_strips, rela_attn_tiles;

const rela_attn_method *rela_attn_method_of(const rela_attn_kind *kind);

#endif

/* SPDX-License-Identifier: MIT */
/* src/nn/attn/head.h - one head of one sentence, and the two methods for kinds that turn rows of
 * scores into weights (see method.h).
 *
 * Strips: for kinds that need a whole row of scores. Tiles: for kinds whose weights depend on one
 * score only or, in the backward pass, on that and on numbers of the row that are known by then;
 * keys are processed block by block, and where most weights are zero only the others are computed
 * with. Both sum every result in the same order, so their forward passes agree to the last bit,
 * except for softmax, whose rows are merged from parts, and for prefiltered tiles of rectified
 * kinds: there only scores that may be above 0 are computed, each as one dot product
 * (loops_prefilter.h of kern). */
#ifndef RELA_NN_ATTN_HEAD_H
#define RELA_NN_ATTN_HEAD_H

#include "nn/attn/attn.h"

enum {
    RELA_ATTN_STRIP = 64,            /* queries processed at once */
    RELA_ATTN_BLOCK = RELA_FEW_MOST, /* keys whose values stay in the nearest cache */
    RELA_ATTN_KEPT = 4096 /* keys of a sentence, at most, whose zeros are kept; whole blocks */
};

typedef struct rela_attn_head {
    const rela_attn *a;
    const rela_attn_scratch *s;
    rela_attn_row row;
    rela_attn_path path;
    size_t sentence, number;
    const real *q, *k, *v; /* first row of this sentence, columns of this head */
    size_t ldq, ldk, ldv;
    size_t n_q, n_k;
    uint32_t first_row; /* of its first query in the update */
    void *kept;         /* rectified kinds: see rela_tile_kept; softmax: rela_soft (n_q); or NULL */
} rela_attn_head;

/* How softmax turned a row of scores into weights: exp(s - top) * factor. */
typedef struct rela_soft {
    real top, factor;
} rela_soft;

/* The same places of the gradients, of the gradient dz of the result, and of the result z. */
typedef struct rela_attn_head_grad {
    const real *dz, *z; /* z may be NULL */
    size_t ldz;
    real *dq, *dk, *dv;
} rela_attn_head_grad;

/* Scratch of both. */
void rela_attn_rows_plan(rela_attn_scratch *s, rela_plan *p, const rela_attn_shape *shape,
                         size_t max_len);
/* out (n_q, d_head) with leading dimension ldz. n_k is at least 1. */
void rela_attn_tiles_forward(const rela_attn_head *h, real *out, size_t ldz);
void rela_attn_tiles_back(const rela_attn_head *h, const rela_attn_head_grad *g);

/* Whether tiles may be prefiltered, if enough of the weights turn out to be zero. */
bool rela_attn_may_prefilter(const rela_attn_head *h);

/* Shows the weights (rows, n) of queries [first, first + rows), which are in the scratch, to the
 * tap.
 */
void rela_attn_show(const rela_attn_head *h, size_t first, size_t rows, size_t n, size_t ld);

/* Copies rows of a head to contiguous ones, (n, wide), with zeros after its d_head numbers; and
 * back, row r multiplied by factor[r * step], or unchanged if factor is NULL. */
void rela_attn_take_rows(const rela_attn_head *h, real *to, const real *from, size_t ld, size_t n);
void rela_attn_put_rows(const rela_attn_head *h, real *to, size_t ld, const real *from, size_t n,
                        const real *factor, size_t step);
void rela_attn_clear_rows(real *x, size_t ld, size_t rows, size_t n);
/* Queries [first, first + m) into the scratch, scaled. */
void rela_attn_take_queries(const rela_attn_head *h, size_t first, size_t m);
/* Writes the gradient of such queries, from the scratch, back through the scaling. */
void rela_attn_put_dqueries(const rela_attn_head *h, real *dq, size_t first, size_t m);
/* The dropout of query i. */
rela_drop rela_attn_drop_at(const rela_attn_head *h, size_t i);

/* Positions of dropout: rows of weights start at multiples of 2^32 over the golden ratio, which
 * spreads any number of rows evenly, so that rows of long texts do not overlap. */
#define RELA_ATTN_DROP_ROW 0x9E3779B1u

/* From one query to the next. */
static inline uint32_t rela_attn_drop_step(const rela_attn *a)
{
    return (uint32_t)(a->all_heads ? a->all_heads : a->heads) * RELA_ATTN_DROP_ROW;
}

/* Words kept of m queries against a block of keys, see rela_tile_kept. */
static inline size_t rela_attn_kept_block(size_t m)
{
    return 1 + m * RELA_PREFILTER_WORDS;
}

/* The same against n_k keys. */
static inline size_t rela_attn_kept_strip(size_t m, size_t n_k)
{
    const size_t keys = n_k < RELA_ATTN_KEPT ? n_k : RELA_ATTN_KEPT;
    return (keys + RELA_ATTN_BLOCK - 1) / RELA_ATTN_BLOCK * rela_attn_kept_block(m);
}

/* End of the keys that some of the queries [first, first + m) may attend to. */
static inline size_t rela_attn_reach(const rela_attn_head *h, size_t first, size_t m)
{
    return h->a->causal && first + m < h->n_k ? first + m : h->n_k;
}

#endif

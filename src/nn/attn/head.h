/* SPDX-License-Identifier: MIT */
/* src/nn/attn/head.h - one head of one sentence, and the two ways to compute it.
 *
 * Strips: kinds that must see a whole row of scores. Tiles: kinds whose weights depend on one score
 * only, or backward on that and numbers of the row that are known by then; keys are taken block by
 * block, and where most weights are zero only the others are worked on. Both add every result up in
 * the same order, so forward they agree to the last bit, but for softmax, whose parts are
 * joined, and for prefiltered tiles of rectified kinds: there only scores that may be above 0 are
 * computed, each as one dot product (loops_prefilter.h of kern).
 */
#ifndef RELA_NN_ATTN_HEAD_H
#define RELA_NN_ATTN_HEAD_H

#include "nn/attn/attn.h"

enum {
    RELA_ATTN_STRIP = 64,            /* queries that are worked on at once */
    RELA_ATTN_BLOCK = RELA_FEW_MOST, /* keys whose values stay in the nearest cache */
    RELA_ATTN_KEPT = 4096 /* keys of a sentence whose zeros are kept at most; whole blocks */
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
    void *kept; /* of a rectified kind see rela_tile_kept; of softmax (n_q) rela_soft; or NULL */
} rela_attn_head;

/* How softmax made a row of scores weights: exp(s - top) * factor. */
typedef struct rela_soft {
    real top, factor;
} rela_soft;

/* The same places of the gradients, and of the gradient dz of the result. */
typedef struct rela_attn_head_grad {
    const real *dz, *z; /* z may be NULL */
    size_t ldz;
    real *dq, *dk, *dv;
} rela_attn_head_grad;

/* out (n_q, d_head) with leading dimension ldz. There are keys. */
void rela_attn_strips_forward(const rela_attn_head *h, real *out, size_t ldz);
void rela_attn_strips_back(const rela_attn_head *h, const rela_attn_head_grad *g);
void rela_attn_tiles_forward(const rela_attn_head *h, real *out, size_t ldz);
void rela_attn_tiles_back(const rela_attn_head *h, const rela_attn_head_grad *g);

/* Whether tiles may be prefiltered, if enough of the weights turn out to be zero. */
bool rela_attn_may_prefilter(const rela_attn_head *h);

/* Shows the weights (rows, n) of queries [first, first + rows), which are in the scratch, to the
 * tap.
 */
void rela_attn_show(const rela_attn_head *h, size_t first, size_t rows, size_t n, size_t ld);

/* Rows of a head side by side, (n, wide), with zeros after its d_head numbers; and back, row r
 * times factor[r * step], or as it is if factor is NULL. */
void rela_attn_take_rows(const rela_attn_head *h, real *to, const real *from, size_t ld, size_t n);
void rela_attn_put_rows(const rela_attn_head *h, real *to, size_t ld, const real *from, size_t n,
                        const real *factor, size_t step);
void rela_attn_clear_rows(real *x, size_t ld, size_t rows, size_t n);
/* Queries [first, first + m) into the scratch, scaled or mapped. */
void rela_attn_take_queries(const rela_attn_head *h, size_t first, size_t m);
/* The gradient of such queries from the scratch: they were scaled or mapped, it goes the same way.
 */
void rela_attn_put_dqueries(const rela_attn_head *h, real *dq, size_t first, size_t m);
/* The drop of query i. */
rela_drop rela_attn_drop_at(const rela_attn_head *h, size_t i);

/* Positions of dropout: rows of weights start multiples of 2^32 over the golden section apart,
 * which spreads any number of rows evenly, so that rows of long texts do not overlap. */
#define RELA_ATTN_DROP_ROW 0x9E3779B1u

/* From one query to the next. */
static inline uint32_t rela_attn_drop_step(const rela_attn *a)
{
    return (uint32_t)(a->all_heads ? a->all_heads : a->heads) * RELA_ATTN_DROP_ROW;
}

/* Words kept of m queries against a block of keys, see rela_tile_kept. */
static inline size_t rela_attn_kept_block(size_t m)
{
    return 1 + m * RELA_SCREEN_WORDS;
}

/* The same against n_k keys. */
static inline size_t rela_attn_kept_strip(size_t m, size_t n_k)
{
    const size_t keys = n_k < RELA_ATTN_KEPT ? n_k : RELA_ATTN_KEPT;
    return (keys + RELA_ATTN_BLOCK - 1) / RELA_ATTN_BLOCK * rela_attn_kept_block(m);
}

/* Keys up to which some of the queries [first, first + m) see. */
static inline size_t rela_attn_reach(const rela_attn_head *h, size_t first, size_t m)
{
    return h->a->causal && first + m < h->n_k ? first + m : h->n_k;
}

#endif

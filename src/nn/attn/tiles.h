/* SPDX-License-Identifier: MIT */
/* src/nn/attn/tiles.h - what both passes over tiles share: attention of kinds whose weights depend
 * on one score only, and softmax, whose rows can be merged from parts; see head.h.
 *
 * A tile is a strip of queries against a block of keys: it stays in the nearest cache, whatever the
 * length of the sentence. Where most of its weights are zero, only the others are computed with. In
 * the forward pass the rows of a tile are queries, in the backward pass keys, so that all gradients
 * of a key are summed in registers. */
#ifndef RELA_NN_ATTN_TILES_H
#define RELA_NN_ATTN_TILES_H

#include "nn/attn/head.h"

/* Queries [first, first + m) against the keys [key, key + n). */
typedef struct rela_tile {
    size_t first, m, key, n;
    size_t rows, across; /* of the tile; across in whole vectors, padded with weights of 0 */
} rela_tile;

/* The tile of the strip at query `first` that starts at a key; n is 0 after the last key that the
 * strip may attend to. */
static inline rela_tile rela_tile_at(const rela_attn_head *h, size_t first, size_t key)
{
    const size_t rest = h->n_q - first, m = rest < RELA_ATTN_STRIP ? rest : RELA_ATTN_STRIP;
    const size_t n = rela_attn_reach(h, first, m) - key;
    return (rela_tile){
        .first = first, .m = m, .key = key, .n = n < RELA_ATTN_BLOCK ? n : RELA_ATTN_BLOCK
    };
}

/* The share of non-zero weights below which the backward pass is faster if it picks them out
 * (measured). */
static inline double rela_tile_few_back(const rela_attn_head *h)
{
    return h->s->wide / h->a->k->lanes < 8 ? 0.5 : 0.4;
}

/* Share of non-zero weights of a tile, estimated from every eighth row. */
static inline double rela_tile_share(const rela_attn_head *h, const rela_tile *t)
{
    if (!(h->a->kind->flags & ATTN_SPARSE) || h->path != RELA_ATTN_AUTO)
        return 1;
    size_t some = 0, looked = 0;
    for (size_t i = 0; i < t->rows; i += 8, looked++)
        some += h->a->k->count_above(h->s->weights + i * t->across, t->across);
    return (double)(some * t->rows) / (double)(looked * t->m * t->n);
}

static inline bool rela_tile_few(const rela_attn_head *h, double share, double most)
{
    if (h->path != RELA_ATTN_AUTO)
        return h->path != RELA_ATTN_DENSE && (h->a->kind->flags & ATTN_SPARSE);
    return share < most;
}

/* What is kept of a tile: a word with the number of bits per query, or 0 if there are no bits; then
 * the bits of all queries, set where a weight is not zero. NULL: there is no room. */
static inline uint64_t *rela_tile_kept(const rela_attn_head *h, const rela_tile *t)
{
    const size_t strips = t->first / RELA_ATTN_STRIP, blocks = t->key / RELA_ATTN_BLOCK;
    if (!h->kept || !(h->a->kind->flags & ATTN_RECTIFIED) || t->key >= RELA_ATTN_KEPT)
        return NULL;
    return (uint64_t *)h->kept + strips * rela_attn_kept_strip(RELA_ATTN_STRIP, h->n_k) +
           blocks * rela_attn_kept_block(t->m);
}

/* Whether the causal mask hides some key of the tile from some query of it. */
static inline bool rela_tile_hides(const rela_attn_head *h, const rela_tile *t)
{
    return h->a->causal && t->key + t->n > t->first + 1;
}

/* Scores of rows (, wide) against packed panels, and their weights; for softmax the scores only.
 * bias: NULL, or (across) to be added to each row of scores. */
static inline void rela_tile_weigh(const rela_attn_head *h, const rela_tile *t, const real *rows,
                                   const real *panels, const real *bias)
{
    const rela_attn *a = h->a;
    const rela_attn_scratch *s = h->s;
    const bool rectified = a->kind->flags & ATTN_RECTIFIED, soft = a->kind->flags & ATTN_SOFT;
    a->k->packed(rectified || soft ? s->weights : s->scores, t->across, rows, s->wide, panels, bias,
                 t->rows, t->across, a->d_head, rectified);
    if (!rectified && !soft)
        a->kind->weigh(&h->row, s->weights, s->scores, t->rows * t->across);
}

/* State of softmax for each query of a strip: the largest score so far; the sum of exponentials so
 * far, or its reciprocal once it is complete and in the backward pass; and, in the backward pass,
 * the sum of all weights times their gradients. */
static inline real *rela_soft_top(const rela_attn_head *h)
{
    return h->s->per_query;
}

static inline real *rela_soft_sum(const rela_attn_head *h)
{
    return h->s->per_query + RELA_ATTN_STRIP;
}

static inline real *rela_soft_along(const rela_attn_head *h)
{
    return h->s->per_query + 2 * RELA_ATTN_STRIP;
}

#endif

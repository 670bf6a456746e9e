/* SPDX-License-Identifier: MIT */
/* src/nn/block_attention.h - what attention over a batch and in a decoding step share. */
#ifndef RELA_NN_BLOCK_ATTENTION_H
#define RELA_NN_BLOCK_ATTENTION_H

#include "nn/block.h"

/* Arrays of one side: kept in training, scratch otherwise. */
typedef struct rela_side_arrays {
    real *in;                    /* (rows, 3d) or (rows, d) */
    real *kv;                    /* cross-attention: (rows of the other stream, 2d) */
    real *z;                     /* (rows, d) mixed values */
    real *y;                     /* (rows, d) after the norms; z if there is none */
    void *kept[RELA_GROUPS_MAX]; /* see rela_attn */
} rela_side_arrays;

/* Their sizes. */
typedef struct rela_side_size {
    size_t rows, keys;
    size_t len; /* keys of the longest sentence */
    bool keeps; /* keep arrays for a backward pass */
    bool step;  /* keys and values are cached */
} rela_side_size;

static inline const rela_attn_at *rela_attn_of(const rela_block *b)
{
    return &b->at.attn;
}

static inline size_t rela_attn_in_width(const rela_block *b)
{
    return rela_attn_of(b)->self ? 3 * b->d : b->d;
}

void rela_side_take(rela_side_arrays *a, const rela_block *b, const rela_attn_side *side,
                    rela_plan *p, const rela_side_size *s);
/* The attention of group g of the heads of a side, without dropout. */
rela_attn rela_side_attn(const rela_block *b, const rela_pass *p, const rela_attn_side *side,
                         size_t g);

/* block_attention_norm.c: the norms of the groups, each over the concatenated heads of its group.
 * Forward from z to y, which may be z; backward in place: dz holds the gradient of y, then that of
 * z. */
void rela_side_norms(const rela_block *b, const rela_pass *p, const rela_attn_side *side, real *y,
                     const real *z, rela_plan scratch);
void rela_side_norms_back(const rela_block *b, const rela_pass *p, const rela_attn_side *side,
                          real *dz, const real *z, rela_plan scratch);
/* Scratch that either takes for group g. */
void rela_side_norms_plan(rela_plan *scratch, const rela_block *b, const rela_attn_side *side,
                          size_t g, size_t rows);

/* block_attention_step.c: a decoding step, and the cached keys and values of an encoded stream for
 * the steps to come; see rela_block_type. */
void rela_attention_step(const rela_block *b, rela_pass *p);
void rela_attention_remember(const rela_block *b, rela_pass *p, size_t stream);

#endif

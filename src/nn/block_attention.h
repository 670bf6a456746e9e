/* SPDX-License-Identifier: MIT */
/* src/nn/block_attention.h - what attention over a batch and in a decoding step share. */
#ifndef RELA_NN_BLOCK_ATTENTION_H
#define RELA_NN_BLOCK_ATTENTION_H

#include "nn/block.h"

/* Arrays of one side: kept in training, scratch otherwise. */
typedef struct rela_side_arrays {
    real *in;                    /* (rows, 3d) or (rows, d) */
    real *kv;                    /* to others: (their rows, 2d) */
    real *z;                     /* (rows, d) mixed values */
    real *y;                     /* (rows, d) after the norms; z if there is none */
    void *kept[RELA_GROUPS_MAX]; /* see rela_attn */
} rela_side_arrays;

/* How large they are. */
typedef struct rela_side_size {
    size_t rows, keys;
    size_t len; /* keys of a sentence */
    bool keeps; /* for a backward pass */
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
 * From z to y, which may be z; back in place, from the gradient of y to that of z. */
void rela_side_norms(const rela_block *b, const rela_pass *p, const rela_attn_side *side, real *y,
                     const real *z, rela_plan scratch);
void rela_side_norms_back(const rela_block *b, const rela_pass *p, const rela_attn_side *side,
                          real *dz, const real *z, rela_plan scratch);
/* What either takes for group g. */
void rela_side_norms_plan(rela_plan *scratch, const rela_block *b, const rela_attn_side *side,
                          size_t g, size_t rows);

/* A decoding step, and keys and values of an encoded stream for the steps to come: block.h. */
void rela_attention_step(const rela_block *b, rela_pass *p);
void rela_attention_remember(const rela_block *b, rela_pass *p, size_t stream);

#endif

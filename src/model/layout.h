/* SPDX-License-Identifier: MIT */
/* src/model/layout.h - which parameters a configuration has and where they lie in the block.
 *
 * The members are offsets in reals: `weights + at->qkv` is the matrix, `grads + at->qkv` its
 * gradient. Matrices are (out, in). */
#ifndef RELA_MODEL_LAYOUT_H
#define RELA_MODEL_LAYOUT_H

#include "model/config.h"
#include "tensor/params.h"

typedef struct rela_ln_at {
    size_t gain, offset;
} rela_ln_at;

typedef struct rela_attn_at {
    size_t in, in_bias; /* self: q, k, v (3d, d); cross: q (d, d) */
    size_t kv, kv_bias; /* cross only: k, v (2d, d) */
    size_t head;        /* learned numbers per head, if the kind has any */
    size_t gain, gate;  /* norm of the attention output, if the kind has one */
    size_t out, out_bias;
    rela_ln_at ln;
} rela_attn_at;

typedef struct rela_ffn_at {
    size_t up, up_bias, down, down_bias;
    rela_ln_at ln;
} rela_ffn_at;

typedef struct rela_layer_at {
    rela_attn_at self, cross; /* cross: decoder only */
    rela_ffn_at ffn;
} rela_layer_at;

/* Model for alignment: see nn/align.h. */
typedef struct rela_align_at {
    size_t bias; /* (target vocabulary) */
    size_t null, near, around;
} rela_align_at;

typedef struct rela_layout {
    rela_params params;
    size_t embed_src, embed_tgt, output, embed_bias; /* equal offsets where tied */
    rela_layer_at *enc, *dec;
    rela_ln_at enc_ln, dec_ln; /* pre-norm only */
    rela_align_at align;       /* model for alignment only, which has no layers */
} rela_layout;

/* c must have passed rela_config_check. */
rela_status rela_layout_init(rela_layout *l, const rela_config *c, rela_error *err);
/* Without the matrices of products and embeddings, whose offsets mean nothing: what is left of a
 * net beside matrices in 8 bits. */
rela_status rela_layout_init_bare(rela_layout *l, const rela_config *c, rela_error *err);
void rela_layout_deinit(rela_layout *l);

#endif

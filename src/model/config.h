/* SPDX-License-Identifier: MIT */
/* src/model/config.h - the numbers that define a model, and their bounds. */
#ifndef RELA_MODEL_CONFIG_H
#define RELA_MODEL_CONFIG_H

#include "base/error.h"
#include "nn/attn/spec.h"

#include <stdbool.h>
#include <stddef.h>

/* The three places of attention; indices of attention[] and names in files. */
typedef enum rela_attn_type {
    RELA_ATTN_ENC,
    RELA_ATTN_DEC,
    RELA_ATTN_CROSS,
    RELA_ATTN_N_TYPES
} rela_attn_type;

typedef enum rela_tie {
    RELA_TIE_NONE, /* three matrices */
    RELA_TIE_OUT,  /* target embedding = output */
    RELA_TIE_ALL   /* one matrix for source, target and output */
} rela_tie;

typedef enum rela_task {
    RELA_TASK_TRANSLATE, /* encoder and decoder */
    RELA_TASK_ALIGN      /* an alignment layer alone: links words, cannot translate */
} rela_task;

typedef struct rela_config {
    rela_task task;
    size_t d, ffn, heads, enc_layers, dec_layers;
    size_t sources;      /* texts that a sentence is translated from */
    bool share_encoders; /* of all sources */
    bool serial_cross;   /* cross-attention to the sources in sequence, not in parallel */
    size_t vocab_src, vocab_tgt;
    size_t max_len; /* tokens of a sentence, end included */
    rela_attn_spec attention[RELA_ATTN_N_TYPES];
    bool pre_norm;
    bool norm_per_head; /* norms of the attention output act on each head separately */
    rela_tie tie;
    double eps;      /* of LayerNorm */
    double attn_eps; /* of the norms of the attention output */
    double drop_embed, drop_residual, drop_attn, drop_ffn;
} rela_config;

/* Bounds that are checked for every model file before anything is allocated. */
enum {
    RELA_D_MAX = 16384,
    RELA_FFN_MAX = 65536,
    RELA_HEADS_MAX = 256,
    RELA_LAYERS_MAX = 256,
    RELA_VOCAB_MAX = 1 << 20,
    RELA_LEN_MIN = 2, /* a token and the end */
    RELA_LEN_MAX = 1 << 16
};

/* The same attention everywhere; fails as rela_attn_spec_parse does. */
rela_status rela_config_attend(rela_config *c, const char *text, rela_error *err);
size_t rela_config_layers(const rela_config *c, rela_attn_type t);
/* The kind of a head; layers and heads from 0. */
const rela_attn_kind *rela_config_kind(const rela_config *c, rela_attn_type t, size_t layer,
                                       size_t head);
/* RELA_ARG if attention of some of the given types (bits 1 << type) forms no weights that could be
 * shown. */
rela_status rela_config_check_shown(const rela_config *c, uint32_t types, rela_error *err);

/* RELA_ARG unless the model is made for translation. */
rela_status rela_config_translates(const rela_config *c, rela_error *err);

/* Checks all numbers and that they are consistent. */
rela_status rela_config_check(const rela_config *c, rela_error *err);

/* The first setting, in words, that makes the weights of the two incompatible; NULL: none.
 * Vocabularies are not compared. */
const char *rela_config_differs(const rela_config *a, const rela_config *b);

/* The key, as in files, of the first setting that is not the same in both; NULL: none. */
const char *rela_config_compare(const rela_config *a, const rela_config *b);

/* As a flat JSON object. Reading is strict: a duplicate key and a wrong type are RELA_FORMAT, and
 * so is an unknown key, with the version that wrote it. A key newer than the file gets the value
 * that models had before the key existed. Does not replace rela_config_check. */
rela_status rela_config_to_json(rela_buffer *out, const rela_config *c, rela_error *err);
rela_status rela_config_from_json(rela_config *c, const char *text, size_t len, rela_error *err);

const char *rela_attn_type_name(rela_attn_type t); /* "enc", "dec", "cross" */

#endif

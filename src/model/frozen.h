/* SPDX-License-Identifier: MIT */
/* src/model/frozen.h - a net laid out for decoding: every matrix packed for products of few rows
 * (kern.h: pack). Immutable, so any number of threads may decode with it.
 *
 * It is a copy: later changes of the net's matrices are not seen. Embeddings, biases and norms are
 * read from the net, which must outlive it. */
#ifndef RELA_MODEL_FROZEN_H
#define RELA_MODEL_FROZEN_H

#include "model/encdec.h"

/* Packed matrices of a layer; the cross members are NULL in the encoder. */
typedef struct rela_frozen_layer {
    const real *qkv, *self_out;                          /* d -> 3d, d -> d */
    const real *cross_q, *cross_k, *cross_v, *cross_out; /* d -> d each */
    const real *up, *down;                               /* d -> ffn -> d */
} rela_frozen_layer;

typedef struct rela_frozen {
    const rela_net *net;
    rela_frozen_layer *enc, *dec;
    const real *output; /* d -> vocabulary */
    size_t bytes;       /* of the packed matrices */
    void *block;
} rela_frozen;

rela_status rela_frozen_init(rela_frozen *f, const rela_net *net, rela_error *err);
void rela_frozen_deinit(rela_frozen *f); /* all zero is fine */

#endif

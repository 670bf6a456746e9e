/* SPDX-License-Identifier: MIT */
/* src/model/frozen.h - a net laid out for decoding: every matrix packed for products of few rows
 * (kern.h: pack, pack_bytes). Immutable, so any number of threads may decode with it.
 *
 * It is a copy: later changes of the net's matrices are not seen. Biases, norms and, unless the net
 * is bare (layout.h), embeddings are read from the net, which must outlive it. */
#ifndef RELA_MODEL_FROZEN_H
#define RELA_MODEL_FROZEN_H

#include "model/encdec.h"

/* A packed matrix (n, k); reals or bytes.p is NULL. */
typedef struct rela_frozen_matrix {
    const real *reals;
    rela_bytes bytes;
    size_t n, k;
    bool relu; /* the results of the product are rectified */
} rela_frozen_matrix;

/* Packed matrices of a layer; the cross members are not there in the encoder. */
typedef struct rela_frozen_layer {
    rela_frozen_matrix qkv, self_out;                        /* d -> 3d, d -> d */
    rela_frozen_matrix cross_q, cross_k, cross_v, cross_out; /* d -> d each */
    rela_frozen_matrix up, down;                             /* d -> ffn -> d */
} rela_frozen_layer;

typedef struct rela_frozen {
    const rela_net *net;
    rela_frozen_layer *enc, *dec;
    rela_frozen_matrix output; /* d -> vocabulary */
    /* With a bare net only: (vocabulary, d). The same as output where the net ties them. */
    rela_frozen_matrix embed_src, embed_tgt;
    size_t bytes;                 /* of the packed matrices */
    void *block;                  /* of the packed matrices, unless they are mapped */
    struct rela_checkpoint *file; /* in which they are mapped; NULL: none */
} rela_frozen;

rela_status rela_frozen_init(rela_frozen *f, const rela_net *net, rela_error *err);
/* The same on several threads; 0: all. */
rela_status rela_frozen_init_with(rela_frozen *f, const rela_net *net, int n_threads,
                                  rela_error *err);
/* In 8 bits. The net becomes bare (layout.h): its matrices are given back. */
rela_status rela_frozen_init_bytes(rela_frozen *f, rela_net *net, int n_threads, rela_error *err);
void rela_frozen_deinit(rela_frozen *f); /* all zero is fine */
/* Is all that it needs still there? A mapped file may have been cut. */
rela_status rela_frozen_check(const rela_frozen *f, rela_error *err);

#endif

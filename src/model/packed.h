/* SPDX-License-Identifier: MIT */
/* src/model/packed.h - the matrices of a net packed for decoding (nn/weight.h): fp32 or int8, made
 * here or read from a file (format/packed_load.h). Immutable, so any number of threads may decode
 * with them.
 *
 * They are copies: later changes of the net's matrices are not seen. Everything else is read from
 * the net, which must outlive them. */
#ifndef RELA_MODEL_PACKED_H
#define RELA_MODEL_PACKED_H

#include "base/file.h"
#include "model/net.h"

typedef struct rela_packed_weights {
    const rela_net *net;
    rela_storage storage;
    rela_weight *weights; /* (params.n) */
    size_t bytes;         /* of the packed matrices */
    void *block;          /* of the packed matrices, unless they are mapped */
    rela_blob *file;      /* the open file if they are mapped; NULL otherwise */
} rela_packed_weights;

/* Packs to fp32, on several threads; 0: all. */
rela_status rela_packed_weights_init(rela_packed_weights *w, const rela_net *net, int n_threads,
                                     rela_error *err);
/* Packs to int8, and frees the matrices of the net. */
rela_status rela_packed_weights_init_int8(rela_packed_weights *w, rela_net *net, int n_threads,
                                          rela_error *err);
/* Plans and allocates the matrices of storage w->storage, to be filled by the caller. */
rela_status rela_packed_weights_make_room(rela_packed_weights *w, const rela_params *params,
                                          size_t panel, rela_error *err);
void rela_packed_weights_deinit(rela_packed_weights *w); /* all zero is fine */
/* Checks that a mapped file has not been truncated since it was loaded. */
rela_status rela_packed_weights_check(const rela_packed_weights *w, rela_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* src/model/encdec.h - the teacher-forced pass of the encoder-decoder, forward and backward.
 *
 * A worker owns the activations and scratch of one thread, planned once for a largest batch;
 * running it never allocates. A batch is packed: rows of all sentences behind each other. */
#ifndef RELA_MODEL_ENCDEC_H
#define RELA_MODEL_ENCDEC_H

#include "model/layout.h"
#include "nn/attn/attn.h"
#include "nn/embed.h"
#include "nn/loss.h"

/* A model in memory: what forward and backward read. Shareable while nobody writes weights. */
/* Said of a net whose layout is bare. */
#define RELA_TRANSLATES_ONLY "a packed model can translate, and nothing else"

typedef struct rela_net {
    rela_config config;
    rela_layout layout;
    const rela_kern *k;
    real *weights;   /* layout.params.total reals */
    real *positions; /* (max_len, d) */
} rela_net;

/* Allocates weights (not initialised) and positions. c must have passed rela_config_check. */
rela_status rela_net_init(rela_net *n, const rela_config *c, rela_error *err);
/* The same around a layout of c and weights (rela_mem_alloc) that are there already. Both are given
 * to n, on failure too. */
rela_status rela_net_adopt(rela_net *n, const rela_config *c, rela_layout *layout, real *weights,
                           rela_error *err);
/* Other settings for the same weights: rela_config_differs finds nothing, vocabularies are as
 * large. On failure nothing has changed. */
rela_status rela_net_configure(rela_net *n, const rela_config *c, rela_error *err);
void rela_net_deinit(rela_net *n);

typedef struct rela_packed {
    rela_tokens src, tgt; /* each sentence ends with the end symbol */
    size_t src_rows, tgt_rows;
    uint32_t first_src, first_tgt; /* rows of the update before this part: dropout depends on it */
} rela_packed;

/* Which dropout to apply. training false: none. */
typedef struct rela_pass {
    bool training;
    uint64_t seed, update;
    real smooth;            /* label smoothing */
    real agree;             /* above 0: each sentence is followed by its twin, see nn/loss.h */
    const real *row_weight; /* (tgt_rows) or NULL: see rela_loss_run */
    real *row_nll;          /* (tgt_rows) or NULL */
    const rela_attn_tap *tap;
} rela_pass;

typedef struct rela_worker rela_worker;

/* Room for batches of up to so many rows and sentences. Given to the caller. */
rela_status rela_worker_create(rela_worker **out, const rela_net *n, size_t max_src_rows,
                               size_t max_tgt_rows, rela_error *err);
void rela_worker_destroy(rela_worker *w); /* NULL is fine */
size_t rela_worker_bytes(const rela_net *n, size_t max_src_rows, size_t max_tgt_rows);

/* Forward only: loss sums. */
rela_loss_sums rela_worker_forward(rela_worker *w, const rela_packed *b, const rela_pass *p);
/* Forward without the output layer: for those who look at attention or features alone. */
void rela_worker_attend(rela_worker *w, const rela_packed *b, const rela_pass *p);
/* Forward and backward; grads (layout of the parameters) is added to. */
rela_loss_sums rela_worker_train(rela_worker *w, real *grads, const rela_packed *b,
                                 const rela_pass *p);

/* Encoder alone; the result (src_rows, d) is lent until the next call. */
const real *rela_worker_encode(rela_worker *w, const rela_packed *b, const rela_pass *p);
/* Decoder features (tgt_rows, d) of the last forward pass; lent. */
const real *rela_worker_features(const rela_worker *w);
/* Whether those of a sentence are finite. A model for alignment has none. */
bool rela_worker_finite(const rela_worker *w, const rela_packed *b, size_t sentence);

#endif

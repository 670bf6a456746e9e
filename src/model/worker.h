/* SPDX-License-Identifier: MIT */
/* src/model/worker.h - passes over whole batches, teacher forced: forward and backward.
 *
 * A worker owns the activations and scratch of one thread, planned once for a largest batch;
 * running it never allocates. Rows of all sentences of a batch are concatenated. */
#ifndef RELA_MODEL_WORKER_H
#define RELA_MODEL_WORKER_H

#include "base/callback.h"
#include "base/stop.h"
#include "model/net.h"

/* A micro-batch: the sentences of each source, then of the target. Each ends with the end symbol;
 * with several sources, a sentence may be empty in some of them. */
typedef struct rela_model_batch {
    rela_tokens streams[RELA_STREAMS_MAX];
    uint32_t first[RELA_STREAMS_MAX]; /* rows of the update before this micro-batch: for dropout */
} rela_model_batch;

typedef struct rela_pass_options {
    bool training; /* with dropout */
    uint64_t seed, update;
    rela_loss_options loss;
    const rela_attn_tap *tap; /* may be NULL */
    rela_attn_path path;      /* of every attention: tests force it */
    /* May be NULL. Called during the backward pass: the gradients of the parameters at offsets
     * [from, params_end of the list of blocks) are complete. from decreases from call to call. */
    void (*on_gradients)(void *ctx, size_t from);
    void *on_gradients_ctx;
    /* Polled between blocks; after it has stopped the pass, all results are undefined. NULL: none.
     */
    rela_callback *callback;
    /* Asked before each block: the pass then ends early, and its results mean nothing. */
    rela_stop stop;
} rela_pass_options;

typedef struct rela_worker rela_worker;

/* Room for batches of at most max_src_rows of each source and max_tgt_rows of the target. Given to
 * the caller. training: it can compute gradients, which takes more memory. */
rela_status rela_worker_create(rela_worker **out, const rela_net *n, size_t max_src_rows,
                               size_t max_tgt_rows, bool training, rela_error *err);
void rela_worker_destroy(rela_worker *w); /* NULL is fine */
size_t rela_worker_bytes(const rela_net *n, size_t max_src_rows, size_t max_tgt_rows,
                         bool training);

/* Forward only: loss sums. */
rela_loss_sums rela_worker_forward(rela_worker *w, const rela_model_batch *b,
                                   const rela_pass_options *r);
/* Forward without the output layer, for callers that need only attention or features. */
void rela_worker_attend(rela_worker *w, const rela_model_batch *b, const rela_pass_options *r);
/* Forward and backward; grads (layout of the parameters) is added to. */
rela_loss_sums rela_worker_train(rela_worker *w, real *grads, const rela_model_batch *b,
                                 const rela_pass_options *r);

/* Features (rows of the target, d) of the last pass; lent. */
const real *rela_worker_features(const rela_worker *w);
/* Whether the features of a sentence are finite; true for alignment models, which have none. */
bool rela_worker_finite(const rela_worker *w, const rela_model_batch *b, size_t sentence);

#endif

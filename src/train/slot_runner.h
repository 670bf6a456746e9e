/* SPDX-License-Identifier: MIT */
/* src/train/slot_runner.h - one gradient slot of an update, on one thread: micro-batches through
 * the model, one after the other. See update.h. */
#ifndef RELA_TRAIN_SLOT_RUNNER_H
#define RELA_TRAIN_SLOT_RUNNER_H

#include "train/update.h"

/* Sentences [first, last) of an update, and the sums over them. */
typedef struct rela_slot {
    size_t first, last;
    double loss, nll;
    bool stopped; /* before its end: loss, nll and gradients mean nothing */
} rela_slot;

/* The current update; all lent. */
typedef struct rela_slot_job {
    rela_net *net;
    const rela_update_options *o;
    const rela_model_batch *update;
    uint64_t number;
    bool training;
} rela_slot_job;

/* State of a thread that runs micro-batches. */
typedef struct rela_slot_runner {
    /* May be NULL. Called with the runner during the backward pass of the last micro-batch of a
     * slot: the gradients of the slot are complete from an offset on (model/worker.h). */
    void (*on_gradients)(void *runner, size_t from);
    void *ctx; /* for the callback's use, as the next */
    size_t complete_from;
    rela_worker *worker;
    size_t max_src, max_tgt;             /* rows the worker has room for */
    uint32_t *offsets[RELA_STREAMS_MAX]; /* offsets of a micro-batch, from 0 */
    int32_t *ids; /* R-Drop: its tokens with sentences doubled, stream by stream */
    real *row_weight;
    size_t cap_offsets[RELA_STREAMS_MAX], cap_ids, cap_weight;
} rela_slot_runner;

/* Allocates what the update needs; nothing once the largest has been seen. */
rela_status rela_slot_runner_grow(rela_slot_runner *r, const rela_slot_job *j, rela_error *err);
void rela_slot_runner_deinit(rela_slot_runner *r);

/* Runs a slot; adds to grads, if training, and to the sums of the slot. */
void rela_slot_run(rela_slot_runner *r, rela_slot *part, const rela_slot_job *j, real *grads);

/* Rows of sentences [first, last): of all streams, and of the longest stream. */
typedef struct rela_row_count {
    size_t all, most;
} rela_row_count;
rela_row_count rela_count_rows(const rela_slot_job *j, size_t first, size_t last);

size_t rela_micro_batch_rows(const rela_update_options *o);
/* Copies of each sentence in a micro-batch when training: 2 with R-Drop, else 1. */
size_t rela_sentence_copies(const rela_update_options *o);

#endif

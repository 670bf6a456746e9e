/* SPDX-License-Identifier: MIT */
/* src/train/slot_runner.h - one gradient slot of an update, on one thread: micro-batches through
 * the model, one after the other. See step.h. */
#ifndef RELA_TRAIN_SLOT_RUNNER_H
#define RELA_TRAIN_SLOT_RUNNER_H

#include "train/step.h"

/* What is summed of the sentences [first, last) of an update. */
typedef struct rela_slot {
    size_t first, last;
    double loss, nll;
} rela_slot;

/* The update at work. */
typedef struct rela_slot_job {
    rela_net *net;
    const rela_step_options *o;
    const rela_packed *update;
    uint64_t number;
    bool training;
} rela_slot_job;

/* What a thread needs to run micro-batches. */
typedef struct rela_slot_runner {
    /* Called during the backward pass of the last micro-batch of a slot, may be NULL: gradients
     * from an offset on are complete (model/worker.h). */
    void (*on_gradients)(void *ctx, struct rela_slot_runner *r, size_t from);
    void *ctx;
    size_t complete_from; /* for the callback's use */
    rela_worker *worker;
    size_t max_src, max_tgt;        /* rows the worker has room for */
    uint32_t *at[RELA_STREAMS_MAX]; /* offsets of a micro-batch, from 0 */
    int32_t *ids;                   /* its tokens where sentences are there twice, by stream */
    real *row_weight;
    size_t cap_at[RELA_STREAMS_MAX], cap_ids, cap_weight;
} rela_slot_runner;

/* Makes room for the update; nothing to do after the first few. */
rela_status rela_slot_runner_grow(rela_slot_runner *r, const rela_slot_job *j, rela_error *err);
void rela_slot_runner_deinit(rela_slot_runner *r);

/* Adds to grads, and to the sums of the slot. */
void rela_slot_run(rela_slot_runner *r, rela_slot *part, const rela_slot_job *j, real *grads);

/* Rows of the sentences [first, last) in all streams, and in the one with most. */
typedef struct rela_row_count {
    size_t all, most;
} rela_row_count;
rela_row_count rela_count_rows(const rela_slot_job *j, size_t first, size_t last);

size_t rela_micro_batch_rows(const rela_step_options *o);
/* How often a sentence is in a micro-batch of training. */
size_t rela_sentence_copies(const rela_step_options *o);

#endif

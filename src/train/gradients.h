/* SPDX-License-Identifier: MIT */
/* src/train/gradients.h - the gradient of an update: slots through the model, and their sum in a
 * fixed order, on several threads and ranks. See step.h. */
#ifndef RELA_TRAIN_GRADIENTS_H
#define RELA_TRAIN_GRADIENTS_H

#include "train/rank_sum.h"
#include "train/slot_runner.h"

#include <pthread.h>

/* Parameters that one thread adds or updates at a time. */
enum { RELA_SLICE = 1 << 14 };

typedef struct rela_gradients {
    rela_slot_job job;         /* of the update at work */
    rela_slot_runner *runners; /* (threads) */
    rela_slot *slots;          /* (o->slots) */
    /* Of the slots that are computed at a time, and the sum of those before in their group. All are
     * 0 between two updates. */
    real **grads; /* (n_grads) */
    size_t n_grads;
    real *group_sum;             /* one of them */
    real *total;                 /* of all groups; NULL if there is but one, or several ranks */
    double *squares;             /* of each slice of the sum of all groups */
    rela_rank_sum ranks;         /* several ranks: has the sum of all groups */
    size_t group;                /* at work */
    size_t first_slot, end_slot; /* those that are computed at a time */
    /* Several ranks: what the backward pass has completed is added and sent before it ends. */
    pthread_mutex_t lock;
    size_t added; /* slices [added, complete_slices) of the round are */
} rela_gradients;

/* n and o, whose slots and groups are not 0, are lent. */
rela_status rela_gradients_init(rela_gradients *g, rela_net *n, const rela_step_options *o,
                                rela_error *err);
void rela_gradients_deinit(rela_gradients *g);
/* Bytes, before anything is allocated. */
size_t rela_gradients_bytes(const rela_net *n, const rela_step_options *o);

/* Makes room for g->job; nothing to do after the first few updates. */
rela_status rela_gradients_grow(rela_gradients *g, rela_error *err);
/* Sums of the slots of g->job and, if it is training, of their gradients and squares. Collective.
 */
void rela_gradients_run(rela_gradients *g);

/* Slices of the parameters whose sum is here: how many, the number of each among all slices, and
 * their sums, concatenated. */
size_t rela_gradients_own(const rela_gradients *g);
size_t rela_gradients_slice(const rela_gradients *g, size_t i);
real *rela_gradients_sum(const rela_gradients *g);
/* The most reals of such an array, before anything is allocated. */
size_t rela_gradients_own_max(const rela_net *n, const rela_step_options *o);
/* Of all parameters, those of the other ranks included. */
double rela_gradients_squares(const rela_gradients *g);
/* Makes ready for the next update; not needed if the caller has cleared the sum. */
void rela_gradients_clear(rela_gradients *g);

#endif

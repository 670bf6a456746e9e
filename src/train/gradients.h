/* SPDX-License-Identifier: MIT */
/* src/train/gradients.h - the gradient of an update: runs the slots through the model and adds
 * their gradients in a fixed order, on several threads and ranks. See update.h.
 *
 * A round is the set of slots that a rank computes concurrently. */
#ifndef RELA_TRAIN_GRADIENTS_H
#define RELA_TRAIN_GRADIENTS_H

#include "train/rank_sum.h"
#include "train/slot_runner.h"

#include <pthread.h>

/* Reals per slice: the unit of parameters that a thread adds or updates. */
enum { RELA_PARAM_SLICE = 1 << 14 };

typedef struct rela_gradients {
    rela_slot_job job;         /* the current update */
    rela_slot_runner *runners; /* (slots of a round) */
    rela_slot *slots;          /* (o->slots) */
    /* Gradients of the slots of a round, plus one array for the running sum if a group takes
     * several rounds. All zero between updates. */
    real **grads; /* (n_grads) */
    size_t n_grads;
    real *group_sum;             /* sum of the current group; one of grads */
    real *total;                 /* sum of all groups; NULL with one group or several ranks */
    double *squares;             /* (slices) sum of squares of the total gradient */
    rela_rank_sum ranks;         /* several ranks: holds the sum of all groups */
    size_t group;                /* current */
    size_t first_slot, end_slot; /* of the current round */
    /* Several ranks: what all threads have completed is added and sent while the backward pass is
     * still running. The lock guards `added` and the complete_from of the runners. */
    pthread_mutex_t lock;
    size_t added; /* slices [added, complete_slices) are added and passed on */
} rela_gradients;

/* n and o are lent. o->slots and o->groups must not be 0. */
rela_status rela_gradients_init(rela_gradients *g, rela_net *n, const rela_update_options *o,
                                rela_error *err);
void rela_gradients_deinit(rela_gradients *g);
/* Estimate of the memory that init and grow will allocate, in bytes. */
size_t rela_gradients_bytes(const rela_net *n, const rela_update_options *o);

/* Allocates what g->job needs; nothing once the largest update has been seen. */
rela_status rela_gradients_grow(rela_gradients *g, rela_error *err);
/* Computes the loss sums of the slots of g->job and, if it is training, the sum of their gradients
 * and its squares. False, on all ranks, if one of them was asked to stop. Collective. */
bool rela_gradients_run(rela_gradients *g);

/* With several ranks the sum is sharded by slices (rank_sum.h). Number of slices that this rank
 * owns, index of own slice i among all slices, and the sums of the own slices, concatenated. */
size_t rela_gradients_own(const rela_gradients *g);
size_t rela_gradients_slice(const rela_gradients *g, size_t i);
real *rela_gradients_sum(const rela_gradients *g);
/* Upper bound of the reals in rela_gradients_sum; callable before init. */
size_t rela_gradients_own_max(const rela_net *n, const rela_update_options *o);
/* Sum of squares of the whole gradient, the slices of other ranks included. */
double rela_gradients_squares(const rela_gradients *g);
/* Prepares for the next update; not needed if the caller has zeroed the sum. */
void rela_gradients_clear(rela_gradients *g);

#endif

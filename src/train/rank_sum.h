/* SPDX-License-Identifier: MIT */
/* src/train/rank_sum.h - gradients that several ranks have computed, added in a fixed order.
 *
 * The parameters are cut into slices of a fixed size, and slices into bands, of which every rank
 * owns an equal share: there it adds the gradients of all ranks, keeps the moments and updates the
 * weights. What is added are units, slots or sums of groups of slots (step.h), which are computed
 * in rounds: in each, rank r has the units [r * per, (r + 1) * per) of the round.
 *
 * Bands are exchanged from the end of the parameters to their beginning, in the order in which the
 * backward pass completes them, so that exchange can begin while gradients are still computed. All
 * functions but the getters and rela_rank_sum_send are collective (dist/world.h). */
#ifndef RELA_TRAIN_RANK_SUM_H
#define RELA_TRAIN_RANK_SUM_H

#include "dist/world.h"
#include "kern/kern.h"

typedef struct rela_rank_sum_options {
    const rela_kern *k;
    size_t total, slice; /* reals */
    size_t complete_end; /* the backward pass completes parameters from here downwards */
    size_t per;          /* units of a rank in a round */
    size_t units, note;  /* how many in an update, and bytes that are recorded of each */
    size_t group;        /* units that are added by themselves first; divides them */
    int n_threads;
} rela_rank_sum_options;

typedef struct rela_rank_sum {
    rela_world *world;
    rela_rank_sum_options o;
    size_t n_slices, n_own; /* slices of all ranks and of this one */
    size_t width;           /* slices of a rank in a band */
    size_t n_bands;
    size_t first_band; /* to be exchanged */
    real *sum;         /* of the own slices, concatenated */
    real *part;        /* of the group being added, from the second on; NULL if there is only one */
    /* Gradients of other ranks for the own slices of some bands. */
    real *inbox;  /* (depth, ranks - 1, per, width * slice) */
    size_t depth; /* bands that can be on their way at a time */
    rela_message *out, *in;
    char *notes; /* of the units, by rank */
    /* The round under way. */
    real *const *grads;
    size_t first; /* unit */
    size_t begun; /* bands */
} rela_rank_sum;

rela_status rela_rank_sum_init(rela_rank_sum *s, rela_world *w, const rela_rank_sum_options *o,
                               rela_error *err);
void rela_rank_sum_deinit(rela_rank_sum *s);
/* Bytes, before anything is allocated. */
size_t rela_rank_sum_bytes(const rela_world *w, const rela_rank_sum_options *o);
/* The most reals that a rank owns. */
size_t rela_rank_sum_own_max(const rela_world *w, const rela_rank_sum_options *o);

/* Begins the round whose first unit is `first`; grads[0 .. per) are, or will be, the own gradients.
 */
void rela_rank_sum_start(rela_rank_sum *s, real *const *grads, size_t first);
/* The own gradients of the parameters [from, to) are complete: what can be sent of them is. Any
 * thread may call it, one at a time. */
void rela_rank_sum_send(rela_rank_sum *s, size_t from, size_t to);
/* Ends the round: all gradients are complete, and are added and cleared. */
void rela_rank_sum_add(rela_rank_sum *s);
/* What is recorded of each unit by the rank that computed it goes to all ranks. */
void rela_rank_sum_notes(rela_rank_sum *s, void *notes);
/* Of each slice, those of the other ranks included. */
void rela_rank_sum_squares(rela_rank_sum *s, double *squares);

/* An array of `bytes` bytes, slice_bytes for each slice: all ranks get what the others own of it.
 */
void rela_rank_sum_share(rela_rank_sum *s, void *array, size_t slice_bytes, size_t bytes);
/* An array like the sum: rank 0 gets all of it, in the layout of the parameters; all is NULL on the
 * other ranks. */
void rela_rank_sum_gather(rela_rank_sum *s, real *all, real *own);

/* The number among all slices of own slice i. */
size_t rela_rank_sum_slice(const rela_rank_sum *s, size_t i);

#endif

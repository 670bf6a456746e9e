/* SPDX-License-Identifier: MIT */
/* src/train/rank_sum.h - gradients that several ranks have computed, added in a fixed order.
 *
 * The parameters are cut into slices of a fixed size, and each rank owns a range of slices: there
 * it adds the gradients of all ranks, has the moments and updates the weights. What is added are
 * units, slots or sums of groups of slots (step.h), which are computed in rounds: in each, rank r
 * has the units [r * per, (r + 1) * per) of the round. All functions but the getters are collective
 * (dist/world.h). */
#ifndef RELA_TRAIN_RANK_SUM_H
#define RELA_TRAIN_RANK_SUM_H

#include "dist/world.h"
#include "kern/kern.h"

typedef struct rela_rank_sum {
    rela_world *world;
    const rela_kern *k;
    size_t total, slice; /* reals */
    size_t units;        /* of an update */
    size_t group;        /* units that are added by themselves first */
    size_t per;          /* units of a rank in a round */
    int n_threads;
    size_t *slices; /* (ranks + 1) the first slice of each rank */
    size_t *reals;  /* the same in reals */
    real *sum;      /* of the own slices */
    real *part;     /* of the group at work, from the second on; NULL if there is but one */
    /* Gradients of the other ranks for some of the own slices at a time, `window` of them: while
     * one half is added, the other is received. */
    size_t window;
    real *inbox[2]; /* (ranks, per, window * slice) */
    rela_message *out, *in;
    char *notes; /* of the units, by rank */
    size_t note; /* bytes */
} rela_rank_sum;

typedef struct rela_rank_sum_options {
    const rela_kern *k;
    size_t total, slice, per;
    size_t units, note; /* how many in all, and bytes that are noted of each */
    size_t group;       /* units that are added by themselves first; divides them */
    int n_threads;
} rela_rank_sum_options;

rela_status rela_rank_sum_init(rela_rank_sum *s, rela_world *w, const rela_rank_sum_options *o,
                               rela_error *err);
void rela_rank_sum_deinit(rela_rank_sum *s);
/* Bytes, before anything is allocated. */
size_t rela_rank_sum_bytes(const rela_world *w, const rela_rank_sum_options *o);

/* Adds the round whose first unit is `first`, with the own gradients grads[0 .. per), which are
 * cleared. */
void rela_rank_sum_add(rela_rank_sum *s, real *const *grads, size_t first);
/* What is noted of each unit, by the rank that computed it, goes to all ranks. */
void rela_rank_sum_notes(rela_rank_sum *s, void *notes);
/* Of each slice, those of the other ranks included. */
void rela_rank_sum_squares(rela_rank_sum *s, double *squares);

/* The own reals [begin, end) of the parameters, with their sum from its beginning on. */
size_t rela_rank_sum_begin(const rela_rank_sum *s);
size_t rela_rank_sum_end(const rela_rank_sum *s);

#endif

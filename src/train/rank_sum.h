/* SPDX-License-Identifier: MIT */
/* src/train/rank_sum.h - reduce-scatter of gradients over the ranks, added in a fixed order.
 *
 * The parameters are divided into slices of a fixed size, and slices are grouped into bands, of
 * which every rank owns an equal share. For its slices a rank adds the gradients of all ranks,
 * keeps the moments and updates the weights (optimiser state sharding, ZeRO-1). What is added are
 * units: slots, or sums of groups of slots (update.h). They are computed in rounds: rank r has the
 * units [r * per, (r + 1) * per) of each round.
 *
 * Bands are exchanged from the end of the parameters to the beginning, the order in which the
 * backward pass completes them, so that communication overlaps with computation. All functions but
 * the getters and rela_rank_sum_send are collective (dist/world.h). */
#ifndef RELA_TRAIN_RANK_SUM_H
#define RELA_TRAIN_RANK_SUM_H

#include "dist/world.h"
#include "kern/kern.h"

typedef struct rela_rank_sum_options {
    const rela_kern *k;
    size_t total, slice; /* reals in all and per slice */
    size_t complete_end; /* the backward pass completes gradients from here downwards */
    size_t per;          /* units per rank in a round */
    size_t units, note;  /* units per update, and bytes recorded for each */
    size_t group;        /* units per group: summed before groups are added; divides units */
    int n_threads;
} rela_rank_sum_options;

typedef struct rela_rank_sum {
    rela_world *world;
    rela_rank_sum_options o;
    size_t n_slices, n_own; /* slices in all, and those of this rank */
    size_t width;           /* slices per rank in a band */
    size_t n_bands;
    size_t first_band; /* the first to be exchanged */
    real *sum;         /* of the own slices, concatenated */
    real *part;        /* sum of the current group, from the second on; NULL if there is only one */
    /* Gradients received from other ranks, for the own slices of the bands in flight. */
    real *inbox;  /* (depth, ranks - 1, per, width * slice) */
    size_t depth; /* maximum bands in flight */
    rela_message *out, *in;
    char *notes; /* records of the units, by rank */
    /* The current round. */
    real *const *grads;
    size_t first; /* its first unit */
    size_t begun; /* bands whose exchange has begun */
} rela_rank_sum;

rela_status rela_rank_sum_init(rela_rank_sum *s, rela_world *w, const rela_rank_sum_options *o,
                               rela_error *err);
void rela_rank_sum_deinit(rela_rank_sum *s);
/* Estimate of the memory that init will allocate, in bytes. */
size_t rela_rank_sum_bytes(const rela_world *w, const rela_rank_sum_options *o);
/* Upper bound of the reals that a rank owns. */
size_t rela_rank_sum_own_max(const rela_world *w, const rela_rank_sum_options *o);

/* Begins the round whose first unit is `first`. grads[0 .. per) are this rank's gradients, lent
 * until rela_rank_sum_add; pointers and values may be filled in later. */
void rela_rank_sum_start(rela_rank_sum *s, real *const *grads, size_t first);
/* This rank's gradients of the parameters [from, to) are complete: sends the bands within, as far
 * as the inbox has room. Any thread may call it, one at a time. */
void rela_rank_sum_send(rela_rank_sum *s, size_t from, size_t to);
/* Ends the round, with all gradients of this rank complete: adds those of all ranks and zeroes
 * grads. */
void rela_rank_sum_add(rela_rank_sum *s);
/* All-gather of the records of units: each rank contributes those of the units it computed. */
void rela_rank_sum_notes(rela_rank_sum *s, void *notes);
/* Sum of squares of each slice, (n_slices), on all ranks. */
void rela_rank_sum_squares(rela_rank_sum *s, double *squares);

/* All-gather in place: `array` has `bytes` bytes, slice_bytes for each slice, and each rank
 * contributes the slices it owns. */
void rela_rank_sum_share(rela_rank_sum *s, void *array, size_t slice_bytes, size_t bytes);
/* Gathers an array laid out like the sum on rank 0, in the layout of the parameters. `all` is NULL
 * on the other ranks. */
void rela_rank_sum_gather(rela_rank_sum *s, real *all, real *own);

/* Index of own slice i among all slices. */
size_t rela_rank_sum_slice(const rela_rank_sum *s, size_t i);

#endif

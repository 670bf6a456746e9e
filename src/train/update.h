/* SPDX-License-Identifier: MIT */
/* src/train/update.h - one update: forward, backward, sum of gradients, Adam.
 *
 * The sentences of an update are divided by tokens into a fixed number of *slots*. A slot is
 * computed by one thread, which accumulates gradients over micro-batches small enough for the
 * caches of a core. Gradients are added in a fixed order, first the slots of a group, then the
 * groups, so the same seed, slots and groups give the same bytes on any number of threads and ranks
 * (dist/world.h). A rank that computes whole groups exchanges one sum per group instead of every
 * slot.
 *
 * On several ranks, all functions with a rela_error are collective, and the optimiser state is
 * sharded: each rank keeps moments and updates weights for a part of the parameters (rank_sum.h). A
 * step allocates nothing once the largest batch has been seen. */
#ifndef RELA_TRAIN_UPDATE_H
#define RELA_TRAIN_UPDATE_H

#include "dist/world.h"
#include "model/worker.h"

enum { RELA_SLOTS = 4, RELA_SLOTS_MAX = 1024 };

typedef struct rela_update_options {
    int n_threads;
    size_t slots;            /* 0: RELA_SLOTS; at most this many threads compute */
    size_t groups;           /* of consecutive slots; divides slots; 0: 1 */
    size_t micro_batch_rows; /* tokens of a micro-batch, source and target each; 0: 576 */
    double beta1, beta2, epsilon;
    double weight_decay; /* decoupled */
    double clip;         /* maximum gradient norm; 0: no clipping */
    double smooth;       /* label smoothing */
    double r_drop;       /* R-Drop: weight of the KL divergence of two dropout samples; 0: off */
    bool sentence_mean;  /* mean over the tokens of each sentence, then over sentences */
    uint64_t seed;
    rela_world *world; /* NULL: one process; lent, must outlive the updater */
    rela_stop stop;    /* asked several times in a micro-batch */
} rela_update_options;

typedef struct rela_update_result {
    double loss;   /* objective, summed over tokens or, if sentence_mean, over sentences */
    size_t n_loss; /* number of these: loss / n_loss is the mean */
    double nll;    /* sum over target tokens, whatever the mean */
    size_t src_tokens, tgt_tokens, sentences;
    double grad_norm; /* of the mean gradient */
    bool skipped;     /* loss or gradient not finite: the weights were left alone */
} rela_update_result;

typedef struct rela_updater rela_updater;

/* n is lent and its weights are changed by steps; it must outlive the updater. */
rela_status rela_updater_create(rela_updater **out, rela_net *n, const rela_update_options *o,
                                rela_error *err);
void rela_updater_destroy(rela_updater *s); /* NULL is fine */

/* number: of the update, from 1; dropout depends on it. rate: the learning rate. RELA_CANCEL, on
 * all ranks and with the weights left alone, if one of them was asked to stop. */
rela_status rela_updater_run(rela_updater *s, rela_update_result *out, const rela_model_batch *u,
                             uint64_t number, double rate, rela_error *err);

/* Forward only, no dropout: sums of loss and nll. RELA_CANCEL as above. */
rela_status rela_updater_score(rela_updater *s, rela_update_result *out, const rela_model_batch *u,
                               rela_error *err);

/* Optimiser state for checkpoints: moments, and the number of updates they have seen. */
/* All moments (0: m, 1: v), in the layout of the parameters; lent until rela_updater_end_moments,
 * which comes before the next step. Collective; NULL on other ranks than 0. */
const real *rela_updater_moment(rela_updater *s, int which);
void rela_updater_end_moments(rela_updater *s);
/* Copies this rank's part of all moments. */
void rela_updater_set_moment(rela_updater *s, int which, const real *all);
uint64_t rela_updater_count(const rela_updater *s);
void rela_updater_set_count(rela_updater *s, uint64_t n);

/* Name of the first parameter whose gradient was not finite in the last skipped step, or "the
 * loss"; lent. */
const char *rela_updater_not_finite(const rela_updater *s);

/* Estimate of the memory that an updater takes, in bytes; callable before n has weights. */
size_t rela_updater_bytes(const rela_net *n, const rela_update_options *o);

#endif

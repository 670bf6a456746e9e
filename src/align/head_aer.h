/* SPDX-License-Identifier: MIT */
/* src/align/head_aer.h - alignment error rate of each cross-attention head to one source, of the
 * mean of each layer and of the mean of all, normal and shifted, against gold links.
 *
 * One table per thread; the tables are summed at the end, in any order. */
#ifndef RELA_ALIGN_HEAD_AER_H
#define RELA_ALIGN_HEAD_AER_H

#include "align/word_weights.h"

enum { RELA_HEAD_MEAN = -1 }; /* as layer: mean of all layers and heads; as head: of its layer */

typedef struct rela_head_choice {
    int32_t layer, head; /* from 0, or RELA_HEAD_MEAN */
    bool shift;
} rela_head_choice;

typedef struct rela_head_aer {
    size_t layers, heads;
    uint64_t (*sums)[RELA_AER_STATS]; /* (layers * (heads + 1) + 1, 2): means come last */
    double threshold;
    uint64_t pairs;
    /* private */
    rela_word_weights (*totals)[2]; /* sums over layers, for each pair of the current batch */
    size_t n_totals;
    rela_word_weights merged;
    rela_links links;
    real *mean;
    size_t cap_mean;
} rela_head_aer;

rela_status rela_head_aer_init(rela_head_aer *a, size_t layers, size_t heads, double threshold,
                               rela_error *err);
void rela_head_aer_deinit(rela_head_aer *a);

/* Adds one layer of the cross attention of pair p, number h->pair of the loaded ones. */
rela_status rela_head_aer_layer(rela_head_aer *a, const rela_heads *h, const rela_watched *p,
                                const rela_links *gold, rela_error *err);
/* Call after the last layer of a pair: adds the mean of all layers. */
rela_status rela_head_aer_ran(rela_head_aer *a, size_t pair, const rela_links *gold,
                              rela_error *err);
/* Counts a pair that could not be run as one in which no head links anything. */
void rela_head_aer_missed(rela_head_aer *a, const rela_links *gold);
void rela_head_aer_add(rela_head_aer *sum, const rela_head_aer *x);

/* 0..1 */
double rela_head_aer_get(const rela_head_aer *a, rela_head_choice c);
/* The choice with the lowest error. Ties go to the first by layer, then head, normal before
 * shifted, single heads before means. */
rela_head_choice rela_head_aer_best(const rela_head_aer *a);
rela_head_choice rela_head_aer_best_of(const rela_head_aer *a, size_t layer, bool shift);

#endif

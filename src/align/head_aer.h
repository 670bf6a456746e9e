/* SPDX-License-Identifier: MIT */
/* src/align/head_aer.h - alignment error of every head of the cross attention to one source, of
 * layer means and the mean of all, normal and shifted, against gold links.
 *
 * One table per thread; tables are added up at the end, in any order. */
#ifndef RELA_ALIGN_HEAD_AER_H
#define RELA_ALIGN_HEAD_AER_H

#include "align/word_weights.h"

enum { RELA_HEAD_MEAN = -1 }; /* as layer: mean of all layers and heads; as head: of the layer */

typedef struct rela_head_choice {
    int32_t layer, head; /* from 0, or RELA_HEAD_MEAN */
    bool shift;
} rela_head_choice;

typedef struct rela_head_aer {
    size_t layers, heads;
    uint64_t (*sums)[RELA_AER_STATS]; /* (layers * (heads + 1) + 1, 2): last are the means */
    double threshold;
    uint64_t pairs;
    /* private */
    rela_word_weights (*totals)[2]; /* of the pairs of the present batch: sums over layers */
    size_t n_totals;
    rela_word_weights merged;
    rela_links links;
    real *mean;
    size_t cap_mean;
} rela_head_aer;

rela_status rela_head_aer_init(rela_head_aer *a, size_t layers, size_t heads, double threshold,
                               rela_error *err);
void rela_head_aer_deinit(rela_head_aer *a);

/* One layer of the cross attention of pair p, which is number h->pair of those loaded. */
rela_status rela_head_aer_layer(rela_head_aer *a, const rela_heads *h, const rela_watched *p,
                                const rela_links *gold, rela_error *err);
/* After all layers of a pair. */
rela_status rela_head_aer_ran(rela_head_aer *a, size_t pair, const rela_links *gold,
                              rela_error *err);
/* A pair that could not be run: no head links anything. */
void rela_head_aer_missed(rela_head_aer *a, const rela_links *gold);
void rela_head_aer_add(rela_head_aer *sum, const rela_head_aer *x);

/* 0..1 */
double rela_head_aer_get(const rela_head_aer *a, rela_head_choice c);
/* The lowest error; of equals the first by layer, head, normal before shifted, single heads before
 * means. */
rela_head_choice rela_head_aer_best(const rela_head_aer *a);
/* The best head of a layer. */
rela_head_choice rela_head_aer_best_of(const rela_head_aer *a, size_t layer, bool shift);

#endif

/* SPDX-License-Identifier: MIT */
/* src/filter/pair_score.h - scores of a sentence pair from the cross attention of a model.
 *
 * Null rate of a head: the share of queries that attend to nothing. Coverage: every query of every
 * head spreads one unit of attention in proportion to its weights; a source word is uncovered if it
 * receives at most half of the mean over the source words. One object per thread; pairs are
 * numbered as in the watcher. */
#ifndef RELA_FILTER_PAIR_SCORE_H
#define RELA_FILTER_PAIR_SCORE_H

#include "session/watch.h"

/* For models with one source. */
typedef struct rela_pair_scores {
    size_t layers, heads;
    double *null; /* (n, layers * heads) */
    double *mass; /* (n, RELA_WATCH_TOKENS_MAX) of source words */
    size_t n;     /* capacity in pairs */
} rela_pair_scores;

rela_status rela_pair_scores_init(rela_pair_scores *s, const rela_config *c, size_t n,
                                  rela_error *err);
void rela_pair_scores_deinit(rela_pair_scores *s);

void rela_pair_scores_clear(rela_pair_scores *s);
/* Adds one layer of cross attention. */
void rela_pair_scores_add(rela_pair_scores *s, const rela_heads *h, const rela_watched *p);

/* Share of the source words that are uncovered. */
double rela_pair_uncovered(const rela_pair_scores *s, size_t pair, const rela_watched *p);
/* Mean null rate of the heads whose mark is set; marks (layers * heads), NULL: all. */
double rela_pair_null(const rela_pair_scores *s, size_t pair, const bool *marks);

/* Features of the combined score: log-probability per token, uncovered share, mean null rate, log
 * length ratio and its square, unevenness of the coverage, and the null rate of each head. */
size_t rela_pair_n_features(const rela_pair_scores *s);
void rela_pair_features(double *row, const rela_pair_scores *s, size_t pair, const rela_watched *p);

#endif

/* SPDX-License-Identifier: MIT */
/* src/align/word_weights.h - cross attention merged into words, and word links from it.
 *
 * Normal attention: a target token takes the row that predicts it. Shifted: it takes the next row,
 * in which it is the decoder input; for the last token that is the row that predicts <eos>. */
#ifndef RELA_ALIGN_WORD_WEIGHTS_H
#define RELA_ALIGN_WORD_WEIGHTS_H

#include "rela/metric.h"
#include "session/watch.h"

/* Attention between words; all zero when empty. */
typedef struct rela_word_weights {
    real *w; /* (n_tgt, n_src + 1); the last column is <eos> of the source */
    size_t n_tgt, n_src, cap;
} rela_word_weights;

void rela_word_weights_free(rela_word_weights *m);

/* Merges token weights w (tgt->n, src->n) of a pair into words. An empty source gives zeros. */
rela_status rela_word_weights_merge(rela_word_weights *out, const real *w,
                                    const rela_watched_text *src, const rela_watched_text *tgt,
                                    bool shift, rela_error *err);
/* sum += x, which has the same shape; an empty sum becomes a copy. */
rela_status rela_word_weights_add(rela_word_weights *sum, const rela_word_weights *x,
                                  rela_error *err);

/* Overwrites out. Weights below zero, which some kinds have, count as zero. threshold 0: each
 * target word is linked to the source word with the largest weight, unless that is <eos> or the row
 * is null. Otherwise it is linked to all source words that hold at least this share of its row.
 * transposed: m was made with source and target swapped. */
rela_status rela_word_weights_links(rela_links *out, const rela_word_weights *m, double threshold,
                                    bool transposed, rela_error *err);

/* The same for two directions at once: links whose mean weight is at least threshold > 0. reverse
 * was made with source and target swapped. In place, weights below zero become zero and rows that
 * sum to more than 1 are normalised. */
rela_status rela_word_weights_both(rela_links *out, rela_word_weights *forward,
                                   rela_word_weights *reverse, double threshold, rela_error *err);

/* The weights above zero of a row of n: a weight below zero points away from its word and counts as
 * none. */
double rela_weight_sum(const real *row, size_t n);

/* out (n_q, n_k) = mean over the heads. */
void rela_heads_mean(real *out, const rela_heads *h);

#endif

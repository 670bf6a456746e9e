/* SPDX-License-Identifier: MIT */
/* src/align/word_weights.h - word links from cross attention: which heads, which row, which words.
 *
 * Normal attention: a target token has the row with which it was predicted. Shifted: the row in
 * which it is the input, one further down; the last token then has the row that predicts the end.
 */
#ifndef RELA_ALIGN_WORD_WEIGHTS_H
#define RELA_ALIGN_WORD_WEIGHTS_H

#include "rela/metric.h"
#include "session/watch.h"

/* Attention between words; all zero when empty. */
typedef struct rela_word_weights {
    real *w; /* (n_tgt, n_src + 1); the last column is the end of the source */
    size_t n_tgt, n_src, cap;
} rela_word_weights;

void rela_word_weights_free(rela_word_weights *m);

/* Merges one matrix w (tgt->n, src->n) of a pair into words. An empty source has no weights. */
rela_status rela_word_weights_merge(rela_word_weights *out, const real *w,
                                    const rela_watched_text *src, const rela_watched_text *tgt,
                                    bool shift, rela_error *err);
/* sum += x, which has the same shape; an empty sum becomes a copy. */
rela_status rela_word_weights_add(rela_word_weights *sum, const rela_word_weights *x,
                                  rela_error *err);

/* Replaces out. threshold 0: every target word is linked to the source word with the largest
 * weight, unless that is the end or there is none. Else: to all source words that hold at least
 * this share of the weight of its row. transposed: m was made with source and target swapped. */
rela_status rela_word_weights_links(rela_links *out, const rela_word_weights *m, double threshold,
                                    bool transposed, rela_error *err);

/* The same for two directions at once: links whose mean weight is at least threshold > 0. reverse
 * was made with source and target swapped. Rows of more weight than 1 are brought to it, in place.
 */
rela_status rela_word_weights_both(rela_links *out, rela_word_weights *forward,
                                   rela_word_weights *reverse, double threshold, rela_error *err);

/* out (n_q, n_k) = mean over the heads. */
void rela_heads_mean(real *out, const rela_heads *h);

#endif

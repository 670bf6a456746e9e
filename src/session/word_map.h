/* SPDX-License-Identifier: MIT */
/* src/session/word_map.h - from attention between subword pieces to links between words.
 *
 * A word is what stands between blanks before BPE; word_of maps every piece, without the end
 * symbol, to its word, ascending from 0 (rela_pipeline_words). Merging sums over the pieces of a
 * source word and takes the mean over the pieces of a target word. The end of the source is kept as
 * a column of its own, so that a target word may choose it, which means: no link. */
#ifndef RELA_SESSION_WORD_MAP_H
#define RELA_SESSION_WORD_MAP_H

#include "base/error.h"
#include "kern/kern.h"

typedef struct rela_word_map {
    const uint32_t *word_of; /* (n_pieces) */
    size_t n_pieces, n_words;
} rela_word_map;

/* merged (tgt words, src words + 1) from w (tgt pieces, src pieces + 1) with leading dimension ld;
 * the last column is the end symbol. */
void rela_words_merge(real *merged, const real *w, size_t ld, const rela_word_map *src,
                      const rela_word_map *tgt);

enum { RELA_NO_LINK = UINT32_MAX };

/* The source word with the largest weight, the first of equals; RELA_NO_LINK if that is the end or
 * all are zero. row has n_src + 1 columns. */
uint32_t rela_words_link(const real *row, size_t n_src);

#endif

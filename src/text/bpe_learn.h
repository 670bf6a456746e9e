/* SPDX-License-Identifier: MIT */
/* src/text/bpe_learn.h - state of BPE learning, and pair counts of words with overlapping pairs.
 *
 * For each pair, subword-nmt keeps its count in each word, updates it incrementally and merges only
 * where it is at least 1. This count, and with it the pair's frequency, goes wrong when
 *   - three equal symbols in a row are merged pairwise,
 *   - a merge makes a symbol that the word already contains from another merge, or
 *   - the word contains a Unicode blank, which its regular expression takes for a symbol boundary.
 * Such a word is marked as having overlaps, and from then on its counts are kept as subword-nmt has
 * them, errors included; for all other words they follow from the word itself. */
#ifndef RELA_TEXT_BPE_LEARN_H
#define RELA_TEXT_BPE_LEARN_H

#include "base/map.h"
#include "text/bpe.h"
#include "text/bpe_pairs.h"

#include "rela/rela.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rela_learn_word {
    size_t units; /* offset of its symbols in rela_learner.units */
    int64_t freq;
    uint32_t n;     /* symbols */
    uint32_t round; /* the last merge that visited it */
    bool blank;     /* has a Unicode blank inside */
    bool overlaps;
} rela_learn_word;

typedef struct rela_overlap_count {
    uint64_t key; /* pair << 32 | word */
    int32_t count;
    uint32_t merged; /* rela_symbol_pair.merged when count was set; if it differs, count is 0 */
} rela_overlap_count;

typedef struct rela_learner {
    rela_map *symbols;
    rela_bpe_pairs *pairs;
    rela_learn_word *words;
    size_t n_words;
    uint32_t *units; /* symbols of all words */
    uint32_t *old;   /* the word before the merge */
    rela_buffer text;
    uint32_t pair, left, right, joint; /* being merged */
    unsigned merged_before;
    uint32_t round;
    rela_overlap_count *overlaps; /* open addressing; key UINT64_MAX: free */
    size_t n_overlaps, n_overlap_slots;
} rela_learner;

/* The symbol whose text is left and right concatenated; RELA_MAP_NONE when out of memory. */
uint32_t rela_learner_join(rela_learner *l, uint32_t left, uint32_t right);

/* Python's str.isspace: what subword-nmt's regular expression takes for a blank. */
bool rela_bpe_is_space(uint32_t code);

/* Starts the pair counts of a word from its symbols, leaving out the pair being merged. This and
 * the other bool functions below return false when out of memory. */
bool rela_overlap_start(rela_learner *l, uint32_t word);
int32_t rela_overlap_get(const rela_learner *l, uint32_t word); /* count of the pair being merged */
bool rela_overlap_change(rela_learner *l, uint32_t pair, uint32_t word, int by);
/* Merges the pair in a word with blanks inside. */
bool rela_overlap_replace(rela_learner *l, rela_learn_word *w);
void rela_overlap_stop(rela_learner *l);

#endif

/* SPDX-License-Identifier: MIT */
/* src/text/bpe_learn.h - the state of learning, and the books of words with overlapping pairs.
 *
 * subword-nmt keeps for each pair how often it is in each word, updates that number by differences
 * and merges only where it is at least 1. The number goes wrong, and with it the frequencies, when
 *   - three equal symbols in a row are merged pairwise,
 *   - a merge makes a symbol that the word already has, made in another way, or
 *   - the word has Unicode blanks inside, which its search pattern takes for symbol boundaries.
 * A word that meets one of these has overlaps, and from then on the wrong numbers are kept
 * for it as subword-nmt has them; for all other words they follow from the word itself. */
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
    size_t units; /* where its symbols start */
    int64_t freq;
    uint32_t n;     /* symbols */
    uint32_t round; /* the last merge that looked at it */
    bool blank;     /* has a Unicode blank inside */
    bool overlaps;
} rela_learn_word;

typedef struct rela_overlap_count {
    uint64_t key; /* pair << 32 | word */
    int32_t count;
    uint32_t merged; /* of the pair when this was true; a merge of the pair resets all to 0 */
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
    rela_overlap_count *overlaps; /* open addressing; count 0 and key 0: free */
    size_t n_overlaps, n_overlap_slots;
} rela_learner;

/* The symbol whose text is that of two others; RELA_MAP_NONE when out of memory. */
uint32_t rela_learner_join(rela_learner *l, uint32_t left, uint32_t right);

/* What str.isspace of Python says: blanks for subword-nmt's pattern. */
bool rela_bpe_is_space(uint32_t code);

/* Starts the books of a word from its symbols, the pair being merged left out. */
bool rela_overlap_start(rela_learner *l, uint32_t word);
int32_t rela_overlap_get(const rela_learner *l, uint32_t word); /* of the pair being merged */
bool rela_overlap_change(rela_learner *l, uint32_t pair, uint32_t word, int by);
/* Merges the pair in a word with blanks inside. */
bool rela_overlap_replace(rela_learner *l, rela_learn_word *w);
void rela_overlap_stop(rela_learner *l);

#endif

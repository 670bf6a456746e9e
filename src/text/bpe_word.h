/* SPDX-License-Identifier: MIT */
/* src/text/bpe_word.h - splitting one word into pieces. */
#ifndef RELA_TEXT_BPE_WORD_H
#define RELA_TEXT_BPE_WORD_H

#include "base/rng.h"
#include "base/str.h"
#include "text/bpe.h"

enum { RELA_UNIT_NONE = UINT32_MAX };

/* One symbol of a word being merged. A unit that was joined to the one before it stays in the
 * array, but no link leads to it any more. */
typedef struct rela_bpe_unit {
    uint32_t symbol;        /* RELA_MAP_NONE: in no merge */
    uint32_t start;         /* of its text in the word */
    uint32_t before, after; /* neighbours, or RELA_UNIT_NONE */
    uint32_t rank;          /* of the merge with the next unit, or RELA_RANK_NONE */
    uint32_t joint;         /* what that merge makes */
    uint32_t sampled;       /* with dropout: the rank, or RELA_RANK_NONE if dropped this round */
} rela_bpe_unit;

/* Scratch, all zero to start with. pieces is the result, lent by the word and the codes. */
typedef struct rela_bpe_word {
    rela_segments pieces;
    rela_bpe_unit *units;
    size_t n_units, cap_units;
    uint64_t *heap; /* rank << 32 | unit */
    size_t n_heap, cap_heap;
    uint32_t *batch;
    size_t cap_batch;
    rela_segments stack; /* still to be split or accepted, the last one first */
    rela_buffer text;
} rela_bpe_word;

void rela_bpe_word_free(rela_bpe_word *w);

/* Appends the pieces of a word (valid UTF-8, not empty). rng: for dropout, may be NULL without. */
rela_status rela_bpe_word_encode(rela_bpe_word *w, const rela_bpe *b, rela_span word, rela_rng *rng,
                                 rela_error *err);
rela_status rela_bpe_word_add(rela_bpe_word *w, rela_span piece, rela_error *err);

/* Merges the units, of which there is at least one; bpe_merge.c. */
rela_status rela_bpe_word_merge(rela_bpe_word *w, const rela_bpe *b, rela_rng *rng,
                                rela_error *err);

#endif

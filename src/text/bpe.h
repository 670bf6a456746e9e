/* SPDX-License-Identifier: MIT */
/* src/text/bpe.h - the loaded BPE codes, shared by the files that apply them. */
#ifndef RELA_TEXT_BPE_H
#define RELA_TEXT_BPE_H

#include "base/map.h"
#include "text/bpe_cache.h"
#include "text/glossary.h"

#include "rela/subword.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RELA_END_MARK "</w>"
enum { RELA_END_MARK_LEN = sizeof RELA_END_MARK - 1, RELA_BPE_MERGES_MAX = (1 << 24) - 1 };
enum { RELA_BPE_LINE_MAX = 1 << 20 }; /* bytes, codes and counts; above RELA_WORD_MAX */
enum { RELA_RANK_NONE = UINT32_MAX };

/* One line of the codes. Symbols are ids in rela_bpe.symbols. */
typedef struct rela_bpe_merge {
    uint32_t left, right, joint;
    uint32_t last; /* last line with the same pair; the first one gives the rank */
} rela_bpe_merge;

/* All that merging needs of a pair, kept together because lookups are random. */
typedef struct rela_bpe_slot {
    uint32_t left, right;
    uint32_t rank; /* RELA_RANK_NONE: free slot */
    uint32_t joint;
} rela_bpe_slot;

typedef struct rela_bpe_letter {
    uint32_t code;       /* the character; UINT32_MAX: free slot */
    uint32_t inner, end; /* its symbol inside and at the end of a word, or RELA_MAP_NONE */
} rela_bpe_letter;

struct rela_bpe {
    rela_map *symbols;
    rela_bpe_merge *merges; /* by rank; duplicate lines are kept, but lookups never return them */
    size_t n_merges, cap_merges;
    rela_bpe_slot *slots; /* by pair: open addressing, see rela_bpe_pair */
    size_t slot_mask;
    uint32_t *origin;         /* by symbol: rank of the merge that is undone to split it */
    rela_bpe_letter *letters; /* by character: open addressing */
    size_t letter_mask;
    bool separate_mark; /* version 0.1: the end mark is a symbol of its own */
    uint32_t mark;      /* that symbol */
    char *separator;
    size_t separator_len;
    rela_map *vocabulary; /* NULL: every piece is allowed */
    rela_glossary *glossary;
    rela_bpe_cache *cache;
    double dropout;
    uint64_t seed;
};

/* Fibonacci hashing: the upper bits are well mixed, so they are folded into the lower ones. */
static inline uint64_t rela_pair_hash(uint32_t left, uint32_t right)
{
    const uint64_t h = ((uint64_t)left << 32 | right) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 32;
}

/* The slot of a pair; if there is no such merge, a free slot with rank RELA_RANK_NONE. */
static inline const rela_bpe_slot *rela_bpe_pair(const rela_bpe *b, uint32_t left, uint32_t right)
{
    size_t i = rela_pair_hash(left, right) & b->slot_mask;
    while ((b->slots[i].left != left || b->slots[i].right != right) &&
           b->slots[i].rank != RELA_RANK_NONE)
        i = (i + 1) & b->slot_mask;
    return &b->slots[i];
}

/* The symbols of a character; a free slot if it is in no merge. */
static inline const rela_bpe_letter *rela_bpe_letter_of(const rela_bpe *b, uint32_t code)
{
    size_t i = code & b->letter_mask; /* characters of a script differ in their low bits */
    while (b->letters[i].code != code && b->letters[i].code != UINT32_MAX)
        i = (i + 1) & b->letter_mask;
    return &b->letters[i];
}

#endif

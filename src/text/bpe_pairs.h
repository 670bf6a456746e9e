/* SPDX-License-Identifier: MIT */
/* src/text/bpe_pairs.h - frequencies of symbol pairs while merges are learnt.
 *
 * The result must equal subword-nmt's byte for byte, so its two tables are modelled exactly. It
 * chooses from a reduced table, from which pairs below a threshold are moved ("pruned") into a
 * full one; when the best of the reduced table falls below the threshold, the reduced table is
 * rebuilt from the full one. As a symbol can arise from more than one merge, a pruned pair may grow
 * again: it then starts from 0 in the reduced table, and when it is pruned again, that frequency
 * *replaces* the full one, or is added to it if negative. Hence the two frequencies per pair.
 * One thread at a time. */
#ifndef RELA_TEXT_BPE_PAIRS_H
#define RELA_TEXT_BPE_PAIRS_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rela_symbol_pair {
    uint32_t left, right;
    int64_t reduced; /* frequency in the reduced table; valid while active */
    int64_t full;    /* frequency in the full table */
    uint32_t words;  /* where its list of words starts in the pool */
    uint32_t n_words;
    unsigned merged : 24; /* how often it was merged */
    unsigned cap_log : 5; /* room for 1 << cap_log words; 0: no list */
    unsigned active : 1;  /* is in the reduced table */
    unsigned noted : 1;   /* is in the list of changed pairs */
    unsigned raised : 1;  /* is in the list of raised pairs */
} rela_symbol_pair;

typedef struct rela_bpe_pairs rela_bpe_pairs;

/* symbols: lent, for breaking ties. NULL when out of memory. */
rela_bpe_pairs *rela_bpe_pairs_create(const rela_map *symbols);
void rela_bpe_pairs_destroy(rela_bpe_pairs *p); /* NULL is fine */

enum { RELA_PAIR_NONE = UINT32_MAX };

/* The number of a pair, added if new; RELA_PAIR_NONE when out of memory. */
uint32_t rela_bpe_pairs_add(rela_bpe_pairs *p, uint32_t left, uint32_t right);
rela_symbol_pair *rela_bpe_pairs_at(rela_bpe_pairs *p,
                                    uint32_t number); /* lent until the next add */

/* Adds to the frequency; false when out of memory. */
bool rela_bpe_pairs_change(rela_bpe_pairs *p, uint32_t number, int64_t by);
bool rela_bpe_pairs_clear(rela_bpe_pairs *p, uint32_t number); /* sets it to 0 */

/* Records that a word may contain the pair; it may be recorded twice. False when out of memory. */
bool rela_bpe_pairs_remember(rela_bpe_pairs *p, uint32_t number, uint32_t word);
/* The words recorded, lent until the next call; the pair then has none. NULL when out of memory. */
const uint32_t *rela_bpe_pairs_take(rela_bpe_pairs *p, uint32_t number, size_t *n);

/* To be called once all pairs are counted: puts them into both tables. False when out of memory. */
bool rela_bpe_pairs_start(rela_bpe_pairs *p);

/* The most frequent pair, ties to the larger one; n_merges were made so far. *best is
 * RELA_PAIR_NONE if there is no pair at all. False when out of memory. */
bool rela_bpe_pairs_best(rela_bpe_pairs *p, uint64_t n_merges, uint32_t *best);

/* To be called after each merge. prune: also moves pairs below the threshold to the full table.
 * False when out of memory. */
bool rela_bpe_pairs_settle(rela_bpe_pairs *p, bool prune);

#endif

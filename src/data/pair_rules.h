/* SPDX-License-Identifier: MIT */
/* src/data/pair_rules.h - rules that detect bad sentence pairs by their text alone, and a set of
 * the pairs seen so far.
 *
 * Rules are read-only; any number of threads may use them. Duplicates are found by 64-bit hashes:
 * 16 to 32 bytes per pair; among a billion pairs, 0.03 false duplicates are expected. */
#ifndef RELA_DATA_PAIR_RULES_H
#define RELA_DATA_PAIR_RULES_H

#include "base/str.h"
#include "rela/analyse.h"

typedef struct rela_pair_rules {
    size_t min_words, max_words, max_bytes;
    double max_ratio;   /* of words, longer side by shorter; 0: any */
    bool keep_copies;   /* do not look for copies */
    double max_overlap; /* share of target words that the source has too; 1: any */
    uint32_t scripts[2];
    double script_share; /* minimum share of letters in these scripts; 0: any */
} rela_pair_rules;

/* The first rule that a pair breaks, RELA_FILTER_KEPT for none. */
rela_filter_reason rela_pair_rules_check(const rela_pair_rules *r, rela_span src, rela_span tgt);

/* Hash of a pair, or of one side with the other empty, without blanks at the ends. */
uint64_t rela_pair_hash(rela_span src, rela_span tgt);

typedef struct rela_seen rela_seen; /* one thread at a time */
rela_seen *rela_seen_create(void);  /* NULL when out of memory */
void rela_seen_destroy(rela_seen *s);
/* *before: whether it was there already. */
rela_status rela_seen_add(rela_seen *s, uint64_t hash, bool *before, rela_error *err);

#endif

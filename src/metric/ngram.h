/* SPDX-License-Identifier: MIT */
/* src/metric/ngram.h - n-grams of one segment, counted exactly, without one allocation each.
 *
 * An n-gram is a node of a trie that is kept in a hash table: its key is the node of its first
 * n - 1 symbols and its last symbol. References are learnt first, then a hypothesis is matched.
 * Symbols are code points or word ids. The memory is kept from segment to segment. One
 * thread at a time. */
#ifndef RELA_METRIC_NGRAM_H
#define RELA_METRIC_NGRAM_H

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

typedef struct rela_ngrams rela_ngrams;

/* The root of the trie of each kind of symbol, which keeps the kinds apart. */
typedef enum rela_ngram_root {
    RELA_NGRAM_WORDS,
    RELA_NGRAM_CHARS,
    RELA_NGRAM_N_ROOTS
} rela_ngram_root;

rela_ngrams *rela_ngrams_create(void);    /* NULL when out of memory */
void rela_ngrams_destroy(rela_ngrams *g); /* NULL is fine */

/* Forgets everything; expected: the approximate number of n-grams to come. */
rela_status rela_ngrams_clear(rela_ngrams *g, size_t expected, rela_error *err);

/* The id of a word, which may be any bytes; equal words have equal ids until the next clear. */
rela_status rela_ngrams_word(uint32_t *symbol, rela_ngrams *g, const char *bytes, size_t len,
                             rela_error *err);

/* Adds the n-grams of orders 1 .. max_order of one reference. Several references, each with its own
 * number, are combined: the count of an n-gram is the largest in any single one. */
rela_status rela_ngrams_learn(rela_ngrams *g, rela_ngram_root root, const uint32_t *symbols,
                              size_t n, size_t max_order, uint32_t reference, rela_error *err);

/* match[i] = n-grams of order i + 1 shared with the references, clipped to the counts there. To be
 * called once per root after a clear. */
rela_status rela_ngrams_match(uint32_t *match, rela_ngrams *g, rela_ngram_root root,
                              const uint32_t *symbols, size_t n, size_t max_order, rela_error *err);

#endif

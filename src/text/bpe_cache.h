/* SPDX-License-Identifier: MIT */
/* src/text/bpe_cache.h - cache of segmented words, shared between threads. Bounded: once
 * it is full, new words are not added (frequent ones come early). */
#ifndef RELA_TEXT_BPE_CACHE_H
#define RELA_TEXT_BPE_CACHE_H

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

typedef struct rela_bpe_cache rela_bpe_cache;

typedef struct rela_cache_ends {
    uint64_t first, last; /* eight bytes each of the key */
} rela_cache_ends;

typedef struct rela_cache_query {
    rela_span key;   /* not empty */
    rela_span value; /* lent; text NULL: not there. RELA_CACHE_PAD bytes from its start may be read,
                        however short it is. */
    /* private */
    uint64_t hash;
    rela_cache_ends ends;
} rela_cache_query;

enum { RELA_CACHE_PAD = 16 };

rela_bpe_cache *rela_bpe_cache_create(void);    /* NULL when out of memory */
void rela_bpe_cache_destroy(rela_bpe_cache *c); /* NULL is fine */

/* Fills in the values of n queries. Batching is faster, as memory is prefetched for all of them.
 * floor: start of the text that holds the keys; bytes before a key may be read, down to floor. */
void rela_bpe_cache_find(const rela_bpe_cache *c, rela_cache_query *queries, size_t n,
                         const char *floor);

/* Repeats a query that found nothing: the word may have been added since. */
void rela_bpe_cache_find_again(const rela_bpe_cache *c, rela_cache_query *query);

/* Adds the value of a query that found none, if there is room. */
void rela_bpe_cache_put(rela_bpe_cache *c, const rela_cache_query *query, rela_span value);

#endif

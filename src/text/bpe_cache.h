/* SPDX-License-Identifier: MIT */
/* src/text/bpe_cache.h - segmented words, shared by threads; bounded: once it is full, new
 * words are left out (frequent ones come early). */
#ifndef RELA_TEXT_BPE_CACHE_H
#define RELA_TEXT_BPE_CACHE_H

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

typedef struct rela_bpe_cache rela_bpe_cache;

typedef struct rela_cache_ends {
    uint64_t first, last; /* eight bytes each */
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

/* Fills in the values of n queries. Several at a time are faster: memory for all of them is fetched
 * while the first ones are dealt with. floor: where the text that holds the keys starts. */
void rela_bpe_cache_find(const rela_bpe_cache *c, rela_cache_query *queries, size_t n,
                         const char *floor);

/* Looks again for a query that found nothing: it may have been put meanwhile. */
void rela_bpe_cache_find_again(const rela_bpe_cache *c, rela_cache_query *query);

/* Adds the value of a query that found none, if there is room. */
void rela_bpe_cache_put(rela_bpe_cache *c, const rela_cache_query *query, rela_span value);

#endif

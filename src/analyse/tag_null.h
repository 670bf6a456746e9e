/* SPDX-License-Identifier: MIT */
/* src/analyse/tag_null.h - null rate of cross-attention heads after target words of each POS tag.
 *
 * The query after the last subword of a target word counts for the tag of that word; queries inside
 * a word are not counted. The first query has the tag "(start)". */
#ifndef RELA_ANALYSE_TAG_NULL_H
#define RELA_ANALYSE_TAG_NULL_H

#include "base/map.h"
#include "session/watch.h"

enum { RELA_TAGS_MAX = 1000 }; /* different ones */

typedef struct rela_tag_sums {
    uint64_t null_rows, rows;
} rela_tag_sums;

typedef struct rela_tag_null {
    size_t layers, heads, n_tags;
    rela_tag_sums *cells; /* (layers, heads, n_tags) */
} rela_tag_null;

rela_status rela_tag_null_init(rela_tag_null *t, size_t layers, size_t heads, size_t n_tags,
                               rela_error *err);
void rela_tag_null_deinit(rela_tag_null *t);

/* tags (p->tgt.map.n_words): the tag of every target word; tag 0 is "(start)". */
void rela_tag_null_count(rela_tag_null *t, const rela_heads *h, const rela_watched *p,
                         const uint32_t *tags);
void rela_tag_null_add(rela_tag_null *sum, const rela_tag_null *x);

/* Looks up the tags of a line, all of which must be in names. Writes at most `most` of them to tags
 * and returns the count of all. */
size_t rela_tags_find(uint32_t *tags, size_t most, const rela_map *names, rela_span line);

#endif

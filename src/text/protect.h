/* SPDX-License-Identifier: MIT */
/* src/text/protect.h - finds the parts of a line that the tokeniser must leave alone.
 *
 * Patterns are PCRE2, case ignored. Immutable after creation, so any number of threads may use
 * it. */
#ifndef RELA_TEXT_PROTECT_H
#define RELA_TEXT_PROTECT_H

#include "base/str.h"

typedef struct rela_protect rela_protect;

/* Bytes begin .. end-1 of a line. */
typedef struct rela_part {
    size_t begin, end;
} rela_part;

typedef struct rela_parts {
    rela_part *items;
    size_t n, cap;
} rela_parts;

rela_status rela_protect_create(rela_protect **out, const char *const *patterns, size_t n,
                                rela_error *err);
void rela_protect_destroy(rela_protect *p); /* NULL is fine */

/* Fills parts (empty before; items freed by the caller with rela_mem_free) with what the patterns
 * match, sorted and disjoint: where matches overlap the longest wins. text must be valid UTF-8. */
rela_status rela_protect_find(const rela_protect *p, rela_parts *parts, rela_span text,
                              rela_error *err);

#endif

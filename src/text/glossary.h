/* SPDX-License-Identifier: MIT */
/* src/text/glossary.h - words and regular expressions that BPE leaves whole.
 *
 * The rules of subword-nmt: first every word is cut around the matches of each expression, then a
 * segment that some expression matches as a whole is not split any further. Immutable; each thread
 * needs its own match data. */
#ifndef RELA_TEXT_GLOSSARY_H
#define RELA_TEXT_GLOSSARY_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct rela_glossary rela_glossary;
typedef struct rela_glossary_match rela_glossary_match; /* one thread at a time */

typedef struct rela_segments {
    rela_span *items;
    size_t n, cap;
} rela_segments;

rela_status rela_glossary_create(rela_glossary **out, const char *const *expressions, size_t n,
                                 rela_error *err);
void rela_glossary_destroy(rela_glossary *g); /* NULL is fine */

rela_status rela_glossary_match_create(rela_glossary_match **out, const rela_glossary *g,
                                       rela_error *err);
void rela_glossary_match_destroy(rela_glossary_match *m); /* NULL is fine */

/* Cuts a word; the segments are lent until the next call. */
rela_status rela_glossary_cut(const rela_segments **out, rela_glossary_match *m, rela_span word,
                              rela_error *err);

/* *out: whether some expression matches the whole segment. */
rela_status rela_glossary_whole(bool *out, rela_glossary_match *m, rela_span segment,
                                rela_error *err);

#endif

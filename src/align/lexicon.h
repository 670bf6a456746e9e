/* SPDX-License-Identifier: MIT */
/* src/align/lexicon.h - co-occurrence counts of the tokens of linked words in parallel text, and
 * the shortlist made from them.
 *
 * One thread at a time. The order in which pairs are added does not matter. */
#ifndef RELA_ALIGN_LEXICON_H
#define RELA_ALIGN_LEXICON_H

#include "format/shortlist.h"

typedef struct rela_lexicon rela_lexicon;

rela_status rela_lexicon_create(rela_lexicon **out, const rela_vocab *src, const rela_vocab *tgt,
                                rela_error *err);
void rela_lexicon_destroy(rela_lexicon *l); /* NULL is fine */

/* Count one occurrence of a target token; count one link between a source and a target token. */
void rela_lexicon_add(rela_lexicon *l, uint32_t tgt);
rela_status rela_lexicon_link(rela_lexicon *l, uint32_t src, uint32_t tgt, rela_error *err);

/* The `frequent` most frequent target tokens go into every list. Each source token adds the `best`
 * other target tokens it was linked to most often (ties: the smaller id), and the target token of
 * the same text. */
rela_status rela_lexicon_shortlist(rela_shortlist **out, const rela_lexicon *l, size_t frequent,
                                   size_t best, rela_error *err);

#endif

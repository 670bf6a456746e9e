/* SPDX-License-Identifier: MIT */
/* src/align/lexicon.h - how often symbols of linked words met in parallel text, and the shortlist
 * that follows from it.
 *
 * One thread at a time. The order in which pairs are added does not matter. */
#ifndef RELA_ALIGN_LEXICON_H
#define RELA_ALIGN_LEXICON_H

#include "model/shortlist.h"

typedef struct rela_lexicon rela_lexicon;

rela_status rela_lexicon_create(rela_lexicon **out, const rela_vocab *src, const rela_vocab *tgt,
                                rela_error *err);
void rela_lexicon_destroy(rela_lexicon *l); /* NULL is fine */

/* A target symbol was seen; a source symbol was linked to a target symbol. */
void rela_lexicon_add(rela_lexicon *l, uint32_t tgt);
rela_status rela_lexicon_link(rela_lexicon *l, uint32_t src, uint32_t tgt, rela_error *err);

/* The most frequent target symbols; for each source symbol the best of the others, those it was
 * linked to most often (of equals the smaller number), and the target symbol of the same text. */
rela_status rela_lexicon_shortlist(rela_shortlist **out, const rela_lexicon *l, size_t frequent,
                                   size_t best, rela_error *err);

#endif

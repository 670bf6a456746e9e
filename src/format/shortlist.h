/* SPDX-License-Identifier: MIT */
/* src/format/shortlist.h - which target symbols may occur in the translation of a sentence: the
 * frequent ones, and for every source symbol those that are likely to translate it.
 *
 * Immutable, so any number of threads may read it. A file is a safetensors container
 * (docs/formats.md) and hostile until it has passed all checks; memory stays below a small multiple
 * of its size. */
#ifndef RELA_FORMAT_SHORTLIST_H
#define RELA_FORMAT_SHORTLIST_H

#include "format/content_hash.h"
#include "rela/translate.h"
#include "rela/vocab.h"

/* The symbols that are in every list: <pad>, <unk> and the end, 0 to 2. */
enum { RELA_SHORTLIST_SPECIAL = 3 };

/* The vocabularies that symbol numbers refer to. */
typedef struct rela_vocab_pair {
    size_t n_src, n_tgt;
    char hash[RELA_HASH_TEXT]; /* of all symbols of both */
} rela_vocab_pair;

rela_status rela_vocab_pair_init(rela_vocab_pair *p, const rela_vocab *src, const rela_vocab *tgt,
                                 rela_error *err);

/* What a shortlist is made of. */
typedef struct rela_shortlist_parts {
    rela_vocab_pair vocab;
    const int32_t *frequent; /* (n_frequent) target symbols, ascending */
    size_t n_frequent;
    const int32_t *first; /* (n_src + 1) where the symbols of a source symbol begin in words */
    const int32_t *words; /* (first[n_src]) target symbols, ascending for each source symbol */
} rela_shortlist_parts;

/* Everything is copied. RELA_FORMAT if it is inconsistent. */
rela_status rela_shortlist_create(rela_shortlist **out, const rela_shortlist_parts *parts,
                                  rela_error *err);
/* RELA_FORMAT if it was made for other vocabularies. */
rela_status rela_shortlist_read(rela_shortlist **out, const char *path,
                                const rela_vocab_pair *vocab, rela_error *err);
rela_status rela_shortlist_write(const char *path, const rela_shortlist *l, rela_error *err);

/* Everything in it; lent. */
const rela_shortlist_parts *rela_shortlist_parts_of(const rela_shortlist *l);

/* The list of one sentence. marks: a bit per target symbol, all 0 at first; sets those of the list
 * and returns how many are new. Calls for several sources add up. The symbols of prefix are always
 * in the list. */
size_t rela_shortlist_mark(uint64_t *marks, const rela_shortlist *l, const int32_t *ids, size_t n,
                           const int32_t *prefix, size_t n_prefix);
/* Writes the marked symbols, ascending, and clears the marks. out NULL: only clears. */
void rela_shortlist_collect(uint32_t *out, uint64_t *marks, size_t n_tgt);

#endif

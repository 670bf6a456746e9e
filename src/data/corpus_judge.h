/* SPDX-License-Identifier: MIT */
/* src/data/corpus_judge.h - may a pair of a corpus be used? The rules of rela/corpus.h, first on
 * the text of all its sides, then on their tokens. */
#ifndef RELA_DATA_CORPUS_JUDGE_H
#define RELA_DATA_CORPUS_JUDGE_H

#include "base/str.h"
#include "data/corpus_reader.h"

/* One more than the reasons to drop a pair. */
#define RELA_CORPUS_KEPT RELA_CORPUS_N_REASONS

typedef struct rela_corpus_item {
    size_t len[RELA_SIDES_MAX]; /* bytes of text; all sides lie one after the other */
    size_t n[RELA_SIDES_MAX];   /* ids */
    rela_corpus_reason reason;
    bool has_nul, was_cut;
} rela_corpus_item;

/* RELA_ARG if a limit is out of range. */
rela_status rela_corpus_rules_check(const rela_corpus_rules *r, rela_error *err);

/* Removes blanks at the ends of all sides. */
rela_corpus_reason rela_corpus_judge_text(rela_corpus_item *it, rela_span *side, size_t n_sides,
                                          const rela_corpus_rules *rules);
/* The ids of the pair are the last in the list; where the rules say so, they are cut. */
rela_corpus_reason rela_corpus_judge_lengths(rela_corpus_item *it, rela_ids *ids, size_t n_sides,
                                             const rela_corpus_rules *rules);

#endif

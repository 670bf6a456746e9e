/* SPDX-License-Identifier: MIT */
/* src/data/corpus_judge.h - decides whether a pair is kept: the rules of rela/corpus.h, first on
 * the text of all its sides, then on their tokens. */
#ifndef RELA_DATA_CORPUS_JUDGE_H
#define RELA_DATA_CORPUS_JUDGE_H

#include "base/str.h"
#include "data/corpus_reader.h"

/* The value after the reasons to drop a pair. */
#define RELA_CORPUS_KEPT RELA_CORPUS_N_REASONS

typedef struct rela_corpus_item {
    size_t len[RELA_SIDES_MAX]; /* bytes of text; the sides follow one another in a block */
    size_t n[RELA_SIDES_MAX];   /* tokens */
    rela_corpus_reason reason;
    bool has_nul, was_cut;
} rela_corpus_item;

/* RELA_ARG if a limit is out of range. */
rela_status rela_corpus_rules_check(const rela_corpus_rules *r, rela_error *err);

/* Applies the rules on text; trims blanks at both ends of all sides. */
rela_corpus_reason rela_corpus_judge_text(rela_corpus_item *it, rela_span *side, size_t n_sides,
                                          const rela_corpus_rules *rules);
/* Applies the rules on lengths. The pair's ids are the last in the list; cut if rules->cut. */
rela_corpus_reason rela_corpus_judge_lengths(rela_corpus_item *it, rela_ids *ids, size_t n_sides,
                                             const rela_corpus_rules *rules);

#endif

/* SPDX-License-Identifier: MIT */
/* src/grammar/grammar_sample.h - shared by the two files that sample a plan. */
#ifndef RELA_GRAMMAR_GRAMMAR_SAMPLE_H
#define RELA_GRAMMAR_GRAMMAR_SAMPLE_H

#include "grammar/grammar_plan.h"

/* What a noun phrase may contain. */
enum { PLAIN = 0, MAY_GROW = 1, MAY_BE_PRONOUN = 2, MAY_BE_NAME = 4, NEEDS_NOUN = 8 };
enum { RICH = MAY_GROW | MAY_BE_PRONOUN | MAY_BE_NAME };

uint32_t rela_sample_below(rela_sentence_plan *p, uint32_t n);
bool rela_sample_chance(rela_sentence_plan *p, uint32_t percent);
int rela_sample_weighted(rela_sentence_plan *p, const uint32_t *weight, int n);

rela_clause *rela_sample_clause(rela_sentence_plan *p); /* an empty one with its id */

/* depth 0: in a main clause; the larger, the simpler. */
rela_np *rela_sample_np(rela_sentence_plan *p, uint32_t kinds, int may, int depth);
rela_np *rela_sample_reference(rela_sentence_plan *p, const rela_np *np); /* he, she, it, they */
const rela_adjective *rela_sample_adjective(rela_sentence_plan *p, uint32_t kinds);
const rela_verb *rela_sample_verb(rela_sentence_plan *p,
                                  uint32_t frames); /* a set: 1 << FRAME_... */

#endif

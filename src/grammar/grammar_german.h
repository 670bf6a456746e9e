/* SPDX-License-Identifier: MIT */
/* src/grammar/grammar_german.h - the two halves of the German side: clauses and noun phrases. */
#ifndef RELA_GRAMMAR_GRAMMAR_GERMAN_H
#define RELA_GRAMMAR_GRAMMAR_GERMAN_H

#include "grammar/german.h"
#include "grammar/grammar_plan.h"

/* grammar_german_np.c */
void rela_german_np(rela_phrase *l, const rela_np *np, rela_case k);
/* "not a dog" is one word: kein Hund. */
void rela_german_no_np(rela_phrase *l, const rela_np *np, rela_case k, int not_tag);
/* A preposition and its phrase; with the article der it may become one word. */
void rela_german_with(rela_phrase *l, const char *preposition, int tag, const rela_np *np,
                      rela_case k);

/* grammar_german.c: what follows the relative pronoun. */
void rela_german_relative(rela_phrase *line, const rela_clause *c);

#endif

/* SPDX-License-Identifier: MIT */
/* src/grammar/grammar_german.h - the parts of the German side: clauses, verbs, noun phrases. */
#ifndef RELA_GRAMMAR_GRAMMAR_GERMAN_H
#define RELA_GRAMMAR_GRAMMAR_GERMAN_H

#include "grammar/german.h"
#include "grammar/grammar_plan.h"

/* grammar_german_np.c */
void rela_german_np(rela_phrase *l, const rela_np *np, rela_case k);
/* "not a dog" is one word: kein Hund. */
void rela_german_no_np(rela_phrase *l, const rela_np *np, rela_case k, int not_tag);
/* A preposition and its phrase; it may contract with the definite article: im. */
void rela_german_with(rela_phrase *l, const char *preposition, int tag, const rela_np *np,
                      rela_case k);

typedef enum rela_clause_position { IN_MAIN, IN_SUB, AFTER_ZU } rela_clause_position;

/* A word of the verb with its tags; 0: none. */
typedef struct rela_verb_part {
    char text[FORM_MAX];
    int tag[3];
    rela_pos pos;
} rela_verb_part;

/* One finite word, and what closes the clause. */
typedef struct rela_verb_group {
    rela_verb_part finite;
    rela_verb_part tail[2];
    int n_tail;
} rela_verb_group;

/* grammar_german_verb.c; *g is all zero. */
void rela_german_verb_group(rela_verb_group *g, const rela_clause *c, rela_clause_position where);

/* grammar_german.c: what follows the relative pronoun. */
void rela_german_relative(rela_phrase *line, const rela_clause *c);

#endif

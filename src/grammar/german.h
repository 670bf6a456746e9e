/* SPDX-License-Identifier: MIT */
/* src/grammar/german.h - word forms of the German side of the built-in corpus. */
#ifndef RELA_GRAMMAR_GERMAN_H
#define RELA_GRAMMAR_GERMAN_H

#include "grammar/grammar_words.h"

typedef enum rela_case { CASE_NOM, CASE_ACC, CASE_DAT, CASE_GEN, N_CASES } rela_case;

enum { COLUMN_PLURAL = 3, N_COLUMNS = 4 }; /* 0 to 2: genders of the singular */

/* Adjective endings: after der, after ein, without an article. */
typedef enum rela_declension {
    DECLENSION_WEAK,
    DECLENSION_MIXED,
    DECLENSION_STRONG
} rela_declension;

/* Person 1 to 3 and number of a subject. */
typedef struct rela_agreement {
    int person;
    bool plural;
} rela_agreement;

const char *rela_de_article(rela_case c, int column);  /* der, die, das ... */
const char *rela_de_relative(rela_case c, int column); /* as above, but denen */
void rela_de_like_der(char out[FORM_MAX], const char *stem, rela_case c, int column); /* dieser */
void rela_de_like_ein(char out[FORM_MAX], const char *stem, rela_case c, int column); /* mein */
void rela_de_adjective(char out[FORM_MAX], const rela_adjective *a, rela_declension d, rela_case c,
                       int column);
void rela_de_noun(char out[FORM_MAX], const rela_noun *n, rela_case c, bool plural);
void rela_de_compound(char out[FORM_MAX], const char *modifier, const char *head);
const char *rela_de_contraction(const char *preposition, rela_case c, int column); /* im, or NULL */

/* forms as in rela_verb; without the separable prefix. */
void rela_de_present(char out[FORM_MAX], const char *forms, rela_agreement a);
void rela_de_past(char out[FORM_MAX], const char *forms, rela_agreement a);
/* With the prefix: aufgehoben, aufheben, aufzuheben. */
void rela_de_participle(char out[FORM_MAX], const char *forms);
void rela_de_infinitive(char out[FORM_MAX], const char *forms, bool with_zu);

typedef enum rela_auxiliary {
    AUX_SEIN,
    AUX_HABEN,
    AUX_WERDEN,
    AUX_CAN,
    AUX_MUST,
    AUX_SHOULD,
    AUX_WANT
} rela_auxiliary;

const char *rela_de_auxiliary(rela_auxiliary x, rela_agreement a, bool past);
void rela_de_number(char out[FORM_MAX], int n); /* 0 .. 99, in words */

#endif

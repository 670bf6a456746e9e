/* SPDX-License-Identifier: MIT */
/* src/grammar/english.h - word forms of the English side of the built-in corpus. */
#ifndef RELA_GRAMMAR_ENGLISH_H
#define RELA_GRAMMAR_ENGLISH_H

#include "grammar/grammar_words.h"

typedef enum rela_en_form { EN_BASE, EN_PAST, EN_PARTICIPLE, EN_ING, EN_THIRD } rela_en_form;

/* possessed: after "my", "his" ... */
void rela_en_noun(char out[FORM_MAX], const rela_noun *n, bool plural, bool possessed);
void rela_en_verb(char out[FORM_MAX], const char *forms, rela_en_form form);
void rela_en_number(char out[FORM_MAX], int n); /* 0 .. 99, in words */
bool rela_en_takes_an(const char *word);

#endif

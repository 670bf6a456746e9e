/* SPDX-License-Identifier: MIT */
/* src/text/split_words.h - words that decide whether a full stop ends a sentence.
 *
 * Constant tables, and sets made of them. A language without a row gets general lists. */
#ifndef RELA_TEXT_SPLIT_WORDS_H
#define RELA_TEXT_SPLIT_WORDS_H

#include "base/map.h"

#include <stdbool.h>

/* What a full stop after a word means. */
typedef enum rela_stop_class {
    RELA_STOP_NEVER,  /* more always follows: "Dr.", "e.g." */
    RELA_STOP_NUMBER, /* an abbreviation if a number follows: "No. 5" */
    RELA_STOP_MAYBE,  /* an abbreviation that may end a sentence, too: "etc." */
    RELA_STOP_PLAIN,  /* looks like an abbreviation, but is a word: "I." */
    RELA_STOP_WORD    /* in no list */
} rela_stop_class;

typedef enum rela_split_bit {
    RELA_SPLIT_ORDINALS = 1, /* nouns have capitals, ordinals a stop: "der 3. Mai" */
    RELA_SPLIT_ROMAN = 2     /* Roman ordinals have a stop: "Karel IV." */
} rela_split_bit;

enum { RELA_SPLIT_LISTS = RELA_STOP_WORD };

typedef struct rela_split_language {
    const char *code; /* NULL: the general lists */
    unsigned bits;    /* rela_split_bit */
    /* By class; entries in small letters stand for those with a capital, too. */
    const char *lists[RELA_SPLIT_LISTS];
    const char *suffix;   /* an entry that words may end with; NULL: none */
    const char *starters; /* words that have a capital at the start of a sentence only */
    const char *ordinal;  /* words before an ordinal number */
    const char *counted;  /* words after an ordinal number */
} rela_split_language;

/* The words of one language. All zero is empty. */
typedef struct rela_split_words {
    unsigned bits;
    const char *suffix;
    rela_map *classes; /* numbers below last[c] and not below last[c - 1] are of class c */
    size_t last[RELA_SPLIT_LISTS];
    rela_map *starters, *ordinal, *counted;
} rela_split_words;

/* code as for rela_language_find, whose failures it has. Free it in any case. */
rela_status rela_split_words_init(rela_split_words *w, const char *code, rela_error *err);
void rela_split_words_deinit(rela_split_words *w);

rela_stop_class rela_stop_class_of(const rela_split_words *w, const char *word, size_t len);
bool rela_split_has(const rela_map *set, const char *word, size_t len);
bool rela_split_has_either(const rela_map *set, const char *word, size_t len); /* either case */
bool rela_split_is_roman(rela_span word); /* a numeral, capitals below 50 */

#endif

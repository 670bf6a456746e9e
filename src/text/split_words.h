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
    RELA_STOP_MAYBE,  /* an abbreviation that may also end a sentence: "Inc." */
    RELA_STOP_PLAIN,  /* looks like an abbreviation, but is a word: "I." */
    RELA_STOP_WORD    /* in no list */
} rela_stop_class;

typedef enum rela_stop_bit {
    RELA_STOP_ORDINALS = 1, /* nouns are capitalised, ordinals take a stop: "der 3. Mai" */
    RELA_STOP_ROMAN = 2     /* Roman ordinals take a stop: "Karel IV." */
} rela_stop_bit;

enum { RELA_STOP_LISTS = RELA_STOP_WORD };

/* The words of one language. All zero is empty. */
typedef struct rela_split_words {
    unsigned bits;
    const char *suffix;
    rela_map *classes; /* ids in [last[c - 1], last[c]) are of class c */
    size_t last[RELA_STOP_LISTS];
    rela_map *starters, *ordinal, *counted;
} rela_split_words;

/* code and failures as for rela_language_code. Call deinit even after a failure. */
rela_status rela_split_words_init(rela_split_words *w, const char *code, rela_error *err);
void rela_split_words_deinit(rela_split_words *w);

rela_stop_class rela_stop_class_of(const rela_split_words *w, const char *word, size_t len);
bool rela_split_has(const rela_map *set, const char *word, size_t len);
bool rela_split_has_either(const rela_map *set, const char *word, size_t len); /* either case */
bool rela_split_is_roman(rela_span word); /* capitals I, V, X only */

#endif

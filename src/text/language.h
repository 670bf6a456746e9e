/* SPDX-License-Identifier: MIT */
/* src/text/language.h - the facts about a language that the text commands use.
 *
 * Constant tables. A language without a row gets the general rules. */
#ifndef RELA_TEXT_LANGUAGE_H
#define RELA_TEXT_LANGUAGE_H

#include "base/error.h"
#include "base/map.h"

typedef enum rela_apostrophe {
    RELA_APOSTROPHE_APART,   /* a token of its own */
    RELA_APOSTROPHE_ENGLISH, /* goes with what follows: don 't, it 's */
    RELA_APOSTROPHE_ELISION  /* goes with what precedes: l' eau */
} rela_apostrophe;

typedef enum rela_language_bit {
    RELA_LANGUAGE_CLITICS = 1,        /* detokenise: 's joins what precedes */
    RELA_LANGUAGE_ELISIONS = 2,       /* detokenise: l' joins what follows */
    RELA_LANGUAGE_SPACED_MARKS = 4,   /* detokenise: blank before ? ! : ; % */
    RELA_LANGUAGE_CZECH = 8,          /* detokenise: decimal numbers, -li, low and high quotes */
    RELA_LANGUAGE_SPACED_CJK = 16,    /* detokenise: words of East Asian scripts keep blanks */
    RELA_LANGUAGE_COMMA_INSIDE = 32,  /* normalise: comma and stop go inside the quotes */
    RELA_LANGUAGE_COMMA_OUTSIDE = 64, /* normalise: comma and stop go outside the quotes */
    RELA_LANGUAGE_DECIMAL_COMMA = 128 /* normalise: blank between digits becomes a comma */
} rela_language_bit;

enum { RELA_LANGUAGE_LISTS = 4 };

typedef struct rela_language {
    const char *code; /* NULL: the general rules */
    rela_apostrophe apostrophe;
    unsigned bits;    /* rela_language_bit */
    unsigned scripts; /* rela_script */
    int ordinals;     /* numbers 1..ordinals with a stop are ordinals */
    const char *abbreviations[RELA_LANGUAGE_LISTS]; /* words that keep a stop */
    const char *before_number;                      /* words that keep a stop if a number follows */
} rela_language;

/* code: as rela_language_code takes it; NULL means "en". RELA_ARG if it is not known. */
rela_status rela_language_find(const rela_language **out, const char *code, rela_error *err);

enum { RELA_LANGUAGE_SIZE = 16 }; /* of a code with its region, and NUL */

/* Length of the language in a code such as "de", "de-AT", "deu_Latn"; 0 if it does not look like
 * one. */
size_t rela_language_length(const char *code);

/* The code that a model was made with, for its rules: "und" if it is none of ours, since versions
 * that took any code used the general rules then. */
const char *rela_language_stored(const char *code);

/* Adds words that are separated by blanks, or nothing for NULL. */
rela_status rela_language_add(rela_map *map, const char *words, rela_error *err);

/* The abbreviations as a set, given; those with an id below *n_always apply everywhere, the others
 * only before a number. */
rela_status rela_language_abbreviations(rela_map **out, size_t *n_always, const rela_language *l,
                                        rela_error *err);

#endif

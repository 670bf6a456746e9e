/* SPDX-License-Identifier: MIT */
/* src/text/split_line.h - a text and a place where a sentence may end; shared by split.c and
 * split_stop.c. */
#ifndef RELA_TEXT_SPLIT_LINE_H
#define RELA_TEXT_SPLIT_LINE_H

#include "base/str.h"
#include "text/glyphs.h"
#include "text/split_words.h"

/* Sets of kinds. */
enum {
    RELA_GLYPH_LETTERS = RELA_GLYPH_LETTER | RELA_GLYPH_CAPITAL | RELA_GLYPH_SMALL,
    RELA_GLYPH_BLANKS = RELA_GLYPH_BLANK | RELA_GLYPH_BREAK,
    RELA_GLYPH_END_MARKS = RELA_GLYPH_STOP | RELA_GLYPH_DOTS | RELA_GLYPH_MARK | RELA_GLYPH_WIDE,
    RELA_GLYPH_OPENERS =
        RELA_GLYPH_OPEN | RELA_GLYPH_CLOSE | RELA_GLYPH_DASH /* may precede the first word */
};

enum { RELA_STOP_WORD_MAX = 32 }; /* bytes; longer words are not looked up */

/* A text, and the sentence whose end is sought. */
typedef struct rela_split_line {
    const rela_split_words *words;
    const char *text;
    size_t len;
    size_t begin; /* of the sentence */
    size_t first; /* its first letter, digit or symbol */
    bool small;   /* first is a lower-case letter */
} rela_split_line;

/* What follows an ending. */
typedef struct rela_split_ahead {
    unsigned kind;
    size_t at;
    rela_span word;
    bool starter; /* a word capitalised only at the start of a sentence */
    bool number;  /* digits, or a Roman numeral */
} rela_split_ahead;

static inline rela_glyph rela_split_glyph(const rela_split_line *l, size_t place)
{
    return rela_glyph_at(l->text, l->len, place);
}

static inline rela_glyph rela_split_previous(const rela_split_line *l, size_t place)
{
    return rela_glyph_before(l->text, l->begin, place);
}

static inline size_t rela_split_skip(const rela_split_line *l, size_t place, unsigned kinds)
{
    for (rela_glyph g = rela_split_glyph(l, place); g.kind & kinds; g = rela_split_glyph(l, place))
        place += g.n;
    return place;
}

/* Whether the single full stop at offset stop ends a sentence; depends on the word before it. */
bool rela_split_stop_ends(const rela_split_line *l, size_t stop, const rela_split_ahead *x);

#endif

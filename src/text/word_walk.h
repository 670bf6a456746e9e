/* SPDX-License-Identifier: MIT */
/* src/text/word_walk.h - the words of a line as subword-nmt sees them.
 *
 * Only the blank separates words; tab, no-break space and the like are part of a word. Its reader
 * breaks a line at CR, VT, FF, FS, GS, RS, NEL, LS and PS as well: CR then counts as a blank, the
 * others stay at the end of their word, and the next word starts right after. */
#ifndef RELA_TEXT_WORD_WALK_H
#define RELA_TEXT_WORD_WALK_H

#include "base/str.h"

#include <stdbool.h>

typedef struct rela_word {
    rela_span gap;  /* blanks and CRs before the word */
    rela_span word; /* empty after the last word: then gap is what ends the line */
    bool verbatim;  /* the gap is at the start or end of what subword-nmt reads as a line, which
                       keeps it as it is; inside a line it becomes one blank */
} rela_word;

typedef struct rela_word_walk {
    const char *at, *end;
    bool fresh; /* at the start of what subword-nmt reads as a line */
} rela_word_walk;

/* Starts a walk over a line without its line end. The text is lent and must be valid UTF-8. */
rela_word_walk rela_words(const char *line, size_t len);

/* The next word; false after the last one. w->gap and w->verbatim are set in both cases. */
bool rela_words_next(rela_word_walk *walk, rela_word *w);

#endif

/* SPDX-License-Identifier: MIT */
/* src/text/char_classes.h - a line while it is tokenised: characters and the blanks between them.
 *
 * Moses applies its substitutions one after the other to the whole line, and all of them only
 * insert blanks. So the line is read once into cells, one per character, each with the number of
 * blanks before it; the rules then look at neighbouring cells and add blanks. Text consumed by one
 * match cannot serve the next match of the same rule; this is tracked, and it is why blanks are
 * counted. In the end, tokens are what lies between blanks.
 *
 * One thread at a time. */
#ifndef RELA_TEXT_CHAR_CLASSES_H
#define RELA_TEXT_CHAR_CLASSES_H

#include "text/language.h"
#include "text/protect.h"

#include <stdbool.h>
#include <stdint.h>

enum { RELA_CELLS_FIXED = 1024 };

typedef enum rela_cell_kind {
    RELA_CELL_WORD,  /* letter, digit, ` */
    RELA_CELL_MARK,  /* a token of its own */
    RELA_CELL_STOP,  /* a single . */
    RELA_CELL_STOPS, /* a . in a run of several */
    RELA_CELL_COMMA,
    RELA_CELL_APOSTROPHE,
    RELA_CELL_DASH,
    RELA_CELL_SPLIT,        /* - that becomes @-@ */
    RELA_CELL_PROTECTED,    /* all bytes of a protected part */
    RELA_CELL_PROTECTED_END /* no bytes: what the right neighbour of a protected part sees */
} rela_cell_kind;

typedef struct rela_char_cell {
    uint32_t at; /* offset of its first byte */
    uint8_t class;
    uint8_t kind;
    uint8_t gap; /* blanks before it */
} rela_char_cell;

typedef struct rela_char_line {
    rela_span text;        /* lent; valid UTF-8, less than 4 GiB */
    rela_parts parts;      /* of the text, to be protected */
    rela_char_cell *items; /* n of them, and one more for the gap at the end */
    size_t n;
    unsigned seen; /* bits 1 << kind */
    size_t first_apostrophe, last_apostrophe;
    bool junk;                              /* control characters were left out */
    rela_char_cell fixed[RELA_CELLS_FIXED]; /* enough for most lines */
} rela_char_line;

/* Sets only what reading and freeing rely on: clearing the large struct would cost too much. */
void rela_char_line_start(rela_char_line *l, const char *text, size_t len);

/* Reads text and parts, which the caller has set. items is NULL or left by an earlier call. */
rela_status rela_char_line_read(rela_char_line *l, unsigned scripts, rela_error *err);
void rela_char_line_free(rela_char_line *l); /* items and parts */

/* Inserts all blanks except those before full stops, which depend on abbreviations. */
void rela_char_line_split(rela_char_line *l, rela_apostrophe how, bool dashes);

/* Offset of the byte after cell i. */
size_t rela_char_line_end(const rela_char_line *l, size_t i);

#endif

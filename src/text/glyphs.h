/* SPDX-License-Identifier: MIT */
/* src/text/glyphs.h - characters as a sentence splitter sees them.
 *
 * Text need not be valid UTF-8: an invalid byte is a character by itself. */
#ifndef RELA_TEXT_GLYPHS_H
#define RELA_TEXT_GLYPHS_H

#include <stddef.h>
#include <stdint.h>

/* Each character is of one kind; bits, so that several can be tested at once. */
typedef enum rela_glyph_kind {
    RELA_GLYPH_OTHER = 1,
    RELA_GLYPH_LETTER = 2, /* without case */
    RELA_GLYPH_CAPITAL = 4,
    RELA_GLYPH_SMALL = 8,
    RELA_GLYPH_DIGIT = 16,
    RELA_GLYPH_BLANK = 32,
    RELA_GLYPH_BREAK = 64, /* separator of lines or paragraphs */
    RELA_GLYPH_STOP = 128,
    RELA_GLYPH_DOTS = 256,    /* an ellipsis */
    RELA_GLYPH_MARK = 512,    /* other end marks, which a blank follows */
    RELA_GLYPH_WIDE = 1024,   /* end marks of scripts without blanks */
    RELA_GLYPH_OPEN = 2048,   /* brackets, low quotes, inverted marks */
    RELA_GLYPH_CLOSE = 4096,  /* brackets, all other quotes, footnote numbers */
    RELA_GLYPH_DASH = 8192,   /* dashes other than hyphens, and bullets */
    RELA_GLYPH_JOINT = 16384, /* never starts a sentence */
    RELA_GLYPH_EMOJI = 32768
} rela_glyph_kind;

typedef struct rela_glyph {
    uint32_t code; /* U+FFFD for an invalid byte */
    size_t n;      /* bytes; 0: past the end, then kind is 0, too */
    unsigned kind;
} rela_glyph;

/* The character at offset at of text[0, len). */
rela_glyph rela_glyph_at(const char *text, size_t len, size_t at);

/* The character of text[begin, at) that ends at offset at. */
rela_glyph rela_glyph_before(const char *text, size_t begin, size_t at);

#endif

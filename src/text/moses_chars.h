/* SPDX-License-Identifier: MIT */
/* src/text/moses_chars.h - character classes for the Moses conventions.
 *
 * Classes come from the Unicode categories of utf8proc, with the few exceptions listed in
 * moses_chars.c. All functions take valid UTF-8 and may be called from any thread. */
#ifndef RELA_TEXT_MOSES_CHARS_H
#define RELA_TEXT_MOSES_CHARS_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum rela_text_bit {
    RELA_TEXT_SPACE = 1,   /* separates words; includes no-break space, U+0085, U+2028 */
    RELA_TEXT_ALPHA = 2,   /* letters, and the marks that are part of a script's spelling */
    RELA_TEXT_NUMBER = 4,  /* digits, fractions, Roman and circled numerals */
    RELA_TEXT_LOWER = 8,   /* lower case */
    RELA_TEXT_WORD = 16,   /* alpha or decimal digit */
    RELA_TEXT_JUNK = 32,   /* control characters below U+0020 that are not blanks */
    RELA_TEXT_INNER = 64,  /* . ' ` , - which may stand inside a word */
    RELA_TEXT_DIGIT = 128, /* decimal digit of any script */
} rela_text_bit;

/* Scripts without blanks, whose characters count as letters only in their own languages. */
typedef enum rela_script {
    RELA_SCRIPT_HAN = 1,
    RELA_SCRIPT_KANA = 2,
    RELA_SCRIPT_HANGUL = 4
} rela_script;

enum { RELA_TEXT_TABLE = 0x2E80 }; /* below it, classes do not depend on scripts */

/* Classes of all characters below RELA_TEXT_TABLE; lent, made on first use. */
const uint8_t *rela_text_classes(void);

/* Class of any character; scripts: those of the language, or 0. */
uint8_t rela_text_class(uint32_t code, unsigned scripts);

bool rela_text_is_cjk(uint32_t code);   /* written without blanks between words */
bool rela_text_is_cased(uint32_t code); /* upper, lower or title case */

/* The next word between blanks (RELA_TEXT_SPACE); false at the end. */
bool rela_text_word(rela_span *word, const char **at, const char *end);

/* Removes blanks at both ends. */
rela_span rela_text_trim(rela_span s);

/* Appends s in lower case. */
rela_status rela_text_lower(rela_buffer *out, rela_span s, rela_error *err);

/* Appends s with its first character in upper (title) case. */
rela_status rela_text_capitalise(rela_buffer *out, rela_span s, rela_error *err);

/* Makes *s valid UTF-8: if it is not, a repaired copy goes to room and *s points there. */
rela_status rela_text_repair(rela_span *s, rela_buffer *room, rela_error *err);

/* Truncates out to start, to undo what a failed call appended. */
void rela_text_cut(rela_buffer *out, size_t start);

#endif

/* SPDX-License-Identifier: MIT */
/* src/metric/python_chars.h - the Unicode facts that scores depend on: blanks, classes, lower case.
 *
 * They follow what Python does (str.split, str.lower and the classes \p{N}, \p{P}, \p{S}), because
 * the reference tool for scores is written in it. Text is valid UTF-8. */
#ifndef RELA_METRIC_PYTHON_CHARS_H
#define RELA_METRIC_PYTHON_CHARS_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RELA_CHAR_NUMBER = 1u << 24,
    RELA_CHAR_PUNCTUATION = 1u << 25,
    RELA_CHAR_SYMBOL = 1u << 26,
    RELA_CHAR_BLANK = 1u << 27
};

bool rela_char_is_blank(uint32_t code);
uint32_t rela_char_class(uint32_t code); /* one of the above or 0; fits beside a code point */

/* Bytes of the blank at s (len >= 1); 0 if there is none. */
size_t rela_blank_size(const char *s, size_t len);

/* The next run of characters that are not blank; false at the end. */
bool rela_next_token(rela_span *token, const char **at, const char *end);

/* Appends s in lower case: full mappings, with the two forms of the small sigma. */
rela_status rela_lower(rela_buffer *out, const char *s, size_t len, rela_error *err);

#endif

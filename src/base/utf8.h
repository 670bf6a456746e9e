/* SPDX-License-Identifier: MIT */
/* src/base/utf8.h - strict UTF-8: no surrogates, no overlong forms, nothing above U+10FFFF. */
#ifndef RELA_BASE_UTF8_H
#define RELA_BASE_UTF8_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest valid prefix; len if all of s is valid. */
size_t rela_utf8_valid(const char *s, size_t len);

/* Decodes the character at s (len >= 1); returns its length in bytes, 0 if it is invalid. */
size_t rela_utf8_next(uint32_t *code, const char *s, size_t len);

/* Encodes code, which must be a Unicode scalar value, to 1 to 4 bytes; returns their number. */
size_t rela_utf8_put(char *out, uint32_t code);

/* Appends s with each maximal invalid sequence replaced by U+FFFD; *n_bad is their number. */
rela_status rela_utf8_repair(rela_buffer *out, size_t *n_bad, const char *s, size_t len,
                             rela_error *err);

/* Number of characters of a valid text. */
size_t rela_utf8_count(const char *s, size_t len);

/* Bytes of the first n characters of a valid text; len if it has no more. */
size_t rela_utf8_prefix(const char *s, size_t len, size_t n);

/* len without the bytes of an incomplete character at the end of s. */
size_t rela_utf8_whole(const char *s, size_t len);

/* Is it invisible, or does it change how others are displayed: a control or format character
 * (bidirectional and zero-width ones, too), a line separator? */
bool rela_utf8_hidden(uint32_t code);
/* Makes s one line that is safe to display: '?' for every hidden character and for every byte of
 * invalid UTF-8. s gets shorter or stays as long. All text from files and from the command line
 * that people see is shown like this: in messages (error.h, log.h do it) and in tables. Results are
 * not, nor JSON, which has escapes of its own. */
void rela_utf8_make_printable(char *s);
rela_status rela_utf8_append_printable(rela_buffer *out, const char *s, size_t len,
                                       rela_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* src/base/str.h - byte strings: building, formatting and reading numbers, whatever the locale.
 *
 * Numbers are always written and read with a point, even inside a host program that has set a
 * locale with a comma. */
#ifndef RELA_BASE_STR_H
#define RELA_BASE_STR_H

#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A lent piece of text. */
typedef struct rela_span {
    const char *text;
    size_t len;
} rela_span;

/* All of a text. */
rela_span rela_span_of(const char *text);
bool rela_span_is(rela_span s, const char *text);
/* By bytes, the shorter first. */
int rela_span_compare(rela_span a, rela_span b);

/* vsnprintf in the C locale; what does not fit is cut off between two characters. */
void rela_format(char *out, size_t size, const char *format, va_list args);
void rela_format_text(char *out, size_t size, const char *format, ...) RELA_PRINTF(3, 4);

/* Room for extra more bytes (and a NUL after them) without changing the contents. */
rela_status rela_buffer_reserve(rela_buffer *b, size_t extra, rela_error *err);
rela_status rela_buffer_append_char(rela_buffer *b, char c, rela_error *err);
rela_status rela_buffer_append_text(rela_buffer *b, const char *text, rela_error *err);
rela_status rela_buffer_printf(rela_buffer *b, rela_error *err, const char *format, ...)
    RELA_PRINTF(3, 4);
void rela_buffer_clear(rela_buffer *b); /* keeps the memory */

/* A NUL-terminated copy, to be freed with rela_mem_free; NULL when out of memory. */
char *rela_str_copy(const char *s, size_t len);

/* Whole string or nothing: no blanks around it, no trailing text, no overflow. */
bool rela_parse_i64(int64_t *out, const char *s);
bool rela_parse_f64(double *out, const char *s); /* decimal; finite only */

/* v with the fewest digits that give it back, as a float if single. */
rela_status rela_buffer_append_f64(rela_buffer *b, double v, bool single, rela_error *err);

/* strtod in the C locale: what a text begins with; *end after it. */
double rela_scan_f64(const char *s, char **end);

/* The next blank-separated word of [*at, end); false at the end. Blank: space, tab, CR, LF, VT, FF.
 */
bool rela_next_word(rela_span *word, const char **at, const char *end);

/* How many bytes of a text are looked at where only its first tokens count: 64 KiB and 64 for each
 * token. What is longer has more of them, or none that a model knows; memory does not grow with it.
 */
size_t rela_text_bytes(size_t tokens);

/* The ending of a word after a number: "1 line", "2 lines". */
const char *rela_plural(uint64_t n);

/* Removes blanks (as above) at both ends. */
rela_span rela_trim(rela_span s);

#endif

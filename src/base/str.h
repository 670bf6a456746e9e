/* SPDX-License-Identifier: MIT */
/* src/base/str.h - byte strings: building, formatting and parsing numbers in any locale.
 *
 * Numbers are always written and read with a decimal point, even inside a host program whose locale
 * has a decimal comma. */
#ifndef RELA_BASE_STR_H
#define RELA_BASE_STR_H

#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A borrowed piece of text, not NUL-terminated. */
typedef struct rela_span {
    const char *text;
    size_t len;
} rela_span;

rela_span rela_span_of(const char *text);
bool rela_span_is(rela_span s, const char *text);
/* Byte by byte; a prefix sorts before the longer text. */
int rela_span_compare(rela_span a, rela_span b);

/* vsnprintf in the C locale; what does not fit is cut off at a UTF-8 character boundary. */
void rela_format(char *out, size_t size, const char *format, va_list args);
void rela_format_text(char *out, size_t size, const char *format, ...) RELA_PRINTF(3, 4);

/* Makes room for extra more bytes and a NUL; the contents do not change. */
rela_status rela_buffer_reserve(rela_buffer *b, size_t extra, rela_error *err);
rela_status rela_buffer_append_char(rela_buffer *b, char c, rela_error *err);
rela_status rela_buffer_append_text(rela_buffer *b, const char *text, rela_error *err);
rela_status rela_buffer_printf(rela_buffer *b, rela_error *err, const char *format, ...)
    RELA_PRINTF(3, 4);
void rela_buffer_clear(rela_buffer *b); /* keeps the memory */

/* A NUL-terminated copy; free with rela_mem_free. NULL when out of memory. */
char *rela_str_copy(const char *s, size_t len);

/* The whole string must be a number: no blanks around it, no trailing text, no overflow. */
bool rela_parse_i64(int64_t *out, const char *s);
bool rela_parse_f64(double *out, const char *s); /* decimal; finite only */

/* Appends v with the fewest digits that read back to the same value, as a float if single. */
rela_status rela_buffer_append_f64(rela_buffer *b, double v, bool single, rela_error *err);

/* strtod in the C locale. */
double rela_scan_f64(const char *s, char **end);

/* The next blank-separated word of [*at, end); false at the end. Blank: space, tab, CR, LF, VT, FF.
 */
bool rela_next_word(rela_span *word, const char **at, const char *end);

/* How many bytes of a text to process if only its first tokens are used: 64 KiB plus 64 per token.
 * A longer text has more tokens than that, or words that no model knows; the bound keeps memory
 * independent of its length. */
size_t rela_text_bytes(size_t tokens);

/* The plural ending of a word after a number: "" for 1 ("1 line"), else "s" ("2 lines"). */
const char *rela_plural(uint64_t n);

/* A count for people: "392,437". Not for JSON and TSV. */
enum { RELA_GROUPED_SIZE = 28 };
const char *rela_grouped(char out[RELA_GROUPED_SIZE], uint64_t n);

/* Removes blanks (as above) at both ends. */
rela_span rela_trim(rela_span s);

#endif

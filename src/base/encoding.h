/* SPDX-License-Identifier: MIT */
/* src/base/encoding.h - reports text that is not UTF-8, with the encoding it may have instead. */
#ifndef RELA_BASE_ENCODING_H
#define RELA_BASE_ENCODING_H

#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "LATIN1" or "UTF-16", as iconv calls them, or NULL: other bytes. text: some that is not UTF-8. */
const char *rela_encoding_guess(const char *text, size_t len);

/* Warns if a text, whose first line has number `first`, is not UTF-8 or contains NUL; true if so.
 */
bool rela_encoding_check(const rela_log *log, const char *name, const char *text, size_t len,
                         uint64_t first);

/* The warning itself. guess: of rela_encoding_guess. */
void rela_encoding_warn(const rela_log *log, const char *name, uint64_t line, const char *guess);

#endif

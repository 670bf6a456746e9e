/* SPDX-License-Identifier: MIT */
/* src/base/error.h - fill in a rela_error and return its status.
 *
 * Every function returns the status, so that a failing line reads
 * `return rela_fail(err, RELA_FORMAT, "line %zu: ...", n)`. err may be NULL. Messages: one line,
 * lower case, no full stop; place, fact and limit. Control and format characters and invalid UTF-8,
 * which file names or data may contain, are shown as '?', so that a message is always one printable
 * line. If a message is too long, its context is truncated, not the reason. */
#ifndef RELA_BASE_ERROR_H
#define RELA_BASE_ERROR_H

#include "rela/rela.h"

#if defined(__GNUC__)
#define RELA_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define RELA_PRINTF(fmt, args)
#endif

rela_status rela_fail(rela_error *err, rela_status status, const char *format, ...)
    RELA_PRINTF(3, 4);

/* Prepends "context: " to the message that is already there. */
rela_status rela_fail_in(rela_error *err, rela_status status, const char *context);

/* RELA_IO (RELA_CLOSED for EPIPE, RELA_NOMEM for ENOMEM) with "message: text of error_number". */
rela_status rela_fail_errno(rela_error *err, int error_number, const char *format, ...)
    RELA_PRINTF(3, 4);

/* Static analysers see one file at a time and would explore paths on which rela_fail returns OK. */
#if defined(__clang_analyzer__) && !defined(RELA_ERROR_DEFINITIONS)
#define rela_fail(err, status, ...)        ((void)(rela_fail)(err, status, __VA_ARGS__), (status))
#define rela_fail_in(err, status, context) ((void)(rela_fail_in)(err, status, context), (status))
#define rela_fail_errno(err, ...)          ((void)(rela_fail_errno)(err, __VA_ARGS__), RELA_IO)
#endif

#endif

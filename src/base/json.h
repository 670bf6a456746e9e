/* SPDX-License-Identifier: MIT */
/* src/base/json.h - strict JSON without a tree: a pull parser for untrusted input, and writers
 * of values.
 *
 * A tree of hostile input can take twenty times its size; this parser allocates nothing. The caller
 * makes one call per expected value, so depth and types are bounded by its code, and nothing
 * recurses. Strict: UTF-8 only, no control characters, no lone surrogates, no comments, nothing
 * after the value. The caller must detect duplicate keys; keys are returned unescaped, so "\u0061"
 * and "a" are equal. Messages name the byte, counted from 1. */
#ifndef RELA_BASE_JSON_H
#define RELA_BASE_JSON_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rela_json {
    const char *start;
    char *at, *end;
    bool fresh; /* just after an opening bracket: no comma expected */
} rela_json;

/* text is borrowed and modified: strings are unescaped in place, and spans point into it. */
rela_status rela_json_start(rela_json *j, char *text, size_t len, rela_error *err);
rela_status rela_json_end(rela_json *j, rela_error *err); /* only white space may be left */

/* An object: rela_json_object, then rela_json_key and its value until *more is false. */
rela_status rela_json_object(rela_json *j, rela_error *err);
rela_status rela_json_key(rela_json *j, rela_span *key, bool *more, rela_error *err);
/* An array: rela_json_array, then rela_json_item and its value until *more is false. */
rela_status rela_json_array(rela_json *j, rela_error *err);
rela_status rela_json_item(rela_json *j, bool *more, rela_error *err);

rela_status rela_json_string(rela_json *j, rela_span *text, rela_error *err);
/* Plain decimal digits: no sign, no fraction, no exponent, no leading zero, below 2^64. */
rela_status rela_json_u64(rela_json *j, uint64_t *out, rela_error *err);
rela_status rela_json_f64(rela_json *j, double *out, rela_error *err); /* finite */
rela_status rela_json_bool(rela_json *j, bool *out, rela_error *err);
/* Any one value, at most RELA_JSON_DEPTH brackets deep. */
rela_status rela_json_skip(rela_json *j, rela_error *err);

enum { RELA_JSON_DEPTH = 64 };

/* RELA_FORMAT with "byte N: ...; expected ..." at the current position. */
rela_status rela_json_fail(const rela_json *j, rela_error *err, const char *expected);

/* Appends text as a JSON string; bytes that are not UTF-8 become U+FFFD. */
rela_status rela_json_quote(rela_buffer *out, const char *text, size_t len, rela_error *err);
/* Appends a number with the given number of significant digits; null if it is not finite. */
rela_status rela_json_number(rela_buffer *out, double x, int digits, rela_error *err);

#endif

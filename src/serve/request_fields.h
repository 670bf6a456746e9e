/* SPDX-License-Identifier: MIT */
/* src/serve/request_fields.h - the fields of a request, from a query string, a form or a JSON
 * object alike.
 *
 * The input is hostile: memory is bounded by its size, nothing recurses, and what is not understood
 * is RELA_FORMAT. Texts are decoded in place and lent by the input. A list is a field that comes
 * several times; "q[]" is another name for "q". */
#ifndef RELA_SERVE_REQUEST_FIELDS_H
#define RELA_SERVE_REQUEST_FIELDS_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RELA_FIELDS_MAX = 1024 };

typedef struct rela_field {
    rela_span name, value;
    bool listed; /* an item of a JSON list */
    bool form;   /* from a form or query: its line ends may be CRLF */
} rela_field;

/* All zero is empty. */
typedef struct rela_fields {
    rela_field *items;
    size_t n, cap;
} rela_fields;

/* Modify text, which must outlive p. Fields that are already there stay and come first. */
rela_status rela_fields_add_form(rela_fields *p, char *text, size_t len, rela_error *err);
/* An object of texts, numbers, true, false, null, and lists of texts. A name that comes twice in it
 * is an error. Members that are objects are checked and ignored. */
rela_status rela_fields_add_json(rela_fields *p, char *text, size_t len, rela_error *err);
void rela_fields_free(rela_fields *p);

/* The first value of a field; text NULL: not there. */
rela_span rela_fields_get(const rela_fields *p, const char *name);
size_t rela_fields_count(const rela_fields *p, const char *name);
/* Value number i of a field. */
const rela_field *rela_fields_at(const rela_fields *p, const char *name, size_t i);
bool rela_fields_listed(const rela_fields *p, const char *name); /* it came as a list */

/* *out stays as it is if the field is not there. */
rela_status rela_fields_int(int32_t *out, const rela_fields *p, const char *name, int64_t min,
                            int64_t max, rela_error *err);
rela_status rela_fields_real(double *out, const rela_fields *p, const char *name, double min,
                             double max, rela_error *err);
rela_status rela_fields_flag(bool *out, const rela_fields *p, const char *name, rela_error *err);

/* Decodes %XX, and + as a blank if plus; returns the new length, or SIZE_MAX for a % without two
 * digits. */
size_t rela_percent_decode(char *text, size_t len, bool plus);

#endif

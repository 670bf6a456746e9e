/* SPDX-License-Identifier: MIT */
/* src/serve/params.h - the fields of a request, from a query string, a form or a JSON object alike.
 *
 * The input is hostile: memory is bounded by its size, nothing recurses, and what is not understood
 * is RELA_FORMAT. Texts are decoded in place and lent by the input. A list is a field that comes
 * several times; "q[]" is another name for "q". */
#ifndef RELA_SERVE_PARAMS_H
#define RELA_SERVE_PARAMS_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RELA_PARAMS_MAX = 1024 };

typedef struct rela_param {
    rela_span name, value;
    bool listed; /* an item of a JSON list */
    bool form;   /* from a form or query: its line ends may be CRLF */
} rela_param;

/* All zero is empty. */
typedef struct rela_params {
    rela_param *items;
    size_t n, cap;
} rela_params;

/* Modify text, which must outlive p. Fields that are already there stay and come first. */
rela_status rela_params_add_form(rela_params *p, char *text, size_t len, rela_error *err);
/* An object of texts, numbers, true, false, null, and lists of texts. A name that comes twice in it
 * is an error. Members that are objects are checked and ignored. */
rela_status rela_params_add_json(rela_params *p, char *text, size_t len, rela_error *err);
void rela_params_free(rela_params *p);

/* The first value of a field; text NULL: not there. */
rela_span rela_params_get(const rela_params *p, const char *name);
size_t rela_params_count(const rela_params *p, const char *name);
/* Value number i of a field. */
const rela_param *rela_params_at(const rela_params *p, const char *name, size_t i);
bool rela_params_listed(const rela_params *p, const char *name); /* it came as a list */

/* *out stays as it is if the field is not there. */
rela_status rela_params_int(int32_t *out, const rela_params *p, const char *name, int64_t min,
                            int64_t max, rela_error *err);
rela_status rela_params_real(double *out, const rela_params *p, const char *name, double min,
                             double max, rela_error *err);
rela_status rela_params_flag(bool *out, const rela_params *p, const char *name, rela_error *err);

/* Decodes %XX, and + as a blank if plus; returns the new length, or SIZE_MAX for a % without two
 * digits. */
size_t rela_percent_decode(char *text, size_t len, bool plus);

#endif

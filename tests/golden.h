/* SPDX-License-Identifier: MIT */
/* tests/golden.h - helpers for tests that read golden cases from JSON. */
#ifndef RELA_TESTS_GOLDEN_H
#define RELA_TESTS_GOLDEN_H

#include "check.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>

static inline json_t *golden_load(const char *path)
{
    json_error_t why;
    json_t *all = json_load_file(path, JSON_ALLOW_NUL, &why);
    CHECK(all, "%s: line %d: %s", path, why.line, why.text);
    return all;
}

static inline double golden_real(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    CHECK(json_is_number(v), "no number '%s'", key);
    return json_number_value(v);
}

static inline int golden_int(const json_t *object, const char *key)
{
    return (int)golden_real(object, key);
}

static inline const char *golden_text(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    CHECK(json_is_string(v), "no text '%s'", key);
    return json_string_value(v);
}

/* Equal up to 1e-9, relative above 1. */
static inline bool golden_near(double got, double want)
{
    const double size = fabs(want) > 1 ? fabs(want) : 1;
    return fabs(got - want) <= 1e-9 * size;
}

#endif

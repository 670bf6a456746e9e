/* SPDX-License-Identifier: MIT */
/* src/nn/attn/kind_fixed.c - fixed patterns (Raganato, Scherrer and Tiedemann 2020): weights follow
 * from places alone, whatever queries and keys are. Where a pattern has no key, at either end of a
 * sentence, the weight is on the nearest key there is. A query beyond the last key is treated as
 * if it were at the last key. */
#include "nn/attn/kind.h"

#include <string.h>

static size_t one(uint32_t *keys, size_t key)
{
    keys[0] = (uint32_t)key;
    return 1;
}

static size_t range(uint32_t *keys, size_t first, size_t end)
{
    for (size_t j = first; j < end; j++)
        keys[j - first] = (uint32_t)j;
    return end - first;
}

static size_t place(size_t query, size_t n)
{
    return query < n ? query : n - 1;
}

static size_t current(const real *numbers, uint32_t *keys, size_t query, size_t n)
{
    (void)numbers;
    return one(keys, place(query, n));
}

static size_t previous(const real *numbers, uint32_t *keys, size_t query, size_t n)
{
    const size_t at = place(query, n);
    (void)numbers;
    return one(keys, at > 0 ? at - 1 : 0);
}

static size_t next(const real *numbers, uint32_t *keys, size_t query, size_t n)
{
    const size_t at = place(query, n);
    (void)numbers;
    return one(keys, at + 1 < n ? at + 1 : n - 1);
}

/* Before the previous. */
static size_t left(const real *numbers, uint32_t *keys, size_t query, size_t n)
{
    const size_t at = place(query, n);
    (void)numbers;
    return at > 1 ? range(keys, 0, at - 1) : one(keys, 0);
}

/* After the next. */
static size_t right(const real *numbers, uint32_t *keys, size_t query, size_t n)
{
    const size_t at = place(query, n);
    (void)numbers;
    return at + 2 < n ? range(keys, at + 2, n) : one(keys, n - 1);
}

static size_t all(const real *numbers, uint32_t *keys, size_t query, size_t n)
{
    (void)numbers;
    (void)query;
    return range(keys, 0, n);
}

/* j^3 over the sum of the cubes of 1 .. n, which is (n (n + 1) / 2)^2. */
static real cube(size_t j, size_t n)
{
    const double x = (double)j, half = (double)n * ((double)n + 1) / 2;
    return (real)(x * x * x / (half * half));
}

static void rising(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    (void)c;
    (void)s;
    for (size_t j = 0; j < n; j++)
        w[j] = cube(j + 1, n);
}

static void falling(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    (void)c;
    (void)s;
    for (size_t j = 0; j < n; j++)
        w[j] = cube(n - j, n);
}

static void no_gradient(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                        const real *s, size_t n)
{
    (void)c;
    (void)dw;
    (void)w;
    (void)s;
    memset(ds, 0, n * sizeof *ds);
}

enum { FLAGS = ATTN_SPARSE | ATTN_SUM_ONE };

const rela_attn_kind rela_attn_kinds_fixed[] = {
    { "current", "fixed: the token itself", FLAGS, rising, no_gradient, .pattern = current },
    { "previous", "fixed: the token before", FLAGS, rising, no_gradient, .pattern = previous },
    { "next", "fixed: the token after", FLAGS, rising, no_gradient, .pattern = next },
    { "left", "fixed: tokens before the one before, the nearer the more", FLAGS, rising,
      no_gradient, .pattern = left },
    { "right", "fixed: tokens after the one after, the nearer the more", FLAGS, falling,
      no_gradient, .pattern = right },
    { "start", "fixed: all tokens, the nearer to the start the more", ATTN_SUM_ONE, falling,
      no_gradient, .pattern = all },
    { "end", "fixed: all tokens, the nearer to the end the more", ATTN_SUM_ONE, rising, no_gradient,
      .pattern = all },
    { .name = NULL },
};

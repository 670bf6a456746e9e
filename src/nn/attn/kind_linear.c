/* SPDX-License-Identifier: MIT */
/* src/nn/attn/kind_linear.c - linear attention (Katharopoulos et al. 2020): positive features
 * elu(x) + 1 of queries and keys, products normalised by their sum. */
#include "nn/attn/kind.h"

/* Products below this are rounding errors only, and their inverse would overflow. */
#define LEAST ((real)1e-30)

static void map(const rela_kern *k, real *y, const real *x, size_t n)
{
    k->elu1(y, x, n);
}

static void map_back(const rela_kern *k, real *dx, const real *dy, const real *x, size_t n)
{
    k->elu1_back(dx, dy, x, n);
}

/* Features are positive, but their products may all underflow: then every key counts the same and
 * no gradient passes. Sums are relative to the largest product (*scale is its inverse), so that
 * they do not overflow. */
static real inverse_sum(const real *s, real *scale, size_t n)
{
    real largest = 0, sum = 0;
#pragma omp simd reduction(max : largest)
    for (size_t i = 0; i < n; i++)
        largest = s[i] > largest ? s[i] : largest;
    const real factor = largest > LEAST ? 1 / largest : 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += s[i] * factor;
    *scale = factor;
    return sum > 0 ? 1 / sum : 0;
}

static void weigh(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    (void)c;
    real scale = 0;
    const real factor = inverse_sum(s, &scale, n), even = factor > 0 ? 0 : 1 / (real)n;
    for (size_t i = 0; i < n; i++)
        w[i] = s[i] * scale * factor + even;
}

/* w = s / sum: ds = (dw - sum of dw w) / sum. */
static void weigh_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                       const real *s, size_t n)
{
    real scale = 0;
    const real factor = inverse_sum(s, &scale, n), along = c->k->dot(dw, w, n);
    for (size_t i = 0; i < n; i++)
        ds[i] = (dw[i] - along) * scale * factor;
}

const rela_attn_kind rela_attn_kinds_linear[] = {
    {
        .name = "linear",
        .summary = "features elu(x) + 1 of queries and keys, normalised products",
        .flags = ATTN_SUM_ONE,
        .weigh = weigh,
        .weigh_back = weigh_back,
        .map = map,
        .map_back = map_back,
    },
    { .name = NULL },
};

/* SPDX-License-Identifier: MIT */
/* src/nn/attn/kind_linear.c - linear attention (Katharopoulos et al. 2020): positive features
 * elu(x) + 1 of queries and keys, products normalised by their sum. */
#include "nn/attn/kind.h"

static void map(const rela_kern *k, real *y, const real *x, size_t n)
{
    k->elu1(y, x, n);
}

static void map_back(const rela_kern *k, real *dx, const real *dy, const real *x, size_t n)
{
    k->elu1_back(dx, dy, x, n);
}

/* Features are positive, but their products may underflow to 0, all of them: then every key counts
 * the same and no gradient passes. Sums are taken relative to the largest: no overflow. */
static real inverse_sum(const real *s, real *top, size_t n)
{
    real largest = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        largest = s[i] > largest ? s[i] : largest;
    for (size_t i = 0; i < n && largest > 0; i++)
        sum += s[i] / largest;
    *top = largest;
    return sum > 0 ? 1 / sum : 0;
}

static void weigh(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    (void)c;
    real top = 0;
    const real factor = inverse_sum(s, &top, n);
    for (size_t i = 0; i < n; i++)
        w[i] = factor > 0 ? s[i] / top * factor : 1 / (real)n;
}

/* w = s / sum: ds = (dw - sum of dw w) / sum. */
static void weigh_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                       const real *s, size_t n)
{
    real top = 0;
    const real factor = inverse_sum(s, &top, n), along = c->k->dot(dw, w, n);
    for (size_t i = 0; i < n; i++)
        ds[i] = factor > 0 ? (dw[i] - along) / top * factor : 0;
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

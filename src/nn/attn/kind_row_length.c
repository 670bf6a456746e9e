/* SPDX-License-Identifier: MIT */
/* src/nn/attn/kind_row_length.c - weights that know the length n of their row: ReLUFormer (Shen et
 * al. 2023), a rectifier whose threshold grows with n (after TDA, 2026), softmax of scores times
 * log n (Chiang and Cholak 2022); and softmax with a learned zero, which attends to nothing as far
 * as all scores are below it. */
#include "nn/attn/kind.h"

#include <math.h>
#include <string.h>

/* [s]+ g / sqrt(n / 2). */
static void weigh_mass(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    const real factor = c->params[0][0] / (real)sqrt((double)n / 2);
    for (size_t i = 0; i < n; i++)
        w[i] = s[i] > 0 ? s[i] * factor : 0;
}

static void weigh_mass_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                            const real *s, size_t n)
{
    const real by_length = 1 / (real)sqrt((double)n / 2), factor = c->params[0][0] * by_length;
    real sum = 0;
    (void)w;
    for (size_t i = 0; i < n; i++) {
        const real d = s[i] > 0 ? dw[i] : 0;
        sum += d * s[i];
        ds[i] = d * factor;
    }
    c->dparams[0][0] += sum * by_length;
}

/* How the threshold grows: the largest of n scores of variance 1 is near this. */
static real growth(size_t n)
{
    return (real)sqrt(2 * log((double)n));
}

/* [s - t sqrt(2 log n)]+^p for p 1 or 2. */
static void weigh_above(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    const real t = c->params[0][0] * growth(n);
    const bool square = c->numbers[0] > 1;
    for (size_t i = 0; i < n; i++) {
        const real x = s[i] > t ? s[i] - t : 0;
        w[i] = square ? x * x : x;
    }
}

static void weigh_above_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                             const real *s, size_t n)
{
    const real t = c->params[0][0] * growth(n);
    const bool square = c->numbers[0] > 1;
    real sum = 0;
    (void)w;
    for (size_t i = 0; i < n; i++) {
        const real d = square ? 2 * (s[i] - t) * dw[i] : dw[i];
        ds[i] = s[i] > t ? d : 0;
        sum += ds[i];
    }
    c->dparams[0][0] -= sum * growth(n);
}

/* Softmax of s log n / log N. */
static real scale_of(const rela_attn_row *c, size_t n)
{
    return (real)(log((double)n) / log((double)c->numbers[0]));
}

static void weigh_scaled(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    memcpy(c->scratch, s, n * sizeof *s);
    c->k->scale(c->scratch, scale_of(c, n), n);
    c->k->softmax(w, c->scratch, n);
}

static void weigh_scaled_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                              const real *s, size_t n)
{
    (void)s;
    c->k->softmax_back(ds, dw, w, n);
    c->k->scale(ds, scale_of(c, n), n);
}

/* Softmax of the row and one more score, which is learned; returns the weight of the latter. */
static real with_zero(const rela_attn_row *c, const real *s, size_t n)
{
    real *scores = c->scratch, *weights = c->scratch + n + 1;
    memcpy(scores, s, n * sizeof *s);
    scores[n] = c->params[0][0];
    c->k->softmax(weights, scores, n + 1);
    return weights[n];
}

static void weigh_zero(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    (void)with_zero(c, s, n);
    memcpy(w, c->scratch + n + 1, n * sizeof *w);
}

static void weigh_zero_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                            const real *s, size_t n)
{
    const real along = c->k->dot(dw, w, n);
    for (size_t i = 0; i < n; i++)
        ds[i] = w[i] * (dw[i] - along);
    c->dparams[0][0] -= with_zero(c, s, n) * along;
}

static const rela_attn_param FACTOR[] = {
    { .name = "head", .init = { RELA_INIT_CONSTANT, 1 } },
    { .name = NULL },
};

static const rela_attn_param FROM_ZERO[] = {
    { .name = "head", .init = { RELA_INIT_CONSTANT, 0 } },
    { .name = NULL },
};

static const rela_attn_number POWER[] = {
    { .name = "power",
      .summary = "1, or 2: squared",
      .whole = true,
      .least = 1,
      .most = 2,
      .start = 1 },
    { .name = NULL },
};

static const rela_attn_number LENGTH[] = {
    { .name = "length",
      .summary = "length at which the scale is 1",
      .whole = true,
      .least = 2,
      .most = 65536,
      .start = 32 },
    { .name = NULL },
};

const rela_attn_kind rela_attn_kinds_row_length[] = {
    { "reluformer", "max(0, s) g / sqrt(n / 2) with one learned factor g per head",
      ATTN_SPARSE | ATTN_NULLABLE, weigh_mass, weigh_mass_back, .params = FACTOR },
    { "rela-tl", "max(0, s - t sqrt(2 log n)) with one learned t per head, gated RMSNorm",
      ATTN_SPARSE | ATTN_NULLABLE, weigh_above, weigh_above_back, .norm = &rela_attn_norm_gated,
      .params = FROM_ZERO, .numbers = POWER },
    { "softmax-n", "softmax of s log n / log N: as sharp in long rows", ATTN_SUM_ONE, weigh_scaled,
      weigh_scaled_back, .numbers = LENGTH },
    { "softmax-zero", "exp(s) / (exp(z) + sum of exp(s)) with one learned z per head", 0,
      weigh_zero, weigh_zero_back, .params = FROM_ZERO },
    { .name = NULL },
};

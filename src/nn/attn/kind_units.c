/* SPDX-License-Identifier: MIT */
/* src/nn/attn/kind_units.c - other activations in place of the rectifier of rela-g: GeLU (Hendrycks
 * and Gimpel 2016) and leaky ReLU (Xu et al. 2015) of the paper's ablation, the squared rectifier,
 * and a rectifier whose threshold is learned per head. NaN scores get no weight. */
#include "nn/attn/kind.h"

static void weigh_gelu(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    c->k->gelu(w, s, n);
}

static void weigh_gelu_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                            const real *s, size_t n)
{
    (void)w;
    c->k->gelu_back(ds, dw, s, n);
}

static void weigh_leaky(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    const real slope = c->numbers[0];
    for (size_t i = 0; i < n; i++) {
        const real x = s[i], below = x <= 0 ? x * slope : 0;
        w[i] = x > 0 ? x : below;
    }
}

static void weigh_leaky_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                             const real *s, size_t n)
{
    (void)w;
    const real slope = c->numbers[0];
    for (size_t i = 0; i < n; i++) {
        const real d = dw[i], below = s[i] <= 0 ? d * slope : 0;
        ds[i] = s[i] > 0 ? d : below;
    }
}

static void weigh_square(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    (void)c;
    for (size_t i = 0; i < n; i++) {
        const real x = s[i] > 0 ? s[i] : 0;
        w[i] = x * x;
    }
}

static void weigh_square_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                              const real *s, size_t n)
{
    (void)c;
    (void)w;
    for (size_t i = 0; i < n; i++) {
        const real d = 2 * s[i] * dw[i];
        ds[i] = s[i] > 0 ? d : 0;
    }
}

static void weigh_threshold(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    const real t = c->params[0][0];
    for (size_t i = 0; i < n; i++) {
        const real x = s[i] - t;
        w[i] = x > 0 ? x : 0;
    }
}

static void weigh_threshold_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                                 const real *s, size_t n)
{
    (void)s;
    real sum = 0;
    c->k->relu_back(ds, dw, w, n);
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += ds[i];
    c->dparams[0][0] -= sum;
}

static const rela_attn_param THRESHOLD[] = {
    { .name = "head", .init = { RELA_INIT_CONSTANT, 0 } },
    { .name = NULL },
};

static const rela_attn_number SLOPE[] = {
    { "slope", "slope below zero", false, 0, 0.99, 0.01, "slope" },
    { .name = NULL },
};

const rela_attn_kind rela_attn_kinds_units[] = {
    { "gelu-g", "GeLU(s), gated RMSNorm (ablation)", ATTN_POINTWISE, weigh_gelu, weigh_gelu_back,
      .norm = &rela_attn_norm_gated },
    { "leaky-g", "s above zero, a small multiple of s below, gated RMSNorm (ablation)",
      ATTN_POINTWISE, weigh_leaky, weigh_leaky_back, .norm = &rela_attn_norm_gated,
      .numbers = SLOPE },
    { "relu2-g", "max(0, s)^2, gated RMSNorm", ATTN_POINTWISE | ATTN_SPARSE | ATTN_NULLABLE,
      weigh_square, weigh_square_back, .norm = &rela_attn_norm_gated },
    { "rela-t", "max(0, s - t) with one learned threshold t per head, gated RMSNorm",
      ATTN_SPARSE | ATTN_NULLABLE | ATTN_PADDED, /* weigh(0) is not 0 for t < 0 */
      weigh_threshold, weigh_threshold_back, .norm = &rela_attn_norm_gated, .params = THRESHOLD },
    { .name = NULL },
};

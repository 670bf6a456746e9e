/* SPDX-License-Identifier: MIT */
/* src/nn/attn/kind_entmax.c - sparse alternatives to softmax that stay on the simplex: sparsemax
 * (Martins and Astudillo 2016), 1.5-entmax and alpha-entmax (Peters, Niculae and Martins 2019),
 * and alpha learned per head (Correia, Niculae and Martins 2019). */
#include "nn/attn/kind.h"

#include <math.h>

/* Lower limit of alpha - 1: below it alpha-entmax is softmax to the last digit, and 0 would be
 * divided by. */
#define LEAST_EXCESS ((real)1e-5)

static void weigh_sparsemax(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    c->k->sparsemax(w, s, n);
}

static void weigh_sparsemax_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                                 const real *s, size_t n)
{
    (void)s;
    c->k->sparsemax_back(ds, dw, w, n);
}

static void weigh_entmax15(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    c->k->entmax15(w, s, n);
}

static void weigh_entmax15_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                                const real *s, size_t n)
{
    (void)s;
    c->k->entmax15_back(ds, dw, w, n);
}

static void weigh_fixed(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    c->k->entmax(w, s, c->numbers[0] - 1, n);
}

static void weigh_fixed_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                             const real *s, size_t n)
{
    (void)s;
    (void)c->k->entmax_back(ds, dw, w, c->numbers[0] - 1, n);
}

/* alpha - 1 of a head: sigmoid of its learned number. */
static real excess(const rela_attn_row *c)
{
    const real b = (real)(1 / (1 + exp(-(double)c->params[0][0])));
    return b > LEAST_EXCESS ? b : LEAST_EXCESS;
}

static void weigh_learned(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    c->k->entmax(w, s, excess(c), n);
}

static void weigh_learned_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                               const real *s, size_t n)
{
    (void)s;
    const real b = excess(c);
    c->dparams[0][0] += c->k->entmax_back(ds, dw, w, b, n) * b * (1 - b);
}

static const rela_attn_number NUMBERS[] = {
    { "alpha", "near 1 softmax, 2 sparsemax", false, 1.01, 4, 1.5, "alpha" },
    { .name = NULL },
};

static const rela_attn_param ALPHA[] = {
    { .name = "head", .init = { RELA_INIT_CONSTANT, 0 } },
    { .name = NULL },
};

enum { FLAGS = ATTN_SPARSE | ATTN_SUM_ONE | ATTN_PADDED };

const rela_attn_kind rela_attn_kinds_entmax[] = {
    { "sparsemax", "nearest point of the simplex: sparse, every row sums to one", FLAGS,
      weigh_sparsemax, weigh_sparsemax_back, .norm = NULL },
    { "entmax15", "1.5-entmax: between softmax and sparsemax", FLAGS, weigh_entmax15,
      weigh_entmax15_back, .norm = NULL },
    { "entmax", "alpha-entmax with a fixed alpha: near 1 softmax, 2 sparsemax", FLAGS, weigh_fixed,
      weigh_fixed_back, .numbers = NUMBERS },
    { "entmax-learned", "alpha-entmax, alpha = 1 + sigmoid(a) with one learned a per head", FLAGS,
      weigh_learned, weigh_learned_back, .params = ALPHA },
    { .name = NULL },
};

/* SPDX-License-Identifier: MIT */
/* src/nn/attn/kind_softmax.c - the attention of Vaswani et al. 2017. */
#include "nn/attn/kind.h"

void rela_attn_softmax(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    c->k->softmax(w, s, n);
}

void rela_attn_softmax_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                            const real *s, size_t n)
{
    (void)s;
    c->k->softmax_back(ds, dw, w, n);
}

const rela_attn_kind rela_attn_kinds_softmax[] = {
    {
        .name = "softmax",
        .summary = "exp(s) / sum of exp(s): dense, every row sums to one",
        .flags = ATTN_SUM_ONE | ATTN_PADDED | ATTN_SOFT,
        .weigh = rela_attn_softmax,
        .weigh_back = rela_attn_softmax_back,
    },
    { .name = NULL },
};

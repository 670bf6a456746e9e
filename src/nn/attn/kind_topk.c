/* SPDX-License-Identifier: MIT */
/* src/nn/attn/kind_topk.c - softmax over the k largest scores (explicit sparse Transformer, Zhao
 * et al. 2019). Scores equal to the k-th are all kept, so the order of keys does not matter. */
#include "nn/attn/kind.h"

/* The median of the first, middle and last, as pivot: sorted rows are common (positions). */
static real middle(const real *x, size_t n)
{
    const real a = x[0], b = x[n / 2], c = x[n - 1];
    const real low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* The k-th largest of s, by partition into larger and smaller ones; scratch holds 4 * n reals. NaNs
 * are ignored; the least score if fewer than k remain. */
static real kth_largest(const real *s, size_t n, size_t k, real *scratch)
{
    real *now = scratch, *above = scratch + n, *below = scratch + 2 * n;
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        if (s[i] == s[i])
            now[m++] = s[i];
    k = k < m ? k : m;
    while (m > 0) {
        const real pivot = middle(now, m);
        size_t n_above = 0, n_below = 0;
        for (size_t i = 0; i < m; i++) {
            above[n_above] = now[i];
            below[n_below] = now[i];
            n_above += now[i] > pivot;
            n_below += now[i] < pivot;
        }
        if (k > n_above && k <= m - n_below)
            return pivot;
        real **side = k <= n_above ? &above : &below;
        k = k <= n_above ? k : k - (m - n_below);
        m = side == &above ? n_above : n_below;
        real *old = now;
        now = *side;
        *side = old;
    }
    return 0;
}

static size_t top(const rela_attn_row *c)
{
    return (size_t)c->numbers[0];
}

static void weigh(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    if (n <= top(c))
        c->k->softmax(w, s, n);
    else
        c->k->softmax_from(w, s, kth_largest(s, n, top(c), c->scratch), n);
}

static const rela_attn_number NUMBERS[] = {
    { "k", "scores that are kept", true, 1, 65536, 8, "top" },
    { .name = NULL },
};

const rela_attn_kind rela_attn_kinds_topk[] = {
    {
        .name = "topk",
        .summary = "softmax over the k largest scores (explicit sparse Transformer)",
        .flags = ATTN_SPARSE | ATTN_SUM_ONE | ATTN_PADDED,
        .weigh = weigh,
        .weigh_back = rela_attn_softmax_back,
        .numbers = NUMBERS,
    },
    { .name = NULL },
};

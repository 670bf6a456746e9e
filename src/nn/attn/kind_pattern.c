/* SPDX-License-Identifier: MIT */
/* src/nn/attn/kind_pattern.c - softmax over a fixed pattern of keys (Child et al. 2019): a window
 * around the query, or every stride-th key and the near ones. Where queries and keys are of
 * different sentences, a query after the last key looks from the last key. */
#include "nn/attn/kind.h"

#include <assert.h>

static void weigh(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    c->k->softmax(w, s, n);
}

static void weigh_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                       const real *s, size_t n)
{
    (void)s;
    c->k->softmax_back(ds, dw, w, n);
}

static size_t window(const real *numbers, uint32_t *keys, size_t query, size_t n)
{
    const size_t at = query < n ? query : n - 1, side = (size_t)numbers[0];
    const size_t first = at > side ? at - side : 0, end = n - at > side ? at + side + 1 : n;
    for (size_t j = first; j < end; j++)
        keys[j - first] = (uint32_t)j;
    return end - first;
}

static size_t stride(const real *numbers, uint32_t *keys, size_t query, size_t n)
{
    const size_t at = query < n ? query : n - 1, step = (size_t)numbers[0];
    size_t count = 0;
    assert(step > 0);
    for (size_t j = 0; j < n; j++) {
        const size_t far = j < at ? at - j : j - at;
        if (far < step || far % step == 0)
            keys[count++] = (uint32_t)j;
    }
    return count;
}

static const rela_attn_number WINDOW[] = {
    { "window", "keys on each side", true, 1, 65536, 8, "window" },
    { .name = NULL },
};

static const rela_attn_number STRIDE[] = {
    { "stride", "keys from one to the next", true, 1, 65536, 8, "stride" },
    { .name = NULL },
};

const rela_attn_kind rela_attn_kinds_pattern[] = {
    {
        .name = "local",
        .summary = "softmax over a window of keys around the query",
        .flags = ATTN_SPARSE | ATTN_SUM_ONE,
        .weigh = weigh,
        .weigh_back = weigh_back,
        .numbers = WINDOW,
        .pattern = window,
    },
    {
        .name = "strided",
        .summary = "softmax over every stride-th key and the keys nearer than that",
        .flags = ATTN_SPARSE | ATTN_SUM_ONE,
        .weigh = weigh,
        .weigh_back = weigh_back,
        .numbers = STRIDE,
        .pattern = stride,
    },
    { .name = NULL },
};

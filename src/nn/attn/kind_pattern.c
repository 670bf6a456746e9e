/* SPDX-License-Identifier: MIT */
/* src/nn/attn/kind_pattern.c - softmax over a fixed pattern of keys (Child et al. 2019): a window
 * around the query, or every stride-th key and the near ones. Where queries and keys are of
 * different sentences, a query beyond the last key is treated as if it were at the last key. */
#include "nn/attn/kind.h"

#include <assert.h>

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

enum { FLAGS = ATTN_SPARSE | ATTN_SUM_ONE };

const rela_attn_kind rela_attn_kinds_pattern[] = {
    { "local", "softmax over a window of keys around the query", FLAGS, rela_attn_softmax,
      rela_attn_softmax_back, .numbers = WINDOW, .pattern = window },
    { "strided", "softmax over every stride-th key and the keys nearer than that", FLAGS,
      rela_attn_softmax, rela_attn_softmax_back, .numbers = STRIDE, .pattern = stride },
    { .name = NULL },
};

/* SPDX-License-Identifier: MIT */
/* src/base/lengths.c - see lengths.h. */
#include "base/lengths.h"

#include <stdlib.h>

static int longer(const void *a, const void *b)
{
    const rela_length *x = a, *y = b;
    if (x->length != y->length)
        return x->length > y->length ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

void rela_lengths_sort(rela_length *x, size_t n)
{
    if (n)
        qsort(x, n, sizeof *x, longer);
}

/* SPDX-License-Identifier: MIT */
/* bench/batches.h - updates from a file, so that other programs can be measured on the same ones.
 *
 * 32-bit integers: for each update the number n of sentences, n pairs of lengths (source, target),
 * the ids of all sources, the ids of all targets; ends of sentences are among them. */
#ifndef RELA_BENCH_BATCHES_H
#define RELA_BENCH_BATCHES_H

#include "base/mem.h"
#include "train/update.h"

#include <stdio.h>
#include <stdlib.h>

static int32_t *bench_read(FILE *f, size_t n)
{
    int32_t *a = rela_mem_array(n + 1, sizeof *a);
    if (a == NULL || fread(a, sizeof *a, n, f) != n) {
        fprintf(stderr, "batches: the file is cut short\n");
        exit(1);
    }
    return a;
}

/* False at the end of the file. What is read lives as long as the program. */
static bool bench_next_update(rela_model_batch *u, FILE *f)
{
    int32_t n;
    if (fread(&n, sizeof n, 1, f) != 1)
        return false;
    const int32_t *lengths = bench_read(f, (size_t)n * 2);
    uint32_t *at[2];
    for (size_t side = 0; side < 2; side++) {
        at[side] = rela_mem_array((size_t)n + 1, sizeof *at[side]);
        at[side][0] = 0;
        for (size_t i = 0; i < (size_t)n; i++)
            at[side][i + 1] = at[side][i] + (uint32_t)lengths[2 * i + side];
    }
    const int32_t *src = bench_read(f, at[0][n]), *tgt = bench_read(f, at[1][n]);
    *u = (rela_model_batch){ .streams = { { src, at[0], (size_t)n }, { tgt, at[1], (size_t)n } } };
    return true;
}

#endif

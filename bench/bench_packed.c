/* SPDX-License-Identifier: MIT */
/* bench/bench_packed.c - products of decoding with packed weights against oneDNN, per shape:
 * GFLOP/s of both and their ratio. Weights rotate over copies that do not fit the caches if the
 * model of that shape would not.
 *   bench_packed [level] */
#include "base/mem.h"
#include "kern/gemm.h"
#include "kern/kern.h"

#include <stdio.h>
#include <time.h>

enum { REPEATS = 7 };

typedef struct shape {
    size_t n, k, copies;
} shape;

static const shape SHAPES[] = { { 384, 128, 4 },  { 128, 128, 12 },  { 256, 128, 4 },
                                { 128, 256, 4 },  { 10000, 128, 1 }, { 1536, 512, 6 },
                                { 512, 512, 18 }, { 2048, 512, 6 },  { 512, 2048, 6 },
                                { 32000, 512, 1 } };
static const size_t ROWS[] = { 1, 2, 4, 8, 12, 16, 32, 128, 480 };

/* Processor time: a busy machine disturbs it less than the clock. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fill(real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (real)((i * 7919) % 1009) / 1009 - (real)0.5;
}

static void measure(const rela_kern *k, const shape *s, size_t m)
{
    const size_t panels = (s->n + k->panel - 1) / k->panel, size = panels * k->panel * s->k;
    char *block = rela_mem_alloc(size * s->copies * sizeof(real) + 64);
    real *p = (real *)(block + 64 - (size_t)block % 64);
    real *w = rela_mem_array(s->n * s->k * s->copies, sizeof *w);
    real *a = rela_mem_array(m * s->k, sizeof *a), *c = rela_mem_array(m * s->n, sizeof *c);
    fill(w, s->n * s->k * s->copies);
    fill(a, m * s->k);
    for (size_t i = 0; i < s->copies; i++)
        k->pack(p + i * size, w + i * s->n * s->k, s->k, s->n, s->k);
    double best[2] = { 1e9, 1e9 };
    const double work = 2.0 * (double)(m * s->n * s->k * s->copies);
    const int inner = work < 2e7 ? (int)(2e7 / work) + 1 : 1;
    for (int r = 0; r < REPEATS; r++) {
        double start = now();
        for (int i = 0; i < inner; i++)
            for (size_t j = 0; j < s->copies; j++)
                k->packed(c, s->n, a, s->k, p + j * size, NULL, m, s->n, s->k, false);
        double took = (now() - start) / inner;
        best[0] = took < best[0] ? took : best[0];
        start = now();
        for (int i = 0; i < inner; i++)
            for (size_t j = 0; j < s->copies; j++)
                rela_gemm_nt(c, s->n, a, s->k, w + j * s->n * s->k, s->k, m, s->n, s->k, false);
        took = (now() - start) / inner;
        best[1] = took < best[1] ? took : best[1];
    }
    printf("{\"bench\": \"packed\", \"level\": \"%s\", \"m\": %zu, \"n\": %zu, \"k\": %zu, "
           "\"gflops\": %.1f, \"onednn\": %.1f, \"ratio\": %.2f}\n",
           k->name, m, s->n, s->k, work / best[0] * 1e-9, work / best[1] * 1e-9, best[1] / best[0]);
    rela_mem_free(block);
    rela_mem_free(w);
    rela_mem_free(a);
    rela_mem_free(c);
}

int main(int argc, char **argv)
{
    const rela_kern *k = argc > 1 ? rela_kern_find(argv[1]) : rela_kern_get();
    if (!k)
        return 2;
    for (size_t i = 0; i < sizeof SHAPES / sizeof SHAPES[0]; i++)
        for (size_t j = 0; j < sizeof ROWS / sizeof ROWS[0]; j++)
            measure(k, &SHAPES[i], ROWS[j]);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* bench/bench_weights.c - speed of rows of scores to weights and back, one thread: nanoseconds per
 * row for every kind and length. bench/peers/weights.py prints the same for PyTorch.
 *   bench_weights [spread of the scores] */
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "nn/attn/kind.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 2048, LENGTH_MAX = 256, REPEATS = 7 };

static const rela_attn_setup SETUP = {
    .slope = (real)0.01, .alpha = (real)1.5, .top = 8, .window = 8, .stride = 8, .fuse = (real)0.1
};

/* Best time of several passes over all rows, per row. */
static double best_time(const rela_attn_kind *kind, const rela_attn_row *c, real *w, const real *s,
                        const real *dw, real *ds, size_t n)
{
    double best = 1e9;
    for (int r = 0; r < REPEATS; r++) {
        const double start = rela_clock_seconds();
        for (size_t i = 0; i < ROWS; i++)
            if (dw)
                kind->weigh_back(c, ds, dw + i * n, w + i * n, s + i * n, n);
            else
                kind->weigh(c, w + i * n, s + i * n, n);
        const double time = (rela_clock_seconds() - start) / ROWS;
        best = time < best ? time : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    static const size_t LENGTHS[] = { 32, 64, 256 };
    const double spread = argc > 1 ? atof(argv[1]) : 1;
    real head = 0, dhead = 0, ds[LENGTH_MAX];
    real *x = rela_mem_array(3 * ROWS * LENGTH_MAX + 4 * LENGTH_MAX, sizeof *x);
    if (!x)
        return 1;
    rela_rng r = rela_rng_start(1, 1);
    for (size_t i = 0; i < 3 * (size_t)ROWS * LENGTH_MAX; i++)
        x[i] = (real)(spread * rela_rng_normal(&r));
    real *w = x, *s = x + ROWS * LENGTH_MAX, *dw = s + ROWS * LENGTH_MAX;
    const rela_attn_row c = { .k = rela_kern_get(),
                              .setup = &SETUP,
                              .head = &head,
                              .dhead = &dhead,
                              .scratch = dw + ROWS * LENGTH_MAX };
    for (size_t i = 0; rela_attn_kind_at(i); i++)
        for (size_t j = 0; j < sizeof LENGTHS / sizeof LENGTHS[0]; j++) {
            const rela_attn_kind *kind = rela_attn_kind_at(i);
            const double forward = best_time(kind, &c, w, s, NULL, NULL, LENGTHS[j]);
            const double back = best_time(kind, &c, w, s, dw, ds, LENGTHS[j]);
            printf("{\"bench\": \"weights\", \"kind\": \"%s\", \"level\": \"%s\", \"n\": %zu, "
                   "\"forward_ns\": %.0f, \"back_ns\": %.0f}\n",
                   kind->name, c.k->name, LENGTHS[j], forward * 1e9, back * 1e9);
        }
    rela_mem_free(x);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* tests/gradcheck.h - analytic gradients against central differences, in double.
 *
 * A probe holds the inputs of one layer and the gradients that its backward pass gave; value runs
 * the forward pass and returns a scalar made from the outputs. */
#ifndef RELA_TESTS_GRADCHECK_H
#define RELA_TESTS_GRADCHECK_H

#include "base/rng.h"
#include "check.h"
#include "kern/kern.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PROBE_INPUTS = 8, PROBE_REALS = 16384 };

typedef struct probe_input {
    const char *name;
    size_t n;
    double *x, *dx;
} probe_input;

typedef struct probe {
    const char *what;
    double (*value)(const struct probe *p);
    const void *layer; /* settings that value needs */
    probe_input in[PROBE_INPUTS];
    size_t n_inputs;
    size_t samples; /* of each input; 0: every entry */
    double *memory;
    size_t used;
} probe;

static rela_rng probe_rng;

static inline double probe_random(void)
{
    return 2 * rela_rng_real(&probe_rng) - 1;
}

static inline double *probe_reals(probe *p, size_t n, double scale)
{
    if (!p->memory)
        p->memory = calloc(PROBE_REALS, sizeof *p->memory);
    CHECK(p->memory && p->used + n <= PROBE_REALS, "%s: no room for %zu reals", p->what, n);
    double *x = p->memory + p->used;
    p->used += n;
    for (size_t i = 0; i < n; i++)
        x[i] = scale * probe_random();
    return x;
}

/* An input of n random reals on +-scale, with its gradient at 0. Returns the number of the input.
 */
static inline size_t probe_add(probe *p, const char *name, size_t n, double scale)
{
    const size_t at = p->n_inputs++;
    CHECK(at < PROBE_INPUTS, "%s: too many inputs", p->what);
    p->in[at] = (probe_input){ name, n, probe_reals(p, n, scale), probe_reals(p, n, 0) };
    return at;
}

static inline double probe_slope(const probe *p, double *x, double h)
{
    const double old = *x;
    *x = old + h;
    const double up = p->value(p);
    *x = old - h;
    const double down = p->value(p);
    *x = old;
    return (up - down) / (2 * h);
}

/* Relative difference of one entry to central differences of two steps, extrapolated. Where the two
 * steps disagree there is a kink nearby: such an entry does not count. */
static inline double probe_gap(const probe *p, double *x, double analytic, bool *kink)
{
    const double h = 2e-5, wide = probe_slope(p, x, h), narrow = probe_slope(p, x, h / 2);
    const double numeric = (4 * narrow - wide) / 3;
    const double scale = fabs(numeric) + fabs(analytic) + 1e-2;
    *kink = fabs(wide - narrow) > 1e-6 * scale;
    return fabs(numeric - analytic) / scale;
}

/* Checks all inputs, prints the worst gap and frees the probe. */
static inline void probe_run(probe *p)
{
    double worst = 0;
    const char *where = "";
    size_t n = 0, kinks = 0;
    for (size_t a = 0; a < p->n_inputs; a++) {
        const probe_input *in = &p->in[a];
        const size_t m = p->samples && p->samples < in->n ? p->samples : in->n;
        for (size_t s = 0; s < m; s++) {
            const size_t at = m < in->n ? (size_t)rela_rng_below(&probe_rng, in->n) : s;
            bool kink = false;
            const double gap = probe_gap(p, in->x + at, in->dx[at], &kink);
            n++;
            kinks += kink;
            if (!kink && !(gap <= worst)) {
                worst = gap;
                where = in->name;
            }
        }
    }
    free(p->memory);
    p->memory = NULL;
    print_message("%-28s %.1e at %s\n", p->what, worst, where);
    CHECK(worst <= 1e-6, "%s: %.3e at %s", p->what, worst, where);
    CHECK(kinks * 5 <= n, "%s: %zu of %zu entries at kinks", p->what, kinks, n);
}

#endif

/* SPDX-License-Identifier: MIT */
/* src/analyse/auc.c - see auc.h. */
#include "analyse/auc.h"

#include <math.h>
#include <stdlib.h>

static const double NORMAL_975 = 1.959963984540054;

/* How much of the other sample each value of a sample is above: mean and variance of the mean. */
typedef struct placement {
    double mean, variance;
} placement;

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static size_t drop_negative(double *values, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (values[i] >= 0)
            values[kept++] = values[i];
    return kept;
}

/* Of b among a, both sorted. */
static placement place(const double *a, size_t n_a, const double *b, size_t n_b)
{
    double sum = 0, squares = 0;
    size_t below = 0, equal = 0; /* values of a below b[i]; below or equal */
    for (size_t i = 0; i < n_b; i++) {
        while (below < n_a && a[below] < b[i])
            below++;
        equal = below > equal ? below : equal;
        while (equal < n_a && a[equal] == b[i])
            equal++;
        const double share = ((double)below + 0.5 * (double)(equal - below)) / (double)n_a;
        sum += share;
        squares += share * share;
    }
    const double n = (double)n_b, mean = sum / n;
    const double spread = n_b > 1 ? (squares - n * mean * mean) / (n - 1) : 0.25;
    return (placement){ mean, fmax(spread, 0) / n };
}

rela_auc rela_auc_find(double *a, size_t n_a, double *b, size_t n_b)
{
    n_a = drop_negative(a, n_a);
    n_b = drop_negative(b, n_b);
    if (!n_a || !n_b)
        return (rela_auc){ 0.5, 0, 1, true };
    qsort(a, n_a, sizeof *a, by_value);
    qsort(b, n_b, sizeof *b, by_value);
    const placement of_b = place(a, n_a, b, n_b), of_a = place(b, n_b, a, n_a);
    const double half = NORMAL_975 * sqrt(of_b.variance + of_a.variance);
    return (rela_auc){ .value = of_b.mean,
                       .low = fmax(of_b.mean - half, 0),
                       .high = fmin(of_b.mean + half, 1),
                       .blank = a[n_a - 1] == 0 && b[n_b - 1] == 0 };
}

bool rela_auc_is_chance(const rela_auc *x)
{
    return x->low <= 0.5 && x->high >= 0.5;
}

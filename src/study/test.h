/* SPDX-License-Identifier: MIT */
/* src/study/test.h - effects with their intervals: bootstrap over sentences and seeds, Student's t
 * over layers, heads or rounds, Holm's correction.
 *
 * Random numbers depend on the seed of the test only, so a result depends neither on the number of
 * threads nor on which tests are made together. */
#ifndef RELA_STUDY_TEST_H
#define RELA_STUDY_TEST_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One system, trained with one or more seeds, on the same sentences. */
typedef struct rela_study_system {
    const uint32_t *const *stats; /* (n_seeds): sufficient statistics (n, k) */
    size_t n_seeds;
} rela_study_system;

typedef struct rela_study_contrast {
    rela_study_system a, b; /* b without seeds: the score of a itself */
    size_t n, k;            /* sentences; statistics of each */
    double (*score)(const void *ctx, const uint64_t *sums);
    const void *ctx;
} rela_study_contrast;

/* A difference, a slope or a mean, with its 95 % interval. */
typedef struct rela_study_effect {
    double value, low, high;
    double p;       /* two-sided, against 0 */
    size_t n;       /* sentences, heads, layers ... it was taken over */
    size_t n_seeds; /* the smaller number of seeds of the two; 0: not known */
} rela_study_effect;

/* a - b by paired bootstrap: sentences are resampled together for all systems, seeds for each
 * system. The spread over seeds is widened by sqrt(s / (s - 1)), since s resampled seeds vary less
 * than s new ones. With one seed only sentences are resampled. */
rela_status rela_study_bootstrap(rela_study_effect *out, const rela_study_contrast *c,
                                 int64_t samples, uint64_t seed, rela_error *err);

double rela_study_average(const double *values, size_t n); /* n 0: 0 */
/* Mean of n values, which are often differences, by Student's t. One value has no interval: its
 * ends are infinite. */
void rela_study_mean(rela_study_effect *out, const double *values, size_t n);
/* Mean of a minus mean of b, unpaired, by Welch's t. */
void rela_study_means(rela_study_effect *out, const double *a, size_t n_a, const double *b,
                      size_t n_b);
/* Slope of the regression of y on x. */
void rela_study_slope(rela_study_effect *out, const double *x, const double *y, size_t n);
/* How often values of a exceed those of b, ties by half, minus 0.5: the area under the ROC curve,
 * with the interval of DeLong. */
rela_status rela_study_area(rela_study_effect *out, const double *a, size_t n_a, const double *b,
                            size_t n_b, rela_error *err);

/* Replaces p-values by those adjusted for their number (Holm 1979). */
rela_status rela_study_holm(double *p, size_t n, rela_error *err);

/* Two-sided p of Student's t; the t whose two-sided p is 0.05. */
double rela_study_t_p(double t, double freedom);
double rela_study_t_limit(double freedom);

#endif

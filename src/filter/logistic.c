/* SPDX-License-Identifier: MIT */
/* src/filter/logistic.c - see logistic.h. Newton's method with a Cholesky solver. */
#include "filter/logistic.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 25 };
static const double PENALTY = 1e-2; /* L2, on the weights of standardised features, per example */
static const double SMALL = 1e-9;

static void standardise(rela_logit *l, const double *rows, size_t n_rows);
static void gather(const rela_logit *l, double *matrix, double *slope, const double *rows,
                   const bool *good, const double *share, size_t n_rows);
static void solve(double *matrix, double *x, size_t n);
static double feature(const rela_logit *l, const double *row, size_t i);

rela_status rela_logit_fit(rela_logit *l, const double *rows, const bool *good, size_t n_rows,
                           size_t n, rela_error *err)
{
    const size_t m = n + 1;
    double *matrix = rela_mem_array(m * m, sizeof *matrix);
    double *slope = rela_mem_array(m, sizeof *slope);
    size_t n_good = 0;
    *l = (rela_logit){ .n = n,
                       .mean = rela_mem_zalloc(m * sizeof *l->mean),
                       .scale = rela_mem_zalloc(m * sizeof *l->scale),
                       .weight = rela_mem_zalloc(m * sizeof *l->weight) };
    for (size_t i = 0; i < n_rows; i++)
        n_good += good[i];
    rela_status st = RELA_OK;
    if (!matrix || !slope || !l->mean || !l->scale || !l->weight)
        st = rela_fail(err, RELA_NOMEM, "no memory for %zu features", n);
    else if (n_good == 0 || n_good == n_rows)
        st = rela_fail(err, RELA_FORMAT, "all examples are of one class");
    if (st == RELA_OK) {
        const double share[] = { 0.5 / (double)(n_rows - n_good), 0.5 / (double)n_good };
        double step = 1;
        standardise(l, rows, n_rows);
        for (int round = 0; round < ROUNDS && step > SMALL; round++) {
            gather(l, matrix, slope, rows, good, share, n_rows);
            solve(matrix, slope, m);
            step = 0;
            for (size_t i = 0; i < m; i++) {
                l->weight[i] += slope[i];
                step = fmax(step, fabs(slope[i]));
            }
        }
    }
    rela_mem_free(matrix);
    rela_mem_free(slope);
    if (st != RELA_OK)
        rela_logit_free(l);
    return st;
}

void rela_logit_free(rela_logit *l)
{
    rela_mem_free(l->mean);
    rela_mem_free(l->scale);
    rela_mem_free(l->weight);
    *l = (rela_logit){ 0 };
}

double rela_logit_score(const rela_logit *l, const double *row)
{
    double sum = 0;
    for (size_t i = 0; i <= l->n; i++)
        sum += l->weight[i] * feature(l, row, i);
    return 1 / (1 + exp(-sum));
}

static double feature(const rela_logit *l, const double *row, size_t i)
{
    return i < l->n ? (row[i] - l->mean[i]) * l->scale[i] : 1;
}

static void standardise(rela_logit *l, const double *rows, size_t n_rows)
{
    for (size_t k = 0; k < l->n; k++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < n_rows; i++)
            mean += rows[i * l->n + k] / (double)n_rows;
        for (size_t i = 0; i < n_rows; i++) {
            const double d = rows[i * l->n + k] - mean;
            square += d * d / (double)n_rows;
        }
        l->mean[k] = mean;
        l->scale[k] = square > SMALL * SMALL ? 1 / sqrt(square) : 0;
    }
}

/* matrix: Hessian of the penalised loss; slope: its negative gradient. */
static void gather(const rela_logit *l, double *matrix, double *slope, const double *rows,
                   const bool *good, const double *share, size_t n_rows)
{
    const size_t m = l->n + 1;
    memset(matrix, 0, m * m * sizeof *matrix);
    for (size_t k = 0; k < m; k++) {
        const double penalty = k < l->n ? PENALTY : SMALL;
        matrix[k * m + k] = penalty;
        slope[k] = -penalty * l->weight[k];
    }
    for (size_t i = 0; i < n_rows; i++) {
        const double *row = rows + i * l->n;
        const double p = rela_logit_score(l, row), w = share[good[i]];
        for (size_t a = 0; a < m; a++) {
            const double x = feature(l, row, a);
            slope[a] += w * ((double)good[i] - p) * x;
            for (size_t b = 0; b <= a; b++)
                matrix[a * m + b] += w * p * (1 - p) * x * feature(l, row, b);
        }
    }
}

/* x = matrix^-1 x by Cholesky. Reads the lower half of a positive definite matrix and overwrites
 * it. */
static void solve(double *matrix, double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = matrix[i * n + j];
            for (size_t k = 0; k < j; k++)
                sum -= matrix[i * n + k] * matrix[j * n + k];
            matrix[i * n + j] = i == j ? sqrt(fmax(sum, SMALL)) : sum / matrix[j * n + j];
        }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            x[i] -= matrix[i * n + k] * x[k];
        x[i] /= matrix[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            x[i] -= matrix[k * n + i] * x[k];
        x[i] /= matrix[i * n + i];
    }
}

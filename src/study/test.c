/* SPDX-License-Identifier: MIT */
/* src/study/test.c - see test.h. */
#include "study/test.h"

#include "base/mem.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TAIL = 40 /* 1/40 on both sides leaves 95 % */, SEEDS_MAX = 64, STATS_MAX = 96 };

/* The state of one bootstrap. */
typedef struct resampler {
    const rela_study_contrast *c;
    uint32_t *counts; /* (n): how often the sample has a sentence; NULL: once each */
    rela_rng rng;
} resampler;

static double sampled_mean(resampler *r, const rela_study_system *s);
static double seed_score(const resampler *r, const uint32_t *stats);
static void draw_sentences(resampler *r);
static void summarise(rela_study_effect *out, double *samples, size_t n);
static int compare_doubles(const void *a, const void *b);
static void by_t(rela_study_effect *out, double error, double freedom);
static double variance_of(const double *values, size_t n);
static double beta_share(double a, double b, double x);
static double beta_fraction(double a, double b, double x);

/* ---- bootstrap ---- */

rela_status rela_study_bootstrap(rela_study_effect *out, const rela_study_contrast *c,
                                 int64_t samples, uint64_t seed, rela_error *err)
{
    const rela_study_system *a = &c->a, *b = &c->b;
    if (c->n == 0 || a->n_seeds == 0 || a->n_seeds > SEEDS_MAX || b->n_seeds > SEEDS_MAX ||
        c->k > STATS_MAX || samples < TAIL)
        return rela_fail(err, RELA_ARG, "%zu sentences of %zu seeds cannot be resampled", c->n,
                         a->n_seeds);
    double *values = rela_mem_array((size_t)samples, sizeof *values);
    resampler r = { .c = c };
    uint32_t *counts = rela_mem_array(c->n, sizeof *counts);
    rela_status st = RELA_OK;
    if (!values || !counts) {
        st = rela_fail(err, RELA_NOMEM, "no memory for %lld samples", (long long)samples);
        goto out;
    }
    double value = 0;
    for (size_t i = 0; i < a->n_seeds; i++)
        value += seed_score(&r, a->stats[i]) / (double)a->n_seeds;
    for (size_t i = 0; i < b->n_seeds; i++)
        value -= seed_score(&r, b->stats[i]) / (double)b->n_seeds;
    r.counts = counts;
    for (int64_t i = 0; i < samples; i++) {
        r.rng = rela_rng_start(seed, (uint64_t)i);
        draw_sentences(&r);
        values[i] = sampled_mean(&r, a);
        if (b->n_seeds)
            values[i] -= sampled_mean(&r, b);
    }
    *out = (rela_study_effect){ .value = value, .n = c->n, .n_seeds = a->n_seeds };
    if (b->n_seeds && b->n_seeds < a->n_seeds)
        out->n_seeds = b->n_seeds;
    summarise(out, values, (size_t)samples);
out:
    rela_mem_free(values);
    rela_mem_free(counts);
    return st;
}

static void draw_sentences(resampler *r)
{
    memset(r->counts, 0, r->c->n * sizeof *r->counts);
    for (size_t i = 0; i < r->c->n; i++)
        r->counts[rela_rng_below(&r->rng, r->c->n)]++;
}

/* The mean over resampled seeds, on the sentences of the sample. */
static double sampled_mean(resampler *r, const rela_study_system *s)
{
    double scores[SEEDS_MAX], mean = 0, resampled = 0;
    const double n = (double)s->n_seeds;
    for (size_t i = 0; i < s->n_seeds; i++) {
        scores[i] = seed_score(r, s->stats[i]);
        mean += scores[i] / n;
    }
    if (s->n_seeds == 1)
        return mean;
    for (size_t i = 0; i < s->n_seeds; i++)
        resampled += scores[rela_rng_below(&r->rng, s->n_seeds)] / n;
    return mean + sqrt(n / (n - 1)) * (resampled - mean);
}

static double seed_score(const resampler *r, const uint32_t *stats)
{
    uint64_t sums[STATS_MAX] = { 0 };
    const size_t k = r->c->k;
    for (size_t i = 0; i < r->c->n; i++) {
        const uint64_t times = r->counts ? r->counts[i] : 1;
        for (size_t j = 0; times && j < k; j++)
            sums[j] += times * stats[i * k + j];
    }
    return r->c->score(r->c->ctx, sums);
}

/* p: twice the share of samples on the far side of 0; the added 1 is the observed outcome. */
static void summarise(rela_study_effect *out, double *samples, size_t n)
{
    size_t below = 0, above = 0;
    for (size_t i = 0; i < n; i++) {
        below += samples[i] <= 0;
        above += samples[i] >= 0;
    }
    const size_t far_side = below < above ? below : above;
    const double p = 2 * (double)(far_side + 1) / (double)(n + 1);
    out->p = p < 1 ? p : 1;
    qsort(samples, n, sizeof *samples, compare_doubles);
    out->low = samples[n / TAIL];
    out->high = samples[n - n / TAIL - 1];
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- Student's t ---- */

void rela_study_mean(rela_study_effect *out, const double *values, size_t n)
{
    *out = (rela_study_effect){ .value = rela_study_average(values, n), .n = n };
    by_t(out, n > 1 ? sqrt(variance_of(values, n) / (double)n) : (double)INFINITY, (double)n - 1);
}

void rela_study_means(rela_study_effect *out, const double *a, size_t n_a, const double *b,
                      size_t n_b)
{
    *out = (rela_study_effect){ .value = rela_study_average(a, n_a) - rela_study_average(b, n_b),
                                .n = n_a < n_b ? n_a : n_b };
    if (n_a < 2 || n_b < 2) {
        by_t(out, INFINITY, 1);
        return;
    }
    const double u = variance_of(a, n_a) / (double)n_a, v = variance_of(b, n_b) / (double)n_b;
    const double rest = u * u / ((double)n_a - 1) + v * v / ((double)n_b - 1);
    by_t(out, sqrt(u + v), rest > 0 ? (u + v) * (u + v) / rest : (double)(n_a + n_b - 2));
}

void rela_study_slope(rela_study_effect *out, const double *x, const double *y, size_t n)
{
    const double mx = rela_study_average(x, n), my = rela_study_average(y, n);
    double xx = 0, xy = 0, left = 0;
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
    }
    *out = (rela_study_effect){ .value = xx > 0 ? xy / xx : 0, .n = n };
    for (size_t i = 0; i < n; i++) {
        const double d = y[i] - my - out->value * (x[i] - mx);
        left += d * d;
    }
    const bool known = n > 2 && xx > 0;
    by_t(out, known ? sqrt(left / ((double)n - 2) / xx) : (double)INFINITY, (double)n - 2);
}

rela_status rela_study_area(rela_study_effect *out, const double *a, size_t n_a, const double *b,
                            size_t n_b, rela_error *err)
{
    double *shares = rela_mem_array(n_a + n_b + 1, sizeof *shares);
    if (!shares)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu values", n_a + n_b);
    memset(shares, 0, (n_a + n_b) * sizeof *shares);
    for (size_t i = 0; i < n_a; i++)
        for (size_t j = 0; j < n_b; j++) {
            const double won = a[i] > b[j] ? 1 : a[i] < b[j] ? 0 : 0.5;
            shares[i] += won / (double)n_b;
            shares[n_a + j] += won / (double)n_a;
        }
    *out = (rela_study_effect){ .value = rela_study_average(shares, n_a) - 0.5, .n = n_a + n_b };
    const bool known = n_a > 1 && n_b > 1;
    const double error = known ? sqrt(variance_of(shares, n_a) / (double)n_a +
                                      variance_of(shares + n_a, n_b) / (double)n_b)
                               : (double)INFINITY;
    by_t(out, error, (double)(n_a + n_b) - 2);
    rela_mem_free(shares);
    return RELA_OK;
}

static void by_t(rela_study_effect *out, double error, double freedom)
{
    if (freedom < 1 || !isfinite(error)) {
        out->low = -INFINITY;
        out->high = INFINITY;
        out->p = 1;
        return;
    }
    const double half = error * rela_study_t_limit(freedom);
    out->low = out->value - half;
    out->high = out->value + half;
    out->p = error > 0 ? rela_study_t_p(out->value / error, freedom) : out->value == 0;
}

double rela_study_average(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return n ? sum / (double)n : 0;
}

static double variance_of(const double *values, size_t n)
{
    const double mean = rela_study_average(values, n);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return n > 1 ? sum / ((double)n - 1) : 0;
}

double rela_study_t_p(double t, double freedom)
{
    return beta_share(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double rela_study_t_limit(double freedom)
{
    double low = 0, high = 1e3;
    for (int i = 0; i < 60; i++) {
        const double t = 0.5 * (low + high);
        if (rela_study_t_p(t, freedom) > 0.05)
            low = t;
        else
            high = t;
    }
    return 0.5 * (low + high);
}

/* The regularised incomplete beta function. */
static double beta_share(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x > 0;
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* Its continued fraction, by the method of Lentz. */
static double beta_fraction(double a, double b, double x)
{
    static const double TINY = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < TINY ? TINY : d);
    double f = d;
    for (int i = 1; i < 300; i++) {
        const double m = i;
        for (int odd = 0; odd < 2; odd++) {
            const double top = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                                   : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
            d = 1 + top * d;
            c = 1 + top / c;
            d = 1 / (fabs(d) < TINY ? TINY : d);
            c = fabs(c) < TINY ? TINY : c;
            f *= c * d;
        }
        if (fabs(c * d - 1) < 1e-15)
            break;
    }
    return f;
}

/* ---- several tests ---- */

typedef struct ranked {
    double p;
    size_t place;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->p != y->p)
        return x->p < y->p ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

rela_status rela_study_holm(double *p, size_t n, rela_error *err)
{
    ranked *order = rela_mem_array(n + 1, sizeof *order);
    if (!order)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu p-values", n);
    for (size_t i = 0; i < n; i++)
        order[i] = (ranked){ p[i], i };
    qsort(order, n, sizeof *order, compare_ranked);
    double least = 0;
    for (size_t i = 0; i < n; i++) {
        const double adjusted = order[i].p * (double)(n - i);
        least = adjusted > least ? adjusted : least;
        p[order[i].place] = least < 1 ? least : 1;
    }
    rela_mem_free(order);
    return RELA_OK;
}

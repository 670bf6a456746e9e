/* SPDX-License-Identifier: MIT */
/* src/metric/significance.c - bootstrap and randomisation tests on rows of statistics.
 *
 * Sample i draws from random stream i, so results depend neither on the number of threads nor on
 * which systems or metrics are tested together. */
#include "base/mem.h"
#include "base/par.h"
#include "base/rng.h"
#include "base/sized.h"
#include "rela/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TAIL = 40 /* 1/40 on both sides leaves 95 % */, SAMPLES = 1000, SAMPLES_MAX = 100000000 };

static const uint64_t TRIAL_STREAMS = (uint64_t)1 << 40; /* apart from those of the bootstrap */

typedef struct sampling {
    const rela_scored *a, *b; /* b may be NULL */
    uint64_t seed;
    double *score_a, *score_b; /* (samples); score_b may be NULL */
    const uint64_t *total;     /* randomisation: sum of both systems */
} sampling;

static rela_status take(rela_resampling *own, const rela_resampling *given, const rela_scored *a,
                        const rela_scored *b, rela_error *err);
static rela_status make_scores(double **a, double **b, const rela_resampling *r, rela_error *err);
static void take_samples(void *ctx, size_t begin, size_t end, int thread);
static void draw_trials(void *ctx, size_t begin, size_t end, int thread);
static uint32_t below(rela_rng *rng, uint32_t n);
static void add_row(uint64_t *sums, const rela_scored *s, size_t row);
static double score_all(const rela_scored *s);
static double share_at_least(const double *values, size_t n, double limit);
static void summarise(rela_interval *out, double *scores, size_t n);
static double mean(const double *values, size_t n);
static int compare_doubles(const void *a, const void *b);

void rela_resampling_init(rela_resampling *r, size_t size)
{
    const rela_resampling start = { .struct_size = size, .samples = SAMPLES, .seed = 1 };
    rela_sized_init(r, size, &start, sizeof start);
}

rela_status rela_bootstrap(rela_interval *out, const rela_scored *s, const rela_resampling *how,
                           rela_error *err)
{
    double *scores = NULL;
    rela_resampling r = { .samples = 0 };
    rela_status st = take(&r, how, s, NULL, err);
    if (st == RELA_OK)
        st = make_scores(&scores, NULL, &r, err);
    if (st != RELA_OK)
        return st;
    sampling job = { .a = s, .seed = r.seed, .score_a = scores };
    rela_par_rows((size_t)r.samples, rela_par_threads(r.n_threads), take_samples, &job);
    summarise(out, scores, (size_t)r.samples);
    rela_mem_free(scores);
    return RELA_OK;
}

rela_status rela_bootstrap_paired(double *p, rela_interval *out, const rela_scored *baseline,
                                  const rela_scored *system, const rela_resampling *how,
                                  rela_error *err)
{
    double *a = NULL, *b = NULL;
    rela_resampling r = { .samples = 0 };
    rela_status st = take(&r, how, baseline, system, err);
    if (st == RELA_OK)
        st = make_scores(&a, &b, &r, err);
    if (st != RELA_OK)
        return st;
    const size_t n = (size_t)r.samples;
    sampling job = { .a = baseline, .b = system, .seed = r.seed, .score_a = a, .score_b = b };
    rela_par_rows(n, rela_par_threads(r.n_threads), take_samples, &job);
    for (size_t i = 0; i < n; i++)
        a[i] = fabs(b[i] - a[i]);
    const double centre = mean(a, n);
    for (size_t i = 0; i < n; i++)
        a[i] -= centre;
    *p = share_at_least(a, n, fabs(score_all(baseline) - score_all(system)));
    if (out)
        summarise(out, b, n);
    rela_mem_free(a);
    rela_mem_free(b);
    return RELA_OK;
}

rela_status rela_randomise_paired(double *p, const rela_scored *baseline, const rela_scored *system,
                                  const rela_resampling *how, rela_error *err)
{
    double *differences = NULL;
    uint64_t total[RELA_STATS_MAX] = { 0 };
    rela_resampling r = { .samples = 0 };
    rela_status st = take(&r, how, baseline, system, err);
    if (st == RELA_OK)
        st = make_scores(&differences, NULL, &r, err);
    if (st != RELA_OK)
        return st;
    rela_stats_add(total, baseline->stats, baseline->n, baseline->k);
    rela_stats_add(total, system->stats, system->n, system->k);
    sampling job = {
        .a = baseline, .b = system, .seed = r.seed, .score_a = differences, .total = total
    };
    rela_par_rows((size_t)r.samples, rela_par_threads(r.n_threads), draw_trials, &job);
    *p = share_at_least(differences, (size_t)r.samples,
                        fabs(score_all(baseline) - score_all(system)));
    rela_mem_free(differences);
    return RELA_OK;
}

/* b may be NULL. */
static rela_status take(rela_resampling *own, const rela_resampling *given, const rela_scored *a,
                        const rela_scored *b, rela_error *err)
{
    const rela_status st = rela_sized_take(own, sizeof *own, given, "rela_resampling", err);
    if (st != RELA_OK)
        return st;
    if (own->samples < 1 || own->samples > SAMPLES_MAX)
        return rela_fail(err, RELA_ARG, "%lld samples; expected 1..%d", (long long)own->samples,
                         SAMPLES_MAX);
    if (a->n < 1 || a->n > UINT32_MAX || a->k < 1 || a->k > RELA_STATS_MAX)
        return rela_fail(err, RELA_ARG, "statistics of %zu segments cannot be resampled", a->n);
    if (b && (b->n != a->n || b->k != a->k))
        return rela_fail(err, RELA_ARG, "the systems have %zu and %zu segments", a->n, b->n);
    return RELA_OK;
}

static rela_status make_scores(double **a, double **b, const rela_resampling *r, rela_error *err)
{
    *a = rela_mem_array((size_t)r->samples, sizeof **a);
    if (b)
        *b = rela_mem_array((size_t)r->samples, sizeof **b);
    if (*a && (!b || *b))
        return RELA_OK;
    rela_mem_free(*a);
    if (b)
        rela_mem_free(*b);
    return rela_fail(err, RELA_NOMEM, "no memory for %lld samples", (long long)r->samples);
}

static void take_samples(void *ctx, size_t begin, size_t end, int thread)
{
    const sampling *job = ctx;
    const uint32_t n = (uint32_t)job->a->n;
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        uint64_t a[RELA_STATS_MAX] = { 0 }, b[RELA_STATS_MAX] = { 0 };
        rela_rng rng = rela_rng_start(job->seed, i);
        for (uint32_t j = 0; j < n; j++) {
            const size_t row = below(&rng, n);
            add_row(a, job->a, row);
            if (job->b)
                add_row(b, job->b, row);
        }
        job->score_a[i] = job->a->score(job->a->ctx, a);
        if (job->b)
            job->score_b[i] = job->b->score(job->b->ctx, b);
    }
}

/* One random bit per segment: whether the two systems swap places there. */
static void draw_trials(void *ctx, size_t begin, size_t end, int thread)
{
    const sampling *job = ctx;
    const size_t n = job->a->n, k = job->a->k;
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        uint64_t a[RELA_STATS_MAX] = { 0 }, b[RELA_STATS_MAX];
        rela_rng rng = rela_rng_start(job->seed, TRIAL_STREAMS + i);
        uint32_t bits = 0;
        for (size_t j = 0; j < n; j++) {
            bits = j % 32 ? bits >> 1 : rela_rng_u32(&rng);
            add_row(a, bits & 1 ? job->b : job->a, j);
        }
        for (size_t j = 0; j < k; j++)
            b[j] = job->total[j] - a[j];
        job->score_a[i] = fabs(job->a->score(job->a->ctx, a) - job->b->score(job->b->ctx, b));
    }
}

/* Uniform on 0 .. n-1, exactly (Lemire 2019): one word and a multiplication in nearly all cases. */
static uint32_t below(rela_rng *rng, uint32_t n)
{
    uint64_t m = (uint64_t)rela_rng_u32(rng) * n;
    if ((uint32_t)m < n) {
        const uint32_t least = (0u - n) % n;
        while ((uint32_t)m < least)
            m = (uint64_t)rela_rng_u32(rng) * n;
    }
    return (uint32_t)(m >> 32);
}

static void add_row(uint64_t *sums, const rela_scored *s, size_t row)
{
    const uint32_t *stats = s->stats + row * s->k;
    for (size_t i = 0; i < s->k; i++)
        sums[i] += stats[i];
}

static double score_all(const rela_scored *s)
{
    uint64_t sums[RELA_STATS_MAX] = { 0 };
    rela_stats_add(sums, s->stats, s->n, s->k);
    return s->score(s->ctx, sums);
}

/* The added 1 is the observed outcome itself; without it the p-value would be too small. */
static double share_at_least(const double *values, size_t n, double limit)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += values[i] >= limit;
    return (double)(count + 1) / (double)(n + 1);
}

static void summarise(rela_interval *out, double *scores, size_t n)
{
    out->mean = mean(scores, n);
    qsort(scores, n, sizeof *scores, compare_doubles);
    out->low = scores[n / TAIL];
    out->high = scores[n - n / TAIL - 1];
    out->half = 0.5 * (out->high - out->low);
}

static double mean(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* SPDX-License-Identifier: MIT */
/* tests/unit/test_kern_rows.c - rows of scores to weights: every loop of every usable table against
 * a double oracle; see test_kern.c.
 *
 * The oracles of the simplex kinds sort or bisect, the loops do neither. A threshold is made from
 * sums of up to n terms, so it is known to (n + 16) roundings of its size, which is at most 1. */
#include "oracle.h"

#include <stdlib.h>

#define EXP_ERROR 2.5e-7 /* relative, of the exponential of the loops */

static double sum_roundings(size_t n)
{
    return ((double)n + 16) * EPS;
}

/* Scores of one row; every other length has large ones, every third ties. */
static float *score_box(size_t number, size_t n)
{
    float *s = random_box(number, n, n % 2 ? 1.5f : 8.0f);
    for (size_t i = 2; i < n && n % 3 == 0; i += 2)
        s[i] = s[0];
    return s;
}

static double largest(const float *s, size_t n)
{
    double top = -INFINITY;
    for (size_t i = 0; i < n; i++)
        top = fmax(top, (double)s[i]);
    return top;
}

static void check_softmax(const place *p, const float *w, const float *s, double least)
{
    const double top = largest(s, p->n);
    double sum = 0;
    for (size_t i = 0; i < p->n; i++)
        sum += (double)s[i] >= least ? exp((double)s[i] - top) : 0;
    for (size_t i = 0; i < p->n; i++) {
        const double z = (double)s[i] - top, want = (double)s[i] >= least ? exp(z) / sum : 0;
        near(p, i, (double)w[i], want, want * (sum_roundings(p->n) + 2 * EXP_ERROR - z * EPS));
    }
}

static void softmax(const place *p)
{
    float *s = score_box(0, p->n), *w = box(1, p->n), *dw = random_box(2, p->n, 1);
    double want[N_MAX], bound[N_MAX], along = 0, mass = 0;
    p->k->softmax(w, s, p->n);
    check_softmax(p, w, s, -INFINITY);
    for (size_t i = 0; i < p->n; i++) {
        along += (double)dw[i] * (double)w[i];
        mass += fabs((double)dw[i] * (double)w[i]);
    }
    for (size_t i = 0; i < p->n; i++) {
        want[i] = (double)w[i] * ((double)dw[i] - along);
        bound[i] = (double)w[i] * sum_roundings(p->n) * (fabs((double)dw[i]) + mass);
    }
    p->k->softmax_back(dw, dw, w, p->n);
    for (size_t i = 0; i < p->n; i++)
        near(p, i, (double)dw[i], want[i], bound[i]);
}

static void softmax_from(const place *p)
{
    float *s = score_box(0, p->n), *w = box(1, p->n);
    const float least = p->n ? s[p->n / 2] : 0;
    p->k->softmax_from(w, s, least, p->n);
    check_softmax(p, w, s, (double)least);
}

static void relu(const place *p)
{
    float *s = random_box(0, p->n, 1), *w = box(1, p->n), *dw = random_box(2, p->n, 1);
    float *ds = box(3, p->n);
    if (p->n > 2)
        s[p->n - 1] = NAN, s[p->n / 2] = INFINITY;
    p->k->relu(w, s, p->n);
    p->k->relu_back(ds, dw, w, p->n);
    for (size_t i = 0; i < p->n; i++) {
        CHECK(w[i] == (s[i] > 0 ? s[i] : 0), "%s n=%zu: %g", p->k->name, p->n, (double)w[i]);
        CHECK(ds[i] == (s[i] > 0 ? dw[i] : 0), "%s n=%zu: %g", p->k->name, p->n, (double)ds[i]);
    }
}

static void gelu(const place *p)
{
    float *s = random_box(0, p->n, p->n % 2 ? 1 : 6), *w = box(1, p->n);
    float *dw = random_box(2, p->n, 1), *ds = box(3, p->n);
    if (p->n > 3)
        s[0] = NAN, s[1] = -1e30f, s[2] = 1e30f;
    p->k->gelu(w, s, p->n);
    p->k->gelu_back(ds, dw, s, p->n);
    for (size_t i = p->n > 3 ? 3 : 0; i < p->n; i++) {
        const double x = (double)s[i], cdf = erfc(-x / sqrt(2)) / 2, tail = erfc(fabs(x) / sqrt(2));
        const double density = exp(-x * x / 2) / sqrt(2 * acos(-1)), d = (double)dw[i];
        const double inner = 2 * EXP_ERROR + x * x * EPS; /* of exp(-x^2/2), with its argument */
        near(p, i, (double)w[i], x * cdf, fabs(x) * (inner * tail + 2 * EPS * cdf));
        near(p, i, (double)ds[i], d * (cdf + x * density),
             fabs(d) * (inner * (tail + fabs(x) * density) + 3 * EPS));
    }
    if (p->n > 3) {
        CHECK(w[0] == 0 && ds[0] == 0, "%s: NaN has weight %g", p->k->name, (double)w[0]);
        CHECK(fabsf(w[1]) < 1e-6f && w[2] == 1e30f, "%s: %g %g", p->k->name, (double)w[1],
              (double)w[2]);
        CHECK(fabsf(ds[1]) < 1e-6f && fabsf(ds[2] - dw[2]) < 1e-6f, "%s: %g %g", p->k->name,
              (double)ds[1], (double)ds[2]);
    }
}

static void elu1(const place *p)
{
    float *x = random_box(0, p->n, 4), *y = box(1, p->n), *dy = random_box(2, p->n, 1);
    double want[N_MAX];
    p->k->elu1(y, x, p->n);
    for (size_t i = 0; i < p->n; i++)
        want[i] = (double)dy[i] * (x[i] > 0 ? 1 : exp((double)x[i]));
    p->k->elu1_back(dy, dy, x, p->n);
    for (size_t i = 0; i < p->n; i++) {
        const double v = x[i] > 0 ? (double)x[i] + 1 : exp((double)x[i]);
        near(p, i, (double)y[i], v, EXP_ERROR * v);
        near(p, i, (double)dy[i], want[i], 2 * EXP_ERROR * fabs(want[i]));
    }
}

static int falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void sorted(double *z, const float *s, size_t n, double factor)
{
    const double top = largest(s, n);
    for (size_t i = 0; i < n; i++)
        z[i] = ((double)s[i] - top) * factor;
    qsort(z, n, sizeof *z, falling);
}

/* Threshold of sparsemax from the sorted scores, relative to the largest. */
static double sparsemax_threshold(const float *s, size_t n)
{
    double z[N_MAX], sum = 0, tau = 0;
    sorted(z, s, n, 1);
    for (size_t i = 0; i < n; i++) {
        sum += z[i];
        if ((double)(i + 1) * z[i] > sum - 1)
            tau = (sum - 1) / (double)(i + 1);
    }
    return tau;
}

static void sparsemax(const place *p)
{
    const size_t n = p->n;
    float *s = score_box(0, n), *w = box(1, n), *dw = random_box(2, n, 1);
    const double tau = n ? sparsemax_threshold(s, n) : 0, top = largest(s, n);
    double sum = 0, support = 0, want[N_MAX];
    p->k->sparsemax(w, s, n);
    for (size_t i = 0; i < n; i++) {
        near(p, i, (double)w[i], fmax(0, (double)s[i] - top - tau), sum_roundings(n) + 16 * EPS);
        sum += w[i] > 0 ? (double)dw[i] : 0;
        support += w[i] > 0;
    }
    for (size_t i = 0; i < n; i++)
        want[i] = w[i] > 0 ? (double)dw[i] - sum / support : 0;
    p->k->sparsemax_back(dw, dw, w, n);
    for (size_t i = 0; i < n; i++)
        near(p, i, (double)dw[i], want[i], w[i] > 0 ? 2 * sum_roundings(n) : 0);
}

/* Threshold of 1.5-entmax for halved scores, from running means of the sorted ones. */
static double entmax15_threshold(const float *s, size_t n)
{
    double z[N_MAX], mean = 0, square = 0, tau = -1;
    sorted(z, s, n, 0.5);
    for (size_t i = 0; i < n; i++) {
        const double k = (double)(i + 1);
        mean += (z[i] - mean) / k;
        square += (z[i] * z[i] - square) / k;
        const double delta = (1 - k * (square - mean * mean)) / k;
        const double t = mean - sqrt(fmax(0, delta));
        if (t <= z[i])
            tau = t;
    }
    return tau;
}

static void entmax15(const place *p)
{
    const size_t n = p->n;
    float *s = score_box(0, n), *w = box(1, n), *dw = random_box(2, n, 1);
    const double tau = n ? entmax15_threshold(s, n) : 0, top = largest(s, n);
    double sum = 0, along = 0, want[N_MAX];
    p->k->entmax15(w, s, n);
    for (size_t i = 0; i < n; i++) {
        const double x = fmax(0, ((double)s[i] - top) / 2 - tau),
                     slack = sum_roundings(n) + 8 * EPS;
        near(p, i, (double)w[i], x * x, (2 * x + slack) * slack);
        sum += sqrt((double)w[i]);
        along += sqrt((double)w[i]) * (double)dw[i];
    }
    for (size_t i = 0; i < n; i++)
        want[i] = sqrt((double)w[i]) * ((double)dw[i] - along / sum);
    p->k->entmax15_back(dw, dw, w, n);
    for (size_t i = 0; i < n; i++)
        near(p, i, (double)dw[i], want[i], 2 * sqrt((double)w[i]) * sum_roundings(n));
}

static double power_weight(double x, double b)
{
    return x > 0 ? pow(x, 1 / b) : 0;
}

/* 1 + b * (the shift), so that the weights are max(0, b z + value)^(1/b); by bisection. */
static double entmax_level(const float *s, size_t n, double b)
{
    double lo = 0, hi = 1;
    const double top = largest(s, n);
    for (int pass = 0; pass < 100; pass++) {
        const double mid = (lo + hi) / 2;
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += power_weight(b * ((double)s[i] - top) + mid, b);
        if (sum < 1)
            lo = mid;
        else
            hi = mid;
    }
    return hi;
}

/* How much a weight may be off if x is known to the slack. */
static double weight_slack(double x, double slack, double b)
{
    const double want = power_weight(x, b);
    return fmax(power_weight(x + slack, b) - want, want - power_weight(x - slack, b));
}

static void check_entmax(const place *p, double b)
{
    const size_t n = p->n;
    float *s = score_box(0, n), *w = box(1, n);
    const double level = n ? entmax_level(s, n, b) : 0, top = largest(s, n);
    /* the shift c is known to so much, and x = 1 + b (z - c) rounds at its two sums */
    const double slack = b * (sum_roundings(n) + 8 * EPS) + 2 * EPS * (b < 0.5 ? b : 1);
    double sum = 0, off = sum_roundings(n);
    p->k->entmax(w, s, (real)b, n);
    for (size_t i = 0; b > 1 && i < n; i++) /* infinitely steep at 0: one weight moves the sum */
        off += weight_slack(b * ((double)s[i] - top) + level, slack, b);
    for (size_t i = 0; i < n; i++) {
        const double x = b * ((double)s[i] - top) + level, want = power_weight(x, b);
        near(p, i, (double)w[i], want, weight_slack(x, slack, b) + want * (off + 2 * EXP_ERROR));
        sum += (double)w[i];
    }
    if (n)
        near(p, n, sum, 1, sum_roundings(n));
}

static void check_entmax_back(const place *p, double b)
{
    const size_t n = p->n;
    float *s = score_box(0, n), *w = box(1, n), *dw = random_box(2, n, 1), *ds = box(3, n);
    p->k->entmax(w, s, (real)b, n);
    double mass = 0, along = 0, slope[N_MAX], want = 0, bound = 0;
    for (size_t i = 0; i < n; i++) {
        slope[i] = w[i] > 0 ? pow((double)w[i], 1 - b) : 0;
        mass += slope[i];
        along += slope[i] * (double)dw[i];
    }
    const double got = (double)p->k->entmax_back(ds, dw, w, (real)b, n);
    for (size_t i = 0; i < n; i++) {
        const double v = w[i] > 0 ? -b * log((double)w[i]) : 0, d = (double)dw[i] - along / mass;
        const double exact = -(expm1(v) - v) * (double)w[i] / (b * b);
        const double inner = sum_roundings(n) + 2 * EXP_ERROR + 2 * v * EPS;
        near(p, i, (double)ds[i], slope[i] * d, slope[i] * inner * 2);
        want += d * exact;
        bound += inner * (2 * fabs(exact) + (v < 0.5 ? 0 : exp(v) * (double)w[i] / (b * b)));
    }
    near(p, n, got, want, bound * 2);
}

static void entmax(const place *p)
{
    static const double B[] = { 1e-5, 0.01, 0.25, 0.5, 0.75, 1 };
    for (size_t i = 0; i < sizeof B / sizeof B[0]; i++) {
        check_entmax(p, (double)(float)B[i]);
        check_boxes(p->k->name, p->what, p->n);
        check_entmax_back(p, (double)(float)B[i]);
        check_boxes(p->k->name, p->what, p->n);
    }
    check_entmax(p, 1.5);
}

static void every_loop_agrees_with_the_oracle(void **state)
{
    (void)state;
    static const loop_check CHECKS[] = {
        { "softmax", softmax },   { "softmax_from", softmax_from },
        { "relu", relu },         { "gelu", gelu },
        { "elu1", elu1 },         { "sparsemax", sparsemax },
        { "entmax15", entmax15 }, { "entmax", entmax },
    };
    run_checks(CHECKS, sizeof CHECKS / sizeof CHECKS[0]);
}

/* Through elu1, which is the bare exponential below zero. */
static void exponential_is_accurate_everywhere(void **state)
{
    (void)state;
    enum { N = 1024 };
    static float x[N], y[N];
    for (size_t level = 0; rela_kern_at(level); level++) {
        double worst = 0;
        for (int part = 0; part < 200; part++) {
            for (size_t i = 0; i < N; i++)
                x[i] = -87.0f * (float)(part * N + (int)i) / (200.0f * N);
            rela_kern_at(level)->elu1(y, x, N);
            for (size_t i = 0; i < N; i++)
                worst = fmax(worst, fabs((double)y[i] / exp((double)x[i]) - 1));
        }
        print_message("%-10s exponential to %.2g\n", rela_kern_at(level)->name, worst);
        CHECK(worst < 1.2e-7, "%s: %g", rela_kern_at(level)->name, worst);
    }
}

/* Adding a constant to all scores changes nothing, however large it is, and huge gaps are fine. */
static void simplex_weights_survive_any_scale(void **state)
{
    (void)state;
    static const float ROWS[][3] = { { 1e30f, -1e30f, -1e30f },
                                     { -1e30f, -1e30f, -1e30f },
                                     { 1e30f, 1e30f, -3e38f },
                                     { 1e-30f, 0, -1e-30f } };
    static const double WANT[][3] = {
        { 1, 0, 0 }, { 1 / 3.0, 1 / 3.0, 1 / 3.0 }, { 0.5, 0.5, 0 }, { 1 / 3.0, 1 / 3.0, 1 / 3.0 }
    };
    for (size_t level = 0; rela_kern_at(level); level++)
        for (size_t r = 0; r < 4; r++)
            for (int which = 0; which < 5; which++) {
                const rela_kern *k = rela_kern_at(level);
                float w[3];
                const place p = { k, "scale", r };
                if (which == 0)
                    k->softmax(w, ROWS[r], 3);
                else if (which == 1)
                    k->sparsemax(w, ROWS[r], 3);
                else if (which == 2)
                    k->entmax15(w, ROWS[r], 3);
                else
                    k->entmax(w, ROWS[r], which == 3 ? 0.3f : 2.0f, 3);
                for (size_t i = 0; i < 3; i++)
                    near(&p, i, (double)w[i], WANT[r][i], 4 * EPS);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_loop_agrees_with_the_oracle),
        cmocka_unit_test(exponential_is_accurate_everywhere),
        cmocka_unit_test(simplex_weights_survive_any_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

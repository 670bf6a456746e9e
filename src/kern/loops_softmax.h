/* SPDX-License-Identifier: MIT */
/* src/kern/loops_softmax.h - rows of scores and of logits: softmax, rectifier, loss. Part of
 * loops.h. */

/* ---- rows of scores, rows of logits ---- */

static inline real row_max(const real *s, size_t n)
{
    real top = s[0];
    SIMD_MAX(top)
    for (size_t i = 0; i < n; i++)
        top = s[i] > top ? s[i] : top;
    return top;
}

/* a where test is true, b elsewhere. */
static inline vec either(vec_mask test, vec a, vec b)
{
    return (vec)(((vec_mask)a & test) | ((vec_mask)b & ~test));
}

#ifndef LEVEL_LANES
/* Lane-wise maximum; b if either is NaN. */
static inline vec larger(vec a, vec b)
{
    return either(a > b, a, b);
}

/* exp(x) of all lanes, for x <= 0 or NaN. Below -87 the result is 0: products with so small a
 * number would be subnormal, which takes a hundred times as long. */
static inline vec exp_lanes(vec x)
{
    real y[LANES];
    memcpy(y, &x, sizeof y);
    SIMD for (size_t i = 0; i < LANES; i++)
    {
        const bool low = sizeof(real) == sizeof(float) && y[i] < -87;
        const real e = exp_within(low ? -87 : y[i]);
        y[i] = low ? 0 : e;
    }
    memcpy(&x, y, sizeof y);
    return x;
}

/* Loads the first n lanes of a vector, the others being rest; stores the first n lanes. */
static inline vec load_some(const real *s, size_t n, real rest)
{
    vec y = (vec){ 0 } + rest;
    memcpy(&y, s, n * sizeof *s);
    return y;
}

static inline void store_some(real *w, vec y, size_t n)
{
    memcpy(w, &y, n * sizeof *w);
}
#endif

/* Loads the vector at i of a row of n, padded with numbers below every score; stores it. */
static inline vec row_vector(const real *s, size_t i, size_t n)
{
    if (i + LANES <= n)
        return *(const vec *)(s + i);
    return load_some(s + i, n - i, (real)-3e38);
}

static inline void put_vector(real *w, vec y, size_t i, size_t n)
{
    if (i + LANES <= n)
        *(vec *)(w + i) = y;
    else
        store_some(w + i, y, n - i);
}

static void softmax(real *w, const real *s, size_t n)
{
    if (n == 0)
        return;
    const size_t whole = n / LANES * LANES;
    vec high = row_vector(s, 0, n), sum = { 0 };
    for (size_t i = LANES; i < n; i += LANES)
        high = larger(row_vector(s, i, n), high);
    const real top = lane_max(high);
    for (size_t i = 0; i < whole; i += LANES) {
        const vec y = exp_lanes(*(const vec *)(s + i) - top);
        *(vec *)(w + i) = y;
        sum += y;
    }
    vec last = { 0 };
    if (whole < n)
        sum += last = exp_lanes(row_vector(s, whole, n) - top);
    const real factor = 1 / lane_sum(sum);
    for (size_t i = 0; i < whole; i += LANES)
        *(vec *)(w + i) *= factor;
    if (whole < n)
        store_some(w + whole, last * factor, n - whole);
}

static void softmax_part(real *w, real *top, real *sum, real *z, size_t rows, size_t n, size_t wide)
{
    for (size_t r = 0; r < rows; r++, w += n, z += wide) {
        vec high = *(const vec *)w, part = { 0 };
        for (size_t i = LANES; i < n; i += LANES)
            high = larger(*(const vec *)(w + i), high);
        const real old = top[r], here = lane_max(high);
        if (!(sum[r] > 0)) {
            top[r] = here;
        } else if (here > old) {
            const real less = fast_exp(old - here);
            scale(z, less, wide);
            sum[r] *= less;
            top[r] = here;
        }
        for (size_t i = 0; i < n; i += LANES) {
            const vec y = exp_lanes(*(const vec *)(w + i) - top[r]);
            *(vec *)(w + i) = y;
            part += y;
        }
        sum[r] += lane_sum(part);
    }
}

static void softmax_across(real *w, const real *top, const real *factor, size_t n, size_t queries)
{
    for (size_t i = 0; i < queries; i += LANES) {
        const vec less = *(const vec *)(top + i), times = *(const vec *)(factor + i);
        for (size_t j = 0; j < n; j++) {
            vec *x = (vec *)(w + j * queries + i);
            *x = exp_lanes(*x - less) * times;
        }
    }
}

static void softmax_across_back(real *dw, const real *w, const real *along, size_t n,
                                size_t queries)
{
    for (size_t i = 0; i < queries; i += LANES) {
        const vec less = *(const vec *)(along + i);
        for (size_t j = 0; j < n; j++) {
            vec *x = (vec *)(dw + j * queries + i);
            *x = *(const vec *)(w + j * queries + i) * (*x - less);
        }
    }
}

static void softmax_back(real *ds, const real *dw, const real *w, size_t n)
{
    const size_t whole = n / LANES * LANES, rest = n - whole;
    vec sum = { 0 }, last = sum, dlast = sum;
    for (size_t i = 0; i < whole; i += LANES)
        sum += *(const vec *)(dw + i) * *(const vec *)(w + i);
    if (rest) {
        last = load_some(w + whole, rest, 0);
        dlast = load_some(dw + whole, rest, 0);
        sum += last * dlast;
    }
    const real along = lane_sum(sum);
    for (size_t i = 0; i < whole; i += LANES)
        *(vec *)(ds + i) = *(const vec *)(w + i) * (*(const vec *)(dw + i) - along);
    if (rest)
        store_some(ds + whole, last * (dlast - along), rest);
}

static void relu(real *w, const real *s, size_t n)
{
    SIMD for (size_t i = 0; i < n; i++) w[i] = s[i] > 0 ? s[i] : 0;
}

#include "kern/loops_weights.h"

/* With target q, loss = lse - sum q z. q = smooth/(n-1) everywhere plus the rest on gold, so only
 * the sum of all logits is needed besides log-sum-exp. */
static double loss_row(real *z, size_t n, size_t gold, real smooth, real grad_scale, double *nll)
{
    const real top = row_max(z, n);
    const real at_gold = z[gold];
    real sum = 0, plain = 0;
    SIMD_TEXT(omp simd reduction(+ : sum, plain))
    for (size_t i = 0; i < n; i++) {
        plain += z[i] - top; /* relative to the maximum: no cancellation when logits are large */
        z[i] = fast_exp(z[i] - top);
        sum += z[i];
    }
    const double base = n > 1 ? (double)smooth / (double)(n - 1) : 0;
    const double peak = 1 - (double)smooth - base;
    const double lse = log((double)sum); /* of z - top */
    const real factor = grad_scale / sum, less = grad_scale * (real)base;
    SIMD for (size_t i = 0; i < n; i++) z[i] = z[i] * factor - less;
    z[gold] -= grad_scale * (real)peak;
    *nll = lse - (double)(at_gold - top);
    return lse - peak * (double)(at_gold - top) - base * (double)plain;
}

static void log_softmax(real *y, const real *z, size_t n)
{
    if (n == 0)
        return;
    const real top = row_max(z, n);
    real sum = 0;
    SIMD_SUM(sum)
    for (size_t i = 0; i < n; i++)
        sum += fast_exp(z[i] - top);
    const real lse = top + (real)log((double)sum);
    SIMD for (size_t i = 0; i < n; i++) y[i] = z[i] - lse;
}

/* With p, q = softmax a, b and r = log p - log q, KL(a, b) = sum p r, whose gradient is
 * p (r - KL(a, b)) for a and q - p for b. */
static double loss_pairs(real *a, real *b, size_t n, size_t gold, const rela_r_drop_pairs *o,
                         double *nll)
{
    log_softmax(a, a, n);
    log_softmax(b, b, n);
    const double at_gold = (double)a[gold] + (double)b[gold];
    real plain = 0, ab = 0, ba = 0;
    SIMD_TEXT(omp simd reduction(+ : plain, ab, ba))
    for (size_t i = 0; i < n; i++) {
        const real apart = a[i] - b[i];
        plain += a[i] + b[i];
        ab += fast_exp(a[i]) * apart;
        ba -= fast_exp(b[i]) * apart;
    }
    const double base = n > 1 ? (double)o->smooth / (double)(n - 1) : 0;
    const double peak = 1 - (double)o->smooth - base;
    const real half = o->scale / 2, pull = o->kl_weight / 2, less = (real)base;
    SIMD for (size_t i = 0; i < n; i++)
    {
        const real p = fast_exp(a[i]), q = fast_exp(b[i]), apart = a[i] - b[i], more = p - q;
        a[i] = half * (p - less + pull * (p * (apart - ab) + more));
        b[i] = half * (q - less - pull * (q * (apart + ba) + more));
    }
    a[gold] -= half * (real)peak;
    b[gold] -= half * (real)peak;
    *nll = -at_gold / 2;
    return -(peak * at_gold + base * (double)plain) / 2 +
           (double)o->kl_weight * ((double)ab + (double)ba) / 4;
}

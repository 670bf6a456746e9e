/* SPDX-License-Identifier: MIT */
/* src/kern/loops.h - the loops of kern.h, written once; included by the file of each level.
 *
 * Before it is included, define VECTOR_BYTES, the width of a vector register, REGISTERS, how many
 * there are (default 16), and LEVEL, the name of the table.
 * Most loops are plain C that compilers vectorise (`omp simd` allows the reordering of sums that
 * this needs); the rest use vector types. Everything is static, so that the linker cannot pick code
 * for wide instructions for other files. */
#include "kern/kern.h"

#include <math.h>
#include <string.h>

#define SIMD           _Pragma("omp simd")
#define SIMD_SUM(x)    SIMD_TEXT(omp simd reduction(+ : x))
#define SIMD_MAX(x)    SIMD_TEXT(omp simd reduction(max : x))
#define SIMD_TEXT(...) _Pragma(#__VA_ARGS__)

#ifndef REGISTERS
#define REGISTERS 16
#endif

enum { LANES = VECTOR_BYTES / sizeof(real) };

typedef real vec __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));

typedef __typeof__((vec){ 0 } > (vec){ 0 }) vec_mask;

/* ---- lanes ---- */

/* A level with better instructions defines LEVEL_LANES and all functions guarded by it. */
#ifndef LEVEL_LANES
static inline real lane_sum(vec v)
{
    real part[LANES];
    memcpy(part, &v, sizeof v);
    for (size_t half = LANES / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++)
            part[i] += part[i + half];
    return part[0];
}

static inline real lane_max(vec v)
{
    real top = v[0];
    for (size_t i = 1; i < LANES; i++)
        top = v[i] > top ? v[i] : top;
    return top;
}

/* Bit i is set if lane i is above x. */
static inline uint32_t above(const real *z, real x)
{
    uint32_t lanes = 0;
    for (size_t i = 0; i < LANES; i++)
        lanes |= (uint32_t)(z[i] > x) << i;
    return lanes;
}

/* The sums of the lanes of two vectors. */
static inline void two_sums(real *sums, vec a, vec b)
{
    sums[0] = lane_sum(a);
    sums[1] = lane_sum(b);
}
#endif

/* ---- scalar helpers, branch-free, so that loops over them are vectorised ---- */

static inline real rmax(real a, real b)
{
    return a > b ? a : b;
}

/* max(x, 0). NaN stays NaN: an overflow must reach the logits, where it is detected. */
static inline real relu_of(real x)
{
    return 0 > x ? 0 : x;
}

/* 1 / sqrt(square + eps), but NaN if square is infinite: 0 would hide the overflow. */
static inline real inverse_root(real square, real eps)
{
    return 1 / (real)sqrt((double)(square + eps)) + 0 * square;
}

/* exp(x) by 2^n * e^r, |r| <= ln(2)/2, polynomial of degree 6 (Cephes coefficients); relative
 * error below 2e-7 in float, for x in [-87, 88]. */
static inline real exp_within(real x)
{
    if (sizeof(real) == sizeof(double))
        return (real)exp((double)x);
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer */
    const float f = (float)x;
    const float shifted = f * 1.44269504f + magic;
    const float n = shifted - magic;
    float r = f - n * 0.693359375f;
    r = r - n * -2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    union {
        float f;
        uint32_t i; /* unsigned: NaN must wrap, not overflow */
    } two_n = { .f = shifted };
    two_n.i = (two_n.i - 0x4B400000u + 127u) << 23;
    return (real)(p * two_n.f);
}

/* The same for any x, clamped to where the result is finite and normal. */
static inline real fast_exp(real x)
{
    if (sizeof(real) == sizeof(float)) {
        x = x < -87 ? -87 : x;
        x = x > 88 ? 88 : x;
    }
    return exp_within(x);
}

/* Clamped well inside the normal range: compilers compute the clamped case for all lanes, and
 * products with subnormals take a hundred times as long. */
static inline real sigmoid(real x)
{
    x = x < -40 ? -40 : x;
    x = x > 40 ? 40 : x;
    return 1 / (1 + exp_within(-x));
}

static inline uint32_t drop_hash(uint32_t key0, uint32_t key1, uint32_t position)
{
    uint32_t x = position * 0x9E3779B1u + key0;
    x ^= x >> 16;
    x *= 0x7FEB352Du;
    x ^= key1;
    x ^= x >> 15;
    x *= 0x846CA68Bu;
    x ^= x >> 16;
    return x;
}

/* The factor of one element: 0 or scale. */
static inline real drop_factor(const rela_drop *d, uint32_t position)
{
    return drop_hash(d->key[0], d->key[1], position) < d->threshold ? 0 : d->scale;
}

#include "kern/loops_products.h"

/* ---- vectors ---- */

static void cut(real *x, size_t n, real value)
{
    real y[LANES], *last = x + n / LANES * LANES;
    const size_t rest = n % LANES;
    if (rest == 0)
        return;
    memcpy(y, last, sizeof y);
    SIMD for (size_t i = 0; i < LANES; i++) y[i] = i < rest ? y[i] : value;
    memcpy(last, y, sizeof y); /* stored as a whole vector, as it will be loaded */
}

static real dot(const real *x, const real *y, size_t n)
{
    real sum = 0;
    SIMD_SUM(sum)
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static real sum_squares(const real *x, size_t n)
{
    return dot(x, x, n);
}

static real zero_if_finite(const real *x, size_t n)
{
    enum { CHAINS = 4 }; /* hide the latency of the multiply-add */
    vec sum[CHAINS] = { { 0 } };
    real rest = 0;
    size_t i = 0;
    for (; i + CHAINS * LANES <= n; i += CHAINS * LANES)
        UNROLL for (size_t c = 0; c < CHAINS; c++)
        {
            const vec v = *(const vec *)(x + i + c * LANES);
            sum[c] += v * v;
        }
    for (; i + LANES <= n; i += LANES)
        sum[0] += *(const vec *)(x + i) * *(const vec *)(x + i);
    for (; i < n; i++)
        rest += x[i] * x[i];
    return 0 * (lane_sum((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest);
}

static void axpy(real *restrict y, real a, const real *restrict x, size_t n)
{
    SIMD for (size_t i = 0; i < n; i++) y[i] += a * x[i];
}

static void scale(real *y, real a, size_t n)
{
    SIMD for (size_t i = 0; i < n; i++) y[i] *= a;
}

static void add_bias(real *restrict y, const real *restrict b, size_t rows, size_t n)
{
    for (size_t r = 0; r < rows; r++)
        axpy(y + r * n, 1, b, n);
}

static void sum_rows(real *restrict db, const real *restrict dy, size_t rows, size_t n)
{
    for (size_t r = 0; r < rows; r++)
        axpy(db, 1, dy + r * n, n);
}

/* ---- feed-forward ---- */

static void bias_relu(real *restrict y, const real *restrict b, size_t rows, size_t n,
                      const rela_drop *drop)
{
    const rela_drop d = *drop;
    for (size_t r = 0; r < rows; r++) {
        real *row = y + r * n;
        const uint32_t first = d.first + (uint32_t)(r * n);
        if (d.threshold == 0) {
            SIMD for (size_t i = 0; i < n; i++) row[i] = relu_of(row[i] + b[i]);
        } else {
            SIMD for (size_t i = 0; i < n; i++) row[i] =
                relu_of(row[i] + b[i]) * drop_factor(&d, first + (uint32_t)i);
        }
    }
}

static void bias_relu_back(real *restrict dy, real *restrict db, const real *restrict h,
                           size_t rows, size_t n, real keep_scale)
{
    for (size_t r = 0; r < rows; r++) {
        real *row = dy + r * n;
        const real *out = h + r * n;
        SIMD for (size_t i = 0; i < n; i++)
        {
            row[i] = out[i] > 0 ? row[i] * keep_scale : 0;
            db[i] += row[i];
        }
    }
}

static void dropout(real *y, size_t n, const rela_drop *drop)
{
    const rela_drop d = *drop;
    if (d.threshold == 0)
        return;
    SIMD for (size_t i = 0; i < n; i++) y[i] *= drop_factor(&d, d.first + (uint32_t)i);
}

#include "kern/loops_norms.h"

#include "kern/loops_softmax.h"

/* ---- optimiser ---- */

static void adam(real *restrict p, real *restrict m, real *restrict v, const real *restrict g,
                 size_t n, const rela_adam *o)
{
    const rela_adam k = *o;
    SIMD for (size_t i = 0; i < n; i++)
    {
        const real x = g[i] * k.grad_scale;
        const real mean = m[i] + (1 - k.beta1) * (x - m[i]);
        const real square = v[i] + (1 - k.beta2) * (x * x - v[i]);
        m[i] = mean;
        v[i] = square;
#if defined(RELA_REAL_IS_DOUBLE)
        const real root = sqrt(square);
#else
        const real root = sqrtf(square);
#endif
        p[i] -= k.decay * p[i] + k.rate * mean / (root + k.epsilon);
    }
}

#include "kern/loops_rows.h"

#include "kern/loops_select.h"

#include "kern/loops_sparse.h"

#include "kern/loops_bytes.h"

#include "kern/loops_prefilter.h"

#include "kern/loops_mix_prefiltered.h"

/* ---- peak throughput ---- */

/* Enough to hide the latency of a multiply-add, few enough for the registers. */
#ifndef PEAK_CHAINS
#define PEAK_CHAINS 12
#endif

static double multiply_adds(real *end, size_t n)
{
    volatile real half = (real)0.5, rest = 0; /* prevents constant folding */
    const vec factor = (vec){ 0 } + half, one = factor + factor;
    vec chain[PEAK_CHAINS];
    for (size_t i = 0; i < PEAK_CHAINS; i++)
        chain[i] = one * (real)(i + 1);
    for (size_t p = 0; p < n; p++)
        for (size_t i = 0; i < PEAK_CHAINS; i++)
            chain[i] = chain[i] * factor + one;
    for (size_t i = 1; i < PEAK_CHAINS; i++)
        rest += chain[i][0];
    *end = chain[0][0];
    return 2.0 * (double)n * PEAK_CHAINS * LANES;
}

const rela_kern LEVEL = {
    .name = LEVEL_NAME,
    .lanes = LANES,
    .prefilters = BYTE_PREFILTERS,
    .mm = mm,
    .transpose = transpose,
    .scale_rows = scale_rows,
    .cut = cut,
    .dot = dot,
    .sum_squares = sum_squares,
    .zero_if_finite = zero_if_finite,
    .axpy = axpy,
    .scale = scale,
    .add_bias = add_bias,
    .sum_rows = sum_rows,
    .bias_relu = bias_relu,
    .bias_relu_back = bias_relu_back,
    .dropout = dropout,
    .dropout_across = dropout_across,
    .residual_norm = residual_norm,
    .residual_norm_back = residual_norm_back,
    .gated_norm = gated_norm,
    .gated_norm_back = gated_norm_back,
    .softmax = softmax,
    .softmax_part = softmax_part,
    .softmax_across = softmax_across,
    .softmax_across_back = softmax_across_back,
    .softmax_back = softmax_back,
    .relu = relu,
    .relu_back = relu_back,
    .gelu = gelu,
    .gelu_back = gelu_back,
    .elu1 = elu1,
    .elu1_back = elu1_back,
    .softmax_from = softmax_from,
    .sparsemax = sparsemax,
    .sparsemax_back = sparsemax_back,
    .entmax15 = entmax15,
    .entmax15_back = entmax15_back,
    .entmax = entmax,
    .entmax_back = entmax_back,
    .count_above = count_above,
    .note_above = note_above,
    .transpose_mask = transpose_mask,
    .mix_few = mix_few,
    .rectified_back = rectified_back,
    .loss_row = loss_row,
    .loss_pairs = loss_pairs,
    .log_softmax = log_softmax,
    .adam = adam,
    .panel = PANEL,
    .pack = pack,
    .unpack = unpack,
    .pack_at = pack_at,
    .pick = pick,
    .packed = packed,
    .pack_bytes = pack_bytes,
    .unpack_bytes = unpack_bytes,
    .pick_bytes = pick_bytes,
    .bytes = bytes,
    .packed_bytes = packed_bytes,
    .gather_scores = gather_scores,
    .gather_mix = gather_mix,
    .exp_sum = exp_sum,
    .top = top,
    .prefilter_queries = prefilter_queries,
    .prefilter_keys = prefilter_keys,
    .prefilter = prefilter,
    .drop_bits = drop_bits,
    .mix_prefiltered = mix_prefiltered,
    .multiply_adds = multiply_adds,
};

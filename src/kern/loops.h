/* SPDX-License-Identifier: MIT */
/* src/kern/loops.h - the loops of kern.h, written once; included by the file of each level.
 *
 * Before it is included, VECTOR_BYTES names the width of a vector register, REGISTERS how many
 * there are (16 unless it is said) and LEVEL the table.
 * The loops are plain C that compilers turn into vector code (`omp simd` allows the reordering of
 * sums that this needs); only the small product is written with vector types. Everything is
 * static, so that no code for wide instructions can be picked by the linker for other files. */
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

/* Levels that have instructions for lanes define all that is asked for in this way. */
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

/* ---- scalar helpers, all without branches, so that loops over them become vector code ---- */

static inline real rmax(real a, real b)
{
    return a > b ? a : b;
}

/* The larger of x and 0. NaN stays NaN: an overflow must reach the logits, where it is found. */
static inline real relu_of(real x)
{
    return 0 > x ? 0 : x;
}

/* 1 / sqrt(square + eps), but NaN if the square has overflowed: a row of zeros would hide it. */
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

/* Clamped well inside the normal numbers: compilers compute the clamped case for all lanes, and a
 * product with a subnormal number takes a hundred times as long as any other. */
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

/* ---- small products ---- */

/* Constants once it is inlined: the loops below then unfold. */
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")

enum { ROWS_MOST = REGISTERS == 32 ? 12 : 6 }; /* by two vectors: sums that fit the registers */

/* A block of R rows by V vectors, kept in registers over the whole of k. */
INLINE void mm_block(real *c, size_t ldc, const real *a, size_t a_row, size_t a_col, const real *b,
                     size_t ldb, size_t k, bool add, size_t R, size_t V)
{
    vec sum[ROWS_MOST][4];
    UNROLL for (size_t i = 0; i < R; i++) UNROLL for (size_t j = 0; j < V; j++) sum[i][j] =
        add ? *(const vec *)(c + i * ldc + j * LANES) : (vec){ 0 };
    for (size_t p = 0; p < k; p++) {
        vec row[4];
        UNROLL for (size_t j = 0; j < V; j++) row[j] = *(const vec *)(b + p * ldb + j * LANES);
        UNROLL for (size_t i = 0; i < R; i++)
        {
            const real x = a[i * a_row + p * a_col];
            UNROLL for (size_t j = 0; j < V; j++) sum[i][j] += x * row[j];
        }
    }
    UNROLL for (size_t i = 0; i < R; i++) UNROLL for (size_t j = 0; j < V; j++) *
        (vec *)(c + i * ldc + j * LANES) = sum[i][j];
}

/* V vectors of columns, all rows. */
INLINE void mm_columns(real *c, size_t ldc, const real *a, size_t a_row, size_t a_col,
                       const real *b, size_t ldb, size_t m, size_t k, bool add, size_t V)
{
    enum { HALF = ROWS_MOST / 2 };
    size_t i = 0;
    for (; V <= 2 && i + ROWS_MOST <= m; i += ROWS_MOST)
        mm_block(c + i * ldc, ldc, a + i * a_row, a_row, a_col, b, ldb, k, add, ROWS_MOST, V);
    for (; i + HALF <= m && (REGISTERS == 32 ? m - i != 8 : (m - i) % 4 != 0); i += HALF)
        mm_block(c + i * ldc, ldc, a + i * a_row, a_row, a_col, b, ldb, k, add, HALF, V);
    for (; i + 4 <= m; i += 4) /* the least that keeps the multipliers busy */
        mm_block(c + i * ldc, ldc, a + i * a_row, a_row, a_col, b, ldb, k, add, 4, V);
    for (; i + 2 <= m; i += 2)
        mm_block(c + i * ldc, ldc, a + i * a_row, a_row, a_col, b, ldb, k, add, 2, V);
    for (; i < m; i++)
        mm_block(c + i * ldc, ldc, a + i * a_row, a_row, a_col, b, ldb, k, add, 1, V);
}

/* The last columns, fewer than a vector: same order of sums as above, one element at a time. */
static void mm_tail(real *c, size_t ldc, const real *a, size_t a_row, size_t a_col, const real *b,
                    size_t ldb, size_t m, size_t n, size_t k, bool add)
{
    for (size_t i = 0; i < m; i++) {
        real sum[LANES];
        for (size_t j = 0; j < n; j++)
            sum[j] = add ? c[i * ldc + j] : 0;
        for (size_t p = 0; p < k; p++) {
            const real x = a[i * a_row + p * a_col];
            for (size_t j = 0; j < n; j++)
                sum[j] += x * b[p * ldb + j];
        }
        for (size_t j = 0; j < n; j++)
            c[i * ldc + j] = sum[j];
    }
}

static void mm(real *c, size_t ldc, const real *a, size_t a_row, size_t a_col, const real *b,
               size_t ldb, size_t m, size_t n, size_t k, bool add)
{
    size_t j = 0;
    for (; ROWS_MOST > 6 && j + 4 * LANES <= n; j += 4 * LANES) /* a is read less often */
        mm_columns(c + j, ldc, a, a_row, a_col, b + j, ldb, m, k, add, 4);
    for (; j + 2 * LANES <= n; j += 2 * LANES)
        mm_columns(c + j, ldc, a, a_row, a_col, b + j, ldb, m, k, add, 2);
    for (; j + LANES <= n; j += LANES)
        mm_columns(c + j, ldc, a, a_row, a_col, b + j, ldb, m, k, add, 1);
    if (j < n)
        mm_tail(c + j, ldc, a, a_row, a_col, b + j, ldb, m, n - j, k, add);
}

static void transpose(real *restrict y, size_t ldy, const real *restrict x, size_t ldx, size_t rows,
                      size_t n)
{
    enum { BLOCK = 16 };
    for (size_t i0 = 0; i0 < rows; i0 += BLOCK)
        for (size_t j0 = 0; j0 < n; j0 += BLOCK) {
            const size_t i1 = i0 + BLOCK < rows ? i0 + BLOCK : rows;
            const size_t j1 = j0 + BLOCK < n ? j0 + BLOCK : n;
            for (size_t j = j0; j < j1; j++)
                for (size_t i = i0; i < i1; i++)
                    y[j * ldy + i] = x[i * ldx + j];
        }
}

static void scale_rows(real *restrict to, size_t ldt, const real *restrict from, size_t ldf,
                       size_t rows, size_t n, size_t wide, const real *factor, size_t step)
{
    const size_t whole = n / LANES * LANES;
    for (size_t r = 0; r < rows; r++, to += ldt, from += ldf, factor += step) {
        const real times = *factor;
        for (size_t i = 0; i < whole; i += LANES)
            *(vec *)(to + i) = *(const vec *)(from + i) * times;
        for (size_t i = whole; i < n; i++)
            to[i] = from[i] * times;
        for (size_t i = n; i < wide; i++)
            to[i] = 0;
    }
}

/* ---- vectors ---- */

static void cut(real *x, size_t n, real value)
{
    real y[LANES], *last = x + n / LANES * LANES;
    const size_t rest = n % LANES;
    if (rest == 0)
        return;
    memcpy(y, last, sizeof y);
    SIMD for (size_t i = 0; i < LANES; i++) y[i] = i < rest ? y[i] : value;
    memcpy(last, y, sizeof y); /* a whole vector, as it will be read */
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

/* ---- residual sum and LayerNorm ---- */

/* r = x + dropout(a + b); returns the sum of r. */
static inline real residual_row(real *r, const real *x, const real *a, const real *b, size_t d,
                                const rela_drop *drop, uint32_t first)
{
    real sum = 0;
    if (drop->threshold == 0) {
        SIMD_SUM(sum)
        for (size_t i = 0; i < d; i++) {
            const real v = (x ? x[i] : 0) + a[i] + (b ? b[i] : 0);
            r[i] = v;
            sum += v;
        }
    } else {
        const rela_drop k = *drop;
        SIMD_SUM(sum)
        for (size_t i = 0; i < d; i++) {
            const real v = (a[i] + (b ? b[i] : 0)) * drop_factor(&k, first + (uint32_t)i);
            r[i] = (x ? x[i] : 0) + v;
            sum += r[i];
        }
    }
    return sum;
}

static void residual_norm(real *y, real *r, rela_norm_stats *stats, const real *x, const real *a,
                          const real *b, const real *gain, const real *offset, size_t rows,
                          size_t d, real eps, const rela_drop *drop)
{
    for (size_t t = 0; t < rows; t++) {
        real *rr = r + t * d, *yy = y + t * d;
        const real sum = residual_row(rr, x ? x + t * d : NULL, a + t * d, b, d, drop,
                                      drop->first + (uint32_t)(t * d));
        const real mean = sum / (real)d;
        real var = 0;
        SIMD_SUM(var)
        for (size_t i = 0; i < d; i++)
            var += (rr[i] - mean) * (rr[i] - mean);
        const real rstd = inverse_root(var / (real)d, eps);
        SIMD for (size_t i = 0; i < d; i++) yy[i] = gain[i] * ((rr[i] - mean) * rstd) + offset[i];
        stats[t] = (rela_norm_stats){ mean, rstd };
    }
}

static void residual_norm_back(real *dr, real *da, real *dgain, real *doffset, real *dbias,
                               const real *dy, const real *extra, const real *r,
                               const rela_norm_stats *stats, const real *gain, size_t rows,
                               size_t d, const rela_drop *drop)
{
    const rela_drop k = *drop;
    for (size_t t = 0; t < rows; t++) {
        const real *dyy = dy + t * d, *rr = r + t * d;
        const real mean = stats[t].mean, rstd = stats[t].rstd;
        real sum = 0, along = 0; /* mean of gain*dy, and its mean along xhat */
        SIMD_TEXT(omp simd reduction(+ : sum, along))
        for (size_t i = 0; i < d; i++) {
            const real xhat = (rr[i] - mean) * rstd;
            const real g = gain[i] * dyy[i];
            dgain[i] += dyy[i] * xhat;
            doffset[i] += dyy[i];
            sum += g;
            along += g * xhat;
        }
        sum /= (real)d;
        along /= (real)d;
        real *drr = dr + t * d;
        const real *more = extra ? extra + t * d : NULL;
        SIMD for (size_t i = 0; i < d; i++)
        {
            const real xhat = (rr[i] - mean) * rstd;
            drr[i] = rstd * (gain[i] * dyy[i] - sum - xhat * along) + (more ? more[i] : 0);
        }
        if (!da)
            continue;
        real *daa = da + t * d;
        const uint32_t first = k.first + (uint32_t)(t * d);
        if (k.threshold == 0) {
            memcpy(daa, drr, d * sizeof *daa);
        } else {
            SIMD for (size_t i = 0; i < d; i++) daa[i] =
                drr[i] * drop_factor(&k, first + (uint32_t)i);
        }
        if (dbias)
            axpy(dbias, 1, daa, d);
    }
}

/* ---- norms of the attention output ---- */

typedef struct moments {
    real mean, rstd;
} moments;

static inline moments row_moments(const real *z, size_t n, real eps, bool center)
{
    real sum = 0, squares = 0;
    if (center) {
        SIMD_SUM(sum)
        for (size_t i = 0; i < n; i++)
            sum += z[i];
        sum /= (real)n;
    }
    SIMD_SUM(squares)
    for (size_t i = 0; i < n; i++)
        squares += (z[i] - sum) * (z[i] - sum);
    return (moments){ sum, inverse_root(squares / (real)n, eps) };
}

static void gated_norm(real *y, const real *z, const real *gain, const real *gate, size_t rows,
                       size_t d, size_t groups, real eps, bool center)
{
    const size_t n = d / groups;
    for (size_t t = 0; t < rows * groups; t++) {
        const real *zz = z + t * n, *g = gain + t % groups * n;
        real *yy = y + t * n;
        const moments m = row_moments(zz, n, eps, center);
        if (gate) {
            const real *u = gate + t % groups * n;
            SIMD for (size_t i = 0; i < n; i++) yy[i] =
                g[i] * ((zz[i] - m.mean) * m.rstd) * sigmoid(u[i] * zz[i]);
        } else {
            SIMD for (size_t i = 0; i < n; i++) yy[i] = g[i] * ((zz[i] - m.mean) * m.rstd);
        }
    }
}

/* With a = gain * s(gate*z), y = a * zhat: dzhat = dy * a; the norm's backward turns it into dz,
 * and the gate adds dy * gain * zhat * s' * gate. */
static void gated_norm_back(real *dz, real *dgain, real *dgate, const real *dy, const real *z,
                            const real *gain, const real *gate, size_t rows, size_t d,
                            size_t groups, real eps, bool center)
{
    const size_t n = d / groups;
    for (size_t t = 0; t < rows * groups; t++) {
        const size_t at = t % groups * n;
        const real *zz = z + t * n, *dyy = dy + t * n, *g = gain + at;
        real *dzz = dz + t * n, *dg = dgain + at;
        const moments m = row_moments(zz, n, eps, center);
        real sum = 0, along = 0;
        if (gate) {
            const real *u = gate + at;
            real *du = dgate + at;
            SIMD_TEXT(omp simd reduction(+ : sum, along))
            for (size_t i = 0; i < n; i++) {
                const real zhat = (zz[i] - m.mean) * m.rstd;
                const real s = sigmoid(u[i] * zz[i]);
                const real through = dyy[i] * g[i] * zhat * s * (1 - s);
                dg[i] += dyy[i] * zhat * s;
                du[i] += through * zz[i];
                const real dzhat = dyy[i] * g[i] * s;
                sum += dzhat;
                along += dzhat * zhat;
            }
        } else {
            SIMD_TEXT(omp simd reduction(+ : sum, along))
            for (size_t i = 0; i < n; i++) {
                const real zhat = (zz[i] - m.mean) * m.rstd;
                dg[i] += dyy[i] * zhat;
                sum += dyy[i] * g[i];
                along += dyy[i] * g[i] * zhat;
            }
        }
        sum = center ? sum / (real)n : 0;
        along /= (real)n;
        if (gate) {
            const real *u = gate + at;
            SIMD for (size_t i = 0; i < n; i++)
            {
                const real zhat = (zz[i] - m.mean) * m.rstd;
                const real s = sigmoid(u[i] * zz[i]);
                dzz[i] = m.rstd * (dyy[i] * g[i] * s - sum - zhat * along) +
                         dyy[i] * g[i] * zhat * s * (1 - s) * u[i];
            }
        } else {
            SIMD for (size_t i = 0; i < n; i++)
            {
                const real zhat = (zz[i] - m.mean) * m.rstd;
                dzz[i] = m.rstd * (dyy[i] * g[i] - sum - zhat * along);
            }
        }
    }
}

/* ---- rows of scores, rows of logits ---- */

static inline real row_max(const real *s, size_t n)
{
    real top = s[0];
    SIMD_MAX(top)
    for (size_t i = 0; i < n; i++)
        top = s[i] > top ? s[i] : top;
    return top;
}

/* a where the test holds, b elsewhere. */
static inline vec either(vec_mask test, vec a, vec b)
{
    return (vec)(((vec_mask)a & test) | ((vec_mask)b & ~test));
}

#ifndef LEVEL_LANES
/* The larger numbers; those of b if one is NaN. */
static inline vec larger(vec a, vec b)
{
    return either(a > b, a, b);
}

/* exp(x) of all lanes for x <= 0, or NaN. Below -87 it is 0: whatever such a number is multiplied
 * by would leave the normal ones, which takes a hundred times as long as anything else. */
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

/* The first n numbers of a vector, which is filled up with rest; and back. */
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

/* Vector i of a row of n, whose last one is filled up with numbers below every score; and back. */
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

/* With target q, loss = lse - sum q z. q = smooth/(n-1) everywhere plus the rest on gold, so
 * only the sum of all logits is needed beside the usual log-sum-exp. */
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

#include "kern/loops_sparse.h"

#include "kern/loops_bytes.h"

#include "kern/loops_prefilter.h"

/* ---- the peak of the machine ---- */

/* Enough to hide the latency of a multiply-add, few enough for the registers. */
#ifndef PEAK_CHAINS
#define PEAK_CHAINS 12
#endif

static double multiply_adds(real *end, size_t n)
{
    volatile real half = (real)0.5, rest = 0; /* the compiler must not know what comes out */
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

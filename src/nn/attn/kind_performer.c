/* SPDX-License-Identifier: MIT */
/* src/nn/attn/kind_performer.c - random features whose products estimate the kernel of softmax
 * (FAVOR+, Choromanski et al. 2021), or rectified ones (their generalised attention).
 *
 * The rows of the matrix are orthogonal in blocks of d, with the lengths of independent Gaussian
 * vectors. Features of the softmax kernel are divided by their largest in a query, which cancels in
 * the weights but for the offset; keys have no such factor, as it would depend on later keys. */
#include "base/rng.h"
#include "nn/attn/sums.h"

#include <assert.h>
#include <math.h>

/* Added to features, so that no sum of products is zero. */
#define OFFSET_EXP  ((real)1e-4)
#define OFFSET_RELU ((real)1e-3)

static const double BOUND_MOST = 30, LEAST_FEATURES = 16;

enum { FEATURES, REDRAW };

/* d ln d, and not too few for narrow heads, unless the number says otherwise: if none of the
 * rectified features of a query is above its offset, the weights change abruptly. */
static size_t features(const rela_attn_shape *shape)
{
    const double d = (double)shape->d_head;
    return shape->numbers[FEATURES] > 0 ? (size_t)shape->numbers[FEATURES]
                                        : (size_t)fmax(LEAST_FEATURES, ceil(d * log(d)));
}

/* ---- the matrix, times d^-1/4: (features, d), and transposed; then the exponent's bound ---- */

static size_t made_size(const rela_attn_shape *shape)
{
    return 2 * features(shape) * shape->d_head + 1;
}

static uint64_t draw_of(const real *numbers, uint64_t update)
{
    return numbers[REDRAW] > 0 ? update / (uint64_t)numbers[REDRAW] : 0;
}

/* Makes row orthogonal to the rows [0, n), which have length 1, and its length 1. Twice, since one
 * pass leaves rounding errors as large as what was subtracted. */
static void orthogonalise(real *row, const real *rows, size_t n, size_t d)
{
    double length = 0;
    for (size_t i = 0; i < 2 * n; i++) {
        const real *other = rows + i % n * d;
        double along = 0;
        for (size_t k = 0; k < d; k++)
            along += (double)row[k] * (double)other[k];
        for (size_t k = 0; k < d; k++)
            row[k] = (real)((double)row[k] - along * (double)other[k]);
    }
    for (size_t k = 0; k < d; k++)
        length += (double)row[k] * (double)row[k];
    for (size_t k = 0; k < d; k++)
        row[k] = (real)((double)row[k] / sqrt(length));
}

static void make(real *out, const rela_attn_shape *shape, uint64_t place, uint64_t draw)
{
    const size_t n = features(shape), d = shape->d_head;
    const double scale = pow((double)d, -0.25);
    rela_rng r = rela_rng_start(draw, place);
    double longest = 0;
    assert(d > 0);
    for (size_t i = 0; i < n; i++) {
        real *row = out + i * d;
        for (size_t k = 0; k < d; k++)
            row[k] = (real)rela_rng_normal(&r);
        orthogonalise(row, out + i / d * d * d, i % d, d);
    }
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (size_t k = 0; k < d; k++) {
            const double x = rela_rng_normal(&r);
            square += x * x;
        }
        longest = fmax(longest, square);
        for (size_t k = 0; k < d; k++)
            out[i * d + k] = (real)((double)out[i * d + k] * sqrt(square) * scale);
    }
    for (size_t i = 0; i < n * d; i++)
        out[n * d + i % d * n + i / d] = out[i];
    out[2 * n * d] = (real)(longest / 2);
}

/* ---- features ---- */

static size_t features_of(const rela_attn_map *m)
{
    const rela_attn_shape shape = rela_attn_shape_of(m->a);
    return features(&shape);
}

/* y = x times the transposed matrix. */
static void project(const rela_attn_map *m, size_t n)
{
    const size_t d = m->a->d_head;
    m->a->k->mm(m->y, m->ldy, m->x, m->ldx, 1, m->a->made + n * d, n, m->rows, n, d, false);
}

/* dx = dy times the matrix. */
static void project_back(const rela_attn_map *m, size_t n)
{
    const size_t d = m->a->d_head;
    m->a->k->mm(m->dx, m->ldx, m->dy, m->ldy, 1, m->a->made, d, m->rows, d, n, false);
}

static size_t largest(const real *x, size_t n)
{
    size_t at = 0;
    for (size_t i = 1; i < n; i++)
        at = x[i] > x[at] ? i : at;
    return at;
}

/* |x d^-1/4|^2 / 2. */
static real half_square(const rela_attn_map *m, size_t row)
{
    const real d = (real)m->a->d_head;
    return m->a->k->sum_squares(m->x + row * m->ldx, m->a->d_head) / (2 * (real)sqrt((double)d));
}

/* exp(w.x - |x|^2 / 2) is at most exp(|w|^2 / 2): with the bound subtracted exponents are below 0,
 * where elu + 1 is exp. The factor gives it back, as far as that is safe. In queries |x|^2 cancels.
 */
static void map_exp(const rela_attn_map *m)
{
    const size_t n = features_of(m);
    const real bound = m->a->made[2 * n * m->a->d_head];
    const real factor = m->queries ? 1 : (real)exp(fmin((double)bound, BOUND_MOST));
    project(m, n);
    for (size_t i = 0; i < m->rows; i++) {
        real *y = m->y + i * m->ldy;
        const real less = m->queries ? y[largest(y, n)] : half_square(m, i) + bound;
        for (size_t j = 0; j < n; j++)
            y[j] -= less;
        m->a->k->elu1(y, y, n);
        for (size_t j = 0; j < n; j++)
            y[j] = y[j] * factor + OFFSET_EXP;
    }
}

/* In place of dy: the gradient of the exponents, of which a query subtracts the largest. */
static real exponents_back(const rela_attn_map *m, size_t row, size_t n)
{
    const real *y = m->y + row * m->ldy;
    real *da = m->dy + row * m->ldy, sum = 0;
    for (size_t j = 0; j < n; j++) {
        da[j] *= y[j] - OFFSET_EXP;
        sum += da[j];
    }
    if (m->queries)
        da[largest(y, n)] -= sum;
    return sum;
}

static void map_exp_back(const rela_attn_map *m)
{
    const size_t n = features_of(m), d = m->a->d_head;
    real sums[RELA_ATTN_STRIP] = { 0 };
    for (size_t i = 0; i < m->rows; i++)
        sums[i] = exponents_back(m, i, n);
    project_back(m, n);
    for (size_t i = 0; !m->queries && i < m->rows; i++)
        m->a->k->axpy(m->dx + i * m->ldx, -sums[i] / (real)sqrt((double)d), m->x + i * m->ldx, d);
}

static void map_relu(const rela_attn_map *m)
{
    const size_t n = features_of(m);
    project(m, n);
    for (size_t i = 0; i < m->rows; i++) {
        real *y = m->y + i * m->ldy;
        for (size_t j = 0; j < n; j++)
            y[j] = (y[j] > 0 ? y[j] : 0) + OFFSET_RELU;
    }
}

static void map_relu_back(const rela_attn_map *m)
{
    const size_t n = features_of(m);
    for (size_t i = 0; i < m->rows; i++) {
        const real *y = m->y + i * m->ldy;
        real *da = m->dy + i * m->ldy;
        for (size_t j = 0; j < n; j++)
            da[j] = y[j] > OFFSET_RELU ? da[j] : 0;
    }
    project_back(m, n);
}

static const rela_attn_made MATRIX = { made_size, draw_of, make };
static const rela_attn_features EXP = { features, map_exp, map_exp_back },
                                RELU = { features, map_relu, map_relu_back };
static const rela_attn_method SUMS_EXP = { RELA_ATTN_SUMS, .features = &EXP },
                              SUMS_RELU = { RELA_ATTN_SUMS, .features = &RELU };

static const rela_attn_number NUMBERS[] = {
    [FEATURES] = { .name = "features",
                   .summary = "random features; 0: d ln d, at least 16, for heads of width d",
                   .whole = true,
                   .least = 0,
                   .most = 4096,
                   .start = 0 },
    [REDRAW] = { .name = "redraw",
                 .summary = "updates of training after which features are sampled anew; 0: never",
                 .whole = true,
                 .least = 0,
                 .most = 100000,
                 .start = 0 },
    { .name = NULL },
};

const rela_attn_kind rela_attn_kinds_performer[] = {
    {
        .name = "performer",
        .summary = "random features that estimate softmax (FAVOR+), normalised products",
        .flags = ATTN_SUM_ONE,
        .method = &SUMS_EXP,
        .numbers = NUMBERS,
        .made = &MATRIX,
    },
    {
        .name = "performer-relu",
        .summary = "rectified random features, normalised products",
        .flags = ATTN_SUM_ONE,
        .method = &SUMS_RELU,
        .numbers = NUMBERS,
        .made = &MATRIX,
    },
    { .name = NULL },
};

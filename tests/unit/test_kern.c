/* SPDX-License-Identifier: MIT */
/* tests/unit/test_kern.c - products, vectors, dropout and the optimiser: every loop of every usable
 * table against a double oracle with a derived bound, at every tail length, unaligned, between
 * guard bands. Norms and rows of weights: test_kern_norm.c, test_kern_rows.c. */
#include "oracle.h"

enum { ROWS = 3 };

static const rela_drop NO_DROP = { .threshold = 0 };

static rela_drop some_drop(void)
{
    return rela_drop_make(0.3, 5, 9, 2, 1000);
}

/* 0 or the scale of an element, from the public hash. */
static float factor_at(const rela_drop *d, size_t i)
{
    return rela_drop_hash(d->key, d->first + (uint32_t)i) < d->threshold ? 0 : d->scale;
}

/* c (m, n) with gaps between its rows, which stay as they are. a is read by rows or by columns. */
static void check_product(const place *p, size_t m, size_t depth, bool add, bool by_columns)
{
    const size_t n = p->n, ldc = n + 2, ldb = n + 1;
    float *a = random_box(0, m * depth, 1), *b = random_box(1, depth * ldb, 1);
    float *c = random_box(2, m * ldc, 1);
    double before[16 * (N_MAX + 2)];
    for (size_t i = 0; i < m * ldc; i++)
        before[i] = (double)c[i];
    const size_t row = by_columns ? 1 : depth, column = by_columns ? m : 1;
    p->k->mm(c, ldc, a, row, column, b, ldb, m, n, depth, add);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < ldc; j++) {
            double sum = add || j >= n ? before[i * ldc + j] : 0, mass = fabs(sum);
            for (size_t q = 0; q < depth && j < n; q++) {
                const double x = (double)a[i * row + q * column] * (double)b[q * ldb + j];
                sum += x;
                mass += fabs(x);
            }
            /* each of the products and sums rounds once */
            near(p, i * ldc + j, (double)c[i * ldc + j], sum, ((double)depth + 1) * EPS * mass);
        }
}

static void product(const place *p)
{
    static const size_t M[] = { 0, 1, 5, 6, 7, 13 }, DEPTH[] = { 0, 1, 17 };
    for (size_t i = 0; i < sizeof M / sizeof M[0]; i++)
        for (size_t d = 0; d < sizeof DEPTH / sizeof DEPTH[0]; d++)
            for (int mode = 0; mode < 4; mode++) {
                check_product(p, M[i], DEPTH[d], mode & 1, mode & 2);
                check_boxes(p->k->name, p->what, p->n);
            }
}

static void transpose(const place *p)
{
    const size_t rows = 19, ldx = p->n + 3, ldy = rows + 2;
    float *x = random_box(0, rows * ldx, 1), *y = random_box(1, p->n * ldy, 1), old[N_MAX];
    for (size_t j = 0; j < p->n; j++)
        old[j] = y[j * ldy + rows];
    p->k->transpose(y, ldy, x, ldx, rows, p->n);
    for (size_t j = 0; j < p->n; j++) {
        for (size_t i = 0; i < rows; i++)
            near(p, j, (double)y[j * ldy + i], (double)x[i * ldx + j], 0);
        near(p, j, (double)y[j * ldy + rows], (double)old[j], 0);
    }
}

static void dot(const place *p)
{
    float *x = random_box(0, p->n, 1), *y = random_box(1, p->n, 1);
    double sum = 0, mass = 0, squares = 0;
    for (size_t i = 0; i < p->n; i++) {
        sum += (double)x[i] * (double)y[i];
        mass += fabs((double)x[i] * (double)y[i]);
        squares += (double)x[i] * (double)x[i];
    }
    const double roundings = (double)p->n * EPS;
    near(p, 0, (double)p->k->dot(x, y, p->n), sum, roundings * mass);
    near(p, 1, (double)p->k->sum_squares(x, p->n), squares, roundings * squares);
}

static void axpy(const place *p)
{
    float *x = random_box(0, p->n, 1), *y = random_box(1, p->n, 1);
    double sum[N_MAX], mass[N_MAX];
    for (size_t i = 0; i < p->n; i++) {
        sum[i] = (double)y[i] + (double)0.7f * (double)x[i];
        mass[i] = fabs((double)y[i]) + fabs((double)0.7f * (double)x[i]);
    }
    p->k->axpy(y, 0.7f, x, p->n);
    for (size_t i = 0; i < p->n; i++)
        near(p, i, (double)y[i], sum[i], EPS * mass[i]);
}

/* What lies between the rows stays as it is. */
static void scale_rows(const place *p)
{
    const size_t n = p->n, wide = n + 5, ldx = n + 3, ldy = wide + 2;
    const float *x = random_box(0, ROWS * ldx, 1);
    float *y = random_box(1, ROWS * ldy, 1), old[ROWS * (N_MAX + 7)];
    memcpy(old, y, ROWS * ldy * sizeof *y);
    const float factors[] = { 0.7f, 1, -3, 0 };
    const size_t step = n % 2; /* one for all, or one for each */
    p->k->scale_rows(y, ldy, x, ldx, ROWS, n, wide, factors, step);
    for (size_t i = 0; i < ROWS * ldy; i++) {
        const size_t r = i / ldy, c = i % ldy;
        const float want = c < n ? x[r * ldx + c] * factors[r * step] : c < wide ? 0 : old[i];
        near(p, i, (double)y[i], (double)want, 0);
    }
}

static void scale(const place *p)
{
    float *y = random_box(0, p->n, 1);
    double want[N_MAX];
    for (size_t i = 0; i < p->n; i++)
        want[i] = (double)y[i] * (double)1.3f;
    p->k->scale(y, 1.3f, p->n);
    for (size_t i = 0; i < p->n; i++)
        near(p, i, (double)y[i], want[i], EPS * fabs(want[i]));
}

static void bias_and_its_sum(const place *p)
{
    float *y = random_box(0, ROWS * p->n, 1), *b = random_box(1, p->n, 1);
    float *db = random_box(2, p->n, 1);
    double want[ROWS * N_MAX], sum[N_MAX], mass[N_MAX];
    for (size_t i = 0; i < ROWS * p->n; i++)
        want[i] = (double)y[i] + (double)b[i % p->n];
    p->k->add_bias(y, b, ROWS, p->n);
    for (size_t i = 0; i < p->n; i++)
        sum[i] = (double)db[i], mass[i] = fabs((double)db[i]);
    for (size_t i = 0; i < ROWS * p->n; i++) {
        near(p, i, (double)y[i], want[i], EPS * 2);
        sum[i % p->n] += (double)y[i];
        mass[i % p->n] += fabs((double)y[i]);
    }
    p->k->sum_rows(db, y, ROWS, p->n);
    for (size_t i = 0; i < p->n; i++)
        near(p, i, (double)db[i], sum[i], ROWS * EPS * mass[i]);
}

static void check_bias_relu(const place *p, const rela_drop *drop)
{
    float *y = random_box(0, ROWS * p->n, 1), *b = random_box(1, p->n, 1);
    float *dy = random_box(2, ROWS * p->n, 1), *db = random_box(3, p->n, 1);
    const bool drops = drop->threshold != 0;
    double want[ROWS * N_MAX], dwant[ROWS * N_MAX], sum[N_MAX];
    if (p->n)
        y[p->n - 1] = NAN; /* stays */
    for (size_t i = 0; i < ROWS * p->n; i++) {
        const double x = (double)y[i] + (double)b[i % p->n];
        want[i] = (x > 0 ? x : 0) * (drops ? (double)factor_at(drop, i) : 1);
        dwant[i] = (double)dy[i] * (drops ? (double)drop->scale : 1);
    }
    p->k->bias_relu(y, b, ROWS, p->n, drop);
    for (size_t i = 0; i < p->n; i++)
        sum[i] = (double)db[i];
    p->k->bias_relu_back(dy, db, y, ROWS, p->n, drops ? drop->scale : 1);
    for (size_t i = 0; i < ROWS * p->n; i++) {
        if (i + 1 == p->n)
            CHECK(isnan(y[i]), "%s bias_relu n=%zu: NaN becomes %g", p->k->name, p->n,
                  (double)y[i]);
        else
            near(p, i, (double)y[i], want[i], want[i] == 0 ? 0 : 6 * EPS);
        near(p, i, (double)dy[i], want[i] > 0 ? dwant[i] : 0, EPS * fabs(dwant[i]));
        sum[i % p->n] += (double)dy[i];
    }
    for (size_t i = 0; i < p->n; i++)
        near(p, i, (double)db[i], sum[i], (ROWS + 1) * (ROWS + 1) * 2 * EPS);
}

static void bias_relu(const place *p)
{
    const rela_drop drop = some_drop();
    check_bias_relu(p, &NO_DROP);
    check_boxes(p->k->name, p->what, p->n);
    check_bias_relu(p, &drop);
}

static void dropout(const place *p)
{
    const rela_drop drop = some_drop();
    float *y = random_box(0, p->n, 1);
    double want[N_MAX];
    for (size_t i = 0; i < p->n; i++)
        want[i] = (double)y[i] * (double)factor_at(&drop, i);
    p->k->dropout(y, p->n, &NO_DROP);
    p->k->dropout(y, p->n, &drop);
    for (size_t i = 0; i < p->n; i++)
        near(p, i, (double)y[i], want[i], EPS * fabs(want[i]));
}

static void adam(const place *p)
{
    const rela_adam o = { .rate = 0.01f,
                          .beta1 = 0.9f,
                          .beta2 = 0.98f,
                          .epsilon = 1e-6f,
                          .grad_scale = 0.5f,
                          .decay = 0.001f };
    float *x = random_box(0, p->n, 1), *m = random_box(1, p->n, 0.1f), *v = box(2, p->n);
    float *g = random_box(3, p->n, 1);
    double want[3][N_MAX];
    for (size_t i = 0; i < p->n; i++) {
        v[i] = fabsf(rnd()) * 0.1f;
        const double d = (double)g[i] * (double)o.grad_scale;
        const double b1 = (double)o.beta1, b2 = (double)o.beta2;
        want[1][i] = b1 * (double)m[i] + (1 - b1) * d;
        want[2][i] = b2 * (double)v[i] + (1 - b2) * d * d;
        want[0][i] = (double)x[i] - (double)o.decay * (double)x[i] -
                     (double)o.rate * want[1][i] / (sqrt(want[2][i]) + (double)o.epsilon);
    }
    p->k->adam(x, m, v, g, p->n, &o);
    for (size_t i = 0; i < p->n; i++) {
        const double grad = fabs((double)g[i]), root = sqrt(want[2][i]);
        const double m_bound = 4 * EPS * (0.1 + grad), v_bound = 4 * EPS * (0.1 + grad * grad);
        /* the step is m over the root of v: relative errors add, that of v halved */
        const double step =
            (double)o.rate / root * (m_bound + fabs(want[1][i]) * (v_bound / want[2][i] + 4 * EPS));
        near(p, i, (double)m[i], want[1][i], m_bound);
        near(p, i, (double)v[i], want[2][i], v_bound);
        near(p, i, (double)x[i], want[0][i], 2 * EPS + step);
    }
}

/* n steps of x = x / 2 + 1 from 1 are 2 - 2^-n. */
static void multiply_adds(const place *p)
{
    real end = 0;
    const double operations = p->k->multiply_adds(&end, p->n);
    near(p, 0, (double)end, 2 - ldexp(1, -(int)p->n), 4 * EPS);
    CHECK(operations >= 2.0 * (double)(p->n * p->k->lanes), "%s: %g operations", p->k->name,
          operations);
}

static void every_loop_agrees_with_the_oracle(void **state)
{
    (void)state;
    static const loop_check CHECKS[] = {
        { "mm", product },
        { "transpose", transpose },
        { "dot", dot },
        { "axpy", axpy },
        { "scale_rows", scale_rows },
        { "scale", scale },
        { "add_bias, sum_rows", bias_and_its_sum },
        { "bias_relu", bias_relu },
        { "dropout", dropout },
        { "adam", adam },
        { "multiply_adds", multiply_adds },
    };
    run_checks(CHECKS, sizeof CHECKS / sizeof CHECKS[0]);
}

/* A large sample: shares, neighbours and sites look like independent draws. Five standard
 * deviations; the numbers are fixed, so this never fails by chance. */
static void dropout_keeps_the_stated_share_independently(void **state)
{
    (void)state;
    enum { N = 1 << 18 };
    const double p = 0.1, sigma = sqrt(p * (1 - p) / N);
    const rela_drop a = rela_drop_make(p, 1, 1, 0, 0), b = rela_drop_make(p, 1, 1, 1, 0);
    const rela_drop later = rela_drop_make(p, 1, 2, 0, 0);
    double share = 0, next = 0, sites = 0, updates = 0;
    for (uint32_t i = 0; i < N; i++) {
        const bool here = rela_drop_hash(a.key, i) < a.threshold;
        share += here;
        next += here && rela_drop_hash(a.key, i + 1) < a.threshold;
        sites += here && rela_drop_hash(b.key, i) < b.threshold;
        updates += here && rela_drop_hash(later.key, i) < later.threshold;
    }
    const double both = sqrt(p * p * (1 - p * p) / N);
    CHECK(fabs(share / N - p) < 5 * sigma, "share %g", share / N);
    CHECK(fabs(next / N - p * p) < 5 * both, "neighbours %g", next / N);
    CHECK(fabs(sites / N - p * p) < 5 * both, "sites %g", sites / N);
    CHECK(fabs(updates / N - p * p) < 5 * both, "updates %g", updates / N);
    CHECK(fabs((double)a.scale * (1 - p) - 1) < EPS, "scale %g", (double)a.scale);
}

static void tables_are_found_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; rela_kern_at(i); i++) {
        CHECK(rela_kern_find(rela_kern_at(i)->name) == rela_kern_at(i), "%s",
              rela_kern_at(i)->name);
        CHECK(rela_kern_at(i)->lanes * sizeof(real) >= 16, "%s", rela_kern_at(i)->name);
    }
    CHECK(rela_kern_find("no such level") == NULL, "found");
    CHECK(rela_kern_get() != NULL, "none chosen");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_loop_agrees_with_the_oracle),
        cmocka_unit_test(dropout_keeps_the_stated_share_independently),
        cmocka_unit_test(tables_are_found_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

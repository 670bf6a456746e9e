/* SPDX-License-Identifier: MIT */
/* tests/unit/test_kern_norm.c - residual sums, norms and losses of every usable table against a
 * double oracle; see test_kern.c.
 *
 * Bounds: a sum of d terms carries up to d roundings, so mean, deviation and everything made from
 * them is known to SLACK(d) relative to the largest terms that enter. */
#include "oracle.h"

enum { ROWS = 3 };

#define SLACK(d) ((4 * (double)(d) + 16) * EPS)

static const double NORM_EPS = 1e-6;

/* Statistics of one row in double. center false: the mean counts as 0. */
typedef struct stats {
    double mean, rstd, top; /* top: largest |x| */
} stats;

static stats row_stats(const double *x, size_t n, bool center)
{
    stats t = { 0, 0, 0 };
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        t.mean += center ? x[i] / (double)n : 0;
        t.top = fmax(t.top, fabs(x[i]));
    }
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - t.mean) * (x[i] - t.mean);
    t.rstd = 1 / sqrt(squares / (double)n + NORM_EPS);
    return t;
}

static double factor_at(const rela_drop *d, size_t i)
{
    if (d->threshold == 0)
        return 1;
    const bool dropped = rela_drop_hash(d->key, d->first + (uint32_t)i) < d->threshold;
    return dropped ? 0 : (double)d->scale;
}

static void check_residual(const place *p, const rela_drop *drop, bool with_x, bool with_b)
{
    const size_t d = p->n;
    float *x = random_box(0, ROWS * d, 1), *a = random_box(1, ROWS * d, 1);
    float *b = random_box(2, d, 1), *gain = random_box(3, d, 1), *offset = random_box(4, d, 1);
    float *y = box(5, ROWS * d), *r = box(6, ROWS * d);
    rela_norm_stats got[ROWS];
    p->k->residual_norm(y, r, got, with_x ? x : NULL, a, with_b ? b : NULL, gain, offset, ROWS, d,
                        (real)NORM_EPS, drop);
    for (size_t t = 0; t < ROWS && d; t++) {
        double sum[N_MAX];
        for (size_t i = 0; i < d; i++) {
            const size_t at = t * d + i;
            const double inner = (double)a[at] + (with_b ? (double)b[i] : 0);
            sum[i] = (with_x ? (double)x[at] : 0) + inner * factor_at(drop, at);
            near(p, at, (double)r[at], sum[i], 8 * EPS);
            sum[i] = (double)r[at];
        }
        const stats s = row_stats(sum, d, true);
        for (size_t i = 0; i < d; i++) {
            const double xhat = (sum[i] - s.mean) * s.rstd, g = (double)gain[i];
            const double size = fabs(xhat) + s.top * s.rstd;
            near(p, t * d + i, (double)y[t * d + i], g * xhat + (double)offset[i],
                 SLACK(d) * (fabs(g) * size + 1));
        }
    }
}

static void residual_norm(const place *p)
{
    const rela_drop none = { .threshold = 0 }, some = rela_drop_make(0.3, 1, 2, 3, 77);
    for (int mode = 0; mode < 8; mode++) {
        check_residual(p, mode & 1 ? &some : &none, mode & 2, mode & 4);
        check_boxes(p->k->name, p->what, p->n);
    }
}

/* What the backward passes of both norms need of one row. */
typedef struct back_row {
    stats s;
    double sum, along;   /* means of dxhat, and of dxhat * xhat */
    double mass, m_size; /* the same of absolute values: for the bound */
} back_row;

static back_row back_sums(const double *x, const double *dxhat, size_t n, bool center)
{
    back_row b = { .s = row_stats(x, n, center) };
    for (size_t i = 0; i < n; i++) {
        const double xhat = (x[i] - b.s.mean) * b.s.rstd;
        b.sum += center ? dxhat[i] / (double)n : 0;
        b.along += dxhat[i] * xhat / (double)n;
        b.mass += fabs(dxhat[i]) / (double)n;
        b.m_size += fabs(dxhat[i]) * (fabs(xhat) + b.s.top * b.s.rstd) / (double)n;
    }
    return b;
}

static double back_value(const back_row *b, double x, double dxhat)
{
    return b->s.rstd * (dxhat - b->sum - (x - b->s.mean) * b->s.rstd * b->along);
}

static double back_bound(const back_row *b, double x, double dxhat, size_t n)
{
    const double size = fabs(x - b->s.mean) * b->s.rstd + b->s.top * b->s.rstd;
    return SLACK(n) * b->s.rstd * (fabs(dxhat) + b->mass + size * b->m_size) * (1 + size);
}

/* extra: a second gradient of the sum; and in-place use as the model does it. */
static void check_residual_back(const place *p, const rela_drop *drop, bool extra)
{
    const size_t d = p->n;
    float *dy = random_box(0, ROWS * d, 1), *more = random_box(1, ROWS * d, 1);
    float *r = random_box(2, ROWS * d, 1), *gain = random_box(3, d, 1);
    float *dr = box(4, ROWS * d), *da = box(5, ROWS * d);
    float *dgain = random_box(6, d, 1), *doffset = random_box(7, d, 1),
          *dbias = random_box(8, d, 1);
    double want[3][N_MAX];
    rela_norm_stats st[ROWS];
    for (size_t i = 0; i < d; i++)
        want[0][i] = (double)dgain[i], want[1][i] = (double)doffset[i],
        want[2][i] = (double)dbias[i];
    double x[ROWS][N_MAX], dx[ROWS][N_MAX];
    back_row rows[ROWS];
    for (size_t t = 0; t < ROWS && d; t++) {
        for (size_t i = 0; i < d; i++) {
            x[t][i] = (double)r[t * d + i];
            dx[t][i] = (double)gain[i] * (double)dy[t * d + i];
        }
        rows[t] = back_sums(x[t], dx[t], d, true);
        st[t] = (rela_norm_stats){ (real)rows[t].s.mean, (real)rows[t].s.rstd };
    }
    p->k->residual_norm_back(dr, da, dgain, doffset, dbias, dy, extra ? more : NULL, r, st, gain,
                             ROWS, d, drop);
    for (size_t t = 0; t < ROWS; t++)
        for (size_t i = 0; i < d; i++) {
            const size_t at = t * d + i;
            const double plus = extra ? (double)more[at] : 0;
            near(p, at, (double)dr[at], back_value(&rows[t], x[t][i], dx[t][i]) + plus,
                 back_bound(&rows[t], x[t][i], dx[t][i], d) + 2 * EPS);
            near(p, at, (double)da[at], (double)dr[at] * factor_at(drop, at),
                 2 * EPS * fabs((double)dr[at]));
            want[0][i] += (double)dy[at] * (x[t][i] - rows[t].s.mean) * rows[t].s.rstd;
            want[1][i] += (double)dy[at];
            want[2][i] += (double)da[at];
        }
    for (size_t i = 0; i < d; i++) {
        near(p, i, (double)dgain[i], want[0][i], SLACK(ROWS) * (4 + fabs(want[0][i])) * 1e1);
        near(p, i, (double)doffset[i], want[1][i], SLACK(ROWS) * 4);
        near(p, i, (double)dbias[i], want[2][i], SLACK(ROWS) * (4 + fabs(want[2][i])));
    }
}

static void residual_norm_back(const place *p)
{
    const rela_drop none = { .threshold = 0 }, some = rela_drop_make(0.3, 1, 2, 3, 77);
    for (int mode = 0; mode < 4; mode++) {
        check_residual_back(p, mode & 1 ? &some : &none, mode & 2);
        check_boxes(p->k->name, p->what, p->n);
    }
}

static double gate_value(double z)
{
    return 1 / (1 + exp(-z));
}

/* Rows of d = groups * n; each part is normalised alone. */
static void check_gated(const place *p, size_t groups, bool gated, bool center)
{
    const size_t n = p->n, d = groups * n;
    float *z = random_box(0, ROWS * d, 2), *gain = random_box(1, d, 1), *gate = random_box(2, d, 1);
    float *dy = random_box(3, ROWS * d, 1), *y = box(4, ROWS * d), *dz = box(5, ROWS * d);
    float *dgain = random_box(6, d, 1), *dgate = random_box(7, d, 1);
    double want_gain[2 * N_MAX], want_gate[2 * N_MAX];
    for (size_t i = 0; i < d; i++)
        want_gain[i] = (double)dgain[i], want_gate[i] = (double)dgate[i];
    p->k->gated_norm(y, z, gain, gated ? gate : NULL, ROWS, d, groups, (real)NORM_EPS, center);
    p->k->gated_norm_back(dz, dgain, gated ? dgate : NULL, dy, z, gain, gated ? gate : NULL, ROWS,
                          d, groups, (real)NORM_EPS, center);
    for (size_t t = 0; t < ROWS * groups && n; t++) {
        const size_t column = t % groups * n;
        double x[N_MAX], dx[N_MAX], s[N_MAX];
        for (size_t i = 0; i < n; i++) {
            const double g = (double)gain[column + i];
            x[i] = (double)z[t * n + i];
            s[i] = gated ? gate_value((double)gate[column + i] * x[i]) : 1;
            dx[i] = (double)dy[t * n + i] * g * s[i];
        }
        const back_row b = back_sums(x, dx, n, center);
        for (size_t i = 0; i < n; i++) {
            const size_t at = t * n + i, c = column + i;
            const double xhat = (x[i] - b.s.mean) * b.s.rstd, g = (double)gain[c];
            const double size = fabs(xhat) + b.s.top * b.s.rstd, dyi = (double)dy[at];
            const double through = gated ? dyi * g * xhat * s[i] * (1 - s[i]) : 0;
            near(p, at, (double)y[at], g * xhat * s[i], SLACK(n) * fabs(g) * size * s[i]);
            near(p, at, (double)dz[at], back_value(&b, x[i], dx[i]) + through * (double)gate[c],
                 back_bound(&b, x[i], dx[i], n) + SLACK(n) * fabs(dyi * g) * size);
            want_gain[c] += dyi * xhat * s[i];
            want_gate[c] += through * x[i];
        }
    }
    for (size_t i = 0; i < d; i++) { /* terms of at most a few units, each to SLACK(n) */
        near(p, i, (double)dgain[i], want_gain[i], SLACK(n) * ROWS * 8);
        near(p, i, (double)dgate[i], want_gate[i], SLACK(n) * ROWS * 16);
    }
}

static void gated_norm(const place *p)
{
    for (int mode = 0; mode < 8; mode++) {
        check_gated(p, mode & 1 ? 2 : 1, mode & 2, mode & 4);
        check_boxes(p->k->name, p->what, p->n);
    }
}

static void loss_row(const place *p)
{
    if (p->n == 0)
        return;
    const size_t n = p->n, gold = n / 2;
    const double smooth = n > 1 ? (double)0.1f : 0, scale = (double)0.7f;
    float *z = random_box(0, n, 5);
    double x[N_MAX], top = -INFINITY, sum = 0, nll = 0, want = 0;
    for (size_t i = 0; i < n; i++)
        x[i] = (double)z[i], top = fmax(top, x[i]);
    for (size_t i = 0; i < n; i++)
        sum += exp(x[i] - top);
    const double lse = top + log(sum);
    const double loss = p->k->loss_row(z, n, gold, (real)smooth, (real)scale, &nll);
    for (size_t i = 0; i < n; i++) {
        const double q = i == gold ? 1 - smooth : smooth / (double)(n - 1);
        const double prob = exp(x[i] - lse);
        want += q * (lse - x[i]);
        near(p, i, (double)z[i], scale * (prob - q),
             (((double)n + 16) * prob + 10 * prob + 4 * q) * EPS);
    }
    near(p, 0, loss, want, ((double)n + 32) * EPS * 10);
    near(p, 1, nll, lse - x[gold], ((double)n + 16) * EPS + 10 * EPS);
}

static void loss_pairs(const place *p)
{
    if (p->n == 0)
        return;
    const size_t n = p->n, gold = n / 2;
    const rela_r_drop_pairs o = { n > 1 ? 0.1f : 0, 0.7f, 3 };
    const double smooth = (double)o.smooth, scale = (double)o.scale,
                 kl_weight = (double)o.kl_weight;
    float *z[2] = { random_box(0, n, 2), random_box(1, n, 2) };
    double x[2][N_MAX], kl[2] = { 0, 0 }, nll = 0, want = 0, want_nll = 0;
    for (int r = 0; r < 2; r++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += exp(x[r][i] = (double)z[r][i]);
        for (size_t i = 0; i < n; i++)
            x[r][i] -= log(sum);
    }
    for (int r = 0; r < 2; r++)
        for (size_t i = 0; i < n; i++) {
            const double q = i == gold ? 1 - smooth : smooth / (double)(n - 1);
            kl[r] += exp(x[r][i]) * (x[r][i] - x[1 - r][i]);
            want -= q * x[r][i] / 2;
            want_nll -= i == gold ? x[r][i] / 2 : 0;
        }
    const double loss = p->k->loss_pairs(z[0], z[1], n, gold, &o, &nll);
    const double slack = ((double)n + 32) * EPS * 16;
    for (int r = 0; r < 2; r++)
        for (size_t i = 0; i < n; i++) {
            const double q = i == gold ? 1 - smooth : smooth / (double)(n - 1);
            const double prob = exp(x[r][i]), other = exp(x[1 - r][i]);
            const double pull = prob * (x[r][i] - x[1 - r][i] - kl[r]) + prob - other;
            near(p, i, (double)z[r][i], scale / 2 * (prob - q + kl_weight / 2 * pull),
                 slack * (prob + other) + EPS);
        }
    near(p, 0, loss, want + kl_weight * (kl[0] + kl[1]) / 4, slack);
    near(p, 1, nll, want_nll, slack);
}

static void log_softmax(const place *p)
{
    const size_t n = p->n;
    float *z = random_box(0, n, 5), *y = box(1, n);
    double sum = 0, want[N_MAX];
    for (size_t i = 0; i < n; i++)
        sum += exp((double)z[i]);
    for (size_t i = 0; i < n; i++)
        want[i] = (double)z[i] - log(sum);
    p->k->log_softmax(y, z, n);
    p->k->log_softmax(z, z, n);
    for (size_t i = 0; i < n; i++) {
        near(p, i, (double)z[i], (double)y[i], 0);
        near(p, i, (double)y[i], want[i], ((double)n + 16) * EPS + 2 * EPS * fabs(want[i]));
    }
}

static void every_loop_agrees_with_the_oracle(void **state)
{
    (void)state;
    static const loop_check CHECKS[] = {
        { "residual_norm", residual_norm }, { "residual_norm_back", residual_norm_back },
        { "gated_norm", gated_norm },       { "loss_row", loss_row },
        { "loss_pairs", loss_pairs },       { "log_softmax", log_softmax },
    };
    run_checks(CHECKS, sizeof CHECKS / sizeof CHECKS[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_loop_agrees_with_the_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* src/nn/align.c - see align.h. */
#include "nn/align.h"

#include <math.h>
#include <string.h>

/* One pass over one pair. */
typedef struct pass {
    const rela_align_layer *a;
    const rela_align_scratch *s;
    const rela_align_grad *g; /* NULL: forward only */
    size_t rows, cols, words; /* words: cols without null */
    real log_some, log_none;  /* log(1 - pi0), log pi0 */
} pass;

/* Overlap of a row with itself shifted by x: dst[to + i] meets src[from + i], i < n. */
typedef struct overlap {
    size_t to, from, n;
} overlap;

static void look_near(const pass *p);
static void look_around(const pass *p);
static void weigh(const pass *p, const rela_align_look *look);
static void weigh_back(const pass *p, const rela_align_look *look, size_t j, real *d);
static rela_align_sums finish_rows(const pass *p, real *loss, const real *scale);
static void prior_back(const pass *p, const rela_align_look *look, size_t j, const real *ds);
static void around_back(const pass *p);
static void first_back(const pass *p);
static void near_back(const pass *p);

void rela_align_scratch_plan(rela_align_scratch *s, rela_plan *p, size_t max_len)
{
    const size_t n = max_len * max_len;
    for (int i = 0; i < 2; i++) {
        s->look[i].pi = rela_plan_reals(p, n);
        s->look[i].scores = rela_plan_reals(p, n);
        s->look[i].weights = rela_plan_reals(p, n);
    }
    s->lp = rela_plan_reals(p, n);
    s->r = rela_plan_reals(p, n);
    s->dr = rela_plan_reals(p, n);
    s->dw = rela_plan_reals(p, n);
    s->row = rela_plan_reals(p, 6 * max_len);
}

rela_align_sums rela_align_run(const rela_align_layer *a, const rela_align_scratch *s,
                               const rela_align_grad *g, real *loss, const real *scale, size_t rows,
                               size_t cols)
{
    const double odds = (double)*a->null;
    const double none = odds > 0 ? -log1p(exp(-odds)) : odds - log1p(exp(odds));
    const pass p = { .a = a,
                     .s = s,
                     .g = g,
                     .rows = rows,
                     .cols = cols,
                     .words = cols - 1,
                     .log_some = (real)(none - odds),
                     .log_none = (real)none };
    look_near(&p);
    weigh(&p, &s->look[0]);
    look_around(&p);
    weigh(&p, &s->look[1]);
    const rela_align_sums sums = finish_rows(&p, loss, scale);
    if (g) {
        around_back(&p);
        first_back(&p);
        near_back(&p);
    }
    return sums;
}

/* Signed distance of (j, i) from the diagonal in tokens of the longer side, as an index of near. */
static size_t distance(const pass *p, size_t j, size_t i)
{
    const int64_t n = (int64_t)p->words, m = (int64_t)p->rows, least = n < m ? n : m;
    const int64_t far = ((2 * (int64_t)i + 1) * m - (2 * (int64_t)j + 1) * n) / (2 * least);
    const int64_t most = RELA_ALIGN_FAR;
    return (size_t)((far > most ? most : far < -most ? -most : far) + most);
}

static overlap overlap_of(size_t n, size_t at)
{
    const size_t reach = RELA_ALIGN_REACH;
    const size_t back = at < reach ? reach - at : 0, on = at > reach ? at - reach : 0;
    if (back + on >= n)
        return (overlap){ 0, 0, 0 };
    return (overlap){ back, on, n - back - on };
}

static void look_near(const pass *p)
{
    for (size_t j = 0; j < p->rows; j++)
        for (size_t i = 0; i < p->words; i++)
            p->s->r[j * p->words + i] = p->a->near[distance(p, j, i)];
}

static void look_around(const pass *p)
{
    const real *w = p->s->look[0].weights;
    for (size_t j = 0; j < p->rows; j++)
        for (size_t y = 0; y < RELA_ALIGN_AROUND; y++) {
            if (y == RELA_ALIGN_REACH || j + y < RELA_ALIGN_REACH ||
                j + y - RELA_ALIGN_REACH >= p->rows)
                continue;
            const real *from = w + (j + y - RELA_ALIGN_REACH) * p->cols;
            for (size_t x = 0; x < RELA_ALIGN_AROUND; x++) {
                const overlap o = overlap_of(p->words, x);
                p->a->k->axpy(p->s->r + j * p->words + o.to,
                              p->a->around[y * RELA_ALIGN_AROUND + x], from + o.from, o.n);
            }
        }
}

static real sum(const real *x, size_t n)
{
    double all = 0;
    for (size_t i = 0; i < n; i++)
        all += (double)x[i];
    return (real)all;
}

/* How much more probable each token is than null; q receives the probabilities. */
static void excess(const pass *p, real *better, real *q, const real *s)
{
    p->a->k->softmax(q, s, p->cols);
    for (size_t i = 0; i < p->cols; i++)
        better[i] = q[i] - q[p->words];
}

/* From r and lp to pi, scores and weights. */
static void weigh(const pass *p, const rela_align_look *look)
{
    const rela_kern *k = p->a->k;
    const rela_attn_kind *kind = p->a->kind;
    real *one = p->s->row + 4 * p->cols, *two = one + p->cols;
    const rela_attn_row row = { .k = k, .numbers = p->a->numbers, .scratch = p->s->row };
    for (size_t j = 0; j < p->rows; j++) {
        const real *lp = p->s->lp + j * p->cols, *r = p->s->r + j * p->words;
        real *s = look->scores + j * p->cols;
        const real rest = p->log_some - lp[p->words] - p->log_none;
        k->softmax(look->pi + j * p->words, r, p->words);
        k->log_softmax(one, r, p->words);
        for (size_t i = 0; i < p->words; i++)
            s[i] = lp[i] + one[i] + rest;
        s[p->words] = 0;
        const bool sums = kind->flags & ATTN_SUM_ONE;
        if (!sums)
            excess(p, two, one, s);
        kind->weigh(&row, look->weights + j * p->cols, sums ? s : two, p->cols);
    }
}

/* Losses of all rows; with gradients, also the backward pass of the second look: writes dr, and
 * replaces lp by its gradient. */
static rela_align_sums finish_rows(const pass *p, real *loss, const real *scale)
{
    const rela_align_look *look = &p->s->look[1];
    real *q = p->s->row;
    rela_align_sums sums = { 0, 0 };
    for (size_t j = 0; j < p->rows; j++) {
        const real *s = look->scores + j * p->cols;
        real *lp = p->s->lp + j * p->cols;
        const double weight = scale ? (double)scale[j] : 1;
        rela_exp_sum total = { 0, 0 };
        (void)p->a->k->exp_sum(&total, s, p->cols);
        const double row =
            -((double)total.base + log(total.sum) + (double)lp[p->words] + (double)p->log_none);
        if (loss)
            loss[j] = (real)row;
        sums.loss += weight * row;
        sums.nll += row;
        if (!p->g)
            continue;
        p->a->k->softmax(q, s, p->cols);
        p->a->k->scale(q, (real)-weight, p->cols);
        memcpy(lp, q, p->cols * sizeof *lp);
        prior_back(p, look, j, q);
    }
    return sums;
}

/* Backward through the prior of row j: d (cols) is the gradient of lp + log pi, null last. Writes
 * dr. */
static void prior_back(const pass *p, const rela_align_look *look, size_t j, const real *d)
{
    const real *pi = look->pi + j * p->words;
    real *dr = p->s->dr + j * p->words;
    const double pi0 = exp((double)p->log_none);
    const real all = sum(d, p->words);
    for (size_t i = 0; i < p->words; i++)
        dr[i] = d[i] - pi[i] * all;
    *p->g->null += (real)((double)d[p->words] * (1 - pi0) - pi0 * (double)all);
}

/* Backward from dr of the second look to the weights of the first one, and to around. */
static void around_back(const pass *p)
{
    const rela_kern *k = p->a->k;
    const real *w = p->s->look[0].weights;
    memset(p->s->dw, 0, p->rows * p->cols * sizeof *p->s->dw);
    for (size_t j = 0; j < p->rows; j++)
        for (size_t y = 0; y < RELA_ALIGN_AROUND; y++) {
            if (y == RELA_ALIGN_REACH || j + y < RELA_ALIGN_REACH ||
                j + y - RELA_ALIGN_REACH >= p->rows)
                continue;
            const size_t from = (j + y - RELA_ALIGN_REACH) * p->cols;
            for (size_t x = 0; x < RELA_ALIGN_AROUND; x++) {
                const size_t at = y * RELA_ALIGN_AROUND + x;
                const overlap o = overlap_of(p->words, x);
                const real *dr = p->s->dr + j * p->words + o.to;
                k->axpy(p->s->dw + from + o.from, p->a->around[at], dr, o.n);
                p->g->around[at] += k->dot(w + from + o.from, dr, o.n);
            }
        }
}

/* Backward from the weights of row j to its scores, in place. The score of null is constant: its
 * place receives the gradient of the null terms, which every other score subtracts. */
static void weigh_back(const pass *p, const rela_align_look *look, size_t j, real *d)
{
    const rela_kern *k = p->a->k;
    const rela_attn_kind *kind = p->a->kind;
    const rela_attn_row row = { .k = k, .numbers = p->a->numbers, .scratch = p->s->row };
    const real *w = look->weights + j * p->cols, *s = look->scores + j * p->cols;
    if (kind->flags & ATTN_SUM_ONE) {
        kind->weigh_back(&row, d, d, w, s, p->cols);
    } else {
        real *q = p->s->row + 4 * p->cols, *better = q + p->cols;
        excess(p, better, q, s);
        kind->weigh_back(&row, d, d, w, better, p->cols);
        d[p->words] = -sum(d, p->words);
        k->softmax_back(d, d, q, p->cols);
    }
    d[p->words] = -sum(d, p->words);
}

/* Backward through the weights and scores of the first look, row by row, to near and lp. near is
 * part of r in both looks, so it gets the gradient of the second before dr is overwritten. */
static void first_back(const pass *p)
{
    const rela_align_look *look = &p->s->look[0];
    near_back(p);
    for (size_t j = 0; j < p->rows; j++) {
        real *ds = p->s->dw + j * p->cols, *lp = p->s->lp + j * p->cols;
        weigh_back(p, look, j, ds);
        p->a->k->axpy(lp, 1, ds, p->cols);
        prior_back(p, look, j, ds);
    }
}

static void near_back(const pass *p)
{
    for (size_t j = 0; j < p->rows; j++)
        for (size_t i = 0; i < p->words; i++)
            p->g->near[distance(p, j, i)] += p->s->dr[j * p->words + i];
}

/* SPDX-License-Identifier: MIT */
/* src/analyse/measures.c - see measures.h. */
#include "analyse/measures.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const double rela_taus[RELA_TAUS] = { 1, 0.5, 0.25, 0.1 };

static void count_head(rela_head_sums *to, const rela_heads *h, size_t head, bool skip_end);
static void count_layer(rela_layer_sums *to, const rela_heads *h, bool skip_end);
static void add_diversity(rela_measures *m, const rela_heads *h);
static size_t zeros_of(const real *row, size_t n);
static double to_distribution(double *p, const real *w, size_t n, bool sum_one, double tau);
static double entropy(const double *p, size_t n);
static double share(double part, double all);

/* Returns whether all are. */
static bool find_sum_one(bool *heads, const rela_config *c, rela_attn_type t)
{
    bool all = true;
    for (size_t i = 0; i < rela_config_layers(c, t) * c->heads; i++) {
        heads[i] = rela_config_kind(c, t, i / c->heads, i % c->heads)->flags & ATTN_SUM_ONE;
        all = all && heads[i];
    }
    return all;
}

rela_status rela_measures_init(rela_measures *m, const rela_net *net, rela_error *err)
{
    *m = (rela_measures){ .stacks = net->list.stacks,
                          .n_stacks = net->list.n_stacks,
                          .heads = net->config.heads,
                          .diversity = true };
    for (size_t i = 0; i < m->n_stacks; i++) {
        const size_t layers = m->stacks[i].layers;
        m->head[i] = rela_mem_zalloc(layers * m->heads * sizeof *m->head[i]);
        m->layer[i] = rela_mem_zalloc(layers * sizeof *m->layer[i]);
        m->head_sum_one[i] = rela_mem_zalloc(layers * m->heads * sizeof *m->head_sum_one[i]);
        if (!m->head[i] || !m->layer[i] || !m->head_sum_one[i]) {
            rela_measures_deinit(m);
            return rela_fail(err, RELA_NOMEM, "no memory to measure attention");
        }
        m->sum_one[i] = find_sum_one(m->head_sum_one[i], &net->config, m->stacks[i].type);
    }
    return RELA_OK;
}

void rela_measures_deinit(rela_measures *m)
{
    for (size_t i = 0; i < m->n_stacks; i++) {
        rela_mem_free(m->head[i]);
        rela_mem_free(m->layer[i]);
        rela_mem_free(m->head_sum_one[i]);
    }
    rela_mem_free(m->scratch);
    *m = (rela_measures){ 0 };
}

void rela_measures_clear(rela_measures *m)
{
    for (size_t i = 0; i < m->n_stacks; i++) {
        memset(m->head[i], 0, m->stacks[i].layers * m->heads * sizeof *m->head[i]);
        memset(m->layer[i], 0, m->stacks[i].layers * sizeof *m->layer[i]);
    }
}

rela_status rela_measures_count(rela_measures *m, const rela_heads *h, rela_error *err)
{
    double *scratch = rela_mem_grow(m->scratch, &m->cap_scratch, 2 * (h->n_k + 1), sizeof *scratch);
    if (!scratch)
        return rela_fail(err, RELA_NOMEM, "no memory to measure attention");
    m->scratch = scratch;
    for (size_t k = 0; k < h->heads; k++)
        count_head(&m->head[h->stack][h->layer * m->heads + k], h, k, m->skip_end);
    count_layer(&m->layer[h->stack][h->layer], h, m->skip_end);
    if (m->diversity && h->n_k)
        add_diversity(m, h);
    return RELA_OK;
}

void rela_measures_add(rela_measures *sum, const rela_measures *x)
{
    for (size_t p = 0; p < sum->n_stacks; p++) {
        for (size_t i = 0; i < sum->stacks[p].layers * sum->heads; i++) {
            rela_head_sums *a = &sum->head[p][i];
            const rela_head_sums *b = &x->head[p][i];
            a->zeros += b->zeros;
            a->pairs += b->pairs;
            a->null_rows += b->null_rows;
            a->rows += b->rows;
            a->zero_shares += b->zero_shares;
            a->null_shares += b->null_shares;
            a->sentences += b->sentences;
            a->with_keys += b->with_keys;
        }
        for (size_t i = 0; i < sum->stacks[p].layers; i++) {
            rela_layer_sums *a = &sum->layer[p][i];
            const rela_layer_sums *b = &x->layer[p][i];
            for (int k = 0; k < RELA_TAUS; k++)
                a->js[k] += b->js[k];
            a->null_rows += b->null_rows;
            a->rows += b->rows;
            a->sentences += b->sentences;
        }
    }
}

bool rela_measures_sum_one(const rela_measures *m)
{
    bool all = true;
    for (size_t i = 0; i < m->n_stacks; i++)
        all = all && m->sum_one[i];
    return all;
}

double rela_sparsity_micro(const rela_head_sums *s)
{
    return share((double)s->zeros, (double)s->pairs);
}

double rela_sparsity_macro(const rela_head_sums *s)
{
    return share(s->zero_shares, (double)s->with_keys);
}

double rela_null_micro(const rela_head_sums *s)
{
    return share((double)s->null_rows, (double)s->rows);
}

double rela_null_macro(const rela_head_sums *s)
{
    return share(s->null_shares, (double)s->sentences);
}

double rela_layer_js(const rela_layer_sums *s, size_t tau)
{
    return share(s->js[tau], (double)s->sentences);
}

double rela_head_null(const rela_heads *h, size_t head, bool skip_end)
{
    rela_head_sums sums = { 0 };
    count_head(&sums, h, head, skip_end);
    return rela_null_micro(&sums);
}

rela_spread rela_spread_over_heads(const rela_measures *m, size_t stack, size_t layer,
                                   double (*figure)(const rela_head_sums *s))
{
    const rela_head_sums *heads = m->head[stack] + layer * m->heads;
    rela_spread r = { 0, 0 };
    for (size_t k = 0; k < m->heads; k++)
        r.mean += figure(&heads[k]) / (double)m->heads;
    for (size_t k = 0; k < m->heads && m->heads > 1; k++) {
        const double d = figure(&heads[k]) - r.mean;
        r.variance += d * d / (double)(m->heads - 1);
    }
    return r;
}

double rela_js(const real *w, size_t heads, size_t stride, size_t n, const bool *sum_one,
               double tau, double *scratch)
{
    double *p = scratch, *mean = scratch + n + 1, inside = 0;
    for (size_t i = 0; i <= n; i++)
        mean[i] = 0;
    for (size_t k = 0; k < heads; k++) {
        inside += to_distribution(p, w + k * stride, n, sum_one[k], tau);
        for (size_t i = 0; i <= n; i++)
            mean[i] += p[i] / (double)heads;
    }
    const double js = entropy(mean, n + 1) - inside / (double)heads;
    return js > 0 ? js : 0; /* rounding may make it negative */
}

static void count_head(rela_head_sums *to, const rela_heads *h, size_t head, bool skip_end)
{
    uint64_t zeros = 0, pairs = 0, null_rows = 0;
    const size_t rows = h->n_q - (skip_end && h->n_q > 1);
    for (size_t q = 0; q < h->n_q; q++) {
        const size_t n = rela_heads_keys(h, q),
                     z = zeros_of(h->w + (head * h->n_q + q) * h->n_k, n);
        zeros += z;
        pairs += n;
        null_rows += z == n && q < rows;
    }
    to->zeros += zeros;
    to->pairs += pairs;
    to->null_rows += null_rows;
    to->rows += rows;
    to->zero_shares += share((double)zeros, (double)pairs);
    to->null_shares += share((double)null_rows, (double)rows);
    to->sentences++;
    to->with_keys += h->n_k > 0;
}

/* A query of the layer is null if it is null in every head. */
static void count_layer(rela_layer_sums *to, const rela_heads *h, bool skip_end)
{
    const size_t rows = h->n_q - (skip_end && h->n_q > 1);
    for (size_t q = 0; q < rows; q++) {
        const size_t n = rela_heads_keys(h, q);
        size_t k = 0;
        while (k < h->heads && zeros_of(h->w + (k * h->n_q + q) * h->n_k, n) == n)
            k++;
        to->null_rows += k == h->heads;
    }
    to->rows += rows;
    to->sentences += h->n_k > 0;
}

static void add_diversity(rela_measures *m, const rela_heads *h)
{
    rela_layer_sums *to = &m->layer[h->stack][h->layer];
    const size_t stride = h->n_q * h->n_k;
    const bool *sum_one = m->head_sum_one[h->stack] + h->layer * m->heads;
    for (size_t k = 0; k < RELA_TAUS; k++) {
        double sum = 0;
        if (m->sum_one[h->stack] && k > 0) { /* tau has no effect */
            to->js[k] = to->js[0];
            continue;
        }
        for (size_t q = 0; q < h->n_q; q++)
            sum += rela_js(h->w + q * h->n_k, h->heads, stride, rela_heads_keys(h, q), sum_one,
                           rela_taus[k], m->scratch);
        to->js[k] += sum / (double)h->n_q;
    }
}

static size_t zeros_of(const real *row, size_t n)
{
    size_t zeros = 0;
    for (size_t i = 0; i < n; i++)
        zeros += row[i] == 0;
    return zeros;
}

/* p (n + 1); p[n] is the mass of a null row. Returns the entropy of p. */
static double to_distribution(double *p, const real *w, size_t n, bool sum_one, double tau)
{
    double most = -INFINITY, sum = 0;
    p[n] = zeros_of(w, n) == n;
    if (p[n] > 0) {
        for (size_t i = 0; i < n; i++)
            p[i] = 0;
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        const double x = (double)w[i];
        p[i] = sum_one || tau == 1 ? x : copysign(pow(fabs(x), tau), x);
        most = p[i] > most ? p[i] : most;
    }
    for (size_t i = 0; i < n && !sum_one; i++) {
        p[i] = exp(p[i] - most);
        sum += p[i];
    }
    for (size_t i = 0; i < n && !sum_one; i++)
        p[i] /= sum;
    return entropy(p, n);
}

static double entropy(const double *p, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum -= p[i] > 0 ? p[i] * log(p[i]) : 0;
    return sum;
}

static double share(double part, double all)
{
    return all > 0 ? part / all : 0;
}

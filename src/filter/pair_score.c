/* SPDX-License-Identifier: MIT */
/* src/filter/pair_score.c - see pair_score.h. */
#include "filter/pair_score.h"

#include "analyse/measures.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { FEATURES = 6 };                    /* not counting those of the heads */
static const double LEAST_COVERAGE = 0.5; /* of the mean */

rela_status rela_pair_scores_init(rela_pair_scores *s, const rela_config *c, size_t n,
                                  rela_error *err)
{
    *s = (rela_pair_scores){ .layers = rela_config_layers(c, RELA_ATTN_CROSS),
                             .heads = c->heads,
                             .n = n };
    s->null = rela_mem_array(n * s->layers * s->heads, sizeof *s->null);
    s->mass = rela_mem_array(n * RELA_WATCH_TOKENS_MAX, sizeof *s->mass);
    if (s->null && s->mass)
        return RELA_OK;
    rela_pair_scores_deinit(s);
    return rela_fail(err, RELA_NOMEM, "no memory to score %zu pairs", n);
}

void rela_pair_scores_deinit(rela_pair_scores *s)
{
    rela_mem_free(s->null);
    rela_mem_free(s->mass);
    *s = (rela_pair_scores){ 0 };
}

void rela_pair_scores_clear(rela_pair_scores *s)
{
    memset(s->null, 0, s->n * s->layers * s->heads * sizeof *s->null);
    memset(s->mass, 0, s->n * RELA_WATCH_TOKENS_MAX * sizeof *s->mass);
}

void rela_pair_scores_add(rela_pair_scores *s, const rela_heads *h, const rela_watched *p)
{
    double *mass = s->mass + h->pair * RELA_WATCH_TOKENS_MAX;
    double *null = s->null + (h->pair * s->layers + h->layer) * s->heads;
    for (size_t k = 0; k < h->heads; k++) {
        null[k] = rela_head_null(h, k, false);
        for (size_t q = 0; q < h->n_q; q++) {
            const real *row = h->w + (k * h->n_q + q) * h->n_k;
            double sum = 0;
            for (size_t i = 0; i < h->n_k; i++)
                sum += fabs((double)row[i]);
            for (size_t i = 0; i < p->src[0].map.n_pieces && sum > 0; i++)
                mass[p->src[0].map.word_of[i]] += fabs((double)row[i]) / sum;
        }
    }
}

double rela_pair_uncovered(const rela_pair_scores *s, size_t pair, const rela_watched *p)
{
    const double *mass = s->mass + pair * RELA_WATCH_TOKENS_MAX;
    const size_t n = p->src[0].map.n_words;
    double mean = 0;
    size_t uncovered = 0;
    for (size_t i = 0; i < n; i++)
        mean += mass[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        uncovered += mass[i] <= LEAST_COVERAGE * mean;
    return n ? (double)uncovered / (double)n : 0;
}

double rela_pair_null(const rela_pair_scores *s, size_t pair, const bool *marks)
{
    const size_t n = s->layers * s->heads;
    double sum = 0, used = 0;
    for (size_t i = 0; i < n; i++)
        if (!marks || marks[i]) {
            sum += s->null[pair * n + i];
            used++;
        }
    return used > 0 ? sum / used : 0;
}

/* Coefficient of variation (standard deviation over mean) of the attention to source words. */
static double unevenness(const rela_pair_scores *s, size_t pair, const rela_watched *p)
{
    const double *mass = s->mass + pair * RELA_WATCH_TOKENS_MAX;
    const size_t n = p->src[0].map.n_words;
    double mean = 0, square = 0;
    for (size_t i = 0; i < n; i++)
        mean += mass[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += (mass[i] - mean) * (mass[i] - mean) / (double)n;
    return mean > 0 ? sqrt(square) / mean : 0;
}

size_t rela_pair_n_features(const rela_pair_scores *s)
{
    return FEATURES + s->layers * s->heads;
}

void rela_pair_features(double *row, const rela_pair_scores *s, size_t pair, const rela_watched *p)
{
    const size_t n = s->layers * s->heads;
    const double ratio = log((double)p->tgt.n / (double)p->src[0].n);
    row[0] = -p->nll / (double)p->tgt.n;
    row[1] = rela_pair_uncovered(s, pair, p);
    row[2] = rela_pair_null(s, pair, NULL);
    row[3] = ratio;
    row[4] = ratio * ratio;
    row[5] = unevenness(s, pair, p);
    memcpy(row + FEATURES, s->null + pair * n, n * sizeof *row);
}

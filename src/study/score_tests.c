/* SPDX-License-Identifier: MIT */
/* src/study/score_tests.c - scores of translations: pooled over test sets, compared over seeds; see
 * claims.h. */
#include "base/mem.h"
#include "study/claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS_MAX = 64 };

/* The statistics of one model: a block of all test sets for each seed. */
typedef struct pooled {
    uint32_t *stats[SEEDS_MAX];
    int64_t seeds[SEEDS_MAX];
    size_t n_seeds, n, k;
} pooled;

static rela_status pool(pooled *out, const rela_facts *f, const rela_fact_key *query,
                        rela_error *err);
static rela_status pool_seed(pooled *out, const rela_facts *f, const rela_fact_key *query,
                             int64_t seed, rela_error *err);
static void unpool(pooled *p);
static const rela_metric *metric_of(const rela_claim_means *how, const char *measure);
static int compare_seeds(const void *a, const void *b);

/* A query that names no test set is about all of them, but not about validation text. */
static bool scored(const rela_fact_key *key, const rela_fact_key *query)
{
    return rela_fact_matches(key, query) && (query->test || strcmp(key->test, "valid") != 0);
}

rela_status rela_scores_compare(rela_study_effect *out, const rela_facts *facts,
                                const rela_fact_key *a, const rela_fact_key *b,
                                const rela_claim_means *how, rela_error *err)
{
    pooled pa = { .n = 0 }, pb = { .n = 0 };
    *out = (rela_study_effect){ .n = 0 };
    rela_status st = pool(&pa, facts, a, err);
    if (st == RELA_OK && b)
        st = pool(&pb, facts, b, err);
    if (st == RELA_OK && pa.n_seeds && (!b || (pb.n_seeds && pa.n == pb.n && pa.k == pb.k))) {
        const rela_study_contrast c = { { (const uint32_t *const *)pa.stats, pa.n_seeds },
                                        { (const uint32_t *const *)pb.stats, pb.n_seeds },
                                        pa.n,
                                        pa.k,
                                        rela_metric_score_fn,
                                        metric_of(how, a->measure) };
        st = rela_study_bootstrap(out, &c, how->samples, how->seed, err);
    }
    unpool(&pa);
    unpool(&pb);
    return st;
}

double rela_scores_of_seed(const rela_facts *facts, const rela_fact_key *query, int64_t seed,
                           const rela_claim_means *how)
{
    uint64_t sums[RELA_STATS_MAX] = { 0 };
    bool any = false;
    rela_fact_key key = *query;
    key.seed = seed;
    for (size_t i = 0; i < facts->n_scores; i++) {
        const rela_fact_scores *s = &facts->scores[i];
        if (!scored(&s->key, &key))
            continue;
        rela_stats_add(sums, s->stats, s->n, s->k);
        any = true;
    }
    return any ? rela_metric_score(metric_of(how, query->measure), sums) : (double)NAN;
}

size_t rela_scores_seeds(int64_t *seeds, size_t max, const rela_facts *facts,
                         const rela_fact_key *query)
{
    size_t n = 0;
    for (size_t i = 0; i < facts->n_scores; i++) {
        const rela_fact_scores *s = &facts->scores[i];
        bool known = !scored(&s->key, query);
        for (size_t j = 0; j < n && !known; j++)
            known = seeds[j] == s->key.seed;
        if (!known && n < max)
            seeds[n++] = s->key.seed;
    }
    qsort(seeds, n, sizeof *seeds, compare_seeds);
    return n;
}

/* ---- pooling ---- */

static rela_status pool(pooled *out, const rela_facts *f, const rela_fact_key *query,
                        rela_error *err)
{
    rela_status st = RELA_OK;
    const size_t n = rela_scores_seeds(out->seeds, SEEDS_MAX, f, query);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = pool_seed(out, f, query, out->seeds[i], err);
    return st;
}

/* Seeds that lack a test set which others have are left out. */
static rela_status pool_seed(pooled *out, const rela_facts *f, const rela_fact_key *query,
                             int64_t seed, rela_error *err)
{
    rela_fact_key key = *query;
    size_t n = 0, k = 0, filled = 0;
    key.seed = seed;
    for (size_t i = 0; i < f->n_scores; i++)
        if (scored(&f->scores[i].key, &key)) {
            n += f->scores[i].n;
            k = f->scores[i].k;
        }
    if (out->n_seeds && (n != out->n || k != out->k))
        return RELA_OK;
    uint32_t *stats = rela_mem_array(n * k + 1, sizeof *stats);
    if (!stats)
        return rela_fail(err, RELA_NOMEM, "no memory for the statistics of %zu sentences", n);
    for (size_t i = 0; i < f->n_scores; i++) {
        const rela_fact_scores *s = &f->scores[i];
        if (!scored(&s->key, &key) || s->k != k)
            continue;
        memcpy(stats + filled, s->stats, s->n * k * sizeof *stats);
        filled += s->n * k;
    }
    out->n = n;
    out->k = k;
    out->seeds[out->n_seeds] = seed;
    out->stats[out->n_seeds++] = stats;
    return RELA_OK;
}

static void unpool(pooled *p)
{
    for (size_t i = 0; i < p->n_seeds; i++)
        rela_mem_free(p->stats[i]);
}

static const rela_metric *metric_of(const rela_claim_means *how, const char *measure)
{
    if (strcmp(measure, "chrf") == 0)
        return how->chrf;
    return strcmp(measure, "bleu-tokenised") == 0 ? how->bleu_tokenised : how->bleu;
}

static int compare_seeds(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

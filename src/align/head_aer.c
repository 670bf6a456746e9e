/* SPDX-License-Identifier: MIT */
/* src/align/head_aer.c - see head_aer.h. */
#include "align/head_aer.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

static size_t row_of(const rela_head_aer *a, rela_head_choice c);
static rela_status count(rela_head_aer *a, const rela_word_weights *m, rela_head_choice c,
                         const rela_links *gold, rela_error *err);
static rela_status total_room(rela_head_aer *a, size_t pair, rela_error *err);
static bool lower(const rela_head_aer *a, rela_head_choice x, rela_head_choice than);

rela_status rela_head_aer_init(rela_head_aer *a, size_t layers, size_t heads, double threshold,
                               rela_error *err)
{
    *a = (rela_head_aer){ .layers = layers, .heads = heads, .threshold = threshold };
    a->sums = rela_mem_zalloc(2 * (layers * (heads + 1) + 1) * sizeof *a->sums);
    return a->sums ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory to score heads");
}

void rela_head_aer_deinit(rela_head_aer *a)
{
    for (size_t i = 0; i < a->n_totals; i++)
        for (int k = 0; k < 2; k++)
            rela_word_weights_free(&a->totals[i][k]);
    rela_mem_free(a->totals);
    rela_mem_free(a->sums);
    rela_mem_free(a->mean);
    rela_word_weights_free(&a->merged);
    rela_links_free(&a->links);
    *a = (rela_head_aer){ 0 };
}

rela_status rela_head_aer_layer(rela_head_aer *a, const rela_heads *h, const rela_watched *p,
                                const rela_links *gold, rela_error *err)
{
    const size_t n = h->n_q * h->n_k;
    rela_status st = total_room(a, h->pair, err);
    real *mean = rela_mem_grow(a->mean, &a->cap_mean, n, sizeof *mean);
    if (!mean)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu weights", n);
    a->mean = mean;
    rela_heads_mean(mean, h);
    for (int shift = 0; shift < 2; shift++)
        for (size_t k = 0; k <= h->heads && st == RELA_OK; k++) { /* the last is the mean */
            const bool is_mean = k == h->heads;
            const rela_head_choice c = { (int32_t)h->layer,
                                         is_mean ? (int32_t)RELA_HEAD_MEAN : (int32_t)k,
                                         shift == 1 };
            st = rela_word_weights_merge(&a->merged, is_mean ? mean : h->w + k * n,
                                         &p->src[h->of->keys], &p->tgt, c.shift, err);
            if (st == RELA_OK)
                st = count(a, &a->merged, c, gold, err);
            if (st == RELA_OK && is_mean)
                st = rela_word_weights_add(&a->totals[h->pair][shift], &a->merged, err);
        }
    return st;
}

rela_status rela_head_aer_ran(rela_head_aer *a, size_t pair, const rela_links *gold,
                              rela_error *err)
{
    rela_status st = total_room(a, pair, err);
    for (int shift = 0; shift < 2 && st == RELA_OK; shift++) {
        const rela_head_choice c = { RELA_HEAD_MEAN, RELA_HEAD_MEAN, shift == 1 };
        st = count(a, &a->totals[pair][shift], c, gold, err);
        rela_word_weights_free(&a->totals[pair][shift]);
    }
    a->pairs++;
    return st;
}

void rela_head_aer_missed(rela_head_aer *a, const rela_links *gold)
{
    const rela_links none = { NULL, 0, 0 };
    uint32_t stats[RELA_AER_STATS];
    rela_aer_count(stats, gold, &none);
    for (size_t i = 0; i < 2 * (a->layers * (a->heads + 1) + 1); i++)
        for (int k = 0; k < RELA_AER_STATS; k++)
            a->sums[i][k] += stats[k];
    a->pairs++;
}

void rela_head_aer_add(rela_head_aer *sum, const rela_head_aer *x)
{
    const size_t rows = 2 * (sum->layers * (sum->heads + 1) + 1);
    assert(sum->layers == x->layers && sum->heads == x->heads);
    for (size_t i = 0; i < rows; i++)
        for (int k = 0; k < RELA_AER_STATS; k++)
            sum->sums[i][k] += x->sums[i][k];
    sum->pairs += x->pairs;
}

double rela_head_aer_get(const rela_head_aer *a, rela_head_choice c)
{
    rela_aer_figures f = { .struct_size = sizeof f };
    (void)rela_aer_figures_get(&f, a->sums[row_of(a, c)], NULL);
    return f.aer;
}

rela_head_choice rela_head_aer_best(const rela_head_aer *a)
{
    rela_head_choice best = { 0, 0, false };
    for (size_t layer = 0; layer < a->layers; layer++)
        for (int shift = 0; shift < 2; shift++) {
            const rela_head_choice of = rela_head_aer_best_of(a, layer, shift == 1);
            const rela_head_choice mean = { (int32_t)layer, RELA_HEAD_MEAN, shift == 1 };
            best = lower(a, of, best) ? of : best;
            best = lower(a, mean, best) ? mean : best;
        }
    for (int shift = 0; shift < 2; shift++) {
        const rela_head_choice all = { RELA_HEAD_MEAN, RELA_HEAD_MEAN, shift == 1 };
        best = lower(a, all, best) ? all : best;
    }
    return best;
}

rela_head_choice rela_head_aer_best_of(const rela_head_aer *a, size_t layer, bool shift)
{
    rela_head_choice best = { (int32_t)layer, 0, shift };
    for (size_t k = 1; k < a->heads; k++) {
        const rela_head_choice c = { (int32_t)layer, (int32_t)k, shift };
        best = lower(a, c, best) ? c : best;
    }
    return best;
}

static size_t row_of(const rela_head_aer *a, rela_head_choice c)
{
    const size_t head = c.head == RELA_HEAD_MEAN ? a->heads : (size_t)c.head;
    const size_t row = c.layer == RELA_HEAD_MEAN ? a->layers * (a->heads + 1)
                                                 : (size_t)c.layer * (a->heads + 1) + head;
    return 2 * row + c.shift;
}

static rela_status count(rela_head_aer *a, const rela_word_weights *m, rela_head_choice c,
                         const rela_links *gold, rela_error *err)
{
    uint32_t stats[RELA_AER_STATS];
    const rela_status st = rela_word_weights_links(&a->links, m, a->threshold, false, err);
    if (st != RELA_OK)
        return st;
    rela_aer_count(stats, gold, &a->links);
    for (int k = 0; k < RELA_AER_STATS; k++)
        a->sums[row_of(a, c)][k] += stats[k];
    return RELA_OK;
}

static rela_status total_room(rela_head_aer *a, size_t pair, rela_error *err)
{
    if (pair < a->n_totals)
        return RELA_OK;
    rela_word_weights(*totals)[2] = rela_mem_resize(a->totals, (pair + 1) * sizeof *totals);
    if (!totals)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu pairs", pair + 1);
    memset(totals + a->n_totals, 0, (pair + 1 - a->n_totals) * sizeof *totals);
    a->totals = totals;
    a->n_totals = pair + 1;
    return RELA_OK;
}

static bool lower(const rela_head_aer *a, rela_head_choice x, rela_head_choice than)
{
    return rela_head_aer_get(a, x) < rela_head_aer_get(a, than);
}

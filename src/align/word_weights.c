/* SPDX-License-Identifier: MIT */
/* src/align/word_weights.c - see word_weights.h. */
#include "align/word_weights.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static rela_status reserve(rela_word_weights *m, size_t n_tgt, size_t n_src, rela_error *err);
static rela_status push(rela_links *out, size_t src, size_t tgt, rela_error *err);
static int by_source(const void *a, const void *b);

void rela_word_weights_free(rela_word_weights *m)
{
    rela_mem_free(m->w);
    *m = (rela_word_weights){ 0 };
}

rela_status rela_word_weights_merge(rela_word_weights *out, const real *w,
                                    const rela_watched_text *src, const rela_watched_text *tgt,
                                    bool shift, rela_error *err)
{
    const rela_status st = reserve(out, tgt->map.n_words, src->map.n_words, err);
    if (st == RELA_OK && src->n)
        rela_words_merge(out->w, w + (shift ? src->n : 0), src->n, &src->map, &tgt->map);
    else if (st == RELA_OK)
        memset(out->w, 0, tgt->map.n_words * sizeof *out->w);
    return st;
}

rela_status rela_word_weights_add(rela_word_weights *sum, const rela_word_weights *x,
                                  rela_error *err)
{
    const size_t n = x->n_tgt * (x->n_src + 1);
    if (!sum->w) {
        const rela_status st = reserve(sum, x->n_tgt, x->n_src, err);
        for (size_t i = 0; i < n && st == RELA_OK; i++)
            sum->w[i] = x->w[i];
        return st;
    }
    assert(sum->n_tgt == x->n_tgt && sum->n_src == x->n_src);
    for (size_t i = 0; i < n; i++)
        sum->w[i] += x->w[i];
    return RELA_OK;
}

rela_status rela_word_weights_links(rela_links *out, const rela_word_weights *m, double threshold,
                                    bool transposed, rela_error *err)
{
    rela_status st = RELA_OK;
    out->n = 0;
    for (size_t t = 0; t < m->n_tgt && st == RELA_OK; t++) {
        const real *row = m->w + t * (m->n_src + 1);
        const double sum = threshold > 0 ? rela_weight_sum(row, m->n_src + 1) : 0;
        size_t first = 0, end = m->n_src;
        if (threshold <= 0) {
            const uint32_t best = rela_words_link(row, m->n_src);
            first = best == RELA_NO_LINK ? end : best;
            end = best == RELA_NO_LINK ? end : best + 1;
        }
        for (size_t s = first; s < end && st == RELA_OK; s++)
            if (row[s] > 0 && (double)row[s] >= threshold * sum)
                st = transposed ? push(out, t, s, err) : push(out, s, t, err);
    }
    if (st == RELA_OK && out->n && !transposed)
        qsort(out->items, out->n, sizeof *out->items, by_source);
    return st;
}

double rela_weight_sum(const real *row, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += row[i] > 0 ? (double)row[i] : 0;
    return sum;
}

static void bound_rows(rela_word_weights *m)
{
    const size_t ld = m->n_src + 1;
    for (size_t t = 0; t < m->n_tgt; t++) {
        real *row = m->w + t * ld;
        const double sum = rela_weight_sum(row, ld);
        for (size_t s = 0; s < ld; s++)
            row[s] = row[s] > 0 ? (real)((double)row[s] / (sum > 1 ? sum : 1)) : 0;
    }
}

rela_status rela_word_weights_both(rela_links *out, rela_word_weights *forward,
                                   rela_word_weights *reverse, double threshold, rela_error *err)
{
    rela_status st = RELA_OK;
    out->n = 0;
    bound_rows(forward);
    bound_rows(reverse);
    for (size_t s = 0; s < forward->n_src; s++)
        for (size_t t = 0; t < forward->n_tgt && st == RELA_OK; t++) {
            const double there = (double)forward->w[t * (forward->n_src + 1) + s];
            const double back = (double)reverse->w[s * (reverse->n_src + 1) + t];
            if ((there + back) / 2 >= threshold)
                st = push(out, s, t, err);
        }
    return st;
}

void rela_heads_mean(real *out, const rela_heads *h)
{
    const size_t n = h->n_q * h->n_k;
    const real share = (real)1 / (real)h->heads;
    for (size_t i = 0; i < n; i++)
        out[i] = 0;
    for (size_t k = 0; k < h->heads; k++)
        for (size_t i = 0; i < n; i++)
            out[i] += share * h->w[k * n + i];
}

static rela_status reserve(rela_word_weights *m, size_t n_tgt, size_t n_src, rela_error *err)
{
    real *w = rela_mem_grow(m->w, &m->cap, n_tgt * (n_src + 1) + 1, sizeof *w);
    if (!w)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu x %zu words", n_tgt, n_src);
    m->w = w;
    m->n_tgt = n_tgt;
    m->n_src = n_src;
    return RELA_OK;
}

static rela_status push(rela_links *out, size_t src, size_t tgt, rela_error *err)
{
    rela_link *items = rela_mem_grow(out->items, &out->cap, out->n + 1, sizeof *items);
    if (!items)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu links", out->n + 1);
    out->items = items;
    items[out->n++] = (rela_link){ (uint32_t)src, (uint32_t)tgt, 0 };
    return RELA_OK;
}

static int by_source(const void *a, const void *b)
{
    const rela_link *x = a, *y = b;
    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    return x->tgt < y->tgt ? -1 : x->tgt > y->tgt;
}

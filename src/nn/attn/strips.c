/* SPDX-License-Identifier: MIT */
/* src/nn/attn/strips.c - attention of any kind: strips of queries against all keys; see head.h.
 *
 * Keys, and in the backward pass values, are packed into panels, so that scores are products whose
 * vectors run along the keys. Products that sum over keys go block by block, so that the values of
 * a block are read once from memory and then from the cache. */
#include "nn/attn/method.h"

#include <string.h>

/* Queries [first, first + m), keys [0, n). */
typedef struct strip {
    size_t first, m, n;
    size_t padded; /* n rounded up: reals from one row of scores to the next */
} strip;

static strip strip_at(const rela_attn_head *h, size_t first);
static void take_keys(const rela_attn_head *h, bool back);
static void pack_panels(const rela_attn_head *h, real *to, const real *rows, size_t ld);
static void weigh_strip(const rela_attn_head *h, const strip *t);
static void clear_after(const rela_attn_head *h, const strip *t, real *row, size_t n);
static void weigh_pattern(const rela_attn_head *h, const strip *t, size_t i);
static void weigh_strip_back(const rela_attn_head *h, const strip *t);
static void weigh_pattern_back(const rela_attn_head *h, const strip *t, size_t i);
static void drop_strip(const rela_attn_head *h, const strip *t, real *x);
static void along_keys(const rela_attn_head *h, const strip *t, real *to, size_t ld, const real *w,
                       const real *rows);
static size_t visible(const rela_attn_head *h, const strip *t, size_t i);

static void forward(const rela_attn_head *h, real *out, size_t ldz)
{
    const rela_attn_scratch *s = h->s;
    take_keys(h, false);
    rela_attn_take_rows(h, s->values, h->v, h->ldv, h->n_k);
    for (size_t i = 0; i < h->n_q; i += RELA_ATTN_STRIP) {
        const strip t = strip_at(h, i);
        rela_attn_take_queries(h, t.first, t.m);
        weigh_strip(h, &t);
        rela_attn_show(h, i, t.m, t.n, t.padded);
        drop_strip(h, &t, s->weights);
        along_keys(h, &t, out + i * ldz, ldz, s->weights, s->values);
    }
}

/* Gradient of one strip: dV += W^T dO, dW = dO V^T, dS, dQ = dS K, dK += dS^T Q. */
static void strip_back(const rela_attn_head *h, const strip *t, const rela_attn_head_grad *g)
{
    const rela_attn *a = h->a;
    const rela_attn_scratch *s = h->s;
    const bool drops = a->drop.threshold != 0;
    const real *used = drops ? s->dropped : s->weights;
    rela_attn_take_queries(h, t->first, t->m);
    rela_attn_take_rows(h, s->mixed, g->dz + t->first * g->ldz, g->ldz, t->m);
    weigh_strip(h, t);
    if (drops) {
        memcpy(s->dropped, s->weights, t->m * t->padded * sizeof *s->dropped);
        drop_strip(h, t, s->dropped);
    }
    a->k->mm(s->dvalues, s->wide, used, 1, t->padded, s->mixed, s->wide, t->n, s->wide, t->m, true);
    a->k->packed(s->dweights, t->padded, s->mixed, s->wide, s->values_p, NULL, t->m, t->padded,
                 a->d_head, false);
    drop_strip(h, t, s->dweights);
    weigh_strip_back(h, t);
    along_keys(h, t, s->dqueries, s->wide, s->dweights, s->keys);
    a->k->mm(s->dkeys, s->wide, s->dweights, 1, t->padded, s->queries, s->wide, t->n, s->wide, t->m,
             true);
    rela_attn_put_dqueries(h, g->dq, t->first, t->m);
}

static void back(const rela_attn_head *h, const rela_attn_head_grad *g)
{
    const rela_attn_scratch *s = h->s;
    take_keys(h, true);
    rela_attn_take_rows(h, s->values, h->v, h->ldv, h->n_k);
    pack_panels(h, s->values_p, s->values, s->wide);
    memset(s->dkeys, 0, h->n_k * s->wide * sizeof *s->dkeys);
    memset(s->dvalues, 0, h->n_k * s->wide * sizeof *s->dvalues);
    for (size_t i = 0; i < h->n_q; i += RELA_ATTN_STRIP) {
        const strip t = strip_at(h, i);
        strip_back(h, &t, g);
    }
    rela_attn_put_rows(h, g->dk, h->ldk, s->dkeys, h->n_k, NULL, 0);
    rela_attn_put_rows(h, g->dv, h->ldv, s->dvalues, h->n_k, NULL, 0);
}

/* Rows of scores are an odd number of vectors apart: otherwise the columns of a strip would compete
 * for the same few cache sets. */
static strip strip_at(const rela_attn_head *h, size_t first)
{
    const size_t rest = h->n_q - first, m = rest < RELA_ATTN_STRIP ? rest : RELA_ATTN_STRIP;
    const size_t n = rela_attn_reach(h, first, m), lanes = h->a->k->lanes;
    size_t padded = rela_round_up(n, lanes);
    if (padded > RELA_ATTN_BLOCK && padded / lanes % 2 == 0)
        padded += lanes;
    return (strip){ first, m, n, padded };
}

/* Keys of this head as panels, and for a backward pass as rows too. */
static void take_keys(const rela_attn_head *h, bool back)
{
    const rela_attn_scratch *s = h->s;
    if (!back) {
        pack_panels(h, s->keys_p, h->k, h->ldk);
        return;
    }
    rela_attn_take_rows(h, s->keys, h->k, h->ldk, h->n_k);
    pack_panels(h, s->keys_p, s->keys, s->wide);
}

/* Zero-filled as far as a strip may be padded. */
static void pack_panels(const rela_attn_head *h, real *to, const real *rows, size_t ld)
{
    const rela_attn *a = h->a;
    const size_t whole = rela_round_up(h->n_k, a->k->panel);
    const size_t padded = rela_round_up(h->n_k, a->k->lanes) + a->k->lanes;
    const size_t most = rela_round_up(padded, a->k->panel);
    a->k->pack(to, rows, ld, h->n_k, a->d_head);
    memset(to + whole * a->d_head, 0, (most - whole) * a->d_head * sizeof *to);
}

/* to (m, d_head) = w (m, n) rows (n, wide), a block of keys at a time. */
static void along_keys(const rela_attn_head *h, const strip *t, real *to, size_t ld, const real *w,
                       const real *rows)
{
    const size_t wide = h->s->wide;
    for (size_t j = 0; j < t->n; j += RELA_ATTN_BLOCK) {
        const size_t n = t->n - j < RELA_ATTN_BLOCK ? t->n - j : RELA_ATTN_BLOCK;
        h->a->k->mm(to, ld, w + j, t->padded, 1, rows + j * wide, wide, t->m, h->a->d_head, n,
                    j > 0);
    }
}

/* Scores and weights of a strip. After the visible keys of a row all weights are zero. */
static void weigh_strip(const rela_attn_head *h, const strip *t)
{
    const rela_attn *a = h->a;
    const rela_attn_scratch *s = h->s;
    a->k->packed(s->scores, t->padded, s->queries, s->wide, s->keys_p, NULL, t->m, t->padded,
                 a->d_head, false);
    for (size_t i = 0; i < t->m; i++) {
        real *score = s->scores + i * t->padded, *weight = s->weights + i * t->padded;
        const size_t n = visible(h, t, i);
        if (a->kind->pattern) {
            weigh_pattern(h, t, i);
        } else {
            rela_attn_fill_row(a->kind, a->k, score, n);
            a->kind->weigh(&h->row, weight, score, rela_attn_row_length(a->kind, a->k, n));
        }
        clear_after(h, t, weight, n);
    }
}

static void clear_after(const rela_attn_head *h, const strip *t, real *row, size_t n)
{
    const size_t whole = rela_round_up(n, h->a->k->lanes);
    h->a->k->cut(row, n, 0);
    if (whole < t->padded)
        memset(row + whole, 0, (t->padded - whole) * sizeof *row);
}

/* Gathers the scores a pattern leaves, weighs them, and puts the weights back in place. */
static void weigh_pattern(const rela_attn_head *h, const strip *t, size_t i)
{
    const rela_attn_scratch *s = h->s;
    const size_t n = visible(h, t, i);
    real *score = s->scores + i * t->padded, *weight = s->weights + i * t->padded;
    real *few = s->row + 4 * s->ld, *few_weights = s->row + 5 * s->ld;
    const size_t m = h->a->kind->pattern(h->a->numbers, s->visible, t->first + i, n);
    for (size_t j = 0; j < m; j++)
        few[j] = score[s->visible[j]];
    memset(weight, 0, n * sizeof *weight);
    if (m)
        h->a->kind->weigh(&h->row, few_weights, few, m);
    for (size_t j = 0; j < m; j++)
        weight[s->visible[j]] = few_weights[j];
}

/* dweights become gradients of the scores, in place; zero after the visible keys. */
static void weigh_strip_back(const rela_attn_head *h, const strip *t)
{
    const rela_attn *a = h->a;
    const rela_attn_scratch *s = h->s;
    for (size_t i = 0; i < t->m; i++) {
        const size_t at = i * t->padded, n = visible(h, t, i);
        if (a->kind->pattern)
            weigh_pattern_back(h, t, i);
        else
            a->kind->weigh_back(&h->row, s->dweights + at, s->dweights + at, s->weights + at,
                                s->scores + at, rela_attn_row_length(a->kind, a->k, n));
        clear_after(h, t, s->dweights + at, n);
    }
}

static void weigh_pattern_back(const rela_attn_head *h, const strip *t, size_t i)
{
    const rela_attn_scratch *s = h->s;
    const size_t n = visible(h, t, i), at = i * t->padded;
    real *few = s->row + 4 * s->ld, *few_weights = s->row + 5 * s->ld, *few_d = s->row + 6 * s->ld;
    const size_t m = h->a->kind->pattern(h->a->numbers, s->visible, t->first + i, n);
    for (size_t j = 0; j < m; j++) {
        few[j] = s->scores[at + s->visible[j]];
        few_weights[j] = s->weights[at + s->visible[j]];
        few_d[j] = s->dweights[at + s->visible[j]];
    }
    memset(s->dweights + at, 0, n * sizeof *s->dweights);
    if (m)
        h->a->kind->weigh_back(&h->row, few_d, few_d, few_weights, few, m);
    for (size_t j = 0; j < m; j++)
        s->dweights[at + s->visible[j]] = few_d[j];
}

static void drop_strip(const rela_attn_head *h, const strip *t, real *x)
{
    for (size_t i = 0; h->a->drop.threshold != 0 && i < t->m; i++) {
        const rela_drop drop = rela_attn_drop_at(h, t->first + i);
        h->a->k->dropout(x + i * t->padded, t->n, &drop);
    }
}

/* How many keys row i of the strip may see. */
static size_t visible(const rela_attn_head *h, const strip *t, size_t i)
{
    return h->a->causal && t->first + i < t->n ? t->first + i + 1 : t->n;
}

const rela_attn_method rela_attn_strips = { .plan = rela_attn_rows_plan,
                                            .forward = forward,
                                            .back = back };

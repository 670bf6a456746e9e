/* SPDX-License-Identifier: MIT */
/* src/nn/attn/attn.c - see attn.h. */
#include "nn/attn/attn.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { STRIP = 32, ROW_ARRAYS = 7, LANES_MAX = 16 };

/* One head of one sentence: what forward and backward share. */
typedef struct head {
    const rela_attn *a;
    const rela_attn_scratch *s;
    rela_attn_row row;
    size_t sentence, number;
    const real *q, *k, *v; /* first row of this sentence, columns of this head */
    size_t ldq, ldk, ldv;
    size_t n_q, n_k;
    uint32_t first_row; /* of its first query in the update */
} head;

/* A strip of queries: rows [first, first + m), keys [0, n). */
typedef struct strip {
    size_t first, m, n;
    size_t padded; /* n rounded up to whole vectors */
} strip;

static void head_start(head *h, const rela_attn *a, const rela_attn_scratch *s,
                       const rela_attn_in *in, const rela_attn_rows *rows, size_t at);
static strip strip_at(const head *h, size_t first);
static void pack_keys(const head *h);
static void pack_transposed(const head *h, real *out, const real *x, size_t ldx);
static void load_queries(const head *h, const strip *t);
static void weigh_strip(const head *h, const strip *t);
static void weigh_pattern(const head *h, const strip *t, size_t i);
static void weigh_strip_back(const head *h, const strip *t);
static void weigh_pattern_back(const head *h, const strip *t, size_t i);
static void drop_strip(const head *h, const strip *t, real *x);
static size_t visible(const head *h, const strip *t, size_t i);
static size_t row_length(const head *h, const strip *t, size_t n);

void rela_attn_scratch_plan(rela_attn_scratch *s, rela_plan *p, const rela_attn_kind *kind,
                            size_t d_head, size_t max_len)
{
    s->ld = (max_len + LANES_MAX - 1) / LANES_MAX * LANES_MAX;
    s->keys_t = rela_plan_reals(p, d_head * s->ld);
    s->values_t = rela_plan_reals(p, d_head * s->ld);
    s->queries = rela_plan_reals(p, STRIP * d_head);
    s->keys = rela_plan_reals(p, kind->map ? max_len * d_head : 0);
    s->dkeys = rela_plan_reals(p, kind->map ? max_len * d_head : 0);
    s->scores = rela_plan_reals(p, STRIP * s->ld);
    s->weights = rela_plan_reals(p, STRIP * s->ld);
    s->dweights = rela_plan_reals(p, STRIP * s->ld);
    s->dropped = rela_plan_reals(p, STRIP * s->ld);
    s->row = rela_plan_reals(p, ROW_ARRAYS * s->ld);
    s->visible = rela_plan_take(p, s->ld, sizeof *s->visible);
}

void rela_attn_forward(const rela_attn *a, const rela_attn_scratch *s, real *z,
                       const rela_attn_in *in, const rela_attn_rows *rows)
{
    const size_t d = a->ldz ? a->ldz : a->heads * a->d_head;
    for (size_t at = 0; at < rows->n * a->heads; at++) {
        head h;
        head_start(&h, a, s, in, rows, at);
        real *out = z + rows->q_at[h.sentence] * d + h.number * a->d_head;
        if (h.n_k == 0) { /* nothing to attend to */
            for (size_t i = 0; i < h.n_q; i++)
                memset(out + i * d, 0, a->d_head * sizeof *out);
            continue;
        }
        pack_keys(&h);
        for (size_t i = 0; i < h.n_q; i += STRIP) {
            const strip t = strip_at(&h, i);
            load_queries(&h, &t);
            weigh_strip(&h, &t);
            if (a->tap) {
                const rela_attn_view v = { a->layer, a->type,    h.sentence, h.number, i,
                                           t.m,      s->weights, t.n,        t.padded };
                a->tap->see(a->tap->ctx, &v);
            }
            drop_strip(&h, &t, s->weights);
            a->k->mm(out + i * d, d, s->weights, t.padded, 1, h.v, h.ldv, t.m, a->d_head, t.n,
                     false);
        }
    }
}

/* Gradient of one strip: dV += W^T dO, dW = dO V^T, dS, dQ = dS K, dK += dS^T Q. */
static void strip_back(const head *h, const strip *t, const real *dz, size_t d, real *dq, real *dk,
                       real *dv, size_t lddk)
{
    const rela_attn *a = h->a;
    const rela_attn_scratch *s = h->s;
    const bool drops = a->drop.threshold != 0;
    const real *used = drops ? s->dropped : s->weights;
    load_queries(h, t);
    weigh_strip(h, t);
    if (drops) {
        memcpy(s->dropped, s->weights, t->m * t->padded * sizeof *s->dropped);
        drop_strip(h, t, s->dropped);
    }
    a->k->mm(dv, h->ldv, used, 1, t->padded, dz, d, t->n, a->d_head, t->m, true);
    a->k->mm(s->dweights, t->padded, dz, d, 1, s->values_t, s->ld, t->m, t->padded, a->d_head,
             false);
    drop_strip(h, t, s->dweights);
    weigh_strip_back(h, t);
    const real *keys = a->kind->map ? s->keys : h->k;
    const size_t ld = a->kind->map ? a->d_head : h->ldk;
    a->k->mm(dq, h->ldq, s->dweights, t->padded, 1, keys, ld, t->m, a->d_head, t->n, false);
    a->k->mm(dk, lddk, s->dweights, 1, t->padded, s->queries, a->d_head, t->n, a->d_head, t->m,
             true);
}

/* The queries were scaled or mapped after they were read: the gradient goes the same way. */
static void queries_back(const head *h, const strip *t, real *dq)
{
    const rela_attn *a = h->a;
    const real factor = (real)(1 / sqrt((double)a->d_head));
    for (size_t i = 0; i < t->m; i++) {
        real *row = dq + i * h->ldq;
        if (a->kind->map)
            a->kind->map_back(a->k, row, row, h->q + (t->first + i) * h->ldq, a->d_head);
        else
            a->k->scale(row, factor, a->d_head);
    }
}

static void clear_rows(real *x, size_t ld, size_t rows, size_t n)
{
    for (size_t i = 0; i < rows; i++)
        memset(x + i * ld, 0, n * sizeof *x);
}

void rela_attn_back(const rela_attn *a, const rela_attn_scratch *s, const rela_attn_grad *g,
                    const real *dz, const rela_attn_in *in, const rela_attn_rows *rows)
{
    const size_t d = a->ldz ? a->ldz : a->heads * a->d_head;
    const bool maps = a->kind->map != NULL;
    for (size_t at = 0; at < rows->n * a->heads; at++) {
        head h;
        head_start(&h, a, s, in, rows, at);
        h.row.dhead = g->dhead ? g->dhead + h.number * a->kind->n_head : NULL;
        const size_t q0 = rows->q_at[h.sentence], k0 = rows->k_at[h.sentence];
        const size_t column = h.number * a->d_head;
        real *dq = g->dq + q0 * h.ldq + column;
        real *dk = g->dk + k0 * h.ldk + column;
        real *dv = g->dv + k0 * h.ldv + column;
        const real *dout = dz + q0 * d + column;
        clear_rows(dv, h.ldv, h.n_k, a->d_head);
        clear_rows(maps ? s->dkeys : dk, maps ? a->d_head : h.ldk, h.n_k, a->d_head);
        if (h.n_k == 0) {
            clear_rows(dq, h.ldq, h.n_q, a->d_head);
            continue;
        }
        pack_keys(&h);
        pack_transposed(&h, s->values_t, h.v, h.ldv);
        for (size_t i = 0; i < h.n_q; i += STRIP) {
            const strip t = strip_at(&h, i);
            strip_back(&h, &t, dout + i * d, d, dq + i * h.ldq, maps ? s->dkeys : dk, dv,
                       maps ? a->d_head : h.ldk);
            queries_back(&h, &t, dq + i * h.ldq);
        }
        for (size_t j = 0; maps && j < h.n_k; j++)
            a->kind->map_back(a->k, dk + j * h.ldk, s->dkeys + j * a->d_head, h.k + j * h.ldk,
                              a->d_head);
    }
}

static void head_start(head *h, const rela_attn *a, const rela_attn_scratch *s,
                       const rela_attn_in *in, const rela_attn_rows *rows, size_t at)
{
    const size_t i = at / a->heads, number = at % a->heads;
    const size_t q0 = rows->q_at[i], k0 = rows->k_at[i], column = number * a->d_head;
    *h = (head){ .a = a,
                 .s = s,
                 .row = { .k = a->k,
                          .setup = a->setup,
                          .head = a->head_params ? a->head_params + number * a->kind->n_head : NULL,
                          .scratch = s->row },
                 .sentence = i,
                 .number = number,
                 .q = in->q + q0 * in->ldq + column,
                 .k = in->k + k0 * in->ldk + column,
                 .v = in->v + k0 * in->ldv + column,
                 .ldq = in->ldq,
                 .ldk = in->ldk,
                 .ldv = in->ldv,
                 .n_q = rows->q_at[i + 1] - q0,
                 .n_k = rows->k_at[i + 1] - k0,
                 .first_row = rows->first_row + (uint32_t)q0 };
    assert(h->n_k <= s->ld);
}

static strip strip_at(const head *h, size_t first)
{
    const size_t rest = h->n_q - first, m = rest < STRIP ? rest : STRIP;
    const size_t n = h->a->causal && first + m < h->n_k ? first + m : h->n_k;
    const size_t lanes = h->a->k->lanes;
    return (strip){ first, m, n, (n + lanes - 1) / lanes * lanes };
}

/* Keys of this head, mapped if the kind has a map, and transposed, so that scores are products
 * whose vectors run along the keys. */
static void pack_keys(const head *h)
{
    const rela_attn *a = h->a;
    const rela_attn_scratch *s = h->s;
    if (!a->kind->map) {
        pack_transposed(h, s->keys_t, h->k, h->ldk);
        return;
    }
    for (size_t j = 0; j < h->n_k; j++)
        a->kind->map(a->k, s->keys + j * a->d_head, h->k + j * h->ldk, a->d_head);
    pack_transposed(h, s->keys_t, s->keys, a->d_head);
}

/* Columns behind the last key are zero, so that whole vectors can be used everywhere. */
static void pack_transposed(const head *h, real *out, const real *x, size_t ldx)
{
    const size_t ld = h->s->ld, n = h->n_k, lanes = h->a->k->lanes;
    const size_t padded = (n + lanes - 1) / lanes * lanes;
    h->a->k->transpose(out, ld, x, ldx, n, h->a->d_head);
    for (size_t i = 0; i < h->a->d_head && padded > n; i++)
        memset(out + i * ld + n, 0, (padded - n) * sizeof *out);
}

static void load_queries(const head *h, const strip *t)
{
    const rela_attn *a = h->a;
    const real factor = (real)(1 / sqrt((double)a->d_head));
    for (size_t i = 0; i < t->m; i++) {
        real *to = h->s->queries + i * a->d_head;
        const real *from = h->q + (t->first + i) * h->ldq;
        if (a->kind->map) {
            a->kind->map(a->k, to, from, a->d_head);
            continue;
        }
        for (size_t c = 0; c < a->d_head; c++)
            to[c] = from[c] * factor;
    }
}

/* Scores and weights of a strip. Behind the visible keys of a row all weights are zero. */
static void weigh_strip(const head *h, const strip *t)
{
    const rela_attn *a = h->a;
    const rela_attn_scratch *s = h->s;
    a->k->mm(s->scores, t->padded, s->queries, a->d_head, 1, s->keys_t, s->ld, t->m, t->padded,
             a->d_head, false);
    if ((a->kind->flags & ATTN_POINTWISE) && !a->kind->pattern)
        a->kind->weigh(&h->row, s->weights, s->scores, t->m * t->padded);
    for (size_t i = 0; i < t->m; i++) {
        real *score = s->scores + i * t->padded, *weight = s->weights + i * t->padded;
        const size_t n = visible(h, t, i);
        if (a->kind->pattern) {
            weigh_pattern(h, t, i);
        } else if (!(a->kind->flags & ATTN_POINTWISE)) {
            const size_t length = row_length(h, t, n);
            for (size_t j = n; j < length; j++)
                score[j] = RELA_ATTN_PAD;
            a->kind->weigh(&h->row, weight, score, length);
        }
        if (n < t->padded)
            memset(weight + n, 0, (t->padded - n) * sizeof *weight);
    }
}

/* Gathers the scores a pattern leaves, weighs them, and puts the weights back in place. */
static void weigh_pattern(const head *h, const strip *t, size_t i)
{
    const rela_attn_scratch *s = h->s;
    const size_t n = visible(h, t, i);
    real *score = s->scores + i * t->padded, *weight = s->weights + i * t->padded;
    real *few = s->row + 4 * s->ld, *few_weights = s->row + 5 * s->ld;
    const size_t m = h->a->kind->pattern(h->a->setup, s->visible, t->first + i, n);
    for (size_t j = 0; j < m; j++)
        few[j] = score[s->visible[j]];
    memset(weight, 0, n * sizeof *weight);
    if (m)
        h->a->kind->weigh(&h->row, few_weights, few, m);
    for (size_t j = 0; j < m; j++)
        weight[s->visible[j]] = few_weights[j];
}

/* dweights become gradients of the scores, in place; zero behind the visible keys. */
static void weigh_strip_back(const head *h, const strip *t)
{
    const rela_attn *a = h->a;
    const rela_attn_scratch *s = h->s;
    for (size_t i = 0; i < t->m; i++) {
        const size_t at = i * t->padded, n = visible(h, t, i);
        if (a->kind->pattern)
            weigh_pattern_back(h, t, i);
        else
            a->kind->weigh_back(&h->row, s->dweights + at, s->dweights + at, s->weights + at,
                                s->scores + at, row_length(h, t, n));
        if (n < t->padded)
            memset(s->dweights + at + n, 0, (t->padded - n) * sizeof *s->dweights);
    }
}

static void weigh_pattern_back(const head *h, const strip *t, size_t i)
{
    const rela_attn_scratch *s = h->s;
    const size_t n = visible(h, t, i), at = i * t->padded;
    real *few = s->row + 4 * s->ld, *few_weights = s->row + 5 * s->ld, *few_d = s->row + 6 * s->ld;
    const size_t m = h->a->kind->pattern(h->a->setup, s->visible, t->first + i, n);
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

static void drop_strip(const head *h, const strip *t, real *x)
{
    rela_drop drop = h->a->drop;
    if (drop.threshold == 0)
        return;
    for (size_t i = 0; i < t->m; i++) {
        const uint32_t row = h->first_row + (uint32_t)(t->first + i);
        drop.first = (row * (uint32_t)h->a->heads + (uint32_t)h->number) << 12;
        h->a->k->dropout(x + i * t->padded, t->n, &drop);
    }
}

/* How many keys row i of the strip may see. */
static size_t visible(const head *h, const strip *t, size_t i)
{
    return h->a->causal && t->first + i < t->n ? t->first + i + 1 : t->n;
}

/* How long a row of n visible scores is made for the kind. */
static size_t row_length(const head *h, const strip *t, size_t n)
{
    if (!(h->a->kind->flags & (ATTN_PADDED | ATTN_POINTWISE)))
        return n;
    const size_t lanes = h->a->k->lanes, padded = (n + lanes - 1) / lanes * lanes;
    return padded < t->padded ? padded : t->padded;
}

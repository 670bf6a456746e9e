/* SPDX-License-Identifier: MIT */
/* src/nn/attn/rows.c - what strips and tiles share: their scratch, and the rows of one head. */
#include "nn/attn/head.h"

#include <math.h>
#include <string.h>

enum { ROW_ARRAYS = 7, LANES_MAX = 16, PANEL_MAX = 2 * LANES_MAX };

void rela_attn_rows_plan(rela_attn_scratch *s, rela_plan *p, const rela_attn_shape *shape,
                         size_t max_len)
{
    const rela_attn_kind *kind = shape->kind;
    const size_t d_head = shape->d_head;
    const size_t strip = RELA_ATTN_STRIP;
    s->wide = rela_round_up(d_head, LANES_MAX);
    const size_t panels = rela_round_up(s->ld, PANEL_MAX) * d_head, all = max_len * s->wide;
    s->keys_p = rela_plan_reals(p, panels);
    s->values_p = rela_plan_reals(p, kind->flags & ATTN_POINTWISE ? 0 : panels);
    s->keys = rela_plan_reals(p, all);
    s->values = rela_plan_reals(p, all);
    s->dkeys = rela_plan_reals(p, all);
    s->dvalues = rela_plan_reals(p, all);
    real **const rows[] = { &s->queries, &s->dqueries, &s->mixed };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        *rows[i] = rela_plan_reals(p, strip * s->wide);
    s->queries_p = rela_plan_reals(p, strip * d_head);
    s->mixed_p = rela_plan_reals(p, strip * d_head);
    real **const scores[] = { &s->scores, &s->weights, &s->dweights, &s->dropped };
    const size_t most = s->ld > RELA_ATTN_BLOCK ? s->ld : RELA_ATTN_BLOCK;
    for (size_t i = 0; i < sizeof scores / sizeof scores[0]; i++)
        *scores[i] = rela_plan_reals(p, strip * most);
    s->row = rela_plan_reals(p, ROW_ARRAYS * s->ld);
    s->visible = rela_plan_take(p, s->ld, sizeof *s->visible);
    s->per_query = rela_plan_reals(p, 3 * strip);
    const bool prefilters = kind->flags & ATTN_RECTIFIED;
    const size_t keys = prefilters ? rela_byte_rows(max_len) : 0, queries = prefilters ? strip : 0;
    s->key_bytes = rela_plan_take(p, keys, s->wide);
    s->query_bytes = rela_plan_take(p, queries, s->wide);
    s->key_bound = rela_plan_take(p, keys, sizeof *s->key_bound);
    s->query_bound = rela_plan_take(p, queries, sizeof *s->query_bound);
    s->may = rela_plan_take(p, queries, RELA_PREFILTER_WORDS * sizeof *s->may);
}

void rela_attn_take_rows(const rela_attn_head *h, real *to, const real *from, size_t ld, size_t n)
{
    static const real one = 1;
    h->a->k->scale_rows(to, h->s->wide, from, ld, n, h->a->d_head, h->s->wide, &one, 0);
}

void rela_attn_put_rows(const rela_attn_head *h, real *to, size_t ld, const real *from, size_t n,
                        const real *factor, size_t step)
{
    static const real one = 1;
    const size_t d = h->a->d_head;
    h->a->k->scale_rows(to, ld, from, h->s->wide, n, d, d, factor ? factor : &one, step);
}

void rela_attn_take_queries(const rela_attn_head *h, size_t first, size_t m)
{
    const rela_attn *a = h->a;
    const size_t wide = h->s->wide;
    const real *q = h->q + first * h->ldq;
    const real factor = (real)(1 / sqrt((double)a->d_head));
    a->k->scale_rows(h->s->queries, wide, q, h->ldq, m, a->d_head, wide, &factor, 0);
}

void rela_attn_put_dqueries(const rela_attn_head *h, real *dq, size_t first, size_t m)
{
    const rela_attn *a = h->a;
    const real factor = (real)(1 / sqrt((double)a->d_head));
    rela_attn_put_rows(h, dq + first * h->ldq, h->ldq, h->s->dqueries, m, &factor, 0);
}

rela_drop rela_attn_drop_at(const rela_attn_head *h, size_t i)
{
    rela_drop drop = h->a->drop;
    const uint32_t row = h->first_row + (uint32_t)i;
    drop.first = row * rela_attn_drop_step(h->a) +
                 (uint32_t)(h->a->first_head + h->number) * RELA_ATTN_DROP_ROW;
    return drop;
}

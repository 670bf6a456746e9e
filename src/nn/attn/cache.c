/* SPDX-License-Identifier: MIT */
/* src/nn/attn/cache.c - see cache.h. */
#include "nn/attn/cache.h"

#include "nn/attn/method.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LANES_MOST = 16, ROW_ARRAYS = 6, LINE = 16 };

/* Reals from the key to the value of a row. */
static size_t width(const rela_attn *a)
{
    return a->ldz ? a->ldz : a->heads * a->d_head;
}

static void weigh(const rela_attn *a, const rela_cache_scratch *s, size_t head, size_t heads,
                  size_t rows, size_t ld, size_t n, size_t query);
static void weigh_pattern(const rela_attn *a, const rela_cache_scratch *s, const rela_attn_row *row,
                          real *w, const real *x, size_t n, size_t query);

size_t rela_cache_ld(size_t reals)
{
    /* A line more than keys and values: a power of two would put all slots into few cache sets. */
    return reals > 1 ? rela_round_up(reals, LINE) + LINE : reals;
}

size_t rela_memory_ld(size_t n)
{
    return rela_round_up(n, LANES_MOST);
}

void rela_cache_scratch_plan(rela_cache_scratch *s, rela_plan *p, const rela_attn_shape *shape,
                             size_t max_len, size_t max_rows)
{
    const size_t most = shape->heads > max_rows ? shape->heads : max_rows;
    const size_t state = rela_attn_state(shape);
    if (state) {
        s->row = rela_plan_reals(p, state / shape->heads);
        return;
    }
    s->ld = rela_memory_ld(max_len);
    s->rows = max_rows;
    s->most = most;
    s->scores = rela_plan_reals(p, most * s->ld);
    s->weights = rela_plan_reals(p, most * s->ld);
    s->row = rela_plan_reals(p, ROW_ARRAYS * s->ld);
    s->visible = rela_plan_take(p, s->ld, sizeof *s->visible);
}

void rela_attn_query(const rela_attn *a, real *q)
{
    a->k->scale(q, (real)(1 / sqrt((double)a->d_head)), a->heads * a->d_head);
}

void rela_cache_put(const rela_cache *c, const rela_attn *a, uint32_t slot, const real *key,
                    const real *value)
{
    const size_t d = a->heads * a->d_head;
    real *to = c->rows + slot * c->ld;
    memcpy(to, key, d * sizeof *to);
    memcpy(to + width(a), value, d * sizeof *to);
}

void rela_cache_attend(const rela_cache *c, const rela_attn *a, const rela_cache_scratch *s,
                       real *z, const real *q, const uint32_t *slots, size_t n)
{
    const size_t ld = rela_attn_row_length(a->kind, a->k, n);
    assert(n > 0 && n <= s->ld);
    a->k->gather_scores(s->scores, ld, q, c->rows, c->ld, slots, n, a->heads, a->d_head);
    weigh(a, s, 0, a->heads, 1, ld, n, n - 1);
    a->k->gather_mix(z, s->weights, ld, c->rows + width(a), c->ld, slots, n, a->heads, a->d_head);
}

rela_memory rela_memory_at(const rela_memories *all, size_t keyed, size_t place, size_t column)
{
    const size_t n = all->n[place], ld = rela_memory_ld(n);
    const size_t at = (keyed * all->rows + all->at[place]) * all->d;
    return (rela_memory){ .keys_t = all->keys_t + at + column * ld,
                          .values = all->values + at + column,
                          .n = n,
                          .ld = ld };
}

void rela_memories_put(const rela_memories *all, const rela_attn *a, size_t keyed,
                       const rela_memory_group *group, const real *kv, size_t ld)
{
    const size_t d = a->heads * a->d_head, column = a->first_head * a->d_head;
    for (size_t s = 0; s < group->n; s++) {
        const rela_memory m = rela_memory_at(all, keyed, group->places[s], column);
        const real *keys = kv + group->at[s] * ld;
        for (size_t i = 0; i < m.n; i++)
            memcpy(m.values + i * all->d, keys + i * ld + all->d, d * sizeof *m.values);
        a->k->transpose(m.keys_t, m.ld, keys, ld, m.n, d);
        for (size_t i = 0; i < d && m.ld > m.n; i++)
            memset(m.keys_t + i * m.ld + m.n, 0, (m.ld - m.n) * sizeof *m.keys_t);
    }
}

/* Passes the weights of `heads` heads from `first` on, for consecutive hypotheses, to the tap. */
static void show(const rela_attn *a, const rela_cache_scratch *s, const rela_memory *m,
                 size_t first, size_t heads, size_t rows, size_t row, size_t position)
{
    for (size_t i = 0; a->tap && i < heads * rows; i++) {
        const rela_attn_view v = { .layer = a->layer,
                                   .stack = a->stack,
                                   .sentence = row + i % rows,
                                   .head = a->first_head + first + i / rows,
                                   .first = position,
                                   .rows = 1,
                                   .w = s->weights + i * m->ld,
                                   .n = m->n,
                                   .ld = m->ld };
        a->tap->on_weights(a->tap->ctx, &v);
    }
}

/* For an empty source: zeros, and rows of weights of length 0. */
static void attend_nothing(const rela_memory *m, const rela_attn *a, const rela_cache_scratch *s,
                           real *z, size_t rows, size_t first, size_t position)
{
    for (size_t i = 0; i < rows; i++)
        memset(z + i * width(a), 0, a->heads * a->d_head * sizeof *z);
    show(a, s, m, 0, a->heads, rows, first, position);
}

/* As many heads at a time as there is room for: their products do not wait for each other. */
void rela_memory_attend(const rela_memory *m, const rela_attn *a, const rela_cache_scratch *s,
                        real *z, const real *q, size_t rows, size_t first, size_t position)
{
    const size_t d = width(a), part = rows * m->ld, room = s->most / rows;
    assert(m->ld <= s->ld && rows <= s->rows);
    if (m->n == 0) {
        attend_nothing(m, a, s, z, rows, first, position);
        return;
    }
    for (size_t h = 0, some = 0; h < a->heads; h += some) {
        const size_t at = h * a->d_head;
        some = a->heads - h < room ? a->heads - h : room;
        for (size_t i = 0, c = at; i < some; i++, c += a->d_head)
            a->k->mm(s->scores + i * part, m->ld, q + c, d, 1, m->keys_t + c * m->ld, m->ld, rows,
                     m->ld, a->d_head, false);
        weigh(a, s, h, some, rows, m->ld, m->n, position);
        show(a, s, m, h, some, rows, first, position);
        for (size_t i = 0, c = at; i < some; i++, c += a->d_head)
            a->k->mm(z + c, d, s->weights + i * part, m->ld, 1, m->values + c, d, rows, a->d_head,
                     m->n, false);
    }
}

/* Turns scores into weights, for `heads` heads from `head` on: rows with leading dimension ld of
 * n visible keys each; scores after these may be overwritten. Pointwise kinds take all rows at
 * once. */
static void weigh(const rela_attn *a, const rela_cache_scratch *s, size_t head, size_t heads,
                  size_t rows, size_t ld, size_t n, size_t query)
{
    const rela_attn_kind *kind = a->kind;
    const bool at_once = (kind->flags & ATTN_POINTWISE) && !kind->pattern && !kind->params;
    const size_t whole = rela_attn_row_length(kind, a->k, n), count = heads * rows;
    rela_attn_row row = { .k = a->k, .numbers = a->numbers, .scratch = s->row };
    for (size_t i = 0; i < count; i++) {
        real *x = s->scores + i * ld, *w = s->weights + i * ld;
        rela_attn_params_of(row.params, a, head + i / rows);
        if (kind->pattern) {
            weigh_pattern(a, s, &row, w, x, n, query);
            continue;
        }
        rela_attn_fill_row(kind, a->k, x, n);
        if (!at_once)
            kind->weigh(&row, w, x, whole);
    }
    if (at_once)
        kind->weigh(&row, s->weights, s->scores, count * ld);
}

/* Gathers the scores a pattern leaves, weighs them, and puts the weights back in place. */
static void weigh_pattern(const rela_attn *a, const rela_cache_scratch *s, const rela_attn_row *row,
                          real *w, const real *x, size_t n, size_t query)
{
    real *few = s->row + 4 * s->ld, *few_weights = s->row + 5 * s->ld;
    const size_t m = a->kind->pattern(a->numbers, s->visible, query, n);
    for (size_t j = 0; j < m; j++)
        few[j] = x[s->visible[j]];
    memset(w, 0, n * sizeof *w);
    if (m)
        a->kind->weigh(row, few_weights, few, m);
    for (size_t j = 0; j < m; j++)
        w[s->visible[j]] = few_weights[j];
}

/* ---- kinds with a state ---- */

size_t rela_attn_state(const rela_attn_shape *shape)
{
    const rela_attn_method *m = rela_attn_method_of(shape->kind);
    return m->state ? shape->heads * m->state(shape) : 0;
}

static rela_attn_row row_of(const rela_attn *a, const rela_cache_scratch *s, size_t head)
{
    rela_attn_row c = { .k = a->k, .numbers = a->numbers, .scratch = s->row };
    rela_attn_params_of(c.params, a, head);
    return c;
}

void rela_state_put(const rela_attn *a, const rela_cache_scratch *s, real *state,
                    const real *before, const real *key, const real *value)
{
    const rela_attn_shape shape = rela_attn_shape_of(a);
    const size_t step = rela_attn_state(&shape) / a->heads;
    for (size_t h = 0; h < a->heads; h++) {
        const rela_attn_row c = row_of(a, s, h);
        a->kind->method->put(a, &c, state + h * step, before ? before + h * step : NULL,
                             key + h * a->d_head, value + h * a->d_head);
    }
}

void rela_state_attend(const rela_attn *a, const rela_cache_scratch *s, real *z, const real *q,
                       const real *state)
{
    const rela_attn_shape shape = rela_attn_shape_of(a);
    const size_t step = rela_attn_state(&shape) / a->heads;
    for (size_t h = 0; h < a->heads; h++) {
        const rela_attn_row c = row_of(a, s, h);
        a->kind->method->attend(a, &c, z + h * a->d_head, q + h * a->d_head, state + h * step);
    }
}

void rela_state_show(const rela_memories *all, const rela_attn *a, const rela_attn_scratch *s,
                     const real *q, size_t shown, size_t place, size_t first, size_t position)
{
    const size_t n = all->n[place];
    const size_t column = a->first_head * a->d_head;
    const real *keys = all->keys + (shown * all->rows + all->at[place]) * all->d + column;
    for (size_t i = 0; i < a->heads; i++) {
        rela_attn_head h = { .a = a,
                             .s = s,
                             .row = { .k = a->k, .numbers = a->numbers },
                             .number = i,
                             .sentence = first,
                             .q = q + i * a->d_head,
                             .k = keys + i * a->d_head,
                             .ldq = all->d,
                             .ldk = all->d,
                             .n_q = 1,
                             .n_k = n };
        const rela_attn_view v = { .layer = a->layer,
                                   .stack = a->stack,
                                   .sentence = first,
                                   .head = a->first_head + i,
                                   .first = position,
                                   .rows = 1,
                                   .w = s->weights,
                                   .n = n,
                                   .ld = s->ld };
        rela_attn_params_of(h.row.params, a, i);
        if (n)
            a->kind->method->weights(&h, s->weights, s->ld, 0, 1);
        a->tap->on_weights(a->tap->ctx, &v);
    }
}

void rela_memories_fold(const rela_memories *all, const rela_attn *a, const rela_cache_scratch *s,
                        size_t offset, const rela_memory_group *group, const real *kv, size_t ld)
{
    for (size_t i = 0; i < group->n; i++) {
        real *state = all->states + group->places[i] * all->need.state + offset;
        for (size_t row = group->at[i]; row < group->at[i + 1]; row++)
            rela_state_put(a, s, state, row > group->at[i] ? state : NULL, kv + row * ld,
                           kv + row * ld + all->d);
    }
}

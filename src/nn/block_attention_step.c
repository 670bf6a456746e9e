/* SPDX-License-Identifier: MIT */
/* src/nn/block_attention_step.c - attention in a decoding step: to the cached keys and values of
 * the hypothesis, and to the cached keys and values of encoded sources. */
#include "nn/attn/guard.h"
#include "nn/block_attention.h"

#include <string.h>

/* Also appends key and value of each row to the KV cache of its hypothesis. */
static void attend_history(const rela_step *step, const rela_block *b, const rela_attn *attn,
                           const rela_side_arrays *a, rela_plan scratch)
{
    const rela_attn_shape shape = rela_attn_shape_of(attn);
    const size_t d = b->d, column = attn->first_head * attn->d_head;
    rela_cache_scratch s;
    rela_cache c = step->cache;
    c.rows += rela_attn_of(b)->cache + column;
    rela_cache_scratch_plan(&s, &scratch, &shape, step->len, 1);
    for (size_t i = 0; i < step->rows.n; i++) {
        real *qkv = a->in + i * 3 * d + column, *z = a->z + i * d + column;
        const uint32_t *slots = step->rows.history + i * step->rows.ld;
        const size_t last = step->rows.position[i];
        const real not_finite = column == 0 ? rela_attn_not_finite(attn->k, qkv, 3 * d) : 0;
        rela_cache_put(&c, attn, slots[last], qkv + d, qkv + 2 * d);
        rela_attn_query(attn, qkv);
        rela_cache_attend(&c, attn, &s, z, qkv, slots, last + 1);
        *z += not_finite;
    }
}

/* The same for a kind with a state: a hypothesis continues the state of its slot before, and its
 * new slot says which state that is. All hypotheses of a sentence are in the step. */
static void continue_states(const rela_step *step, const rela_block *b, const rela_attn *attn,
                            size_t offset, const rela_side_arrays *a, rela_plan scratch)
{
    const rela_attn_shape shape = rela_attn_shape_of(attn);
    const rela_step_rows *rows = &step->rows;
    const rela_cache *c = &step->cache;
    const size_t d = b->d, column = attn->first_head * attn->d_head;
    rela_cache_scratch s;
    rela_cache_scratch_plan(&s, &scratch, &shape, step->len, 1);
    for (size_t i = 0, first = 0; i < rows->n; i++) {
        const real *qkv = a->in + i * 3 * d + column, *before = NULL;
        const uint32_t *slots = rows->history + i * rows->ld;
        const size_t last = rows->position[i], place = rows->place[i];
        real *z = a->z + i * d + column;
        first = rows->place[first] == place ? first : i;
        if (last > 0) {
            const real owner = c->rows[slots[last - 1] * c->ld + c->owner];
            before = rela_cache_state(c, place, last - 1, (size_t)owner) + offset;
        }
        real *state = rela_cache_state(c, place, last, i - first) + offset;
        rela_state_put(attn, &s, state, before, qkv + d, qkv + 2 * d);
        rela_state_attend(attn, &s, z, qkv, state);
        *z += column == 0 ? rela_attn_not_finite(attn->k, qkv, 3 * d) : 0;
        c->rows[slots[last] * c->ld + c->owner] = (real)(i - first);
    }
}

/* Attention of a group of heads to the memories of a stream. */
typedef struct memory_work {
    const rela_step *step;
    const rela_memories *all;
    const rela_attn_side *side;
    const rela_head_group *group;
    const rela_attn *attn;
    real *q, *z; /* columns of the group */
    rela_cache_scratch s;
    bool shows; /* the weights of a kind with a state, made for the tap */
    rela_attn_scratch weights;
} memory_work;

/* Rows [first, end) are of one sentence. */
static void attend_rows(const memory_work *w, size_t place, size_t first, size_t end)
{
    const size_t d = w->attn->ldz, position = w->step->rows.position[first];
    const rela_memory m =
        rela_memory_at(w->all, w->side->keyed, place, w->attn->first_head * w->attn->d_head);
    for (size_t i = first; i < end; i++)
        rela_attn_query(w->attn, w->q + i * d);
    rela_memory_attend(&m, w->attn, &w->s, w->z + first * d, w->q + first * d, end - first, first,
                       position);
}

static void attend_state(const memory_work *w, size_t place, size_t first, size_t end)
{
    const size_t d = w->attn->ldz, columns = w->attn->heads * w->attn->d_head;
    const real *state = w->all->states + place * w->all->need.state + w->group->state;
    const bool empty = w->all->n[place] == 0;
    for (size_t i = first; i < end; i++) {
        const real *q = w->q + i * d;
        if (w->shows)
            rela_state_show(w->all, w->attn, &w->weights, q, w->side->shown, place, i,
                            w->step->rows.position[i]);
        if (empty)
            memset(w->z + i * d, 0, columns * sizeof *w->z);
        else
            rela_state_attend(w->attn, &w->s, w->z + i * d, q, state);
    }
}

static void attend_memory(const rela_step *step, const rela_attn_side *side, size_t g,
                          const rela_attn *attn, const rela_side_arrays *a, rela_plan scratch)
{
    const rela_memories *all = &step->memories[side->stream];
    const rela_attn_shape shape = rela_attn_shape_of(attn);
    const size_t d = attn->ldz, column = attn->first_head * attn->d_head;
    const bool stated = rela_attn_state(&shape) > 0;
    memory_work w = { .step = step,
                      .all = all,
                      .side = side,
                      .group = &side->groups[g],
                      .attn = attn,
                      .q = a->in + column,
                      .z = a->z + column };
    w.shows = stated && attn->tap && rela_attn_shows(attn->kind);
    rela_cache_scratch_plan(&w.s, &scratch, &shape, all->len, step->sentence_rows);
    if (w.shows)
        rela_attn_scratch_plan(&w.weights, &scratch, &shape, all->len);
    for (size_t i = 0, end = 0; i < step->rows.n; i = end) {
        const size_t place = step->rows.place[i];
        while (end < step->rows.n && step->rows.place[end] == place)
            end++;
        (stated ? attend_state : attend_rows)(&w, place, i, end);
        const real not_finite = all->not_finite[side->memory * all->places + place];
        for (size_t row = i; row < end; row++)
            w.z[row * d] += not_finite + rela_attn_not_finite(attn->k, w.q + row * d,
                                                              attn->heads * attn->d_head);
    }
}

static void side_step(const rela_block *b, const rela_pass *p, const rela_attn_side *side,
                      const rela_side_arrays *a, real *out, rela_plan scratch)
{
    const rela_stream *own = &p->streams[b->stream];
    const rela_linear_out in = { a->in, rela_attn_in_width(b), rela_vector(p, side->in_bias),
                                 NULL };
    const rela_linear_out to = { out, b->d, NULL, NULL };
    rela_linear(p->k, rela_matrix(p, side->in), &in, own->act.x, b->d, own->rows, scratch);
    for (size_t g = 0; g < side->n_groups; g++) {
        const rela_attn attn = rela_side_attn(b, p, side, g);
        const rela_attn_shape shape = rela_attn_shape_of(&attn);
        if (!rela_attn_of(b)->self)
            attend_memory(p->step, side, g, &attn, a, scratch);
        else if (rela_attn_state(&shape))
            continue_states(p->step, b, &attn, side->groups[g].state, a, scratch);
        else
            attend_history(p->step, b, &attn, a, scratch);
    }
    rela_side_norms(b, p, side, a->z, a->z, scratch);
    rela_linear(p->k, rela_matrix(p, side->out), &to, a->z, b->d, own->rows, scratch);
}

void rela_attention_step(const rela_block *b, rela_pass *p)
{
    static const rela_drop NONE = { .threshold = 0 };
    const rela_plan all = rela_block_scratch(p);
    const rela_act out = rela_block_begin(b, p);
    const rela_side_size size = { .rows = p->step->rows.n, .step = true };
    for (size_t i = 0; i < rela_attn_of(b)->n_sides; i++) {
        const rela_attn_side *side = &rela_attn_of(b)->sides[i];
        rela_plan scratch = all;
        rela_side_arrays a;
        rela_side_take(&a, b, side, &scratch, &size);
        real *to = i > 0 ? rela_plan_reals(&scratch, size.rows * b->d) : out.r;
        side_step(b, p, side, &a, to, scratch);
        if (i > 0)
            p->k->axpy(out.r, 1, to, size.rows * b->d);
    }
    rela_block_finish(b, p, &out, rela_attn_of(b)->out_bias, &NONE);
}

/* Keys of a kind with a state, from which the tap makes weights. */
static void keep_keys(const rela_memories *all, const rela_attn *attn, size_t shown,
                      const rela_memory_group *group, const real *kv, size_t ld)
{
    const size_t column = attn->first_head * attn->d_head;
    for (size_t s = 0; s < group->n; s++)
        for (size_t r = group->at[s]; r < group->at[s + 1]; r++) {
            const size_t row = shown * all->rows + all->at[group->places[s]] + r - group->at[s];
            memcpy(all->keys + row * all->d + column, kv + r * ld,
                   attn->heads * attn->d_head * sizeof *kv);
        }
}

void rela_attention_remember(const rela_block *b, rela_pass *p, size_t stream)
{
    const size_t d = b->d, rows = p->streams[stream].rows;
    const rela_memories *all = &p->step->memories[stream];
    const rela_tokens *tokens = &p->streams[stream].tokens;
    const rela_memory_group group = { tokens->n, tokens->at, p->step->places };
    for (size_t i = 0; i < rela_attn_of(b)->n_sides; i++) {
        const rela_attn_side *side = &rela_attn_of(b)->sides[i];
        rela_plan scratch = rela_block_scratch(p);
        if (rela_attn_of(b)->self || side->stream != stream)
            continue;
        real *kv = rela_plan_reals(&scratch, rows * 2 * d);
        const rela_linear_out to = { kv, 2 * d, rela_vector(p, side->kv_bias), NULL };
        rela_linear(p->k, rela_matrix(p, side->kv), &to, p->streams[stream].act.x, d, rows,
                    scratch);
        for (size_t s = 0; s < group.n; s++)
            all->not_finite[side->memory * all->places + group.places[s]] = rela_attn_not_finite(
                p->k, kv + group.at[s] * 2 * d, (group.at[s + 1] - group.at[s]) * 2 * d);
        for (size_t g = 0; g < side->n_groups; g++) {
            const rela_attn attn = rela_side_attn(b, p, side, g);
            const rela_attn_shape shape = rela_attn_shape_of(&attn);
            const size_t column = attn.first_head * attn.d_head;
            const real *columns = kv + column;
            rela_plan own = scratch;
            rela_cache_scratch s;
            if (!rela_attn_state(&shape)) {
                rela_memories_put(all, &attn, side->keyed, &group, columns, 2 * d);
                continue;
            }
            rela_cache_scratch_plan(&s, &own, &shape, all->len, 1);
            if (all->tapped)
                keep_keys(all, &attn, side->shown, &group, columns, 2 * d);
            rela_memories_fold(all, &attn, &s, side->groups[g].state, &group, columns, 2 * d);
        }
    }
}

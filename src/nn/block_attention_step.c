/* SPDX-License-Identifier: MIT */
/* src/nn/block_attention_step.c - attention in a decoding step: to the cached keys and values of
 * the hypothesis, and to the cached keys and values of encoded sources. */
#include "nn/attn/guard.h"
#include "nn/block_attention.h"

/* Also appends key and value of each row to the KV cache of its hypothesis. */
static void attend_history(const rela_step *step, const rela_block *b, const rela_attn *attn,
                           const rela_side_arrays *a, rela_plan scratch)
{
    const size_t d = b->d, column = attn->first_head * attn->d_head;
    rela_cache_scratch s;
    rela_cache c = step->cache;
    c.rows += rela_attn_of(b)->cache + column;
    rela_cache_scratch_plan(&s, &scratch, attn->heads, step->len, 1);
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

static void attend_memory(const rela_step *step, const rela_attn_side *side, const rela_attn *attn,
                          const rela_side_arrays *a, rela_plan scratch)
{
    const rela_memories *all = &step->memories[side->stream];
    const size_t d = attn->ldz, column = attn->first_head * attn->d_head;
    real *z = a->z + column, *q = a->in + column;
    rela_cache_scratch s;
    rela_cache_scratch_plan(&s, &scratch, attn->heads, all->len, step->sentence_rows);
    for (size_t i = 0; i < step->rows.n; i++)
        rela_attn_query(attn, q + i * d);
    for (size_t i = 0, end = 0; i < step->rows.n; i = end) {
        while (end < step->rows.n && step->rows.place[end] == step->rows.place[i])
            end++;
        const rela_memory m = rela_memory_at(all, side->memory, step->rows.place[i], column);
        rela_memory_attend(&m, attn, &s, z + i * d, q + i * d, end - i, i, step->rows.position[i]);
        for (size_t row = i; row < end; row++)
            z[row * d] += *m.not_finite +
                          rela_attn_not_finite(attn->k, q + row * d, attn->heads * attn->d_head);
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
        if (rela_attn_of(b)->self)
            attend_history(p->step, b, &attn, a, scratch);
        else
            attend_memory(p->step, side, &attn, a, scratch);
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
            *rela_memory_at(all, side->memory, group.places[s], 0).not_finite =
                rela_attn_not_finite(p->k, kv + group.at[s] * 2 * d,
                                     (group.at[s + 1] - group.at[s]) * 2 * d);
        for (size_t g = 0; g < side->n_groups; g++) {
            const rela_attn attn = rela_side_attn(b, p, side, g);
            rela_memories_put(all, &attn, side->memory, &group, kv + attn.first_head * attn.d_head,
                              2 * d);
        }
    }
}

/* SPDX-License-Identifier: MIT */
/* src/nn/block_attention.c - multi-head self- and cross-attention: projections, the weights of the
 * kinds (nn/attn), their norms, output projection.
 *
 * Self-attention: one fused projection to queries, keys and values. Cross-attention: for each
 * stream attended to, a query projection and a fused one to keys and values; the outputs are added
 * before the residual sum. Heads may be of different kinds, in groups; the norm of a kind acts on
 * the concatenated heads of its group. */
#include "nn/block_attention.h"

#include "nn/attn/guard.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SITE_OUT, SITE_WEIGHTS, SITE_NEXT_SIDE = 1 << 16 };

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Whether the block runs step by step in decoding, unlike self-attention of an encoder. */
static bool steps(const rela_block *b)
{
    return rela_attn_of(b)->causal || !rela_attn_of(b)->self;
}

static bool has_norm(const rela_attn_side *side)
{
    bool any = false;
    for (size_t g = 0; g < side->n_groups; g++)
        any = any || side->groups[g].of.kind->norm;
    return any;
}

static rela_attn_shape shape_of(const rela_block *b, const rela_head_group *group)
{
    return (rela_attn_shape){ group->of.kind, group->of.numbers, group->of.heads,
                              rela_attn_of(b)->d_head };
}

/* ---- parameters ---- */

/* Names of a single group have no number. */
static void group_name(char out[RELA_PARAM_NAME_MAX], const rela_attn_side *side, size_t g,
                       const char *name)
{
    if (side->n_groups > 1)
        (void)snprintf(out, RELA_PARAM_NAME_MAX, "group%zu.%s", g, name);
    else
        (void)snprintf(out, RELA_PARAM_NAME_MAX, "%s", name);
}

static void declare_group(const rela_block *b, rela_declare *d, rela_attn_side *side, size_t g)
{
    static const rela_init ONE = { RELA_INIT_CONSTANT, 1 };
    rela_head_group *group = &side->groups[g];
    const rela_attn_kind *kind = group->of.kind;
    const size_t d_head = rela_attn_of(b)->d_head, width = group->of.heads * d_head;
    /* d of sqrt(3 / d) is the number of values that are normed together. */
    const size_t together = rela_attn_of(b)->norm_per_head ? d_head : width;
    const rela_init small = { RELA_INIT_UNIFORM, sqrt(3.0 / (double)together) };
    const rela_attn_shape shape = shape_of(b, group);
    char name[RELA_PARAM_NAME_MAX];
    for (size_t i = 0; i < rela_attn_params_n(kind); i++) {
        group_name(name, side, g, kind->params[i].name);
        rela_declare_add(d, &group->params[i], name,
                         &(rela_param_shape){ .rows = rela_attn_param_rows(&shape, i),
                                              .cols = rela_attn_param_size(&shape, i),
                                              .init = kind->params[i].init });
    }
    if (!kind->norm)
        return;
    group_name(name, side, g, "norm.gain");
    rela_declare_vector(d, &group->gain, name, width, kind->norm->random_gain ? small : ONE);
    group_name(name, side, g, "norm.gate");
    if (kind->norm->gated)
        rela_declare_vector(d, &group->gate, name, width, small);
}

/* Glorot limits: q, k and v of self-attention count as one (3d, d) matrix, but k and v of
 * cross-attention as two (d, d) ones. */
static void declare(rela_block *b, rela_declare *d)
{
    rela_attn_at *at = &b->at.attn;
    const double square = sqrt(6.0 / (double)(2 * b->d));
    char prefix[RELA_PARAM_NAME_MAX];
    (void)snprintf(prefix, sizeof prefix, "%s", d->prefix);
    for (size_t i = 0; i < at->n_sides; i++) {
        rela_attn_side *side = &at->sides[i];
        if (i > 0) /* the first is named like a single one */
            (void)snprintf(d->prefix, sizeof d->prefix, "%.56s.%u", prefix, (unsigned)(i + 1) % 10);
        if (at->self)
            rela_declare_linear(d, &side->in, &side->in_bias, "qkv", 3 * b->d, b->d,
                                sqrt(6.0 / (double)(4 * b->d)));
        else
            rela_declare_linear(d, &side->in, &side->in_bias, "q", b->d, b->d, square);
        if (!at->self)
            rela_declare_linear(d, &side->kv, &side->kv_bias, "kv", 2 * b->d, b->d, square);
        for (size_t g = 0; g < side->n_groups; g++)
            declare_group(b, d, side, g);
        rela_declare_linear(d, &side->out, i == 0 ? &at->out_bias : NULL, "out", b->d, b->d,
                            square);
    }
    (void)snprintf(d->prefix, sizeof d->prefix, "%s", prefix);
    rela_declare_norm(d, &b->own, b->d);
}

/* ---- memory ---- */

/* What only a backward pass needs. */
static void take_kept(rela_side_arrays *a, const rela_block *b, const rela_attn_side *side,
                      rela_plan *p, const rela_side_size *s)
{
    a->y = has_norm(side) ? rela_plan_reals(p, s->rows * b->d) : a->z;
    for (size_t g = 0; g < side->n_groups; g++) {
        const rela_attn_shape shape = shape_of(b, &side->groups[g]);
        const size_t words = rela_attn_kept_words(&shape, s->rows, s->keys, s->len);
        a->kept[g] = words ? rela_plan_take(p, words, sizeof(uint64_t)) : NULL;
    }
}

void rela_side_take(rela_side_arrays *a, const rela_block *b, const rela_attn_side *side,
                    rela_plan *p, const rela_side_size *s)
{
    a->in = rela_plan_reals(p, s->rows * rela_attn_in_width(b));
    a->kv = rela_plan_reals(p, rela_attn_of(b)->self || s->step ? 0 : s->keys * 2 * b->d);
    a->y = a->z = rela_plan_reals(p, s->rows * b->d);
    if (s->keeps)
        take_kept(a, b, side, p, s);
}

/* Gradients of the arrays of rela_side_take. */
typedef struct side_grads {
    real *dz, *in, *kv;
} side_grads;

static side_grads take_grads(const rela_block *b, rela_plan *p, const rela_side_size *s)
{
    side_grads g;
    g.dz = rela_plan_reals(p, s->rows * b->d);
    g.in = rela_plan_reals(p, s->rows * rela_attn_in_width(b));
    g.kv = rela_plan_reals(p, rela_attn_of(b)->self ? 0 : s->keys * 2 * b->d);
    return g;
}

/* The most that a group takes on top of the arrays of its side: scratch for weights, norms and
 * products is released before the next is taken. */
static size_t plan_group(const rela_block *b, const rela_attn_side *side, size_t g, rela_plan start,
                         const rela_pass_size *s, const rela_side_size *size)
{
    const rela_attn_shape shape = shape_of(b, &side->groups[g]);
    rela_attn_scratch attn;
    rela_cache_scratch cache;
    rela_plan weights = start, norm = start, product = start;
    const bool shows = rela_attn_state(&shape) && rela_attn_shows(shape.kind);
    if (size->step)
        rela_cache_scratch_plan(&cache, &weights, &shape, size->len, s->sentence_rows);
    if (!size->step || (shows && !rela_attn_of(b)->self)) /* for a tap */
        rela_attn_scratch_plan(&attn, &weights, &shape, size->len);
    rela_side_norms_plan(&norm, b, side, g, size->rows);
    rela_linear_plan(&product, s->storage, b->d, larger(size->rows, size->keys));
    return larger(weights.used, larger(norm.used, product.used));
}

static size_t plan_side(const rela_block *b, size_t i, rela_plan *kept, const rela_pass_size *s)
{
    const rela_attn_side *side = &rela_attn_of(b)->sides[i];
    const rela_side_size size = { .rows = s->rows[b->stream],
                                  .keys = s->rows[side->stream],
                                  .len = s->len[side->stream],
                                  .keeps = s->training,
                                  .step = s->step && steps(b) };
    rela_plan p = { NULL, 0 }, memory = { NULL, 0 };
    rela_side_arrays a;
    rela_side_take(&a, b, side, s->training ? kept : &p, &size);
    if (i > 0)
        (void)rela_plan_reals(&p, size.rows * b->d);
    if (s->training)
        (void)take_grads(b, &p, &size);
    size_t most = 0;
    for (size_t g = 0; g < side->n_groups; g++)
        most = larger(most, plan_group(b, side, g, p, s, &size));
    if (size.step && !rela_attn_of(b)->self) { /* what `remember` takes */
        (void)rela_plan_reals(&memory, size.keys * 2 * b->d);
        rela_plan product = memory;
        rela_linear_plan(&product, s->storage, b->d, size.keys);
        most = larger(most, product.used);
    }
    for (size_t g = 0; memory.used && g < side->n_groups; g++) {
        const rela_attn_shape shape = shape_of(b, &side->groups[g]);
        rela_plan states = memory;
        rela_cache_scratch cache;
        if (rela_attn_state(&shape))
            rela_cache_scratch_plan(&cache, &states, &shape, size.len, 1);
        most = larger(most, states.used);
    }
    return most;
}

static void plan(const rela_block *b, rela_plan *kept, rela_plan *scratch, const rela_pass_size *s)
{
    size_t most = 0;
    rela_block_plan_out(b, kept, s);
    for (size_t i = 0; i < rela_attn_of(b)->n_sides; i++)
        most = larger(most, plan_side(b, i, kept, s));
    scratch->used += most;
}

/* ---- one side ---- */

/* One side of a block in a pass over a batch. */
typedef struct side_work {
    const rela_block *b;
    const rela_attn_side *side;
    rela_pass *p;
    const rela_stream *own, *other;
    rela_side_size size;
    rela_side_arrays a;
    uint32_t number; /* of the side */
} side_work;

/* memory: where its arrays are taken from. */
static side_work start_side(const rela_block *b, rela_pass *p, size_t i, rela_plan *memory)
{
    const rela_attn_side *side = &rela_attn_of(b)->sides[i];
    side_work w;
    w.b = b;
    w.side = side;
    w.p = p;
    w.own = &p->streams[b->stream];
    w.other = &p->streams[side->stream];
    w.number = (uint32_t)i;
    const rela_tokens *t = &w.other->tokens;
    w.size =
        (rela_side_size){ .rows = w.own->rows, .keys = w.other->rows, .keeps = p->states != NULL };
    for (size_t s = 0; s < t->n; s++)
        w.size.len = larger(w.size.len, t->at[s + 1] - t->at[s]);
    rela_side_take(&w.a, b, side, memory, &w.size);
    return w;
}

rela_attn rela_side_attn(const rela_block *b, const rela_pass *p, const rela_attn_side *side,
                         size_t g)
{
    const rela_attn_at *at = rela_attn_of(b);
    const rela_head_group *group = &side->groups[g];
    rela_attn a = { .k = p->k,
                    .kind = group->of.kind,
                    .numbers = group->of.numbers,
                    .heads = group->of.heads,
                    .d_head = at->d_head,
                    .ldz = b->d,
                    .first_head = group->of.first,
                    .all_heads = at->heads,
                    .causal = at->causal,
                    .path = p->path,
                    .tap = p->tap,
                    .layer = b->layer,
                    .stack = side->stack };
    for (size_t i = 0; i < rela_attn_params_n(a.kind); i++)
        a.params[i] = rela_vector(p, group->params[i]);
    a.made = p->made + group->made;
    return a;
}

static rela_attn attn_at(const side_work *w, size_t g)
{
    const rela_pass *p = w->p;
    const uint32_t site = SITE_WEIGHTS + w->number * SITE_NEXT_SIDE;
    rela_attn a = rela_side_attn(w->b, p, w->side, g);
    a.drop = rela_block_drop(w->b, p, rela_attn_of(w->b)->drop, site, 0);
    a.kept = p->grads && !p->tap ? w->a.kept[g] : NULL;
    return a;
}

/* Columns of a group among queries, keys and values. */
static rela_attn_in attn_in(const side_work *w, size_t g)
{
    const size_t d = w->b->d, column = w->side->groups[g].of.first * rela_attn_of(w->b)->d_head;
    const real *in = w->a.in + column, *kv = w->a.kv + column;
    if (rela_attn_of(w->b)->self)
        return (rela_attn_in){ in, in + d, in + 2 * d, 3 * d, 3 * d, 3 * d };
    return (rela_attn_in){ in, kv, kv + d, d, 2 * d, 2 * d };
}

static rela_attn_rows attn_rows(const side_work *w)
{
    const rela_tokens *q = &w->own->tokens, *k = &w->other->tokens;
    return (rela_attn_rows){ q->n, q->at, k->at, w->own->first_row };
}

static void attend_batch(const side_work *w, rela_plan scratch)
{
    const rela_attn_rows rows = attn_rows(w);
    for (size_t g = 0; g < w->side->n_groups; g++) {
        const rela_attn attn = attn_at(w, g);
        const rela_attn_in in = attn_in(w, g);
        const rela_attn_shape shape = rela_attn_shape_of(&attn);
        rela_plan own = scratch;
        rela_attn_scratch s;
        rela_attn_scratch_plan(&s, &own, &shape, w->size.len);
        real *z = w->a.z + attn.first_head * attn.d_head;
        rela_attn_forward(&attn, &s, z, &in, &rows);
        rela_attn_guard(&attn, z, &in, &rows);
    }
}

static void side_forward(const side_work *w, real *out, rela_plan scratch)
{
    const rela_pass *p = w->p;
    const rela_attn_side *side = w->side;
    const size_t d = w->b->d, rows = w->own->rows;
    const rela_linear_out in = { w->a.in, rela_attn_in_width(w->b), rela_vector(p, side->in_bias),
                                 NULL };
    rela_linear(p->k, rela_matrix(p, side->in), &in, w->own->act.x, d, rows, scratch);
    if (!rela_attn_of(w->b)->self) {
        const rela_linear_out kv = { w->a.kv, 2 * d, rela_vector(p, side->kv_bias), NULL };
        rela_linear(p->k, rela_matrix(p, side->kv), &kv, w->other->act.x, d, w->other->rows,
                    scratch);
    }
    attend_batch(w, scratch);
    rela_side_norms(w->b, p, side, w->a.y, w->a.z, scratch);
    const rela_linear_out to = { out, d, NULL, NULL };
    rela_linear(p->k, rela_matrix(p, side->out), &to, w->a.y, d, rows, scratch);
}

static void forward_batch(const rela_block *b, rela_pass *p)
{
    const rela_drop drop = rela_block_drop(b, p, b->drop, SITE_OUT, b->d);
    const rela_plan all = rela_block_scratch(p);
    const rela_act out = rela_block_begin(b, p);
    for (size_t i = 0; i < rela_attn_of(b)->n_sides; i++) {
        rela_plan scratch = all;
        const side_work w = start_side(b, p, i, p->states ? &p->kept : &scratch);
        const size_t n = w.own->rows * b->d;
        real *to = i > 0 ? rela_plan_reals(&scratch, n) : out.r;
        side_forward(&w, to, scratch);
        if (i > 0)
            p->k->axpy(out.r, 1, to, n);
    }
    rela_block_finish(b, p, &out, rela_attn_of(b)->out_bias, &drop);
}

static void forward(const rela_block *b, rela_pass *p)
{
    if (p->step)
        rela_attention_step(b, p);
    else
        forward_batch(b, p);
}

/* ---- backward ---- */

static void attend_back(const side_work *w, const side_grads *to, rela_plan scratch)
{
    const rela_attn_rows rows = attn_rows(w);
    const size_t d = w->b->d;
    const bool self = rela_attn_of(w->b)->self;
    for (size_t g = 0; g < w->side->n_groups; g++) {
        const rela_attn attn = attn_at(w, g);
        const rela_attn_in in = attn_in(w, g);
        const size_t column = attn.first_head * attn.d_head;
        rela_attn_grad grad = {
            .dq = to->in + column,
            .dk = self ? to->in + d + column : to->kv + column,
            .dv = self ? to->in + 2 * d + column : to->kv + d + column,
            .z = w->a.z + column,
        };
        for (size_t i = 0; i < rela_attn_params_n(attn.kind); i++)
            grad.dparams[i] = rela_gradient(w->p, w->side->groups[g].params[i]);
        const rela_attn_shape shape = rela_attn_shape_of(&attn);
        rela_plan own = scratch;
        rela_attn_scratch s;
        rela_attn_scratch_plan(&s, &own, &shape, w->size.len);
        rela_attn_back(&attn, &s, &grad, to->dz + column, &in, &rows);
    }
}

/* Backward to the x of the stream attended to. */
static void memory_back(const side_work *w, const real *dkv)
{
    rela_pass *p = w->p;
    const rela_attn_side *side = w->side;
    rela_stream *other = &p->streams[side->stream];
    p->k->sum_rows(rela_gradient(p, side->kv_bias), dkv, other->rows, 2 * w->b->d);
    rela_matrix_back(p, side->kv, dkv, other->act.x, other->rows);
    rela_linear_back_input(other->dmemory, dkv, rela_matrix(p, side->kv), other->rows,
                           other->has_dmemory);
    other->has_dmemory = true;
}

static void back(const rela_block *b, rela_pass *p)
{
    const rela_state *state = &p->states[b->number];
    const rela_drop drop = rela_block_drop(b, p, b->drop, SITE_OUT, b->d);
    const rela_plan all = rela_block_scratch(p);
    const size_t rows = p->streams[b->stream].rows;
    rela_plan kept = { p->kept.base, state->at };
    bool add = false;
    rela_block_finish_back(b, p, rela_attn_of(b)->out_bias, &drop);
    real *to = rela_block_input_gradient(b, p, &add);
    for (size_t i = 0; i < rela_attn_of(b)->n_sides; i++) {
        rela_plan scratch = all;
        const side_work w = start_side(b, p, i, &kept);
        const side_grads g = take_grads(b, &scratch, &w.size);
        rela_matrix_back(p, w.side->out, p->da, w.a.y, rows);
        rela_linear_back_input(g.dz, p->da, rela_matrix(p, w.side->out), rows, false);
        rela_side_norms_back(b, p, w.side, g.dz, w.a.z, scratch);
        attend_back(&w, &g, scratch);
        p->k->sum_rows(rela_gradient(p, w.side->in_bias), g.in, rows, rela_attn_in_width(b));
        rela_matrix_back(p, w.side->in, g.in, state->in.x, rows);
        if (!rela_attn_of(b)->self)
            memory_back(&w, g.kv);
        rela_linear_back_input(to, g.in, rela_matrix(p, w.side->in), rows, add || i > 0);
    }
    rela_block_end_back(b, p);
}

const rela_block_type rela_block_attention = { "attention", declare, plan,
                                               forward,     back,    rela_attention_remember };

/* SPDX-License-Identifier: MIT */
/* src/nn/attention_operator.c - attention as an operator; see rela/attention.h.
 *
 * The unit of work is one head of one sequence, so that even a single sequence keeps several
 * threads busy. No buffers of the size of the input are needed: mixed values (the weighted sums of
 * values) are normed in place, and the backward pass holds their gradient in dq until the gradient
 * of the queries replaces it. */
#include "rela/attention.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/sized.h"
#include "nn/attention_check.h"
#include "nn/attention_places.h"
#include "nn/attn/attn.h"

#include <string.h>

enum { THREAD_WORK = 1 << 20 }; /* multiplications of the scores that are worth another thread */

/* State of one thread. */
typedef struct worker {
    rela_attn_scratch scratch;
    float *dgain, *dgate, *dhead; /* its share of the gradients of the learned parameters */
} worker;

struct rela_attention {
    rela_attention_sizes size;
    const rela_kern *k;
    size_t groups; /* of a row, each normed separately */
    float epsilon;
    double dropout;
    int n_threads;
    worker *workers;
    real *made;  /* the array that the kind makes */
    void *block; /* memory of all workers */
};

/* A call: forward writes z and then y, backward reads dz and writes the gradients. */
typedef struct call {
    rela_attention *a;
    const rela_attention_input *in;
    float *z; /* mixed values */
    size_t ldz;
    float *y;
    size_t ldy;
    float *weights;
    const rela_attention_gradient *g;
    const float *dz;
    size_t lddz;
    rela_drop drop;
    int n_threads;
} call;

/* Context of the tap that copies the weights. */
typedef struct copier {
    float *to; /* (queries, ld) */
    size_t ld;
} copier;

static rela_status plan_workers(rela_attention *a, rela_error *err);
static void plan_worker(worker *w, rela_plan *p, const rela_attention *a);
static void forward_heads(void *ctx, size_t begin, size_t end, int thread);
static void back_heads(void *ctx, size_t begin, size_t end, int thread);
static void norm_sequences(void *ctx, size_t begin, size_t end, int thread);
static void norm_back_sequences(void *ctx, size_t begin, size_t end, int thread);
static void clear_shares(const rela_attention *a);
static void add_shares(const rela_attention *a, const rela_attention_gradient *g);
static int threads_for(const rela_attention *a, const rela_attention_input *in);

rela_status rela_attention_create(rela_attention **out, const rela_attention_options *o,
                                  rela_error *err)
{
    rela_attention_options all;
    *out = NULL;
    rela_attention *a = rela_mem_zalloc(sizeof *a);
    if (!a)
        return rela_fail(err, RELA_NOMEM, "no memory for an attention operator");
    rela_status st = rela_attention_options_check(&all, &a->size, o, err);
    if (st != RELA_OK)
        goto out;
    a->k = rela_kern_get();
    a->groups = all.norm_per_head ? a->size.heads : 1;
    a->epsilon = (float)all.epsilon;
    a->dropout = all.dropout;
    if ((st = rela_par_start(rela_par_threads(all.n_threads), err)) != RELA_OK)
        goto out;
    a->n_threads = rela_par_threads(all.n_threads);
    if ((st = plan_workers(a, err)) != RELA_OK)
        goto out;
    *out = a;
    a = NULL; /* given to the caller */
out:
    rela_attention_destroy(a);
    return st;
}

void rela_attention_destroy(rela_attention *a)
{
    if (!a)
        return;
    if (a->n_threads) /* it holds the threads */
        rela_par_end();
    rela_mem_free(a->block);
    rela_mem_free(a->workers);
    rela_mem_free(a);
}

rela_status rela_attention_learned_get(rela_attention_learned *out, const rela_attention *a,
                                       rela_error *err)
{
    const rela_attn_kind *kind = a->size.kind;
    const rela_attention_learned all = {
        .gain = kind->norm ? a->size.d : 0,
        .gate = kind->norm && kind->norm->gated ? a->size.d : 0,
        .head = a->size.learned,
        .random_gain = kind->norm && kind->norm->random_gain,
        .random_gate = kind->norm && kind->norm->gated,
        .gain_start = kind->norm ? 1 : 0,
        .head_start = kind->params ? kind->params[0].init.arg : 0,
    };
    const rela_status st = rela_sized_check(out, sizeof all, "rela_attention_learned", err);
    if (st == RELA_OK)
        rela_sized_give(out, &all, sizeof all);
    return st;
}

rela_status rela_attention_forward(const rela_attention_output *out, rela_attention *a,
                                   const rela_attention_input *in, rela_error *err)
{
    rela_attention_output o;
    rela_attention_input i;
    rela_status st = rela_attention_input_check(&i, &a->size, in, err);
    st = st ? st : rela_attention_output_check(&o, &a->size, out, err);
    if (st == RELA_OK && o.weights && !rela_attn_shows(a->size.kind))
        st =
            rela_fail(err, RELA_ARG, "%s forms no weights that could be shown", a->size.kind->name);
    if (st != RELA_OK)
        return st;
    call c = { .a = a,
               .in = &i,
               .z = o.mixed ? o.mixed : o.y,
               .ldz = o.mixed ? a->size.d : o.ldy,
               .y = o.y,
               .ldy = o.ldy,
               .weights = o.weights,
               .drop = rela_drop_make(i.training ? a->dropout : 0, i.seed, 0, 0, 0),
               .n_threads = threads_for(a, &i) };
    rela_par_rows(i.n * a->size.heads, c.n_threads, forward_heads, &c);
    rela_par_rows(i.n, c.n_threads, norm_sequences, &c);
    return RELA_OK;
}

rela_status rela_attention_back(const rela_attention_gradient *g, rela_attention *a,
                                const rela_attention_input *in, rela_error *err)
{
    rela_attention_gradient all;
    rela_attention_input i;
    rela_status st = rela_attention_input_check(&i, &a->size, in, err);
    st = st ? st : rela_attention_gradient_check(&all, &a->size, g, err);
    if (st != RELA_OK)
        return st;
    call c = { .a = a,
               .in = &i,
               .g = &all,
               .dz = all.dy,
               .lddz = all.lddy,
               .drop = rela_drop_make(i.training ? a->dropout : 0, i.seed, 0, 0, 0),
               .n_threads = threads_for(a, &i) };
    clear_shares(a);
    if (a->size.kind->norm) {
        if (!all.mixed) {
            c.z = all.dq;
            c.ldz = i.ldq;
            rela_par_rows(i.n * a->size.heads, c.n_threads, forward_heads, &c);
        }
        rela_par_rows(i.n, c.n_threads, norm_back_sequences, &c);
        c.dz = all.dq;
        c.lddz = i.ldq;
    }
    rela_par_rows(i.n * a->size.heads, c.n_threads, back_heads, &c);
    add_shares(a, &all);
    return RELA_OK;
}

/* ---- memory ---- */

static rela_status plan_workers(rela_attention *a, rela_error *err)
{
    rela_plan p = { NULL, 0 };
    const size_t n = (size_t)a->n_threads;
    a->workers = rela_mem_array(n, sizeof *a->workers);
    if (!a->workers)
        return rela_fail(err, RELA_NOMEM, "no memory for the attention of %zu threads", n);
    for (size_t i = 0; i < n; i++)
        plan_worker(&a->workers[i], &p, a);
    const rela_attn_shape shape = rela_attention_shape(&a->size);
    const size_t made = shape.kind->made ? shape.kind->made->size(&shape) : 0;
    (void)rela_plan_reals(&p, made);
    a->block = rela_mem_alloc(p.used + RELA_PLAN_ALIGN);
    if (!a->block)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu bytes of attention over %zu keys",
                         p.used, a->size.max_length);
    p = rela_plan_in(a->block);
    for (size_t i = 0; i < n; i++)
        plan_worker(&a->workers[i], &p, a);
    a->made = rela_plan_reals(&p, made);
    if (made)
        shape.kind->made->make(a->made, &shape, 0, 0);
    return RELA_OK;
}

static void plan_worker(worker *w, rela_plan *p, const rela_attention *a)
{
    const rela_attn_kind *kind = a->size.kind;
    const rela_attn_shape shape = rela_attention_shape(&a->size);
    rela_attn_scratch_plan(&w->scratch, p, &shape, a->size.max_length);
    w->dgain = rela_plan_reals(p, kind->norm ? a->size.d : 0);
    w->dgate = rela_plan_reals(p, kind->norm ? a->size.d : 0);
    w->dhead = rela_plan_reals(p, a->size.learned);
}

/* ---- one head of one sequence ---- */

static void see(void *ctx, const rela_attn_view *v)
{
    const copier *c = ctx;
    for (size_t i = 0; i < v->rows; i++)
        memcpy(c->to + (v->first + i) * c->ld, v->w + i * v->ld, v->n * sizeof *v->w);
}

/* Where the part of a head begins in learned array i, if all arrays lie one after the other. */
static size_t learned_at(const rela_attention_sizes *s, size_t i, size_t head)
{
    const rela_attn_shape shape = rela_attention_shape(s);
    size_t at[RELA_ATTN_PARAMS_MAX];
    (void)rela_attn_params_at(at, &shape);
    return at[i] + (s->kind->params[i].shared ? 0 : head * rela_attn_param_size(&shape, i));
}

static rela_attn head_of(const call *c, size_t head, size_t ldz)
{
    const rela_attention_sizes *s = &c->a->size;
    rela_attn a = { .k = c->a->k,
                    .kind = s->kind,
                    .numbers = s->numbers,
                    .heads = 1,
                    .d_head = s->d_head,
                    .ldz = ldz,
                    .causal = s->causal,
                    .drop = c->drop,
                    .made = c->a->made };
    for (size_t i = 0; i < rela_attn_params_n(s->kind); i++)
        a.params[i] = c->in->head + learned_at(s, i, head);
    return a;
}

static rela_attn_in in_of(const call *c, const rela_place *p, size_t head)
{
    const rela_attention_input *in = c->in;
    const size_t column = head * c->a->size.d_head;
    return (rela_attn_in){ .q = in->q + p->q0 * in->ldq + column,
                           .k = in->k + p->k0 * in->ldk + column,
                           .v = in->v + p->k0 * in->ldv + column,
                           .ldq = in->ldq,
                           .ldk = in->ldk,
                           .ldv = in->ldv };
}

/* Row number for dropout: every query of every head has its own. */
static uint32_t first_row(const call *c, const rela_place *p, size_t head)
{
    return (uint32_t)(p->q0 * c->a->size.heads + head * p->q_rows);
}

static void clear(float *x, size_t ld, size_t first, size_t end, size_t n)
{
    for (size_t i = first; i < end; i++)
        memset(x + i * ld, 0, n * sizeof *x);
}

static void forward_heads(void *ctx, size_t begin, size_t end, int thread)
{
    const call *c = ctx;
    const rela_attention_sizes *s = &c->a->size;
    rela_place p = rela_place_first(c->in, s->heads, begin / s->heads);
    for (size_t at = begin; at < end; at++) {
        const size_t head = at % s->heads;
        if (at > begin && head == 0)
            rela_place_next(&p, c->in, s->heads);
        const uint32_t q_at[] = { 0, (uint32_t)p.n_q }, k_at[] = { 0, (uint32_t)p.n_k };
        const rela_attn_rows rows = { 1, q_at, k_at, first_row(c, &p, head) };
        const rela_attn_in in = in_of(c, &p, head);
        const size_t block = p.q_rows * p.k_rows;
        copier copy = { c->weights ? c->weights + p.w0 + head * block : NULL, p.k_rows };
        const rela_attn_tap tap = { see, &copy };
        rela_attn attn = head_of(c, head, c->ldz);
        if (copy.to) {
            memset(copy.to, 0, block * sizeof *copy.to);
            attn.tap = &tap;
        }
        float *z = c->z + p.q0 * c->ldz + head * s->d_head;
        rela_attn_forward(&attn, &c->a->workers[thread].scratch, z, &in, &rows);
        clear(z, c->ldz, p.n_q, p.q_rows, s->d_head);
    }
}

static void back_heads(void *ctx, size_t begin, size_t end, int thread)
{
    const call *c = ctx;
    const rela_attention_sizes *s = &c->a->size;
    const worker *w = &c->a->workers[thread];
    rela_place p = rela_place_first(c->in, s->heads, begin / s->heads);
    for (size_t at = begin; at < end; at++) {
        const size_t head = at % s->heads, column = head * s->d_head;
        if (at > begin && head == 0)
            rela_place_next(&p, c->in, s->heads);
        const uint32_t q_at[] = { 0, (uint32_t)p.n_q }, k_at[] = { 0, (uint32_t)p.n_k };
        const rela_attn_rows rows = { 1, q_at, k_at, first_row(c, &p, head) };
        const rela_attn_in in = in_of(c, &p, head);
        const rela_attn attn = head_of(c, head, c->lddz);
        rela_attn_grad grad = { .dq = c->g->dq + p.q0 * in.ldq + column,
                                .dk = c->g->dk + p.k0 * in.ldk + column,
                                .dv = c->g->dv + p.k0 * in.ldv + column };
        for (size_t i = 0; i < rela_attn_params_n(s->kind); i++)
            grad.dparams[i] = w->dhead + learned_at(s, i, head);
        rela_attn_back(&attn, &w->scratch, &grad, c->dz + p.q0 * c->lddz + column, &in, &rows);
        clear(grad.dq, in.ldq, p.n_q, p.q_rows, s->d_head);
        clear(grad.dk, in.ldk, p.n_k, p.k_rows, s->d_head);
        clear(grad.dv, in.ldv, p.n_k, p.k_rows, s->d_head);
    }
}

/* ---- norms: all heads of a sequence ---- */

static void norm_sequences(void *ctx, size_t begin, size_t end, int thread)
{
    const call *c = ctx;
    const rela_attention *a = c->a;
    const rela_attn_norm *norm = a->size.kind->norm;
    (void)thread;
    rela_place p = rela_place_first(c->in, a->size.heads, begin);
    for (; p.i < end; rela_place_next(&p, c->in, a->size.heads)) {
        const float *gate = norm && norm->gated ? c->in->gate : NULL;
        for (size_t r = p.q0; r < p.q0 + p.n_q; r++) {
            const float *z = c->z + r * c->ldz;
            float *y = c->y + r * c->ldy;
            if (norm)
                a->k->gated_norm(y, z, c->in->gain, gate, 1, a->size.d, a->groups, a->epsilon,
                                 norm->center);
            else if (y != z)
                memcpy(y, z, a->size.d * sizeof *y);
        }
        clear(c->y + p.q0 * c->ldy, c->ldy, p.n_q, p.q_rows, a->size.d);
    }
}

static void norm_back_sequences(void *ctx, size_t begin, size_t end, int thread)
{
    const call *c = ctx;
    const rela_attention *a = c->a;
    const rela_attn_norm *norm = a->size.kind->norm;
    const worker *w = &a->workers[thread];
    rela_place p = rela_place_first(c->in, a->size.heads, begin);
    for (; p.i < end; rela_place_next(&p, c->in, a->size.heads)) {
        const float *gate = norm->gated ? c->in->gate : NULL;
        for (size_t r = p.q0; r < p.q0 + p.n_q; r++) {
            float *dz = c->g->dq + r * c->in->ldq; /* holds z if it was recomputed */
            const float *z = c->g->mixed ? c->g->mixed + r * a->size.d : dz;
            a->k->gated_norm_back(dz, w->dgain, gate ? w->dgate : NULL, c->g->dy + r * c->g->lddy,
                                  z, c->in->gain, gate, 1, a->size.d, a->groups, a->epsilon,
                                  norm->center);
        }
    }
}

/* ---- gradients of the learned parameters: summed in the order of the threads ---- */

static void clear_shares(const rela_attention *a)
{
    const size_t d = a->size.kind->norm ? a->size.d : 0;
    for (int t = 0; t < a->n_threads; t++) {
        const worker *w = &a->workers[t];
        memset(w->dgain, 0, d * sizeof *w->dgain);
        memset(w->dgate, 0, d * sizeof *w->dgate);
        memset(w->dhead, 0, a->size.learned * sizeof *w->dhead);
    }
}

static void add_shares(const rela_attention *a, const rela_attention_gradient *g)
{
    const rela_attn_kind *kind = a->size.kind;
    for (int t = 0; t < a->n_threads; t++) {
        const worker *w = &a->workers[t];
        if (g->dgain && kind->norm)
            a->k->axpy(g->dgain, 1, w->dgain, a->size.d);
        if (g->dgate && kind->norm && kind->norm->gated)
            a->k->axpy(g->dgate, 1, w->dgate, a->size.d);
        if (g->dhead)
            a->k->axpy(g->dhead, 1, w->dhead, a->size.learned);
    }
}

/* Small inputs are done before other threads have woken up. */
static int threads_for(const rela_attention *a, const rela_attention_input *in)
{
    double work = 0;
    for (size_t i = 0; i < in->n; i++)
        work += (double)(in->q_lens ? in->q_lens[i] : in->q_step) *
                (double)(in->k_lens ? in->k_lens[i] : in->k_step) * (double)a->size.d;
    const double wanted = 1 + work / THREAD_WORK;
    return wanted < a->n_threads ? (int)wanted : a->n_threads;
}

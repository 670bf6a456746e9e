/* SPDX-License-Identifier: MIT */
/* src/model/worker.c - see worker.h. */
#include "model/worker.h"

#include "base/mem.h"
#include "kern/flush_to_zero.h"
#include "kern/gemm.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct rela_worker {
    const rela_net *net;
    size_t reserved; /* bytes, see rela_gemm_bytes */
    rela_pass_size size;
    void *block; /* everything planned lies in it */
    rela_stream streams[RELA_STREAMS_MAX];
    rela_state *states; /* (blocks) if it can train; otherwise unused */
    rela_plan kept, scratch;
    size_t scratch_bytes;
    real *grads[4]; /* (rows, d) each: see rela_pass */
    real *made;     /* arrays that kinds of attention make, for an update */
    uint64_t made_for;
};

static void plan(rela_worker *w, rela_plan *p);
static rela_pass start(rela_worker *w, const rela_model_batch *b, const rela_pass_options *r);
static void forward(const rela_net *n, rela_pass *p, const rela_pass_options *r);
static void back(const rela_net *n, rela_pass *p, const rela_pass_options *r);

static rela_pass_size size_of(const rela_net *n, size_t src_rows, size_t tgt_rows, bool training)
{
    const size_t target = rela_block_list_target(&n->list);
    rela_pass_size s = { .storage = RELA_STORE_F32, .training = training };
    for (size_t i = 0; i <= target; i++) {
        s.rows[i] = i < target ? src_rows : tgt_rows;
        s.len[i] = n->config.max_len < s.rows[i] ? n->config.max_len : s.rows[i];
    }
    return s;
}

size_t rela_worker_bytes(const rela_net *n, size_t max_src_rows, size_t max_tgt_rows, bool training)
{
    rela_worker w = { .net = n, .size = size_of(n, max_src_rows, max_tgt_rows, training) };
    rela_plan p = { NULL, 0 };
    plan(&w, &p);
    return p.used + RELA_PLAN_ALIGN;
}

/* The most rows that a matrix has. */
static size_t widest(const rela_params *p)
{
    size_t most = 0;
    for (size_t i = 0; i < p->n; i++)
        most = p->items[i].matrix && p->items[i].rows > most ? p->items[i].rows : most;
    return most;
}

rela_status rela_worker_create(rela_worker **out, const rela_net *n, size_t max_src_rows,
                               size_t max_tgt_rows, bool training, rela_error *err)
{
    *out = NULL;
    if (n->params.packed)
        return rela_fail(err, RELA_STATE, RELA_TRANSLATES_ONLY);
    const size_t bytes = rela_worker_bytes(n, max_src_rows, max_tgt_rows, training);
    const size_t reserved = rela_gemm_bytes(widest(&n->params));
    rela_status st = rela_gemm_start(err);
    st = st ? st : rela_mem_reserve(reserved, "matrix products", err);
    if (st != RELA_OK)
        return st;
    rela_worker *w = rela_mem_zalloc(sizeof *w);
    if (!w)
        rela_mem_unreserve(reserved);
    if (w) {
        w->net = n;
        w->reserved = reserved;
        w->size = size_of(n, max_src_rows, max_tgt_rows, training);
        w->block = rela_mem_zalloc(bytes); /* block_align.c needs zeros */
        w->states = rela_mem_zalloc((training ? n->list.n : 1) * sizeof *w->states);
    }
    if (!w || !w->block || !w->states) {
        rela_worker_destroy(w);
        return rela_fail(err, RELA_NOMEM, "no memory for %zu bytes of activations", bytes);
    }
    rela_plan p = rela_plan_in(w->block);
    plan(w, &p);
    rela_block_list_make(&n->list, w->made, 0, NULL);
    *out = w;
    return RELA_OK;
}

void rela_worker_destroy(rela_worker *w)
{
    if (!w)
        return;
    rela_mem_unreserve(w->reserved);
    rela_mem_free(w->block);
    rela_mem_free(w->states);
    rela_mem_free(w);
}

rela_loss_sums rela_worker_forward(rela_worker *w, const rela_model_batch *b,
                                   const rela_pass_options *r)
{
    return rela_worker_train(w, NULL, b, r);
}

void rela_worker_attend(rela_worker *w, const rela_model_batch *b, const rela_pass_options *r)
{
    rela_pass p = start(w, b, r);
    const uint64_t mode = rela_flush_to_zero();
    p.without_loss = true;
    forward(w->net, &p, r);
    rela_flush_to_zero_end(mode);
}

rela_loss_sums rela_worker_train(rela_worker *w, real *grads, const rela_model_batch *b,
                                 const rela_pass_options *r)
{
    rela_pass p = start(w, b, r);
    const uint64_t mode = rela_flush_to_zero();
    assert(!grads || w->size.training);
    p.grads = grads;
    forward(w->net, &p, r);
    if (grads)
        back(w->net, &p, r);
    rela_flush_to_zero_end(mode);
    return p.sums;
}

const real *rela_worker_features(const rela_worker *w)
{
    return w->streams[rela_block_list_target(&w->net->list)].act.x;
}

bool rela_worker_finite(const rela_worker *w, const rela_model_batch *b, size_t sentence)
{
    const uint32_t *at = b->streams[rela_block_list_target(&w->net->list)].at;
    const size_t d = w->net->config.d, first = at[sentence], end = at[sentence + 1];
    if (w->net->config.task == RELA_TASK_ALIGN)
        return true;
    const real *x = rela_worker_features(w);
    for (size_t i = first * d; i < end * d; i++)
        if (!isfinite((double)x[i]))
            return false;
    return true;
}

/* ---- memory ---- */

static size_t most_rows(const rela_pass_size *s, size_t n_streams)
{
    size_t most = 0;
    for (size_t i = 0; i < n_streams; i++)
        most = s->rows[i] > most ? s->rows[i] : most;
    return most;
}

static void plan(rela_worker *w, rela_plan *p)
{
    const rela_block_list *l = &w->net->list;
    const rela_config *c = &w->net->config;
    const bool training = w->size.training;
    size_t kept = 0;
    w->scratch_bytes = rela_block_list_plan(l, &kept, &w->size);
    w->kept.base = rela_plan_take(p, kept, 1);
    w->made = rela_plan_reals(p, l->made);
    w->scratch.base = rela_plan_take(p, w->scratch_bytes, 1);
    if (c->task == RELA_TASK_ALIGN)
        return;
    for (size_t i = 0; i < l->n_streams; i++) {
        if (!training)
            rela_stream_plan(&w->streams[i], p, w->size.rows[i], c->d, c->pre_norm);
        else if (l->memories[i].n)
            w->streams[i].dmemory = rela_plan_reals(p, w->size.rows[i] * c->d);
    }
    for (size_t i = 0; training && i < 3 + (size_t)c->pre_norm; i++)
        w->grads[i] = rela_plan_reals(p, most_rows(&w->size, l->n_streams) * c->d);
}

/* ---- a pass ---- */

static rela_pass start(rela_worker *w, const rela_model_batch *b, const rela_pass_options *r)
{
    const rela_net *n = w->net;
    const uint64_t made_for = r->training ? r->update : 0;
    rela_block_list_make(&n->list, w->made, made_for, &w->made_for);
    w->made_for = made_for;
    for (size_t i = 0; i < n->list.n_streams; i++) {
        rela_stream *s = &w->streams[i];
        s->tokens = b->streams[i];
        s->rows = rela_tokens_rows(&s->tokens);
        s->first_row = b->first[i];
        s->has_dmemory = false;
        assert(s->rows <= w->size.rows[i]);
    }
    return (rela_pass){ .k = n->k,
                        .offsets = n->params.offsets,
                        .weights = n->plain,
                        .tables = n->plain,
                        .storage = RELA_STORE_F32,
                        .vectors = n->weights,
                        .positions = n->positions,
                        .made = w->made,
                        .streams = w->streams,
                        .states = w->size.training ? w->states : NULL,
                        .kept = w->kept,
                        .scratch = w->scratch,
                        .scratch_bytes = w->scratch_bytes,
                        .training = r->training,
                        .seed = r->seed,
                        .update = r->update,
                        .path = r->path,
                        .tap = r->tap,
                        .loss = r->loss,
                        .dx = w->grads[0],
                        .dr = w->grads[1],
                        .da = w->grads[2],
                        .spare = w->grads[3] };
}

static bool is_over(const rela_pass_options *r)
{
    return rela_callback_poll(r->callback, 0) || rela_stop_asked(&r->stop);
}

static void forward(const rela_net *n, rela_pass *p, const rela_pass_options *r)
{
    for (size_t i = 0; i < n->list.n && !is_over(r); i++) {
        const rela_block *b = &n->list.blocks[i];
        if (!p->without_loss || b->type != &rela_block_output)
            b->type->forward(b, p);
    }
}

/* A block may add to the gradient of the norm after it, which in pre-norm is a parameter of the
 * next block: so only the blocks after this one are complete. */
static void back(const rela_net *n, rela_pass *p, const rela_pass_options *r)
{
    for (size_t i = n->list.n; i-- > 0 && !is_over(r);) {
        const rela_block *b = &n->list.blocks[i];
        const rela_stream *s = &p->streams[b->stream];
        if (b->last && s->dmemory) /* summed over the cross-attentions to it */
            memcpy(p->dx, s->dmemory, s->rows * b->d * sizeof *p->dx);
        if (b->type->back)
            b->type->back(b, p);
        if (r->on_gradients && b->params_end < n->list.params_end)
            r->on_gradients(r->on_gradients_ctx, b->params_end);
    }
}

/* SPDX-License-Identifier: MIT */
/* src/nn/block.c - what blocks share: see block.h. */
#include "nn/block.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const rela_init ZERO = { RELA_INIT_CONSTANT, 0 }, ONE = { RELA_INIT_CONSTANT, 1 };

/* ---- parameters ---- */

void rela_declare_add(rela_declare *d, uint32_t *param, const char *name,
                      const rela_param_shape *shape)
{
    char full[2 * RELA_PARAM_NAME_MAX];
    (void)snprintf(full, sizeof full, "%s%s%s", d->prefix, *d->prefix ? "." : "", name);
    assert(strlen(full) < RELA_PARAM_NAME_MAX);
    if (d->status == RELA_OK)
        d->status = rela_params_add(d->params, param, full, shape, d->err);
}

void rela_declare_vector(rela_declare *d, uint32_t *param, const char *name, size_t n,
                         rela_init init)
{
    rela_declare_add(d, param, name, &(rela_param_shape){ .cols = n, .init = init });
}

void rela_declare_linear(rela_declare *d, uint32_t *weight, uint32_t *bias, const char *name,
                         size_t out, size_t in, double limit)
{
    char full[RELA_PARAM_NAME_MAX];
    (void)snprintf(full, sizeof full, "%s.weight", name);
    rela_declare_add(
        d, weight, full,
        &(rela_param_shape){
            .rows = out, .cols = in, .matrix = true, .init = { RELA_INIT_UNIFORM, limit } });
    (void)snprintf(full, sizeof full, "%s.bias", name);
    if (bias)
        rela_declare_vector(d, bias, full, out, ZERO);
}

void rela_declare_table(rela_declare *d, uint32_t *param, const char *name, size_t vocabulary,
                        size_t width, bool lookup)
{
    rela_declare_add(d, param, name,
                     &(rela_param_shape){ .rows = vocabulary,
                                          .cols = width,
                                          .matrix = true,
                                          .init = { RELA_INIT_NORMAL, 1 / sqrt((double)width) },
                                          .lookup = lookup,
                                          .table = true });
}

void rela_declare_norm(rela_declare *d, rela_norm_at *norm, size_t width)
{
    rela_declare_vector(d, &norm->gain, "ln.gain", width, ONE);
    rela_declare_vector(d, &norm->offset, "ln.offset", width, ZERO);
}

/* ---- forward ---- */

void rela_stream_plan(rela_stream *s, rela_plan *p, size_t rows, size_t d, bool pre_norm)
{
    s->x = rela_plan_reals(p, rows * d);
    s->r[0] = s->r[1] = rela_plan_reals(p, rows * d);
    if (pre_norm)
        s->r[1] = rela_plan_reals(p, rows * d);
    s->stats = rela_plan_take(p, rows, sizeof *s->stats);
}

static rela_act take_act(rela_plan *p, size_t rows, size_t d)
{
    rela_act a;
    a.r = rela_plan_reals(p, rows * d);
    a.x = rela_plan_reals(p, rows * d);
    a.stats = rela_plan_take(p, rows, sizeof *a.stats);
    return a;
}

rela_act rela_block_begin(const rela_block *b, rela_pass *p)
{
    rela_stream *s = &p->streams[b->stream];
    if (!p->states)
        return (rela_act){ s->x, s->act.r == s->r[0] ? s->r[1] : s->r[0], s->stats };
    rela_state *state = &p->states[b->number];
    state->in = s->act;
    state->out = take_act(&p->kept, s->rows, b->d);
    state->at = p->kept.used;
    return state->out;
}

void rela_block_plan_out(const rela_block *b, rela_plan *kept, const rela_pass_size *s)
{
    if (s->training)
        (void)take_act(kept, s->rows[b->stream], b->d);
}

void rela_block_finish(const rela_block *b, rela_pass *p, const rela_act *out, uint32_t bias,
                       const rela_drop *drop)
{
    rela_stream *s = &p->streams[b->stream];
    p->k->residual_norm(out->x, out->r, out->stats, b->pre_norm ? s->act.r : s->act.x, out->r,
                        rela_vector(p, bias), rela_vector(p, b->norm.gain),
                        rela_vector(p, b->norm.offset), s->rows, b->d, b->eps, drop);
    s->act = *out;
}

/* ---- backward ---- */

void rela_block_finish_back(const rela_block *b, rela_pass *p, uint32_t bias, const rela_drop *drop)
{
    const rela_act *out = &p->states[b->number].out;
    const rela_stream *s = &p->streams[b->stream];
    real *to = b->pre_norm ? p->spare : p->dr;
    p->k->residual_norm_back(to, p->da, rela_gradient(p, b->norm.gain),
                             rela_gradient(p, b->norm.offset), rela_gradient(p, bias), p->dx,
                             b->pre_norm && !b->last ? p->dr : NULL, out->r, out->stats,
                             rela_vector(p, b->norm.gain), s->rows, b->d, drop);
    if (b->pre_norm) { /* the new residual gradient takes the place of the old one */
        p->spare = p->dr;
        p->dr = to;
    }
}

real *rela_block_input_gradient(const rela_block *b, rela_pass *p, bool *add)
{
    *add = !b->pre_norm;
    return *add ? p->dr : p->dx;
}

void rela_block_end_back(const rela_block *b, rela_pass *p)
{
    if (b->pre_norm)
        return;
    real *t = p->dx;
    p->dx = p->dr;
    p->dr = t;
}

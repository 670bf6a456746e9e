/* SPDX-License-Identifier: MIT */
/* src/nn/block_ffn.c - feed-forward block: linear, ReLU, dropout, linear. */
#include "nn/block.h"

#include <math.h>

enum { SITE_INNER, SITE_OUT };

/* Reals between rows of the hidden layer if weights are packed. Its width is often a power of two:
 * without a gap all rows would compete for the same few cache sets. */
enum { ROW_GAP = 16 };

static size_t inner_ld(const rela_block *b, rela_storage storage)
{
    return b->at.ffn.width + (storage == RELA_STORE_F32 ? 0 : ROW_GAP);
}

static real *take_inner(const rela_block *b, rela_plan *p, rela_storage storage, size_t rows)
{
    return rela_plan_reals(p, rows * inner_ld(b, storage));
}

static void declare(rela_block *b, rela_declare *d)
{
    rela_ffn_at *at = &b->at.ffn;
    const double limit = sqrt(6.0 / (double)(b->d + at->width));
    rela_declare_linear(d, &at->up, &at->up_bias, "up", at->width, b->d, limit);
    rela_declare_linear(d, &at->down, &at->down_bias, "down", b->d, at->width, limit);
    rela_declare_norm(d, &b->own, b->d);
}

static void plan(const rela_block *b, rela_plan *kept, rela_plan *scratch, const rela_pass_size *s)
{
    const size_t rows = s->rows[b->stream], width = b->at.ffn.width;
    rela_block_plan_out(b, kept, s);
    (void)take_inner(b, s->training ? kept : scratch, s->storage, rows);
    rela_linear_plan(scratch, s->storage, b->d > width ? b->d : width, rows);
    if (s->training)
        (void)rela_plan_reals(scratch, rows * width);
}

static void forward(const rela_block *b, rela_pass *p)
{
    const rela_ffn_at *at = &b->at.ffn;
    const rela_stream *s = &p->streams[b->stream];
    const rela_drop inner = rela_block_drop(b, p, at->drop, SITE_INNER, at->width);
    const rela_drop outer = rela_block_drop(b, p, b->drop, SITE_OUT, b->d);
    rela_plan scratch = rela_block_scratch(p);
    const rela_act out = rela_block_begin(b, p);
    real *h = take_inner(b, p->states ? &p->kept : &scratch, p->storage, s->rows);
    const size_t ld = inner_ld(b, p->storage);
    const rela_linear_out up = { h, ld, rela_vector(p, at->up_bias), &inner };
    const rela_linear_out down = { out.r, b->d, NULL, NULL };
    rela_linear(p->k, rela_matrix(p, at->up), &up, s->act.x, b->d, s->rows, scratch);
    rela_linear(p->k, rela_matrix(p, at->down), &down, h, ld, s->rows, scratch);
    rela_block_finish(b, p, &out, at->down_bias, &outer);
}

static void back(const rela_block *b, rela_pass *p)
{
    const rela_ffn_at *at = &b->at.ffn;
    const rela_state *state = &p->states[b->number];
    const size_t rows = p->streams[b->stream].rows;
    const rela_drop inner = rela_block_drop(b, p, at->drop, SITE_INNER, at->width);
    const rela_drop outer = rela_block_drop(b, p, b->drop, SITE_OUT, b->d);
    rela_plan scratch = rela_block_scratch(p), kept = { p->kept.base, state->at };
    const real *h = take_inner(b, &kept, p->storage, rows);
    real *dh = rela_plan_reals(&scratch, rows * at->width);
    rela_block_finish_back(b, p, at->down_bias, &outer);
    rela_matrix_back(p, at->down, p->da, h, rows);
    rela_linear_back_input(dh, p->da, rela_matrix(p, at->down), rows, false);
    p->k->bias_relu_back(dh, rela_gradient(p, at->up_bias), h, rows, at->width,
                         inner.threshold ? inner.scale : 1);
    rela_matrix_back(p, at->up, dh, state->in.x, rows);
    bool add = false;
    real *to = rela_block_input_gradient(b, p, &add);
    rela_linear_back_input(to, dh, rela_matrix(p, at->up), rows, add);
    rela_block_end_back(b, p);
}

const rela_block_type rela_block_ffn = { "ffn", declare, plan, forward, back, NULL };

/* SPDX-License-Identifier: MIT */
/* src/nn/block_embed.c - token embeddings, a learned bias and positions, then dropout. */
#include "nn/block.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void rela_positions_fill(real *positions, size_t length, size_t d)
{
    const size_t half = d / 2;
    const double step = half > 1 ? log(1e4) / (double)(half - 1) : 0;
    memset(positions, 0, length * d * sizeof *positions);
    for (size_t t = 0; t < length; t++)
        for (size_t i = 0; i < half; i++) {
            const double angle = (double)t * exp(-step * (double)i);
            positions[t * d + i] = (real)sin(angle);
            positions[t * d + half + i] = (real)cos(angle);
        }
}

static void declare(rela_block *b, rela_declare *d)
{
    rela_embed_at *at = &b->at.embed;
    const rela_init small = { RELA_INIT_UNIFORM, sqrt(3.0 / (double)b->d) };
    rela_declare_table(d, &at->table, at->table_name, at->vocabulary, b->d, true);
    rela_declare_vector(d, &at->bias, "embed.bias", b->d, small);
}

static void plan(const rela_block *b, rela_plan *kept, rela_plan *scratch, const rela_pass_size *s)
{
    rela_block_plan_out(b, kept, s);
    (void)rela_plan_reals(scratch, b->d); /* a row of packed weights */
}

/* token -1: none, the position alone. */
static void embed_row(const rela_block *b, const rela_pass *p, real *row, int32_t token,
                      size_t position, real *buffer)
{
    const real *bias = rela_vector(p, b->at.embed.bias), *at = p->positions + position * b->d;
    const real factor = (real)sqrt((double)b->d);
    assert(position < b->max_len);
    if (token < 0) {
        memcpy(row, at, b->d * sizeof *row);
        return;
    }
    const real *entry = rela_weight_row(p->k, &p->tables[b->at.embed.table], (size_t)token, buffer);
    p->k->scale_rows(row, b->d, entry, b->d, 1, b->d, b->d, &factor, 0);
    p->k->axpy(row, 1, bias, b->d);
    p->k->axpy(row, 1, at, b->d);
}

static void embed_rows(const rela_block *b, const rela_pass *p, real *x, real *buffer)
{
    const rela_tokens *t = &p->streams[b->stream].tokens;
    const bool shifted = b->at.embed.shifted;
    const rela_step_rows *rows = p->step ? &p->step->rows : NULL;
    for (size_t i = 0; rows && i < rows->n; i++)
        embed_row(b, p, x + i * b->d, rows->position[i] ? rows->token[i] : -1, rows->position[i],
                  buffer);
    for (size_t s = 0; !rows && s < t->n; s++)
        for (size_t i = t->at[s]; i < t->at[s + 1]; i++)
            embed_row(b, p, x + i * b->d, shifted && i == t->at[s] ? -1 : t->ids[i - shifted],
                      i - t->at[s], buffer);
}

static void forward(const rela_block *b, rela_pass *p)
{
    static const rela_drop NONE = { .threshold = 0 };
    rela_stream *s = &p->streams[b->stream];
    rela_plan scratch = rela_block_scratch(p);
    const rela_drop drop = rela_block_drop(b, p, b->drop, 0, b->d);
    s->act = (rela_act){ s->x, s->r[0], s->stats };
    const rela_act out = rela_block_begin(b, p);
    real *x = b->normed ? out.r : out.x;
    embed_rows(b, p, x, rela_plan_reals(&scratch, b->d));
    if (p->training)
        p->k->dropout(x, s->rows * b->d, &drop);
    if (b->normed)
        p->k->residual_norm(out.x, out.r, out.stats, NULL, out.r, NULL,
                            rela_vector(p, b->norm.gain), rela_vector(p, b->norm.offset), s->rows,
                            b->d, b->eps, &NONE);
    s->act = out;
}

static void add_gradients(const rela_block *b, const rela_pass *p, const real *dx)
{
    const rela_tokens *t = &p->streams[b->stream].tokens;
    const size_t d = b->d, shifted = b->at.embed.shifted;
    const real factor = (real)sqrt((double)d);
    real *dtable = rela_gradient(p, b->at.embed.table), *dbias = rela_gradient(p, b->at.embed.bias);
    for (size_t s = 0; s < t->n; s++)
        for (size_t i = t->at[s] + shifted; i < t->at[s + 1]; i++) {
            const real *row = dx + i * d;
            real *entry = dtable + (size_t)t->ids[i - shifted] * d;
            for (size_t c = 0; c < d; c++) {
                entry[c] += row[c] * factor;
                dbias[c] += row[c];
            }
        }
}

static void back(const rela_block *b, rela_pass *p)
{
    const rela_stream *s = &p->streams[b->stream];
    const rela_act *out = &p->states[b->number].out;
    const rela_drop drop = rela_block_drop(b, p, b->drop, 0, b->d);
    real *dx = p->dx;
    if (b->normed) {
        dx = p->spare;
        p->k->residual_norm_back(dx, NULL, rela_gradient(p, b->norm.gain),
                                 rela_gradient(p, b->norm.offset), NULL, p->dx, p->dr, out->r,
                                 out->stats, rela_vector(p, b->norm.gain), s->rows, b->d, &drop);
    }
    p->k->dropout(dx, s->rows * b->d, &drop);
    add_gradients(b, p, dx);
}

const rela_block_type rela_block_embed = { "embed", declare, plan, forward, back, NULL };

/* SPDX-License-Identifier: MIT */
/* src/nn/block_attention_norm.c - the norms of attention outputs: see block_attention.h.
 *
 * Norms need contiguous rows: if there are several groups, the columns of each are copied out and
 * back. */
#include "nn/block_attention.h"

/* Columns of a group among those of its block. */
typedef struct columns {
    const rela_kern *k;
    size_t rows, width, first, ld;
} columns;

static columns columns_of(const rela_block *b, const rela_pass *p, const rela_head_group *group)
{
    const size_t d_head = rela_attn_of(b)->d_head;
    return (columns){ p->k, p->streams[b->stream].rows, group->of.heads * d_head,
                      group->of.first * d_head, b->d };
}

static void copy(const columns *c, real *to, size_t ldt, const real *from, size_t ldf)
{
    static const real one = 1;
    c->k->scale_rows(to, ldt, from, ldf, c->rows, c->width, c->width, &one, 0);
}

static real *take(const columns *c, rela_plan *scratch)
{
    return rela_plan_reals(scratch, c->rows * c->width);
}

void rela_side_norms_plan(rela_plan *scratch, const rela_block *b, const rela_attn_side *side,
                          size_t g, size_t rows)
{
    const columns c = { .rows = rows, .width = side->groups[g].of.heads * rela_attn_of(b)->d_head };
    for (int i = 0; side->n_groups > 1 && i < 2; i++)
        (void)take(&c, scratch);
}

static size_t parts_of(const rela_block *b, const rela_head_group *group)
{
    return rela_attn_of(b)->norm_per_head ? group->of.heads : 1;
}

static void norm_group(const rela_block *b, const rela_pass *p, const rela_head_group *group,
                       bool alone, real *y, const real *z, rela_plan scratch)
{
    const rela_attn_norm *norm = group->of.kind->norm;
    const columns c = columns_of(b, p, group);
    if (!norm) {
        if (y != z)
            copy(&c, y + c.first, c.ld, z + c.first, c.ld);
        return;
    }
    real *value = alone ? NULL : take(&c, &scratch), *to = alone ? y : take(&c, &scratch);
    if (!alone)
        copy(&c, value, c.width, z + c.first, c.ld);
    c.k->gated_norm(to, alone ? z : value, rela_vector(p, group->gain),
                    norm->gated ? rela_vector(p, group->gate) : NULL, c.rows, c.width,
                    parts_of(b, group), rela_attn_of(b)->eps, norm->center);
    if (!alone)
        copy(&c, y + c.first, c.ld, to, c.width);
}

void rela_side_norms(const rela_block *b, const rela_pass *p, const rela_attn_side *side, real *y,
                     const real *z, rela_plan scratch)
{
    for (size_t g = 0; g < side->n_groups; g++)
        norm_group(b, p, &side->groups[g], side->n_groups == 1, y, z, scratch);
}

static void norm_group_back(const rela_block *b, const rela_pass *p, const rela_head_group *group,
                            bool alone, real *dz, const real *z, rela_plan scratch)
{
    const rela_attn_norm *norm = group->of.kind->norm;
    const columns c = columns_of(b, p, group);
    if (!norm)
        return;
    real *grad = alone ? dz : take(&c, &scratch), *value = alone ? NULL : take(&c, &scratch);
    if (!alone) {
        copy(&c, grad, c.width, dz + c.first, c.ld);
        copy(&c, value, c.width, z + c.first, c.ld);
    }
    c.k->gated_norm_back(grad, rela_gradient(p, group->gain),
                         norm->gated ? rela_gradient(p, group->gate) : NULL, grad,
                         alone ? z : value, rela_vector(p, group->gain),
                         norm->gated ? rela_vector(p, group->gate) : NULL, c.rows, c.width,
                         parts_of(b, group), rela_attn_of(b)->eps, norm->center);
    if (!alone)
        copy(&c, dz + c.first, c.ld, grad, c.width);
}

void rela_side_norms_back(const rela_block *b, const rela_pass *p, const rela_attn_side *side,
                          real *dz, const real *z, rela_plan scratch)
{
    for (size_t g = 0; g < side->n_groups; g++)
        norm_group_back(b, p, &side->groups[g], side->n_groups == 1, dz, z, scratch);
}

/* SPDX-License-Identifier: MIT */
/* src/analyse/sparsity.c - see sparsity.h. */
#include "analyse/sparsity.h"

#include "base/mem.h"

static void see(void *ctx, const rela_attn_view *v);

rela_status rela_sparsity_init(rela_sparsity *s, const rela_net *net, rela_error *err)
{
    *s = (rela_sparsity){ .stacks = net->list.stacks,
                          .n_stacks = net->list.n_stacks,
                          .heads = net->config.heads };
    for (size_t i = 0; i < s->n_stacks; i++) {
        s->cells[i] = rela_mem_zalloc(s->stacks[i].layers * s->heads * sizeof *s->cells[i]);
        if (!s->cells[i]) {
            rela_sparsity_deinit(s);
            return rela_fail(err, RELA_NOMEM, "no memory to count zeros");
        }
    }
    return RELA_OK;
}

void rela_sparsity_deinit(rela_sparsity *s)
{
    for (size_t i = 0; i < s->n_stacks; i++)
        rela_mem_free(s->cells[i]);
    *s = (rela_sparsity){ 0 };
}

rela_attn_tap rela_sparsity_tap(rela_sparsity *s)
{
    return (rela_attn_tap){ see, s };
}

rela_zeros rela_sparsity_sum(const rela_sparsity *s, size_t stack, size_t layer)
{
    rela_zeros sum = { 0, 0, 0, 0 };
    for (size_t i = 0; i < s->stacks[stack].layers * s->heads; i++) {
        const rela_zeros *z = &s->cells[stack][i];
        if (layer != SIZE_MAX && i / s->heads != layer)
            continue;
        sum.zeros += z->zeros;
        sum.pairs += z->pairs;
        sum.null_rows += z->null_rows;
        sum.rows += z->rows;
    }
    return sum;
}

double rela_zeros_share(rela_zeros z)
{
    return z.pairs ? (double)z.zeros / (double)z.pairs : 0;
}

double rela_zeros_null(rela_zeros z)
{
    return z.rows ? (double)z.null_rows / (double)z.rows : 0;
}

static void see(void *ctx, const rela_attn_view *v)
{
    const rela_sparsity *s = ctx;
    rela_zeros *z = &s->cells[v->stack][v->layer * s->heads + v->head];
    for (size_t i = 0; i < v->rows; i++) {
        const size_t visible = rela_attn_view_keys(v, i);
        size_t zeros = 0;
        for (size_t j = 0; j < visible; j++)
            zeros += v->w[i * v->ld + j] == 0;
        z->zeros += zeros;
        z->pairs += visible;
        z->null_rows += zeros == visible;
    }
    z->rows += v->rows;
}

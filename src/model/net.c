/* SPDX-License-Identifier: MIT */
/* src/model/net.c - see net.h. */
#include "model/net.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

static rela_status view_matrices(rela_net *n, rela_error *err);

rela_status rela_net_init(rela_net *n, const rela_config *c, rela_error *err)
{
    rela_params params;
    *n = (rela_net){ .weights = NULL };
    const rela_status st = rela_params_of(&params, c, false, err);
    if (st != RELA_OK)
        return st;
    const size_t total = params.total;
    real *weights = rela_mem_array(total, sizeof *weights);
    if (!weights) {
        rela_params_deinit(&params);
        return rela_fail(err, RELA_NOMEM, "no memory for a model of %zu bytes",
                         total * sizeof *weights);
    }
    return rela_net_adopt(n, c, &params, weights, err);
}

rela_status rela_net_adopt(rela_net *n, const rela_config *c, rela_params *params, real *weights,
                           rela_error *err)
{
    *n = (rela_net){ .params = *params, .k = rela_kern_get() };
    n->weights = weights;
    *params = (rela_params){ 0 };
    rela_status st = rela_net_configure(n, c, err);
    st = st ? st : view_matrices(n, err);
    if (st != RELA_OK)
        rela_net_deinit(n);
    return st;
}

static rela_status view_matrices(rela_net *n, rela_error *err)
{
    if (n->params.packed)
        return RELA_OK;
    n->plain = rela_mem_zalloc(n->params.n * sizeof *n->plain);
    if (!n->plain)
        return rela_fail(err, RELA_NOMEM, "no memory for the table of parameters");
    for (size_t i = 0; i < n->params.n; i++) {
        const rela_param *p = &n->params.items[i];
        if (p->matrix)
            n->plain[i] = (rela_weight){ .storage = RELA_STORE_F32,
                                         .n = p->rows,
                                         .k = p->cols,
                                         .reals = n->weights + p->offset };
    }
    return RELA_OK;
}

rela_status rela_net_configure(rela_net *n, const rela_config *c, rela_error *err)
{
    rela_block_list list;
    rela_params params = { .packed = n->params.packed };
    const rela_status st = rela_block_list_init(&list, &params, c, err);
    if (st != RELA_OK)
        return st;
    rela_params_deinit(&params); /* the same as n->params */
    real *positions = rela_mem_array(c->max_len * c->d, sizeof *positions);
    if (!positions) {
        rela_block_list_deinit(&list);
        return rela_fail(err, RELA_NOMEM, "no memory for %zu positions", c->max_len);
    }
    rela_positions_fill(positions, c->max_len, c->d);
    rela_mem_free(n->positions);
    rela_block_list_deinit(&n->list);
    n->positions = positions;
    n->list = list;
    n->config = *c;
    return RELA_OK;
}

/* Both tables list the parameters in the same order. */
rela_status rela_net_drop_matrices(rela_net *n, rela_error *err)
{
    rela_params left;
    rela_status st = rela_params_of(&left, &n->config, true, err);
    if (st != RELA_OK)
        return st;
    real *weights = rela_mem_zalloc(left.total * sizeof *weights);
    if (!weights) {
        rela_params_deinit(&left);
        return rela_fail(err, RELA_NOMEM, "no memory for %zu numbers", left.total);
    }
    for (size_t i = 0; i < left.n; i++) {
        const rela_param *from = &n->params.items[i], *to = &left.items[i];
        if (!to->packed)
            memcpy(weights + to->offset, n->weights + from->offset,
                   rela_param_count(to) * sizeof *weights);
    }
    rela_mem_free(n->weights);
    rela_mem_free(n->plain);
    rela_params_deinit(&n->params);
    n->weights = weights;
    n->plain = NULL;
    n->params = left;
    return RELA_OK;
}

void rela_net_deinit(rela_net *n)
{
    rela_mem_free(n->weights);
    rela_mem_free(n->plain);
    rela_mem_free(n->positions);
    rela_params_deinit(&n->params);
    rela_block_list_deinit(&n->list);
    n->weights = n->positions = NULL;
    n->plain = NULL;
}

const rela_block *rela_net_output(const rela_net *n)
{
    return &n->list.blocks[n->list.n - 1];
}

real *rela_net_values(const rela_net *n, const char *name)
{
    const rela_param *p = rela_params_find(&n->params, name);
    assert(p && !p->packed);
    return n->weights + p->offset;
}

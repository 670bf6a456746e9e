/* SPDX-License-Identifier: MIT */
/* src/model/packed.c - see packed.h. */
#include "model/packed.h"

#include "base/mem.h"
#include "base/par.h"

#include <assert.h>
#include <string.h>

/* Panels of all matrices, which several threads fill. */
typedef struct packing {
    const rela_packed_weights *to;
    size_t *first; /* (params.n + 1): number of the first panel of each matrix */
} packing;

static rela_status pack(rela_packed_weights *w, const rela_net *net, rela_storage storage,
                        int n_threads, rela_error *err);
static bool wanted(const rela_param *p, rela_storage storage);
static void fill_panels(void *ctx, size_t begin, size_t end, int thread);

rela_status rela_packed_weights_init(rela_packed_weights *w, const rela_net *net, int n_threads,
                                     rela_error *err)
{
    return pack(w, net, RELA_STORE_PANELS, n_threads, err);
}

rela_status rela_packed_weights_init_int8(rela_packed_weights *w, rela_net *net, int n_threads,
                                          rela_error *err)
{
    rela_status st = pack(w, net, RELA_STORE_INT8, n_threads, err);
    if (st == RELA_OK && (st = rela_net_drop_matrices(net, err)) != RELA_OK)
        rela_packed_weights_deinit(w);
    return st;
}

void rela_packed_weights_deinit(rela_packed_weights *w)
{
    rela_mem_free(w->block);
    rela_mem_free(w->weights);
    rela_blob_close(w->file);
    *w = (rela_packed_weights){ 0 };
}

rela_status rela_packed_weights_check(const rela_packed_weights *w, rela_error *err)
{
    return w->file ? rela_blob_check(w->file, err) : RELA_OK;
}

static rela_status pack(rela_packed_weights *w, const rela_net *net, rela_storage storage,
                        int n_threads, rela_error *err)
{
    const size_t n = net->params.n, panel = rela_weight_panel(net->k, storage);
    *w = (rela_packed_weights){ .net = net, .storage = storage };
    rela_status st = rela_config_translates(&net->config, err);
    st = st ? st : rela_packed_weights_make_room(w, &net->params, panel, err);
    if (st != RELA_OK)
        return st;
    packing p = { w, rela_mem_array(n + 1, sizeof *p.first) };
    if (!p.first) {
        rela_packed_weights_deinit(w);
        return rela_fail(err, RELA_NOMEM, "no memory to pack %zu matrices", n);
    }
    p.first[0] = 0;
    for (size_t i = 0; i < n; i++)
        p.first[i + 1] = p.first[i] + (w->weights[i].n + panel - 1) / panel;
    rela_par_rows(p.first[n], rela_par_threads(n_threads), fill_panels, &p);
    rela_mem_free(p.first);
    return RELA_OK;
}

/* Embeddings that are only looked up need no packing in fp32: rows are read from the net. */
static bool wanted(const rela_param *p, rela_storage storage)
{
    return p->matrix && (storage == RELA_STORE_INT8 || !p->lookup);
}

static void plan_some(rela_packed_weights *w, const rela_params *params, bool tables, size_t panel,
                      rela_plan *plan)
{
    for (size_t i = 0; i < params->n; i++) {
        const rela_param *p = &params->items[i];
        if (p->table == tables && wanted(p, w->storage))
            w->weights[i] = rela_weight_plan(plan, w->storage, panel, p->rows, p->cols);
    }
}

/* Tables come last: the ends of the block lie in small pages, while the last layers before them,
 * which every step reads, lie in huge ones. */
static void plan_matrices(rela_packed_weights *w, const rela_params *params, size_t panel,
                          rela_plan *plan)
{
    assert(w->weights);
    plan_some(w, params, false, panel, plan);
    plan_some(w, params, true, panel, plan);
}

rela_status rela_packed_weights_make_room(rela_packed_weights *w, const rela_params *params,
                                          size_t panel, rela_error *err)
{
    rela_plan plan = { NULL, 0 };
    w->weights = rela_mem_zalloc(params->n * sizeof *w->weights);
    if (w->weights) {
        plan_matrices(w, params, panel, &plan);
        w->bytes = plan.used;
        w->block = rela_mem_alloc(w->bytes + RELA_PLAN_ALIGN);
    }
    if (!w->block) {
        const size_t bytes = plan.used;
        rela_packed_weights_deinit(w);
        return rela_fail(err, RELA_NOMEM, "no memory for %zu bytes of packed weights", bytes);
    }
    plan = rela_plan_in(w->block);
    plan_matrices(w, params, panel, &plan);
    return RELA_OK;
}

static void fill_panels(void *ctx, size_t begin, size_t end, int thread)
{
    const packing *p = ctx;
    const rela_net *net = p->to->net;
    size_t matrix = 0;
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        while (p->first[matrix + 1] <= i)
            matrix++;
        rela_weight_pack_panel(net->k, &p->to->weights[matrix],
                               net->weights + net->params.items[matrix].offset,
                               i - p->first[matrix]);
    }
}

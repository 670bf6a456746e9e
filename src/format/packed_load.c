/* SPDX-License-Identifier: MIT */
/* src/format/packed_load.c - see packed_load.h. */
#include "format/packed_load.h"

#include "base/mem.h"

#include <string.h>

static rela_status load_packed(rela_packed_weights *w, rela_net *net, rela_extras *extras,
                               rela_checkpoint *c, int n_threads, rela_error *err);
static rela_status read_int8(rela_packed_weights *w, real *weights, const rela_checkpoint *c,
                             int n_threads, rela_error *err);
static rela_status map_panels(rela_packed_weights *w, real *weights, rela_checkpoint *c,
                              int n_threads, rela_error *err);

rela_status rela_packed_weights_load(rela_packed_weights *w, rela_net *net, rela_extras *extras,
                                     const char *path, bool int8,
                                     const rela_checkpoint_options *options, rela_error *err)
{
    rela_checkpoint *c = NULL;
    *w = (rela_packed_weights){ 0 };
    *net = (rela_net){ .weights = NULL };
    *extras = (rela_extras){ 0 };
    rela_status st = rela_checkpoint_open(&c, path, options, err);
    if (st != RELA_OK)
        return st;
    if (int8 && c->matrices == RELA_MATRICES_PANELS) {
        st = rela_fail(err, RELA_UNSUP,
                       "%s: made to be mapped, in fp32; for int8 convert the model itself", path);
    } else if (c->matrices != RELA_MATRICES_PLAIN) {
        st = load_packed(w, net, extras, c, options ? options->n_threads : 0, err);
    } else {
        rela_checkpoint_options again = options ? *options : (rela_checkpoint_options){ 0 };
        again.log = NULL; /* notices were logged above */
        st = rela_net_load(net, extras, path, &again, err);
        if (st == RELA_OK && (int8 || net->config.task == RELA_TASK_TRANSLATE))
            st = int8 ? rela_packed_weights_init_int8(w, net, again.n_threads, err)
                      : rela_packed_weights_init(w, net, again.n_threads, err);
        if (st == RELA_ARG)
            st = rela_fail_in(err, st, path);
    }
    if (st != RELA_OK) {
        rela_packed_weights_deinit(w);
        rela_net_deinit(net);
        rela_extras_deinit(extras);
    }
    rela_checkpoint_close(c);
    return st;
}

static rela_status load_packed(rela_packed_weights *w, rela_net *net, rela_extras *extras,
                               rela_checkpoint *c, int n_threads, rela_error *err)
{
    real *weights = rela_mem_zalloc(c->params.total * sizeof *weights);
    if (!weights)
        return rela_fail(err, RELA_NOMEM, "no memory for a model of %zu numbers", c->params.count);
    rela_status st = c->matrices == RELA_MATRICES_BYTES ? read_int8(w, weights, c, n_threads, err)
                                                        : map_panels(w, weights, c, n_threads, err);
    st = st ? st : rela_checkpoint_texts(extras, c, err);
    if (st == RELA_OK) {
        st = rela_net_adopt(net, &c->config, &c->params, weights, err);
        weights = NULL; /* given, like the parameters */
    }
    w->net = net;
    rela_mem_free(weights);
    return st;
}

/* Sums of rows are not in the file. */
static void add_sums(const rela_weight *w)
{
    const size_t steps = (w->k + 3) / 4, panel = 4 * RELA_BYTE_PANEL * steps;
    int32_t *sums = rela_writable(w->bytes.sums);
    for (size_t j = 0; j < rela_byte_rows(w->n); j++) {
        const int8_t *row = w->bytes.p + j / RELA_BYTE_PANEL * panel + j % RELA_BYTE_PANEL * 4;
        int32_t sum = 0;
        for (size_t t = 0; t < steps; t++, row += 4 * RELA_BYTE_PANEL)
            sum += row[0] + row[1] + row[2] + row[3];
        sums[j] = sum;
    }
}

static rela_status read_int8(rela_packed_weights *w, real *weights, const rela_checkpoint *c,
                             int n_threads, rela_error *err)
{
    const rela_params *params = &c->params;
    w->storage = RELA_STORE_INT8;
    rela_status st = rela_packed_weights_make_room(w, params, RELA_BYTE_PANEL, err);
    if (st != RELA_OK)
        return st;
    for (size_t i = 0; i < params->n; i++)
        if (w->weights[i].n) /* the file has scales of rows, not of whole panels */
            memset(rela_writable(w->weights[i].bytes.scale), 0,
                   rela_byte_rows(w->weights[i].n) * sizeof(real));
    st = rela_checkpoint_read(c, &weights, w->weights, n_threads, err);
    for (size_t i = 0; st == RELA_OK && i < params->n; i++)
        if (w->weights[i].n)
            add_sums(&w->weights[i]);
    return st;
}

/* Repacks panels that were packed for another kind of processor. */
static rela_status change_panels(rela_packed_weights *w, const rela_params *params, size_t from,
                                 rela_error *err)
{
    const size_t panel = rela_kern_get()->panel;
    rela_plan plan = rela_plan_in(w->block = rela_mem_zalloc(w->bytes + RELA_PLAN_ALIGN));
    if (!w->block)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu bytes of weights", w->bytes);
    for (size_t i = 0; i < params->n; i++) {
        rela_weight *m = &w->weights[i];
        const real *old = m->reals;
        if (!old)
            continue;
        *m = rela_weight_plan(&plan, RELA_STORE_PANELS, panel, m->n, m->k);
        real *fresh = rela_writable(m->reals);
        for (size_t j = 0; j < m->n; j++)
            for (size_t k = 0; k < m->k; k++)
                fresh[rela_panel_at(j, k, m->k, panel)] = old[rela_panel_at(j, k, m->k, from)];
    }
    return RELA_OK;
}

/* The file stays open as long as w: its matrices are used in place, unless they were packed for
 * another kind of processor. */
static rela_status map_panels(rela_packed_weights *w, real *weights, rela_checkpoint *c,
                              int n_threads, rela_error *err)
{
    const rela_params *params = &c->params;
    const size_t panel = rela_kern_get()->panel;
    rela_plan plan = { NULL, 0 };
    w->storage = RELA_STORE_PANELS;
    w->weights = rela_mem_zalloc(params->n * sizeof *w->weights);
    if (!w->weights)
        return rela_fail(err, RELA_NOMEM, "no memory for a table of %zu matrices", params->n);
    for (size_t i = 0; i < params->n; i++) {
        const rela_param *p = &params->items[i];
        if (p->matrix)
            w->weights[i] = rela_weight_plan(&plan, RELA_STORE_PANELS, panel, p->rows, p->cols);
    }
    w->bytes = plan.used;
    const rela_status st = rela_checkpoint_map_panels(c, weights, w->weights, n_threads, err);
    if (st != RELA_OK)
        return st;
    if (c->panel != panel)
        return change_panels(w, params, c->panel, err);
    w->file = rela_safetensors_take(c->file);
    return RELA_OK;
}

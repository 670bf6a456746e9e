/* SPDX-License-Identifier: MIT */
/* src/model/frozen_file.c - see frozen_file.h. */
#include "model/frozen_file.h"

#include "base/mem.h"

#include <string.h>

/* Where the matrices of a file go, by the number of the parameter. */
typedef struct places {
    int8_t **p;
    real **scale;
    int32_t **sums;
    const real **reals; /* or this */
} places;

static rela_status load_packed(rela_frozen *f, rela_net *net, rela_extras *extras,
                               rela_checkpoint *c, int n_threads, rela_error *err);
static rela_status read_bytes(rela_frozen *f, places *to, real *weights, const rela_checkpoint *c,
                              int n_threads, rela_error *err);
static rela_status map_panels(rela_frozen *f, places *to, real *weights, rela_checkpoint *c,
                              int n_threads, rela_error *err);
static rela_status change_panels(rela_frozen *f, places *to, const rela_params *params, size_t from,
                                 size_t panel, rela_error *err);
static real *take_panels(rela_plan *plan, const rela_param *p, size_t panel);
static rela_status make_room(rela_frozen *f, places *to, const rela_params *params,
                             rela_error *err);
static void plan_matrices(places *to, const rela_params *params, rela_plan *plan);
static void add_sums(const places *to, const rela_params *params);
static void point(rela_frozen *f, const places *to, const rela_net *net);

rela_status rela_frozen_load(rela_frozen *f, rela_net *net, rela_extras *extras, const char *path,
                             bool bytes, const rela_checkpoint_options *options, rela_error *err)
{
    rela_checkpoint *c = NULL;
    *f = (rela_frozen){ 0 };
    *net = (rela_net){ .weights = NULL };
    *extras = (rela_extras){ 0 };
    rela_status st = rela_checkpoint_open(&c, path, options, err);
    if (st != RELA_OK)
        return st;
    if (bytes && rela_checkpoint_matrices(c) == RELA_MATRICES_PANELS) {
        st = rela_fail(err, RELA_UNSUP,
                       "%s: made to be mapped, in 32 bits; for 8 bits convert the model itself",
                       path);
    } else if (rela_checkpoint_matrices(c) != RELA_MATRICES_PLAIN) {
        st = load_packed(f, net, extras, c, options ? options->n_threads : 0, err);
    } else {
        rela_checkpoint_options again = options ? *options : (rela_checkpoint_options){ 0 };
        again.log = NULL; /* what there was to tell has been told */
        st = rela_net_load(net, extras, path, &again, err);
        if (st == RELA_OK && (bytes || net->config.task == RELA_TASK_TRANSLATE))
            st = bytes ? rela_frozen_init_bytes(f, net, again.n_threads, err)
                       : rela_frozen_init_with(f, net, again.n_threads, err);
        if (st == RELA_ARG)
            st = rela_fail_in(err, st, path);
    }
    const bool kept = f->file != NULL;
    if (st != RELA_OK) {
        rela_frozen_deinit(f);
        rela_net_deinit(net);
        rela_extras_deinit(extras);
    }
    if (!kept)
        rela_checkpoint_close(c);
    return st;
}

static rela_status load_packed(rela_frozen *f, rela_net *net, rela_extras *extras,
                               rela_checkpoint *c, int n_threads, rela_error *err)
{
    const rela_config *config = rela_checkpoint_config(c);
    rela_layout layout;
    places to = { 0 };
    rela_status st = rela_layout_init_bare(&layout, config, err);
    if (st != RELA_OK)
        return st;
    const size_t n = layout.params.n;
    real *weights = rela_mem_zalloc(layout.params.total * sizeof *weights);
    to.p = rela_mem_zalloc(n * sizeof *to.p);
    to.scale = rela_mem_zalloc(n * sizeof *to.scale);
    to.sums = rela_mem_zalloc(n * sizeof *to.sums);
    to.reals = rela_mem_zalloc(n * sizeof *to.reals);
    f->enc = rela_mem_zalloc(config->enc_layers * sizeof *f->enc);
    f->dec = rela_mem_zalloc(config->dec_layers * sizeof *f->dec);
    if (!weights || !to.p || !to.scale || !to.sums || !to.reals || !f->enc || !f->dec)
        st =
            rela_fail(err, RELA_NOMEM, "no memory for a model of %zu numbers", layout.params.count);
    if (st == RELA_OK)
        st = rela_checkpoint_matrices(c) == RELA_MATRICES_BYTES
                 ? read_bytes(f, &to, weights, c, n_threads, err)
                 : map_panels(f, &to, weights, c, n_threads, err);
    st = st ? st : rela_checkpoint_texts(extras, c, err);
    if (st == RELA_OK) {
        st = rela_net_adopt(net, config, &layout, weights, err);
        weights = NULL; /* given, as the layout */
    }
    if (st == RELA_OK)
        point(f, &to, net);
    rela_layout_deinit(&layout);
    rela_mem_free(weights);
    rela_mem_free(to.p);
    rela_mem_free(to.scale);
    rela_mem_free(to.sums);
    rela_mem_free(to.reals);
    return st;
}

static rela_status read_bytes(rela_frozen *f, places *to, real *weights, const rela_checkpoint *c,
                              int n_threads, rela_error *err)
{
    const rela_params *params = rela_checkpoint_params(c);
    rela_status st = make_room(f, to, params, err);
    st = st ? st : rela_checkpoint_read_bytes(c, weights, to->p, to->scale, n_threads, err);
    if (st == RELA_OK)
        add_sums(to, params);
    return st;
}

/* The file stays open with f: its matrices are used where they are, unless another kind of
 * processor has laid them out. */
static rela_status map_panels(rela_frozen *f, places *to, real *weights, rela_checkpoint *c,
                              int n_threads, rela_error *err)
{
    const rela_params *params = rela_checkpoint_params(c);
    const size_t have = rela_checkpoint_panel(c), want = rela_kern_get()->panel;
    rela_status st = rela_checkpoint_map_panels(c, weights, to->reals, n_threads, err);
    if (st != RELA_OK)
        return st;
    rela_plan plan = { NULL, 0 };
    for (size_t i = 0; i < params->n; i++)
        if (to->reals[i])
            (void)take_panels(&plan, &params->items[i], want);
    f->bytes = plan.used;
    if (have != want)
        return change_panels(f, to, params, have, want, err);
    f->file = c;
    return RELA_OK;
}

static real *take_panels(rela_plan *plan, const rela_param *p, size_t panel)
{
    return rela_plan_reals(plan, rela_round_up(p->rows, panel) * p->cols);
}

static rela_status change_panels(rela_frozen *f, places *to, const rela_params *params, size_t from,
                                 size_t panel, rela_error *err)
{
    f->block = rela_mem_zalloc(f->bytes + RELA_PLAN_ALIGN);
    if (!f->block)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu bytes of weights", f->bytes);
    rela_plan plan = rela_plan_in(f->block);
    for (size_t i = 0; i < params->n; i++) {
        const rela_param *p = &params->items[i];
        const real *old = to->reals[i];
        if (!old)
            continue;
        real *fresh = take_panels(&plan, p, panel);
        for (size_t j = 0; j < p->rows; j++)
            for (size_t k = 0; k < p->cols; k++)
                fresh[rela_panel_at(j, k, p->cols, panel)] =
                    old[rela_panel_at(j, k, p->cols, from)];
        to->reals[i] = fresh;
    }
    return RELA_OK;
}

static rela_status make_room(rela_frozen *f, places *to, const rela_params *params, rela_error *err)
{
    rela_plan plan = { NULL, 0 };
    plan_matrices(to, params, &plan);
    f->bytes = plan.used;
    f->block = rela_mem_alloc(f->bytes + RELA_PLAN_ALIGN);
    if (!f->block)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu bytes of weights", f->bytes);
    plan = rela_plan_in(f->block);
    plan_matrices(to, params, &plan);
    return RELA_OK;
}

static void plan_matrices(places *to, const rela_params *params, rela_plan *plan)
{
    for (size_t i = 0; i < params->n; i++) {
        const rela_param *p = &params->items[i];
        if (!p->bare)
            continue;
        const size_t whole = rela_byte_rows(p->rows);
        to->p[i] = rela_plan_take(plan, rela_bytes_size(p->rows, p->cols), 1);
        to->scale[i] = rela_plan_reals(plan, whole);
        to->sums[i] = rela_plan_take(plan, whole, sizeof **to->sums);
        if (to->scale[i])
            memset(to->scale[i], 0, whole * sizeof **to->scale);
    }
}

static void add_sums(const places *to, const rela_params *params)
{
    for (size_t i = 0; i < params->n; i++) {
        const rela_param *p = &params->items[i];
        const size_t steps = (p->cols + 3) / 4, panel = 4 * RELA_BYTE_PANEL * steps;
        for (size_t j = 0; p->bare && j < rela_byte_rows(p->rows); j++) {
            const int8_t *row = to->p[i] + j / RELA_BYTE_PANEL * panel + j % RELA_BYTE_PANEL * 4;
            int32_t sum = 0;
            for (size_t t = 0; t < steps; t++, row += 4 * RELA_BYTE_PANEL)
                sum += row[0] + row[1] + row[2] + row[3];
            to->sums[i][j] = sum;
        }
    }
}

/* The part of parameter `name` of a layer that begins with row first. */
typedef struct finder {
    const places *to;
    const rela_params *params;
} finder;

static rela_frozen_matrix find(const finder *x, const char *stack, size_t layer, const char *name,
                               size_t first, size_t rows)
{
    char full[RELA_PARAM_NAME_MAX];
    if (stack)
        rela_format_text(full, sizeof full, "%s.%zu.%s.weight", stack, layer, name);
    else
        rela_format_text(full, sizeof full, "%s", name);
    const rela_param *p = rela_params_find(x->params, full);
    const size_t i = (size_t)(p - x->params->items), k = p->cols;
    if (x->to->reals[i])
        return (rela_frozen_matrix){ .reals = x->to->reals[i] + first * k,
                                     .n = rows ? rows : p->rows,
                                     .k = k };
    return (rela_frozen_matrix){ .bytes = { x->to->p[i] + rela_bytes_size(first, k),
                                            x->to->scale[i] + first, x->to->sums[i] + first },
                                 .n = rows ? rows : p->rows,
                                 .k = k };
}

static void point_layer(rela_frozen_layer *w, const finder *x, const char *stack, size_t layer,
                        size_t d)
{
    w->qkv = find(x, stack, layer, "self.qkv", 0, 0);
    w->self_out = find(x, stack, layer, "self.out", 0, 0);
    if (strcmp(stack, "dec") == 0) {
        w->cross_q = find(x, stack, layer, "cross.q", 0, 0);
        w->cross_k = find(x, stack, layer, "cross.kv", 0, d); /* d is whole panels */
        w->cross_v = find(x, stack, layer, "cross.kv", d, d);
        w->cross_out = find(x, stack, layer, "cross.out", 0, 0);
    }
    w->up = find(x, stack, layer, "ffn.up", 0, 0);
    w->up.relu = true;
    w->down = find(x, stack, layer, "ffn.down", 0, 0);
}

static void point(rela_frozen *f, const places *to, const rela_net *net)
{
    const rela_config *c = &net->config;
    const finder x = { to, &net->layout.params };
    const bool all = c->tie == RELA_TIE_ALL;
    f->net = net;
    for (size_t i = 0; i < c->enc_layers; i++)
        point_layer(&f->enc[i], &x, "enc", i, c->d);
    for (size_t i = 0; i < c->dec_layers; i++)
        point_layer(&f->dec[i], &x, "dec", i, c->d);
    f->embed_src = find(&x, NULL, 0, all ? "embed" : "embed.src", 0, 0);
    f->embed_tgt = all ? f->embed_src : find(&x, NULL, 0, "embed.tgt", 0, 0);
    f->output = c->tie == RELA_TIE_NONE ? find(&x, NULL, 0, "output", 0, 0) : f->embed_tgt;
}

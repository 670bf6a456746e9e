/* SPDX-License-Identifier: MIT */
/* src/model/frozen.c - see frozen.h. */
#include "model/frozen.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

/* Run twice: without memory to learn the size, then to fill it. */
typedef struct packer {
    const rela_net *net;
    rela_plan plan;
    bool bytes;
} packer;

static rela_status freeze(rela_frozen *f, const rela_net *net, bool bytes, rela_error *err);
static rela_status make_bare(rela_net *net, rela_error *err);
static void pack_all(packer *p, rela_frozen *f);
static void pack_layer(packer *p, rela_frozen_layer *to, const rela_layer_at *at, bool decoder);
static rela_frozen_matrix pack(packer *p, size_t offset, size_t n, size_t k);

rela_status rela_frozen_init(rela_frozen *f, const rela_net *net, rela_error *err)
{
    return freeze(f, net, false, err);
}

rela_status rela_frozen_init_bytes(rela_frozen *f, rela_net *net, rela_error *err)
{
    rela_status st = freeze(f, net, true, err);
    if (st == RELA_OK && (st = make_bare(net, err)) != RELA_OK)
        rela_frozen_deinit(f);
    return st;
}

static rela_status freeze(rela_frozen *f, const rela_net *net, bool bytes, rela_error *err)
{
    const rela_config *c = &net->config;
    *f = (rela_frozen){ .net = net,
                        .enc = rela_mem_zalloc(c->enc_layers * sizeof *f->enc),
                        .dec = rela_mem_zalloc(c->dec_layers * sizeof *f->dec) };
    packer p = { .net = net, .bytes = bytes };
    if (f->enc && f->dec) {
        pack_all(&p, f);
        f->bytes = p.plan.used;
        f->block = rela_mem_alloc(f->bytes + RELA_PLAN_ALIGN);
    }
    if (!f->block) {
        rela_frozen_deinit(f);
        return rela_fail(err, RELA_NOMEM, "no memory for %zu bytes of packed weights", p.plan.used);
    }
    const uintptr_t at = (uintptr_t)f->block;
    p.plan =
        (rela_plan){ (char *)f->block + (RELA_PLAN_ALIGN - at % RELA_PLAN_ALIGN) % RELA_PLAN_ALIGN,
                     0 };
    pack_all(&p, f);
    return RELA_OK;
}

void rela_frozen_deinit(rela_frozen *f)
{
    rela_mem_free(f->block);
    rela_mem_free(f->enc);
    rela_mem_free(f->dec);
    *f = (rela_frozen){ 0 };
}

/* Keeps what is no matrix. Both tables list the parameters in the same order. */
static rela_status make_bare(rela_net *net, rela_error *err)
{
    rela_layout bare;
    rela_status st = rela_layout_init_bare(&bare, &net->config, err);
    if (st != RELA_OK)
        return st;
    real *weights = rela_mem_zalloc(bare.params.total * sizeof *weights);
    if (!weights) {
        rela_layout_deinit(&bare);
        return rela_fail(err, RELA_NOMEM, "no memory for %zu numbers", bare.params.total);
    }
    for (size_t i = 0; i < bare.params.n; i++) {
        const rela_param *from = &net->layout.params.items[i], *to = &bare.params.items[i];
        if (!to->bare)
            memcpy(weights + to->offset, net->weights + from->offset,
                   rela_param_count(to) * sizeof *weights);
    }
    rela_mem_free(net->weights);
    rela_layout_deinit(&net->layout);
    net->weights = weights;
    net->layout = bare;
    return RELA_OK;
}

static void pack_all(packer *p, rela_frozen *f)
{
    const rela_config *c = &p->net->config;
    const rela_layout *l = &p->net->layout;
    assert(f->enc && f->dec);
    for (size_t i = 0; i < c->enc_layers; i++)
        pack_layer(p, &f->enc[i], &l->enc[i], false);
    for (size_t i = 0; i < c->dec_layers; i++)
        pack_layer(p, &f->dec[i], &l->dec[i], true);
    f->output = f->embed_src = f->embed_tgt = pack(p, l->output, c->vocab_tgt, c->d);
    if (p->bytes && c->tie == RELA_TIE_NONE)
        f->embed_tgt = pack(p, l->embed_tgt, c->vocab_tgt, c->d);
    if (p->bytes && c->tie != RELA_TIE_ALL)
        f->embed_src = pack(p, l->embed_src, c->vocab_src, c->d);
}

static void pack_layer(packer *p, rela_frozen_layer *to, const rela_layer_at *at, bool decoder)
{
    const size_t d = p->net->config.d, ffn = p->net->config.ffn;
    to->qkv = pack(p, at->self.in, 3 * d, d);
    to->self_out = pack(p, at->self.out, d, d);
    if (decoder) {
        to->cross_q = pack(p, at->cross.in, d, d);
        to->cross_k = pack(p, at->cross.kv, d, d);
        to->cross_v = pack(p, at->cross.kv + d * d, d, d);
        to->cross_out = pack(p, at->cross.out, d, d);
    }
    to->up = pack(p, at->ffn.up, ffn, d);
    to->up.relu = true;
    to->down = pack(p, at->ffn.down, d, ffn);
}

static rela_frozen_matrix pack(packer *p, size_t offset, size_t n, size_t k)
{
    const rela_kern *kern = p->net->k;
    const real *from = p->net->weights + offset;
    rela_frozen_matrix m = { .n = n, .k = k };
    if (!p->bytes) {
        const size_t panels = (n + kern->panel - 1) / kern->panel;
        real *to = rela_plan_reals(&p->plan, panels * kern->panel * k);
        if (to)
            kern->pack(to, from, k, n, k);
        m.reals = to;
        return m;
    }
    const size_t whole = rela_byte_rows(n);
    int8_t *to = rela_plan_take(&p->plan, rela_bytes_size(n, k), 1);
    real *scale = rela_plan_reals(&p->plan, whole);
    int32_t *sums = rela_plan_take(&p->plan, whole, sizeof *sums);
    if (to)
        kern->pack_bytes(to, scale, sums, from, k, n, k);
    m.bytes = (rela_bytes){ to, scale, sums };
    return m;
}

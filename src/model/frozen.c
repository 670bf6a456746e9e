/* SPDX-License-Identifier: MIT */
/* src/model/frozen.c - see frozen.h. */
#include "model/frozen.h"

#include "base/mem.h"

#include <assert.h>

/* Run twice: without memory to learn the size, then to fill it. */
typedef struct packer {
    const rela_net *net;
    rela_plan plan;
} packer;

static void pack_all(packer *p, rela_frozen *f);
static void pack_layer(packer *p, rela_frozen_layer *to, const rela_layer_at *at, bool decoder);
static const real *pack(packer *p, size_t offset, size_t n, size_t k);

rela_status rela_frozen_init(rela_frozen *f, const rela_net *net, rela_error *err)
{
    const rela_config *c = &net->config;
    *f = (rela_frozen){ .net = net,
                        .enc = rela_mem_zalloc(c->enc_layers * sizeof *f->enc),
                        .dec = rela_mem_zalloc(c->dec_layers * sizeof *f->dec) };
    packer p = { .net = net };
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

static void pack_all(packer *p, rela_frozen *f)
{
    const rela_config *c = &p->net->config;
    assert(f->enc && f->dec);
    for (size_t i = 0; i < c->enc_layers; i++)
        pack_layer(p, &f->enc[i], &p->net->layout.enc[i], false);
    for (size_t i = 0; i < c->dec_layers; i++)
        pack_layer(p, &f->dec[i], &p->net->layout.dec[i], true);
    f->output = pack(p, p->net->layout.output, c->vocab_tgt, c->d);
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
    to->down = pack(p, at->ffn.down, d, ffn);
}

static const real *pack(packer *p, size_t offset, size_t n, size_t k)
{
    const rela_kern *kern = p->net->k;
    const size_t panels = (n + kern->panel - 1) / kern->panel;
    real *to = rela_plan_reals(&p->plan, panels * kern->panel * k);
    if (to)
        kern->pack(to, p->net->weights + offset, k, n, k);
    return to;
}

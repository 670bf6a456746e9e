/* SPDX-License-Identifier: MIT */
/* src/model/frozen.c - see frozen.h. */
#include "model/frozen.h"

#include "base/mem.h"
#include "base/par.h"
#include "model/checkpoint.h"

#include <assert.h>
#include <string.h>

/* A matrix and where it goes. */
typedef struct job {
    const real *from; /* (n, k) */
    real *reals;      /* or the three below */
    int8_t *p;
    real *scale;
    int32_t *sums;
    size_t n, k;
    size_t first; /* number of its first panel among those of all jobs */
} job;

/* Plans all matrices twice: without memory to learn the size, then to know the places; then several
 * threads fill these. */
typedef struct packer {
    const rela_net *net;
    rela_plan plan;
    bool bytes;
    size_t panel; /* rows that lie together */
    job *jobs;    /* NULL the first time */
    size_t n_jobs, n_panels;
} packer;

static rela_status freeze(rela_frozen *f, const rela_net *net, bool bytes, int n_threads,
                          rela_error *err);
static rela_status make_bare(rela_net *net, rela_error *err);
static void pack_all(packer *p, rela_frozen *f);
static void pack_layer(packer *p, rela_frozen_layer *to, const rela_layer_at *at, bool decoder);
static void fill_panels(void *ctx, size_t begin, size_t end, int thread);
static rela_frozen_matrix pack(packer *p, size_t offset, size_t n, size_t k);

rela_status rela_frozen_init(rela_frozen *f, const rela_net *net, rela_error *err)
{
    return freeze(f, net, false, 1, err);
}

rela_status rela_frozen_init_with(rela_frozen *f, const rela_net *net, int n_threads,
                                  rela_error *err)
{
    return freeze(f, net, false, n_threads, err);
}

rela_status rela_frozen_init_bytes(rela_frozen *f, rela_net *net, int n_threads, rela_error *err)
{
    rela_status st = freeze(f, net, true, n_threads, err);
    if (st == RELA_OK && (st = make_bare(net, err)) != RELA_OK)
        rela_frozen_deinit(f);
    return st;
}

static rela_status freeze(rela_frozen *f, const rela_net *net, bool bytes, int n_threads,
                          rela_error *err)
{
    const rela_config *c = &net->config;
    *f = (rela_frozen){ 0 };
    const rela_status st = rela_config_translates(c, err);
    if (st != RELA_OK)
        return st;
    *f = (rela_frozen){ .net = net,
                        .enc = rela_mem_zalloc(c->enc_layers * sizeof *f->enc),
                        .dec = rela_mem_zalloc(c->dec_layers * sizeof *f->dec) };
    packer p = { .net = net, .bytes = bytes, .panel = bytes ? RELA_BYTE_PANEL : net->k->panel };
    if (f->enc && f->dec) {
        pack_all(&p, f);
        f->bytes = p.plan.used;
        f->block = rela_mem_alloc(f->bytes + RELA_PLAN_ALIGN);
        p.jobs = rela_mem_array(p.n_jobs, sizeof *p.jobs);
    }
    if (!f->block || !p.jobs) {
        rela_mem_free(p.jobs);
        rela_frozen_deinit(f);
        return rela_fail(err, RELA_NOMEM, "no memory for %zu bytes of packed weights", p.plan.used);
    }
    p.plan = rela_plan_in(f->block);
    p.n_jobs = p.n_panels = 0;
    pack_all(&p, f);
    rela_par_rows(p.n_panels, rela_par_threads(n_threads), fill_panels, &p);
    rela_mem_free(p.jobs);
    return RELA_OK;
}

void rela_frozen_deinit(rela_frozen *f)
{
    rela_mem_free(f->block);
    rela_checkpoint_close(f->file);
    rela_mem_free(f->enc);
    rela_mem_free(f->dec);
    *f = (rela_frozen){ 0 };
}

rela_status rela_frozen_check(const rela_frozen *f, rela_error *err)
{
    return f->file ? rela_safetensors_check(rela_checkpoint_file(f->file), err) : RELA_OK;
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
    const size_t whole = rela_round_up(n, p->panel), panels = whole / p->panel;
    job j = { .from = p->net->weights + offset, .n = n, .k = k, .first = p->n_panels };
    if (p->bytes) {
        j.p = rela_plan_take(&p->plan, rela_bytes_size(n, k), 1);
        j.scale = rela_plan_reals(&p->plan, whole);
        j.sums = rela_plan_take(&p->plan, whole, sizeof *j.sums);
    } else {
        j.reals = rela_plan_reals(&p->plan, whole * k);
    }
    if (p->jobs)
        p->jobs[p->n_jobs] = j;
    p->n_jobs++;
    p->n_panels += panels;
    return (
        rela_frozen_matrix){ .reals = j.reals, .bytes = { j.p, j.scale, j.sums }, .n = n, .k = k };
}

static void fill_panels(void *ctx, size_t begin, size_t end, int thread)
{
    const packer *p = ctx;
    const rela_kern *kern = p->net->k;
    const job *j = p->jobs;
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        while (j + 1 < p->jobs + p->n_jobs && j[1].first <= i)
            j++;
        const size_t row = (i - j->first) * p->panel;
        const size_t n = j->n - row < p->panel ? j->n - row : p->panel;
        const real *from = j->from + row * j->k;
        if (p->bytes)
            kern->pack_bytes(j->p + rela_bytes_size(row, j->k), j->scale + row, j->sums + row, from,
                             j->k, n, j->k);
        else
            kern->pack(j->reals + row * j->k, from, j->k, n, j->k);
    }
}

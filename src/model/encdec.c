/* SPDX-License-Identifier: MIT */
/* src/model/encdec.c - see encdec.h.
 *
 * Post-norm: x' = LN(x + f(x)). Pre-norm: r' = r + f(LN(r)), and a last LN. Both are chains of
 * "sublayer, then residual sum and norm" (kern.h: residual_norm); they differ in which array is
 * the residual and which LN follows, so one code serves both. */
#include "model/encdec.h"

#include "base/mem.h"
#include "kern/tiny.h"
#include "model/aligner.h"
#include "nn/attn/guard.h"
#include "nn/linear.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A residual sum and the norm after it. */
typedef struct norm_act {
    real *r; /* (rows, d) the sum */
    real *x; /* (rows, d) its norm: what the next sublayer reads */
    rela_norm_stats *stats;
} norm_act;

typedef struct attn_act {
    real *in;   /* (rows, 3d) or (rows, d) */
    real *kv;   /* cross: (source rows, 2d) */
    real *z;    /* (rows, d) mixed values */
    real *y;    /* (rows, d) after the norm of the kind; z if it has none */
    void *kept; /* see rela_attn */
    norm_act out;
} attn_act;

typedef struct ffn_act {
    real *h; /* (rows, ffn) */
    norm_act out;
} ffn_act;

typedef struct layer_act {
    attn_act self, cross;
    ffn_act ffn;
} layer_act;

typedef struct stack_act {
    norm_act in; /* embeddings; x is what the first sublayer reads */
    layer_act *layers;
} stack_act;

struct rela_worker {
    const rela_net *net;
    void *block; /* everything below lies in it */
    size_t max_src, max_tgt;
    rela_aligner aligner; /* model for alignment: this alone */
    stack_act enc, dec;
    rela_attn_scratch scratch;
    real *logits;
    /* backward */
    real *dx, *dr, *da; /* (rows, d) each */
    real *dwide;        /* (rows, max(3d, ffn)) */
    real *dkv;          /* (source rows, 2d) */
    real *dmemory, *dz; /* (source rows, d), (rows, d) */
    real *spare_r;      /* (rows, d): pre-norm keeps two residual gradients */
};

/* One pass over one stack: everything that sublayers share. */
typedef struct stack {
    rela_worker *w;
    const rela_packed *batch;
    const rela_pass *pass;
    const real *weights;
    real *grads; /* NULL in a forward pass */
    const rela_tokens *tokens;
    size_t rows;
    uint32_t first_row;
    bool decoder;
} stack;

/* Dropout sites: unique numbers for each place in the model. */
enum {
    SITE_EMBED,
    SITE_SELF,
    SITE_SELF_WEIGHTS,
    SITE_CROSS,
    SITE_CROSS_WEIGHTS,
    SITE_FFN_INNER,
    SITE_FFN,
    SITES
};

static void plan_worker(rela_worker *w, rela_plan *p);
static stack stack_start(rela_worker *w, const rela_packed *b, const rela_pass *p, real *grads,
                         bool decoder);
static void encode(const stack *s);
static void decode(const stack *s);
static void decode_back(const stack *s);
static void encode_back(const stack *s);

rela_status rela_net_init(rela_net *n, const rela_config *c, rela_error *err)
{
    rela_layout layout;
    *n = (rela_net){ .weights = NULL };
    const rela_status st = rela_layout_init(&layout, c, err);
    if (st != RELA_OK)
        return st;
    const size_t total = layout.params.total;
    real *weights = rela_mem_array(total, sizeof *weights);
    if (!weights) {
        rela_layout_deinit(&layout);
        return rela_fail(err, RELA_NOMEM, "no memory for a model of %zu bytes",
                         total * sizeof *weights);
    }
    return rela_net_adopt(n, c, &layout, weights, err);
}

rela_status rela_net_adopt(rela_net *n, const rela_config *c, rela_layout *layout, real *weights,
                           rela_error *err)
{
    *n = (rela_net){ .layout = *layout, .k = rela_kern_get() };
    n->weights = weights;
    *layout = (rela_layout){ 0 };
    const rela_status st = rela_net_configure(n, c, err);
    if (st != RELA_OK)
        rela_net_deinit(n);
    return st;
}

rela_status rela_net_configure(rela_net *n, const rela_config *c, rela_error *err)
{
    real *positions = rela_mem_array(c->max_len * c->d, sizeof *positions);
    if (!positions)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu positions", c->max_len);
    rela_positions_fill(positions, c->max_len, c->d);
    rela_mem_free(n->positions);
    n->positions = positions;
    n->config = *c;
    return RELA_OK;
}

void rela_net_deinit(rela_net *n)
{
    rela_mem_free(n->weights);
    rela_mem_free(n->positions);
    rela_layout_deinit(&n->layout);
    n->weights = n->positions = NULL;
}

size_t rela_worker_bytes(const rela_net *n, size_t max_src_rows, size_t max_tgt_rows)
{
    rela_worker w = { .net = n, .max_src = max_src_rows, .max_tgt = max_tgt_rows };
    layer_act none[2 * RELA_LAYERS_MAX];
    w.enc.layers = none;
    w.dec.layers = none + RELA_LAYERS_MAX;
    rela_plan p = { NULL, 0 };
    plan_worker(&w, &p);
    return p.used + RELA_PLAN_ALIGN;
}

rela_status rela_worker_create(rela_worker **out, const rela_net *n, size_t max_src_rows,
                               size_t max_tgt_rows, rela_error *err)
{
    *out = NULL;
    if (n->layout.params.bare)
        return rela_fail(err, RELA_STATE, RELA_TRANSLATES_ONLY);
    const size_t bytes = rela_worker_bytes(n, max_src_rows, max_tgt_rows);
    rela_worker *w = rela_mem_zalloc(sizeof *w);
    if (w) {
        *w = (rela_worker){ .net = n,
                            .max_src = max_src_rows,
                            .max_tgt = max_tgt_rows,
                            .block = rela_mem_alloc(bytes) };
        w->enc.layers = rela_mem_zalloc(n->config.enc_layers * sizeof *w->enc.layers);
        w->dec.layers = rela_mem_zalloc(n->config.dec_layers * sizeof *w->dec.layers);
    }
    if (!w || !w->block || !w->enc.layers || !w->dec.layers) {
        rela_worker_destroy(w);
        return rela_fail(err, RELA_NOMEM, "no memory for %zu bytes of activations", bytes);
    }
    rela_plan p = rela_plan_in(w->block);
    plan_worker(w, &p);
    if (n->config.task == RELA_TASK_ALIGN)
        rela_aligner_start(&w->aligner, &n->config);
    *out = w;
    return RELA_OK;
}

void rela_worker_destroy(rela_worker *w)
{
    if (!w)
        return;
    rela_mem_free(w->block);
    rela_mem_free(w->enc.layers);
    rela_mem_free(w->dec.layers);
    rela_mem_free(w);
}

rela_loss_sums rela_worker_forward(rela_worker *w, const rela_packed *b, const rela_pass *p)
{
    return rela_worker_train(w, NULL, b, p);
}

void rela_worker_attend(rela_worker *w, const rela_packed *b, const rela_pass *p)
{
    if (w->net->config.task == RELA_TASK_ALIGN) {
        rela_aligner_attend(&w->aligner, w->net, b, p->tap);
        return;
    }
    const uint64_t tiny = rela_tiny_flush();
    const stack enc = stack_start(w, b, p, NULL, false);
    const stack dec = stack_start(w, b, p, NULL, true);
    encode(&enc);
    decode(&dec);
    rela_tiny_restore(tiny);
}

rela_loss_sums rela_worker_train(rela_worker *w, real *grads, const rela_packed *b,
                                 const rela_pass *p)
{
    const rela_net *n = w->net;
    const uint64_t tiny = rela_tiny_flush();
    if (n->config.task == RELA_TASK_ALIGN) {
        const rela_loss_sums aligned = rela_aligner_run(&w->aligner, n, grads, b, p);
        rela_tiny_restore(tiny);
        return aligned;
    }
    const stack enc = stack_start(w, b, p, grads, false);
    const stack dec = stack_start(w, b, p, grads, true);
    encode(&enc);
    decode(&dec);
    const rela_loss loss = { .k = n->k,
                             .d = n->config.d,
                             .vocabulary = n->config.vocab_tgt,
                             .smooth = p->smooth,
                             .logits = w->logits,
                             .row_nll = p->row_nll,
                             .agree = p->agree,
                             .twins = b->tgt.at,
                             .n_twins = p->agree > 0 ? b->tgt.n : 0 };
    const rela_loss_sums sums =
        rela_loss_run(&loss, grads ? w->dx : NULL, grads ? grads + n->layout.output : NULL,
                      rela_worker_features(w), n->weights + n->layout.output, b->tgt.ids,
                      p->row_weight, b->tgt_rows);
    if (grads) {
        decode_back(&dec);
        encode_back(&enc);
    }
    rela_tiny_restore(tiny);
    return sums;
}

const real *rela_worker_encode(rela_worker *w, const rela_packed *b, const rela_pass *p)
{
    const uint64_t tiny = rela_tiny_flush();
    const stack enc = stack_start(w, b, p, NULL, false);
    encode(&enc);
    rela_tiny_restore(tiny);
    return w->enc.layers[w->net->config.enc_layers - 1].ffn.out.x;
}

const real *rela_worker_features(const rela_worker *w)
{
    return w->dec.layers[w->net->config.dec_layers - 1].ffn.out.x;
}

bool rela_worker_finite(const rela_worker *w, const rela_packed *b, size_t sentence)
{
    const size_t d = w->net->config.d, first = b->tgt.at[sentence], end = b->tgt.at[sentence + 1];
    if (w->net->config.task == RELA_TASK_ALIGN)
        return true;
    const real *x = rela_worker_features(w);
    for (size_t i = first * d; i < end * d; i++)
        if (!isfinite((double)x[i]))
            return false;
    return true;
}

/* ---- memory ---- */

static void plan_norm(norm_act *a, rela_plan *p, size_t rows, size_t d)
{
    a->r = rela_plan_reals(p, rows * d);
    a->x = rela_plan_reals(p, rows * d);
    a->stats = rela_plan_take(p, rows, sizeof *a->stats);
}

static void plan_attn(attn_act *a, rela_plan *p, const rela_config *c, rela_attn_type type,
                      size_t rows, size_t src_rows)
{
    const bool cross = type == RELA_ATTN_CROSS;
    a->in = rela_plan_reals(p, rows * (cross ? c->d : 3 * c->d));
    a->kv = rela_plan_reals(p, cross ? src_rows * 2 * c->d : 0);
    a->z = rela_plan_reals(p, rows * c->d);
    a->y = c->kind[type]->norm ? rela_plan_reals(p, rows * c->d) : a->z;
    const size_t keys = cross ? src_rows : rows, len = c->max_len < keys ? c->max_len : keys;
    const size_t kept = rela_attn_kept_words(c->kind[type], c->heads, rows, keys, len);
    a->kept = kept ? rela_plan_take(p, kept, sizeof(uint64_t)) : NULL;
    plan_norm(&a->out, p, rows, c->d);
}

static void plan_stack(stack_act *s, rela_plan *p, const rela_config *c, bool decoder, size_t rows,
                       size_t src_rows)
{
    const size_t n = decoder ? c->dec_layers : c->enc_layers;
    plan_norm(&s->in, p, rows, c->d);
    for (size_t i = 0; i < n; i++) {
        layer_act *l = &s->layers[i];
        plan_attn(&l->self, p, c, decoder ? RELA_ATTN_DEC : RELA_ATTN_ENC, rows, 0);
        if (decoder)
            plan_attn(&l->cross, p, c, RELA_ATTN_CROSS, rows, src_rows);
        l->ffn.h = rela_plan_reals(p, rows * c->ffn);
        plan_norm(&l->ffn.out, p, rows, c->d);
    }
}

static void plan_worker(rela_worker *w, rela_plan *p)
{
    const rela_config *c = &w->net->config;
    if (c->task == RELA_TASK_ALIGN) {
        rela_aligner_plan(&w->aligner, p, c, w->max_src, w->max_tgt);
        return;
    }
    const size_t rows = w->max_src > w->max_tgt ? w->max_src : w->max_tgt;
    const size_t wide = 3 * c->d > c->ffn ? 3 * c->d : c->ffn;
    const size_t len = c->max_len < rows ? c->max_len : rows;
    plan_stack(&w->enc, p, c, false, w->max_src, 0);
    plan_stack(&w->dec, p, c, true, w->max_tgt, w->max_src);
    /* One scratch serves all kinds: planned for one that maps, if any does. */
    const rela_attn_kind *kind = c->kind[0];
    for (int i = 1; i < RELA_ATTN_N_TYPES; i++)
        kind = c->kind[i]->map ? c->kind[i] : kind;
    rela_attn_scratch_plan(&w->scratch, p, kind, c->d / c->heads, len);
    w->logits = rela_plan_reals(p, RELA_LOSS_CHUNK * c->vocab_tgt);
    w->dx = rela_plan_reals(p, rows * c->d);
    w->dr = rela_plan_reals(p, rows * c->d);
    w->da = rela_plan_reals(p, rows * c->d);
    w->dz = rela_plan_reals(p, rows * c->d);
    w->spare_r = rela_plan_reals(p, c->pre_norm ? rows * c->d : 0);
    w->dwide = rela_plan_reals(p, rows * wide);
    w->dkv = rela_plan_reals(p, w->max_src * 2 * c->d);
    w->dmemory = rela_plan_reals(p, w->max_src * c->d);
}

/* ---- what sublayers share ---- */

static stack stack_start(rela_worker *w, const rela_packed *b, const rela_pass *p, real *grads,
                         bool decoder)
{
    assert(b->src_rows <= w->max_src && b->tgt_rows <= w->max_tgt);
    return (stack){ .w = w,
                    .batch = b,
                    .pass = p,
                    .weights = w->net->weights,
                    .grads = grads,
                    .tokens = decoder ? &b->tgt : &b->src,
                    .rows = decoder ? b->tgt_rows : b->src_rows,
                    .first_row = decoder ? b->first_tgt : b->first_src,
                    .decoder = decoder };
}

static const rela_config *config(const stack *s)
{
    return &s->w->net->config;
}

/* Dropout of a site; element 0 is the first of this part of the update. */
static rela_drop drop_at(const stack *s, double p, int site, size_t layer, size_t width)
{
    const uint32_t number = (uint32_t)((layer * 2 + s->decoder) * SITES + (size_t)site);
    return rela_drop_make(s->pass->training ? p : 0, s->pass->seed, s->pass->update, number,
                          s->first_row * (uint32_t)width);
}

/* The LN that follows sublayer number `at` of the stack (0: the embeddings, pre-norm only). */
static rela_ln_at ln_after(const stack *s, size_t at)
{
    const rela_layout *l = &s->w->net->layout;
    const rela_layer_at *layers = s->decoder ? l->dec : l->enc;
    const size_t per_layer = s->decoder ? 3 : 2;
    const size_t n = (s->decoder ? config(s)->dec_layers : config(s)->enc_layers) * per_layer;
    if (config(s)->pre_norm && at == n)
        return s->decoder ? l->dec_ln : l->enc_ln;
    const size_t which = config(s)->pre_norm ? at : at - 1;
    const rela_layer_at *layer = &layers[which / per_layer];
    const size_t part = which % per_layer;
    return part == 0 ? layer->self.ln : part == per_layer - 1 ? layer->ffn.ln : layer->cross.ln;
}

/* Where the residual comes from: the normed value (post-norm) or the sum before it (pre-norm). */
static const real *residual_of(const stack *s, const norm_act *in)
{
    return config(s)->pre_norm ? in->r : in->x;
}

static void finish_sublayer(const stack *s, const norm_act *out, const norm_act *in,
                            const real *bias, size_t at, const rela_drop *drop)
{
    const rela_ln_at ln = ln_after(s, at);
    s->w->net->k->residual_norm(out->x, out->r, out->stats, residual_of(s, in), out->r, bias,
                                s->weights + ln.gain, s->weights + ln.offset, s->rows, config(s)->d,
                                (real)config(s)->eps, drop);
}

/* ---- attention ---- */

static rela_attn attn_setup(const stack *s, const attn_act *a, const rela_attn_at *at,
                            rela_attn_type type, size_t layer)
{
    const rela_config *c = config(s);
    const bool cross = type == RELA_ATTN_CROSS;
    return (rela_attn){ .k = s->w->net->k,
                        .kind = c->kind[type],
                        .setup = &c->setup,
                        .heads = c->heads,
                        .d_head = c->d / c->heads,
                        .causal = type == RELA_ATTN_DEC,
                        .head_params = c->kind[type]->n_head ? s->weights + at->head : NULL,
                        .drop = drop_at(s, c->drop_attn,
                                        cross ? SITE_CROSS_WEIGHTS : SITE_SELF_WEIGHTS, layer, 0),
                        .kept = s->grads && !s->pass->tap ? a->kept : NULL,
                        .tap = s->pass->tap,
                        .layer = layer,
                        .type = (int)type };
}

static rela_attn_rows attn_rows(const stack *s, bool cross)
{
    const rela_tokens *keys = cross ? &s->batch->src : s->tokens;
    return (rela_attn_rows){ s->tokens->n, s->tokens->at, keys->at, s->first_row };
}

static rela_attn_in attn_in(const attn_act *a, size_t d, bool cross)
{
    if (cross)
        return (rela_attn_in){ a->in, a->kv, a->kv + d, d, 2 * d, 2 * d };
    return (rela_attn_in){ a->in, a->in + d, a->in + 2 * d, 3 * d, 3 * d, 3 * d };
}

/* memory: encoder output for cross attention, NULL for self-attention. */
static void attn_forward(const stack *s, const attn_act *a, const rela_attn_at *at,
                         const norm_act *in, const real *memory, rela_attn_type type, size_t layer,
                         size_t sublayer)
{
    const rela_config *c = config(s);
    const rela_kern *k = s->w->net->k;
    const size_t d = c->d, wide = memory ? d : 3 * d;
    rela_linear_forward(a->in, in->x, s->weights + at->in, s->rows, wide, d);
    k->add_bias(a->in, s->weights + at->in_bias, s->rows, wide);
    if (memory) {
        rela_linear_forward(a->kv, memory, s->weights + at->kv, s->batch->src_rows, 2 * d, d);
        k->add_bias(a->kv, s->weights + at->kv_bias, s->batch->src_rows, 2 * d);
    }
    const rela_attn attn = attn_setup(s, a, at, type, layer);
    const rela_attn_rows rows = attn_rows(s, memory != NULL);
    const rela_attn_in qkv = attn_in(a, d, memory != NULL);
    rela_attn_forward(&attn, &s->w->scratch, a->z, &qkv, &rows);
    rela_attn_guard(&attn, a->z, &qkv, &rows);
    const rela_attn_norm *norm = c->kind[type]->norm;
    if (norm)
        k->gated_norm(a->y, a->z, s->weights + at->gain, norm->gated ? s->weights + at->gate : NULL,
                      s->rows, d, c->norm_per_head ? c->heads : 1, (real)c->attn_eps, norm->center);
    rela_linear_forward(a->out.r, a->y, s->weights + at->out, s->rows, d, d);
    const rela_drop drop = drop_at(s, c->drop_residual, memory ? SITE_CROSS : SITE_SELF, layer, d);
    finish_sublayer(s, &a->out, in, s->weights + at->out_bias, sublayer, &drop);
}

/* ---- feed-forward ---- */

static void ffn_forward(const stack *s, const ffn_act *a, const rela_ffn_at *at, const norm_act *in,
                        size_t layer, size_t sublayer)
{
    const rela_config *c = config(s);
    const rela_drop inner = drop_at(s, c->drop_ffn, SITE_FFN_INNER, layer, c->ffn);
    const rela_drop outer = drop_at(s, c->drop_residual, SITE_FFN, layer, c->d);
    rela_linear_forward(a->h, in->x, s->weights + at->up, s->rows, c->ffn, c->d);
    s->w->net->k->bias_relu(a->h, s->weights + at->up_bias, s->rows, c->ffn, &inner);
    rela_linear_forward(a->out.r, a->h, s->weights + at->down, s->rows, c->d, c->ffn);
    finish_sublayer(s, &a->out, in, s->weights + at->down_bias, sublayer, &outer);
}

/* ---- stacks ---- */

static void embed(const stack *s, const norm_act *in)
{
    const rela_net *n = s->w->net;
    const size_t d = n->config.d;
    const size_t table = s->decoder ? n->layout.embed_tgt : n->layout.embed_src;
    const rela_drop drop = drop_at(s, n->config.drop_embed, SITE_EMBED, 0, d);
    real *x = n->config.pre_norm ? in->r : in->x;
    rela_embed_forward(x, s->tokens, s->decoder, s->weights + table,
                       s->weights + n->layout.embed_bias, n->positions, d);
    n->k->dropout(x, s->rows * d, &drop);
    if (!n->config.pre_norm)
        return;
    const rela_ln_at ln = ln_after(s, 0);
    const rela_drop none = { .threshold = 0 };
    n->k->residual_norm(in->x, in->r, in->stats, NULL, in->r, NULL, s->weights + ln.gain,
                        s->weights + ln.offset, s->rows, d, (real)n->config.eps, &none);
}

static void encode(const stack *s)
{
    const stack_act *a = &s->w->enc;
    const norm_act *in = &a->in;
    embed(s, in);
    for (size_t i = 0; i < config(s)->enc_layers; i++) {
        const rela_layer_at *at = &s->w->net->layout.enc[i];
        attn_forward(s, &a->layers[i].self, &at->self, in, NULL, RELA_ATTN_ENC, i, 2 * i + 1);
        ffn_forward(s, &a->layers[i].ffn, &at->ffn, &a->layers[i].self.out, i, 2 * i + 2);
        in = &a->layers[i].ffn.out;
    }
}

static const real *memory_of(const rela_worker *w)
{
    return w->enc.layers[w->net->config.enc_layers - 1].ffn.out.x;
}

static void decode(const stack *s)
{
    const stack_act *a = &s->w->dec;
    const norm_act *in = &a->in;
    embed(s, in);
    for (size_t i = 0; i < config(s)->dec_layers; i++) {
        const rela_layer_at *at = &s->w->net->layout.dec[i];
        const layer_act *l = &a->layers[i];
        attn_forward(s, &l->self, &at->self, in, NULL, RELA_ATTN_DEC, i, 3 * i + 1);
        attn_forward(s, &l->cross, &at->cross, &l->self.out, memory_of(s->w), RELA_ATTN_CROSS, i,
                     3 * i + 2);
        ffn_forward(s, &l->ffn, &at->ffn, &l->cross.out, i, 3 * i + 3);
        in = &l->ffn.out;
    }
}

/* ---- backward ----
 *
 * w->dx holds the gradient of the value a sublayer handed on (x of its norm_act). In pre-norm the
 * residual stream has a gradient of its own in w->dr, added inside residual_norm_back. */

/* Through residual sum and norm: da (in w->da) is the gradient of the sublayer's output before
 * its bias; what goes straight to the residual ends up in the array returned. */
static real *finish_back(const stack *s, const norm_act *out, size_t bias, size_t at,
                         const rela_drop *drop, bool first)
{
    rela_worker *w = s->w;
    const rela_ln_at ln = ln_after(s, at);
    const bool pre = config(s)->pre_norm;
    real *to = pre ? w->spare_r : w->dr;
    w->net->k->residual_norm_back(to, w->da, s->grads + ln.gain, s->grads + ln.offset,
                                  s->grads + bias, w->dx, pre && !first ? w->dr : NULL, out->r,
                                  out->stats, s->weights + ln.gain, s->rows, config(s)->d, drop);
    if (pre) { /* the new residual gradient takes the place of the old one */
        w->spare_r = w->dr;
        w->dr = to;
    }
    return to;
}

/* The gradient of the sublayer's input: added to the residual's (post-norm) or alone (pre-norm);
 * afterwards w->dx is the gradient for the sublayer before. */
static real *input_target(const stack *s, bool *add)
{
    *add = !config(s)->pre_norm;
    return *add ? s->w->dr : s->w->dx;
}

static void swap_if_post(const stack *s)
{
    if (config(s)->pre_norm)
        return;
    real *t = s->w->dx;
    s->w->dx = s->w->dr;
    s->w->dr = t;
}

static void ffn_back(const stack *s, const ffn_act *a, const rela_ffn_at *at, const norm_act *in,
                     size_t layer, size_t sublayer, bool last)
{
    const rela_config *c = config(s);
    rela_worker *w = s->w;
    const rela_drop outer = drop_at(s, c->drop_residual, SITE_FFN, layer, c->d);
    const rela_drop inner = drop_at(s, c->drop_ffn, SITE_FFN_INNER, layer, c->ffn);
    finish_back(s, &a->out, at->down_bias, sublayer, &outer, last);
    rela_linear_back_weight(s->grads + at->down, w->da, a->h, s->rows, c->d, c->ffn);
    rela_linear_back_input(w->dwide, w->da, s->weights + at->down, s->rows, c->d, c->ffn, false);
    w->net->k->bias_relu_back(w->dwide, s->grads + at->up_bias, a->h, s->rows, c->ffn,
                              inner.threshold ? inner.scale : 1);
    rela_linear_back_weight(s->grads + at->up, w->dwide, in->x, s->rows, c->ffn, c->d);
    bool add = false;
    real *to = input_target(s, &add);
    rela_linear_back_input(to, w->dwide, s->weights + at->up, s->rows, c->ffn, c->d, add);
    swap_if_post(s);
}

/* From the output map back to the mixed values: w->dz. */
static void attn_out_back(const stack *s, const attn_act *a, const rela_attn_at *at,
                          rela_attn_type type)
{
    const rela_config *c = config(s);
    rela_worker *w = s->w;
    const rela_attn_norm *norm = c->kind[type]->norm;
    rela_linear_back_weight(s->grads + at->out, w->da, a->y, s->rows, c->d, c->d);
    rela_linear_back_input(w->dz, w->da, s->weights + at->out, s->rows, c->d, c->d, false);
    if (norm)
        w->net->k->gated_norm_back(
            w->dz, s->grads + at->gain, norm->gated ? s->grads + at->gate : NULL, w->dz, a->z,
            s->weights + at->gain, norm->gated ? s->weights + at->gate : NULL, s->rows, c->d,
            c->norm_per_head ? c->heads : 1, (real)c->attn_eps, norm->center);
}

static void attn_back(const stack *s, const attn_act *a, const rela_attn_at *at, const norm_act *in,
                      const real *memory, rela_attn_type type, size_t layer, size_t sublayer)
{
    const rela_config *c = config(s);
    rela_worker *w = s->w;
    const size_t d = c->d, wide = memory ? d : 3 * d;
    const rela_drop drop = drop_at(s, c->drop_residual, memory ? SITE_CROSS : SITE_SELF, layer, d);
    finish_back(s, &a->out, at->out_bias, sublayer, &drop, false);
    attn_out_back(s, a, at, type);
    const rela_attn attn = attn_setup(s, a, at, type, layer);
    const rela_attn_rows rows = attn_rows(s, memory != NULL);
    const rela_attn_in qkv = attn_in(a, d, memory != NULL);
    const rela_attn_grad grad = { .dq = w->dwide,
                                  .dk = memory ? w->dkv : w->dwide + d,
                                  .dv = memory ? w->dkv + d : w->dwide + 2 * d,
                                  .dhead = c->kind[type]->n_head ? s->grads + at->head : NULL,
                                  .z = a->z };
    rela_attn_back(&attn, &w->scratch, &grad, w->dz, &qkv, &rows);
    w->net->k->sum_rows(s->grads + at->in_bias, w->dwide, s->rows, wide);
    rela_linear_back_weight(s->grads + at->in, w->dwide, in->x, s->rows, wide, d);
    if (memory) {
        const size_t src = s->batch->src_rows;
        const bool add = layer + 1 < c->dec_layers; /* the last layer comes first */
        w->net->k->sum_rows(s->grads + at->kv_bias, w->dkv, src, 2 * d);
        rela_linear_back_weight(s->grads + at->kv, w->dkv, memory, src, 2 * d, d);
        rela_linear_back_input(w->dmemory, w->dkv, s->weights + at->kv, src, 2 * d, d, add);
    }
    bool add = false;
    real *to = input_target(s, &add);
    rela_linear_back_input(to, w->dwide, s->weights + at->in, s->rows, wide, d, add);
    swap_if_post(s);
}

static void embed_back(const stack *s, const norm_act *in)
{
    const rela_net *n = s->w->net;
    rela_worker *w = s->w;
    const size_t d = n->config.d;
    const size_t table = s->decoder ? n->layout.embed_tgt : n->layout.embed_src;
    const rela_drop drop = drop_at(s, n->config.drop_embed, SITE_EMBED, 0, d);
    real *dx = w->dx;
    if (n->config.pre_norm) {
        const rela_ln_at ln = ln_after(s, 0);
        n->k->residual_norm_back(w->spare_r, NULL, s->grads + ln.gain, s->grads + ln.offset, NULL,
                                 w->dx, w->dr, in->r, in->stats, s->weights + ln.gain, s->rows, d,
                                 &drop);
        dx = w->spare_r;
    }
    n->k->dropout(dx, s->rows * d, &drop);
    rela_embed_back(s->grads + table, s->grads + n->layout.embed_bias, dx, s->tokens, s->decoder,
                    d);
}

static void decode_back(const stack *s)
{
    const stack_act *a = &s->w->dec;
    const size_t n = config(s)->dec_layers;
    for (size_t i = n; i-- > 0;) {
        const rela_layer_at *at = &s->w->net->layout.dec[i];
        const layer_act *l = &a->layers[i];
        const norm_act *in = i ? &a->layers[i - 1].ffn.out : &a->in;
        ffn_back(s, &l->ffn, &at->ffn, &l->cross.out, i, 3 * i + 3, i + 1 == n);
        attn_back(s, &l->cross, &at->cross, &l->self.out, memory_of(s->w), RELA_ATTN_CROSS, i,
                  3 * i + 2);
        attn_back(s, &l->self, &at->self, in, NULL, RELA_ATTN_DEC, i, 3 * i + 1);
    }
    embed_back(s, &a->in);
}

static void encode_back(const stack *s)
{
    const stack_act *a = &s->w->enc;
    const size_t n = config(s)->enc_layers;
    memcpy(s->w->dx, s->w->dmemory, s->rows * config(s)->d * sizeof *s->w->dx);
    for (size_t i = n; i-- > 0;) {
        const rela_layer_at *at = &s->w->net->layout.enc[i];
        const norm_act *in = i ? &a->layers[i - 1].ffn.out : &a->in;
        ffn_back(s, &a->layers[i].ffn, &at->ffn, &a->layers[i].self.out, i, 2 * i + 2, i + 1 == n);
        attn_back(s, &a->layers[i].self, &at->self, in, NULL, RELA_ATTN_ENC, i, 2 * i + 1);
    }
    embed_back(s, &a->in);
}

/* SPDX-License-Identifier: MIT */
/* src/model/layout.c - see layout.h. The initialisers are those of the paper's code: embeddings
 * normal with d^-0.5, matrices Glorot uniform over the fused shape, gates and the gain of rela-i
 * uniform with sqrt(3/d). */
#include "model/layout.h"

#include "base/mem.h"
#include "nn/align.h"

#include <math.h>
#include <stdio.h>

/* Adding parameters one after the other; the first failure is kept. */
typedef struct adder {
    rela_params *params;
    rela_status status;
    rela_error *err;
    const char *stack; /* "enc" or "dec" */
    size_t layer;
} adder;

static rela_status init(rela_layout *l, const rela_config *c, bool bare, rela_error *err);
static void add(adder *a, size_t *at, const char *name, size_t rows, size_t cols, rela_init init);
static void add_linear(adder *a, size_t *weight, size_t *bias, const char *name, size_t out,
                       size_t in, double limit);
static void add_ln(adder *a, rela_ln_at *at, const char *name, size_t d);
static void add_attn(adder *a, rela_attn_at *at, const rela_config *c, rela_attn_type type);
static void add_ffn(adder *a, rela_ffn_at *at, const rela_config *c);
static void add_layers(adder *a, rela_layout *l, const rela_config *c);
static void add_align(adder *a, rela_align_at *at, const rela_config *c);

static const rela_init ZERO = { RELA_INIT_CONSTANT, 0 }, ONE = { RELA_INIT_CONSTANT, 1 };

rela_status rela_layout_init(rela_layout *l, const rela_config *c, rela_error *err)
{
    return init(l, c, false, err);
}

rela_status rela_layout_init_bare(rela_layout *l, const rela_config *c, rela_error *err)
{
    return init(l, c, true, err);
}

static rela_status init(rela_layout *l, const rela_config *c, bool bare, rela_error *err)
{
    *l = (rela_layout){ .params = { .bare = bare },
                        .enc = rela_mem_zalloc(c->enc_layers * sizeof *l->enc),
                        .dec = rela_mem_zalloc(c->dec_layers * sizeof *l->dec) };
    if (!l->enc || !l->dec) {
        rela_layout_deinit(l);
        return rela_fail(err, RELA_NOMEM, "no memory for the layout of the model");
    }
    adder a = { .params = &l->params, .status = RELA_OK, .err = err };
    const rela_init normal = { RELA_INIT_NORMAL, 1 / sqrt((double)c->d) };
    const bool all = c->tie == RELA_TIE_ALL;
    add(&a, &l->embed_src, all ? "embed" : "embed.src", c->vocab_src, c->d, normal);
    l->embed_tgt = l->embed_src;
    if (!all)
        add(&a, &l->embed_tgt, "embed.tgt", c->vocab_tgt, c->d, normal);
    l->output = l->embed_tgt;
    if (c->tie == RELA_TIE_NONE)
        add(&a, &l->output, "output", c->vocab_tgt, c->d, normal);
    if (c->task == RELA_TASK_ALIGN)
        add_align(&a, &l->align, c);
    else
        add_layers(&a, l, c);
    if (a.status != RELA_OK)
        rela_layout_deinit(l);
    return a.status;
}

void rela_layout_deinit(rela_layout *l)
{
    rela_params_deinit(&l->params);
    rela_mem_free(l->enc);
    rela_mem_free(l->dec);
    *l = (rela_layout){ 0 };
}

static void add_layers(adder *a, rela_layout *l, const rela_config *c)
{
    const rela_init small = { RELA_INIT_UNIFORM, sqrt(3.0 / (double)c->d) };
    add(a, &l->embed_bias, "embed.bias", 0, c->d, small);
    a->stack = "enc";
    for (a->layer = 0; a->layer < c->enc_layers; a->layer++) {
        add_attn(a, &l->enc[a->layer].self, c, RELA_ATTN_ENC);
        add_ffn(a, &l->enc[a->layer].ffn, c);
    }
    a->stack = "dec";
    for (a->layer = 0; a->layer < c->dec_layers; a->layer++) {
        add_attn(a, &l->dec[a->layer].self, c, RELA_ATTN_DEC);
        add_attn(a, &l->dec[a->layer].cross, c, RELA_ATTN_CROSS);
        add_ffn(a, &l->dec[a->layer].ffn, c);
    }
    a->stack = NULL;
    if (c->pre_norm) {
        add_ln(a, &l->enc_ln, "enc", c->d);
        add_ln(a, &l->dec_ln, "dec", c->d);
    }
}

/* Links are rare at first, so that a token that nothing explains is not forced on a wrong one. */
static void add_align(adder *a, rela_align_at *at, const rela_config *c)
{
    static const rela_init NULL_START = { RELA_INIT_CONSTANT, -2 };
    add(a, &at->bias, "align.bias", 0, c->vocab_tgt, ZERO);
    add(a, &at->null, "align.null", 0, 1, NULL_START);
    add(a, &at->near, "align.near", 0, RELA_ALIGN_NEAR, ZERO);
    add(a, &at->around, "align.around", 0, RELA_ALIGN_AROUND * RELA_ALIGN_AROUND, ZERO);
}

static void add(adder *a, size_t *at, const char *name, size_t rows, size_t cols, rela_init init)
{
    char full[RELA_PARAM_NAME_MAX];
    if (a->stack)
        (void)snprintf(full, sizeof full, "%s.#.%s", a->stack, name);
    else
        (void)snprintf(full, sizeof full, "%s", name);
    if (a->status == RELA_OK)
        a->status = rela_params_add(a->params, at, full, a->layer, rows, cols, init, a->err);
}

static void add_linear(adder *a, size_t *weight, size_t *bias, const char *name, size_t out,
                       size_t in, double limit)
{
    char full[RELA_PARAM_NAME_MAX];
    (void)snprintf(full, sizeof full, "%s.weight", name);
    add(a, weight, full, out, in, (rela_init){ RELA_INIT_UNIFORM, limit });
    (void)snprintf(full, sizeof full, "%s.bias", name);
    add(a, bias, full, 0, out, ZERO);
}

static void add_ln(adder *a, rela_ln_at *at, const char *name, size_t d)
{
    char full[RELA_PARAM_NAME_MAX];
    (void)snprintf(full, sizeof full, "%s.ln.gain", name);
    add(a, &at->gain, full, 0, d, ONE);
    (void)snprintf(full, sizeof full, "%s.ln.offset", name);
    add(a, &at->offset, full, 0, d, ZERO);
}

static void add_attn(adder *a, rela_attn_at *at, const rela_config *c, rela_attn_type type)
{
    const size_t d = c->d;
    const rela_attn_kind *kind = c->kind[type];
    const bool cross = type == RELA_ATTN_CROSS;
    const double square = sqrt(6.0 / (double)(2 * d)); /* Glorot limit of a d x d map */
    char name[RELA_PARAM_NAME_MAX];
    const char *place = cross ? "cross" : "self";
    const rela_init small = { RELA_INIT_UNIFORM, sqrt(3.0 / (double)d) };
    (void)snprintf(name, sizeof name, "%s.%s", place, cross ? "q" : "qkv");
    add_linear(a, &at->in, &at->in_bias, name, cross ? d : 3 * d, d,
               cross ? square : sqrt(6.0 / (double)(4 * d)));
    (void)snprintf(name, sizeof name, "%s.kv", place);
    if (cross) /* two maps side by side, each initialised as a d x d map */
        add_linear(a, &at->kv, &at->kv_bias, name, 2 * d, d, square);
    (void)snprintf(name, sizeof name, "%s.head", place);
    if (kind->n_head) { /* few numbers, and none of a product */
        const bool bare = a->params->bare;
        a->params->bare = false;
        add(a, &at->head, name, c->heads, kind->n_head,
            (rela_init){ RELA_INIT_CONSTANT, (double)kind->head_start });
        a->params->bare = bare;
    }
    if (kind->norm) {
        (void)snprintf(name, sizeof name, "%s.norm.gain", place);
        add(a, &at->gain, name, 0, d, kind->norm->random_gain ? small : ONE);
        (void)snprintf(name, sizeof name, "%s.norm.gate", place);
        if (kind->norm->gated)
            add(a, &at->gate, name, 0, d, small);
    }
    (void)snprintf(name, sizeof name, "%s.out", place);
    add_linear(a, &at->out, &at->out_bias, name, d, d, square);
    add_ln(a, &at->ln, place, d);
}

static void add_ffn(adder *a, rela_ffn_at *at, const rela_config *c)
{
    const double limit = sqrt(6.0 / (double)(c->d + c->ffn));
    add_linear(a, &at->up, &at->up_bias, "ffn.up", c->ffn, c->d, limit);
    add_linear(a, &at->down, &at->down_bias, "ffn.down", c->d, c->ffn, limit);
    add_ln(a, &at->ln, "ffn", c->d);
}

/* SPDX-License-Identifier: MIT */
/* src/nn/attn/attn.c - see attn.h; loops over sentences and heads. One head of one sentence:
 * head.h. */
#include "nn/attn/attn.h"

#include "nn/attn/method.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LANES_MAX = 16 };

static rela_attn_head head_at(const rela_attn *a, const rela_attn_scratch *s,
                              const rela_attn_in *in, const rela_attn_rows *rows, size_t at,
                              uint64_t **kept);
static size_t param_offset(const rela_attn *a, size_t i, size_t head);
static rela_attn_path path_wanted(void);
static void show_rows(const rela_attn_head *h);

/* Rows of weights that a tap of a kind with its own method sees at once. */
enum { LOOK = 8 };

void rela_attn_scratch_plan(rela_attn_scratch *s, rela_plan *p, const rela_attn_shape *shape,
                            size_t max_len)
{
    const rela_attn_kind *kind = shape->kind;
    memset(s, 0, sizeof *s);
    s->ld = rela_round_up(max_len, LANES_MAX) + LANES_MAX; /* see strip_at of strips.c */
    if (kind->method && kind->method->weights)
        s->weights = rela_plan_reals(p, LOOK * s->ld);
    rela_attn_method_of(kind)->plan(s, p, shape, max_len);
}

size_t rela_attn_kept_words(const rela_attn_shape *shape, size_t q_rows, size_t k_rows,
                            size_t max_len)
{
    const rela_attn_method *m = rela_attn_method_of(shape->kind);
    return m->kept_most ? m->kept_most(shape, q_rows, k_rows, max_len) : 0;
}

void rela_attn_forward(const rela_attn *a, const rela_attn_scratch *s, real *z,
                       const rela_attn_in *in, const rela_attn_rows *rows)
{
    const size_t d = a->ldz ? a->ldz : a->heads * a->d_head;
    const rela_attn_method *m = rela_attn_method_of(a->kind);
    uint64_t *kept = a->kept;
    for (size_t at = 0; at < rows->n * a->heads; at++) {
        const rela_attn_head h = head_at(a, s, in, rows, at, &kept);
        real *out = z + rows->q_at[h.sentence] * d + h.number * a->d_head;
        if (h.n_k == 0) { /* nothing to attend to */
            rela_attn_clear_rows(out, d, h.n_q, a->d_head);
            if (rela_attn_shows(a->kind))
                rela_attn_show(&h, 0, h.n_q, 0, 0);
            continue;
        }
        if (a->tap && m->weights)
            show_rows(&h);
        m->forward(&h, out, d);
    }
}

void rela_attn_back(const rela_attn *a, const rela_attn_scratch *s, const rela_attn_grad *g,
                    const real *dz, const rela_attn_in *in, const rela_attn_rows *rows)
{
    const size_t d = a->ldz ? a->ldz : a->heads * a->d_head;
    uint64_t *kept = a->kept;
    for (size_t at = 0; at < rows->n * a->heads; at++) {
        rela_attn_head h = head_at(a, s, in, rows, at, &kept);
        for (size_t i = 0; i < rela_attn_params_n(a->kind); i++)
            if (g->dparams[i])
                h.row.dparams[i] = g->dparams[i] + param_offset(a, i, h.number);
        const size_t q0 = rows->q_at[h.sentence], k0 = rows->k_at[h.sentence];
        const size_t column = h.number * a->d_head;
        const rela_attn_head_grad grad = { .dz = dz + q0 * d + column,
                                           .z = g->z ? g->z + q0 * d + column : NULL,
                                           .ldz = d,
                                           .dq = g->dq + q0 * h.ldq + column,
                                           .dk = g->dk + k0 * h.ldk + column,
                                           .dv = g->dv + k0 * h.ldv + column };
        if (h.n_k == 0)
            rela_attn_clear_rows(grad.dq, h.ldq, h.n_q, a->d_head);
        else
            rela_attn_method_of(a->kind)->back(&h, &grad);
    }
}

/* *kept: what this head keeps; advanced to that of the next head. */
static rela_attn_head head_at(const rela_attn *a, const rela_attn_scratch *s,
                              const rela_attn_in *in, const rela_attn_rows *rows, size_t at,
                              uint64_t **kept)
{
    const size_t i = at / a->heads, number = at % a->heads;
    const size_t q0 = rows->q_at[i], k0 = rows->k_at[i], column = number * a->d_head;
    rela_attn_head h = { .a = a,
                         .s = s,
                         .row = { .k = a->k, .numbers = a->numbers, .scratch = s->row },
                         .path = a->path == RELA_ATTN_AUTO ? path_wanted() : a->path,
                         .sentence = i,
                         .number = number,
                         .q = in->q + q0 * in->ldq + column,
                         .k = in->k + k0 * in->ldk + column,
                         .v = in->v + k0 * in->ldv + column,
                         .ldq = in->ldq,
                         .ldk = in->ldk,
                         .ldv = in->ldv,
                         .n_q = rows->q_at[i + 1] - q0,
                         .n_k = rows->k_at[i + 1] - k0,
                         .first_row = rows->first_row + (uint32_t)q0,
                         .kept = *kept };
    rela_attn_params_of(h.row.params, a, number);
    assert(h.n_k <= s->ld);
    assert(!a->kept || !a->tap);
    *kept += *kept ? rela_attn_method_of(a->kind)->kept(&h) : 0;
    return h;
}

/* Where the part of a head begins in learned array i. */
static size_t param_offset(const rela_attn *a, size_t i, size_t head)
{
    const rela_attn_shape shape = rela_attn_shape_of(a);
    return a->kind->params[i].shared ? 0 : head * rela_attn_param_size(&shape, i);
}

void rela_attn_params_of(const real *out[RELA_ATTN_PARAMS_MAX], const rela_attn *a, size_t head)
{
    for (size_t i = 0; i < rela_attn_params_n(a->kind); i++)
        out[i] = a->params[i] ? a->params[i] + param_offset(a, i, head) : NULL;
}

static const char *const PATHS[RELA_ATTN_N_PATHS] = { "auto", "dense", "sparse", "prefilter" };

const char *rela_attn_path_name(rela_attn_path p)
{
    return PATHS[p];
}

static pthread_once_t path_once = PTHREAD_ONCE_INIT;
static rela_attn_path path_of_environment;

static void read_path(void)
{
    const char *name = getenv("RELA_ATTENTION_PATH");
    for (int i = 0; name && i < RELA_ATTN_N_PATHS; i++)
        if (strcmp(name, PATHS[i]) == 0)
            path_of_environment = (rela_attn_path)i;
}

static rela_attn_path path_wanted(void)
{
    pthread_once(&path_once, read_path);
    return path_of_environment;
}

const rela_attn_method *rela_attn_method_of(const rela_attn_kind *kind)
{
    if (kind->method)
        return kind->method;
    const bool parts = kind->flags & (ATTN_POINTWISE | ATTN_SOFT);
    return parts && !kind->pattern ? &rela_attn_tiles : &rela_attn_strips;
}

bool rela_attn_shows(const rela_attn_kind *kind)
{
    return !kind->method || kind->method->weights;
}

/* Of a method that needs no rows: they are formed for the tap, a few at a time. */
static void show_rows(const rela_attn_head *h)
{
    for (size_t i = 0; i < h->n_q; i += LOOK) {
        const size_t m = h->n_q - i < LOOK ? h->n_q - i : LOOK;
        h->a->kind->method->weights(h, h->s->weights, h->s->ld, i, m);
        rela_attn_show(h, i, m, h->n_k, h->s->ld);
    }
}

void rela_attn_show(const rela_attn_head *h, size_t first, size_t rows, size_t n, size_t ld)
{
    const rela_attn *a = h->a;
    const rela_attn_view v = { .layer = a->layer,
                               .stack = a->stack,
                               .sentence = h->sentence,
                               .head = a->first_head + h->number,
                               .first = first,
                               .rows = rows,
                               .w = h->s->weights,
                               .n = n,
                               .ld = ld,
                               .causal = a->causal };
    if (a->tap && rows)
        a->tap->on_weights(a->tap->ctx, &v);
}

void rela_attn_clear_rows(real *x, size_t ld, size_t rows, size_t n)
{
    for (size_t i = 0; i < rows; i++)
        memset(x + i * ld, 0, n * sizeof *x);
}

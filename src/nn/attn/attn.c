/* SPDX-License-Identifier: MIT */
/* src/nn/attn/attn.c - see attn.h; loops over sentences and heads. One head of one sentence:
 * head.h. */
#include "nn/attn/attn.h"

#include "nn/attn/head.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_ARRAYS = 7, LANES_MAX = 16, PANEL_MAX = 2 * LANES_MAX };
enum { SOFT_WORDS = sizeof(rela_soft) / sizeof(uint64_t) };

static rela_attn_head head_at(const rela_attn *a, const rela_attn_scratch *s,
                              const rela_attn_in *in, const rela_attn_rows *rows, size_t at,
                              uint64_t **kept);
static size_t param_offset(const rela_attn *a, size_t i, size_t head);
static rela_attn_path path_wanted(void);
static bool by_tiles(const rela_attn *a);
static size_t kept_words(const rela_attn_head *h);

void rela_attn_scratch_plan(rela_attn_scratch *s, rela_plan *p, const rela_attn_shape *shape,
                            size_t max_len)
{
    const rela_attn_kind *kind = shape->kind;
    const size_t d_head = shape->d_head;
    const size_t strip = RELA_ATTN_STRIP;
    s->wide = rela_round_up(d_head, LANES_MAX);
    s->ld = rela_round_up(max_len, LANES_MAX) + LANES_MAX; /* see strip_at */
    const size_t panels = rela_round_up(s->ld, PANEL_MAX) * d_head, all = max_len * s->wide;
    s->keys_p = rela_plan_reals(p, panels);
    s->values_p = rela_plan_reals(p, kind->flags & ATTN_POINTWISE ? 0 : panels);
    s->keys = rela_plan_reals(p, all);
    s->values = rela_plan_reals(p, all);
    s->dkeys = rela_plan_reals(p, all);
    s->dvalues = rela_plan_reals(p, all);
    real **const rows[] = { &s->queries, &s->dqueries, &s->mixed };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        *rows[i] = rela_plan_reals(p, strip * s->wide);
    s->queries_p = rela_plan_reals(p, strip * d_head);
    s->mixed_p = rela_plan_reals(p, strip * d_head);
    real **const scores[] = { &s->scores, &s->weights, &s->dweights, &s->dropped };
    const size_t most = s->ld > RELA_ATTN_BLOCK ? s->ld : RELA_ATTN_BLOCK;
    for (size_t i = 0; i < sizeof scores / sizeof scores[0]; i++)
        *scores[i] = rela_plan_reals(p, strip * most);
    s->row = rela_plan_reals(p, ROW_ARRAYS * s->ld);
    s->visible = rela_plan_take(p, s->ld, sizeof *s->visible);
    s->per_query = rela_plan_reals(p, 3 * strip);
    const bool prefilters = kind->flags & ATTN_RECTIFIED;
    const size_t keys = prefilters ? rela_byte_rows(max_len) : 0, queries = prefilters ? strip : 0;
    s->key_bytes = rela_plan_take(p, keys, s->wide);
    s->query_bytes = rela_plan_take(p, queries, s->wide);
    s->key_bound = rela_plan_take(p, keys, sizeof *s->key_bound);
    s->query_bound = rela_plan_take(p, queries, sizeof *s->query_bound);
    s->may = rela_plan_take(p, queries, RELA_PREFILTER_WORDS * sizeof *s->may);
}

/* A sentence has at most q_rows / STRIP whole strips, and one of m < STRIP queries. The latter has
 * at most n_k / BLOCK + 1 blocks of 2 m + 1 words, less than n_k + n_k / BLOCK + 2 m + 1 together;
 * and there are no more sentences than queries. */
size_t rela_attn_kept_words(const rela_attn_shape *shape, size_t q_rows, size_t k_rows,
                            size_t max_len)
{
    if (shape->kind->flags & ATTN_SOFT)
        return shape->heads * q_rows * SOFT_WORDS;
    if (!(shape->kind->flags & ATTN_RECTIFIED))
        return 0;
    const size_t whole = q_rows / RELA_ATTN_STRIP * rela_attn_kept_strip(RELA_ATTN_STRIP, max_len);
    return shape->heads * (whole + k_rows + k_rows / RELA_ATTN_BLOCK + 3 * q_rows);
}

void rela_attn_forward(const rela_attn *a, const rela_attn_scratch *s, real *z,
                       const rela_attn_in *in, const rela_attn_rows *rows)
{
    const size_t d = a->ldz ? a->ldz : a->heads * a->d_head;
    uint64_t *kept = a->kept;
    for (size_t at = 0; at < rows->n * a->heads; at++) {
        const rela_attn_head h = head_at(a, s, in, rows, at, &kept);
        real *out = z + rows->q_at[h.sentence] * d + h.number * a->d_head;
        const bool parts = by_tiles(a) || (a->kind->flags & ATTN_SOFT);
        const bool other_bits = (a->kind->flags & ATTN_SOFT) || rela_attn_may_prefilter(&h);
        if (h.n_k == 0) { /* nothing to attend to */
            rela_attn_clear_rows(out, d, h.n_q, a->d_head);
            rela_attn_show(&h, 0, h.n_q, 0, 0);
            continue;
        }
        if (a->tap || !parts) /* a tap gets whole rows */
            rela_attn_strips_forward(&h, out, d);
        if (parts && (!a->tap || other_bits)) /* a tap must not change a bit of the result */
            rela_attn_tiles_forward(&h, out, d);
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
        else if (by_tiles(a) || ((a->kind->flags & ATTN_SOFT) && h.kept && grad.z))
            rela_attn_tiles_back(&h, &grad);
        else
            rela_attn_strips_back(&h, &grad);
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
    *kept += *kept ? kept_words(&h) : 0;
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

static bool by_tiles(const rela_attn *a)
{
    return (a->kind->flags & ATTN_POINTWISE) && !a->kind->pattern && !a->kind->map;
}

static size_t kept_words(const rela_attn_head *h)
{
    if (h->a->kind->flags & ATTN_SOFT)
        return h->n_q * SOFT_WORDS;
    return h->n_q / RELA_ATTN_STRIP * rela_attn_kept_strip(RELA_ATTN_STRIP, h->n_k) +
           rela_attn_kept_strip(h->n_q % RELA_ATTN_STRIP, h->n_k);
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

/* ---- rows of a head ---- */

void rela_attn_take_rows(const rela_attn_head *h, real *to, const real *from, size_t ld, size_t n)
{
    static const real one = 1;
    h->a->k->scale_rows(to, h->s->wide, from, ld, n, h->a->d_head, h->s->wide, &one, 0);
}

void rela_attn_put_rows(const rela_attn_head *h, real *to, size_t ld, const real *from, size_t n,
                        const real *factor, size_t step)
{
    static const real one = 1;
    const size_t d = h->a->d_head;
    h->a->k->scale_rows(to, ld, from, h->s->wide, n, d, d, factor ? factor : &one, step);
}

void rela_attn_take_queries(const rela_attn_head *h, size_t first, size_t m)
{
    const rela_attn *a = h->a;
    const size_t wide = h->s->wide;
    const real *q = h->q + first * h->ldq;
    const real factor = a->kind->map ? 1 : (real)(1 / sqrt((double)a->d_head));
    a->k->scale_rows(h->s->queries, wide, q, h->ldq, m, a->d_head, wide, &factor, 0);
    for (size_t i = 0; a->kind->map && i < m; i++)
        a->kind->map(a->k, h->s->queries + i * wide, q + i * h->ldq, a->d_head);
}

void rela_attn_put_dqueries(const rela_attn_head *h, real *dq, size_t first, size_t m)
{
    const rela_attn *a = h->a;
    const size_t wide = h->s->wide;
    real *from = h->s->dqueries;
    const real factor = a->kind->map ? 1 : (real)(1 / sqrt((double)a->d_head));
    for (size_t i = 0; a->kind->map && i < m; i++)
        a->kind->map_back(a->k, from + i * wide, from + i * wide, h->q + (first + i) * h->ldq,
                          a->d_head);
    rela_attn_put_rows(h, dq + first * h->ldq, h->ldq, from, m, &factor, 0);
}

rela_drop rela_attn_drop_at(const rela_attn_head *h, size_t i)
{
    rela_drop drop = h->a->drop;
    const uint32_t row = h->first_row + (uint32_t)i;
    drop.first = row * rela_attn_drop_step(h->a) +
                 (uint32_t)(h->a->first_head + h->number) * RELA_ATTN_DROP_ROW;
    return drop;
}

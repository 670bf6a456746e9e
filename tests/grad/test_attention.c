/* SPDX-License-Identifier: MIT */
/* tests/grad/test_attention.c - attention of every kind alone: gradients of queries, keys, values
 * and learned numbers against central differences, in double. */
#include "attnlayer.h"
#include "gradcheck.h"

#include <stdio.h>

enum { HEADS = 2, D_HEAD = 4, D = HEADS * D_HEAD, LD_Q = D + 1, LD_KV = 2 * D + 3, LEN_MAX = 72 };

/* Sentences of one case; queries and keys are the same rows in self-attention. */
typedef struct shape {
    const char *name;
    bool causal;
    double drop;
    size_t n;
    uint32_t q_at[4], k_at[4];
} shape;

static const shape SHAPES[] = {
    { "short", false, 0, 3, { 0, 1, 4, 9 }, { 0, 1, 4, 9 } },
    { "causal", true, 0, 3, { 0, 1, 4, 9 }, { 0, 1, 4, 9 } },
    { "cross", false, 0, 3, { 0, 5, 7, 8 }, { 0, 3, 3, 9 } }, /* the second has no keys */
    { "single key", false, 0, 1, { 0, 3 }, { 0, 1 } },
    { "dropout", true, 0.3, 2, { 0, 4, 10 }, { 0, 4, 10 } },
    { "two strips", true, 0.2, 1, { 0, 37 }, { 0, 37 } },
    { "three strips", false, 0, 1, { 0, 70 }, { 0, 70 } },
    { "causal strips", true, 0, 1, { 0, 70 }, { 0, 70 } },
    { "causal, more queries", true, 0, 2, { 0, 68, 71 }, { 0, 65, 66 } },
    { "causal, more keys", true, 0, 2, { 0, 65, 67 }, { 0, 68, 71 } },
};

enum { N_SHAPES = sizeof SHAPES / sizeof SHAPES[0] };

/* Settings under which a kind is tried; the first is the usual one. */
static const attn_setup SETUPS[] = {
    { .slope = 0.01, .alpha = 1.5, .top = 3, .window = 2, .stride = 3, .fuse = 0.1 },
    { .slope = 0.2, .alpha = 1.1, .top = 1, .window = 40, .stride = 1, .fuse = 0.8 },
    { .slope = 0, .alpha = 2, .top = 100, .window = 1, .stride = 100, .fuse = 0 },
};

enum { N_SETUPS = sizeof SETUPS / sizeof SETUPS[0] };

enum { IN_Q, IN_KV, IN_HEAD };

typedef struct layer {
    attn_layer base;
    rela_attn_rows rows;
    size_t n_q, n_k;
    double *c; /* weights of z in the scalar */
} layer;

static rela_attn_in inputs(const probe *p)
{
    return (rela_attn_in){ .q = p->in[IN_Q].x,
                           .k = p->in[IN_KV].x,
                           .v = p->in[IN_KV].x + D + 1,
                           .ldq = LD_Q,
                           .ldk = LD_KV,
                           .ldv = LD_KV };
}

static double z[LEN_MAX * D];

static double value(const probe *p)
{
    const layer *l = p->layer;
    const rela_attn_in in = inputs(p);
    rela_attn_forward(&l->base.attn, &l->base.scratch, z, &in, &l->rows);
    double sum = 0;
    for (size_t i = 0; i < l->n_q * D; i++)
        sum += l->c[i] * z[i];
    return sum;
}

static void layer_start(layer *l, const rela_attn_kind *kind, const shape *s,
                        const attn_setup *setup)
{
    *l = (layer){ .rows = { s->n, s->q_at, s->k_at, 11 },
                  .n_q = s->q_at[s->n],
                  .n_k = s->k_at[s->n] };
    attn_layer_start(&l->base, kind, setup, HEADS, D_HEAD, LEN_MAX);
    l->base.attn.causal = s->causal;
    l->base.attn.drop = rela_drop_make(s->drop, 3, 1, 4, 0);
}

/* Backward as the model does it, after a forward pass that kept what it can, or alone. */
static void probe_back(probe *p, layer *l)
{
    const rela_attn_in in = inputs(p);
    if (l->base.attn.kept)
        (void)value(p);
    rela_attn_grad grad = { .dq = p->in[IN_Q].dx,
                            .dk = p->in[IN_KV].dx,
                            .dv = p->in[IN_KV].dx + D + 1,
                            .z = l->base.attn.kept ? z : NULL };
    attn_layer_learn(&l->base, p->in[IN_HEAD].x, &grad, p->in[IN_HEAD].dx);
    rela_attn_back(&l->base.attn, &l->base.scratch, &grad, l->c, &in, &l->rows);
}

static void check(const rela_attn_kind *kind, const shape *s, const attn_setup *setup, bool keeps)
{
    char what[64];
    layer l;
    layer_start(&l, kind, s, setup);
    const rela_attn_shape sizes = attn_layer_shape(&l.base);
    const size_t words = keeps ? rela_attn_kept_words(&sizes, l.n_q, l.n_k, LEN_MAX) : 0;
    uint64_t *const kept = words ? calloc(words, sizeof *kept) : NULL;
    l.base.attn.kept = kept;
    l.base.attn.path = keeps ? RELA_ATTN_PREFILTERED : RELA_ATTN_AUTO;
    (void)snprintf(what, sizeof what, "%s, %s%s", kind->name, s->name, keeps ? ", kept" : "");
    probe p = { .what = what, .value = value, .layer = &l, .samples = s->n > 1 ? 40 : 20 };
    (void)probe_add(&p, "queries", l.n_q * LD_Q, 2);
    (void)probe_add(&p, "keys and values", l.n_k * LD_KV, 2);
    (void)probe_add(&p, "learned numbers", attn_layer_learned(&l.base), 1);
    l.c = probe_reals(&p, l.n_q * D, 1);
    attn_layer_learn(&l.base, p.in[IN_HEAD].x, NULL, NULL);
    probe_back(&p, &l);
    probe_run(&p);
    free(kept);
    attn_layer_end(&l.base);
}

static void every_kind_has_exact_gradients(void **state)
{
    (void)state;
    for (size_t i = 0; rela_attn_kind_at(i); i++)
        for (size_t s = 0; s < 2 * N_SHAPES; s++)
            check(rela_attn_kind_at(i), &SHAPES[s / 2], &SETUPS[0], s % 2);
}

static void settings_have_exact_gradients(void **state)
{
    (void)state;
    static const char *const KINDS[] = {
        "leaky-g", "entmax", "topk", "local", "strided", "fusedmax"
    };
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++)
        for (size_t s = 1; s < N_SETUPS; s++) {
            check(rela_attn_kind_find(KINDS[i]), &SHAPES[0], &SETUPS[s], false);
            check(rela_attn_kind_find(KINDS[i]), &SHAPES[5], &SETUPS[s], false);
        }
}

/* Queries whose scores are all negative: nothing comes out and nothing goes back. */
static void null_rows_pass_no_gradient(void **state)
{
    (void)state;
    const shape *s = &SHAPES[0];
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        const rela_attn_kind *kind = rela_attn_kind_at(i);
        if (!(kind->flags & ATTN_NULLABLE))
            continue;
        layer l;
        layer_start(&l, kind, s, &SETUPS[0]);
        probe p = { .what = kind->name, .value = value, .layer = &l };
        (void)probe_add(&p, "queries", l.n_q * LD_Q, 1);
        (void)probe_add(&p, "keys and values", l.n_k * LD_KV, 1);
        (void)probe_add(&p, "learned numbers", attn_layer_learned(&l.base), 0);
        l.c = probe_reals(&p, l.n_q * D, 1);
        attn_layer_learn(&l.base, p.in[IN_HEAD].x, NULL, NULL);
        for (size_t j = 0; j < l.n_q * LD_Q; j++)
            p.in[IN_Q].x[j] = -fabs(p.in[IN_Q].x[j]);
        for (size_t j = 0; j < l.n_k * LD_KV; j++)
            p.in[IN_KV].x[j] = fabs(p.in[IN_KV].x[j]);
        probe_back(&p, &l);
        CHECK(value(&p) == 0, "%s: output %g", kind->name, value(&p));
        for (size_t a = 0; a < p.n_inputs; a++)
            for (size_t j = 0; j < p.in[a].n; j++)
                CHECK(p.in[a].dx[j] == 0, "%s: gradient %g of %s", kind->name, p.in[a].dx[j],
                      p.in[a].name);
        free(p.memory);
        attn_layer_end(&l.base);
    }
}

static int start(void **state)
{
    (void)state;
    probe_rng = rela_rng_start(23, 0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_exact_gradients),
        cmocka_unit_test(settings_have_exact_gradients),
        cmocka_unit_test(null_rows_pass_no_gradient),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}

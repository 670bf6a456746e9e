/* SPDX-License-Identifier: MIT */
/* tests/unit/test_attn_features.c - random features of attention: many of them come close to
 * softmax; which are in use follows from the update alone. */
#include "attnlayer.h"
#include "base/rng.h"
#include "check.h"
#include "decode_probe.h"

#include <math.h>
#include <string.h>

enum { D_HEAD = 16, N = 20, VOCAB = 37, ROWS = 12 };

static real w[N][N];

static void see(void *ctx, const rela_attn_view *v)
{
    (void)ctx;
    for (size_t i = 0; i < v->rows; i++)
        memcpy(w[v->first + i], v->w + i * v->ld, v->n * sizeof *v->w);
}

static void weights_of(const char *kind, real features, const real *q, const real *k)
{
    static const attn_setup NONE = { .slope = 0 };
    static real z[N * D_HEAD];
    const rela_attn_tap tap = { see, NULL };
    const uint32_t at[] = { 0, N };
    const rela_attn_rows rows = { 1, at, at, 0 };
    const rela_attn_in in = { q, k, k, D_HEAD, D_HEAD, D_HEAD };
    attn_layer l;
    attn_layer_start_with(&l, rela_attn_kind_find(kind), &NONE, features, 1, D_HEAD, N);
    l.attn.tap = &tap;
    rela_attn_forward(&l.attn, &l.scratch, z, &in, &rows);
    attn_layer_end(&l);
}

/* The error of a weight falls with the root of the number of features. */
static void many_features_come_close_to_softmax(void **state)
{
    (void)state;
    static real q[N * D_HEAD], k[N * D_HEAD], want[N][N];
    static const real FEATURES[] = { 16, 256, 4096 };
    double errors[3] = { 0 };
    rela_rng r = rela_rng_start(5, 5);
    for (size_t i = 0; i < (size_t)N * D_HEAD; i++) {
        q[i] = (real)(0.4 * rela_rng_normal(&r));
        k[i] = (real)(0.4 * rela_rng_normal(&r));
    }
    weights_of("softmax", 0, q, k);
    memcpy(want, w, sizeof want);
    for (size_t f = 0; f < 3; f++) {
        weights_of("performer", FEATURES[f], q, k);
        for (size_t i = 0; i < (size_t)N * N; i++)
            errors[f] += fabs((double)w[i / N][i % N] - (double)want[i / N][i % N]) / (N * N);
        print_message("%4.0f features: mean error %.4f\n", (double)FEATURES[f], errors[f]);
    }
    CHECK(errors[1] < errors[0] / 2 && errors[2] < errors[1] / 2, "no better with more");
    CHECK(errors[2] < 0.1 / N, "far from softmax: %g", errors[2]);
}

static double loss_of(rela_worker *worker, uint64_t update, bool training)
{
    static const uint32_t AT[] = { 0, ROWS };
    int32_t ids[ROWS];
    for (int32_t i = 0; i < ROWS; i++)
        ids[i] = 3 + i * 7 % (VOCAB - 3);
    const rela_model_batch batch = { .streams = { { ids, AT, 1 }, { ids, AT, 1 } } };
    const rela_pass_options pass = { .training = training, .seed = 1, .update = update };
    return rela_worker_forward(worker, &batch, &pass).loss;
}

static void draws_follow_the_update_alone(void **state)
{
    (void)state;
    rela_error err;
    probe p;
    rela_worker *fresh = NULL;
    rela_config c = probe_config("performer:redraw=10", VOCAB);
    c.drop_embed = c.drop_residual = c.drop_attn = c.drop_ffn = 0;
    probe_start(&p, &c, 3, 1);
    const double first = loss_of(p.worker, 5, true), second = loss_of(p.worker, 15, true);
    CHECK(first != second && second == loss_of(p.worker, 10, true), "updates 10 and 15 differ");
    CHECK(first == loss_of(p.worker, 9, true), "updates 5 and 9 differ");
    CHECK(second == loss_of(p.worker, 19, true), "updates 15 and 19 differ");
    CHECK(first == loss_of(p.worker, 19, false), "features of training are left behind");
    CHECK_OK(rela_worker_create(&fresh, &p.net, ROWS, ROWS, true, &err), err);
    CHECK(second == loss_of(fresh, 12, true), "a resumed run has other features");
    rela_worker_destroy(fresh);
    probe_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_features_come_close_to_softmax),
        cmocka_unit_test(draws_follow_the_update_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* tests/grad/test_model.c - gradients of whole 2+2-layer models against central differences, in
 * double: every kind of attention, both norm placements, all tyings, dropout on; and of models for
 * alignment. */
#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "smallmodel.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ROWS = 24, SAMPLES = 6 };

static const int32_t SRC[] = { 3, 4, 5, 6, 2, 7, 8, 2, 9, 2 };
static const uint32_t SRC_AT[] = { 0, 5, 8, 10 };
static const int32_t TGT[] = { 5, 3, 2, 8, 9, 10, 4, 2, 6, 7, 2 };
static const uint32_t TGT_AT[] = { 0, 3, 8, 11 };

static const rela_packed BATCH = {
    .src = { SRC, SRC_AT, 3 }, .tgt = { TGT, TGT_AT, 3 }, .src_rows = 10, .tgt_rows = 11
};

/* Every sentence twice: with dropout on they differ. */
static const int32_t SRC_TWICE[] = { 3, 4, 5, 6, 2, 3, 4, 5, 6, 2, 7, 8, 2, 7, 8, 2, 9, 2, 9, 2 };
static const uint32_t SRC_TWICE_AT[] = { 0, 5, 10, 13, 16, 18, 20 };
static const int32_t TGT_TWICE[] = { 5, 3, 2,  5, 3, 2, 8, 9, 10, 4, 2,
                                     8, 9, 10, 4, 2, 6, 7, 2, 6,  7, 2 };
static const uint32_t TGT_TWICE_AT[] = { 0, 3, 6, 11, 16, 19, 22 };

static const rela_packed TWINS = { .src = { SRC_TWICE, SRC_TWICE_AT, 6 },
                                   .tgt = { TGT_TWICE, TGT_TWICE_AT, 6 },
                                   .src_rows = 20,
                                   .tgt_rows = 22 };

typedef struct probe {
    rela_net net;
    rela_worker *worker;
    real *grads;
    const rela_packed *batch;
    rela_pass_options pass;
    double step; /* of differences: wide enough for the rounding of the loss */
} probe;

/* agree: see rela_pass_options. */
static void probe_start(probe *p, const rela_config *c, double agree)
{
    rela_error err = { RELA_OK, "" };
    memset(p, 0, sizeof *p);
    CHECK_OK(rela_config_check(c, &err), err);
    CHECK_OK(rela_net_init(&p->net, c, &err), err);
    CHECK_OK(rela_worker_create(&p->worker, &p->net, ROWS, ROWS, true, &err), err);
    rela_params_init(p->net.weights, &p->net.params, 7);
    /* Biases, gains and learned head numbers start at constants: move them off special points. */
    rela_rng r = rela_rng_start(3, 1);
    for (size_t i = 0; i < p->net.params.total; i++)
        p->net.weights[i] += 0.1 * (rela_rng_real(&r) - 0.5);
    p->grads = rela_mem_zalloc(p->net.params.total * sizeof *p->grads);
    p->batch = agree > 0 ? &TWINS : &BATCH;
    p->pass = (rela_pass_options){
        .training = true, .seed = 5, .update = 9, .loss = { .smooth = 0.1, .agree = agree }
    };
    p->step = agree > 0 ? 5e-5 : 2e-5;
    (void)rela_worker_train(p->worker, p->grads, p->batch, &p->pass);
}

static void probe_end(probe *p)
{
    rela_mem_free(p->grads);
    rela_worker_destroy(p->worker);
    rela_net_deinit(&p->net);
}

static double loss_at(probe *p, size_t at, double value)
{
    const double old = p->net.weights[at];
    p->net.weights[at] = value;
    const double loss = rela_worker_forward(p->worker, p->batch, &p->pass).loss;
    p->net.weights[at] = old;
    return loss;
}

static double slope(probe *p, size_t at, double h)
{
    const double x = p->net.weights[at];
    return (loss_at(p, at, x + h) - loss_at(p, at, x - h)) / (2 * h);
}

/* Relative difference of the analytic and the numeric derivative (central differences of two
 * steps, extrapolated). Where the two steps disagree the function has a kink nearby, a rectified
 * score that changes its sign: such an entry says nothing. */
static double gap(probe *p, size_t at, bool *kink)
{
    const double h = p->step, wide = slope(p, at, h), narrow = slope(p, at, h / 2);
    const double numeric = (4 * narrow - wide) / 3, analytic = p->grads[at];
    const double scale = fabs(numeric) + fabs(analytic) + 1e-3;
    *kink = fabs(wide - narrow) > 1e-5 * scale;
    return fabs(numeric - analytic) / scale;
}

static double worst_gap(probe *p, const char **where)
{
    double worst = 0;
    rela_rng r = rela_rng_start(11, 2);
    size_t n_kinks = 0, n = 0;
    for (size_t i = 0; i < p->net.params.n; i++) {
        const rela_param *q = &p->net.params.items[i];
        for (int j = 0; j < SAMPLES; j++) {
            bool kink = false;
            const size_t at = q->offset + (size_t)rela_rng_below(&r, rela_param_count(q));
            const double g = gap(p, at, &kink);
            n++;
            n_kinks += kink;
            if (!kink && g > worst) {
                worst = g;
                *where = q->name;
            }
        }
    }
    CHECK(n_kinks * 5 < n, "%zu of %zu entries at kinks", n_kinks, n);
    return worst;
}

static void check_pass(const rela_config *c, double agree, const char *what)
{
    probe p;
    const char *where = "";
    probe_start(&p, c, agree);
    const double worst = worst_gap(&p, &where);
    print_message("%-12s %-24s %.1e at %s\n", c->attention[0].text, what, worst, where);
    CHECK(worst <= 1e-6, "%s, %s: %.3e at %s", c->attention[0].text, what, worst, where);
    probe_end(&p);
}

static void check(const rela_config *c, const char *what)
{
    check_pass(c, 0, what);
}

static void every_kind_has_exact_gradients(void **state)
{
    (void)state;
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        const rela_config c = small_model(rela_attn_kind_at(i));
        check(&c, "post-norm");
    }
}

static void every_shape_has_exact_gradients(void **state)
{
    (void)state;
    rela_config c = small_model(rela_attn_kind_find("rela-g"));
    c.pre_norm = true;
    check(&c, "pre-norm");
    c.norm_per_head = true;
    c.tie = RELA_TIE_OUT;
    check(&c, "pre-norm, per head, tie out");
    c.pre_norm = false;
    c.tie = RELA_TIE_NONE;
    check(&c, "per head, no tying");
    c = small_model(rela_attn_kind_find("softmax"));
    set_attention(&c, RELA_ATTN_CROSS, "rela-i");
    set_attention(&c, RELA_ATTN_DEC, "rela-g");
    check(&c, "mixed kinds");
}

static void agreement_has_exact_gradients(void **state)
{
    (void)state;
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        const rela_config c = small_model(rela_attn_kind_at(i));
        check_pass(&c, 4, "agreement of twins");
    }
}

/* Sentences of the batch are as different in length as the sides of a pair. */
static void alignment_has_exact_gradients(void **state)
{
    (void)state;
    size_t n = 0;
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        rela_error err = { RELA_OK, "" };
        rela_config c = small_model(rela_attn_kind_at(i));
        c.task = RELA_TASK_ALIGN;
        c.heads = c.enc_layers = c.dec_layers = 1;
        c.tie = RELA_TIE_OUT;
        if (rela_config_check(&c, &err) != RELA_OK)
            continue; /* a kind with more than a row function */
        check(&c, "alignment");
        n++;
    }
    CHECK(n >= 8, "%zu kinds", n);
}

/* The check must be able to fail: an error of a thousandth in one gradient is seen. */
static void planted_fault_is_caught(void **state)
{
    (void)state;
    probe p;
    const char *where = "";
    const rela_config c = small_model(rela_attn_kind_find("rela-g"));
    probe_start(&p, &c, 0);
    const rela_param *q = rela_params_find(&p.net.params, "enc.1.self.norm.gate");
    for (size_t i = 0; i < rela_param_count(q); i++)
        p.grads[q->offset + i] *= 1.001;
    CHECK(worst_gap(&p, &where) > 1e-6, "not noticed");
    CHECK(strcmp(where, q->name) == 0, "blamed %s", where);
    probe_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_exact_gradients),
        cmocka_unit_test(every_shape_has_exact_gradients),
        cmocka_unit_test(agreement_has_exact_gradients),
        cmocka_unit_test(alignment_has_exact_gradients),
        cmocka_unit_test(planted_fault_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

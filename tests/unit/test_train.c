/* SPDX-License-Identifier: MIT */
/* tests/unit/test_train.c - schedules by their formulas; an update is reproducible, allocates
 * nothing, learns, and never lets a number that is not finite reach the weights. */
#include "base/mem.h"
#include "base/par.h"
#include "check.h"
#include "copying.h"
#include "train/schedule.h"
#include "train/update.h"

#include <math.h>
#include <string.h>

typedef struct model {
    rela_net net;
    rela_updater *updater;
} model;

static void model_start_with(model *m, const char *kind, int n_threads, double dropout,
                             double r_drop)
{
    rela_error err = { RELA_OK, "" };
    const rela_update_options o = { .n_threads = n_threads,
                                    .micro_batch_rows = 64,
                                    .beta1 = 0.9,
                                    .beta2 = 0.98,
                                    .epsilon = 1e-8,
                                    .smooth = 0.1,
                                    .r_drop = r_drop,
                                    .seed = 3 };
    make_net(&m->net, kind, dropout);
    CHECK_OK(rela_par_start(n_threads, &err), err);
    CHECK_OK(rela_updater_create(&m->updater, &m->net, &o, &err), err);
}

static void model_start(model *m, const char *kind, int n_threads, double dropout)
{
    model_start_with(m, kind, n_threads, dropout, 0);
}

static void model_end(model *m)
{
    rela_updater_destroy(m->updater);
    rela_par_end();
    rela_net_deinit(&m->net);
}

static rela_update_result step(model *m, const text *t, uint64_t number)
{
    rela_error err = { RELA_OK, "" };
    rela_update_result r;
    const rela_model_batch u = update_of(t);
    CHECK_OK(rela_updater_run(m->updater, &r, &u, number, 1e-3, &err), err);
    return r;
}

static void schedules_follow_their_formulas(void **state)
{
    (void)state;
    rela_schedule s = { .kind = RELA_SCHEDULE_NOAM, .rate = 2, .warmup = 4000, .d = 512 };
    CHECK(fabs(rela_schedule_rate(&s, 100) - 2 / sqrt(512) * 100 * pow(4000, -1.5)) < 1e-12,
          "rise");
    CHECK(fabs(rela_schedule_rate(&s, 9000) - 2 / sqrt(512) / sqrt(9000)) < 1e-12, "fall");
    s = (rela_schedule){
        .kind = RELA_SCHEDULE_INVERSE_SQRT, .rate = 5e-3, .start = 1e-7, .warmup = 2000
    };
    CHECK(fabs(rela_schedule_rate(&s, 500) - (1e-7 + (5e-3 - 1e-7) * 0.25)) < 1e-15, "rise");
    CHECK(fabs(rela_schedule_rate(&s, 2000) - 5e-3) < 1e-15, "peak");
    CHECK(fabs(rela_schedule_rate(&s, 8000) - 2.5e-3) < 1e-15, "fall");
    s = (rela_schedule){ .kind = RELA_SCHEDULE_COSINE, .rate = 1, .least = 0.1, .updates = 100 };
    CHECK(fabs(rela_schedule_rate(&s, 50) - 0.55) < 1e-12, "middle of the cosine");
    CHECK(fabs(rela_schedule_rate(&s, 100) - 0.1) < 1e-12, "end of the cosine");
    s.kind = RELA_SCHEDULE_LINEAR;
    CHECK(fabs(rela_schedule_rate(&s, 75) - 0.325) < 1e-12, "linear");
    s.kind = RELA_SCHEDULE_CONSTANT;
    CHECK(rela_schedule_rate(&s, 75) == 1, "constant");
    s.cool = 20;
    CHECK(rela_schedule_rate(&s, 80) == 1, "before cooling down");
    CHECK(fabs(rela_schedule_rate(&s, 90) - 0.55) < 1e-12, "half of cooling down");
    CHECK(fabs(rela_schedule_rate(&s, 100) - 0.1) < 1e-12, "end of cooling down");
    CHECK(fabs(rela_schedule_rate(&s, 101) - 0.1) < 1e-12, "after it");
}

/* The weights after some updates, on so many threads. */
static real *trained(int n_threads, double r_drop, size_t *n)
{
    model m;
    text t;
    model_start_with(&m, "rela-g", n_threads, 0.2, r_drop);
    for (uint64_t u = 1; u <= 5; u++) {
        make_text(&t, u);
        (void)step(&m, &t, u);
    }
    *n = m.net.params.total * sizeof(real);
    real *weights = rela_mem_alloc(*n);
    assert_non_null(weights);
    memcpy(weights, m.net.weights, *n);
    model_end(&m);
    return weights;
}

/* Fewer and more threads than gradient slots, and numbers that do not divide them. */
static void the_number_of_threads_changes_no_byte(void **state)
{
    (void)state;
    for (int r_drop = 0; r_drop < 2; r_drop++) {
        size_t n = 0;
        real *one = trained(1, r_drop, &n);
        for (int threads = 2; threads <= 5; threads++) {
            real *other = trained(threads, r_drop, &n);
            CHECK(memcmp(one, other, n) == 0, "%d threads", threads);
            rela_mem_free(other);
        }
        rela_mem_free(one);
    }
}

/* Without dropout both draws predict the same: nothing to kl_weight on, and the mean is either. */
static void r_drop_pairs_without_dropout_are_one(void **state)
{
    (void)state;
    model a, b;
    text t;
    model_start_with(&a, "softmax", 1, 0, 0);
    model_start_with(&b, "softmax", 1, 0, 5);
    for (uint64_t i = 1; i <= 5; i++) {
        make_text(&t, i);
        const rela_update_result x = step(&a, &t, i), y = step(&b, &t, i);
        CHECK(fabs(x.loss - y.loss) <= 1e-5 * x.loss && fabs(x.nll - y.nll) <= 1e-5 * x.nll &&
                  fabs(x.grad_norm - y.grad_norm) <= 1e-4 * x.grad_norm,
              "update %d: loss %.9g and %.9g, norm %.9g and %.9g", (int)i, x.loss, y.loss,
              x.grad_norm, y.grad_norm);
    }
    model_end(&a);
    model_end(&b);
}

static void steady_state_allocates_nothing(void **state)
{
    (void)state;
    model m;
    text t;
    rela_memory_stats before, after;
    model_start(&m, "rela-g", 2, 0.1);
    make_text(&t, 1);
    (void)step(&m, &t, 1);
    before = memory_now();
    for (uint64_t i = 2; i <= 4; i++) {
        make_text(&t, i);
        (void)step(&m, &t, i);
    }
    after = memory_now();
    CHECK(before.calls == after.calls, "%d allocations", (int)(after.calls - before.calls));
    model_end(&m);
}

static void bad_numbers_never_reach_the_weights(void **state)
{
    (void)state;
    model m;
    text t;
    model_start(&m, "rela-g", 2, 0);
    make_text(&t, 1);
    (void)step(&m, &t, 1);
    const size_t bytes = m.net.params.total * sizeof(real);
    const rela_param *p = rela_params_find(&m.net.params, "enc.0.ffn.up.weight");
    m.net.weights[p->offset] = NAN; /* as a flipped bit would leave it */
    real *before = rela_mem_alloc(bytes);
    memcpy(before, m.net.weights, bytes);
    const rela_update_result r = step(&m, &t, 2);
    CHECK(r.skipped, "not noticed");
    CHECK(memcmp(before, m.net.weights, bytes) == 0, "weights were changed");
    CHECK(rela_updater_count(m.updater) == 1, "the optimiser counted it");
    m.net.weights[p->offset] = 0;
    CHECK(!step(&m, &t, 3).skipped, "gradients of the bad update are still there");
    rela_mem_free(before);
    model_end(&m);
}

static void copying_is_learned(void **state)
{
    (void)state;
    static const char *const KINDS[] = { "softmax", "rela-g", "rela-i" };
    for (size_t k = 0; k < sizeof KINDS / sizeof KINDS[0]; k++) {
        model m;
        text t;
        double first = 0, last = 0;
        model_start(&m, KINDS[k], 2, 0);
        for (uint64_t i = 1; i <= 200; i++) {
            make_text(&t, i);
            const rela_update_result r = step(&m, &t, i);
            last = r.nll / (double)r.tgt_tokens;
            first = i == 1 ? last : first;
        }
        CHECK(last < 0.6 * first, "%s: nll %.3f after %.3f", KINDS[k], last, first);
        model_end(&m);
    }
}

static void sentence_mean_weighs_sentences_equally(void **state)
{
    (void)state;
    model m;
    text t;
    rela_update_result r, sum = { 0 };
    rela_error err = { RELA_OK, "" };
    model_start(&m, "softmax", 1, 0);
    make_text(&t, 1);
    rela_updater_destroy(m.updater);
    const rela_update_options o = { .n_threads = 2, .sentence_mean = true, .smooth = 0.1 };
    CHECK_OK(rela_updater_create(&m.updater, &m.net, &o, &err), err);
    const rela_model_batch all = update_of(&t);
    CHECK_OK(rela_updater_score(m.updater, &sum, &all, &err), err);
    double mean = 0;
    for (int i = 0; i < SENTENCES; i++) {
        const uint32_t at[2] = { 0, t.at[i + 1] - t.at[i] };
        const rela_model_batch one = { .streams = { { t.ids + t.at[i], at, 1 },
                                                    { t.ids + t.at[i], at, 1 } } };
        CHECK_OK(rela_updater_score(m.updater, &r, &one, &err), err);
        mean += r.loss;
    }
    CHECK(fabs(mean - sum.loss) < 1e-4 * mean, "%.6f and %.6f", mean, sum.loss);
    model_end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_follow_their_formulas),
        cmocka_unit_test(the_number_of_threads_changes_no_byte),
        cmocka_unit_test(r_drop_pairs_without_dropout_are_one),
        cmocka_unit_test(steady_state_allocates_nothing),
        cmocka_unit_test(bad_numbers_never_reach_the_weights),
        cmocka_unit_test(copying_is_learned),
        cmocka_unit_test(sentence_mean_weighs_sentences_equally),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* tests/unit/test_ranks.c - ranks as threads: an update has the same bytes on any number of them, a
 * failure of one is that of all, and what differs between them is named. */
#include "base/mem.h"
#include "copying.h"
#include "thread_ranks.h"

#include <math.h>
#include <stdatomic.h>

enum { UPDATES = 4 };

/* What a run is made of, and what it leaves. */
typedef struct run {
    int n_threads;
    size_t slots, groups;
    double r_drop;
    uint64_t first;    /* update, from 1 */
    const real *start; /* weights and moments, NULL: none */
    real *result;      /* weights, m, v: of rank 0 */
    size_t n;          /* parameters */
} run;

static void train(rela_world *w, void *ctx)
{
    run *r = ctx;
    rela_net net;
    rela_updater *s = NULL;
    rela_error err = { RELA_OK, "" };
    rela_update_options o = clipped_steps(w, r->n_threads, r->slots, r->groups);
    o.smooth = 0.1;
    o.r_drop = r->r_drop;
    make_net(&net, "rela-g", 0.2);
    CHECK_OK(rela_updater_create(&s, &net, &o, &err), err);
    const size_t n = net.params.total;
    if (r->start) {
        memcpy(net.weights, r->start, n * sizeof(real));
        rela_updater_set_moment(s, 0, r->start + n);
        rela_updater_set_moment(s, 1, r->start + 2 * n);
        rela_updater_set_count(s, r->first - 1);
    }
    for (uint64_t u = r->first; u < r->first + UPDATES; u++) {
        text t;
        rela_update_result result;
        make_text(&t, u);
        const rela_model_batch p = update_of(&t);
        CHECK_OK(rela_updater_run(s, &result, &p, u, 1e-3, &err), err);
        CHECK(!result.skipped && result.loss > 0, "update %d", (int)u);
    }
    const real *m = rela_updater_moment(s, 0), *v = rela_updater_moment(s, 1);
    if (rela_world_rank(w) == 0) {
        CHECK(m && v && m != v, "two arrays");
        r->n = n;
        r->result = rela_mem_alloc(3 * n * sizeof(real));
        memcpy(r->result, net.weights, n * sizeof(real));
        memcpy(r->result + n, m, n * sizeof(real));
        memcpy(r->result + 2 * n, v, n * sizeof(real));
    }
    rela_updater_destroy(s);
    rela_net_deinit(&net);
}

static void check_same(const run *a, const run *b, size_t ranks)
{
    CHECK(a->n == b->n && memcmp(a->result, b->result, 3 * a->n * sizeof(real)) == 0,
          "%zu ranks of %d threads, %zu slots in %zu groups", ranks, b->n_threads, b->slots,
          b->groups);
}

/* With dropout, R-Drop and clipping; numbers that divide slots or groups and others, fewer and more
 * ranks than groups. */
static void the_number_of_ranks_changes_no_byte(void **state)
{
    static const size_t SLOTS[] = { 1, 4, 7, 4, 4, 6, 8, 9 }, GROUPS[] = { 1, 1, 1, 2, 4, 2, 4, 3 };
    (void)state;
    for (size_t i = 0; i < sizeof SLOTS / sizeof SLOTS[0]; i++) {
        run one = { .n_threads = 2,
                    .slots = SLOTS[i],
                    .groups = GROUPS[i],
                    .r_drop = SLOTS[i] == 4 ? 1 : 0,
                    .first = 1 };
        train(NULL, &one);
        run alone = one;
        alone.n_threads = 1;
        train(NULL, &alone);
        check_same(&one, &alone, 1);
        rela_mem_free(alone.result);
        for (size_t ranks = 2; ranks <= 5; ranks++)
            for (int threads = 1; threads <= 2; threads++) {
                run other = one;
                other.n_threads = threads;
                run_thread_ranks(ranks, train, &other);
                check_same(&one, &other, ranks);
                rela_mem_free(other.result);
            }
        rela_mem_free(one.result);
    }
}

static void a_run_goes_on_with_other_ranks(void **state)
{
    (void)state;
    static const size_t RANKS[] = { 4, 1, 2 };
    run whole = { .n_threads = 1, .slots = 4, .first = 1 }, parts = whole;
    for (size_t i = 0; i < 3; i++) {
        const run before = parts, old = whole;
        parts =
            (run){ .n_threads = 1, .slots = 4, .first = 1 + i * UPDATES, .start = before.result };
        whole = (run){ .n_threads = 2, .slots = 4, .first = 1 + i * UPDATES, .start = old.result };
        run_thread_ranks(RANKS[i], train, &parts);
        train(NULL, &whole);
        check_same(&whole, &parts, RANKS[i]);
        rela_mem_free(before.result);
        rela_mem_free(old.result);
    }
    rela_mem_free(parts.result);
    rela_mem_free(whole.result);
}

/* As a flipped bit in the memory of one rank would leave it. */
static void train_with_nan(rela_world *w, void *ctx)
{
    rela_net net;
    rela_updater *s = NULL;
    rela_error err = { RELA_OK, "" };
    text t;
    rela_update_result result;
    const rela_update_options o = {
        .n_threads = 1, .beta1 = 0.9, .beta2 = 0.98, .epsilon = 1e-8, .world = w
    };
    (void)ctx;
    make_net(&net, "rela-g", 0);
    CHECK_OK(rela_updater_create(&s, &net, &o, &err), err);
    make_text(&t, 1);
    const rela_model_batch u = update_of(&t);
    const rela_param *p = rela_params_find(&net.params, "enc.0.ffn.up.weight");
    const real good = net.weights[p->offset];
    if (rela_world_rank(w) == 1)
        net.weights[p->offset] = NAN;
    CHECK_OK(rela_updater_run(s, &result, &u, 1, 1e-3, &err), err);
    CHECK(result.skipped, "rank %zu goes on", rela_world_rank(w));
    CHECK(rela_updater_count(s) == 0, "rank %zu counts it", rela_world_rank(w));
    CHECK(strcmp(rela_updater_not_finite(s), "the loss") != 0, "no parameter is named");
    net.weights[p->offset] = good;
    CHECK_OK(rela_updater_run(s, &result, &u, 2, 1e-3, &err), err);
    CHECK(!result.skipped, "the bad gradients are still there");
    rela_updater_destroy(s);
    rela_net_deinit(&net);
}

static void a_bad_number_of_one_rank_is_skipped_by_all(void **state)
{
    (void)state;
    run_thread_ranks(3, train_with_nan, NULL);
}

/* Answers yes from a certain call on. */
typedef struct stopping {
    atomic_int n, after; /* calls so far; after below 0: never */
} stopping;

static int is_stopped(void *ctx)
{
    stopping *s = ctx;
    const int after = atomic_load(&s->after);
    return atomic_fetch_add(&s->n, 1) >= after && after >= 0;
}

static void train_and_stop(rela_world *w, void *ctx)
{
    const run *r = ctx;
    rela_net net;
    rela_updater *s = NULL;
    rela_error err = { RELA_OK, "" };
    text t;
    rela_update_result result;
    stopping stops = { 0, -1 };
    rela_update_options o = clipped_steps(w, r->n_threads, r->slots, r->groups);
    o.stop = (rela_stop){ is_stopped, &stops };
    make_net(&net, "rela-g", 0.2);
    CHECK_OK(rela_updater_create(&s, &net, &o, &err), err);
    const size_t bytes = net.params.total * sizeof(real);
    real *before = rela_mem_alloc(2 * bytes), *whole = before + net.params.total;
    memcpy(before, net.weights, bytes);
    make_text(&t, 1);
    const rela_model_batch u = update_of(&t);
    /* In the first block, between micro-batches, in the backward pass; by the last rank alone. */
    for (int after = 0; after < 24; after += 4) {
        atomic_store(&stops.n, 0);
        atomic_store(&stops.after, rela_world_rank(w) + 1 == rela_world_size(w) ? after : -1);
        CHECK(rela_updater_run(s, &result, &u, 1, 1e-3, &err) == RELA_CANCEL, "after %d", after);
        CHECK(memcmp(before, net.weights, bytes) == 0 && rela_updater_count(s) == 0,
              "an update was made");
        CHECK(after > 8 || rela_updater_score(s, &result, &u, &err) == RELA_CANCEL,
              "a score after %d", after);
    }
    atomic_store(&stops.after, -1);
    CHECK_OK(rela_updater_run(s, &result, &u, 1, 1e-3, &err), err);
    memcpy(whole, net.weights, bytes);
    rela_updater_destroy(s);
    memcpy(net.weights, before, bytes);
    CHECK_OK(rela_updater_create(&s, &net, &o, &err), err);
    CHECK_OK(rela_updater_run(s, &result, &u, 1, 1e-3, &err), err);
    CHECK(memcmp(whole, net.weights, bytes) == 0, "what was dropped is in the next update");
    rela_updater_destroy(s);
    rela_mem_free(before);
    rela_net_deinit(&net);
}

static void a_stop_of_one_rank_drops_the_update_of_all(void **state)
{
    (void)state;
    static const struct {
        size_t ranks, slots, groups;
    } SHAPES[] = { { 1, 4, 1 }, { 1, 4, 2 }, { 2, 4, 1 }, { 3, 6, 3 }, { 2, 4, 4 } };
    for (size_t i = 0; i < sizeof SHAPES / sizeof SHAPES[0]; i++) {
        run r = { .n_threads = 1 + (int)(i % 2),
                  .slots = SHAPES[i].slots,
                  .groups = SHAPES[i].groups };
        run_thread_ranks(SHAPES[i].ranks, train_and_stop, &r);
    }
}

static void stop_on_one(rela_world *w, void *ctx)
{
    stopping stops = { 0, rela_world_rank(w) == 1 ? 0 : -1 };
    const rela_stop own = { is_stopped, &stops };
    (void)ctx;
    CHECK(!rela_world_stopping(w), "nobody was asked");
    (void)rela_world_max(w, 0);
    rela_world_set_stop(w, &own);
    (void)rela_world_max(w, 0);
    CHECK(rela_world_stopping(w), "rank %zu does not know", rela_world_rank(w));
    (void)rela_world_max(w, 0);
    rela_world_set_stop(w, NULL);
    (void)rela_world_max(w, 0);
}

static void all_ranks_learn_that_one_is_to_stop(void **state)
{
    (void)state;
    run_thread_ranks(3, stop_on_one, NULL);
    rela_world_set_stop(NULL, NULL);
    CHECK(!rela_world_stopping(NULL), "one process");
}

static void fail_on_two(rela_world *w, void *ctx)
{
    rela_error err = { RELA_OK, "" };
    const size_t rank = rela_world_rank(w);
    (void)ctx;
    CHECK_OK(rela_world_agree(w, RELA_OK, &err), err);
    const rela_status own = rank >= 2 ? rela_fail(&err, RELA_FORMAT, "line %zu", rank) : RELA_OK;
    CHECK(rela_world_agree(w, own, &err) == RELA_FORMAT, "rank %zu", rank);
    CHECK(strncmp(err.message, "rank 2 on ", 10) == 0 && strstr(err.message, ": line 2"), "%s",
          err.message);
    CHECK(rela_world_agree(w, RELA_FORMAT, &err) == RELA_FORMAT && !strstr(err.message, "rank 2 on "
                                                                                        "rank"),
          "said twice");
}

static void a_failure_of_one_rank_is_that_of_all(void **state)
{
    (void)state;
    run_thread_ranks(4, fail_on_two, NULL);
}

static void differ(rela_world *w, void *ctx)
{
    rela_error err = { RELA_OK, "" };
    const size_t rank = rela_world_rank(w);
    (void)ctx;
    CHECK_OK(rela_world_same(w, "lr: 1\nseed: 3\n", &err), err);
    CHECK(rela_world_same(w, rank == 1 ? "lr: 1\nseed: 4\n" : "lr: 1\nseed: 3\n", &err) ==
              RELA_STATE,
          "rank %zu", rank);
    CHECK(strstr(err.message, ": seed is 4, but 3 on rank 0 ("), "%s", err.message);
}

static void what_differs_is_named_with_both_values(void **state)
{
    (void)state;
    run_thread_ranks(3, differ, NULL);
}

static void exchange(rela_world *w, void *ctx)
{
    rela_error err = { RELA_OK, "" };
    rela_buffer b = RELA_BUFFER_INIT;
    const size_t rank = rela_world_rank(w), size = rela_world_size(w);
    (void)ctx;
    CHECK(rela_world_max(w, 10 - (int64_t)rank) == 10, "largest");
    CHECK(rela_world_min(w, 10 - (int64_t)rank) == 11 - (int64_t)size, "smallest");
    if (rank == 0)
        CHECK_OK(rela_buffer_append(&b, "some text", 9, &err), err);
    CHECK_OK(rela_world_broadcast_text(w, &b, &err), err);
    CHECK(b.len == 9 && strcmp(b.data, "some text") == 0, "'%s'", b.data);
    rela_buffer_free(&b);
    CHECK(rela_world_local_size(w) == size && rela_world_local_rank(w) == rank, "one host");
}

static void values_and_texts_reach_all_ranks(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 5; n++)
        run_thread_ranks(n, exchange, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_texts_reach_all_ranks),
        cmocka_unit_test(a_failure_of_one_rank_is_that_of_all),
        cmocka_unit_test(what_differs_is_named_with_both_values),
        cmocka_unit_test(the_number_of_ranks_changes_no_byte),
        cmocka_unit_test(a_run_goes_on_with_other_ranks),
        cmocka_unit_test(a_bad_number_of_one_rank_is_skipped_by_all),
        cmocka_unit_test(a_stop_of_one_rank_drops_the_update_of_all),
        cmocka_unit_test(all_ranks_learn_that_one_is_to_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

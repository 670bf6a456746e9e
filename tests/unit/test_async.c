/* SPDX-License-Identifier: MIT */
/* tests/unit/test_async.c - requests that come at any time: the bytes of rela_translate, each ends
 * once, whatever is cancelled beside it. */
#include "api_model.h"
#include "check.h"

#include "base/clock.h"
#include "rela/async.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { ROUNDS = 20, REQUESTS = ROUNDS * TEXTS };

typedef struct answers {
    pthread_mutex_t lock;
    uint64_t ids[REQUESTS];
    rela_result *results[REQUESTS];
    rela_status statuses[REQUESTS];
    _Atomic int ended;
} answers;

typedef struct slot {
    answers *all;
    size_t number;
} slot;

static void on_end(void *ctx, uint64_t id, rela_result *result, const rela_error *err)
{
    const slot *s = ctx;
    (void)pthread_mutex_lock(&s->all->lock);
    s->all->ids[s->number] = id;
    s->all->results[s->number] = result;
    s->all->statuses[s->number] = err->status;
    (void)pthread_mutex_unlock(&s->all->lock);
    atomic_fetch_add(&s->all->ended, 1);
}

static rela_async *make_async(const world *w, int threads)
{
    rela_async *a = NULL;
    rela_async_options o;
    rela_error err;
    const rela_model *models[] = { w->model };
    rela_async_options_init(&o, sizeof o);
    o.n_threads = threads;
    CHECK_OK(rela_async_create(&a, models, 1, &o, &err), err);
    return a;
}

static uint64_t submit(rela_async *a, const char *text, double seconds, slot *s)
{
    rela_async_request r;
    rela_error err;
    uint64_t id = 0;
    rela_async_request_init(&r, sizeof r);
    r.texts = &text;
    r.seconds = seconds;
    r.on_end = s ? on_end : NULL;
    r.ctx = s;
    CHECK_OK(rela_async_submit(a, &id, &r, &err), err);
    CHECK(id != 0, "a request without a name");
    return id;
}

static void requests_end_as_if_alone(void **state)
{
    (void)state;
    world w;
    static answers all;
    static slot slots[REQUESTS];
    rela_error err;
    rela_result *want = NULL;
    world_start(&w, 2);
    CHECK_OK(rela_translate(&want, w.session, texts, NULL, TEXTS, NULL, &err), err);
    rela_async *a = make_async(&w, 3);
    (void)pthread_mutex_init(&all.lock, NULL);
    for (size_t i = 0; i < REQUESTS; i++) {
        slots[i] = (slot){ &all, i };
        const uint64_t id = submit(a, texts[i % TEXTS], 0, &slots[i]);
        if (i % 7 == 3)
            rela_async_cancel(a, id);
    }
    rela_async_stop(a, true);
    assert_int_equal(atomic_load(&all.ended), REQUESTS);
    for (size_t i = 0; i < REQUESTS; i++) {
        CHECK(all.ids[i] == i + 1, "another name");
        if (all.statuses[i] == RELA_OK)
            assert_string_equal(rela_result_text(all.results[i], 0, 0),
                                rela_result_text(want, i % TEXTS, 0));
        else
            CHECK(all.statuses[i] == RELA_CANCEL && i % 7 == 3 && !all.results[i], "request %zu",
                  i);
        rela_result_free(all.results[i]);
    }
    rela_async_destroy(a);
    rela_result_free(want);
    (void)pthread_mutex_destroy(&all.lock);
    world_end(&w);
}

static void results_can_be_fetched(void **state)
{
    (void)state;
    world w;
    rela_error err;
    rela_result *r = NULL;
    bool done = false;
    world_start(&w, 1);
    rela_async *a = make_async(&w, 1);
    const uint64_t id = submit(a, texts[0], 0, NULL), other = submit(a, texts[1], 0, NULL);
    CHECK_OK(rela_async_wait(&r, &done, a, id, -1, &err), err);
    assert_true(done && r && rela_result_count(r) == 1);
    rela_result_free(r);
    assert_int_equal(rela_async_wait(&r, &done, a, id, 0, &err), RELA_ARG);
    assert_int_equal(rela_async_wait(&r, &done, a, 12345, 0, &err), RELA_ARG);
    while (!done)
        CHECK_OK(rela_async_wait(&r, &done, a, other, 0.001, &err), err);
    rela_result_free(r);
    (void)submit(a, texts[2], 0, NULL); /* not fetched: freed at the end */
    rela_async_destroy(a);
    world_end(&w);
}

static void cancelled_and_late_requests_say_so(void **state)
{
    (void)state;
    world w;
    rela_error err;
    rela_result *r = NULL;
    bool done = false;
    world_start(&w, 1);
    rela_async *a = make_async(&w, 1);
    for (size_t i = 0; i < TEXTS; i++)
        (void)submit(a, texts[i], 0, NULL);
    const uint64_t late = submit(a, texts[0], 1e-9, NULL), id = submit(a, texts[0], 0, NULL);
    rela_async_cancel(a, id);
    rela_async_cancel(a, id);
    rela_async_cancel(a, 99999);
    assert_int_equal(rela_async_wait(&r, &done, a, id, -1, &err), RELA_CANCEL);
    assert_true(done && !r && strstr(err.message, "cancelled"));
    assert_int_equal(rela_async_wait(&r, &done, a, late, -1, &err), RELA_CANCEL);
    assert_true(done && strstr(err.message, "deadline"));
    rela_async_load load = { .struct_size = sizeof load };
    CHECK_OK(rela_async_load_get(&load, a, &err), err);
    rela_async_destroy(a);
    world_end(&w);
}

static void what_cannot_be_submitted_is_refused(void **state)
{
    (void)state;
    world w;
    rela_error err;
    uint64_t id = 0;
    world_start(&w, 1);
    rela_async *a = make_async(&w, 1);
    rela_async_request r;
    rela_async_request_init(&r, sizeof r);
    r.texts = texts;
    assert_int_equal(rela_async_submit(a, NULL, &r, &err), RELA_ARG);
    r.struct_size = 0;
    assert_int_equal(rela_async_submit(a, &id, &r, &err), RELA_ARG);
    rela_async_request_init(&r, sizeof r);
    r.texts = texts;
    rela_async_stop(a, true);
    assert_int_equal(rela_async_submit(a, &id, &r, &err), RELA_STATE);
    rela_async_destroy(a);
    rela_async_destroy(NULL);
    assert_string_equal(rela_model_language(w.model, 0), "en");
    assert_string_equal(rela_model_language(w.model, 1), "de");
    assert_null(rela_model_language(w.model, 2));
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_end_as_if_alone),
        cmocka_unit_test(results_can_be_fetched),
        cmocka_unit_test(cancelled_and_late_requests_say_so),
        cmocka_unit_test(what_cannot_be_submitted_is_refused),
    };
    return cmocka_run_group_tests(tests, make_model, remove_model);
}

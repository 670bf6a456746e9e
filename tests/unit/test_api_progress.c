/* SPDX-License-Identifier: MIT */
/* tests/unit/test_api_progress.c - rela_translate and rela_score report progress on the calling
 * thread and stop when the callback asks for it. */
#include "api_model.h"

#include <pthread.h>

enum { MANY = 200 * TEXTS };

typedef struct seen {
    pthread_t thread;
    unsigned calls;
    bool elsewhere, backwards;
    uint64_t done, total;
    uint64_t stop_at; /* calls; 0: never */
    bool stop_when_done;
} seen;

static const char *many[MANY];
static world w;

static int see(void *ctx, uint64_t done, uint64_t total)
{
    seen *s = ctx;
    s->calls++;
    s->elsewhere = s->elsewhere || !pthread_equal(s->thread, pthread_self());
    s->backwards = s->backwards || done < s->done || (total && done > total);
    s->done = done;
    s->total = total;
    return s->calls == s->stop_at || (s->stop_when_done && done > 0);
}

static rela_status translate(rela_result **r, seen *s, size_t n, rela_error *err)
{
    rela_translate_options o;
    rela_translate_options_init(&o, sizeof o);
    o.progress = see;
    o.progress_ctx = s;
    s->thread = pthread_self();
    return rela_translate(r, w.session, many, NULL, n, &o, err);
}

static rela_status score(rela_scores **r, seen *s, size_t n, rela_error *err)
{
    const rela_pairs pairs = { .src = many, .tgt = many, .n = n };
    rela_score_options o;
    rela_score_options_init(&o, sizeof o);
    o.batch_tokens = 64;
    o.progress = see;
    o.progress_ctx = s;
    s->thread = pthread_self();
    return rela_score(r, w.session, &pairs, &o, err);
}

/* Another call of the session works as if nothing had been. */
static void check_usable(void)
{
    rela_error err = { RELA_OK, "" };
    rela_result *r = NULL;
    CHECK_OK(rela_translate(&r, w.session, many, NULL, TEXTS, NULL, &err), err);
    CHECK(rela_result_count(r) == TEXTS, "%zu results", rela_result_count(r));
    rela_result_free(r);
}

static void check_seen(const seen *s, uint64_t total)
{
    CHECK(s->calls >= 2, "%u calls; expected one at the start and one at the end", s->calls);
    CHECK(!s->elsewhere, "called on another thread");
    CHECK(!s->backwards, "the amount done decreased, or passed the total");
    CHECK(s->done == total && s->total == total, "%llu of %llu done", (unsigned long long)s->done,
          (unsigned long long)s->total);
}

static void progress_ends_with_the_total(void **state)
{
    (void)state;
    for (int n_threads = 1; n_threads <= 3; n_threads += 2) {
        rela_error err = { RELA_OK, "" };
        rela_result *r = NULL;
        rela_scores *x = NULL;
        seen a = { .calls = 0 }, b = { .calls = 0 };
        world_start(&w, n_threads);
        CHECK_OK(translate(&r, &a, TEXTS, &err), err);
        CHECK_OK(score(&x, &b, TEXTS, &err), err);
        check_seen(&a, TEXTS);
        check_seen(&b, TEXTS);
        rela_result_free(r);
        rela_scores_free(x);
        world_end(&w);
    }
}

static void check_stopped(seen translated, seen scored, size_t n)
{
    rela_error err = { RELA_OK, "" };
    rela_result *r = NULL;
    rela_scores *x = NULL;
    rela_status st = translate(&r, &translated, n, &err);
    CHECK(st == RELA_CANCEL && err.status == RELA_CANCEL && !r, "translate: status %d", (int)st);
    CHECK(strcmp(err.message, "stopped by the callback") == 0, "message '%s'", err.message);
    st = score(&x, &scored, n, &err);
    CHECK(st == RELA_CANCEL && !x, "score: status %d", (int)st);
    CHECK(!translated.elsewhere && !scored.elsewhere, "called on another thread");
    check_usable();
}

static void an_answer_stops_the_call(void **state)
{
    (void)state;
    for (int n_threads = 1; n_threads <= 3; n_threads += 2) {
        world_start(&w, n_threads);
        const seen first = { .stop_at = 1 }, second = { .stop_at = 2 },
                   middle = { .stop_when_done = true };
        check_stopped(first, first, MANY);
        check_stopped(second, second, MANY);
        check_stopped(second, second, 1);
        check_stopped(middle, middle, MANY);
        world_end(&w);
    }
}

static int start(void **state)
{
    const int failed = make_model(state);
    for (size_t i = 0; i < MANY; i++)
        many[i] = texts[i % TEXTS];
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(progress_ends_with_the_total),
        cmocka_unit_test(an_answer_stops_the_call),
    };
    return cmocka_run_group_tests(tests, start, remove_model);
}

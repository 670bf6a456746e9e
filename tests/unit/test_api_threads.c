/* SPDX-License-Identifier: MIT */
/* tests/unit/test_api_threads.c - ten threads share one model, each with a session of its own.
 * Alone in a program that never starts an OpenMP team, whose barriers ThreadSanitizer does not see.
 */
#include "api_model.h"

#include <pthread.h>

enum { THREADS = 10 };

typedef struct visitor {
    const rela_model *model;
    const rela_result *want;
} visitor;

static void *visit(void *ctx)
{
    const visitor *v = ctx;
    for (int round = 0; round < 2; round++) {
        rela_session *s = NULL;
        rela_result *r = NULL;
        rela_error err = { RELA_OK, "" };
        if (rela_session_create(&s, v->model, &err) != RELA_OK ||
            rela_translate(&r, s, texts, NULL, TEXTS, NULL, &err) != RELA_OK)
            return ctx;
        bool same = true;
        for (size_t i = 0; i < TEXTS; i++)
            same = same && strcmp(rela_result_text(r, i, 0), rela_result_text(v->want, i, 0)) == 0;
        rela_result_free(r);
        rela_session_destroy(s);
        if (!same)
            return ctx;
    }
    return NULL;
}

static void ten_threads_share_one_model(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    world w;
    rela_result *want = NULL;
    pthread_t threads[THREADS];
    world_start(&w, 1);
    CHECK_OK(rela_translate(&want, w.session, texts, NULL, TEXTS, NULL, &err), err);
    visitor v = { w.model, want };
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, visit, &v) == 0, "no thread");
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        CHECK(pthread_join(threads[i], &failed) == 0 && !failed, "thread %d: another result", i);
    }
    rela_result_free(want);
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_threads_share_one_model),
    };
    return cmocka_run_group_tests(tests, make_model, remove_model);
}

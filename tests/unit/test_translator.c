/* SPDX-License-Identifier: MIT */
/* tests/unit/test_translator.c - requests from several threads, with options of their own, end like
 * rela_translate of their texts alone. */
#include "api_model.h"
#include "base/clock.h"
#include "base/mem.h"
#include "session/translator.h"

#include <pthread.h>
#include <stdatomic.h>

enum { CALLERS = 3, EACH = 150, WAYS = 4 };

typedef struct setting {
    world w;
    rela_translate_options ways[WAYS];
    char *want[TEXTS][WAYS];
    char two[TEXTS][300]; /* texts of several sentences */
    rela_translator *translator;
    _Atomic int submitted, ended, without_result;
} setting;

/* A request as its caller knows it. */
typedef struct asked {
    setting *s;
    size_t text, way;
    bool may_fail;
} asked;

static void make_ways(setting *s)
{
    for (size_t i = 0; i < WAYS; i++)
        rela_translate_options_init(&s->ways[i], sizeof s->ways[i]);
    s->ways[1].beam_size = 1;
    s->ways[2].beam_size = 6;
    s->ways[2].n_best = 3;
    s->ways[2].unk = RELA_UNK_REPLACE;
    s->ways[3].method = RELA_SEARCH_SAMPLE;
    s->ways[3].n_best = 2;
}

static void setting_start(setting *s, size_t sentences, size_t tokens)
{
    rela_error err;
    memset(s, 0, sizeof *s);
    world_start(&s->w, 2);
    make_ways(s);
    for (size_t i = 0; i < TEXTS; i++)
        (void)snprintf(s->two[i], sizeof s->two[i], "%s%s%s", texts[i], i % 3 ? "" : ". ",
                       i % 3 ? "" : texts[(i + 1) % TEXTS]);
    for (size_t i = 0; i < TEXTS; i++)
        for (size_t k = 0; k < WAYS; k++) {
            const char *const text = s->two[i];
            rela_result *r = NULL;
            CHECK_OK(rela_translate(&r, s->w.session, &text, NULL, 1, &s->ways[k], &err), err);
            const size_t last = rela_result_n_best(r, 0) - 1;
            const size_t len = rela_result_text_len(r, 0, last);
            s->want[i][k] = rela_mem_zalloc(len + 1);
            memcpy(s->want[i][k], rela_result_text(r, 0, last), len);
            rela_result_free(r);
        }
    rela_translator_options o;
    rela_translator_options_init(&o);
    o.sentences = sentences;
    o.tokens = tokens;
    const rela_model *models[] = { s->w.model };
    CHECK_OK(rela_translator_create(&s->translator, models, 1, &o, &err), err);
}

static void setting_end(setting *s)
{
    rela_translator_destroy(s->translator);
    for (size_t i = 0; i < TEXTS; i++)
        for (size_t k = 0; k < WAYS; k++)
            rela_mem_free(s->want[i][k]);
    world_end(&s->w);
}

static void on_end(void *ctx, uint64_t id, rela_result *r, const rela_error *err)
{
    asked *a = ctx;
    CHECK(id > 0 && (r != NULL) == (err->status == RELA_OK), "status %d", err->status);
    CHECK(r || (a->may_fail && err->status == RELA_CANCEL), "%s", err->message);
    if (r) {
        const char *got = rela_result_text(r, 0, rela_result_n_best(r, 0) - 1);
        CHECK(strcmp(got, a->s->want[a->text][a->way]) == 0, "'%s', want '%s'", got,
              a->s->want[a->text][a->way]);
    }
    atomic_fetch_add(&a->s->without_result, r == NULL);
    atomic_fetch_add(&a->s->ended, 1);
    rela_result_free(r);
    rela_mem_free(a);
}

static rela_status submit(setting *s, uint64_t *id, size_t text, size_t way, double deadline,
                          bool may_fail, rela_error *err)
{
    asked *a = rela_mem_zalloc(sizeof *a);
    *a = (asked){ s, text, way, may_fail };
    const rela_request r = { .texts = { s->two[text] },
                             .lens = { strlen(s->two[text]) },
                             .options = &s->ways[way],
                             .deadline = deadline,
                             .on_end = on_end,
                             .ctx = a };
    const rela_status st = rela_translator_submit(s->translator, id, &r, err);
    if (st == RELA_OK)
        atomic_fetch_add(&s->submitted, 1);
    else
        rela_mem_free(a);
    return st;
}

typedef struct caller {
    setting *s;
    uint64_t seed;
} caller;

static void *call(void *ctx)
{
    const caller *c = ctx;
    rela_error err;
    rela_rng r = rela_rng_start(c->seed, 1);
    uint64_t last = 0;
    for (size_t i = 0; i < EACH; i++) {
        const bool late = rela_rng_below(&r, 15) == 0, cancels = rela_rng_below(&r, 8) == 0;
        uint64_t id = 0;
        CHECK_OK(submit(c->s, &id, rela_rng_below(&r, TEXTS), rela_rng_below(&r, WAYS),
                        late ? rela_clock_seconds() + 1e-4 : 0, late || cancels, &err),
                 err);
        if (last)
            rela_translator_cancel(c->s->translator, last);
        last = cancels ? id : 0;
    }
    return NULL;
}

static void requests_end_as_alone(void **state)
{
    (void)state;
    static setting s;
    setting_start(&s, 8, 100);
    pthread_t threads[CALLERS];
    caller callers[CALLERS];
    for (size_t i = 0; i < CALLERS; i++) {
        callers[i] = (caller){ &s, i + 1 };
        CHECK(pthread_create(&threads[i], NULL, call, &callers[i]) == 0, "no thread");
    }
    for (size_t i = 0; i < CALLERS; i++)
        (void)pthread_join(threads[i], NULL);
    rela_translator_stop(s.translator, true);
    CHECK(s.ended == CALLERS * EACH && s.without_result < s.ended / 2,
          "%d of %d ended, %d without result", s.ended, CALLERS * EACH, s.without_result);
    rela_translator_load load;
    rela_translator_load_get(s.translator, &load);
    CHECK(load.waiting + load.running + load.live_sentences == 0 && load.target_tokens > 0,
          "something is left");
    setting_end(&s);
}

static void stopping_cancels_what_waits_and_runs(void **state)
{
    (void)state;
    static setting s;
    rela_error err;
    setting_start(&s, 4, 50);
    for (size_t i = 0; i < 200; i++)
        CHECK_OK(submit(&s, NULL, i % TEXTS, i % WAYS, 0, true, &err), err);
    rela_translator_stop(s.translator, false);
    CHECK(s.ended == 200 && s.without_result > 0, "%d ended, %d without result", s.ended,
          s.without_result);
    CHECK(submit(&s, NULL, 0, 0, 0, false, &err) == RELA_STATE, "submitted to a stopped one");
    setting_end(&s);
}

static void bad_requests_are_refused(void **state)
{
    (void)state;
    static setting s;
    rela_error err;
    setting_start(&s, 4, 50);
    s.ways[0].beam_size = 0;
    CHECK(submit(&s, NULL, 0, 0, 0, false, &err) == RELA_ARG, "a beam of 0");
    s.ways[1].n_best = 7;
    CHECK(submit(&s, NULL, 0, 1, 0, false, &err) == RELA_ARG, "more results than the beam has");
    const rela_request none = { .options = &s.ways[2], .on_end = on_end };
    CHECK(rela_translator_submit(s.translator, NULL, &none, &err) == RELA_ARG, "no text");
    rela_translator_cancel(s.translator, 77);
    CHECK(s.ended == 0, "on_end was called");
    setting_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_end_as_alone),
        cmocka_unit_test(stopping_cancels_what_waits_and_runs),
        cmocka_unit_test(bad_requests_are_refused),
    };
    return cmocka_run_group_tests(tests, make_model, remove_model);
}

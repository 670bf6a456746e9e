/* SPDX-License-Identifier: MIT */
/* tests/unit/test_watch.c - a pair shows the same attention alone and in company; all heads arrive,
 * once; long and empty pairs are left out; a listener can stop. */
#include "analyse/watch.h"
#include "lens.h"

#include <math.h>
#include <stdlib.h>

enum { PAIRS = 5, CELLS = 42 * 42 * 2 };

/* What a listener saw: weights of one pair, type by type, layer by layer. */
typedef struct seen {
    size_t pair, calls, ran;
    real w[RELA_ATTN_N_TYPES][2][CELLS];
    size_t n[RELA_ATTN_N_TYPES][2];
    rela_status answer;
} seen;

static const char LONG_LINE[] =
    "a b c d e a b c d e a b c d e a b c d e a b c d e a b c d e a b c d e a b c d e a";

static rela_status see(void *ctx, const rela_heads *h, rela_error *err)
{
    seen *s = ctx;
    s->calls++;
    if (s->answer != RELA_OK)
        return rela_fail(err, s->answer, "enough");
    if (h->pair != s->pair)
        return RELA_OK;
    const size_t n = h->heads * h->n_q * h->n_k;
    CHECK(n <= CELLS, "%zu weights", n);
    CHECK(s->n[h->type][h->layer] == 0, "layer %zu of type %d twice", h->layer, (int)h->type);
    memcpy(s->w[h->type][h->layer], h->w, n * sizeof *h->w);
    s->n[h->type][h->layer] = n;
    return RELA_OK;
}

static rela_status ran(void *ctx, size_t pair, rela_error *err)
{
    seen *s = ctx;
    (void)pair;
    (void)err;
    s->ran++;
    return RELA_OK;
}

static void run(seen *s, rela_watcher *w, const rela_text_pair *pairs, size_t n, bool nll)
{
    rela_error err = { RELA_OK, "" };
    const rela_watch watch = { { true, true, true }, nll, see, ran, s };
    CHECK_OK(rela_watcher_load(w, pairs, n, &err), err);
    CHECK_OK(rela_watcher_run(w, &watch, &err), err);
}

static void company_changes_nothing(void **state)
{
    (void)state;
    static const char *const KINDS[] = { "rela-g", "softmax", "sparsemax", "1xrela-g+softmax" };
    const rela_text_pair pairs[PAIRS] = { { span_of("a b"), span_of("c") },
                                          { span_of("a b c d e a b"), span_of("e d c") },
                                          { span_of(LONG_LINE), span_of("a") },
                                          { span_of("b b a zz"), span_of(LONG_LINE) },
                                          { span_of("c"), span_of("d e") } };
    for (size_t k = 0; k < 4; k++) {
        lens l;
        rela_watcher *w = NULL;
        rela_error err = { RELA_OK, "" };
        lens_start(&l, KINDS[k], 5);
        CHECK_OK(rela_watcher_create(&w, &l.net, l.pipeline, &err), err);
        seen *alone = calloc(1, sizeof *alone), *together = calloc(1, sizeof *together);
        CHECK(alone && together, "no memory");
        for (size_t p = 0; p < PAIRS; p++) {
            memset(alone, 0, sizeof *alone);
            memset(together, 0, sizeof *together);
            together->pair = p;
            run(alone, w, &pairs[p], 1, true);
            const double nll = rela_watcher_pair(w, 0)->nll;
            run(together, w, pairs, PAIRS, true);
            CHECK(fabs(nll - rela_watcher_pair(w, p)->nll) < 1e-3 * nll, "nll %g and %g", nll,
                  rela_watcher_pair(w, p)->nll);
            CHECK(alone->calls == 6 && together->calls == 6 * PAIRS, "%zu calls", alone->calls);
            CHECK(alone->ran == 1 && together->ran == PAIRS, "%zu ran", together->ran);
            for (int t = 0; t < RELA_ATTN_N_TYPES; t++)
                for (int i = 0; i < 2; i++) {
                    const size_t n = alone->n[t][i];
                    CHECK(n && n == together->n[t][i], "%zu weights", n);
                    for (size_t c = 0; c < n; c++)
                        CHECK(fabsf(alone->w[t][i][c] - together->w[t][i][c]) < 1e-4F,
                              "%s pair %zu type %d layer %d weight %zu: %g and %g", KINDS[k], p, t,
                              i, c, (double)alone->w[t][i][c], (double)together->w[t][i][c]);
                }
        }
        free(alone);
        free(together);
        rela_watcher_destroy(w);
        lens_end(&l);
    }
}

static void weights_are_those_of_softmax(void **state)
{
    (void)state;
    lens l;
    rela_watcher *w = NULL;
    rela_error err = { RELA_OK, "" };
    const rela_text_pair pair = { span_of("a b c"), span_of("c d") };
    seen *s = calloc(1, sizeof *s);
    CHECK(s, "no memory");
    lens_start(&l, "softmax", 3);
    CHECK_OK(rela_watcher_create(&w, &l.net, l.pipeline, &err), err);
    run(s, w, &pair, 1, false);
    const size_t n_q[] = { 4, 3, 3 }, n_k[] = { 4, 3, 4 };
    for (int t = 0; t < RELA_ATTN_N_TYPES; t++)
        for (size_t row = 0; row < 2 * n_q[t]; row++) { /* both heads */
            double sum = 0;
            for (size_t k = 0; k < n_k[t]; k++)
                sum += (double)s->w[t][1][row * n_k[t] + k];
            CHECK(fabs(sum - 1) < 1e-5, "type %d row %zu: %g", t, row, sum);
        }
    CHECK(s->w[RELA_ATTN_DEC][0][1] == 0 && s->w[RELA_ATTN_DEC][0][2] == 0, "looks ahead");
    free(s);
    rela_watcher_destroy(w);
    lens_end(&l);
}

static void long_and_empty_pairs_are_left_out(void **state)
{
    (void)state;
    lens l;
    rela_watcher *w = NULL;
    rela_error err = { RELA_OK, "" };
    char line[200] = "";
    for (int i = 0; i < 60; i++)
        (void)strcat(line, "a ");
    const rela_text_pair pairs[] = { { span_of("a"), span_of("") },
                                     { span_of("  "), span_of("a") },
                                     { span_of(line), span_of("a") },
                                     { span_of("a"), span_of("zz \x01") },
                                     { { line, 2 * 59 }, span_of("a") } };
    const rela_watched_state want[] = { RELA_WATCHED_EMPTY, RELA_WATCHED_EMPTY, RELA_WATCHED_LONG,
                                        RELA_WATCHED, RELA_WATCHED };
    seen *s = calloc(1, sizeof *s);
    CHECK(s, "no memory");
    lens_start(&l, "rela-g", 1);
    CHECK_OK(rela_watcher_create(&w, &l.net, l.pipeline, &err), err);
    CHECK(rela_watcher_limit(w) == 60, "limit %zu", rela_watcher_limit(w));
    s->pair = SIZE_MAX;
    run(s, w, pairs, 5, false);
    for (size_t i = 0; i < 5; i++)
        CHECK(rela_watcher_pair(w, i)->state == want[i], "pair %zu: state %d", i,
              (int)rela_watcher_pair(w, i)->state);
    CHECK(s->ran == 2, "%zu ran", s->ran);
    run(s, w, pairs, 0, false); /* nothing at all */
    free(s);
    rela_watcher_destroy(w);
    lens_end(&l);
}

static void a_listener_can_stop(void **state)
{
    (void)state;
    lens l;
    rela_watcher *w = NULL;
    rela_error err = { RELA_OK, "" };
    const rela_text_pair pair = { span_of("a b c"), span_of("c d") };
    seen *s = calloc(1, sizeof *s);
    CHECK(s, "no memory");
    s->answer = RELA_NOMEM;
    lens_start(&l, "rela-g", 1);
    const rela_watch watch = { { true, true, true }, false, see, ran, s };
    CHECK_OK(rela_watcher_create(&w, &l.net, l.pipeline, &err), err);
    CHECK_OK(rela_watcher_load(w, &pair, 1, &err), err);
    CHECK(rela_watcher_run(w, &watch, &err) == RELA_NOMEM, "went on");
    CHECK(s->calls == 1 && s->ran == 0 && strcmp(err.message, "enough") == 0, "%zu calls: %s",
          s->calls, err.message);
    free(s);
    rela_watcher_destroy(w);
    lens_end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(company_changes_nothing),
        cmocka_unit_test(weights_are_those_of_softmax),
        cmocka_unit_test(long_and_empty_pairs_are_left_out),
        cmocka_unit_test(a_listener_can_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* tests/unit/test_watch.c - a pair shows the same attention alone and in company; all heads arrive,
 * once, with one source and with several; long and empty pairs are left out; a listener can stop.
 */
#include "analyse/measures.h"
#include "analyse/sparsity.h"
#include "lens.h"

#include <math.h>
#include <stdlib.h>

enum { PAIRS = 5, CELLS = 42 * 42 * 2 };

/* What a listener saw: weights of one pair, place by place, layer by layer. */
typedef struct seen {
    size_t pair, calls, ran;
    real w[RELA_STACKS_MAX][2][CELLS];
    size_t n[RELA_STACKS_MAX][2], n_q[RELA_STACKS_MAX], n_k[RELA_STACKS_MAX];
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
    CHECK(s->n[h->stack][h->layer] == 0, "layer %zu of %s twice", h->layer, h->of->name);
    memcpy(s->w[h->stack][h->layer], h->w, n * sizeof *h->w);
    s->n[h->stack][h->layer] = n;
    s->n_q[h->stack] = h->n_q;
    s->n_k[h->stack] = h->n_k;
    return RELA_OK;
}

static rela_status measure(void *ctx, const rela_heads *h, rela_error *err)
{
    return rela_measures_count(ctx, h, err);
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
    const rela_watch watch = { RELA_WATCH_ALL, nll, see, ran, s };
    CHECK_OK(rela_watcher_load(w, pairs, n, &err), err);
    CHECK_OK(rela_watcher_run(w, &watch, &err), err);
}

static rela_text_pair pair_of(const char *src, const char *tgt)
{
    return (rela_text_pair){ .src = { span_of(src) }, .tgt = span_of(tgt) };
}

/* Weights and log-likelihood of each pair alone and among all. */
static void compare(const lens *l, const rela_text_pair *pairs, const char *name)
{
    rela_watcher *w = NULL;
    rela_error err = { RELA_OK, "" };
    seen *alone = calloc(1, sizeof *alone), *together = calloc(1, sizeof *together);
    CHECK(alone && together, "no memory");
    CHECK_OK(rela_watcher_create(&w, &l->net, l->pipeline, &err), err);
    for (size_t p = 0; p < PAIRS; p++) {
        memset(alone, 0, sizeof *alone);
        memset(together, 0, sizeof *together);
        together->pair = p;
        run(alone, w, &pairs[p], 1, true);
        const double nll = rela_watcher_pair(w, 0)->nll;
        run(together, w, pairs, PAIRS, true);
        CHECK(fabs(nll - rela_watcher_pair(w, p)->nll) < 1e-3 * nll, "nll %g and %g", nll,
              rela_watcher_pair(w, p)->nll);
        CHECK(alone->ran == 1 && together->ran == PAIRS, "%zu ran", together->ran);
        for (size_t t = 0; t < l->net.list.n_stacks; t++)
            for (int i = 0; i < 2; i++) {
                const size_t n = alone->n[t][i];
                CHECK(n == together->n[t][i], "%zu weights", n);
                for (size_t c = 0; c < n; c++)
                    CHECK(fabsf(alone->w[t][i][c] - together->w[t][i][c]) < 1e-4F,
                          "%s pair %zu %s layer %d weight %zu: %g and %g", name, p,
                          l->net.list.stacks[t].name, i, c, (double)alone->w[t][i][c],
                          (double)together->w[t][i][c]);
            }
    }
    free(alone);
    free(together);
    rela_watcher_destroy(w);
}

static const char *const KINDS[] = { "rela-g", "softmax", "sparsemax", "1xrela-g+softmax" };
enum { N_KINDS = sizeof KINDS / sizeof KINDS[0] };

static void company_changes_nothing(void **state)
{
    (void)state;
    const rela_text_pair pairs[PAIRS] = { pair_of("a b", "c"), pair_of("a b c d e a b", "e d c"),
                                          pair_of(LONG_LINE, "a"), pair_of("b b a zz", LONG_LINE),
                                          pair_of("c", "d e") };
    for (size_t k = 0; k < N_KINDS; k++) {
        lens l;
        lens_start(&l, KINDS[k], 5);
        compare(&l, pairs, KINDS[k]);
        lens_end(&l);
    }
}

/* Some sources are empty, of some pairs all but one. */
static const rela_text_pair *pairs_of_three(void)
{
    static const char *const TEXTS[PAIRS][4] = { { "a b", "", "c d e", "e d" },
                                                 { "", "a b c d e a b", "", "e d c" },
                                                 { LONG_LINE, "b", "", "a" },
                                                 { "", "", "b b a zz", LONG_LINE },
                                                 { "c", "d", "e", "d e" } };
    static rela_text_pair pairs[PAIRS];
    for (size_t i = 0; i < PAIRS; i++) {
        for (size_t k = 0; k < 3; k++)
            pairs[i].src[k] = span_of(TEXTS[i][k]);
        pairs[i].tgt = span_of(TEXTS[i][3]);
    }
    return pairs;
}

static void company_changes_nothing_with_several_sources(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_KINDS; k++)
        for (size_t sources = 2; sources <= 3; sources++)
            for (int serial = 0; serial < 2; serial++) {
                rela_text_pair pairs[PAIRS];
                lens l;
                lens_start_sources(&l, KINDS[k], 5, sources, serial == 1);
                memcpy(pairs, pairs_of_three(), sizeof pairs);
                for (size_t i = 0; i < PAIRS && sources == 2; i++) /* no pair without any */
                    pairs[i].src[0] = pairs[i].src[0].len ? pairs[i].src[0] : pairs[i].src[2];
                compare(&l, pairs, KINDS[k]);
                lens_end(&l);
            }
}

/* Tokens with their ends: sources 3, 0 and 4, target 3. */
static void places_have_the_queries_and_keys_of_their_streams(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t n_q, n_k;
    } WANT[] = { { "enc0", 3, 3 },   { "enc1", 0, 0 },   { "enc2", 4, 4 },  { "dec", 3, 3 },
                 { "cross0", 3, 3 }, { "cross1", 3, 0 }, { "cross2", 3, 4 } };
    lens l;
    rela_watcher *w = NULL;
    rela_error err = { RELA_OK, "" };
    seen *s = calloc(1, sizeof *s);
    CHECK(s, "no memory");
    lens_start_sources(&l, "softmax", 3, 3, false);
    CHECK_OK(rela_watcher_create(&w, &l.net, l.pipeline, &err), err);
    run(s, w, pairs_of_three(), 1, false);
    CHECK(s->calls == 2 * 6, "%zu calls", s->calls); /* an encoder without queries has none */
    const rela_watched *p = rela_watcher_pair(w, 0);
    CHECK(p->src[1].n == 0 && p->src[1].map.n_words == 0 && p->src[2].n == 4, "texts");
    for (size_t i = 0; i < sizeof WANT / sizeof WANT[0]; i++) {
        const size_t t = place_named(&l.net, WANT[i].name), n_k = WANT[i].n_k;
        CHECK(s->n_q[t] == WANT[i].n_q && s->n_k[t] == n_k, "%s: %zu x %zu", WANT[i].name,
              s->n_q[t], s->n_k[t]);
        CHECK(s->n[t][1] == 2 * WANT[i].n_q * n_k, "%s: %zu weights", WANT[i].name, s->n[t][1]);
        for (size_t row = 0; row < 2 * WANT[i].n_q && n_k; row++) {
            double sum = 0;
            for (size_t k = 0; k < n_k; k++)
                sum += (double)s->w[t][1][row * n_k + k];
            CHECK(fabs(sum - 1) < 1e-5, "%s row %zu: %g", WANT[i].name, row, sum);
        }
    }
    /* One place alone. */
    const rela_watch watch = { .stacks = rela_watch_stack(place_named(&l.net, "cross1")),
                               .on_heads = see,
                               .ctx = s };
    memset(s, 0, sizeof *s);
    CHECK_OK(rela_watcher_run(w, &watch, &err), err);
    CHECK(s->calls == 2, "%zu calls", s->calls);
    free(s);
    rela_watcher_destroy(w);
    lens_end(&l);
}

static void weights_are_those_of_softmax(void **state)
{
    (void)state;
    lens l;
    rela_watcher *w = NULL;
    rela_error err = { RELA_OK, "" };
    const rela_text_pair pair = pair_of("a b c", "c d");
    seen *s = calloc(1, sizeof *s);
    CHECK(s, "no memory");
    lens_start(&l, "softmax", 3);
    CHECK_OK(rela_watcher_create(&w, &l.net, l.pipeline, &err), err);
    run(s, w, &pair, 1, false);
    for (size_t t = 0; t < l.net.list.n_stacks; t++)
        for (size_t row = 0; row < 2 * s->n_q[t]; row++) { /* both heads */
            double sum = 0;
            for (size_t k = 0; k < s->n_k[t]; k++)
                sum += (double)s->w[t][1][row * s->n_k[t] + k];
            CHECK(fabs(sum - 1) < 1e-5, "place %zu row %zu: %g", t, row, sum);
        }
    CHECK(s->calls == 6, "%zu calls", s->calls);
    const size_t dec = place_named(&l.net, "dec");
    CHECK(s->w[dec][0][1] == 0 && s->w[dec][0][2] == 0, "looks ahead");
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
    const rela_text_pair pairs[] = { pair_of("a", ""),
                                     pair_of("  ", "a"),
                                     pair_of(line, "a"),
                                     pair_of("a", "zz \x01"),
                                     { .src = { { line, 2 * 59 } }, .tgt = span_of("a") } };
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

static void of_several_sources_one_is_enough(void **state)
{
    (void)state;
    char line[200] = "";
    for (int i = 0; i < 60; i++)
        (void)strcat(line, "a ");
    const struct {
        const char *first, *second, *tgt;
        rela_watched_state state;
    } cases[] = { { "a", "b", "c", RELA_WATCHED },       { "", "b", "c", RELA_WATCHED },
                  { "a", " ", "c", RELA_WATCHED },       { "", " ", "c", RELA_WATCHED_EMPTY },
                  { "a", "b", "", RELA_WATCHED_EMPTY },  { "", "", "", RELA_WATCHED_EMPTY },
                  { "a", line, "c", RELA_WATCHED_LONG }, { line, "", "c", RELA_WATCHED_LONG } };
    lens l;
    rela_watcher *w = NULL;
    rela_error err = { RELA_OK, "" };
    lens_start_sources(&l, "rela-g", 1, 2, false);
    CHECK_OK(rela_watcher_create(&w, &l.net, l.pipeline, &err), err);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const rela_text_pair pair = { .src = { span_of(cases[i].first), span_of(cases[i].second) },
                                      .tgt = span_of(cases[i].tgt) };
        CHECK_OK(rela_watcher_load(w, &pair, 1, &err), err);
        CHECK(rela_watcher_pair(w, 0)->state == cases[i].state, "case %zu: state %d", i,
              (int)rela_watcher_pair(w, 0)->state);
    }
    rela_watcher_destroy(w);
    lens_end(&l);
}

/* Counts of the tap of a pass are those of the watcher, empty sources included. */
static void zeros_are_counted_alike(void **state)
{
    (void)state;
    lens l;
    rela_watcher *w = NULL;
    rela_measures m;
    rela_sparsity zeros;
    rela_worker *worker = NULL;
    rela_error err = { RELA_OK, "" };
    static const int32_t FIRST[] = { 3, 4, 2, 5, 2 }, SECOND[] = { 6, 7, 3, 2 };
    static const int32_t TARGET[] = { 4, 2, 5, 6, 2, 7, 2 };
    static const uint32_t FIRST_AT[] = { 0, 3, 3, 5 }, SECOND_AT[] = { 0, 0, 4, 4 };
    static const uint32_t TARGET_AT[] = { 0, 2, 5, 7 };
    const rela_model_batch batch = {
        .streams = { { FIRST, FIRST_AT, 3 }, { SECOND, SECOND_AT, 3 }, { TARGET, TARGET_AT, 3 } }
    };
    const rela_text_pair pairs[] = { { { span_of("a b"), span_of("") }, span_of("b") },
                                     { { span_of(""), span_of("d e a") }, span_of("c d") },
                                     { { span_of("c"), span_of("") }, span_of("e") } };
    lens_start_sources(&l, "rela-g", 9, 2, false);
    CHECK_OK(rela_measures_init(&m, &l.net, &err), err);
    CHECK_OK(rela_sparsity_init(&zeros, &l.net, &err), err);
    CHECK_OK(rela_worker_create(&worker, &l.net, 8, 8, false, &err), err);
    CHECK_OK(rela_watcher_create(&w, &l.net, l.pipeline, &err), err);
    const rela_attn_tap tap = rela_sparsity_tap(&zeros);
    const rela_pass_options pass = { .tap = &tap };
    rela_worker_attend(worker, &batch, &pass);
    const rela_watch watch = { .stacks = RELA_WATCH_ALL, .on_heads = measure, .ctx = &m };
    CHECK_OK(rela_watcher_load(w, pairs, 3, &err), err);
    CHECK_OK(rela_watcher_run(w, &watch, &err), err);
    for (size_t p = 0; p < m.n_stacks; p++)
        for (size_t i = 0; i < 2 * m.heads; i++) {
            const rela_zeros *a = &zeros.cells[p][i];
            const rela_head_sums *b = &m.head[p][i];
            CHECK(a->zeros == b->zeros && a->pairs == b->pairs && a->rows == b->rows &&
                      a->null_rows == b->null_rows,
                  "%s head %zu: %d of %d, %d null of %d", m.stacks[p].name, i, (int)a->zeros,
                  (int)a->pairs, (int)a->null_rows, (int)a->rows);
        }
    const rela_zeros second = rela_sparsity_sum(&zeros, place_named(&l.net, "cross1"), 0);
    CHECK(second.rows == 7 * m.heads && second.pairs == 3 * 4 * m.heads &&
              second.null_rows >= 4 * m.heads,
          "%d rows, %d pairs, %d null", (int)second.rows, (int)second.pairs, (int)second.null_rows);
    rela_watcher_destroy(w);
    rela_worker_destroy(worker);
    rela_sparsity_deinit(&zeros);
    rela_measures_deinit(&m);
    lens_end(&l);
}

static void a_listener_can_stop(void **state)
{
    (void)state;
    lens l;
    rela_watcher *w = NULL;
    rela_error err = { RELA_OK, "" };
    const rela_text_pair pair = pair_of("a b c", "c d");
    seen *s = calloc(1, sizeof *s);
    CHECK(s, "no memory");
    s->answer = RELA_NOMEM;
    lens_start(&l, "rela-g", 1);
    const rela_watch watch = { RELA_WATCH_ALL, false, see, ran, s };
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
        cmocka_unit_test(company_changes_nothing_with_several_sources),
        cmocka_unit_test(places_have_the_queries_and_keys_of_their_streams),
        cmocka_unit_test(weights_are_those_of_softmax),
        cmocka_unit_test(long_and_empty_pairs_are_left_out),
        cmocka_unit_test(of_several_sources_one_is_enough),
        cmocka_unit_test(zeros_are_counted_alike),
        cmocka_unit_test(a_listener_can_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

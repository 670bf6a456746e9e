/* SPDX-License-Identifier: MIT */
/* tests/unit/test_metric.c - BLEU, chrF and significance against figures of sacrebleu and of plain
 * reimplementations (tools/golden/metric.py), and how counting fails. */
#include "golden.h"

#include "base/fault.h"
#include "base/mem.h"
#include "base/str.h"
#include "metric/python_chars.h"
#include "rela/metric.h"

#include <string.h>

enum { LINES_MAX = 64, REFS_MAX = 4 };

/* The lines of a set, lent by the JSON. */
typedef struct text_set {
    rela_segment segments[LINES_MAX];
    const char *refs[LINES_MAX][REFS_MAX];
    size_t ref_lens[LINES_MAX][REFS_MAX];
    size_t n;
} text_set;

static json_t *all;

static int load(void **state)
{
    (void)state;
    all = golden_load("tests/golden/metric.json");
    return 0;
}

static int unload(void **state)
{
    (void)state;
    json_decref(all);
    return 0;
}

static void fill_set(text_set *s, const json_t *hyps, const json_t *refs)
{
    *s = (text_set){ .n = json_array_size(hyps) };
    const size_t n_refs = json_array_size(refs);
    CHECK(s->n <= LINES_MAX && n_refs <= REFS_MAX, "set too large");
    for (size_t i = 0; i < s->n; i++) {
        const json_t *h = json_array_get(hyps, i);
        for (size_t r = 0; r < n_refs; r++) {
            const json_t *t = json_array_get(json_array_get(refs, r), i);
            s->refs[i][r] = json_is_null(t) ? NULL : json_string_value(t);
            s->ref_lens[i][r] = json_is_null(t) ? 0 : json_string_length(t);
        }
        s->segments[i] = (rela_segment){ json_string_value(h), json_string_length(h), s->refs[i],
                                         s->ref_lens[i], n_refs };
    }
}

static void find_set(text_set *s, const json_t *c)
{
    const json_t *set = json_object_get(json_object_get(all, "sets"), golden_text(c, "set"));
    fill_set(s, json_object_get(set, "hyp"), json_object_get(set, "refs"));
}

static int index_of(const char *const *names, const char *name)
{
    int i = 0;
    while (strcmp(names[i], name) != 0)
        i++;
    return i;
}

/* Counts with one and with three threads, which must agree. */
static void count(uint32_t *stats, uint64_t *sums, const rela_metric *m, const text_set *s)
{
    static uint32_t other[LINES_MAX * RELA_STATS_MAX];
    const size_t k = rela_metric_n_stats(m);
    rela_error err = { RELA_OK, "" };
    CHECK_OK(rela_metric_count(stats, m, s->segments, s->n, 1, &err), err);
    CHECK_OK(rela_metric_count(other, m, s->segments, s->n, 3, &err), err);
    CHECK(memcmp(stats, other, s->n * k * sizeof *stats) == 0, "threads change the counts");
    memset(sums, 0, k * sizeof *sums);
    rela_stats_add(sums, stats, s->n, k);
}

static void check_lines(const rela_metric *m, const uint32_t *stats, const json_t *c)
{
    const json_t *lines = json_object_get(c, "lines");
    const size_t k = rela_metric_n_stats(m);
    for (size_t i = 0; i < json_array_size(lines); i++) {
        uint64_t sums[RELA_STATS_MAX] = { 0 };
        rela_stats_add(sums, stats + i * k, 1, k);
        const double got = rela_metric_score(m, sums);
        const double want = json_number_value(json_array_get(lines, i));
        CHECK(golden_near(got, want), "%s %s line %zu: %.17g, want %.17g", golden_text(c, "set"),
              golden_text(c, "sign"), i + 1, got, want);
    }
}

static void check_signature(const rela_metric *m, const json_t *c)
{
    const char *want = golden_text(c, "sign");
    rela_error err = { RELA_OK, "" };
    rela_buffer b = RELA_BUFFER_INIT;
    int n_refs = 0;
    if (strncmp(want, "nrefs:var", 9) != 0)
        n_refs = want[6] - '0';
    const rela_signature s = { .struct_size = sizeof s, .n_refs = (size_t)n_refs };
    CHECK_OK(rela_metric_signature(&b, m, &s, &err), err);
    CHECK(strncmp(b.data, want, strlen(want)) == 0 &&
              strncmp(b.data + strlen(want), "|version:rela-", 14) == 0,
          "%s, want %s", b.data, want);
    rela_buffer_free(&b);
}

static void check_figures(const rela_metric *m, const uint64_t *sums, const json_t *c)
{
    rela_bleu_figures f = { .struct_size = sizeof f };
    rela_error err = { RELA_OK, "" };
    const char *set = golden_text(c, "set");
    const json_t *prec = json_object_get(c, "prec"), *len = json_object_get(c, "len");
    CHECK_OK(rela_bleu_figures_get(&f, m, sums, &err), err);
    CHECK(golden_near(f.score, golden_real(c, "score")), "%s: %.17g, want %.17g", set, f.score,
          golden_real(c, "score"));
    CHECK(golden_near(f.brevity, golden_real(c, "bp")), "%s: brevity %g", set, f.brevity);
    for (size_t i = 0; i < json_array_size(prec); i++)
        CHECK(golden_near(f.precision[i], json_number_value(json_array_get(prec, i))),
              "%s: precision %zu is %.17g", set, i + 1, f.precision[i]);
    CHECK((double)f.hyp_len == json_number_value(json_array_get(len, 0)) &&
              (double)f.ref_len == json_number_value(json_array_get(len, 1)),
          "%s: lengths %d and %d", set, (int)f.hyp_len, (int)f.ref_len);
}

static void bleu_equals_sacrebleu(void **state)
{
    static const char *const TOKENS[] = { "13a", "intl", "char", "none" };
    static const char *const SMOOTH[] = { "exp", "floor", "add-k", "none" };
    static uint32_t stats[LINES_MAX * RELA_STATS_MAX];
    (void)state;
    size_t i = 0;
    json_t *c = NULL;
    rela_error err = { RELA_OK, "" };
    CHECK(json_array_size(json_object_get(all, "bleu")) >= 200, "too few cases");
    json_array_foreach(json_object_get(all, "bleu"), i, c)
    {
        text_set s;
        uint64_t sums[RELA_STATS_MAX];
        rela_metric *m = NULL;
        rela_bleu_options o;
        rela_bleu_options_init(&o, sizeof o);
        o.tokens = index_of(TOKENS, golden_text(c, "tok"));
        o.smoothing = index_of(SMOOTH, golden_text(c, "smooth"));
        o.smooth_value = golden_real(c, "value");
        o.max_order = golden_int(c, "order");
        o.lowercase = golden_int(c, "lc");
        o.effective_order = golden_int(c, "eff");
        find_set(&s, c);
        CHECK_OK(rela_metric_create_bleu(&m, &o, &err), err);
        count(stats, sums, m, &s);
        check_figures(m, sums, c);
        check_signature(m, c);
        rela_metric_destroy(m);
        o.effective_order = 1; /* what single lines are scored with */
        CHECK_OK(rela_metric_create_bleu(&m, &o, &err), err);
        check_lines(m, stats, c);
        rela_metric_destroy(m);
    }
}

static void chrf_equals_sacrebleu(void **state)
{
    static uint32_t stats[LINES_MAX * RELA_STATS_MAX];
    (void)state;
    size_t i = 0;
    json_t *c = NULL;
    rela_error err = { RELA_OK, "" };
    json_array_foreach(json_object_get(all, "chrf"), i, c)
    {
        text_set s;
        uint64_t sums[RELA_STATS_MAX];
        rela_metric *m = NULL;
        rela_chrf_options o;
        rela_chrf_options_init(&o, sizeof o);
        o.char_order = golden_int(c, "nc");
        o.word_order = golden_int(c, "nw");
        o.beta = golden_real(c, "beta");
        o.lowercase = golden_int(c, "lc");
        o.whitespace = golden_int(c, "space");
        o.eps_smoothing = golden_int(c, "eps");
        find_set(&s, c);
        CHECK_OK(rela_metric_create_chrf(&m, &o, &err), err);
        assert_string_equal(rela_metric_name(m), golden_text(c, "name"));
        count(stats, sums, m, &s);
        const double got = rela_metric_score(m, sums), want = golden_real(c, "score");
        CHECK(golden_near(got, want), "%s %s: %.17g, want %.17g", golden_text(c, "set"),
              golden_text(c, "sign"), got, want);
        check_lines(m, stats, c);
        check_signature(m, c);
        rela_metric_destroy(m);
    }
}

static void multi_bleu_equals_its_definition(void **state)
{
    static uint32_t stats[LINES_MAX * RELA_STATS_MAX];
    (void)state;
    size_t i = 0;
    json_t *c = NULL;
    rela_error err = { RELA_OK, "" };
    json_array_foreach(json_object_get(all, "multi"), i, c)
    {
        text_set s;
        uint64_t sums[RELA_STATS_MAX];
        rela_metric *m = NULL;
        rela_bleu_options o;
        rela_bleu_options_init(&o, sizeof o);
        o.tokens = RELA_BLEU_BLANKS;
        o.smoothing = RELA_SMOOTH_NONE;
        o.lowercase = golden_int(c, "lc");
        find_set(&s, c);
        CHECK_OK(rela_metric_create_bleu(&m, &o, &err), err);
        count(stats, sums, m, &s);
        check_figures(m, sums, c);
        rela_metric_destroy(m);
    }
}

static void check_interval(const rela_interval *got, const json_t *want, const char *what)
{
    CHECK(golden_near(got->mean, json_number_value(json_array_get(want, 0))) &&
              golden_near(got->low, json_number_value(json_array_get(want, 1))) &&
              golden_near(got->high, json_number_value(json_array_get(want, 2))),
          "%s: %.17g %.17g %.17g", what, got->mean, got->low, got->high);
}

static void check_comparison(const rela_metric *m, const text_set *a, const text_set *b,
                             const json_t *c, int n_threads)
{
    static uint32_t stats_a[LINES_MAX * RELA_STATS_MAX], stats_b[LINES_MAX * RELA_STATS_MAX];
    uint64_t sums[RELA_STATS_MAX];
    rela_error err = { RELA_OK, "" };
    const json_t *p = json_object_get(c, "p"), *scores = json_object_get(c, "scores");
    const char *name = golden_text(c, "metric");
    count(stats_a, sums, m, a);
    CHECK(golden_near(rela_metric_score(m, sums), json_number_value(json_array_get(scores, 0))),
          "%s: score of a", name);
    count(stats_b, sums, m, b);
    CHECK(golden_near(rela_metric_score(m, sums), json_number_value(json_array_get(scores, 1))),
          "%s: score of b", name);
    const size_t k = rela_metric_n_stats(m);
    const rela_scored sa = { stats_a, a->n, k, rela_metric_score_fn, m };
    const rela_scored sb = { stats_b, b->n, k, rela_metric_score_fn, m };
    rela_resampling r = { .struct_size = sizeof r,
                          .samples = golden_int(c, "samples"),
                          .seed = (uint64_t)golden_real(c, "seed"),
                          .n_threads = n_threads };
    rela_interval own;
    double got = 0;
    CHECK_OK(rela_bootstrap(&own, &sa, &r, &err), err);
    check_interval(&own, json_object_get(c, "a"), "a");
    CHECK_OK(rela_bootstrap_paired(&got, &own, &sa, &sb, &r, &err), err);
    check_interval(&own, json_object_get(c, "b"), "b");
    CHECK(golden_near(got, json_number_value(json_array_get(p, 0))), "%s: p %.17g", name, got);
    r.samples = golden_int(c, "trials");
    CHECK_OK(rela_randomise_paired(&got, &sa, &sb, &r, &err), err);
    CHECK(golden_near(got, json_number_value(json_array_get(p, 1))), "%s: p %.17g", name, got);
}

static void resampling_equals_its_definition(void **state)
{
    (void)state;
    const json_t *set = json_object_get(all, "compare");
    json_t *refs = json_pack("[O]", json_object_get(set, "refs"));
    size_t i = 0;
    json_t *c = NULL;
    text_set a, b;
    rela_error err = { RELA_OK, "" };
    fill_set(&a, json_object_get(set, "a"), refs);
    fill_set(&b, json_object_get(set, "b"), refs);
    json_array_foreach(json_object_get(set, "cases"), i, c)
    {
        rela_metric *m = NULL;
        const bool bleu = strcmp(golden_text(c, "metric"), "BLEU") == 0;
        CHECK_OK(bleu ? rela_metric_create_bleu(&m, NULL, &err)
                      : rela_metric_create_chrf(&m, NULL, &err),
                 err);
        for (int n_threads = 1; n_threads <= 3; n_threads++)
            check_comparison(m, &a, i == 2 ? &a : &b, c, n_threads);
        rela_metric_destroy(m);
    }
    json_decref(refs);
}

static void a_system_does_not_differ_from_itself(void **state)
{
    (void)state;
    const uint32_t stats[] = { 4, 4, 2, 1, 4, 3, 5, 4, 3, 1, 5, 4 };
    rela_bleu_options o;
    rela_metric *m = NULL;
    rela_error err = { RELA_OK, "" };
    rela_bleu_options_init(&o, sizeof o);
    o.max_order = 2;
    CHECK_OK(rela_metric_create_bleu(&m, &o, &err), err);
    const rela_scored s = { stats, 2, 6, rela_metric_score_fn, m };
    const rela_resampling r = { .struct_size = sizeof r, .samples = 99, .seed = 1, .n_threads = 1 };
    double p = 0;
    CHECK_OK(rela_bootstrap_paired(&p, NULL, &s, &s, &r, &err), err);
    CHECK(p == 1, "p %g", p);
    CHECK_OK(rela_randomise_paired(&p, &s, &s, &r, &err), err);
    CHECK(p == 1, "p %g", p);
    rela_metric_destroy(m);
}

static void wrong_settings_are_refused(void **state)
{
    (void)state;
    rela_bleu_options o;
    rela_chrf_options c;
    rela_metric *m = NULL;
    rela_error err = { RELA_OK, "" };
    rela_bleu_options_init(&o, sizeof o);
    o.max_order = RELA_BLEU_ORDER_MAX + 1;
    CHECK(rela_metric_create_bleu(&m, &o, &err) == RELA_ARG && !m, "order 17 was taken");
    assert_string_equal(err.message, "max_order is 17; expected 1..16");
    o.max_order = 4;
    o.tokens = 5;
    CHECK(rela_metric_create_bleu(&m, &o, NULL) == RELA_ARG, "unknown tokens were taken");
    rela_chrf_options_init(&c, sizeof c);
    c.beta = (double)NAN;
    CHECK(rela_metric_create_chrf(&m, &c, &err) == RELA_ARG && !m, "beta NaN was taken");
}

static void a_segment_without_reference_is_refused(void **state)
{
    (void)state;
    const char *const refs[] = { NULL };
    const size_t lens[] = { 0 };
    const rela_segment s = { "a", 1, refs, lens, 1 };
    uint32_t stats[RELA_STATS_MAX];
    rela_error err = { RELA_OK, "" };
    for (int i = 0; i < 2; i++) {
        rela_metric *m = NULL;
        CHECK_OK(i ? rela_metric_create_bleu(&m, NULL, &err)
                   : rela_metric_create_chrf(&m, NULL, &err),
                 err);
        CHECK(rela_metric_count(stats, m, &s, 1, 1, &err) == RELA_ARG, "taken");
        assert_string_equal(err.message, "a segment has no reference");
        rela_metric_destroy(m);
    }
}

static void bad_bytes_count_as_replacement_characters(void **state)
{
    (void)state;
    const char *const bad[] = { "a \xC3( b", "a \xED\xA0\x80 b" };
    const char *const good[] = { "a \xEF\xBF\xBD( b", "a \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD b" };
    rela_error err = { RELA_OK, "" };
    rela_metric *m = NULL;
    CHECK_OK(rela_metric_create_chrf(&m, NULL, &err), err);
    for (int i = 0; i < 2; i++) {
        const size_t len = strlen(good[i]);
        const rela_segment s = { bad[i], strlen(bad[i]), &good[i], &len, 1 };
        uint32_t stats[RELA_STATS_MAX];
        uint64_t sums[RELA_STATS_MAX] = { 0 };
        CHECK_OK(rela_metric_count(stats, m, &s, 1, 1, &err), err);
        rela_stats_add(sums, stats, 1, rela_metric_n_stats(m));
        CHECK(rela_metric_score(m, sums) == 100, "%d: %g", i, rela_metric_score(m, sums));
    }
    rela_metric_destroy(m);
}

/* 50,000 times one word, and 50,000 different ones. */
static void long_segments_are_counted(void **state)
{
    (void)state;
    enum { WORDS = 50000 };
    rela_error err = { RELA_OK, "" };
    rela_metric *m = NULL;
    rela_buffer same = RELA_BUFFER_INIT, other = RELA_BUFFER_INIT;
    for (int i = 0; i < WORDS; i++) {
        CHECK_OK(rela_buffer_append_text(&same, "word ", &err), err);
        CHECK_OK(rela_buffer_printf(&other, &err, "w%d ", i), err);
    }
    const char *const refs[] = { other.data, same.data };
    const size_t lens[] = { other.len, same.len };
    const rela_segment s[] = { { same.data, same.len, refs, lens, 2 },
                               { other.data, other.len, refs, lens, 2 } };
    uint32_t stats[2 * 10];
    CHECK_OK(rela_metric_create_bleu(&m, NULL, &err), err);
    CHECK_OK(rela_metric_count(stats, m, s, 2, 1, &err), err);
    for (size_t i = 0; i < 4; i++)
        CHECK(stats[2 + i] == WORDS - i && stats[10 + 2 + i] == WORDS - i, "order %zu: %u %u",
              i + 1, stats[2 + i], stats[10 + 2 + i]);
    rela_metric_destroy(m);
    rela_buffer_free(&same);
    rela_buffer_free(&other);
}

static rela_status count_once(rela_error *err)
{
    static const char *const refs[] = { "The \xC3\xA9t\xC3\xA9, 2.5 b\xFF", "Other words, here" };
    static const size_t lens[] = { 17, 17 };
    const rela_segment s = { "the words, 2.5 here", 19, refs, lens, 2 };
    uint32_t stats[RELA_STATS_MAX];
    rela_status st = RELA_OK;
    for (int i = 0; i <= RELA_BLEU_BLANKS + 1 && st == RELA_OK; i++) {
        rela_metric *m = NULL;
        rela_bleu_options o;
        rela_chrf_options c;
        rela_bleu_options_init(&o, sizeof o);
        rela_chrf_options_init(&c, sizeof c);
        o.tokens = i;
        o.lowercase = c.lowercase = 1;
        c.word_order = 2;
        st = i <= RELA_BLEU_BLANKS ? rela_metric_create_bleu(&m, &o, err)
                                   : rela_metric_create_chrf(&m, &c, err);
        if (st == RELA_OK)
            st = rela_metric_count(stats, m, &s, 1, 1, err);
        if (st == RELA_OK) {
            const rela_scored t = { stats, 1, rela_metric_n_stats(m), rela_metric_score_fn, m };
            const rela_resampling r = {
                .struct_size = sizeof r, .samples = 10, .seed = 1, .n_threads = 1
            };
            double p = 0;
            rela_interval interval;
            st = rela_bootstrap_paired(&p, &interval, &t, &t, &r, err);
            if (st == RELA_OK)
                st = rela_randomise_paired(&p, &t, &t, &r, err);
        }
        rela_metric_destroy(m);
    }
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    for (int persistent = 0; persistent < 2; persistent++) {
        uint64_t n = 1;
        for (rela_status st = RELA_NOMEM; st != RELA_OK; n++) {
            rela_fault_set(RELA_FAULT_MEM, n, persistent);
            st = count_once(&err);
            rela_fault_set(RELA_FAULT_MEM, 0, false);
            CHECK(st == RELA_OK || (st == RELA_NOMEM && *err.message), "%llu: %d %s",
                  (unsigned long long)n, st, err.message);
        }
        CHECK(n > 20, "only %llu allocations", (unsigned long long)n);
    }
}

static void lower_case_is_that_of_python(void **state)
{
    static const char *const CASES[][2] = {
        { "ABC xyz 1", "abc xyz 1" },
        { "\xC4\xB0", "i\xCC\x87" },                /* I with dot */
        { "\xCE\xA3", "\xCF\x83" },                 /* a sigma alone */
        { "A\xCE\xA3", "a\xCF\x82" },               /* final */
        { "A\xCE\xA3.", "a\xCF\x82." },             /* before a stop */
        { "A\xCE\xA3.B", "a\xCF\x83.b" },           /* a stop inside a word */
        { "\xC8\xBA", "\xE2\xB1\xA5" },             /* grows from two to three bytes */
        { "\xF0\x90\x90\x80", "\xF0\x90\x90\xA8" }, /* beyond the basic plane */
    };
    (void)state;
    rela_error err = { RELA_OK, "" };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        rela_buffer b = RELA_BUFFER_INIT;
        CHECK_OK(rela_lower(&b, CASES[i][0], strlen(CASES[i][0]), &err), err);
        assert_string_equal(b.data, CASES[i][1]);
        rela_buffer_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bleu_equals_sacrebleu),
        cmocka_unit_test(chrf_equals_sacrebleu),
        cmocka_unit_test(multi_bleu_equals_its_definition),
        cmocka_unit_test(resampling_equals_its_definition),
        cmocka_unit_test(a_system_does_not_differ_from_itself),
        cmocka_unit_test(wrong_settings_are_refused),
        cmocka_unit_test(a_segment_without_reference_is_refused),
        cmocka_unit_test(bad_bytes_count_as_replacement_characters),
        cmocka_unit_test(long_segments_are_counted),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(lower_case_is_that_of_python),
    };
    return cmocka_run_group_tests(tests, load, unload);
}

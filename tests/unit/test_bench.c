/* SPDX-License-Identifier: MIT */
/* tests/unit/test_bench.c - medians, quotients, tables and their forms; options of rela_bench. */
#include "bench/bench_job.h"
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void medians_and_ends_are_found(void **state)
{
    (void)state;
    double odd[] = { 5, 1, 4, 2, 3 }, even[] = { 8, 2, 6, 4 }, one[] = { 7 };
    const rela_bench_spread a = rela_bench_spread_of(odd, 5), b = rela_bench_spread_of(even, 4);
    const rela_bench_spread c = rela_bench_spread_of(one, 1);
    CHECK(a.median == 3 && a.low == 1 && a.high == 5, "%g %g %g", a.median, a.low, a.high);
    CHECK(b.median == 5 && b.low == 2 && b.high == 8, "%g %g %g", b.median, b.low, b.high);
    CHECK(c.median == 7 && c.low == 7 && c.high == 7, "%g %g %g", c.median, c.low, c.high);
}

/* Of the quotients, not the quotient of the medians, and the inputs stay as they are. */
static void quotients_are_taken_round_by_round(void **state)
{
    (void)state;
    const double a[] = { 1, 10, 100 }, b[] = { 2, 10, 50 };
    const rela_bench_spread s = rela_bench_quotients(3, a, b, 3);
    CHECK(s.median == 3 && s.low == 1.5 && s.high == 6, "%g %g %g", s.median, s.low, s.high);
    const rela_bench_spread t = rela_bench_quotients(100, NULL, b, 3);
    CHECK(t.median == 10 && t.low == 2 && t.high == 50, "%g %g %g", t.median, t.low, t.high);
    CHECK(a[0] == 1 && b[2] == 50, "changed");
}

static void fill(rela_bench_table *s)
{
    static const rela_bench_column COLUMNS[] = { { "kind", "kind", RELA_BENCH_TEXT, 0 },
                                                 { "length", "T", RELA_BENCH_NUMBER, 0 },
                                                 { "rate", "GFLOP/s", RELA_BENCH_SPREAD, 1 } };
    rela_error err = { RELA_OK, "" };
    *s = (rela_bench_table){ .name = "demo", .title = "a title", .columns = COLUMNS, 3 };
    const rela_bench_cell first[] = { rela_bench_text("soft \"max\""), rela_bench_number(25),
                                      rela_bench_value((rela_bench_spread){ 12.34, 10, 100 }) };
    const rela_bench_cell second[] = { rela_bench_text("relu"), rela_bench_number((double)NAN),
                                       rela_bench_value((rela_bench_spread){ 7, 7, 7 }) };
    CHECK_OK(rela_bench_table_add(s, first, 3, &err), err);
    CHECK_OK(rela_bench_table_add(s, second, 3, &err), err);
}

static void sheets_are_laid_out(void **state)
{
    (void)state;
    rela_bench_table s;
    rela_buffer text = RELA_BUFFER_INIT, tsv = RELA_BUFFER_INIT, json = RELA_BUFFER_INIT;
    rela_error err = { RELA_OK, "" };
    fill(&s);
    CHECK_OK(rela_bench_table_text(&text, &s, &err), err);
    CHECK(strcmp(text.data, "demo: a title\n"
                            "kind         T            GFLOP/s\n"
                            "soft \"max\"  25  12.3 (10.0-100.0)\n"
                            "relu         -                7.0\n") == 0,
          "%s", text.data);
    CHECK_OK(rela_bench_table_tsv(&tsv, &s, &err), err);
    CHECK(strcmp(tsv.data, "kind\tlength\trate\trate_low\trate_high\n"
                           "soft \"max\"\t25\t12.34\t10\t100\n"
                           "relu\t\t7\t7\t7\n") == 0,
          "%s", tsv.data);
    CHECK_OK(rela_bench_table_json(&json, &s, &err), err);
    CHECK(strcmp(json.data,
                 "[\n"
                 "  {\"kind\": \"soft \\\"max\\\"\", \"length\": 25, \"rate\": 12.34, "
                 "\"rate_low\": 10, \"rate_high\": 100},\n"
                 "  {\"kind\": \"relu\", \"length\": null, \"rate\": 7, \"rate_low\": 7, "
                 "\"rate_high\": 7}]") == 0,
          "%s", json.data);
    rela_buffer_free(&text);
    rela_buffer_free(&tsv);
    rela_buffer_free(&json);
    rela_bench_table_deinit(&s);
}

static void count_call(void *ctx)
{
    ++*(size_t *)ctx;
}

/* Once is enough if that takes long; else until the time has passed. */
static void work_is_repeated_until_the_time_has_passed(void **state)
{
    (void)state;
    size_t calls = 0;
    double took = rela_bench_time(count_call, &calls, 0, 1);
    CHECK(calls >= 1 && took > 0, "%zu calls, %g s", calls, took);
    took = rela_bench_time(count_call, &calls, 1e-3, 1);
    CHECK(calls > 100 && took < 1e-3 / 50, "%zu calls, %g s", calls, took);
}

/* 2 source and 3 target tokens through one layer each, counted by hand. */
static void operations_of_an_update_are_counted(void **state)
{
    (void)state;
    const rela_config c = {
        .d = 2, .ffn = 4, .heads = 1, .sources = 1, .enc_layers = 1, .dec_layers = 1, .vocab_tgt = 5
    };
    const uint32_t src[] = { 0, 2 }, tgt[] = { 0, 3 };
    const rela_model_batch u = { .streams = { { NULL, src, 1 }, { NULL, tgt, 1 } } };
    const double enc = 2 * (4 * 4 + 2 * 8), cross = 2 * 2 * 4, dec = 3 * (6 * 4 + 2 * 8 + 2 * 5);
    const double scores = 2 * 2 * (4 + 4.5 + 6), want = 2 * (enc + cross + dec + scores);
    const double got = rela_bench_update_flops(&c, &u);
    CHECK(got == want, "%g; expected %g", got, want);
}

static int stop(void *ctx, uint64_t done, uint64_t total)
{
    uint64_t *seen = ctx;
    CHECK(done == *seen + 1 && done <= total, "%d of %d", (int)done, (int)total);
    *seen = done;
    return done == 2;
}

static void a_listener_stops_it(void **state)
{
    (void)state;
    uint64_t seen = 0;
    rela_buffer text = RELA_BUFFER_INIT;
    rela_error err = { RELA_OK, "" };
    rela_bench_options o;
    rela_bench_options_init(&o, sizeof o);
    o.preset = "demo";
    o.seconds = 0;
    o.progress = stop;
    o.progress_ctx = &seen;
    CHECK(rela_bench(&text, NULL, &o, &err) == RELA_CANCEL, "%s", err.message);
    CHECK(seen == 2 && text.len == 0, "%d turns, %zu bytes", (int)seen, text.len);
}

/* The line of a kind, in a table that has the share of zeros after kind, threads and length. */
static double zeros_of(const char *table, const char *kind)
{
    double zeros = -1;
    const char *line = strstr(table, kind);
    CHECK(line && sscanf(line, "%*s %*d %*d %lf", &zeros) == 1, "no %s in %s", kind, table);
    return zeros;
}

static void zeros_are_made_where_they_can_be(void **state)
{
    (void)state;
    static const char *const KINDS[] = { "rela-g" };
    rela_buffer text = RELA_BUFFER_INIT;
    rela_error err = { RELA_OK, "" };
    rela_bench_options o;
    rela_bench_options_init(&o, sizeof o);
    o.parts = RELA_BENCH_TRAIN;
    o.preset = "demo";
    o.kinds = KINDS;
    o.n_kinds = 1;
    o.rounds = 1;
    o.seconds = 0;
    o.zeros = 0.9;
    CHECK(rela_bench(&text, NULL, &o, &err) == RELA_OK, "%s", err.message);
    const char *train = strstr(text.data, "\ntrain:");
    CHECK(train, "no table of training: %s", text.data);
    CHECK(fabs(zeros_of(train, "rela-g ") - 90) < 1, "%g %%", zeros_of(train, "rela-g "));
    CHECK(zeros_of(train, "softmax ") == 0, "%g %%", zeros_of(train, "softmax "));
    rela_buffer_free(&text);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    static const char *const BOGUS[] = { "bogus" };
    static const uint32_t NOUGHT[] = { 0 };
    const struct {
        const char *message;
        rela_bench_options o;
    } CASES[] = {
        { "nothing to measure", { .rounds = 1, .preset = "demo", .train_length = 1 } },
        { "0 rounds; expected 1..99", { .parts = 1, .preset = "demo", .train_length = 1 } },
        { "preset 'big' is not one of paper",
          { .parts = 1, .rounds = 1, .preset = "big", .train_length = 1 } },
        { "sentences of 0 tokens; expected 1..65536",
          { .parts = 1, .rounds = 1, .preset = "demo" } },
        { "-1 seconds; expected 0..3600",
          { .parts = 1, .rounds = 1, .preset = "demo", .train_length = 1, .seconds = -1 } },
        { "1 of the weights zero; expected 0..0.99",
          { .parts = 1, .rounds = 1, .preset = "demo", .train_length = 1, .zeros = 1 } },
        { "unknown kind of attention 'bogus'",
          { .parts = 1, .rounds = 1, .preset = "demo", .train_length = 1, .kinds = BOGUS, 1 } },
        { "length 0; expected 1..65536",
          { .parts = 1, .rounds = 1, .preset = "demo", .train_length = 1, .lengths = NOUGHT, 1 } },
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        rela_error err = { RELA_OK, "" };
        rela_bench_options o = CASES[i].o;
        o.struct_size = sizeof o;
        CHECK(rela_bench(NULL, NULL, &o, &err) == RELA_ARG, "%s: accepted", CASES[i].message);
        CHECK(strstr(err.message, CASES[i].message), "%s; expected %s", err.message,
              CASES[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians_and_ends_are_found),
        cmocka_unit_test(quotients_are_taken_round_by_round),
        cmocka_unit_test(sheets_are_laid_out),
        cmocka_unit_test(work_is_repeated_until_the_time_has_passed),
        cmocka_unit_test(operations_of_an_update_are_counted),
        cmocka_unit_test(a_listener_stops_it),
        cmocka_unit_test(zeros_are_made_where_they_can_be),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* tests/unit/test_corpus.c - the rules of a parallel corpus, each counted, and their report. */
#include "scratch.h"

#include "base/fault.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "data/corpus_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MAX = 4 };

static two_paths files;

static int set_up(void **state)
{
    (void)state;
    return two_paths_make(&files, "a", "b");
}

static int tear_down(void **state)
{
    (void)state;
    return two_paths_remove(&files);
}

static void write_file(const char *path, const char *bytes, size_t len)
{
    rela_error err;
    CHECK_OK(rela_file_write(path, bytes, len, &err), err);
}

/* One number per word: its length. A word "!fail" is an error. */
static rela_status encode(void *ctx, const rela_corpus_line *line, int thread, rela_ids *out,
                          rela_error *err)
{
    (void)ctx, (void)thread;
    const char *at = line->text, *end = at + line->len;
    rela_span word;
    rela_status st = RELA_OK;
    while (st == RELA_OK && rela_next_word(&word, &at, end)) {
        if (word.len == 5 && memcmp(word.text, "!fail", 5) == 0)
            return rela_fail(err, RELA_UNSUP, "a word that cannot be encoded");
        if (word.len == 5 && memcmp(word.text, "!none", 5) == 0)
            continue;
        st = rela_ids_push(out, (int32_t)word.len, err);
    }
    return st;
}

/* Everything that was taken, as text: "line:ids|ids;". */
static rela_status take(void *ctx, const rela_pair *pair, rela_error *err)
{
    rela_buffer *out = ctx;
    rela_status st = rela_buffer_printf(out, err, "%d:", (int)pair->line);
    for (int side = 0; side < 2 && st == RELA_OK; side++) {
        for (size_t i = 0; i < pair->n[side] && st == RELA_OK; i++)
            st = rela_buffer_printf(out, err, "%s%d", i ? " " : "", pair->ids[side][i]);
        if (st == RELA_OK)
            st = rela_buffer_append_char(out, side ? ';' : '|', err);
    }
    return st;
}

static rela_corpus_files names; /* of the job */

static rela_corpus_job make_job(rela_buffer *taken)
{
    names = (rela_corpus_files){ { files.path, files.other } };
    rela_corpus_job job = { .files = &names,
                            .n_files = 1,
                            .n_sides = 2,
                            .n_threads = 1,
                            .encode = encode,
                            .take = take,
                            .take_ctx = taken };
    rela_corpus_rules_init(&job.rules, sizeof job.rules);
    return job;
}

typedef struct rule_case {
    const char *what;
    const char *a, *b; /* the lines; NULL b: two columns */
    size_t a_len;      /* 0: strlen */
    int32_t max_tokens, cut, drop_identical;
    double max_ratio;
    uint64_t max_line;
    int reason; /* of the pairs that are dropped; -1: none */
    uint64_t n_dropped;
    const char *taken;
} rule_case;

static const rule_case CASES[] = {
    { "plain text", "a bb\nccc\n", "x\nyy zz\n", .reason = -1, .taken = "1:1 2|1;2:3|2 2;" },
    { "no final line end", "a\nb", "c\nd", .reason = -1, .taken = "1:1|1;2:1|1;" },
    { "empty files", "", "", .reason = -1, .taken = "" },
    { "an empty source", "a\n\nb\n", "c\nd\ne\n", .reason = RELA_CORPUS_EMPTY, .n_dropped = 1,
      .taken = "1:1|1;3:1|1;" },
    { "an empty target", "a\nb\n", "\nd\n", .reason = RELA_CORPUS_EMPTY, .n_dropped = 1,
      .taken = "2:1|1;" },
    { "a blank side", "a\n \t \n", "b\nc\n", .reason = RELA_CORPUS_EMPTY, .n_dropped = 1,
      .taken = "1:1|1;" },
    { "a side that encodes to nothing", "!none\na\n", "b\nc\n", .reason = RELA_CORPUS_EMPTY,
      .n_dropped = 1, .taken = "2:1|1;" },
    { "one CR before LF is removed", "a\r\nb\r\r\n", "c\nd\n", .reason = -1,
      .taken = "1:1|1;2:1|1;" },
    { "a CR inside a line is data", "a\rb\n", "c\n", .reason = -1, .taken = "1:1 1|1;" },
    { "a byte order mark is removed",
      "\xEF\xBB\xBF"
      "a\n",
      "\xEF\xBB\xBF"
      "bb\n",
      .reason = -1, .taken = "1:1|2;" },
    { "U+2028, U+0085, VT and FF end no line",
      "a\xE2\x80\xA8"
      "b\xC2\x85\n",
      "c\v\fd\n", .reason = -1, .taken = "1:7|1 1;" },
    { "NUL is data", "a\0b\nc\n", "d\ne\n", .a_len = 6, .reason = -1, .taken = "1:3|1;2:1|1;" },
    { "a cut character", "a\xC3\nb\n", "c\nd\n", .reason = RELA_CORPUS_UTF8, .n_dropped = 1,
      .taken = "2:1|1;" },
    { "an overlong character", "a\n", "\xC0\xAF\n", .reason = RELA_CORPUS_UTF8, .n_dropped = 1,
      .taken = "" },
    { "a surrogate", "\xED\xA0\x80\n", "b\n", .reason = RELA_CORPUS_UTF8, .n_dropped = 1,
      .taken = "" },
    { "above U+10FFFF", "\xF5\x80\x80\x80\n", "b\n", .reason = RELA_CORPUS_UTF8, .n_dropped = 1,
      .taken = "" },
    { "a line over the byte limit", "abcdefgh\nabcdefghi\na\n", "x\ny\nz\n", .max_line = 8,
      .reason = RELA_CORPUS_TOO_LONG, .n_dropped = 1, .taken = "1:8|1;3:1|1;" },
    { "too many tokens", "a b c\na b\n", "x\ny\n", .max_tokens = 2, .reason = RELA_CORPUS_TOKENS,
      .n_dropped = 1, .taken = "2:1 1|1;" },
    { "too many tokens on the target side", "a\n", "x y z\n", .max_tokens = 2,
      .reason = RELA_CORPUS_TOKENS, .n_dropped = 1, .taken = "" },
    { "too many tokens, cut", "a bb ccc\na b\n", "xxxx yyyyy zzzzzz wwwwwww\ny\n", .max_tokens = 2,
      .cut = 1, .reason = -1, .taken = "1:1 2|4 5;2:1 1|1;" },
    { "lengths too different", "a b c\na b c d\n", "x\ny\n", .max_ratio = 3,
      .reason = RELA_CORPUS_RATIO, .n_dropped = 1, .taken = "1:1 1 1|1;" },
    { "lengths too different the other way", "a\n", "x y z w\n", .max_ratio = 3,
      .reason = RELA_CORPUS_RATIO, .n_dropped = 1, .taken = "" },
    { "both sides identical", "same\nsame\n", " same \nother\n", .drop_identical = 1,
      .reason = RELA_CORPUS_IDENTICAL, .n_dropped = 1, .taken = "2:4|5;" },
    { "identical sides are kept by default", "same\n", "same\n", .reason = -1, .taken = "1:4|4;" },
    { "two columns", "a\tbb\nccc\td d\r\n", NULL, .reason = -1, .taken = "1:1|2;2:3|1 1;" },
    { "no second column", "a\nb\tc\n", NULL, .reason = RELA_CORPUS_COLUMNS, .n_dropped = 1,
      .taken = "2:1|1;" },
    { "a third column", "a\tb\tc\nb\tc\n", NULL, .reason = RELA_CORPUS_COLUMNS, .n_dropped = 1,
      .taken = "2:1|1;" },
    { "an empty column", "\tb\nb\tc\n", NULL, .reason = RELA_CORPUS_EMPTY, .n_dropped = 1,
      .taken = "2:1|1;" },
    { "a column over the byte limit", "abcdef\tx\nabcd\tx\n", NULL, .max_line = 4,
      .reason = RELA_CORPUS_TOO_LONG, .n_dropped = 1, .taken = "2:4|1;" },
};

static void each_rule_counts_what_it_drops(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        const rule_case *c = &CASES[i];
        rela_error err = { RELA_OK, "" };
        rela_buffer taken = RELA_BUFFER_INIT;
        rela_corpus_report report;
        rela_corpus_job job = make_job(&taken);
        write_file(files.path, c->a, c->a_len ? c->a_len : strlen(c->a));
        if (c->b)
            write_file(files.other, c->b, strlen(c->b));
        else
            names.side[1] = NULL;
        job.rules.max_tokens = c->max_tokens ? c->max_tokens : job.rules.max_tokens;
        job.rules.max_line = c->max_line ? c->max_line : job.rules.max_line;
        job.rules.cut = c->cut;
        job.rules.drop_identical = c->drop_identical;
        job.rules.max_ratio = c->max_ratio;
        CHECK_OK(rela_corpus_read(&report, &job, &err), err);
        const char *got = taken.data ? taken.data : "";
        CHECK(strcmp(got, c->taken) == 0, "%s: took %s, want %s", c->what, got, c->taken);
        CHECK(report.kept + c->n_dropped == report.read, "%s: %d read, %d kept", c->what,
              (int)report.read, (int)report.kept);
        for (int r = 0; r < RELA_CORPUS_N_REASONS; r++)
            CHECK(report.dropped[r] == (r == c->reason ? c->n_dropped : 0), "%s: %s %d", c->what,
                  rela_corpus_reason_key((rela_corpus_reason)r), (int)report.dropped[r]);
        rela_buffer_free(&taken);
    }
}

static void notes_count_marks_returns_nuls_and_cuts(void **state)
{
    (void)state;
    rela_error err;
    rela_buffer taken = RELA_BUFFER_INIT;
    rela_corpus_report report;
    rela_corpus_job job = make_job(&taken);
    job.rules.max_tokens = 2;
    job.rules.cut = 1;
    static const char A[] = "\xEF\xBB\xBF"
                            "a\r\nb\0b\nc c c\n";
    write_file(files.path, A, sizeof A - 1);
    write_file(files.other, "x\r\ny\nz\n", 7);
    CHECK_OK(rela_corpus_read(&report, &job, &err), err);
    assert_int_equal(report.marks, 1);
    assert_int_equal(report.returns, 2);
    assert_int_equal(report.nuls, 1);
    assert_int_equal(report.cut, 1);
    rela_buffer_free(&taken);
}

static void different_numbers_of_lines_are_an_error_with_both(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b, *want;
    } cases[] = {
        { "a\nb\nc\n", "x\n", "/a has 3 lines and " },
        { "a\nb\nc\n", "x\n", "/b has 1; " },
        { "a\n", "x\ny", "/b has 2; " },
        { "", "x\n", "/a has 0 lines" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rela_error err = { RELA_OK, "" };
        rela_buffer taken = RELA_BUFFER_INIT;
        rela_corpus_report report;
        const rela_corpus_job job = make_job(&taken);
        write_file(files.path, cases[i].a, strlen(cases[i].a));
        write_file(files.other, cases[i].b, strlen(cases[i].b));
        assert_int_equal(rela_corpus_read(&report, &job, &err), RELA_FORMAT);
        CHECK(strstr(err.message, cases[i].want), "'%s', want '%s'", err.message, cases[i].want);
        rela_buffer_free(&taken);
    }
}

static void a_failing_encoder_names_file_and_line(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_buffer taken = RELA_BUFFER_INIT;
    rela_corpus_report report;
    const rela_corpus_job job = make_job(&taken);
    write_file(files.path, "a\nb\n", 4);
    write_file(files.other, "x\n!fail\n", 8);
    assert_int_equal(rela_corpus_read(&report, &job, &err), RELA_UNSUP);
    CHECK(strstr(err.message, "/b: line 2: a word that cannot be encoded"), "%s", err.message);
    rela_buffer_free(&taken);
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    rela_corpus_report report;
    for (int i = 0; i < 6; i++) {
        rela_corpus_job job = make_job(NULL);
        job.rules.max_tokens = i == 0 ? 0 : i == 1 ? RELA_CORPUS_TOKENS_MAX + 1 : 1;
        job.rules.max_line = i == 2 ? 0 : i == 3 ? UINT64_MAX : 1;
        job.rules.max_ratio = i == 4 ? 0.5 : 0;
        if (i == 5)
            names = (rela_corpus_files){ { "-", "-" } };
        assert_int_equal(rela_corpus_read(&report, &job, NULL), RELA_ARG);
    }
}

static int stop_at_once(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    CHECK(done > 0 && done <= total, "%d of %d bytes", (int)done, (int)total);
    return 1;
}

static void progress_can_stop_the_run(void **state)
{
    (void)state;
    rela_buffer taken = RELA_BUFFER_INIT;
    rela_corpus_report report;
    rela_corpus_job job = make_job(&taken);
    job.progress = stop_at_once;
    write_file(files.path, "a\n", 2);
    write_file(files.other, "b\n", 2);
    assert_int_equal(rela_corpus_read(&report, &job, NULL), RELA_CANCEL);
    rela_buffer_free(&taken);
}

/* Many pairs with every defect among them, so that blocks and threads come into play. */
static void write_large(size_t n)
{
    rela_buffer a = RELA_BUFFER_INIT, b = RELA_BUFFER_INIT;
    rela_error err;
    for (size_t i = 0; i < n; i++) {
        const char *bad = i % 97 == 0 ? "\xFF" : i % 89 == 0 ? "" : NULL;
        CHECK_OK(bad ? rela_buffer_printf(&a, &err, "%s\n", bad)
                     : rela_buffer_printf(&a, &err, "word%zu %zu\n", i, i * i),
                 err);
        CHECK_OK(rela_buffer_printf(&b, &err, "%zu and more%s\n", i, i % 83 ? "" : " and more"),
                 err);
    }
    write_file(files.path, a.data, a.len);
    write_file(files.other, b.data, b.len);
    rela_buffer_free(&a);
    rela_buffer_free(&b);
}

static void result_does_not_depend_on_threads(void **state)
{
    (void)state;
    rela_buffer first = RELA_BUFFER_INIT;
    rela_corpus_report want = { .read = 0 };
    write_large(20000);
    for (int n = 1; n <= THREADS_MAX; n++) {
        rela_error err;
        rela_buffer taken = RELA_BUFFER_INIT;
        rela_corpus_report report;
        rela_corpus_job job = make_job(n == 1 ? &first : &taken);
        job.n_threads = n;
        job.rules.max_tokens = 4;
        CHECK_OK(rela_corpus_read(&report, &job, &err), err);
        if (n == 1) {
            want = report;
            CHECK(want.dropped[RELA_CORPUS_UTF8] == 207 && want.first[RELA_CORPUS_UTF8][1] == 97,
                  "%d bad", (int)want.dropped[RELA_CORPUS_UTF8]);
            continue;
        }
        assert_memory_equal(&report, &want, sizeof want);
        assert_int_equal(taken.len, first.len);
        assert_memory_equal(taken.data, first.data, first.len);
        rela_buffer_free(&taken);
    }
    rela_buffer_free(&first);
}

static void a_line_without_end_is_never_held_whole(void **state)
{
    (void)state;
    enum { HUGE_LINE = 32 << 20 };
    rela_error err;
    rela_buffer taken = RELA_BUFFER_INIT;
    rela_corpus_report report;
    const rela_corpus_job job = make_job(&taken);
    char *line = rela_mem_alloc(HUGE_LINE);
    assert_non_null(line);
    memset(line, 'x', HUGE_LINE);
    memcpy(line + HUGE_LINE - 3, "\na\n", 3);
    write_file(files.path, line, HUGE_LINE);
    rela_mem_free(line);
    write_file(files.other, "b\nc\n", 4);
    rela_memory_stats before, after;
    before = memory_now();
    CHECK_OK(rela_corpus_read(&report, &job, &err), err);
    after = memory_now();
    assert_int_equal(report.dropped[RELA_CORPUS_TOO_LONG], 1);
    assert_int_equal(report.kept, 1);
    /* The peak of the process was the line itself, so nothing may have come near it again. */
    CHECK(after.peak == before.peak, "peak %d", (int)after.peak);
    rela_buffer_free(&taken);
}

static void report_as_table_and_json(void **state)
{
    (void)state;
    rela_error err;
    rela_buffer text = RELA_BUFFER_INIT;
    rela_corpus_report r = {
        .struct_size = sizeof r, .read = 100, .kept = 93, .cut = 2, .marks = 1
    };
    r.dropped[RELA_CORPUS_UTF8] = 1;
    r.first[RELA_CORPUS_UTF8][0] = 16;
    r.dropped[RELA_CORPUS_EMPTY] = 6;
    for (uint64_t i = 0; i < RELA_CORPUS_SHOWN; i++)
        r.first[RELA_CORPUS_EMPTY][i] = 10 * (i + 2) - 1;
    CHECK_OK(rela_corpus_report_table(&text, &r, &err), err);
    assert_string_equal(
        text.data, "pairs read                            100  100.00 %\n"
                   "kept                                   93   93.00 %\n"
                   "dropped                                 7    7.00 %\n"
                   "  invalid UTF-8                         1    1.00 %  line 17\n"
                   "  an empty side                         6    6.00 %  lines 20, 30, 40, 50, "
                   "60 ...\n"
                   "byte order marks removed                1\n"
                   "pairs cut                               2\n");
    rela_buffer_clear(&text);
    CHECK_OK(rela_corpus_report_json(&text, &r, &err), err);
    assert_string_equal(
        text.data,
        "{\"read\": 100, \"kept\": 93, \"dropped\": {\"columns\": {\"pairs\": 0, \"first\": []}, "
        "\"too-long\": {\"pairs\": 0, \"first\": []}, \"utf8\": {\"pairs\": 1, \"first\": [16]}, "
        "\"empty\": {\"pairs\": 6, \"first\": [19, 29, 39, 49, 59]}, \"identical\": {\"pairs\": "
        "0, \"first\": []}, \"tokens\": {\"pairs\": 0, \"first\": []}, \"ratio\": {\"pairs\": 0, "
        "\"first\": []}}, \"marks\": 1, \"returns\": 0, \"nuls\": 0, \"cut\": 2}");
    rela_buffer_free(&text);
    assert_null(rela_corpus_reason_key(RELA_CORPUS_N_REASONS));
    assert_string_equal(rela_corpus_reason_text(RELA_CORPUS_EMPTY), "an empty side");
}

static void check_measures_lengths_and_padding(void **state)
{
    (void)state;
    rela_error err;
    rela_corpus_report report = { .struct_size = sizeof report };
    rela_corpus_stats s = { .struct_size = sizeof s };
    rela_corpus_check_options o;
    rela_corpus_check_options_init(&o, sizeof o);
    o.src = files.path;
    o.tgt = files.other;
    o.batch_tokens = 5;
    write_file(files.path, "a\na b\na b c\n\n", 13);
    write_file(files.other, "x y\nx\nx y z\nq\n", 14);
    CHECK_OK(rela_corpus_check(&report, &s, &o, &err), err);
    assert_int_equal(report.dropped[RELA_CORPUS_EMPTY], 1);
    assert_int_equal(s.side[0].tokens, 6);
    assert_int_equal(s.side[1].median, 2);
    assert_int_equal(s.side[0].longest, 3);
    assert_int_equal(s.side[0].shortest, 1);
    /* Sorted by target: (2,1) and (1,2) share a batch of 2 + 3 tokens, (3,3) has its own. With end
     * symbols 5 of 6 source cells and 5 of 6 target cells, then 4 and 4. */
    assert_int_equal(s.batches, 2);
    CHECK(s.padding > 1.0 / 10 - 1e-9 && s.padding < 1.0 / 10 + 1e-9, "padding %g", s.padding);
    write_file(files.path, "", 0);
    write_file(files.other, "", 0);
    CHECK_OK(rela_corpus_check(&report, &s, &o, &err), err);
    assert_int_equal(s.batches, 0);
}

static void check_refuses_bad_options(void **state)
{
    (void)state;
    rela_error err;
    rela_corpus_report report = { .struct_size = sizeof report };
    rela_corpus_stats s = { .struct_size = sizeof s };
    rela_corpus_check_options o;
    rela_corpus_check_options_init(&o, sizeof o);
    assert_int_equal(rela_corpus_check(&report, &s, &o, &err), RELA_ARG);
    o.src = files.path;
    o.batch_tokens = 0;
    assert_int_equal(rela_corpus_check(&report, &s, &o, &err), RELA_ARG);
    o.batch_tokens = INT64_MAX;
    assert_int_equal(rela_corpus_check(&report, &s, &o, &err), RELA_ARG);
}

static void check_as_table_and_json(void **state)
{
    (void)state;
    rela_error err;
    rela_buffer text = RELA_BUFFER_INIT;
    const rela_corpus_report report = { .struct_size = sizeof report, .read = 9, .kept = 9 };
    const rela_corpus_stats s = { .struct_size = sizeof s,
                                  .side = { { 90, 2, 10, 18, 19, 20, 10.0 },
                                            { 45, 1, 5, 8, 9, 9, 5.0 } },
                                  .batch_tokens = 20,
                                  .batches = 3,
                                  .padding = 0.125 };
    CHECK_OK(rela_corpus_stats_table(&text, &report, &s, &err), err);
    CHECK(strstr(text.data, "in all                                 90           45\n") &&
              strstr(text.data, "mean                                10.00         5.00\n") &&
              strstr(text.data, "longest                                20            9\n") &&
              strstr(text.data, "batches of 20 target tokens: 3, padding would be 12.50 %\n"),
          "%s", text.data);
    rela_buffer_clear(&text);
    CHECK_OK(rela_corpus_stats_json(&text, &report, &s, &err), err);
    CHECK(strstr(text.data, "\"source\": {\"tokens\": 90, \"mean\": 10.0000, \"shortest\": 2, "
                            "\"median\": 10, \"p95\": 18, \"p99\": 19, \"longest\": 20}") &&
              strstr(text.data, "\"batch_tokens\": 20, \"batches\": 3, \"padding\": 0.125000}\n"),
          "%s", text.data);
    rela_buffer_free(&text);
}

/* Every report with more and more memory, until it succeeds. */
static void reports_survive_failing_memory(void **state)
{
    (void)state;
    const rela_corpus_stats s = { .struct_size = sizeof s };
    rela_corpus_report report = {
        .struct_size = sizeof report, .read = 99, .kept = 50, .marks = 1, .returns = 2
    };
    report.nuls = report.cut = 1;
    for (int r = 0; r < RELA_CORPUS_N_REASONS; r++)
        report.dropped[r] = 7;
    for (int what = 0; what < 2; what++) {
        rela_status st = RELA_NOMEM;
        for (uint64_t n = 1; st != RELA_OK; n++) {
            rela_error err = { RELA_OK, "" };
            rela_buffer text = RELA_BUFFER_INIT;
            rela_fault_set(RELA_FAULT_MEM, n, true);
            st = what == 0 ? rela_corpus_stats_table(&text, &report, &s, &err)
                           : rela_corpus_stats_json(&text, &report, &s, &err);
            rela_fault_set(RELA_FAULT_MEM, 0, false);
            CHECK(st == RELA_OK || (st == RELA_NOMEM && *err.message), "%d: %d", what, (int)st);
            rela_buffer_free(&text);
        }
    }
}

static void every_failing_call_is_survived(void **state)
{
    (void)state;
    write_large(3000);
    static const rela_fault_class CLASSES[] = { RELA_FAULT_MEM, RELA_FAULT_FILE };
    for (int c = 0; c < 2; c++)
        for (int persistent = 0; persistent < 2; persistent++)
            for (uint64_t n = 1;; n++) {
                rela_error err = { RELA_OK, "" };
                rela_corpus_stats stats = { .struct_size = sizeof stats };
                rela_corpus_check_options o;
                rela_memory_stats before, after;
                rela_corpus_check_options_init(&o, sizeof o);
                o.src = files.path;
                o.tgt = files.other;
                o.memory = 1000; /* so that the scratch file takes part */
                o.n_threads = 1 + (int32_t)(n % 2);
                before = memory_now();
                rela_fault_set(CLASSES[c], n, persistent);
                const rela_status st = rela_corpus_check(NULL, &stats, &o, &err);
                const uint64_t seen = rela_fault_seen(CLASSES[c]);
                rela_fault_set(CLASSES[c], 0, false);
                after = memory_now();
                CHECK(after.live == before.live, "class %d n %d: leak", c, (int)n);
                if (seen < n) {
                    CHECK(st == RELA_OK, "class %d n %d: %s", c, (int)n, err.message);
                    break;
                }
                CHECK(st == RELA_OK || *err.message, "class %d n %d: no message", c, (int)n);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_without_end_is_never_held_whole),
        cmocka_unit_test(each_rule_counts_what_it_drops),
        cmocka_unit_test(notes_count_marks_returns_nuls_and_cuts),
        cmocka_unit_test(different_numbers_of_lines_are_an_error_with_both),
        cmocka_unit_test(a_failing_encoder_names_file_and_line),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(progress_can_stop_the_run),
        cmocka_unit_test(result_does_not_depend_on_threads),
        cmocka_unit_test(report_as_table_and_json),
        cmocka_unit_test(check_measures_lengths_and_padding),
        cmocka_unit_test(check_refuses_bad_options),
        cmocka_unit_test(check_as_table_and_json),
        cmocka_unit_test(reports_survive_failing_memory),
        cmocka_unit_test(every_failing_call_is_survived),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* SPDX-License-Identifier: MIT */
/* tests/unit/test_progress.c - what a progress bar shows, on a terminal and elsewhere. */
#include "base/clock.h"
#include "base/progress.h"
#include "base/utf8.h"
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct sink {
    char text[1 << 16];
    size_t len;
} sink;

static void take(void *ctx, const char *bytes, size_t len)
{
    sink *s = ctx;
    CHECK(s->len + len < sizeof s->text, "too much output");
    memcpy(s->text + s->len, bytes, len);
    s->len += len;
    s->text[s->len] = '\0';
}

/* Pretends that the job started that many seconds ago and that an update is due. */
static void age(rela_progress *p, double seconds)
{
    p->started = rela_clock_seconds() - seconds;
    p->shown = p->started;
}

static void the_clock_never_goes_back(void **state)
{
    (void)state;
    double last = rela_clock_seconds();
    for (int i = 0; i < 1000; i++) {
        const double now = rela_clock_seconds();
        CHECK(now >= last, "%f after %f", now, last);
        last = now;
    }
}

static void whole_lines_go_to_a_file(void **state)
{
    (void)state;
    sink s = { "", 0 };
    rela_progress p = { .label = "read", .unit = "lines", .total = 1000, .emit = take, .ctx = &s };
    rela_progress_start(&p, 0);
    rela_progress_update(&p, 1, NULL); /* too early */
    assert_int_equal(s.len, 0);
    age(&p, 20);
    rela_progress_update(&p, 200, "loss 1.5");
    assert_string_equal(s.text, "read  20 % 200/1000 lines, 10/s, loss 1.5, left 1:20 min\n");
    s.len = 0;
    rela_progress_update(&p, 201, NULL); /* again too early */
    assert_int_equal(s.len, 0);
    age(&p, 100);
    rela_progress_finish(&p, 1000, NULL);
    assert_string_equal(s.text, "read 100 % 1000/1000 lines, 10/s, took 1:40 min\n");
}

static void a_terminal_line_is_redrawn(void **state)
{
    (void)state;
    sink s = { "", 0 };
    rela_progress p = {
        .label = "read", .unit = "lines", .total = 100, .terminal = true, .emit = take, .ctx = &s
    };
    rela_progress_start(&p, 0);
    age(&p, 10);
    rela_progress_update(&p, 50, NULL);
    CHECK(strstr(s.text, "[###############...............]  50 % 50/100"), "%s", s.text);
    CHECK(!strchr(s.text, '\n') && !strchr(s.text, '\r'), "%s", s.text);
    s.len = 0;
    age(&p, 20);
    rela_progress_update(&p, 99, NULL);
    CHECK(strncmp(s.text, "\r\033[K", 4) == 0, "not redrawn");
    s.len = 0;
    rela_progress_finish(&p, 100, NULL);
    CHECK(s.text[s.len - 1] == '\n', "the line is not ended");
}

static void a_terminal_line_never_wraps(void **state)
{
    (void)state;
    for (int width = 1; width < 200; width++) {
        sink s = { "", 0 };
        rela_progress p = { .label = "\xC3\xBC\xC3\xBC\xC3\xBC\xC3\xBC",
                            .unit = "lines",
                            .total = 100,
                            .terminal = true,
                            .width = width,
                            .emit = take,
                            .ctx = &s };
        rela_progress_start(&p, 0);
        age(&p, 10);
        rela_progress_update(&p, 50, "a rather long note about the loss and the rest of it");
        CHECK(rela_utf8_count(s.text, s.len) < (size_t)width || s.len == 0, "width %d: %s", width,
              s.text);
        CHECK(rela_utf8_valid(s.text, s.len) == s.len, "width %d: cut inside a character", width);
    }
}

/* The line of training at every width: it ends in the whole time, and fields go one by one. */
static void a_narrow_terminal_keeps_the_time(void **state)
{
    (void)state;
    static const struct {
        int width;
        const char *line;
    } ROWS[] = {
        { 120,
          "training [#####.....................]  20 % 800/4000 updates, 8/s, loss 3.512, 5123 "
          "tok/s, padding 3.1 %, left 6:40 min" },
        { 98, "training  20 % 800/4000 updates, 8/s, loss 3.512, 5123 tok/s, padding 3.1 %, "
              "left 6:40 min" },
        { 80, "training  20 % 800/4000 updates, 8/s, loss 3.512, 5123 tok/s, left 6:40 min" },
        { 70, "training  20 % 800/4000 updates, 8/s, loss 3.512, left 6:40 min" },
        { 60, "training  20 % 800/4000 updates, 8/s, left 6:40 min" },
        { 50, "training  20 % 800/4000 updates, left 6:40 min" },
        { 40, "training  20 %, left 6:40 min" },
        { 25, " 20 %, left 6:40 min" },
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        sink s = { "", 0 };
        rela_progress p = { .label = "training",
                            .unit = "updates",
                            .total = 4000,
                            .terminal = true,
                            .width = ROWS[i].width,
                            .emit = take,
                            .ctx = &s };
        rela_progress_start(&p, 0);
        age(&p, 100);
        rela_progress_update(&p, 800, "loss 3.512, 5123 tok/s, padding 3.1 %");
        assert_string_equal(s.text, ROWS[i].line);
    }
}

static void an_unknown_total_shows_no_share(void **state)
{
    (void)state;
    sink s = { "", 0 };
    rela_progress p = { .label = "read", .unit = "bytes", .emit = take, .ctx = &s };
    rela_progress_start(&p, 0);
    age(&p, 10);
    rela_progress_update(&p, 123456, "");
    CHECK(strncmp(s.text, "read 123.5K bytes, 12.", 22) == 0 && !strchr(s.text, '%'), "%s", s.text);
}

static void odd_counts_show_sense(void **state)
{
    (void)state;
    sink s = { "", 0 };
    rela_progress p = { .label = "x", .unit = "u", .total = 1000, .emit = take, .ctx = &s };
    rela_progress_start(&p, 500); /* resumed: the rate counts from there */
    age(&p, 10);
    rela_progress_update(&p, 600, NULL);
    assert_string_equal(s.text, "x  60 % 600/1000 u, 10/s, left 40 s\n");
    s.len = 0;
    age(&p, 20);
    rela_progress_update(&p, 400, NULL); /* after the start */
    assert_string_equal(s.text, "x  40 % 400/1000 u, 0/s\n");
    s.len = 0;
    age(&p, 20);
    rela_progress_update(&p, 2000, NULL); /* more than there should be */
    assert_string_equal(s.text, "x 100 % 2000/1000 u, 75/s\n");
    s.len = 0;
    p.total = 100000;
    rela_progress_start(&p, 0);
    age(&p, 20);
    rela_progress_update(&p, 99999, NULL);
    CHECK(strstr(s.text, " 99 % "), "done too early: %s", s.text);
    s.len = 0;
    p.total = UINT64_MAX;
    age(&p, 1e6);
    rela_progress_update(&p, 1, NULL);
    CHECK(strstr(s.text, ", left "), "%s", s.text);
}

static void times_and_counts_are_short(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        uint64_t done;
        const char *head, *tail; /* the rate between them depends on the moment */
    } ROWS[] = {
        { 0.2, 0, "x 0 u, 0/s", ", took 0 s\n" },
        { 59.8, 598, "x 598 u, ", ", took 1:00 min\n" },
        { 61, 9999, "x 9999 u, ", ", took 1:01 min\n" },
        { 3599.9, 36000, "x 36.0K u, ", ", took 1:00 h\n" },
        { 7325, 73260000, "x 73.3M u, ", "K/s, took 2:02 h\n" },
        { 100, 250000000000, "x 250.0G u, ", "M/s, took 1:40 min\n" },
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        sink s = { "", 0 };
        rela_progress p = { .label = "x", .unit = "u", .emit = take, .ctx = &s };
        rela_progress_start(&p, 0);
        age(&p, ROWS[i].seconds);
        rela_progress_finish(&p, ROWS[i].done, NULL);
        const size_t tail = strlen(ROWS[i].tail);
        CHECK(strncmp(s.text, ROWS[i].head, strlen(ROWS[i].head)) == 0 && s.len > tail &&
                  strcmp(s.text + s.len - tail, ROWS[i].tail) == 0,
              "row %zu: %s", i, s.text);
    }
}

static void without_emit_nothing_happens(void **state)
{
    (void)state;
    rela_progress p = { .label = "x", .unit = "u" };
    rela_progress_start(&p, 0);
    age(&p, 100);
    rela_progress_update(&p, 1, NULL);
    rela_progress_finish(&p, 1, NULL);
    CHECK(!p.visible, "drawn");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_never_goes_back),
        cmocka_unit_test(whole_lines_go_to_a_file),
        cmocka_unit_test(a_terminal_line_is_redrawn),
        cmocka_unit_test(a_terminal_line_never_wraps),
        cmocka_unit_test(a_narrow_terminal_keeps_the_time),
        cmocka_unit_test(an_unknown_total_shows_no_share),
        cmocka_unit_test(odd_counts_show_sense),
        cmocka_unit_test(times_and_counts_are_short),
        cmocka_unit_test(without_emit_nothing_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

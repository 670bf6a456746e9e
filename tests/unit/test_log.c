/* SPDX-License-Identifier: MIT */
/* tests/unit/test_log.c - levels, silence and cutting of log lines. */
#include "base/log.h"
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct sink {
    int n;
    rela_log_level level;
    char line[2000];
} sink;

static void take(void *ctx, rela_log_level level, const char *line)
{
    sink *s = ctx;
    s->n++;
    s->level = level;
    (void)strncpy(s->line, line, sizeof s->line - 1);
}

static void lines_reach_the_sink_from_the_least_level_on(void **state)
{
    (void)state;
    sink s = { 0 };
    const rela_log log = { take, &s, RELA_LOG_INFO };
    rela_log_line(&log, RELA_LOG_DEBUG, "no");
    assert_int_equal(s.n, 0);
    rela_log_line(&log, RELA_LOG_INFO, "%d of %s", 3, "x");
    CHECK(s.n == 1 && s.level == RELA_LOG_INFO && strcmp(s.line, "3 of x") == 0, "%s", s.line);
    rela_log_line(&log, RELA_LOG_WARNING, "w");
    CHECK(s.n == 2 && s.level == RELA_LOG_WARNING, "%d", s.n);
}

/* The library never prints: without a sink a line reaches neither the standard files nor ctx. */
static void without_a_sink_nothing_is_written(void **state)
{
    (void)state;
    sink s = { 0 };
    const rela_log log = { NULL, &s, RELA_LOG_DEBUG };
    FILE *file = tmpfile();
    const int out = dup(STDOUT_FILENO), error = dup(STDERR_FILENO);
    CHECK(file && out >= 0 && error >= 0 && fflush(NULL) == 0, "no files");
    (void)dup2(fileno(file), STDOUT_FILENO);
    (void)dup2(fileno(file), STDERR_FILENO);
    rela_log_line(NULL, RELA_LOG_WARNING, "x");
    rela_log_line(&log, RELA_LOG_WARNING, "x");
    (void)fflush(NULL);
    (void)dup2(out, STDOUT_FILENO);
    (void)dup2(error, STDERR_FILENO);
    (void)close(out);
    (void)close(error);
    CHECK(lseek(fileno(file), 0, SEEK_END) == 0, "something was printed");
    CHECK(s.n == 0, "%d lines", s.n);
    (void)fclose(file);
}

static void a_line_is_one_printable_line(void **state)
{
    (void)state;
    sink s = { 0 };
    const rela_log log = { take, &s, RELA_LOG_DEBUG };
    rela_log_line(&log, RELA_LOG_INFO, "file %s", "a\nb\x1b[0m");
    assert_string_equal(s.line, "file a?b?[0m");
}

static void long_lines_are_cut(void **state)
{
    (void)state;
    sink s = { 0 };
    const rela_log log = { take, &s, RELA_LOG_DEBUG };
    rela_log_line(&log, RELA_LOG_INFO, "%1500d", 1);
    CHECK(strlen(s.line) == 999, "%zu bytes", strlen(s.line));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_reach_the_sink_from_the_least_level_on),
        cmocka_unit_test(without_a_sink_nothing_is_written),
        cmocka_unit_test(a_line_is_one_printable_line),
        cmocka_unit_test(long_lines_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

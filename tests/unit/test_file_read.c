/* SPDX-License-Identifier: MIT */
/* tests/unit/test_file_read.c - opening, whole files, odd files and failures while reading. */
#include "base/fault.h"
#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "scratch.h"

#include <fcntl.h>
#include <sys/wait.h>

static void check_refused(const char *path, rela_status want, const char *reason)
{
    rela_error err = { RELA_OK, "" };
    rela_reader *r = (rela_reader *)&err;
    const rela_status st = rela_reader_open(&r, path, NULL, &err);
    CHECK(st == want && !r && strstr(err.message, reason), "%s: %s", path, err.message);
}

static void what_cannot_be_opened_is_named(void **state)
{
    (void)state;
    check_refused("", RELA_ARG, "empty");
    check_refused(scratch("missing"), RELA_IO, "missing: No such file or directory");
    check_refused(scratch_dir, RELA_IO, "Is a directory");
    CHECK(symlink("nowhere", scratch("dangling")) == 0, "symlink");
    check_refused(scratch("dangling"), RELA_IO, "dangling: No such file");
    (void)spill_text("plain", "x");
    check_refused(scratch("plain/below"), RELA_IO, "Not a directory");
}

static void odd_names_work(void **state)
{
    (void)state;
    static const char *const NAMES[] = { "with space", "new\nline", "\xFF\xFE",
                                         "-",          "--help",    "a;b$(c)'\"" };
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        rela_error err = { RELA_OK, "" };
        char *text = NULL;
        size_t len = 0;
        (void)spill_text(NAMES[i], "x\n");
        CHECK_OK(rela_file_read(&text, &len, scratch(NAMES[i]), 0, &err), err);
        assert_int_equal(len, 2);
        rela_mem_free(text);
    }
}

static void an_unreadable_file_is_refused(void **state)
{
    (void)state;
    CHECK(chmod(spill_text("secret", "x"), 0) == 0 && chmod(scratch_dir, 0755) == 0, "chmod");
    const pid_t child = fork();
    if (child == 0) { /* permissions do not bind root */
        rela_error err = { RELA_OK, "" };
        rela_reader *r = NULL;
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(0);
        const rela_status st = rela_reader_open(&r, scratch("secret"), NULL, &err);
        _exit(st == RELA_IO && strstr(err.message, "secret: Permission denied") ? 0 : 1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "status %d", status);
}

static void whole_files_end_in_nul(void **state)
{
    (void)state;
    static const size_t SIZES[] = { 0, 1, 63, 64, 262143, 262144, 262145, 1000003 };
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        rela_error err = { RELA_OK, "" };
        char *want = malloc(SIZES[i] + 1), *got = NULL;
        size_t len = 99;
        CHECK(want, "no memory");
        for (size_t j = 0; j < SIZES[i]; j++)
            want[j] = (char)(j * 31 + j / 256 + 1);
        (void)spill("whole", want, SIZES[i]);
        CHECK_OK(rela_file_read(&got, &len, scratch("whole"), 0, &err), err);
        CHECK(len == SIZES[i] && memcmp(got, want, len) == 0 && got[len] == '\0', "%zu bytes", len);
        rela_mem_free(got);
        CHECK_OK(rela_file_read(&got, &len, scratch("whole"), SIZES[i] + !SIZES[i], &err), err);
        rela_mem_free(got);
        if (SIZES[i] > 1) {
            assert_int_equal(rela_file_read(&got, &len, scratch("whole"), SIZES[i] - 1, &err),
                             RELA_FORMAT);
            CHECK(!got && len == 0 && strstr(err.message, "whole: more than"), "%s", err.message);
        }
        free(want);
    }
}

/* Lines of at most 10 bytes. Short reads show that lines are put together across them. */
static void bad_lines_are_refused_with_their_number(void **state)
{
    (void)state;
    static const struct {
        const char *text, *wrong; /* wrong NULL: fine */
    } ROWS[] = { { "", NULL },
                 { "0123456789\n0123456789", NULL },
                 { "\xEF\xBB\xBF"
                   "0123456789\r\n\n",
                   NULL },
                 { "a\n\n012345678901234\nb\n", "lines: line 3: longer than 10 bytes" },
                 { "a\n012345678901234", "lines: line 2: longer than 10 bytes" },
                 { "a\n\xC3\xA4\n\xFFz\n", "lines: line 3: not valid UTF-8" },
                 { "a\nb\xC3", "lines: line 2: not valid UTF-8" } };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        for (uint32_t step = 0; step < 5; step++) {
            rela_error err = { RELA_OK, "" };
            char *text = NULL;
            size_t len = 0;
            spill_text("lines", ROWS[i].text);
            rela_fault_set_short(step);
            const rela_status st =
                rela_file_read_lines(&text, &len, scratch("lines"), 1000, 10, &err);
            rela_fault_set_short(0);
            CHECK(st == (ROWS[i].wrong ? RELA_FORMAT : RELA_OK), "row %zu: %s", i, err.message);
            if (ROWS[i].wrong)
                CHECK(!text && strstr(err.message, ROWS[i].wrong), "row %zu: %s", i, err.message);
            else
                CHECK(strcmp(text, ROWS[i].text) == 0 && len == strlen(text), "row %zu", i);
            rela_mem_free(text);
        }
}

/* An endless line is refused after its limit, not after that of the file. */
static void an_endless_line_is_refused_at_once(void **state)
{
    (void)state;
    rela_error err;
    char *text = NULL;
    size_t len = 0;
    const rela_memory_stats before = memory_now();
    assert_int_equal(rela_file_read_lines(&text, &len, "/dev/zero", 1 << 30, 1 << 20, &err),
                     RELA_FORMAT);
    const rela_memory_stats after = memory_now();
    CHECK(after.peak - before.live < 8 << 20, "%llu bytes for an endless line",
          (unsigned long long)(after.peak - before.live));
}

static void a_claimed_size_is_not_trusted(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    char *got = NULL;
    size_t len = 0;
    rela_memory_stats stats;
    CHECK(truncate(spill_text("sparse", "x"), (off_t)1 << 40) == 0, "truncate");
    assert_int_equal(rela_file_read(&got, &len, scratch("sparse"), 1 << 20, &err), RELA_FORMAT);
    stats = memory_now();
    CHECK(stats.peak < 8 << 20, "peak %llu", (unsigned long long)stats.peak);
}

static void files_of_unknown_size_are_read_to_the_end(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    char *got = NULL;
    size_t len = 0;
    CHECK_OK(rela_file_read(&got, &len, "/proc/self/status", 0, &err), err);
    CHECK(len > 100, "%zu bytes", len);
    rela_mem_free(got);
    CHECK_OK(rela_file_read(&got, &len, "/dev/null", 0, &err), err);
    assert_int_equal(len, 0);
    rela_mem_free(got);
}

static void a_file_that_changes_size_is_noticed(void **state)
{
    (void)state;
    enum { SIZE = 1 << 20 };
    char *text = calloc(1, SIZE);
    CHECK(text, "no memory");
    for (int grows = 0; grows < 2; grows++) {
        rela_error err = { RELA_OK, "" };
        rela_reader *r = NULL;
        char bytes[1000];
        size_t got = 1;
        (void)spill("changing", text, SIZE);
        CHECK_OK(rela_reader_open(&r, scratch("changing"), NULL, &err), err);
        CHECK_OK(rela_reader_bytes(r, bytes, sizeof bytes, &got, &err), err);
        CHECK(truncate(scratch("changing"), grows ? SIZE + 5 : SIZE / 2) == 0, "truncate");
        rela_status st = RELA_OK;
        while (st == RELA_OK && got > 0)
            st = rela_reader_bytes(r, bytes, sizeof bytes, &got, &err);
        CHECK(st == RELA_IO && strstr(err.message, "changing: changed size"), "%s", err.message);
        rela_reader_close(r);
    }
    free(text);
}

static void a_dash_is_standard_input(void **state)
{
    (void)state;
    const int saved = dup(STDIN_FILENO), fd = open(spill_text("in", "one\ntwo"), O_RDONLY);
    CHECK(saved >= 0 && fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO, "dup2");
    rela_error err = { RELA_OK, "" };
    rela_reader *r = NULL;
    rela_line line;
    CHECK_OK(rela_reader_open(&r, "-", NULL, &err), err);
    assert_string_equal(rela_reader_name(r), "standard input");
    CHECK_OK(rela_reader_line(r, &line, &err), err);
    CHECK(line.len == 3 && rela_reader_size(r) == 7, "%zu", line.len);
    rela_reader_close(r);
    CHECK(fcntl(STDIN_FILENO, F_GETFD) >= 0, "standard input was closed");
    CHECK(dup2(saved, STDIN_FILENO) == STDIN_FILENO && close(saved) == 0 && close(fd) == 0, "dup2");
}

/* Copies standard input to standard output through the library; both do not wait by themselves. */
static int copy_lines(void)
{
    rela_error err = { RELA_OK, "" };
    rela_reader *r = NULL;
    rela_writer *w = NULL;
    rela_line line = { .text = "" };
    rela_status st = rela_reader_open(&r, "-", NULL, &err);
    if (st == RELA_OK)
        st = rela_writer_open(&w, "-", &err);
    while (st == RELA_OK && line.text) {
        st = rela_reader_line(r, &line, &err);
        if (st == RELA_OK && line.text)
            st = rela_writer_write(w, line.text, line.len, &err);
    }
    rela_reader_close(r);
    if (st == RELA_OK)
        return rela_writer_commit(w, &err) == RELA_OK ? 0 : 2;
    rela_writer_abort(w);
    return 1;
}

static void descriptors_that_do_not_wait_are_waited_for(void **state)
{
    (void)state;
    enum { BIG = 1 << 20 };
    int in[2], out[2];
    CHECK(pipe(in) == 0 && pipe(out) == 0, "pipe");
    const pid_t child = fork();
    if (child == 0) {
        (void)dup2(in[0], STDIN_FILENO);
        (void)dup2(out[1], STDOUT_FILENO);
        for (int i = 0; i < 2; i++) {
            (void)close(in[i]);
            (void)close(out[i]);
        }
        (void)fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
        (void)fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK | O_WRONLY);
        _exit(copy_lines());
    }
    (void)close(in[0]);
    (void)close(out[1]);
    char *text = malloc(BIG);
    CHECK(text, "no memory");
    memset(text, 'x', BIG);
    (void)usleep(20000); /* the child reads from an empty pipe */
    for (size_t done = 0, n = 0; done < BIG; done += n) {
        n = (size_t)write(in[1], text + done, BIG - done);
        CHECK(n <= BIG, "write");
    }
    (void)close(in[1]);
    (void)usleep(20000); /* the child writes to a full pipe */
    size_t total = 0;
    for (ssize_t n = 1; n > 0; total += (size_t)n)
        n = read(out[0], text, BIG);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "the child returned %d", status);
    CHECK(total == BIG, "%zu bytes", total);
    (void)close(out[0]);
    free(text);
}

static void nothing_is_read_into_no_room(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_reader *r = NULL;
    size_t got = 9;
    (void)spill_text("room", "abc");
    CHECK_OK(rela_reader_open(&r, scratch("room"), NULL, &err), err);
    CHECK_OK(rela_reader_bytes(r, NULL, 0, &got, &err), err);
    assert_int_equal(got, 0);
    char c = 0;
    CHECK_OK(rela_reader_bytes(r, &c, 1, &got, &err), err);
    CHECK(got == 1 && c == 'a', "%c", c);
    rela_reader_close(r);
}

static void closing_nothing_is_fine(void **state)
{
    (void)state;
    rela_reader_close(NULL);
    rela_span line;
    const char *at = NULL;
    CHECK(!rela_next_line(&line, &at, NULL), "a line of nothing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_opened_is_named),
        cmocka_unit_test(odd_names_work),
        cmocka_unit_test(an_unreadable_file_is_refused),
        cmocka_unit_test(whole_files_end_in_nul),
        cmocka_unit_test(bad_lines_are_refused_with_their_number),
        cmocka_unit_test(an_endless_line_is_refused_at_once),
        cmocka_unit_test(a_claimed_size_is_not_trusted),
        cmocka_unit_test(files_of_unknown_size_are_read_to_the_end),
        cmocka_unit_test(a_file_that_changes_size_is_noticed),
        cmocka_unit_test(a_dash_is_standard_input),
        cmocka_unit_test(descriptors_that_do_not_wait_are_waited_for),
        cmocka_unit_test(nothing_is_read_into_no_room),
        cmocka_unit_test(closing_nothing_is_fine),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}

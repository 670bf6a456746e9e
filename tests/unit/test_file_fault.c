/* SPDX-License-Identifier: MIT */
/* tests/unit/test_file_fault.c - writing with every call failing in turn: the old contents or all
 * of the new, never a temporary left behind. Scratch files too. */
#include "base/fault.h"
#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "scratch.h"

#include <signal.h>
#include <sys/time.h>

static const char *const NAMES[] = { "out", "out.gz", "out.zst" };

enum { N_NAMES = 3, NEW_LEN = 300000 };

static char new_text[NEW_LEN];

static int prepare(void **state)
{
    for (size_t i = 0; i < NEW_LEN; i++)
        new_text[i] = (char)((i * 2654435761u >> 13) % 95 + 32);
    return scratch_make(state);
}

static rela_status write_new(const char *path, rela_error *err)
{
    rela_writer *w = NULL;
    rela_status st = rela_writer_open(&w, path, err);
    for (size_t at = 0; st == RELA_OK && at < NEW_LEN; at += 50000)
        st = rela_writer_write(w, new_text + at, 50000, err);
    if (st == RELA_OK)
        return rela_writer_commit(w, err);
    rela_writer_abort(w);
    return st;
}

/* 1: the new contents, 0: the old, -1: anything else. */
static int which(const char *path)
{
    rela_error err = { RELA_OK, "" };
    char *got = NULL;
    size_t len = 0;
    CHECK_OK(rela_file_read(&got, &len, path, 0, &err), err);
    const int is = len == NEW_LEN && memcmp(got, new_text, len) == 0 ? 1
                   : len == 3 && memcmp(got, "old", 3) == 0          ? 0
                                                                     : -1;
    rela_mem_free(got);
    return is;
}

static bool sweep_once(const char *name, rela_fault_class class, uint64_t n, bool persistent)
{
    rela_error err = { RELA_OK, "" };
    const char *path = spill_text(name, "old");
    rela_fault_set(class, n, persistent);
    const rela_status st = write_new(path, &err);
    const bool reached = rela_fault_seen(class) >= n;
    rela_fault_set(class, 0, false);
    const int is = which(path);
    CHECK(is >= 0, "%s, call %d: neither old nor new", name, (int)n);
    if (st == RELA_OK) {
        CHECK(is == 1, "%s, call %d: success, but the old contents", name, (int)n);
    } else {
        CHECK(st == (class == RELA_FAULT_MEM ? RELA_NOMEM : RELA_IO), "call %d: status %d", (int)n,
              (int)st);
        CHECK(strstr(err.message, name), "%s, call %d: '%s'", name, (int)n, err.message);
    }
    assert_int_equal(count_files(scratch_dir, NULL), 1);
    assert_int_equal(unlink(path), 0);
    return reached;
}

static void every_call_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_NAMES; i++)
        for (int class = 0; class < RELA_FAULT_N_CLASSES; class ++)
            for (int persistent = 0; persistent < 2; persistent++) {
                uint64_t n = 1;
                while (sweep_once(NAMES[i], (rela_fault_class) class, n, persistent))
                    n++;
                CHECK(n > 3 && n < 1000, "%d calls", (int)n);
            }
}

static void short_writes_are_completed(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_NAMES; i++) {
        rela_error err = { RELA_OK, "" };
        rela_fault_set_short(1001);
        CHECK_OK(write_new(scratch(NAMES[i]), &err), err);
        assert_int_equal(which(scratch(NAMES[i])), 1);
        rela_fault_set_short(1);
        CHECK_OK(rela_file_write(scratch(NAMES[i]), "old", 3, &err), err);
        assert_int_equal(which(scratch(NAMES[i])), 0);
        rela_fault_set_short(0);
        assert_int_equal(unlink(scratch(NAMES[i])), 0);
    }
}

static void ignore(int number)
{
    (void)number;
}

static void interrupted_calls_go_on(void **state)
{
    (void)state;
    const struct sigaction action = { .sa_handler = ignore }; /* no SA_RESTART */
    const struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { { 0, 0 }, { 0, 0 } };
    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &often, NULL) == 0, "");
    for (int round = 0; round < 20; round++) {
        rela_error err = { RELA_OK, "" };
        rela_fault_set_short(7919); /* many calls */
        CHECK_OK(write_new(scratch("out"), &err), err);
        assert_int_equal(which(scratch("out")), 1);
    }
    rela_fault_set_short(0);
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0 && unlink(scratch("out")) == 0, "");
}

static void a_scratch_file_has_no_name(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_scratch *s = NULL;
    char got[16] = "";
    CHECK_OK(rela_scratch_open(&s, scratch_dir, &err), err);
    assert_int_equal(count_files(scratch_dir, NULL), 0);
    rela_fault_set_short(3);
    CHECK_OK(rela_scratch_write(s, "hello world", 11, 100, &err), err);
    CHECK_OK(rela_scratch_read(s, got, 5, 106, &err), err);
    assert_string_equal(got, "world");
    CHECK_OK(rela_scratch_read(s, got, 2, 98, &err), err); /* a hole reads as zeros */
    CHECK(got[0] == 0 && got[1] == 0, "hole");
    rela_fault_set_short(0);
    CHECK_OK(rela_scratch_read(s, got, 0, 1000, &err), err);
    assert_int_equal(rela_scratch_read(s, got, 5, 107, &err), RELA_IO);
    CHECK(strstr(err.message, "ends too early"), "%s", err.message);
    rela_scratch_close(s);
    rela_scratch_close(NULL);
}

static void a_scratch_file_needs_a_folder(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_scratch *s = NULL;
    assert_int_equal(rela_scratch_open(&s, scratch("missing"), &err), RELA_IO);
    CHECK(!s && strstr(err.message, "missing"), "%s", err.message);
    (void)setenv("TMPDIR", scratch("missing"), 1);
    assert_int_equal(rela_scratch_open(&s, NULL, &err), RELA_IO);
    (void)setenv("TMPDIR", "", 1);
    CHECK_OK(rela_scratch_open(&s, NULL, &err), err);
    rela_scratch_close(s);
}

static void every_call_on_a_scratch_file_may_fail(void **state)
{
    (void)state;
    for (int class = 0; class < RELA_FAULT_N_CLASSES; class ++)
        for (uint64_t n = 1, reached = 1; reached; n++) {
            rela_error err = { RELA_OK, "" };
            rela_scratch *s = NULL;
            char got[4];
            rela_fault_set((rela_fault_class) class, n, false);
            rela_status st = rela_scratch_open(&s, scratch_dir, &err);
            if (st == RELA_OK)
                st = rela_scratch_write(s, "abcd", 4, 0, &err);
            if (st == RELA_OK)
                st = rela_scratch_read(s, got, 4, 0, &err);
            rela_scratch_close(s);
            reached = rela_fault_seen((rela_fault_class) class) >= n;
            rela_fault_set((rela_fault_class) class, 0, false);
            CHECK(st == RELA_OK || strstr(err.message, "scratch file"), "%s", err.message);
            assert_int_equal(count_files(scratch_dir, NULL), 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_may_fail),
        cmocka_unit_test(short_writes_are_completed),
        cmocka_unit_test(interrupted_calls_go_on),
        cmocka_unit_test(a_scratch_file_has_no_name),
        cmocka_unit_test(a_scratch_file_needs_a_folder),
        cmocka_unit_test(every_call_on_a_scratch_file_may_fail),
    };
    return cmocka_run_group_tests(tests, prepare, scratch_remove);
}

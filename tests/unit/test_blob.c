/* SPDX-License-Identifier: MIT */
/* tests/unit/test_blob.c - files read at any place, and the listing of a directory. */
#include "scratch.h"
#include "sweep.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static two_paths at;

static int set_up(void **state)
{
    (void)state;
    return two_paths_make(&at, "file", "other");
}

static int tear_down(void **state)
{
    (void)state;
    return two_paths_remove(&at);
}

static void write_file(const char *bytes, size_t len)
{
    rela_error err;
    CHECK_OK(rela_file_write(at.path, bytes, len, &err), err);
}

static void any_place_can_be_read(void **state)
{
    (void)state;
    rela_blob *b = NULL;
    rela_error err;
    char out[8] = "";
    write_file("0123456789", 10);
    CHECK_OK(rela_blob_open(&b, at.path, &err), err);
    assert_int_equal(rela_blob_size(b), 10);
    assert_string_equal(rela_blob_name(b), at.path);
    for (uint32_t at_once = 0; at_once < 3; at_once++) {
        rela_fault_set_short(at_once);
        CHECK_OK(rela_blob_read(b, out, 4, 3, &err), err);
        rela_fault_set_short(0);
        assert_memory_equal(out, "3456", 4);
    }
    CHECK_OK(rela_blob_read(b, out, 0, 10, &err), err);
    assert_int_equal(rela_blob_read(b, out, 1, 10, &err), RELA_FORMAT);
    assert_int_equal(rela_blob_read(b, out, 4, 8, &err), RELA_FORMAT);
    assert_non_null(strstr(err.message, "ends after 10 bytes"));
    rela_blob_close(b);
}

static void a_change_of_size_is_noticed(void **state)
{
    (void)state;
    rela_blob *b = NULL;
    rela_error err;
    char out[8];
    write_file("0123456789", 10);
    CHECK_OK(rela_blob_open(&b, at.path, &err), err);
    CHECK_OK(rela_blob_check(b, &err), err);
    assert_int_equal(truncate(at.path, 5), 0);
    assert_int_equal(rela_blob_read(b, out, 8, 0, &err), RELA_FORMAT);
    assert_non_null(strstr(err.message, "ends after 5 bytes; it had 10"));
    assert_int_equal(rela_blob_check(b, &err), RELA_FORMAT);
    assert_non_null(strstr(err.message, "changed from 10 to 5 bytes"));
    rela_blob_close(b);
}

static void only_regular_files_are_opened(void **state)
{
    (void)state;
    rela_blob *b = NULL;
    rela_error err;
    (void)unlink(at.path);
    assert_int_equal(rela_blob_open(&b, at.path, &err), RELA_IO);
    assert_int_equal(rela_blob_open(&b, scratch_dir, &err), RELA_IO);
    assert_non_null(strstr(err.message, "directory"));
    assert_int_equal(rela_blob_open(&b, "/dev/zero", &err), RELA_IO);
    assert_non_null(strstr(err.message, "not a regular file"));
    assert_int_equal(rela_blob_open(&b, "", &err), RELA_ARG);
    assert_int_equal(mkfifo(at.path, 0600), 0);
    assert_int_equal(rela_blob_open(&b, at.path, &err), RELA_IO); /* at once, without a writer */
    assert_int_equal(unlink(at.path), 0);
    assert_int_equal(symlink("nowhere", at.path), 0);
    assert_int_equal(rela_blob_open(&b, at.path, &err), RELA_IO);
    assert_null(b);
    rela_blob_close(NULL);
}

/* Counts the names that end in ".x". */
static rela_status see(void *ctx, const char *name, rela_error *err)
{
    (void)err;
    const size_t len = strlen(name);
    *(int *)ctx += len >= 2 && strcmp(name + len - 2, ".x") == 0;
    return RELA_OK;
}

static void a_directory_is_listed_or_an_error_is_told(void **state)
{
    (void)state;
    static const char *const NAMES[] = { "b.x", "a.x", ".x", "c.y" };
    enum { N = sizeof NAMES / sizeof NAMES[0] };
    rela_error err;
    int n_seen = 0;
    char full[N][SCRATCH_PATH];
    for (size_t i = 0; i < N; i++) {
        (void)snprintf(full[i], sizeof full[i], "%s/%s", scratch_dir, NAMES[i]);
        CHECK_OK(rela_file_write(full[i], "", 0, &err), err);
    }
    CHECK_OK(rela_dir_list(scratch_dir, see, &n_seen, &err), err);
    assert_int_equal(n_seen, 3);
    for (sweep w = SWEEP_START; sweep_next(&w);) {
        sweep_arm(&w);
        const rela_status st = rela_dir_list(scratch_dir, see, &n_seen, &err);
        sweep_disarm(&w);
        sweep_check(&w);
        CHECK(st == (w.hit ? RELA_IO : RELA_OK), "call %d: %d", (int)w.n, st);
    }
    for (size_t i = 0; i < N; i++)
        assert_int_equal(unlink(full[i]), 0);
    assert_true(rela_dir_exists(scratch_dir));
    assert_false(rela_dir_exists(at.path));
    assert_int_equal(rela_dir_list(at.path, see, &n_seen, &err), RELA_IO);
}

static void failing_calls_are_survived(void **state)
{
    (void)state;
    (void)unlink(at.path); /* a link left by the test before */
    write_file("0123456789", 10);
    for (sweep w = SWEEP_START; sweep_next(&w);) {
        rela_blob *b = NULL;
        rela_error err = { RELA_OK, "" };
        char out[4];
        sweep_arm(&w);
        rela_status st = rela_blob_open(&b, at.path, &err);
        st = st ? st : rela_blob_read(b, out, 4, 2, &err);
        st = st ? st : rela_blob_check(b, &err);
        sweep_disarm(&w);
        rela_blob_close(b);
        sweep_check(&w);
        sweep_status(&w, st, &err);
        CHECK(!w.hit || st != RELA_OK, "call %d failed unnoticed", (int)w.n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_place_can_be_read),
        cmocka_unit_test(a_change_of_size_is_noticed),
        cmocka_unit_test(only_regular_files_are_opened),
        cmocka_unit_test(a_directory_is_listed_or_an_error_is_told),
        cmocka_unit_test(failing_calls_are_survived),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

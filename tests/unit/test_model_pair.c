/* SPDX-License-Identifier: MIT */
/* tests/unit/test_model_pair.c - two models in one file: places, and files that are cut or lie. */
#include "scratch.h"

#include "format/pair.h"
#include "rela/model.h"

#include <string.h>

static char first[600], second[600], pair[600], twice[600];

static int set_up(void **state)
{
    const int failed = scratch_make(state);
    (void)snprintf(first, sizeof first, "%s/first", scratch_dir);
    (void)snprintf(second, sizeof second, "%s/second", scratch_dir);
    (void)snprintf(pair, sizeof pair, "%s/pair", scratch_dir);
    (void)snprintf(twice, sizeof twice, "%s/twice", scratch_dir);
    return failed;
}

static rela_status place(uint64_t *at, uint64_t *size, const char *path, int part, rela_error *err)
{
    rela_blob *b = NULL;
    CHECK_OK(rela_blob_open(&b, path, err), *err);
    const rela_status st = rela_pair_place(at, size, b, part, err);
    rela_blob_close(b);
    return st;
}

static void save(const char *a, const char *b)
{
    rela_error err;
    CHECK_OK(rela_file_write(first, a, strlen(a), &err), err);
    CHECK_OK(rela_file_write(second, b, strlen(b), &err), err);
    CHECK_OK(rela_model_pair_save(pair, first, second, &err), err);
}

static void both_parts_are_found(void **state)
{
    (void)state;
    rela_error err;
    uint64_t at = 0, size = 0;
    save("one", "and two");
    assert_true(rela_model_is_pair(pair));
    assert_false(rela_model_is_pair(first));
    CHECK_OK(place(&at, &size, pair, 1, &err), err);
    assert_int_equal(at, 16);
    assert_int_equal(size, 3);
    CHECK_OK(place(&at, &size, pair, 2, &err), err);
    assert_int_equal(at, 19);
    assert_int_equal(size, 7);
    CHECK_OK(rela_pair_split(second, first, pair, &err), err);
    CHECK_OK(rela_model_pair_save(twice, second, first, &err), err);
    CHECK_OK(place(&at, &size, twice, 2, &err), err);
    assert_int_equal(at, 19);
    assert_int_equal(size, 7);
    assert_int_equal(rela_pair_split(second, first, "missing", &err), RELA_IO);
    save("one", "and two");
    CHECK_OK(place(&at, &size, first, 0, &err), err);
    assert_int_equal(at, 0);
    assert_int_equal(size, 3);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    rela_error err;
    uint64_t at = 0, size = 0;
    save("one", "");
    assert_int_equal(place(&at, &size, pair, 0, &err), RELA_FORMAT);
    CHECK(strstr(err.message, "a pair of models"), "%s", err.message);
    assert_int_equal(place(&at, &size, first, 1, &err), RELA_FORMAT);
    CHECK(strstr(err.message, "not a pair"), "%s", err.message);
    static const char LIES[] = "RELAPAIR\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFsome bytes";
    for (size_t n = 0; n < sizeof LIES; n++) {
        CHECK_OK(rela_file_write(pair, LIES, n, &err), err);
        assert_int_equal(place(&at, &size, pair, 2, &err), RELA_FORMAT);
    }
    CHECK(strstr(err.message, "cut off or damaged"), "%s", err.message);
    assert_int_equal(rela_model_pair_save(first, first, second, &err), RELA_ARG);
    assert_int_equal(rela_model_pair_save(pair, "missing", second, &err), RELA_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_parts_are_found),
        cmocka_unit_test(other_files_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_remove);
}

/* SPDX-License-Identifier: MIT */
/* tests/unit/test_npz.c - an archive is what the formats of zip and numpy say, byte by byte; a disk
 * that fails leaves nothing. */
#include "analyse/npz.h"
#include "base/fault.h"
#include "check.h"
#include "scratch.h"

#include <zlib.h>

static uint64_t number(const char *at, int n)
{
    uint64_t value = 0;
    for (int i = n - 1; i >= 0; i--)
        value = value << 8 | (unsigned char)at[i];
    return value;
}

static rela_status write_one(const char *path, rela_error *err)
{
    static const int32_t ROWS[] = { 1, 2, 3, 4, 5, 6 };
    static const float WEIGHTS[] = { 0.5F, 2 };
    rela_npz *z = NULL;
    size_t a = 0, b = 0, c = 0;
    rela_status st = rela_npz_open(&z, path, err);
    if (st == RELA_OK)
        st = rela_npz_add(&a, z, "rows", RELA_NPY_I32, 3, err);
    if (st == RELA_OK)
        st = rela_npz_add(&b, z, "weights", RELA_NPY_F32, 0, err);
    if (st == RELA_OK)
        st = rela_npz_add(&c, z, "none", RELA_NPY_U8, 0, err);
    if (st == RELA_OK)
        st = rela_npz_append(z, a, ROWS, 3, err);
    if (st == RELA_OK)
        st = rela_npz_append(z, b, WEIGHTS, 2, err);
    if (st == RELA_OK)
        st = rela_npz_append(z, a, ROWS + 3, 3, err);
    if (st != RELA_OK) {
        rela_npz_abort(z);
        return st;
    }
    return rela_npz_commit(z, NULL, err);
}

/* Checks an entry at *at and steps after it. */
static void check_entry(const char *bytes, size_t *at, const char *name, const char *shape,
                        const void *data, size_t len)
{
    const char *p = bytes + *at;
    const size_t n_name = strlen(name);
    CHECK(number(p, 4) == 0x04034b50 && number(p + 26, 2) == n_name, "%s: no entry", name);
    CHECK(memcmp(p + 30, name, n_name) == 0, "not %s", name);
    const char *extra = p + 30 + n_name;
    const uint64_t size = number(extra + 4, 8);
    CHECK(number(extra, 2) == 1 && size == number(extra + 12, 8), "%s: sizes", name);
    const char *npy = extra + number(p + 28, 2);
    CHECK(number(p + 14, 4) == crc32(0, (const unsigned char *)npy, (uInt)size), "%s: crc", name);
    CHECK(memcmp(npy, "\x93NUMPY\x01", 7) == 0, "%s: magic", name);
    const size_t header = 10 + (size_t)number(npy + 8, 2);
    CHECK(header % 64 == 0 && npy[header - 1] == '\n', "%s: header of %zu", name, header);
    char text[256] = "";
    memcpy(text, npy + 10, header - 11);
    CHECK(strstr(text, shape), "%s: %s in %s", name, shape, text);
    CHECK(size == header + len && (len == 0 || memcmp(npy + header, data, len) == 0),
          "%s: contents", name);
    *at = (size_t)(npy - bytes) + (size_t)size;
}

static void archives_are_as_numpy_reads_them(void **state)
{
    (void)state;
    static const int32_t ROWS[] = { 1, 2, 3, 4, 5, 6 };
    static const float WEIGHTS[] = { 0.5F, 2 };
    rela_error err = { RELA_OK, "" };
    const char *path = scratch("a.npz");
    CHECK_OK(write_one(path, &err), err);
    size_t len = 0, at = 0;
    char *bytes = slurp(path, &len);
    check_entry(bytes, &at, "rows.npy", "'<i4', 'fortran_order': False, 'shape': (2, 3)", ROWS,
                sizeof ROWS);
    check_entry(bytes, &at, "weights.npy", "'<f4', 'fortran_order': False, 'shape': (2,)", WEIGHTS,
                sizeof WEIGHTS);
    check_entry(bytes, &at, "none.npy", "'|u1', 'fortran_order': False, 'shape': (0,)", NULL, 0);
    CHECK(number(bytes + at, 4) == 0x02014b50, "no index");
    const char *end = bytes + len - 22;
    CHECK(number(end, 4) == 0x06054b50 && number(end + 10, 2) == 3, "no end");
    const char *where = end - 20;
    CHECK(number(where, 4) == 0x07064b50, "no locator");
    const char *end64 = bytes + number(where + 8, 8);
    CHECK(number(end64, 4) == 0x06064b50 && number(end64 + 48, 8) == at, "index at %d",
          (int)number(end64 + 48, 8));
    free(bytes);
    (void)unlink(path);
}

static void a_failing_disk_leaves_nothing(void **state)
{
    (void)state;
    const char *path = scratch("b.npz");
    for (uint64_t n = 1; n < 40; n++) {
        rela_error err = { RELA_OK, "" };
        rela_fault_set(RELA_FAULT_FILE, n, true);
        const rela_status st = write_one(path, &err);
        rela_fault_set(RELA_FAULT_FILE, 0, false);
        if (st == RELA_OK)
            break;
        CHECK(st == RELA_IO && *err.message, "call %d: %d %s", (int)n, st, err.message);
    }
    (void)unlink(path);
    CHECK(count_files(scratch_dir, NULL) == 0, "something is left in %s", scratch_dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(archives_are_as_numpy_reads_them),
        cmocka_unit_test(a_failing_disk_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}

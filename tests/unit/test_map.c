/* SPDX-License-Identifier: MIT */
/* tests/unit/test_map.c - numbering, odd keys, collisions and failures of the hash map. */
#include "base/fault.h"
#include "base/map.h"
#include "base/mem.h"
#include "check.h"

#include <stdio.h>
#include <string.h>

static void numbers_follow_the_order_of_insertion(void **state)
{
    (void)state;
    enum { N = 20000 };
    rela_map *m = rela_map_create(0);
    char key[32];
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < N; i++) {
            const size_t len = (size_t)snprintf(key, sizeof key, "key %u", i * 7);
            CHECK(rela_map_add(m, key, len) == i, "pass %d, key %u", pass, i);
        }
    assert_int_equal(rela_map_size(m), N);
    for (uint32_t i = 0; i < N; i++) {
        const size_t len = (size_t)snprintf(key, sizeof key, "key %u", i * 7);
        const rela_span back = rela_map_key(m, i);
        CHECK(rela_map_find(m, key, len) == i, "key %u is lost", i);
        CHECK(back.len == len && memcmp(back.text, key, len) == 0 && back.text[len] == '\0',
              "key %u reads %.*s", i, (int)back.len, back.text);
    }
    assert_int_equal(rela_map_find(m, "key 1", 5), RELA_MAP_NONE);
    rela_map_destroy(m);
    rela_map_destroy(NULL);
}

static void keys_may_hold_any_bytes(void **state)
{
    (void)state;
    rela_map *m = rela_map_create(3);
    assert_int_equal(rela_map_find(m, NULL, 0), RELA_MAP_NONE);
    assert_int_equal(rela_map_add(m, "", 0), 0);
    assert_int_equal(rela_map_add(m, NULL, 0), 0);
    assert_int_equal(rela_map_add(m, "\0", 1), 1);
    assert_int_equal(rela_map_add(m, "\0\0", 2), 2);
    assert_int_equal(rela_map_add(m, "a\0b", 3), 3);
    assert_int_equal(rela_map_find(m, "a\0c", 3), RELA_MAP_NONE);
    assert_int_equal(rela_map_find(m, "a", 1), RELA_MAP_NONE);
    rela_map_destroy(m);
}

static void long_keys_share_the_map_with_short_ones(void **state)
{
    (void)state;
    enum { LONG = 200000 };
    static char key[LONG];
    rela_map *m = rela_map_create(0);
    memset(key, 'x', LONG);
    for (uint32_t i = 0; i < 30; i++)
        CHECK(rela_map_add(m, key, i % 2 ? LONG - i : i) == i, "key %u", i);
    for (uint32_t i = 0; i < 30; i++)
        CHECK(rela_map_find(m, key, i % 2 ? LONG - i : i) == i, "key %u", i);
    rela_map_destroy(m);
}

static void equal_hashes_are_told_apart(void **state)
{
    (void)state;
    rela_map *m = rela_map_create(0);
    char key[8];
    for (uint32_t i = 0; i < 500; i++) {
        const size_t len = (size_t)snprintf(key, sizeof key, "%u", i);
        CHECK(rela_map_add_hashed(m, key, len, 42) == i, "key %u", i);
    }
    for (uint32_t i = 0; i < 500; i++) {
        const size_t len = (size_t)snprintf(key, sizeof key, "%u", i);
        CHECK(rela_map_find_hashed(m, key, len, 42) == i, "key %u", i);
    }
    assert_int_equal(rela_map_find_hashed(m, "500", 3, 42), RELA_MAP_NONE);
    rela_map_destroy(m);
}

static void an_expected_size_saves_growing(void **state)
{
    (void)state;
    rela_memory_stats before, after;
    rela_map *m = rela_map_create(1000);
    assert_int_equal(rela_map_add(m, "first", 5), 0);
    before = memory_now();
    char key[16];
    for (uint32_t i = 1; i < 16; i++)
        (void)rela_map_add(m, key, (size_t)snprintf(key, sizeof key, "%u", i));
    after = memory_now();
    assert_int_equal(after.calls, before.calls);
    rela_map_destroy(m);
    assert_null(rela_map_create(SIZE_MAX));
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 40; n++) {
        rela_fault_set(RELA_FAULT_MEM, n, false);
        rela_map *m = rela_map_create(0);
        char key[16];
        uint32_t failed = 0;
        for (uint32_t i = 0; m && i < 300; i++) {
            const size_t len = (size_t)snprintf(key, sizeof key, "k%u", i);
            uint32_t got = rela_map_add(m, key, len);
            if (got == RELA_MAP_NONE) { /* nothing was added: a second try succeeds */
                failed++;
                CHECK(rela_map_find(m, key, len) == RELA_MAP_NONE, "half added");
                got = rela_map_add(m, key, len);
            }
            CHECK(got == i, "fault %d: key %u has number %u", (int)n, i, got);
        }
        rela_fault_set(RELA_FAULT_MEM, 0, false);
        CHECK(failed <= 1, "%u failures", failed);
        rela_map_destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_follow_the_order_of_insertion),
        cmocka_unit_test(keys_may_hold_any_bytes),
        cmocka_unit_test(long_keys_share_the_map_with_short_ones),
        cmocka_unit_test(equal_hashes_are_told_apart),
        cmocka_unit_test(an_expected_size_saves_growing),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

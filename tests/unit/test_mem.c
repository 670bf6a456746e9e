/* SPDX-License-Identifier: MIT */
/* tests/unit/test_mem.c - sizes, growth, counters and failures of the allocator. */
#include "base/fault.h"
#include "base/mem.h"
#include "check.h"

#include <string.h>

static void zero_bytes_give_a_valid_pointer(void **state)
{
    (void)state;
    void *p = rela_mem_alloc(0), *q = rela_mem_zalloc(0);
    CHECK(p && q && p != q, "p %p, q %p", p, q);
    rela_mem_free(p);
    rela_mem_free(q);
    rela_mem_free(NULL);
}

static void blocks_are_aligned_and_zeroed(void **state)
{
    (void)state;
    for (size_t size = 1; size < 300; size += 7) {
        unsigned char *p = rela_mem_zalloc(size);
        CHECK(p && (uintptr_t)p % 16 == 0, "size %zu: %p", size, (void *)p);
        for (size_t i = 0; i < size; i++)
            CHECK(p[i] == 0, "size %zu: byte %zu is %u", size, i, p[i]);
        memset(p, 0xA5, size);
        rela_mem_free(p);
    }
}

static void resizing_keeps_the_contents(void **state)
{
    (void)state;
    char *p = rela_mem_resize(NULL, 5);
    CHECK(p, "no memory");
    memcpy(p, "abcd", 5);
    for (size_t size = 6; size < 100000; size *= 3) {
        p = rela_mem_resize(p, size);
        CHECK(p && strcmp(p, "abcd") == 0, "lost at %zu", size);
    }
    p = rela_mem_resize(p, 2);
    CHECK(p && p[0] == 'a' && p[1] == 'b', "lost when shrinking");
    rela_mem_free(p);
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    size_t cap = 0;
    assert_null(rela_mem_alloc(SIZE_MAX));
    assert_null(rela_mem_alloc(SIZE_MAX - 15));
    assert_null(rela_mem_array(SIZE_MAX / 2, 3));
    assert_null(rela_mem_grow(NULL, &cap, SIZE_MAX, 2));
    assert_null(rela_mem_grow(NULL, &cap, SIZE_MAX / 2 + 2, 1));
    assert_int_equal(cap, 0);
}

static void growth_doubles_and_never_shrinks(void **state)
{
    (void)state;
    size_t cap = 0;
    int *a = rela_mem_grow(NULL, &cap, 0, sizeof *a);
    CHECK(a && cap >= 1, "cap %zu", cap);
    for (size_t n = 1; n < 5000; n++) {
        const size_t before = cap;
        a = rela_mem_grow(a, &cap, n, sizeof *a);
        CHECK(a && cap >= n && (cap == before || cap == 2 * before), "n %zu: %zu -> %zu", n, before,
              cap);
        a[n - 1] = (int)n;
    }
    for (size_t n = 1; n < 5000; n++)
        CHECK(a[n - 1] == (int)n, "element %zu is %d", n, a[n - 1]);
    assert_ptr_equal(rela_mem_grow(a, &cap, 3, sizeof *a), a);
    rela_mem_free(a);
}

static void a_failed_growth_changes_nothing(void **state)
{
    (void)state;
    size_t cap = 0;
    char *a = rela_mem_grow(NULL, &cap, 10, 1);
    CHECK(a, "no memory");
    const size_t before = cap;
    memset(a, 'x', cap);
    rela_fault_set(RELA_FAULT_MEM, 1, false);
    assert_null(rela_mem_grow(a, &cap, before + 1, 1));
    rela_fault_set(RELA_FAULT_MEM, 0, false);
    CHECK(cap == before && a[before - 1] == 'x', "cap %zu", cap);
    rela_mem_free(a);
}

static void faults_hit_once_or_from_there_on(void **state)
{
    (void)state;
    for (int persistent = 0; persistent < 2; persistent++) {
        rela_fault_set(RELA_FAULT_MEM, 3, persistent);
        for (int call = 1; call <= 5; call++) {
            void *p = rela_mem_alloc(8);
            const int fails = call == 3 || (call > 3 && persistent);
            CHECK((p == NULL) == fails, "call %d, persistent %d: %p", call, persistent, p);
            rela_mem_free(p);
        }
        assert_int_equal(rela_fault_seen(RELA_FAULT_MEM), 5);
    }
    rela_fault_set(RELA_FAULT_MEM, 0, false);
}

static void counters_follow_live_bytes_and_peak(void **state)
{
    (void)state;
    rela_memory_stats before, now;
    before = memory_now();
    char *p = rela_mem_alloc(1000), *q = rela_mem_alloc(500);
    now = memory_now();
    CHECK(now.live == before.live + 1500 && now.calls == before.calls + 2, "live %llu",
          (unsigned long long)now.live);
    CHECK(now.peak >= now.live, "peak %llu", (unsigned long long)now.peak);
    p = rela_mem_resize(p, 100);
    now = memory_now();
    assert_int_equal(now.live, before.live + 600);
    rela_mem_free(p);
    rela_mem_free(q);
    now = memory_now();
    assert_int_equal(now.live, before.live);
}

static void checked_arithmetic_knows_the_edges(void **state)
{
    (void)state;
    size_t out = 7;
    CHECK(rela_size_mul(&out, 0, SIZE_MAX) && out == 0, "%zu", out);
    CHECK(rela_size_mul(&out, SIZE_MAX, 1) && out == SIZE_MAX, "%zu", out);
    CHECK(!rela_size_mul(&out, SIZE_MAX / 2 + 1, 2), "%zu", out);
    CHECK(rela_size_add(&out, SIZE_MAX, 0) && out == SIZE_MAX, "%zu", out);
    CHECK(!rela_size_add(&out, SIZE_MAX, 1), "%zu", out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_bytes_give_a_valid_pointer),
        cmocka_unit_test(blocks_are_aligned_and_zeroed),
        cmocka_unit_test(resizing_keeps_the_contents),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(growth_doubles_and_never_shrinks),
        cmocka_unit_test(a_failed_growth_changes_nothing),
        cmocka_unit_test(faults_hit_once_or_from_there_on),
        cmocka_unit_test(counters_follow_live_bytes_and_peak),
        cmocka_unit_test(checked_arithmetic_knows_the_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

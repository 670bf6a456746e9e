/* SPDX-License-Identifier: MIT */
/* tests/unit/test_arena.c - alignment, marks, reuse and failures of the arena. */
#include "base/arena.h"
#include "base/fault.h"
#include "base/mem.h"
#include "check.h"

#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

static void allocations_are_aligned_and_disjoint(void **state)
{
    (void)state;
    enum { N = 200 };
    rela_arena *a = rela_arena_create(1000); /* not a multiple of the alignment */
    unsigned char *p[N];
    for (size_t i = 0; i < N; i++) {
        p[i] = rela_arena_alloc(a, i * 3 + 1);
        CHECK(p[i] && (uintptr_t)p[i] % 64 == 0, "allocation %zu at %p", i, (void *)p[i]);
        memset(p[i], (int)i, i * 3 + 1);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < i * 3 + 1; j++)
            CHECK(p[i][j] == (unsigned char)i, "allocation %zu was overwritten", i);
    rela_arena_destroy(a);
    rela_arena_destroy(NULL);
}

static void requests_beyond_a_block_get_their_own(void **state)
{
    (void)state;
    rela_arena *a = rela_arena_create(128);
    char *big = rela_arena_alloc(a, 100000);
    char *small = rela_arena_alloc(a, 1);
    CHECK(big && small, "no memory");
    memset(big, 1, 100000);
    CHECK(rela_arena_capacity(a) >= 100000, "capacity %zu", rela_arena_capacity(a));
    rela_arena_destroy(a);
}

static void zero_bytes_are_a_valid_pointer(void **state)
{
    (void)state;
    rela_arena *a = rela_arena_create(0);
    assert_non_null(rela_arena_alloc(a, 0));
    assert_int_equal(rela_arena_capacity(a), 1 << 20);
    rela_arena_destroy(a);
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    rela_arena *a = rela_arena_create(128);
    assert_null(rela_arena_alloc(a, SIZE_MAX));
    assert_null(rela_arena_alloc(a, SIZE_MAX - 64));
    assert_null(rela_arena_alloc(a, SIZE_MAX - 200));
    assert_non_null(rela_arena_alloc(a, 10));
    rela_arena_destroy(a);
}

static void a_mark_frees_what_came_after_it(void **state)
{
    (void)state;
    rela_arena *a = rela_arena_create(256);
    char *keep = rela_arena_alloc(a, 10);
    memcpy(keep, "keep me", 8);
    const rela_arena_mark m = rela_arena_save(a);
    char *first = rela_arena_alloc(a, 50);
    for (int i = 0; i < 20; i++)
        assert_non_null(rela_arena_alloc(a, 300));
    rela_arena_restore(a, m);
    assert_string_equal(keep, "keep me");
    assert_ptr_equal(rela_arena_alloc(a, 50), first);
    rela_arena_destroy(a);
}

static void a_mark_of_an_empty_arena_works(void **state)
{
    (void)state;
    rela_arena *a = rela_arena_create(256);
    const rela_arena_mark m = rela_arena_save(a);
    char *first = rela_arena_alloc(a, 50);
    rela_arena_restore(a, m);
    assert_ptr_equal(rela_arena_alloc(a, 50), first);
    rela_arena_destroy(a);
}

static void a_warm_arena_never_calls_the_heap(void **state)
{
    (void)state;
    rela_arena *a = rela_arena_create(512);
    rela_memory_stats before, after;
    for (int round = 0; round < 3; round++) {
        before = memory_now();
        for (size_t i = 0; i < 100; i++)
            assert_non_null(rela_arena_alloc(a, i * 17 % 900));
        rela_arena_reset(a);
        after = memory_now();
        CHECK(round == 0 || after.calls == before.calls, "round %d: %llu calls", round,
              (unsigned long long)(after.calls - before.calls));
    }
    rela_arena_destroy(a);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 20; n++) {
        rela_fault_set(RELA_FAULT_MEM, n, false);
        rela_arena *a = rela_arena_create(128);
        size_t got = 0;
        for (int i = 0; a && i < 8; i++)
            got += rela_arena_alloc(a, 100) != NULL;
        rela_fault_set(RELA_FAULT_MEM, 0, false);
        if (a) { /* usable after a failure */
            char *p = rela_arena_alloc(a, 1000);
            CHECK(p && got >= 7, "n %d: %zu", (int)n, got);
            memset(p, 0, 1000);
            rela_arena_reset(a);
            assert_non_null(rela_arena_alloc(a, 1));
        }
        rela_arena_destroy(a);
    }
}

#if defined(__SANITIZE_ADDRESS__)
static void released_memory_is_poisoned(void **state)
{
    (void)state;
    rela_arena *a = rela_arena_create(256);
    char *p = rela_arena_alloc(a, 40);
    CHECK(!__asan_address_is_poisoned(p + 39), "live memory is poisoned");
    CHECK(__asan_address_is_poisoned(p + 40), "no red zone after a block");
    rela_arena_reset(a);
    CHECK(__asan_address_is_poisoned(p), "released memory is not poisoned");
    rela_arena_destroy(a);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_aligned_and_disjoint),
        cmocka_unit_test(requests_beyond_a_block_get_their_own),
        cmocka_unit_test(zero_bytes_are_a_valid_pointer),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(a_mark_frees_what_came_after_it),
        cmocka_unit_test(a_mark_of_an_empty_arena_works),
        cmocka_unit_test(a_warm_arena_never_calls_the_heap),
        cmocka_unit_test(every_allocation_may_fail),
#if defined(__SANITIZE_ADDRESS__)
        cmocka_unit_test(released_memory_is_poisoned),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

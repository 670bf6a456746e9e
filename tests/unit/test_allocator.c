/* SPDX-License-Identifier: MIT */
/* tests/unit/test_allocator.c - the allocator hook, in a program of its own: it can only be set
 * before the first allocation. */
#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "scratch.h"

typedef struct account {
    size_t live, n_calls, limit;
    size_t mismatches; /* old_size that differs from what was given out */
} account;

enum { NOTE = 16 };

/* Keeps the size in front of the block, to compare it with what the library says. */
static void *resize(void *ctx, void *old, size_t old_size, size_t new_size)
{
    account *a = ctx;
    char *block = old ? (char *)old - NOTE : NULL;
    size_t known = 0;
    if (block)
        memcpy(&known, block, sizeof known);
    a->mismatches += known != old_size;
    a->n_calls++;
    if (new_size == 0) {
        free(block);
        a->live -= old_size;
        return NULL;
    }
    if (a->limit && a->live - old_size + new_size > a->limit)
        return NULL;
    block = realloc(block, new_size + NOTE);
    if (!block)
        return NULL;
    memcpy(block, &new_size, sizeof new_size);
    a->live += new_size - old_size;
    return block + NOTE;
}

static account books;

static void the_hook_must_have_a_function(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    const rela_allocator empty = { NULL, NULL };
    assert_int_equal(rela_allocator_set(NULL, &err), RELA_ARG);
    assert_int_equal(rela_allocator_set(&empty, &err), RELA_ARG);
    CHECK(*err.message, "no message");
}

static void the_hook_sees_every_byte(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    const rela_allocator hook = { resize, &books };
    CHECK_OK(rela_allocator_set(&hook, &err), err);
    char *p = rela_mem_alloc(100);
    p = rela_mem_resize(p, 5000);
    CHECK(p && books.live >= 5000 && books.n_calls == 2, "live %zu", books.live);
    rela_mem_free(p);
    CHECK(books.live == 0 && books.mismatches == 0, "live %zu, %zu mismatches", books.live,
          books.mismatches);
}

static void a_whole_read_and_write_balances(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    char *text = NULL;
    size_t len = 0;
    CHECK_OK(rela_file_write(scratch("a.gz"), "one\ntwo\n", 8, &err), err);
    CHECK_OK(rela_file_read(&text, &len, scratch("a.gz"), 0, &err), err);
    assert_int_equal(len, 8);
    rela_mem_free(text);
    CHECK(books.live == 0 && books.mismatches == 0, "live %zu", books.live);
}

static void a_limit_of_the_hook_is_out_of_memory(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    char *text = NULL;
    size_t len = 0;
    CHECK_OK(rela_file_write(scratch("b.txt"), "one\n", 4, &err), err);
    books.limit = 10000;
    assert_int_equal(rela_file_read(&text, &len, scratch("b.txt"), 0, &err), RELA_NOMEM);
    books.limit = 0;
    CHECK(!text && strstr(err.message, "b.txt"), "message %s", err.message);
    assert_int_equal(books.live, 0);
}

static void a_second_hook_comes_too_late(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    const rela_allocator hook = { resize, &books };
    assert_int_equal(rela_allocator_set(&hook, &err), RELA_STATE);
    assert_int_equal(err.status, RELA_STATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hook_must_have_a_function),
        cmocka_unit_test(the_hook_sees_every_byte),
        cmocka_unit_test(a_whole_read_and_write_balances),
        cmocka_unit_test(a_limit_of_the_hook_is_out_of_memory),
        cmocka_unit_test(a_second_hook_comes_too_late),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}

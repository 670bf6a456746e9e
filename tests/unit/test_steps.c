/* SPDX-License-Identifier: MIT */
/* tests/unit/test_steps.c - files in step: every line of all of them, in order, on any number of
 * threads; limits; different lengths are told. */
#include "base/line_rows.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/textlines.h"
#include "check.h"
#include "scratch.h"

enum { LINES = 1000 };

typedef struct gathered {
    uint64_t next;
    size_t n;
    rela_buffer text;
} gathered;

/* "a|b" for the two lines of every row. */
static rela_status join(void *ctx, rela_rows *rows, int thread, rela_error *err)
{
    rela_status st = RELA_OK;
    (void)ctx;
    (void)thread;
    if (!rows->extra)
        rows->extra = rela_mem_zalloc(8);
    for (size_t i = 0; i < rows->n && st == RELA_OK; i++) {
        const rela_span *c = rows->lines + 2 * i;
        st = rela_buffer_printf(&rows->out, err, "%.*s|%.*s\n", (int)c[0].len, c[0].text,
                                (int)c[1].len, c[1].text);
    }
    return st;
}

static rela_status add(void *ctx, rela_rows *rows, rela_error *err)
{
    gathered *g = ctx;
    CHECK(rows->first == g->next && rows->extra, "rows from %d", (int)rows->first);
    g->next += rows->n;
    g->n += rows->n;
    return rela_buffer_append(&g->text, rows->out.data, rows->out.len, err);
}

static rela_steps steps_of(const char *const *files, gathered *g, int n_threads)
{
    *g = (gathered){ .next = 1 };
    return (rela_steps){ .files = files,
                         .n_files = 2,
                         .n_threads = n_threads,
                         .block_rows = 7,
                         .work = join,
                         .done = add,
                         .free_extra = rela_mem_free,
                         .ctx = g };
}

static void rows_come_in_order_on_any_number_of_threads(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_buffer a = RELA_BUFFER_INIT, b = RELA_BUFFER_INIT, want = RELA_BUFFER_INIT;
    for (int i = 0; i < LINES; i++) {
        CHECK_OK(rela_buffer_printf(&a, &err, "a%d\n", i), err);
        CHECK_OK(rela_buffer_printf(&b, &err, i % 3 ? "b%d\r\n" : "\n", i), err);
        CHECK_OK(rela_buffer_printf(&want, &err, i % 3 ? "a%d|b%d\n" : "a%d|\n", i, i), err);
    }
    const char *const files[] = { spill("a", a.data, a.len), spill("b", b.data, b.len) };
    for (int threads = 1; threads <= 4; threads++) {
        gathered g;
        uint64_t n = 0;
        rela_steps s = steps_of(files, &g, threads);
        CHECK_OK(rela_steps_run(&n, &s, &err), err);
        CHECK(n == LINES && g.n == LINES && g.text.len == want.len &&
                  memcmp(g.text.data, want.data, want.len) == 0,
              "%d threads: %d rows", threads, (int)n);
        rela_buffer_free(&g.text);
        s = steps_of(files, &g, threads);
        s.limit = 33;
        CHECK_OK(rela_steps_run(&n, &s, &err), err);
        CHECK(n == 33 && g.n == 33, "limit: %d rows", (int)n);
        rela_buffer_free(&g.text);
    }
    rela_buffer_free(&a);
    rela_buffer_free(&b);
    rela_buffer_free(&want);
}

static void odd_files_are_told_or_cut(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    const char *const uneven[] = { spill_text("c", "1\n2\n3\n"), spill_text("d", "1\n2") };
    gathered g;
    rela_steps s = steps_of(uneven, &g, 2);
    CHECK(rela_steps_run(NULL, &s, &err) == RELA_FORMAT, "accepted");
    CHECK(strstr(err.message, "has 3 lines but") && strstr(err.message, "has 2"), "%s",
          err.message);
    rela_buffer_free(&g.text);

    const char *const empty[] = { spill_text("e", ""), spill_text("f", "") };
    s = steps_of(empty, &g, 2);
    CHECK(rela_steps_run(NULL, &s, &err) == RELA_FORMAT && strstr(err.message, "no lines"), "%s",
          err.message);
    s.may_be_empty = true;
    CHECK_OK(rela_steps_run(NULL, &s, &err), err);

    const char *const twice[] = { "-", "-" };
    s = steps_of(twice, &g, 1);
    CHECK(rela_steps_run(NULL, &s, &err) == RELA_ARG, "standard input twice");

    const char *const cut[] = { spill_text("g", "abcdefgh\nij\n"), spill_text("h", "k\nl\n") };
    s = steps_of(cut, &g, 1);
    s.max_line = 3;
    CHECK_OK(rela_steps_run(NULL, &s, &err), err);
    CHECK(strcmp(g.text.data, "abc|k\nij|l\n") == 0, "cut: %s", g.text.data);
    rela_buffer_free(&g.text);

    CHECK(rela_fail_at(&err, RELA_OK, "x", 1) == RELA_OK, "success is passed on");
    (void)rela_fail(&err, RELA_FORMAT, "why");
    CHECK(rela_fail_at(&err, RELA_FORMAT, "-", 7) == RELA_FORMAT &&
              strcmp(err.message, "standard input: line 7: why") == 0,
          "%s", err.message);
}

static void all_lines_of_a_file_in_memory(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_text_lines l = { NULL, 0, NULL, 0 };
    CHECK_OK(rela_text_lines_read(&l,
                                  spill_text("i", "\xEF\xBB\xBF"
                                                  "one\r\n\nthree"),
                                  &err),
             err);
    CHECK(l.n == 3 && l.items[0].len == 3 && l.items[1].len == 0 && l.items[2].len == 5,
          "%zu lines", l.n);
    rela_text_lines_free(&l);
    CHECK_OK(rela_text_lines_read(&l, spill_text("j", ""), &err), err);
    CHECK(l.n == 0, "lines of nothing");
    rela_text_lines_free(&l);
    CHECK(rela_text_lines_read(&l, scratch("missing"), &err) == RELA_IO, "a missing file");
    rela_text_lines_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_in_order_on_any_number_of_threads),
        cmocka_unit_test(odd_files_are_told_or_cut),
        cmocka_unit_test(all_lines_of_a_file_in_memory),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}

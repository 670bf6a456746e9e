/* SPDX-License-Identifier: MIT */
/* tests/unit/test_links.c - word links: reading hostile lines, AER and symmetrisation against plain
 * reimplementations (tools/golden/metric.py). */
#include "golden.h"

#include "base/fault.h"
#include "base/mem.h"
#include "base/str.h"
#include "rela/metric.h"

#include <stdio.h>
#include <string.h>

static json_t *all;

static int load(void **state)
{
    (void)state;
    all = golden_load("tests/golden/metric.json");
    return 0;
}

static int unload(void **state)
{
    (void)state;
    json_decref(all);
    return 0;
}

static void parse(rela_links *l, const char *line, const rela_link_format *form)
{
    rela_error err = { RELA_OK, "" };
    CHECK_OK(rela_links_parse(l, line, strlen(line), form, &err), err);
}

/* Reads a line in one form and writes it in another. */
static void check_form(const char *line, const rela_link_format *in, const char *want,
                       const rela_link_format *out)
{
    rela_links l = { NULL, 0, 0 };
    rela_buffer b = RELA_BUFFER_INIT;
    rela_error err = { RELA_OK, "" };
    parse(&l, line, in);
    CHECK_OK(rela_links_format(&b, &l, out, &err), err);
    assert_string_equal(b.data ? b.data : "", want);
    rela_buffer_free(&b);
    rela_links_free(&l);
}

static void links_are_sorted_and_counted_once(void **state)
{
    (void)state;
    const rela_link_format one = { .struct_size = sizeof one, .base = 1 };
    const rela_link_format reverse = { .struct_size = sizeof reverse, .reverse = 1 };
    const rela_link_format both = { .struct_size = sizeof both, .base = 1, .reverse = 1 };
    check_form("", NULL, "", NULL);
    check_form(" \t 0-0  1-2\r", NULL, "0-0 1-2", NULL);
    check_form("10-2 2-10 2-9 2-10", NULL, "2-9 2-10 10-2", NULL);
    check_form("1?1 0p0 1-1 1?1", NULL, "0?0 1-1", NULL);
    check_form("1-1 1?1", NULL, "1-1", NULL);
    check_form("1-1 3-2", &one, "0-0 2-1", NULL);
    check_form("0-5 1-4", &reverse, "4-1 5-0", NULL);
    check_form("1-5 2-4", &both, "2-4 1-5", &both);
    check_form("007-0", NULL, "7-0", NULL);
    check_form("16777215-0", NULL, "16777215-0", NULL);
    check_form("16777216-1", &one, "16777215-0", NULL);
}

static void bad_links_are_named(void **state)
{
    static const struct {
        const char *line;
        rela_link_format form;
        const char *message;
    } CASES[] = {
        { "0-", { 0 }, "'0-' is not a link; expected i-j, i?j or ipj" },
        { "-1-2", { 0 }, "'-1-2' is not a link; expected i-j, i?j or ipj" },
        { "1--2", { 0 }, "'1--2' is not a link; expected i-j, i?j or ipj" },
        { "-", { 0 }, "'-' is not a link; expected i-j, i?j or ipj" },
        { "0-0 x", { 0 }, "'x' is not a link; expected i-j, i?j or ipj" },
        { "1-2-3", { 0 }, "'1-2-3' is not a link; expected i-j, i?j or ipj" },
        { "1:2", { 0 }, "'1:2' is not a link; expected i-j, i?j or ipj" },
        { "1-2x", { 0 }, "'1-2x' is not a link; expected i-j, i?j or ipj" },
        { "+1-2", { 0 }, "'+1-2' is not a link; expected i-j, i?j or ipj" },
        { "0-0 1-0x2", { 0 }, "'1-0x2' is not a link; expected i-j, i?j or ipj" },
        { "3-99",
          { .check = 1, .n_src = 4, .n_tgt = 5 },
          "'3-99': the target sentence has only 5 words" },
        { "4-0",
          { .check = 1, .n_src = 4, .n_tgt = 5 },
          "'4-0': the source sentence has only 4 words" },
        { "5-0",
          { .check = 1, .reverse = 1, .n_src = 4, .n_tgt = 5 },
          "'5-0': the target sentence has only 5 words" },
        { "0-1", { .base = 1 }, "'0-1': words count from 1 here" },
        { "16777216-0", { 0 }, "'16777216-0': a position is too large; expected at most 16777215" },
        { "0-99999999999999999999999999999999",
          { 0 },
          "'0-99999999999999999999999999999999': a position is too large; expected at most "
          "16777215" },
        { "1111111111111111111111111111111111111111-0",
          { 0 },
          "'1111111111111111111111111111111111111111': a position is too large; expected at most "
          "16777215" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        rela_links l = { NULL, 0, 0 };
        rela_error err = { RELA_OK, "" };
        rela_link_format form = CASES[i].form;
        form.struct_size = sizeof form;
        const rela_status st =
            rela_links_parse(&l, CASES[i].line, strlen(CASES[i].line), &form, &err);
        CHECK(st == RELA_FORMAT, "%s: status %d", CASES[i].line, st);
        assert_string_equal(err.message, CASES[i].message);
        rela_links_free(&l);
    }
}

/* Just below and above what 32 and 64 bits can hold, on either side, counted from 0 and from 1. */
static void positions_at_the_ends_of_types_are_too_large(void **state)
{
    static const char *const NUMBERS[] = { "2147483646",           "2147483647",
                                           "2147483648",           "4294967294",
                                           "4294967295",           "4294967296",
                                           "4294967297",           "9223372036854775807",
                                           "9223372036854775808",  "18446744073709551615",
                                           "18446744073709551616", "18446744073709551617" };
    (void)state;
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++)
        for (int32_t form = 0; form < 8; form++) {
            const rela_link_format f = { .struct_size = sizeof f,
                                         .base = form & 1,
                                         .reverse = form >> 1 & 1 };
            char line[64];
            rela_links l = { NULL, 0, 0 };
            rela_error err = { RELA_OK, "" };
            (void)snprintf(line, sizeof line, form & 4 ? "%s-1" : "1?%s", NUMBERS[i]);
            const rela_status st = rela_links_parse(&l, line, strlen(line), &f, &err);
            CHECK(st == RELA_FORMAT && strstr(err.message, "a position is too large"),
                  "%s: status %d, '%s'", line, st, err.message);
            rela_links_free(&l);
        }
}

static void a_zero_byte_does_not_end_a_line(void **state)
{
    (void)state;
    rela_links l = { NULL, 0, 0 };
    rela_error err = { RELA_OK, "" };
    CHECK(rela_links_parse(&l, "0-0\0 1-1", 8, NULL, &err) == RELA_FORMAT, "taken");
    rela_links_free(&l);
}

static void aer_equals_its_definition(void **state)
{
    (void)state;
    size_t i = 0, j = 0;
    json_t *c = NULL, *line = NULL;
    json_array_foreach(json_object_get(all, "aer"), i, c)
    {
        const rela_link_format gold_form = { .struct_size = sizeof gold_form,
                                             .base = golden_int(c, "gold_base") };
        const rela_link_format form = { .struct_size = sizeof form,
                                        .base = golden_int(c, "base"),
                                        .reverse = golden_int(c, "reverse") };
        rela_links gold = { NULL, 0, 0 }, found = { NULL, 0, 0 };
        uint64_t sums[RELA_AER_STATS] = { 0 };
        json_array_foreach(json_object_get(c, "gold"), j, line)
        {
            uint32_t stats[RELA_AER_STATS];
            parse(&gold, json_string_value(line), &gold_form);
            parse(&found, json_string_value(json_array_get(json_object_get(c, "links"), j)), &form);
            rela_aer_count(stats, &gold, &found);
            rela_stats_add(sums, stats, 1, RELA_AER_STATS);
        }
        rela_aer_figures f = { .struct_size = sizeof f };
        assert_int_equal(rela_aer_figures_get(&f, sums, NULL), RELA_OK);
        CHECK(golden_near(f.aer, golden_real(c, "aer")) &&
                  golden_near(f.precision, golden_real(c, "p")) &&
                  golden_near(f.recall, golden_real(c, "r")) &&
                  golden_near(f.f1, golden_real(c, "f1")),
              "case %zu: %g %g %g %g", i, f.aer, f.precision, f.recall, f.f1);
        CHECK(golden_near(rela_aer_score_fn(NULL, sums), 100 * golden_real(c, "aer")), "score");
        const json_t *n = json_object_get(c, "n");
        CHECK((double)f.n_links == json_number_value(json_array_get(n, 0)) &&
                  (double)f.n_sure == json_number_value(json_array_get(n, 1)) &&
                  (double)f.n_gold == json_number_value(json_array_get(n, 2)),
              "case %zu: counts", i);
        rela_links_free(&gold);
        rela_links_free(&found);
    }
}

static void symmetrisation_equals_its_definition(void **state)
{
    (void)state;
    size_t i = 0;
    json_t *c = NULL;
    rela_error err = { RELA_OK, "" };
    rela_links a = { NULL, 0, 0 }, b = { NULL, 0, 0 }, out = { NULL, 0, 0 };
    rela_buffer text = RELA_BUFFER_INIT;
    json_array_foreach(json_object_get(all, "symmetrise"), i, c)
    {
        parse(&a, json_string_value(json_array_get(c, 0)), NULL);
        parse(&b, json_string_value(json_array_get(c, 1)), NULL);
        for (int m = RELA_INTERSECT; m <= RELA_GROW_DIAG_FINAL_AND; m++) {
            rela_buffer_clear(&text);
            CHECK_OK(rela_links_symmetrise(&out, &a, &b, (rela_symmetrise)m, &err), err);
            CHECK_OK(rela_links_format(&text, &out, NULL, &err), err);
            const char *want = json_string_value(json_array_get(c, 2 + (size_t)m));
            CHECK(strcmp(text.data ? text.data : "", want) == 0, "case %zu method %d: %s, want %s",
                  i, m, text.data, want);
        }
    }
    rela_buffer_free(&text);
    rela_links_free(&a);
    rela_links_free(&b);
    rela_links_free(&out);
}

/* Every round of a chain that runs against the order takes one link: 200,000 rounds. */
static void a_long_chain_takes_no_quadratic_time(void **state)
{
    (void)state;
    enum { N = 200000 };
    rela_links a = { NULL, 0, 0 }, b = { NULL, 0, 0 }, out = { NULL, 0, 0 };
    rela_error err = { RELA_OK, "" };
    a.items = rela_mem_array(N, sizeof *a.items);
    a.n = a.cap = N;
    for (uint32_t i = 0; i < N; i++)
        a.items[i] = (rela_link){ i, i, 0 };
    b.items = rela_mem_array(1, sizeof *b.items);
    b.n = b.cap = 1;
    b.items[0] = a.items[N - 1];
    CHECK_OK(rela_links_symmetrise(&out, &a, &b, RELA_GROW_DIAG, &err), err);
    CHECK(out.n == N, "%zu links", out.n);
    rela_links_free(&a);
    rela_links_free(&b);
    rela_links_free(&out);
}

static rela_status work_once(rela_error *err)
{
    rela_links a = { NULL, 0, 0 }, b = { NULL, 0, 0 }, out = { NULL, 0, 0 };
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = rela_links_parse(&a, "1-1 0-0 2-1", 11, NULL, err);
    if (st == RELA_OK)
        st = rela_links_parse(&b, "0-0 2-2", 7, NULL, err);
    if (st == RELA_OK)
        st = rela_links_symmetrise(&out, &a, &b, RELA_GROW_DIAG_FINAL, err);
    if (st == RELA_OK)
        st = rela_links_format(&text, &out, NULL, err);
    rela_buffer_free(&text);
    rela_links_free(&a);
    rela_links_free(&b);
    rela_links_free(&out);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    uint64_t n = 1;
    for (rela_status st = RELA_NOMEM; st != RELA_OK; n++) {
        rela_fault_set(RELA_FAULT_MEM, n, false);
        st = work_once(&err);
        rela_fault_set(RELA_FAULT_MEM, 0, false);
        CHECK(st == RELA_OK || st == RELA_NOMEM, "%d: %s", st, err.message);
    }
    CHECK(n > 6, "only %d allocations", (int)n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_sorted_and_counted_once),
        cmocka_unit_test(bad_links_are_named),
        cmocka_unit_test(positions_at_the_ends_of_types_are_too_large),
        cmocka_unit_test(a_zero_byte_does_not_end_a_line),
        cmocka_unit_test(aer_equals_its_definition),
        cmocka_unit_test(symmetrisation_equals_its_definition),
        cmocka_unit_test(a_long_chain_takes_no_quadratic_time),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, load, unload);
}

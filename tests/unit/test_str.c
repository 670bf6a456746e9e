/* SPDX-License-Identifier: MIT */
/* tests/unit/test_str.c - buffers, numbers in any locale, words and trimming. */
#include "base/fault.h"
#include "base/mem.h"
#include "base/str.h"
#include "check.h"
#include "scratch.h"

#include <locale.h>

static void a_buffer_holds_any_bytes(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_buffer b = RELA_BUFFER_INIT;
    CHECK_OK(rela_buffer_append(&b, "a\0b", 3, &err), err);
    CHECK_OK(rela_buffer_append(&b, NULL, 0, &err), err);
    CHECK_OK(rela_buffer_append_char(&b, '\0', &err), err);
    CHECK_OK(rela_buffer_append_text(&b, "cd", &err), err);
    CHECK(b.len == 6 && memcmp(b.data, "a\0b\0cd\0", 7) == 0, "len %zu", b.len);
    rela_buffer_clear(&b);
    CHECK(b.len == 0 && b.data[0] == '\0', "not cleared");
    rela_buffer_free(&b);
    CHECK(!b.data && b.cap == 0, "not freed");
    rela_buffer_free(&b);
    rela_buffer_free(NULL);
}

static void an_empty_append_makes_a_terminated_text(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_buffer b = RELA_BUFFER_INIT;
    rela_buffer_clear(&b);
    CHECK_OK(rela_buffer_append(&b, NULL, 0, &err), err);
    CHECK(b.data && b.len == 0 && b.data[0] == '\0', "no text");
    rela_buffer_free(&b);
}

static void a_buffer_grows_to_every_length(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_buffer b = RELA_BUFFER_INIT;
    for (size_t i = 0; i < 5000; i++) {
        CHECK_OK(rela_buffer_append_char(&b, (char)('a' + i % 26), &err), err);
        CHECK(b.len == i + 1 && b.cap > b.len && b.data[b.len] == '\0', "at %zu", i);
    }
    for (size_t i = 0; i < 5000; i++)
        CHECK(b.data[i] == (char)('a' + i % 26), "byte %zu", i);
    rela_buffer_free(&b);
}

static void a_failed_append_changes_nothing(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_buffer b = RELA_BUFFER_INIT;
    CHECK_OK(rela_buffer_append_text(&b, "abc", &err), err);
    char big[1000];
    memset(big, 'x', sizeof big);
    rela_fault_set(RELA_FAULT_MEM, 1, true);
    assert_int_equal(rela_buffer_append(&b, big, sizeof big, &err), RELA_NOMEM);
    assert_int_equal(rela_buffer_printf(&b, &err, "%s%500d", "y", 1), RELA_NOMEM);
    assert_int_equal(rela_buffer_reserve(&b, SIZE_MAX - 2, &err), RELA_NOMEM);
    assert_int_equal(rela_buffer_reserve(&b, SIZE_MAX / 2, &err), RELA_NOMEM);
    assert_null(rela_str_copy("abc", 3));
    rela_fault_set(RELA_FAULT_MEM, 0, false);
    assert_null(rela_str_copy("abc", SIZE_MAX));
    CHECK(b.len == 3 && strcmp(b.data, "abc") == 0, "\"%s\"", b.data);
    rela_buffer_free(&b);
}

static void printf_appends_whole_texts(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_buffer b = RELA_BUFFER_INIT;
    CHECK_OK(rela_buffer_printf(&b, &err, "%d %s", 42, "x"), err);
    CHECK_OK(rela_buffer_printf(&b, &err, "%200d", 7), err);
    CHECK(b.len == 204 && strlen(b.data) == 204, "len %zu", b.len);
    rela_buffer_free(&b);
    char *copy = rela_str_copy("ab\0cd", 4);
    CHECK(copy && memcmp(copy, "ab\0c", 5) == 0, "wrong copy");
    rela_mem_free(copy);
}

static const struct {
    const char *text;
    bool good;
    int64_t value;
} WHOLE[] = {
    { "0", true, 0 },
    { "-0", true, 0 },
    { "+7", true, 7 },
    { "007", true, 7 },
    { "9223372036854775807", true, INT64_MAX },
    { "-9223372036854775808", true, INT64_MIN },
    { "9223372036854775808", false, 0 },
    { "-9223372036854775809", false, 0 },
    { "", false, 0 },
    { "-", false, 0 },
    { "+-1", false, 0 },
    { " 1", false, 0 },
    { "1 ", false, 0 },
    { "1.0", false, 0 },
    { "0x10", false, 0 },
    { "1e3", false, 0 },
    { "1'000", false, 0 },
    { "\xD9\xA1", false, 0 },
};

static void check_whole_numbers(void)
{
    for (size_t i = 0; i < sizeof WHOLE / sizeof WHOLE[0]; i++) {
        int64_t v = -77;
        const bool got = rela_parse_i64(&v, WHOLE[i].text);
        CHECK(got == WHOLE[i].good && v == (got ? WHOLE[i].value : -77), "'%s' gave %d, %lld",
              WHOLE[i].text, got, (long long)v);
    }
}

static const struct {
    const char *text;
    bool good;
    double value;
} REALS[] = {
    { "1.5", true, 1.5 },     { "-.5", true, -0.5 }, { "+2.", true, 2 },
    { "1e-3", true, 0.001 },  { "1E3", true, 1000 }, { "0.1", true, 0.1 },
    { "1e-999", true, 0 },    { "1e999", false, 0 }, { "-1e999", false, 0 },
    { "nan", false, 0 },      { "inf", false, 0 },   { "-inf", false, 0 },
    { "+nan", false, 0 },     { "0x1p3", false, 0 }, { "1,5", false, 0 },
    { "", false, 0 },         { ".", false, 0 },     { "-", false, 0 },
    { "1.5 ", false, 0 },     { " 1.5", false, 0 },  { "1e", false, 0 },
    { "1.5.2", false, 0 },    { "1_000", false, 0 }, { "infinity", false, 0 },
    { "nan(0x1)", false, 0 },
};

static void check_reals(void)
{
    for (size_t i = 0; i < sizeof REALS / sizeof REALS[0]; i++) {
        double v = -77;
        const bool got = rela_parse_f64(&v, REALS[i].text);
        CHECK(got == REALS[i].good && v == (got ? REALS[i].value : -77.0), "'%s' gave %d, %g",
              REALS[i].text, got, v);
    }
}

static void numbers_are_whole_strings_within_limits(void **state)
{
    (void)state;
    check_whole_numbers();
    check_reals();
}

/* Makes a locale with a decimal comma in the scratch folder; false if the system cannot. */
static bool use_comma_locale(void)
{
    static const char *const KNOWN[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE" };
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++)
        if (setlocale(LC_NUMERIC, KNOWN[i]))
            return true;
    char command[2 * SCRATCH_PATH + 64];
    (void)spill_text("comma.src", "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\n"
                                  "grouping 3;3\nEND LC_NUMERIC\n");
    (void)snprintf(command, sizeof command, "localedef -c -i '%s' '%s' >/dev/null 2>&1",
                   scratch("comma.src"), scratch("comma"));
    (void)!system(command); /* warns about missing categories: setlocale tells if it worked */
    (void)setenv("LOCPATH", scratch_dir, 1);
    return setlocale(LC_NUMERIC, "comma") != NULL;
}

static void a_comma_locale_changes_no_number(void **state)
{
    (void)state;
    CHECK(use_comma_locale(), "no locale with a decimal comma can be made: tools/setup test");
    char host[32];
    (void)snprintf(host, sizeof host, "%.1f", 0.5);
    CHECK(strcmp(host, "0,5") == 0, "the locale has no comma: %s", host);
    rela_error err = { RELA_OK, "" };
    rela_buffer b = RELA_BUFFER_INIT;
    CHECK_OK(rela_buffer_printf(&b, &err, "%.2f %g %d", 1234.5, 0.25, 1234567), err);
    assert_string_equal(b.data, "1234.50 0.25 1234567");
    check_whole_numbers();
    check_reals();
    char *end = NULL;
    CHECK(rela_scan_f64("2.5,3", &end) == 2.5 && *end == ',', "stopped at %s", end);
    (void)rela_fail(&err, RELA_ARG, "%.1f", 2.5);
    assert_string_equal(err.message, "2.5");
    (void)snprintf(host, sizeof host, "%.1f", 0.5);
    CHECK(strcmp(host, "0,5") == 0, "the locale of the host was changed: %s", host);
    rela_buffer_free(&b);
    (void)setlocale(LC_NUMERIC, "C");
}

static void words_are_split_at_ascii_blanks_only(void **state)
{
    (void)state;
    static const char TEXT[] = " \t one\xC2\xA0two\r\n\0three\v\f four";
    static const char *const WANT[] = { "one\xC2\xA0two", "\0three", "four" };
    static const size_t LEN[] = { 8, 6, 4 };
    const char *at = TEXT, *end = TEXT + sizeof TEXT - 1;
    rela_span w;
    size_t n = 0;
    for (; rela_next_word(&w, &at, end); n++)
        CHECK(n < 3 && w.len == LEN[n] && memcmp(w.text, WANT[n], w.len) == 0, "word %zu: %.*s", n,
              (int)w.len, w.text);
    assert_int_equal(n, 3);
    CHECK(!rela_next_word(&w, &at, end), "a word after the end");
}

static void trimming_takes_blanks_at_both_ends(void **state)
{
    (void)state;
    rela_span s = rela_trim((rela_span){ " \t\r\nab c\v\f ", 11 });
    CHECK(s.len == 4 && memcmp(s.text, "ab c", 4) == 0, "%.*s", (int)s.len, s.text);
    s = rela_trim((rela_span){ "  \t", 3 });
    assert_int_equal(s.len, 0);
    s = rela_trim((rela_span){ NULL, 0 });
    assert_int_equal(s.len, 0);
}

static void counts_have_separators(void **state)
{
    (void)state;
    static const struct {
        uint64_t n;
        const char *text;
    } ROWS[] = { { 0, "0" },
                 { 999, "999" },
                 { 1000, "1,000" },
                 { 392437, "392,437" },
                 { 1234567, "1,234,567" },
                 { UINT64_MAX, "18,446,744,073,709,551,615" } };
    char text[RELA_GROUPED_SIZE];
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++)
        assert_string_equal(rela_grouped(text, ROWS[i].n), ROWS[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_holds_any_bytes),
        cmocka_unit_test(an_empty_append_makes_a_terminated_text),
        cmocka_unit_test(a_buffer_grows_to_every_length),
        cmocka_unit_test(a_failed_append_changes_nothing),
        cmocka_unit_test(printf_appends_whole_texts),
        cmocka_unit_test(numbers_are_whole_strings_within_limits),
        cmocka_unit_test(a_comma_locale_changes_no_number),
        cmocka_unit_test(words_are_split_at_ascii_blanks_only),
        cmocka_unit_test(trimming_takes_blanks_at_both_ends),
        cmocka_unit_test(counts_have_separators),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}

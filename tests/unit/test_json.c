/* SPDX-License-Identifier: MIT */
/* tests/unit/test_json.c - the strict scanner: what it takes, what it refuses and where. */
#include "sweep.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct text_case {
    const char *text;
    const char *refused; /* part of the message; NULL: accepted */
    size_t len;          /* 0: strlen */
} text_case;

static const text_case TEXTS[] = {
    { "{}", NULL, 0 },
    { " \t\r\n[ ]\n", NULL, 0 },
    { "[1,-2,0,-0,3.5,1e3,1E+3,1.25e-7]", NULL, 0 },
    { "{\"a\":[true,false,null,{\"b\":\"c\"}],\"d\":{}}", NULL, 0 },
    { "\"text\"", NULL, 0 },
    { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\\u0000\"", NULL, 0 },
    { "", "byte 1: the text ends; expected a value", 0 },
    { "   ", "byte 4: the text ends; expected a value", 0 },
    { "{", "byte 2: the text ends; expected a string", 0 },
    { "[", "byte 2: the text ends; expected a value", 0 },
    { "[1", "byte 3: the text ends; expected ',' or ']'", 0 },
    { "{}x", "byte 3: 'x'; expected the end", 0 },
    { "{} {}", "byte 4: '{}'; expected the end", 0 },
    { "[1,]", "byte 4: ']'; expected a value", 0 },
    { "[,1]", "byte 2: ',1]'; expected a value", 0 },
    { "{\"a\":1,}", "byte 8: '}'; expected a string", 0 },
    { "{\"a\" 1}", "byte 6: '1}'; expected ':'", 0 },
    { "{\"a\"", "byte 5: the text ends; expected ':'", 0 },
    { "{a:1}", "byte 2: 'a:1}'; expected a string", 0 },
    { "[1}", "byte 3: '}'; expected ',' or ']'", 0 },
    { "{\"a\":1]", "byte 7: ']'; expected ',' or '}'", 0 },
    { "[1 2]", "byte 4: '2]'; expected ',' or ']'", 0 },
    { "[007]", "byte 2: '007]'; expected a number", 0 },
    { "[1.]", "expected a number", 0 },
    { "[-]", "expected a number", 0 },
    { "[1e]", "expected a number", 0 },
    { "[1e+]", "expected a number", 0 },
    { "[.5]", "expected a value", 0 },
    { "[+1]", "expected a value", 0 },
    { "[NaN]", "expected a value", 0 },
    { "[tru]", "expected a value", 0 },
    { "[1] // no", "expected the end", 0 },
    { "\"a", "byte 3: the text ends; expected '\"'", 0 },
    { "\"a\nb\"", "no control character", 0 },
    { "\"a\0b\"", "no control character", 5 },
    { "{}\0", "expected the end", 3 },
    { "\"\\x\"", "byte 2: '\\x\"'; expected an escape", 0 },
    { "\"\\", "byte 2: '\\'; expected an escape", 0 },
    { "\"\\u12\"", "expected an escape", 0 },
    { "\"\\u12g4\"", "expected an escape", 0 },
    { "\"\\ud800\"", "expected an escape", 0 },
    { "\"\\ud800\\n\"", "expected an escape", 0 },
    { "\"\\ud800\\ud800\"", "expected an escape", 0 },
    { "\"\\udc00\\ud800\"", "expected an escape", 0 },
    { "\"\xC3\"", "byte 2: not UTF-8", 0 },
    { "\"\xED\xA0\x80\"", "byte 2: not UTF-8", 0 },
    { "\xEF\xBB\xBF{}", "byte 1: ", 0 },
};

static rela_status scan(const char *text, size_t len, rela_error *err)
{
    rela_json j;
    char *copy = test_malloc(len + 1); /* exact, so that reading past the end is seen */
    memcpy(copy, text, len);
    rela_status st = rela_json_start(&j, copy, len, err);
    st = st ? st : rela_json_skip(&j, err);
    st = st ? st : rela_json_end(&j, err);
    test_free(copy);
    return st;
}

static void each_text_is_taken_or_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        const text_case *c = &TEXTS[i];
        rela_error err = { RELA_OK, "" };
        const rela_status st = scan(c->text, c->len ? c->len : strlen(c->text), &err);
        if (!c->refused)
            CHECK(st == RELA_OK, "%s: %s", c->text, err.message);
        else
            CHECK(st == RELA_FORMAT && strstr(err.message, c->refused), "'%s': %d '%s'", c->text,
                  st, err.message);
    }
}

static void depth_is_bounded(void **state)
{
    (void)state;
    char text[2 * RELA_JSON_DEPTH + 2];
    rela_error err;
    memset(text, '[', RELA_JSON_DEPTH);
    memset(text + RELA_JSON_DEPTH, ']', RELA_JSON_DEPTH);
    CHECK_OK(scan(text, sizeof text - 2, &err), err);
    memset(text, '[', sizeof text);
    assert_int_equal(scan(text, sizeof text, &err), RELA_FORMAT);
    assert_non_null(strstr(err.message, "byte 65: "));
}

typedef struct number_case {
    const char *text;
    bool good;
    uint64_t value;
} number_case;

static const number_case NUMBERS[] = {
    { "0", true, 0 },
    { "7", true, 7 },
    { " 42 ", true, 42 },
    { "9007199254740993", true, 9007199254740993u },
    { "18446744073709551615", true, UINT64_MAX },
    { "18446744073709551616", false, 0 },
    { "99999999999999999999999", false, 0 },
    { "-1", false, 0 },
    { "-0", false, 0 },
    { "+1", false, 0 },
    { "00", false, 0 },
    { "01", false, 0 },
    { "1.0", false, 0 },
    { "1e3", false, 0 },
    { "1E3", false, 0 },
    { "1-", false, 0 },
    { "\"1\"", false, 0 },
    { "true", false, 0 },
    { "", false, 0 },
};

static void whole_numbers_are_plain_digits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++) {
        const number_case *c = &NUMBERS[i];
        char text[64];
        uint64_t v = 0;
        rela_json j;
        rela_error err;
        (void)snprintf(text, sizeof text, "%s", c->text);
        CHECK_OK(rela_json_start(&j, text, strlen(text), &err), err);
        const rela_status st = rela_json_u64(&j, &v, &err);
        CHECK(c->good ? st == RELA_OK && v == c->value : st == RELA_FORMAT, "'%s': %d %llu",
              c->text, st, (unsigned long long)v);
    }
}

/* The next key of an object must be this one. */
static void expect_key(rela_json *j, const char *want)
{
    rela_span key;
    rela_error err;
    bool more = false;
    CHECK_OK(rela_json_key(j, &key, &more, &err), err);
    CHECK(more == (want != NULL), "the object ends or goes on");
    CHECK(!want || (key.len == strlen(want) && memcmp(key.text, want, key.len) == 0), "no %s",
          want);
}

static void keys_and_strings_arrive_unescaped(void **state)
{
    (void)state;
    char text[] = "{\"\\u0061b\": \"x\\n\\ud83d\\ude00\", \"c\": 0.5, \"d\": true}";
    rela_json j;
    rela_error err;
    rela_span s;
    bool yes = false;
    double v = 0;
    rela_status st = rela_json_start(&j, text, strlen(text), &err);
    st = st ? st : rela_json_object(&j, &err);
    CHECK_OK(st, err);
    expect_key(&j, "ab");
    CHECK_OK(rela_json_string(&j, &s, &err), err);
    assert_int_equal(s.len, 6);
    assert_memory_equal(s.text, "x\n\xF0\x9F\x98\x80", 6);
    expect_key(&j, "c");
    CHECK_OK(rela_json_f64(&j, &v, &err), err);
    expect_key(&j, "d");
    CHECK_OK(rela_json_bool(&j, &yes, &err), err);
    assert_true(v == 0.5 && yes);
    expect_key(&j, NULL);
    CHECK_OK(rela_json_end(&j, &err), err);
}

static void arrays_are_walked(void **state)
{
    (void)state;
    char text[] = "[1, 2 ,3]";
    rela_json j;
    rela_error err;
    uint64_t n = 0, sum = 0;
    bool more = true;
    CHECK_OK(rela_json_start(&j, text, strlen(text), &err), err);
    CHECK_OK(rela_json_array(&j, &err), err);
    while (rela_json_item(&j, &more, &err) == RELA_OK && more) {
        CHECK_OK(rela_json_u64(&j, &n, &err), err);
        sum = 10 * sum + n;
    }
    assert_int_equal(sum, 123);
    CHECK_OK(rela_json_end(&j, &err), err);
}

static void numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    char huge[] = "1e999", longer[] =
                               "0.00000000000000000000000000000000000000000000000000000000001"
                               "00000";
    rela_json j;
    rela_error err;
    double v = 0;
    CHECK_OK(rela_json_start(&j, huge, strlen(huge), &err), err);
    assert_int_equal(rela_json_f64(&j, &v, &err), RELA_FORMAT);
    CHECK_OK(rela_json_start(&j, longer, strlen(longer), &err), err);
    assert_int_equal(rela_json_f64(&j, &v, &err), RELA_FORMAT);
    assert_int_equal(rela_json_bool(&j, &(bool){ false }, &err), RELA_FORMAT);
}

/* All characters up to U+0100 and a pair: quoted, scanned, the same. */
static void quoted_text_scans_back(void **state)
{
    (void)state;
    char text[600];
    size_t len = 0;
    for (uint32_t c = 0; c < 0x80; c++)
        text[len++] = (char)c;
    for (uint32_t c = 0x80; c < 0x100; c++) {
        text[len++] = (char)(0xC0 | c >> 6);
        text[len++] = (char)(0x80 | (c & 0x3F));
    }
    for (const char *c = "\xF0\x9F\x98\x80"; *c; c++)
        text[len++] = *c;
    rela_buffer quoted = RELA_BUFFER_INIT;
    rela_json j;
    rela_error err;
    rela_span back;
    CHECK_OK(rela_json_quote(&quoted, text, len, &err), err);
    assert_non_null(strstr(quoted.data, "\\u0000\\u0001"));
    assert_non_null(strstr(quoted.data, "\\b\\t\\n\\u000b\\f\\r\\u000e"));
    CHECK_OK(rela_json_start(&j, quoted.data, quoted.len, &err), err);
    CHECK_OK(rela_json_string(&j, &back, &err), err);
    CHECK_OK(rela_json_end(&j, &err), err);
    assert_int_equal(back.len, len);
    assert_memory_equal(back.text, text, len);
    rela_buffer_free(&quoted);
}

static void numbers_are_written_as_json(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_buffer out = RELA_BUFFER_INIT;
    const double numbers[] = { 0.25, -3, 1e300, (double)NAN, (double)INFINITY, -(double)INFINITY };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        CHECK_OK(rela_json_number(&out, numbers[i], 9, &err), err);
        CHECK_OK(rela_buffer_append_char(&out, ' ', &err), err);
    }
    assert_string_equal(out.data, "0.25 -3 1e+300 null null null ");
    rela_buffer_free(&out);
}

static void any_bytes_can_be_quoted(void **state)
{
    (void)state;
    rela_buffer quoted = RELA_BUFFER_INIT;
    rela_error err;
    CHECK_OK(rela_json_quote(&quoted, NULL, 0, &err), err);
    assert_string_equal(quoted.data, "\"\"");
    rela_buffer_clear(&quoted);
    CHECK_OK(rela_json_quote(&quoted, "a\xFF\n", 3, &err), err);
    assert_string_equal(quoted.data, "\"a\xEF\xBF\xBD\\n\"");
    rela_buffer_free(&quoted);
}

static void quoting_survives_no_memory(void **state)
{
    (void)state;
    char text[300];
    memset(text, '\n', sizeof text);
    for (sweep w = SWEEP_START; sweep_next(&w);) {
        rela_buffer out = RELA_BUFFER_INIT;
        rela_error err = { RELA_OK, "" };
        sweep_arm(&w);
        const rela_status st = rela_json_quote(&out, text, sizeof text, &err);
        sweep_disarm(&w);
        rela_buffer_free(&out);
        sweep_check(&w);
        sweep_status(&w, st, &err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_text_is_taken_or_refused),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(whole_numbers_are_plain_digits),
        cmocka_unit_test(keys_and_strings_arrive_unescaped),
        cmocka_unit_test(arrays_are_walked),
        cmocka_unit_test(numbers_out_of_range_are_refused),
        cmocka_unit_test(quoted_text_scans_back),
        cmocka_unit_test(numbers_are_written_as_json),
        cmocka_unit_test(any_bytes_can_be_quoted),
        cmocka_unit_test(quoting_survives_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* tests/unit/test_utf8.c - strict decoding, encoding and repair against the Unicode standard. */
#include "base/fault.h"
#include "base/str.h"
#include "base/utf8.h"
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

static void every_scalar_value_round_trips(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 0x110000; c++) {
        if (c >= 0xD800 && c < 0xE000)
            continue;
        char bytes[4];
        uint32_t back = UINT32_MAX;
        const size_t n = rela_utf8_put(bytes, c);
        const size_t want = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        CHECK(n == want && rela_utf8_next(&back, bytes, n) == n && back == c, "U+%04X: %zu bytes",
              c, n);
        for (size_t cut = 1; cut < n; cut++)
            CHECK(rela_utf8_next(&back, bytes, cut) == 0, "U+%04X cut to %zu bytes", c, cut);
    }
}

/* The table 3-7 of the Unicode standard, written down as ranges of the first two bytes. */
static bool pair_may_start(unsigned a, unsigned b)
{
    if (a == 0xE0)
        return b >= 0xA0 && b <= 0xBF;
    if (a == 0xED)
        return b >= 0x80 && b <= 0x9F;
    if (a == 0xF0)
        return b >= 0x90 && b <= 0xBF;
    if (a == 0xF4)
        return b >= 0x80 && b <= 0x8F;
    return a >= 0xC2 && a <= 0xF4 && b >= 0x80 && b <= 0xBF;
}

static void the_first_two_bytes_decide_as_in_the_standard(void **state)
{
    (void)state;
    for (unsigned a = 0x80; a < 0x100; a++)
        for (unsigned b = 0; b < 0x100; b++) {
            const char s[4] = { (char)a, (char)b, (char)0x80, (char)0x80 };
            uint32_t c = 0;
            const size_t len = a < 0xE0 ? 2 : a < 0xF0 ? 3 : 4;
            const size_t got = rela_utf8_next(&c, s, 4);
            CHECK(got == (pair_may_start(a, b) ? len : 0), "%02X %02X: %zu", a, b, got);
        }
}

static void the_valid_prefix_ends_at_the_bad_byte(void **state)
{
    (void)state;
    char text[64];
    for (size_t at = 0; at < sizeof text; at++) { /* across the eight-bytes-at-once path */
        memset(text, 'a', sizeof text);
        text[at] = (char)0xFF;
        CHECK(rela_utf8_valid(text, sizeof text) == at, "bad byte at %zu", at);
        if (at + 2 <= sizeof text) {
            memcpy(text + at, "\xC3\xA9", 2);
            CHECK(rela_utf8_valid(text, sizeof text) == sizeof text, "good character at %zu", at);
            CHECK(rela_utf8_valid(text, at + 1) == at, "cut character at %zu", at);
        }
    }
    assert_int_equal(rela_utf8_valid("", 0), 0);
    assert_int_equal(rela_utf8_valid("a\0b", 3), 3);
    assert_int_equal(rela_utf8_valid("abcdefgh\xC3", 9), 8);
}

/* One replacement per maximal subpart; rows 2 to 5 are the tables 3-8 to 3-11 of Unicode 15. */
static const struct {
    const char *in;
    const char *out;
    size_t n_bad;
} REPAIRS[] = {
    { "", "", 0 },
    { "\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", "????????A", 8 },
    { "\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", "????????A", 8 },
    { "\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", "?????A??B", 7 },
    { "\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", "????A", 4 },
    { "a\xC3", "a?", 1 },
    { "\xC3\xC3\xA9", "?\xC3\xA9", 1 },
    { "\xE2\x82", "?", 1 },
    { "\xF0\x9F\x98", "?", 1 },
    { "\xF0\x9F", "?", 1 },
    { "\xF0", "?", 1 },
    { "\xE2(\xA1", "?(?", 2 },
    { "\xF0\x9F\x98\x80!", "\xF0\x9F\x98\x80!", 0 },
    { "\xF8\x88\x80\x80\x80", "?????", 5 },
};

static void repair_replaces_each_maximal_bad_part(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof REPAIRS / sizeof REPAIRS[0]; i++) {
        rela_error err = { RELA_OK, "" };
        rela_buffer got = RELA_BUFFER_INIT, want = RELA_BUFFER_INIT;
        size_t n_bad = 99;
        CHECK_OK(rela_utf8_repair(&got, &n_bad, REPAIRS[i].in, strlen(REPAIRS[i].in), &err), err);
        CHECK_OK(rela_buffer_append_text(&want, "", &err), err);
        for (const char *p = REPAIRS[i].out; *p; p++)
            if (*p == '?')
                CHECK_OK(rela_buffer_append_text(&want, "\xEF\xBF\xBD", &err), err);
            else
                CHECK_OK(rela_buffer_append_char(&want, *p, &err), err);
        CHECK(n_bad == REPAIRS[i].n_bad && got.len == want.len &&
                  (got.len == 0 || memcmp(got.data, want.data, got.len) == 0),
              "row %zu: %zu bad, \"%s\", want \"%s\"", i, n_bad, got.data, want.data);
        rela_buffer_free(&got);
        rela_buffer_free(&want);
    }
}

static void repair_keeps_nul_and_reports_lack_of_memory(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_buffer b = RELA_BUFFER_INIT;
    size_t n_bad = 0;
    CHECK_OK(rela_utf8_repair(&b, &n_bad, "a\0\xFF", 3, &err), err);
    CHECK(b.len == 5 && n_bad == 1 && memcmp(b.data, "a\0\xEF\xBF\xBD", 5) == 0, "%zu", b.len);
    rela_buffer_free(&b);
    rela_fault_set(RELA_FAULT_MEM, 1, true);
    assert_int_equal(rela_utf8_repair(&b, &n_bad, "\xFF", 1, &err), RELA_NOMEM);
    rela_fault_set(RELA_FAULT_MEM, 0, false);
    rela_buffer_free(&b);
}

static void characters_are_counted(void **state)
{
    (void)state;
    assert_int_equal(rela_utf8_count("", 0), 0);
    assert_int_equal(rela_utf8_count("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 10), 4);
}

static void a_prefix_ends_between_characters(void **state)
{
    (void)state;
    static const char TEXT[] = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80";
    static const size_t WANT[] = { 0, 1, 3, 6, 10, 10 };
    for (size_t n = 0; n < sizeof WANT / sizeof WANT[0]; n++)
        CHECK(rela_utf8_prefix(TEXT, 10, n) == WANT[n], "%zu characters: %zu bytes", n,
              rela_utf8_prefix(TEXT, 10, n));
}

static const struct {
    const char *in, *out;
} SHOWN[] = {
    { "plain text, gr\xC3\xBC\xC3\x9F", "plain text, gr\xC3\xBC\xC3\x9F" },
    { "a\nb\tc\rd\x1B[2J\x7F", "a?b?c?d?[2J?" },
    { "\xC2\x85 \xC2\x9B", "? ?" },         /* C1: next line, CSI */
    { "\xE2\x80\xA8 \xE2\x80\xA9", "? ?" }, /* line, paragraph separator */
    { "\xE2\x80\xAE"
      "txt.exe",
      "?txt.exe" }, /* right-to-left override */
    { "\xE2\x80\xAA\xE2\x80\xAB\xE2\x80\xAC\xE2\x80\xAD", "????" },
    { "\xE2\x81\xA6\xE2\x81\xA7\xE2\x81\xA8\xE2\x81\xA9", "????" }, /* isolates */
    { "\xE2\x80\x8E\xE2\x80\x8F\xD8\x9C", "???" },                  /* marks of direction */
    { "\xE2\x80\x8B\xE2\x80\x8C\xE2\x80\x8D\xE2\x81\xA0", "????" }, /* no width */
    { "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x94\xA7!",
      "\xF0\x9F\x91\xA9?\xF0\x9F\x94\xA7!" },          /* two pictures that are joined */
    { "\xEF\xBB\xBF\xC2\xAD", "??" },                  /* byte order mark, soft hyphen */
    { "\xEF\xB8\x8F\xCD\x8F\xE1\xA0\x8E", "???" },     /* selectors and joiners */
    { "\xE3\x85\xA4\xE1\x85\x9F", "??" },              /* fillers */
    { "\xF3\xA0\x81\x81\xF0\x9D\x85\xB3", "??" },      /* tags, musical controls */
    { "\xEF\xBF\xB9\xEF\xBF\xBE\xEF\xB7\x90", "???" }, /* annotation, no characters */
    { "\xFF\xC3 \xED\xA0\x80 \xC0\xAF \xF4\x90\x80\x80", "?? ??? ?? ????" }, /* not UTF-8 */
    { "\xD7\xA9\xD7\x9C\xE4\xB8\xAD\xF0\x9F\x98\x80",
      "\xD7\xA9\xD7\x9C\xE4\xB8\xAD\xF0\x9F\x98\x80" },
};

static void what_cannot_be_seen_is_shown_as_question_marks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof SHOWN / sizeof SHOWN[0]; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "%s", SHOWN[i].in);
        rela_utf8_make_printable(text);
        CHECK(strcmp(text, SHOWN[i].out) == 0, "row %zu: '%s', expected '%s'", i, text,
              SHOWN[i].out);
        rela_buffer out = RELA_BUFFER_INIT;
        rela_error err = { RELA_OK, "" };
        CHECK_OK(rela_utf8_append_printable(&out, SHOWN[i].in, strlen(SHOWN[i].in), &err), err);
        CHECK(strlen(SHOWN[i].out) == out.len &&
                  (!out.len || memcmp(out.data, SHOWN[i].out, out.len) == 0),
              "row %zu: '%.*s', expected '%s'", i, (int)out.len, out.data, SHOWN[i].out);
        rela_buffer_free(&out);
    }
}

/* Also where nothing is assigned: kept free for characters that are not seen, or for none. */
static bool is_reserved(uint32_t c)
{
    return c == 0x2065 || (c >= 0xFFF0 && c <= 0xFFF8) || (c >= 0xE0000 && c <= 0xE0FFF) ||
           (c >= 0xFDD0 && c <= 0xFDEF) || (c & 0xFFFE) == 0xFFFE;
}

/* Every code point against the tables of another library. */
static void hidden_characters_are_those_of_the_standard(void **state)
{
    (void)state;
    for (uint32_t c = 1; c < 0x110000; c++) {
        if ((c >= 0xD800 && c < 0xE000) || c == '?')
            continue;
        const utf8proc_property_t *p = utf8proc_get_property((utf8proc_int32_t)c);
        const bool hide = p->category == UTF8PROC_CATEGORY_CC ||
                          p->category == UTF8PROC_CATEGORY_CF ||
                          p->category == UTF8PROC_CATEGORY_ZL ||
                          p->category == UTF8PROC_CATEGORY_ZP || p->ignorable || is_reserved(c);
        char text[5] = "", before[5] = "";
        (void)rela_utf8_put(before, c);
        memcpy(text, before, sizeof text);
        rela_utf8_make_printable(text);
        const bool hidden = strcmp(text, "?") == 0;
        CHECK(hidden || strcmp(text, before) == 0, "U+%04X: %s", c, text);
        CHECK(hidden == hide, "U+%04X is %s", c, hidden ? "hidden" : "shown");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scalar_value_round_trips),
        cmocka_unit_test(the_first_two_bytes_decide_as_in_the_standard),
        cmocka_unit_test(the_valid_prefix_ends_at_the_bad_byte),
        cmocka_unit_test(repair_replaces_each_maximal_bad_part),
        cmocka_unit_test(repair_keeps_nul_and_reports_lack_of_memory),
        cmocka_unit_test(characters_are_counted),
        cmocka_unit_test(a_prefix_ends_between_characters),
        cmocka_unit_test(what_cannot_be_seen_is_shown_as_question_marks),
        cmocka_unit_test(hidden_characters_are_those_of_the_standard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

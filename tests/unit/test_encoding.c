/* SPDX-License-Identifier: MIT */
/* tests/unit/test_encoding.c - what text that is not UTF-8 is taken for, and the warning. */
#include "base/encoding.h"
#include "check.h"

#include <stdio.h>
#include <string.h>

#define TEXT(bytes) bytes, sizeof bytes - 1

static const struct {
    const char *text;
    size_t len;
    const char *guess, *warning; /* NULL: none */
} ROWS[] = {
    { TEXT("plain text\n"), NULL, NULL },
    { TEXT(""), NULL, NULL },
    { TEXT("gro\xC3\x9F\n"), NULL, NULL },
    { TEXT("das\ngro\xDF .\n"), "LATIN1",
      "f: line 8 is not UTF-8; if it is LATIN1: iconv -f LATIN1 -t UTF-8 (reported once)" },
    { TEXT("\xFF\xFEt\0h\0e\0"), "UTF-16",
      "f: line 7 is not UTF-8; if it is UTF-16: iconv -f UTF-16 -t UTF-8 (reported once)" },
    { TEXT("\xFE\xFF\x4E\x2D\x65\x87"), "UTF-16",
      "f: line 7 is not UTF-8; if it is UTF-16: iconv -f UTF-16 -t UTF-8 (reported once)" },
    { TEXT("t\0h\0e\0 \0c\0o\0w\0"), "UTF-16",
      "f: line 7 is not UTF-8; if it is UTF-16: iconv -f UTF-16 -t UTF-8 (reported once)" },
    { TEXT("\0t\0h\0e\0\n\0c"), "UTF-16",
      "f: line 7 is not UTF-8; if it is UTF-16: iconv -f UTF-16 -t UTF-8 (reported once)" },
    { TEXT("the\nc\0w\n"), NULL, "f: line 8 contains a NUL byte (reported once)" },
    { TEXT("\0\0\0\0\0\0"), NULL, "f: line 7 contains a NUL byte (reported once)" },
    { TEXT("\x01\x02\x80\x03\xFF\x81\x04"), NULL, "f: line 7 is not UTF-8 (reported once)" },
    { TEXT("B\xC3\xA4r fri\xC3 \xC3\x9Ft"), NULL, "f: line 7 is not UTF-8 (reported once)" },
};

static void keep(void *ctx, rela_log_level level, const char *line)
{
    (void)level;
    (void)snprintf(ctx, 200, "%s", line);
}

static void the_warning_has_the_line_and_a_remedy_if_one_is_likely(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        char said[200] = "";
        const rela_log log = { keep, said, RELA_LOG_INFO };
        const bool odd = rela_encoding_check(&log, "f", ROWS[i].text, ROWS[i].len, 7);
        const char *want = ROWS[i].warning ? ROWS[i].warning : "";
        CHECK(odd == (ROWS[i].warning != NULL) && strcmp(said, want) == 0, "row %zu: '%s'", i,
              said);
        if (!odd)
            continue;
        const char *guess = rela_encoding_guess(ROWS[i].text, ROWS[i].len);
        CHECK(guess == ROWS[i].guess || (guess && ROWS[i].guess && !strcmp(guess, ROWS[i].guess)),
              "row %zu: %s", i, guess ? guess : "no guess");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_warning_has_the_line_and_a_remedy_if_one_is_likely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

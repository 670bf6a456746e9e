/* SPDX-License-Identifier: MIT */
/* tests/unit/test_words.c - where subword-nmt sees words and line breaks. */
#include "check.h"

#include "base/str.h"
#include "text/word_walk.h"

#include <string.h>

/* Writes gaps as they count ('_' for a blank, 'R' for a CR, '=' for one that is squeezed) and words
 * in brackets. */
static void show(char *out, const char *line, size_t len)
{
    rela_word_walk walk = rela_words(line, len);
    rela_word w;
    bool more = true;
    while (more) {
        more = rela_words_next(&walk, &w);
        for (size_t i = 0; w.verbatim && i < w.gap.len; i++)
            *out++ = w.gap.text[i] == ' ' ? '_' : 'R';
        if (!w.verbatim)
            *out++ = '=';
        if (!more)
            break;
        *out++ = '[';
        memcpy(out, w.word.text, w.word.len);
        out += w.word.len;
        *out++ = ']';
    }
    *out = '\0';
}

static void check(const char *line, size_t len, const char *want)
{
    char got[256];
    show(got, line, len);
    CHECK(strcmp(got, want) == 0, "'%s': %s, expected %s", line, got, want);
}

static void blanks_separate_words(void **state)
{
    (void)state;
    check("", 0, "");
    check("a", 1, "[a]");
    check("a b", 3, "[a]=[b]");
    check("a   b", 5, "[a]=[b]");
    check("  a b  ", 7, "__[a]=[b]__");
    check("   ", 3, "___");
}

static void other_white_space_is_part_of_a_word(void **state)
{
    (void)state;
    check("a\tb", 3, "[a\tb]");
    check("a\xC2\xA0"
          "b",
          4,
          "[a\xC2\xA0"
          "b]");
    check("\xE2\x80\xA6 \xE2\x80\x89", 7, "[\xE2\x80\xA6]=[\xE2\x80\x89]");
}

static void a_line_break_ends_its_word_and_keeps_the_gap(void **state)
{
    (void)state;
    check("a\v  b", 5, "[a\v]__[b]");
    check("a\fb", 3, "[a\f][b]");
    check("\x1C\x1D\x1E\x1F", 4, "[\x1C][\x1D][\x1E][\x1F]");
    check("a\xC2\x85"
          "b",
          4, "[a\xC2\x85][b]");
    check("a\xE2\x80\xA8 \xE2\x80\xA9", 8, "[a\xE2\x80\xA8]_[\xE2\x80\xA9]");
}

static void a_return_is_a_gap(void **state)
{
    (void)state;
    check("a\rb", 3, "[a]R[b]");
    check("a  \r b", 6, "[a]__R_[b]");
    check("\r", 1, "R");
    check("a b\r", 4, "[a]=[b]R");
}

static void nul_and_cut_off_characters_are_no_end(void **state)
{
    (void)state;
    rela_word_walk walk = rela_words("a\0b c", 5);
    rela_word w;
    CHECK(rela_words_next(&walk, &w) && w.word.len == 3, "word of %zu bytes", w.word.len);
    check("\xE2\x80", 2, "[\xE2\x80]");
    check("\xC2", 1, "[\xC2]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blanks_separate_words),
        cmocka_unit_test(other_white_space_is_part_of_a_word),
        cmocka_unit_test(a_line_break_ends_its_word_and_keeps_the_gap),
        cmocka_unit_test(a_return_is_a_gap),
        cmocka_unit_test(nul_and_cut_off_characters_are_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

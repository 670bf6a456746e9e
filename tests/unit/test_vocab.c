/* SPDX-License-Identifier: MIT */
/* tests/unit/test_vocab.c - counting words and the token table of a model. */
#include "check.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include "rela/vocab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[300];

static int set_up(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    (void)snprintf(path, sizeof path, "%s/rela-test-XXXXXX", parent ? parent : P_tmpdir);
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

static rela_word_counts *count(const char *text)
{
    rela_error err;
    rela_word_counts *c = NULL;
    CHECK_OK(rela_word_counts_create(&c, &err), err);
    CHECK_OK(rela_word_counts_add_text(c, text, strlen(text), &err), err);
    return c;
}

/* "word count word count ..." in the order of ranks. */
static void check_order(rela_word_counts *c, int by_text, const char *want)
{
    rela_error err;
    rela_buffer got = RELA_BUFFER_INIT;
    rela_word_stats stats = { .struct_size = sizeof stats };
    assert_int_equal(rela_word_counts_stats_get(&stats, c, NULL), RELA_OK);
    CHECK_OK(rela_word_counts_sort(c, by_text, &err), err);
    for (size_t i = 0; i < stats.n_types; i++) {
        size_t len = 0;
        uint64_t n = 0;
        const char *word = rela_word_counts_get(c, i, &len, &n);
        CHECK_OK(rela_buffer_printf(&got, &err, "%s%.*s %d", i ? " " : "", (int)len, word, (int)n),
                 err);
    }
    CHECK(strcmp(got.data ? got.data : "", want) == 0, "'%s', expected '%s'", got.data, want);
    rela_buffer_free(&got);
}

static void words_are_sorted_by_frequency_then_first_or_text(void **state)
{
    (void)state;
    rela_word_counts *c = count("z b a\na b  é\n c d a\n");
    check_order(c, 0, "a 3 b 2 z 1 é 1 c 1 d 1");
    check_order(c, 1, "a 3 b 2 c 1 d 1 z 1 é 1");
    rela_word_counts_destroy(c);
    c = count("");
    check_order(c, 0, "");
    rela_word_counts_destroy(c);
}

static void statistics_tell_what_was_seen(void **state)
{
    (void)state;
    char text[400] = "a b\nbad \xFF line\n";
    rela_word_stats s = { .struct_size = sizeof s };
    const size_t at = strlen(text);
    memset(text + at, 'x', 150);
    (void)snprintf(text + at + 150, sizeof text - at - 150, " a");
    rela_word_counts *c = count(text);
    assert_int_equal(rela_word_counts_stats_get(&s, c, NULL), RELA_OK);
    CHECK(s.n_lines == 3 && s.n_words == 4 && s.n_types == 3, "%d lines, %d words, %d types",
          (int)s.n_lines, (int)s.n_words, (int)s.n_types);
    CHECK(s.n_bad == 1 && s.bad_line == 2, "%d bad lines, line %d", (int)s.n_bad, (int)s.bad_line);
    CHECK(s.n_long == 1 && s.longest == 150 && s.longest_line == 3, "%d long words, %d",
          (int)s.n_long, (int)s.longest);
    rela_word_counts_destroy(c);
}

static void any_number_of_threads_counts_the_same(void **state)
{
    (void)state;
    rela_error err;
    rela_buffer text = RELA_BUFFER_INIT;
    uint32_t seed = 1;
    for (int line = 0; line < 60000; line++) { /* some blocks of the reader */
        for (int word = 0; word < 5; word++) {
            seed = seed * 1664525u + 1013904223u;
            CHECK_OK(rela_buffer_printf(&text, &err, "w%u ", (seed >> 16) * (seed >> 24) / 4096),
                     err);
        }
        CHECK_OK(rela_buffer_append_text(&text, line % 1000 ? "\n" : "\xC0\n", &err), err);
    }
    CHECK_OK(rela_file_write(path, text.data, text.len, &err), err);
    rela_word_counts *want = count(text.data);
    rela_word_stats a = { .struct_size = sizeof a }, b = a;
    assert_int_equal(rela_word_counts_stats_get(&a, want, NULL), RELA_OK);
    CHECK_OK(rela_word_counts_sort(want, 0, &err), err);
    for (int n_threads = 1; n_threads <= 3; n_threads++) {
        rela_word_counts *c = NULL;
        CHECK_OK(rela_word_counts_create(&c, &err), err);
        CHECK_OK(rela_word_counts_add_file(c, path, n_threads, &err), err);
        CHECK_OK(rela_word_counts_sort(c, 0, &err), err);
        assert_int_equal(rela_word_counts_stats_get(&b, c, NULL), RELA_OK);
        CHECK(memcmp(&a, &b, sizeof a) == 0, "%d threads: other statistics", n_threads);
        for (size_t i = 0; i < a.n_types; i++) {
            size_t la = 0, lb = 0;
            uint64_t na = 0, nb = 0;
            const char *wa = rela_word_counts_get(want, i, &la, &na);
            const char *wb = rela_word_counts_get(c, i, &lb, &nb);
            CHECK(na == nb && la == lb && memcmp(wa, wb, la) == 0, "%d threads: rank %zu: %s, %s",
                  n_threads, i, wa, wb);
        }
        rela_word_counts_destroy(c);
    }
    rela_word_counts_destroy(want);
    rela_buffer_free(&text);
}

static void dictionaries_add_up_or_take_the_most(void **state)
{
    (void)state;
    rela_error err;
    static const char TEXT[] = "a 2\nb 5\r\n a 3 \n";
    CHECK_OK(rela_file_write(path, TEXT, sizeof TEXT - 1, &err), err);
    for (int most = 0; most < 2; most++) {
        rela_word_counts *c = NULL;
        CHECK_OK(rela_word_counts_create(&c, &err), err);
        CHECK_OK(rela_word_counts_add_dictionary(
                     c, path, most ? RELA_DUPLICATES_MAX : RELA_DUPLICATES_SUM, &err),
                 err);
        check_order(c, 0, most ? "b 5 a 3" : "a 5 b 5");
        rela_word_counts_destroy(c);
    }
}

static void a_vocabulary_starts_with_the_special_tokens(void **state)
{
    (void)state;
    rela_error err;
    rela_vocab *v = NULL, *again = NULL;
    rela_buffer text = RELA_BUFFER_INIT;
    size_t n_left_out = 9;
    rela_word_counts *c = count("b a c a b <eos> b Ä c zz\n");
    CHECK_OK(rela_vocab_build(&v, &n_left_out, c, 0, 1, &err), err);
    CHECK(n_left_out == 1, "%zu left out", n_left_out);
    CHECK_OK(rela_vocab_write(&text, v, &err), err);
    assert_string_equal(text.data, "<pad>\n<unk>\n<eos>\nb\na\nc\nzz\nÄ\n");
    CHECK_OK(rela_vocab_parse(&again, "text", text.data, text.len, &err), err);
    CHECK(rela_vocab_size(again) == 8, "%zu tokens", rela_vocab_size(again));
    for (int32_t i = 0; i < 8; i++) {
        const char *token = rela_vocab_token(v, i);
        assert_string_equal(token, rela_vocab_token(again, i));
        CHECK(rela_vocab_find(again, token, strlen(token)) == i, "%s", token);
    }
    CHECK(rela_vocab_id(v, "zz", 2) == 6, "zz");
    CHECK(rela_vocab_id(v, "z", 1) == RELA_VOCAB_UNK, "z");
    CHECK(rela_vocab_find(v, "z", 1) == RELA_VOCAB_NONE, "z");
    CHECK(rela_vocab_id(v, "<eos>", 5) == RELA_VOCAB_UNK, "text must not end a sentence");
    rela_vocab_free(again);
    CHECK_OK(rela_vocab_save(v, path, &err), err);
    CHECK_OK(rela_vocab_load(&again, path, &err), err);
    CHECK(rela_vocab_size(again) == 8, "%zu tokens", rela_vocab_size(again));
    rela_vocab_free(again);
    rela_vocab_free(v);
    CHECK_OK(rela_vocab_build(&v, NULL, c, 5, 2, &err), err);
    CHECK(rela_vocab_size(v) == 5, "%zu tokens", rela_vocab_size(v));
    rela_vocab_free(v);
    CHECK(rela_vocab_build(&v, NULL, c, 2, 1, &err) == RELA_ARG && !v, "%s", err.message);
    rela_buffer_free(&text);
    rela_word_counts_destroy(c);
}

static void bad_files_are_refused_with_the_line(void **state)
{
    (void)state;
    static char long_token[2000] = "<pad>\n<unk>\n<eos>\n";
    memset(long_token + strlen(long_token), 'x', 1100);
#define HEAD "<pad>\n<unk>\n<eos>\n"
    const struct {
        const char *text;
        size_t len;
        const char *message;
    } rows[] = {
        { "", 0, "v: ends after 0 lines; expected <pad>, <unk>, <eos> first" },
        { "<pad>\n<unk>\n", 12, "v: ends after 2 lines" },
        { "<pad>\n<eos>\n<unk>\n", 18, "v: line 2: expected the special token <unk>" },
        { "a\nb\nc\n", 6, "v: line 1: expected the special token <pad>" },
        { HEAD "a\nb\na\n", 24, "v: line 6: token 'a' was already listed in line 4" },
        { HEAD "<pad>\n", 24, "v: line 4: token '<pad>' was already listed in line 1" },
        { HEAD "a\n\nb\n", 23, "v: line 5: empty token" },
        { HEAD "a\0b\n", 22, "v: line 4: NUL byte" },
        { HEAD "a\r\r\n", 22, "v: line 4: CR in a token" },
        { HEAD "a\rb\n", 22, "v: line 4: CR in a token" },
        { HEAD "a\n\xC3\n", 22, "v: line 5: not valid UTF-8" },
        { HEAD "a 3\n", 22, "v: line 4: blank in a token" },
        { long_token, strlen(long_token), "v: line 4: token of 1100 bytes; expected at most 1024" },
    };
#undef HEAD
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rela_error err = { RELA_OK, "" };
        rela_vocab *v = NULL;
        const rela_status st = rela_vocab_parse(&v, "v", rows[i].text, rows[i].len, &err);
        CHECK(st == RELA_FORMAT && !v, "row %zu: status %d", i, (int)st);
        CHECK(strncmp(err.message, rows[i].message, strlen(rows[i].message)) == 0, "row %zu: %s", i,
              err.message);
    }
}

static void byte_order_mark_and_line_ends_do_not_matter(void **state)
{
    (void)state;
    static const char TEXT[] = "\xEF\xBB\xBF<pad>\r\n<unk>\r\n<eos>\r\nlast";
    rela_error err;
    rela_vocab *v = NULL;
    CHECK_OK(rela_vocab_parse(&v, "v", TEXT, sizeof TEXT - 1, &err), err);
    CHECK(rela_vocab_size(v) == 4 && rela_vocab_id(v, "last", 4) == 3, "%zu", rela_vocab_size(v));
    rela_vocab_free(v);
}

static rela_status import(rela_buffer *text, rela_vocab_format form, const char *file,
                          rela_error *err)
{
    rela_vocab *v = NULL;
    CHECK_OK(rela_file_write(path, file, strlen(file), err), *err);
    const rela_status st = rela_vocab_import(&v, path, form, err);
    CHECK((st == RELA_OK) == (v != NULL), "status %d", (int)st);
    rela_buffer_clear(text);
    if (v)
        CHECK_OK(rela_vocab_write(text, v, err), *err);
    rela_vocab_free(v);
    return st;
}

static void vocabularies_of_other_tools_are_read(void **state)
{
    (void)state;
#define HEAD "<pad>\n<unk>\n<eos>\n"
    static const struct {
        rela_vocab_format form;
        const char *file, *want;
    } ROWS[] = {
        { RELA_VOCAB_MARIAN,
          "</s>: 0\n<unk>: 1\nder: 2\n\"\\\"\": 4\n':': 3\n\"\\u00e9\\x21\": 5\na: b: 6\n", NULL },
        { RELA_VOCAB_MARIAN,
          "</s>: 0\n<unk>: 1\nder: 2\n\"\\\"\": 4\n'''': 3\n\"\\u00e9\\x21\": 5\n",
          HEAD "der\n'\n\"\n\xC3\xA9!\n" },
        { RELA_VOCAB_FAIRSEQ, "der 120\n, 7\nmadeupword0000 0\n", HEAD "der\n,\nmadeupword0000\n" },
        { RELA_VOCAB_OPENNMT, "<blank>\n<s>\n</s>\nder\n,\n", HEAD "der\n,\n" },
        { RELA_VOCAB_OPENNMT, "der\t12\n,\t3", HEAD "der\n,\n" },
        { RELA_VOCAB_JOEYNMT, "<unk>\n<pad>\n<s>\n</s>\nder\n", HEAD "der\n" },
    };
#undef HEAD
    rela_buffer text = RELA_BUFFER_INIT;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        rela_error err = { RELA_OK, "" };
        const rela_status st = import(&text, ROWS[i].form, ROWS[i].file, &err);
        if (ROWS[i].want)
            CHECK(st == RELA_OK && strcmp(text.data, ROWS[i].want) == 0, "row %zu: %d '%s' %s", i,
                  (int)st, text.data, err.message);
        else
            CHECK(st == RELA_FORMAT, "row %zu: status %d", i, (int)st);
    }
    rela_buffer_free(&text);
}

static void vocabularies_that_no_tool_wrote_are_refused(void **state)
{
    (void)state;
    static const struct {
        rela_vocab_format form;
        const char *file, *message;
    } ROWS[] = {
        { RELA_VOCAB_MARIAN, "<unk>: 1\nder: 0\n", "the special token </s> is missing" },
        { RELA_VOCAB_MARIAN, "</s>: 0\n<unk>: 0\n",
          "line 2: number 0 was already given in line 1" },
        { RELA_VOCAB_MARIAN, "</s>: 0\n<unk>: 2\n", "number 1 is missing; expected 0 to 2" },
        { RELA_VOCAB_MARIAN, "</s>: 0\n<unk>:1\n", "line 2: expected 'token: number'" },
        { RELA_VOCAB_MARIAN, "</s>: 0\n\"<unk>: 1\n", "line 2: a quote is not closed" },
        { RELA_VOCAB_MARIAN, "</s>: 0\n\"\\q\": 1\n", "line 2: unknown escape" },
        { RELA_VOCAB_MARIAN, "</s>: 99999999999\n", "line 1: number 99999999999; expected less" },
        { RELA_VOCAB_MARIAN, "</s>: 0\n<unk>: 1\n\"a\\r\": 2\n",
          "line 3: empty token or line end" },
        { RELA_VOCAB_MARIAN, "</s>: 0\n<unk>: 1\n\"\\r\\r\": 2\n", "line 3: empty token or line" },
        { RELA_VOCAB_JOEYNMT, "<unk>\n<pad>\n<s>\n</s>\na\na\r\r\n",
          "line 6: empty token or line" },
        { RELA_VOCAB_FAIRSEQ, "der\n", "line 1: expected a token, a blank and a count" },
        { RELA_VOCAB_FAIRSEQ, "der 1\n</s> 2\n",
          "line 2: the token </s> cannot be in such a file" },
        { RELA_VOCAB_OPENNMT, "der\tx\n", "line 1: expected a token, a tab and a count" },
        { RELA_VOCAB_OPENNMT, "der\nder\n", "token 'der' was already listed in line" },
        { RELA_VOCAB_JOEYNMT, "<unk>\n<pad>\n</s>\nder\n", "the special token <s> is missing" },
        { RELA_VOCAB_JOEYNMT, "<unk>\n\n", "line 2: empty token" },
        { RELA_VOCAB_JOEYNMT, "<unk>\n<pad>\n<s>\n</s>\n<eos>\n", "line 5: the token <eos>" },
        { (rela_vocab_format)9, "a\n", "no form 9" },
    };
    rela_buffer text = RELA_BUFFER_INIT;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        rela_error err = { RELA_OK, "" };
        const rela_status st = import(&text, ROWS[i].form, ROWS[i].file, &err);
        CHECK(st == RELA_FORMAT || st == RELA_ARG, "row %zu: status %d", i, (int)st);
        CHECK(strstr(err.message, ROWS[i].message), "row %zu: %s", i, err.message);
    }
    rela_buffer_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_sorted_by_frequency_then_first_or_text),
        cmocka_unit_test(statistics_tell_what_was_seen),
        cmocka_unit_test(any_number_of_threads_counts_the_same),
        cmocka_unit_test(dictionaries_add_up_or_take_the_most),
        cmocka_unit_test(a_vocabulary_starts_with_the_special_tokens),
        cmocka_unit_test(bad_files_are_refused_with_the_line),
        cmocka_unit_test(byte_order_mark_and_line_ends_do_not_matter),
        cmocka_unit_test(vocabularies_of_other_tools_are_read),
        cmocka_unit_test(vocabularies_that_no_tool_wrote_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

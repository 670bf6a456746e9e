/* SPDX-License-Identifier: MIT */
/* tests/unit/test_bpe_learn.c - learning merges, against subword-nmt (tools/golden/bpe.py). */
#include "check.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include "rela/subword.h"

#include <string.h>

static const char FOLDER[] = "tests/golden/bpe/";

static char *read_golden(const char *name, size_t *len)
{
    rela_error err;
    rela_buffer path = RELA_BUFFER_INIT;
    char *text = NULL;
    CHECK_OK(rela_buffer_printf(&path, &err, "%s%s", FOLDER, name), err);
    CHECK_OK(rela_file_read(&text, len, path.data, 0, &err), err);
    rela_buffer_free(&path);
    return text;
}

static rela_word_counts *count(const char *text, size_t len)
{
    rela_error err;
    rela_word_counts *c = NULL;
    CHECK_OK(rela_word_counts_create(&c, &err), err);
    CHECK_OK(rela_word_counts_add_text(c, text, len, &err), err);
    return c;
}

static void check_codes(const char *name, const rela_word_counts *c,
                        const rela_bpe_learn_options *o)
{
    rela_error err;
    rela_buffer got = RELA_BUFFER_INIT;
    rela_bpe_learn_report report = { .struct_size = sizeof report };
    size_t len = 0;
    char *want = read_golden(name, &len);
    CHECK_OK(rela_bpe_learn(&got, &report, c, o, &err), err);
    CHECK(got.len == len && memcmp(got.data, want, len) == 0, "%s differs", name);
    size_t n_lines = 0;
    for (size_t i = 0; i < len; i++)
        n_lines += want[i] == '\n';
    CHECK(report.n_merges == n_lines - 1, "%s: %d merges", name, (int)report.n_merges);
    rela_buffer_free(&got);
    rela_mem_free(want);
}

static void codes_are_those_of_subword_nmt(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint64_t n_symbols, min_frequency;
        int total_symbols;
    } rows[] = {
        { "codes-default", 10000, 2, 0 }, { "codes-short", 60, 2, 0 },
        { "codes-rare", 10000, 1, 0 },    { "codes-frequent", 10000, 6, 0 },
        { "codes-total", 330, 2, 1 },
    };
    size_t len = 0;
    char *text = read_golden("corpus.txt", &len);
    rela_word_counts *c = count(text, len);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rela_bpe_learn_options o;
        rela_bpe_learn_options_init(&o, sizeof o);
        o.n_symbols = rows[i].n_symbols;
        o.min_frequency = rows[i].min_frequency;
        o.total_symbols = rows[i].total_symbols;
        check_codes(rows[i].name, c, &o);
    }
    rela_word_counts_destroy(c);
    rela_mem_free(text);
}

static void the_order_of_lines_does_not_matter(void **state)
{
    (void)state;
    rela_error err;
    rela_bpe_learn_options o;
    rela_word_counts *c = NULL;
    size_t len = 0;
    char *text = read_golden("corpus.txt", &len);
    CHECK_OK(rela_word_counts_create(&c, &err), err);
    for (size_t end = len; end > 0;) { /* the last line first */
        size_t start = end - 1;
        while (start > 0 && text[start - 1] != '\n')
            start--;
        CHECK_OK(rela_word_counts_add_text(c, text + start, end - start, &err), err);
        end = start;
    }
    rela_bpe_learn_options_init(&o, sizeof o);
    check_codes("codes-default", c, &o);
    rela_word_counts_destroy(c);
    rela_mem_free(text);
}

static void check_text(const char *text, uint64_t min_frequency, const char *want, int exhausted)
{
    rela_error err;
    rela_bpe_learn_options o;
    rela_bpe_learn_report report = { .struct_size = sizeof report };
    rela_buffer got = RELA_BUFFER_INIT;
    rela_word_counts *c = count(text, strlen(text));
    rela_bpe_learn_options_init(&o, sizeof o);
    o.n_symbols = 2;
    o.min_frequency = min_frequency;
    CHECK_OK(rela_bpe_learn(&got, &report, c, &o, &err), err);
    assert_string_equal(got.data, want);
    CHECK(report.exhausted == exhausted, "'%s': exhausted %d", text, report.exhausted);
    rela_buffer_free(&got);
    rela_word_counts_destroy(c);
}

static void ties_go_to_the_larger_pair(void **state)
{
    (void)state;
    check_text("ab cd é€", 1, "#version: 0.2\né €</w>\nc d</w>\n", 0);
    check_text("ab ab", 1, "#version: 0.2\na b</w>\n", 1);
}

static void nothing_to_merge_gives_the_version_only(void **state)
{
    (void)state;
    check_text("", 2, "#version: 0.2\n", 1);
    check_text("a b c", 2, "#version: 0.2\n", 1);
    check_text("ab", 2, "#version: 0.2\n", 1);
}

static void characters_are_counted_inside_and_at_the_end(void **state)
{
    (void)state;
    rela_error err;
    rela_bpe_learn_options o;
    rela_bpe_learn_report report = { .struct_size = sizeof report };
    rela_buffer got = RELA_BUFFER_INIT;
    rela_word_counts *c = count("aba ac ☃a", 11);
    rela_bpe_learn_options_init(&o, sizeof o);
    CHECK_OK(rela_bpe_learn(&got, &report, c, &o, &err), err);
    CHECK(report.n_inner == 3 && report.n_final == 2, "%d inside, %d at the end",
          (int)report.n_inner, (int)report.n_final);
    o.min_frequency = 0;
    CHECK(rela_bpe_learn(&got, NULL, c, &o, &err) == RELA_ARG, "a frequency of 0");
    rela_buffer_free(&got);
    rela_word_counts_destroy(c);
}

static int stop_at_once(void *ctx, uint64_t done, uint64_t total)
{
    ++*(int *)ctx;
    return done < total;
}

static void learning_can_be_stopped(void **state)
{
    (void)state;
    rela_error err;
    rela_bpe_learn_options o;
    rela_buffer got = RELA_BUFFER_INIT;
    int n_calls = 0;
    rela_word_counts *c = count("abc abc abd abd", 15);
    rela_bpe_learn_options_init(&o, sizeof o);
    o.progress = stop_at_once;
    o.progress_ctx = &n_calls;
    CHECK(rela_bpe_learn(&got, NULL, c, &o, &err) == RELA_CANCEL && n_calls == 1, "%s, %d calls",
          err.message, n_calls);
    rela_buffer_free(&got);
    rela_word_counts_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_those_of_subword_nmt),
        cmocka_unit_test(the_order_of_lines_does_not_matter),
        cmocka_unit_test(ties_go_to_the_larger_pair),
        cmocka_unit_test(nothing_to_merge_gives_the_version_only),
        cmocka_unit_test(characters_are_counted_inside_and_at_the_end),
        cmocka_unit_test(learning_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

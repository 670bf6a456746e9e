/* SPDX-License-Identifier: MIT */
/* tests/unit/test_bpe.c - applying merges, against subword-nmt (tools/golden/bpe.py) and against a
 * plain round by round merging. */
#include "check.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "text/bpe.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char FOLDER[] = "tests/golden/bpe/";

enum { WORD_MAX = 400, CODES_MAX = 40, PART_MAX = 30 };

static uint32_t seed = 1;

static uint32_t rnd(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

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

static rela_bpe *parse(const char *codes, const rela_bpe_options *o)
{
    rela_error err;
    rela_bpe *b = NULL;
    CHECK_OK(rela_bpe_parse(&b, "codes", codes, strlen(codes), o, &err), err);
    return b;
}

static rela_bpe_scratch *scratch_of(const rela_bpe *b)
{
    rela_error err;
    rela_bpe_scratch *s = NULL;
    CHECK_OK(rela_bpe_scratch_create(&s, b, &err), err);
    return s;
}

static void check_line(rela_bpe_scratch *s, const char *line, size_t len, const char *want)
{
    rela_error err;
    rela_buffer got = RELA_BUFFER_INIT;
    CHECK_OK(rela_bpe_apply(&got, s, line, len, 1, &err), err);
    CHECK(strcmp(got.data, want) == 0, "'%s': '%s', expected '%s'", line, got.data, want);
    rela_buffer_free(&got);
}

/* Pieces are what blanks and line breaks separate in the segmented line. */
static void check_pieces(rela_bpe_scratch *s, rela_span line, rela_span want)
{
    rela_error err;
    const rela_piece *pieces = NULL;
    size_t n = 0;
    CHECK_OK(rela_bpe_pieces(&pieces, &n, s, line.text, line.len, 1, &err), err);
    const char *at = want.text;
    for (size_t i = 0; i < n; i++) {
        at = memmem(at, (size_t)(want.text + want.len - at), pieces[i].text, pieces[i].len);
        CHECK(at, "piece '%.*s' is not in the line", (int)pieces[i].len, pieces[i].text);
        at += pieces[i].len;
        CHECK(i + 1 == n || !memchr(pieces[i].text, ' ', pieces[i].len), "blank in a piece");
    }
}

static void check_golden(const char *name, const rela_bpe *b)
{
    rela_error err;
    size_t len = 0, want_len = 0;
    char *text = read_golden("corpus.txt", &len), *want = read_golden(name, &want_len);
    const char *at = text, *want_at = want;
    rela_span line, want_line;
    rela_buffer got = RELA_BUFFER_INIT;
    rela_bpe_scratch *s = scratch_of(b);
    for (int number = 1; rela_next_line(&line, &at, text + len); number++) {
        CHECK(rela_next_line(&want_line, &want_at, want + want_len), "%s ends early", name);
        rela_buffer_clear(&got);
        CHECK_OK(rela_bpe_apply(&got, s, line.text, line.len, 1, &err), err);
        CHECK(got.len == want_line.len && memcmp(got.data, want_line.text, got.len) == 0,
              "%s: line %d: %s", name, number, got.data);
        check_pieces(s, line, want_line);
    }
    rela_bpe_scratch_destroy(s);
    rela_buffer_free(&got);
    rela_mem_free(want);
    rela_mem_free(text);
}

static void segmentations_are_those_of_subword_nmt(void **state)
{
    (void)state;
    static const char *const SOME[] = { "USA", "<[^>]*>", "[0-9]+", "(New|Los)(er)?" };
    static const char *const MORE[] = { "USA", "a|b", "http.*", "z*" };
    static const struct {
        const char *name, *codes;
        int64_t merges;
        const char *separator;
        int threshold; /* -1: no vocabulary */
        const char *const *glossaries;
    } rows[] = {
        { "apply-default", "codes-default", -1, "@@", -1, NULL },
        { "apply-merges", "codes-rare", 100, "@@", -1, NULL },
        { "apply-separator", "codes-short", -1, "￭", -1, NULL },
        { "apply-threshold", "codes-rare", -1, "@@", 3, NULL },
        { "apply-vocabulary", "codes-default", -1, "@@", 0, NULL },
        { "apply-glossary", "codes-rare", -1, "@@", -1, SOME },
        { "apply-both", "codes-default", -1, "@@", 4, MORE },
        { "apply-old", "codes-old", -1, "@@", -1, NULL },
        { "apply-oldthreshold", "codes-old", -1, "@@", 3, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rela_error err;
        rela_bpe_options o;
        rela_word_counts *vocabulary = NULL;
        rela_bpe *b = NULL;
        size_t len = 0;
        char *codes = read_golden(rows[i].codes, &len);
        rela_bpe_options_init(&o, sizeof o);
        o.merges = rows[i].merges;
        o.separator = rows[i].separator;
        if (rows[i].threshold >= 0) {
            CHECK_OK(rela_word_counts_create(&vocabulary, &err), err);
            CHECK_OK(rela_word_counts_add_dictionary(vocabulary, "tests/golden/bpe/vocab-pieces",
                                                     RELA_DUPLICATES_MAX, &err),
                     err);
            o.vocabulary = vocabulary;
            o.vocabulary_threshold = (uint64_t)rows[i].threshold;
        }
        o.glossaries = rows[i].glossaries;
        o.n_glossaries = rows[i].glossaries ? 4 : 0;
        CHECK_OK(rela_bpe_parse(&b, rows[i].codes, codes, len, &o, &err), err);
        rela_word_counts_destroy(vocabulary);
        rela_mem_free(codes);
        check_golden(rows[i].name, b);
        rela_bpe_free(b);
    }
}

/* The definition: find the lowest rank, join it everywhere from left to right, start again. */
static void merge_plainly(rela_buffer *out, const rela_bpe *b, const char *word, size_t len)
{
    rela_error err;
    uint32_t symbols[WORD_MAX], starts[WORD_MAX + 1];
    size_t n = 0;
    for (; n < len; n++) {
        const rela_bpe_letter *l = rela_bpe_letter_of(b, (unsigned char)word[n]);
        symbols[n] = n + 1 == len ? l->end : l->inner;
        starts[n] = (uint32_t)n;
    }
    for (;;) {
        uint32_t best = RELA_RANK_NONE;
        for (size_t i = 0; i + 1 < n; i++) {
            const uint32_t rank = rela_bpe_pair(b, symbols[i], symbols[i + 1])->rank;
            best = rank < best ? rank : best;
        }
        if (best == RELA_RANK_NONE)
            break;
        size_t k = 0;
        for (size_t i = 0; i < n; k++) {
            const bool joins =
                i + 1 < n && rela_bpe_pair(b, symbols[i], symbols[i + 1])->rank == best;
            starts[k] = starts[i];
            symbols[k] = joins ? b->merges[best].joint : symbols[i];
            i += joins ? 2 : 1;
        }
        n = k;
    }
    starts[n] = (uint32_t)len;
    for (size_t i = 0; i < n; i++) {
        CHECK_OK(rela_buffer_append(out, word + starts[i], starts[i + 1] - starts[i], &err), err);
        if (i + 1 < n)
            CHECK_OK(rela_buffer_append_text(out, "@@ ", &err), err);
    }
}

/* Codes in any order: a merge may come before those that make its parts. */
static void random_codes(rela_buffer *codes, uint32_t n)
{
    char parts[CODES_MAX + 6][PART_MAX] = { "a", "b", "c", "a</w>", "b</w>", "c</w>" };
    char lines[CODES_MAX][2 * PART_MAX];
    uint32_t n_parts = 6;
    rela_error err;
    for (uint32_t i = 0; i < n; i++) {
        char left[PART_MAX], right[PART_MAX];
        do
            memcpy(left, parts[rnd(n_parts)], sizeof left);
        while (strchr(left, '<'));
        memcpy(right, parts[rnd(n_parts)], sizeof right);
        (void)snprintf(lines[i], sizeof lines[i], "%s %s", left, right);
        if (strlen(left) + strlen(right) < PART_MAX)
            (void)snprintf(parts[n_parts++], PART_MAX, "%.9s%.19s", left, right);
    }
    CHECK_OK(rela_buffer_append_text(codes, "#version: 0.2\n", &err), err);
    for (uint32_t i = n; i > 0; i--) {
        const uint32_t k = rnd(i);
        CHECK_OK(rela_buffer_printf(codes, &err, "%s\n", lines[k]), err);
        memmove(lines[k], lines[i - 1], sizeof lines[k]);
    }
}

static void any_codes_give_what_plain_merging_gives(void **state)
{
    (void)state;
    for (int round = 0; round < 60; round++) {
        rela_error err;
        rela_buffer codes = RELA_BUFFER_INIT, got = RELA_BUFFER_INIT, want = RELA_BUFFER_INIT;
        random_codes(&codes, 2 + rnd(CODES_MAX - 2));
        rela_bpe *b = parse(codes.data, NULL);
        rela_bpe_scratch *s = scratch_of(b);
        for (int i = 0; i < 60; i++) {
            char word[WORD_MAX];
            const size_t len = 2 + rnd(i % 3 ? 20 : WORD_MAX - 2); /* short and long ones */
            for (size_t k = 0; k < len; k++)
                word[k] = (char)('a' + rnd(rnd(4) ? 2 : 3));
            rela_buffer_clear(&got);
            rela_buffer_clear(&want);
            CHECK_OK(rela_bpe_apply(&got, s, word, len, 1, &err), err);
            merge_plainly(&want, b, word, len);
            CHECK(strcmp(got.data, want.data) == 0, "%.*s: %s, expected %s; codes:\n%s", (int)len,
                  word, got.data, want.data, codes.data);
        }
        rela_bpe_scratch_destroy(s);
        rela_bpe_free(b);
        rela_buffer_free(&want);
        rela_buffer_free(&got);
        rela_buffer_free(&codes);
    }
}

static void more_words_than_the_cache_holds_stay_right(void **state)
{
    (void)state;
    rela_error err;
    rela_bpe *b = parse("#version: 0.2\nw 1\n", NULL);
    rela_bpe_scratch *s = scratch_of(b);
    rela_buffer got = RELA_BUFFER_INIT, want = RELA_BUFFER_INIT;
    for (unsigned i = 0; i < 600000; i++) {
        char word[32];
        const unsigned n = i < 590000 ? i % 300000 : i; /* new, known and forgotten ones */
        const int len = snprintf(word, sizeof word, "w%u", n);
        rela_buffer_clear(&got);
        rela_buffer_clear(&want);
        CHECK_OK(rela_bpe_apply(&got, s, word, (size_t)len, 1, &err), err);
        if (i % 97)
            continue;
        merge_plainly(&want, b, word, (size_t)len);
        CHECK(strcmp(got.data, want.data) == 0, "%s: %s", word, got.data);
    }
    rela_bpe_scratch_destroy(s);
    rela_bpe_free(b);
    rela_buffer_free(&want);
    rela_buffer_free(&got);
}

static void blanks_and_bad_bytes_are_treated_as_told(void **state)
{
    (void)state;
    rela_bpe *b = parse("#version: 0.2\na b\n", NULL);
    rela_bpe_scratch *s = scratch_of(b);
    check_line(s, "", 0, "");
    check_line(s, "  abc   b ", 10, "  ab@@ c b ");
    check_line(s, "a\rabc", 5, "a\rab@@ c");
    check_line(s, "ab\xFF", 3, "ab@@ \xEF\xBF\xBD");
    CHECK(rela_bpe_n_replaced(s) == 1, "%d replaced", (int)rela_bpe_n_replaced(s));
    rela_buffer nul = RELA_BUFFER_INIT;
    rela_error err;
    CHECK_OK(rela_bpe_apply(&nul, s, "ab\0c", 4, 1, &err), err);
    CHECK(nul.len == 10 && memcmp(nul.data, "ab@@ \0@@ c", 10) == 0, "NUL: %zu bytes", nul.len);
    rela_buffer_free(&nul);
    rela_bpe_scratch_destroy(s);
    rela_bpe_free(b);
}

static void codes_of_any_version_are_understood(void **state)
{
    (void)state;
    static const char *const CODES[] = { "#version: 0.2\na b</w>\n",
                                         "#version: 0.2.0\r\na b</w>\r\n", "a b\nab </w>\n",
                                         "#version: 0.1\na b\nab </w>\n\n\n",
                                         "\xEF\xBB\xBF#version: 0.2\na b</w>" };
    for (size_t i = 0; i < sizeof CODES / sizeof *CODES; i++) {
        rela_bpe *b = parse(CODES[i], NULL);
        rela_bpe_scratch *s = scratch_of(b);
        check_line(s, "xab ab", 6, "x@@ ab ab");
        CHECK(rela_bpe_n_merges(b) >= 1, "no merges");
        rela_bpe_scratch_destroy(s);
        rela_bpe_free(b);
    }
}

/* A merge in one of two places survives with probability 1 - p. */
static void dropout_leaves_merges_out_at_its_rate(void **state)
{
    (void)state;
    enum { N = 40000 };
    rela_bpe_options o;
    rela_bpe_options_init(&o, sizeof o);
    o.dropout = 0.25;
    rela_bpe *b = parse("#version: 0.2\na b</w>\n", &o);
    rela_bpe_scratch *s = scratch_of(b);
    int n_joined[2] = { 0, 0 }, n_both = 0;
    for (uint64_t number = 0; number < N; number++) {
        rela_error err;
        rela_buffer got = RELA_BUFFER_INIT;
        CHECK_OK(rela_bpe_apply(&got, s, "ab ab", 5, number, &err), err);
        const int first = got.data[1] == 'b', second = got.data[got.len - 2] == 'a';
        n_joined[0] += first;
        n_joined[1] += second;
        n_both += first && second;
        rela_buffer_free(&got);
    }
    const double sd = sqrt(0.25 * 0.75 / N);
    for (int i = 0; i < 2; i++)
        CHECK(fabs((double)n_joined[i] / N - 0.75) < 4 * sd, "word %d: joined %d of %d", i,
              n_joined[i], (int)N);
    CHECK(fabs((double)n_both / N - 0.75 * 0.75) < 4 * sqrt(0.5625 * 0.4375 / N), "both %d of %d",
          n_both, (int)N);
    rela_bpe_scratch_destroy(s);
    rela_bpe_free(b);
}

static void dropout_depends_on_seed_line_and_word_only(void **state)
{
    (void)state;
    rela_error err;
    rela_bpe_options o;
    size_t len = 0;
    char *codes = read_golden("codes-rare", &len);
    rela_buffer a = RELA_BUFFER_INIT, c = RELA_BUFFER_INIT;
    rela_bpe_options_init(&o, sizeof o);
    o.dropout = 0.4;
    o.seed = 99;
    rela_bpe *b = parse(codes, &o);
    rela_bpe_scratch *s = scratch_of(b), *fresh = NULL;
    CHECK_OK(rela_bpe_apply(&a, s, "newest lowest better", 20, 5, &err), err);
    rela_buffer_clear(&a);
    CHECK_OK(rela_bpe_apply(&a, s, "Donaudampfschiffe größten better", 34, 7, &err), err);
    fresh = scratch_of(b);
    CHECK_OK(rela_bpe_apply(&c, fresh, "Donaudampfschiffe größten better", 34, 7, &err), err);
    assert_string_equal(a.data, c.data);
    rela_buffer_clear(&c);
    CHECK_OK(rela_bpe_apply(&c, fresh, "x größten better", 18, 7, &err), err); /* the others stay */
    assert_string_equal(strstr(a.data, "g"), strstr(c.data, "g"));
    rela_bpe_scratch_destroy(fresh);
    rela_bpe_scratch_destroy(s);
    rela_bpe_free(b);
    rela_buffer_free(&a);
    rela_buffer_free(&c);
    rela_mem_free(codes);
}

typedef struct worker {
    const rela_bpe *bpe;
    const char *text;
    size_t len;
    rela_buffer out;
    rela_status status;
} worker;

static void *segment_all(void *ctx)
{
    worker *w = ctx;
    rela_bpe_scratch *s = NULL;
    const char *at = w->text;
    rela_span line;
    w->status = rela_bpe_scratch_create(&s, w->bpe, NULL);
    while (w->status == RELA_OK && rela_next_line(&line, &at, w->text + w->len))
        w->status = rela_bpe_apply(&w->out, s, line.text, line.len, 1, NULL);
    rela_bpe_scratch_destroy(s);
    return NULL;
}

static void threads_share_the_codes(void **state)
{
    (void)state;
    enum { N = 3 };
    static const char *const GLOSSARIES[] = { "USA", "[0-9]+" };
    size_t len = 0;
    char *codes = read_golden("codes-default", &len), *text = read_golden("corpus.txt", &len);
    rela_bpe_options o;
    rela_bpe_options_init(&o, sizeof o);
    o.glossaries = GLOSSARIES;
    o.n_glossaries = 2;
    rela_bpe *b = parse(codes, &o);
    worker workers[N];
    pthread_t threads[N];
    for (int i = 0; i < N; i++) {
        workers[i] = (worker){ .bpe = b, .text = text, .len = len };
        assert_int_equal(pthread_create(&threads[i], NULL, segment_all, &workers[i]), 0);
    }
    for (int i = 0; i < N; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        CHECK(workers[i].status == RELA_OK, "thread %d: status %d", i, (int)workers[i].status);
        CHECK(strcmp(workers[i].out.data, workers[0].out.data) == 0, "thread %d differs", i);
    }
    for (int i = 0; i < N; i++)
        rela_buffer_free(&workers[i].out);
    rela_bpe_free(b);
    rela_mem_free(text);
    rela_mem_free(codes);
}

static void undo_removes_separators(void **state)
{
    (void)state;
    static const char *const ROWS[][2] = {
        { "a@@ b c@@", "ab c" }, { "@@", "" },         { "@@ ", "" },          { "@@@ a", "@a" },
        { "a@@b", "a@@b" },      { "a@@ @@ b", "ab" }, { " a  b ", " a  b " },
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        rela_error err;
        rela_buffer got = RELA_BUFFER_INIT;
        CHECK_OK(rela_bpe_undo(&got, "@@", ROWS[i][0], strlen(ROWS[i][0]), &err), err);
        assert_string_equal(got.data, ROWS[i][1]);
        rela_buffer_free(&got);
    }
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    static const char *const OPEN[] = { "a", "b(" };
    rela_error err;
    rela_bpe_options o;
    rela_bpe *b = NULL;
    rela_bpe_options_init(&o, sizeof o);
    o.dropout = NAN;
    CHECK(rela_bpe_parse(&b, "c", "a b", 3, &o, &err) == RELA_ARG && !b, "dropout");
    rela_bpe_options_init(&o, sizeof o);
    o.glossaries = OPEN;
    o.n_glossaries = 2;
    CHECK(rela_bpe_parse(&b, "c", "a b", 3, &o, &err) == RELA_ARG && !b, "glossary");
    CHECK(strstr(err.message, "'b('"), "%s", err.message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segmentations_are_those_of_subword_nmt),
        cmocka_unit_test(any_codes_give_what_plain_merging_gives),
        cmocka_unit_test(more_words_than_the_cache_holds_stay_right),
        cmocka_unit_test(blanks_and_bad_bytes_are_treated_as_told),
        cmocka_unit_test(codes_of_any_version_are_understood),
        cmocka_unit_test(dropout_leaves_merges_out_at_its_rate),
        cmocka_unit_test(dropout_depends_on_seed_line_and_word_only),
        cmocka_unit_test(threads_share_the_codes),
        cmocka_unit_test(undo_removes_separators),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

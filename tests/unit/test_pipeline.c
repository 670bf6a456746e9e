/* SPDX-License-Identifier: MIT */
/* tests/unit/test_pipeline.c - segmentation by chance: what is drawn depends on seed and number
 * alone, the words stay the same, and the vocabulary that is learned knows the pieces. */
#include "base/file.h"
#include "check.h"
#include "scratch.h"
#include "text/pipeline.h"

#include <stdio.h>
#include <string.h>

enum { LINES = 200, MERGES = 40 };
static const char *const WORDS[] = { "lower", "lowest", "newer", "newest", "wider", "widest" };
enum { N_WORDS = sizeof WORDS / sizeof WORDS[0] };
#define LINE "lower newest widest lowest wider"

static void learn(rela_pipeline **p, double dropout)
{
    rela_error err = { RELA_OK, "" };
    rela_buffer text = RELA_BUFFER_INIT;
    for (int i = 0; i < LINES; i++)
        CHECK_OK(rela_buffer_printf(&text, &err, "%s %s\n", WORDS[i % N_WORDS],
                                    WORDS[(i * 5 + i / N_WORDS) % N_WORDS]),
                 err);
    const char *path = scratch("text");
    CHECK_OK(rela_file_write(path, text.data, text.len, &err), err);
    const rela_pipeline_text texts[] = { { .path = path, .side = 0 }, { .path = path, .side = 1 } };
    const rela_pipeline_recipe r = { .n_sides = 2,
                                     .side = { { .language = "en" }, { .language = "de" } },
                                     .texts = texts,
                                     .n_texts = 2,
                                     .merges = MERGES,
                                     .vocab_min = 1,
                                     .joint_vocab = true,
                                     .dropout = dropout,
                                     .seed = 3,
                                     .n_threads = 2 };
    CHECK_OK(rela_pipeline_learn(p, &r, &err), err);
    rela_buffer_free(&text);
}

/* The pieces of LINE under a number, blank-separated. */
static void pieces(rela_buffer *out, rela_pipeline_scratch *s, uint64_t number)
{
    rela_error err = { RELA_OK, "" };
    rela_buffer_clear(out);
    rela_pipeline_scratch_number(s, number);
    CHECK_OK(rela_pipeline_pieces(out, s, 0, LINE, strlen(LINE), &err), err);
}

/* Every draw is LINE again without the marks. */
static void check_joined(const rela_buffer *drawn)
{
    rela_error err = { RELA_OK, "" };
    rela_buffer joined = RELA_BUFFER_INIT;
    CHECK_OK(rela_bpe_undo(&joined, "@@", drawn->data, drawn->len, &err), err);
    assert_string_equal(joined.data, LINE);
    rela_buffer_free(&joined);
}

static void draws_depend_on_the_number_alone(void **state)
{
    (void)state;
    enum { DRAWS = 32 };
    rela_error err = { RELA_OK, "" };
    rela_pipeline *p = NULL;
    rela_bpe *drawn = NULL;
    rela_pipeline_scratch *forth = NULL, *back = NULL;
    rela_buffer one[DRAWS] = { RELA_BUFFER_INIT }, other = RELA_BUFFER_INIT;
    learn(&p, 0.3);
    CHECK_OK(rela_pipeline_sampled(&drawn, p, 0.3, 5, &err), err);
    CHECK_OK(rela_pipeline_scratch_create_sampled(&forth, p, drawn, &err), err);
    CHECK_OK(rela_pipeline_scratch_create_sampled(&back, p, drawn, &err), err);
    for (int i = 0; i < DRAWS; i++)
        pieces(&one[i], forth, (uint64_t)i);
    int different = 0;
    for (int i = DRAWS - 1; i >= 0; i--) {
        pieces(&other, back, (uint64_t)i);
        assert_string_equal(other.data, one[i].data);
        different += strcmp(one[i].data, one[0].data) != 0;
        check_joined(&other);
    }
    assert_true(different > DRAWS / 2);
    for (int i = 0; i < DRAWS; i++)
        rela_buffer_free(&one[i]);
    rela_buffer_free(&other);
    rela_pipeline_scratch_destroy(forth);
    rela_pipeline_scratch_destroy(back);
    rela_bpe_free(drawn);
    rela_pipeline_destroy(p);
}

/* How many of the pieces of many draws are not in the vocabulary of p. */
static size_t unknown(const rela_pipeline *p)
{
    rela_error err = { RELA_OK, "" };
    rela_bpe *drawn = NULL;
    rela_pipeline_scratch *s = NULL;
    size_t n_unknown = 0;
    CHECK_OK(rela_pipeline_sampled(&drawn, p, 0.3, 8, &err), err);
    CHECK_OK(rela_pipeline_scratch_create_sampled(&s, p, drawn, &err), err);
    for (uint64_t number = 0; number < LINES; number++) {
        const int32_t *ids = NULL;
        size_t n = 0;
        rela_pipeline_scratch_number(s, number);
        CHECK_OK(rela_pipeline_encode(&ids, &n, s, 0, LINE, strlen(LINE), &err), err);
        for (size_t i = 0; i < n; i++)
            n_unknown += ids[i] == RELA_VOCAB_UNK;
    }
    rela_pipeline_scratch_destroy(s);
    rela_bpe_free(drawn);
    return n_unknown;
}

static void the_vocabulary_knows_drawn_pieces(void **state)
{
    (void)state;
    rela_pipeline *plain = NULL, *wide = NULL;
    learn(&plain, 0);
    learn(&wide, 0.3);
    assert_true(unknown(plain) > LINES); /* merged to whole words, it knows little else */
    assert_int_equal(unknown(wide), 0);
    rela_pipeline_destroy(plain);
    rela_pipeline_destroy(wide);
}

/* How many tokens of a line do not belong to the sources. */
static size_t foreign(const rela_pipeline *p, const char *line)
{
    rela_error err = { RELA_OK, "" };
    rela_pipeline_scratch *s = NULL;
    const int32_t *ids = NULL;
    size_t n = 0, n_foreign = 0;
    CHECK_OK(rela_pipeline_scratch_create(&s, p, &err), err);
    CHECK_OK(rela_pipeline_encode(&ids, &n, s, 0, line, strlen(line), &err), err);
    for (size_t i = 0; i < n; i++)
        n_foreign += !rela_pipeline_is_source(p, ids[i]);
    rela_pipeline_scratch_destroy(s);
    return n_foreign;
}

/* Whole words: those more than ten times as frequent in the target are not of the source. */
static void tokens_of_the_source_are_known(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_pipeline *p = NULL, *again = NULL;
    char src[256], tgt[256];
    (void)snprintf(src, sizeof src, "%s", scratch("src"));
    (void)snprintf(tgt, sizeof tgt, "%s", scratch("tgt"));
    rela_buffer text = RELA_BUFFER_INIT;
    for (int i = 0; i < 10; i++)
        CHECK_OK(rela_buffer_append_text(&text, "both here\n", &err), err);
    CHECK_OK(rela_buffer_append_text(&text, "some rare\n", &err), err);
    CHECK_OK(rela_file_write(src, text.data, text.len, &err), err);
    rela_buffer_clear(&text);
    for (int i = 0; i < 10; i++)
        CHECK_OK(rela_buffer_append_text(&text, "rare some\n", &err), err);
    CHECK_OK(rela_buffer_append_text(&text, "both rare\n", &err), err);
    CHECK_OK(rela_file_write(tgt, text.data, text.len, &err), err);
    const rela_pipeline_text texts[] = { { .path = src, .side = 0 }, { .path = tgt, .side = 1 } };
    const rela_pipeline_recipe r = { .n_sides = 2,
                                     .texts = texts,
                                     .n_texts = 2,
                                     .vocab_min = 1,
                                     .joint_vocab = true,
                                     .n_threads = 2 };
    CHECK_OK(rela_pipeline_learn(&p, &r, &err), err);
    assert_int_equal(foreign(p, "both here some rare unheard"), 2);
    rela_pipeline_parts parts = *rela_pipeline_parts_of(p);
    CHECK_OK(rela_pipeline_create(&again, &parts, &err), err);
    assert_int_equal(foreign(again, "both here some rare unheard"), 2);
    rela_pipeline_destroy(again);
    parts.source.len = 0; /* not known: only unknown tokens */
    CHECK_OK(rela_pipeline_create(&again, &parts, &err), err);
    assert_int_equal(foreign(again, "both here some rare unheard"), 1);
    rela_pipeline_destroy(again);
    const char *const bad[] = { "f", "fg", "FF", "f " };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        parts.source = rela_span_of(bad[i]);
        assert_int_equal(rela_pipeline_create(&again, &parts, &err), RELA_FORMAT);
        CHECK(strstr(err.message, "tokens of the source text"), "%s", err.message);
        err = (rela_error){ RELA_OK, "" };
    }
    rela_pipeline_destroy(p);
    rela_buffer_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_depend_on_the_number_alone),
        cmocka_unit_test(the_vocabulary_knows_drawn_pieces),
        cmocka_unit_test(tokens_of_the_source_are_known),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}

/* SPDX-License-Identifier: MIT */
/* tests/unit/test_sentences.c - texts of several sentences: translated as each by itself, and put
 * together. */
#include "api_model.h"
#include "session/sentences.h"
#include "sweep.h"

#include <math.h>

enum { N = 4 };

static const char *const SENTENCES[N] = { "a b g .", "d strange , e .", "h a a c d e .", "b !" };
static const char JOINED[] = "  a b g .   d strange , e . h a a c d e . b ! ";

static rela_error err;

static rela_translate_options options(void)
{
    rela_translate_options o;
    rela_translate_options_init(&o, sizeof o);
    o.split = RELA_SPLIT_AUTO;
    o.n_best = 3;
    return o;
}

static rela_result *translate(const world *w, const char *const *src, size_t n,
                              const rela_translate_options *o)
{
    rela_result *r = NULL;
    CHECK_OK(rela_translate(&r, w->session, src, NULL, n, o, &err), err);
    return r;
}

/* Words that the tokens of a translation make. */
static size_t count_words(const rela_result *r, size_t i, size_t rank)
{
    size_t n = rela_result_n_tokens(r, i, rank), n_words = 0;
    n -= n && strcmp(rela_result_token(r, i, rank, n - 1), "<eos>") == 0;
    for (size_t k = 0; k < n; k++)
        n_words += k + 1 == n || strcmp(rela_result_token(r, i, rank, k), "f@@") != 0;
    return n_words;
}

/* Appends the links of single sentences with the words before them added. */
static void add_links(rela_buffer *out, const rela_result *r, size_t i, size_t rank,
                      const rela_link_options *o, size_t src, size_t tgt)
{
    rela_buffer one = RELA_BUFFER_INIT;
    CHECK_OK(rela_result_links(&one, r, i, rank, o, &err), err);
    const char *at = one.data ? one.data : "", *end = at + one.len;
    for (rela_span link; rela_next_word(&link, &at, end);) {
        char *rest = NULL;
        const size_t s = strtoul(link.text, &rest, 10), t = strtoul(rest + 1, &rest, 10);
        CHECK_OK(rela_buffer_printf(out, &err, "%s%zu-%zu%.*s", out->len ? " " : "", src + s,
                                    tgt + t, (int)(link.text + link.len - rest), rest),
                 err);
    }
    rela_buffer_free(&one);
}

static void check_rank(const rela_result *one, const rela_result *each, size_t rank)
{
    char text[1024] = "";
    double logp = 0, score = 0;
    size_t token = 0;
    for (size_t i = 0; i < N; i++) {
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
                       rela_result_text(each, i, rank));
        logp += rela_result_logp(each, i, rank);
        score += rela_result_score(each, i, rank);
        for (size_t k = 0; k < rela_result_n_tokens(each, i, rank); k++, token++) {
            assert_string_equal(rela_result_token(one, 0, rank, token),
                                rela_result_token(each, i, rank, k));
            assert_true(rela_result_token_logp(one, 0, rank, token) ==
                        rela_result_token_logp(each, i, rank, k));
        }
    }
    assert_string_equal(rela_result_text(one, 0, rank), text);
    assert_int_equal(rela_result_text_len(one, 0, rank), strlen(text));
    assert_int_equal(rela_result_n_tokens(one, 0, rank), token);
    CHECK(fabs(rela_result_logp(one, 0, rank) - logp) < 1e-9, "logp");
    CHECK(fabs(rela_result_score(one, 0, rank) - score) < 1e-9, "score");
    assert_null(rela_result_attention(one, 0, rank));
}

static void check_links(const rela_result *one, const rela_result *each, size_t rank, int32_t soft)
{
    rela_link_options o;
    rela_buffer got = RELA_BUFFER_INIT, want = RELA_BUFFER_INIT;
    size_t src = 0, tgt = 0;
    rela_link_options_init(&o, sizeof o);
    o.soft = soft;
    for (size_t i = 0; i < N; i++) {
        add_links(&want, each, i, rank, &o, src, tgt);
        src += rela_result_n_source(each, i) - 1;
        tgt += count_words(each, i, rank);
    }
    CHECK_OK(rela_result_links(&got, one, 0, rank, &o, &err), err);
    CHECK(want.len && got.len == want.len && memcmp(got.data, want.data, got.len) == 0,
          "'%s'; expected '%s'", got.data, want.data);
    rela_buffer_free(&got);
    rela_buffer_free(&want);
}

static void they_are_as_each_alone(void **state)
{
    (void)state;
    const char *const text = JOINED;
    world w;
    world_start(&w, 2);
    rela_translate_options o = options();
    o.attention = 1;
    rela_result *one = translate(&w, &text, 1, &o), *each = translate(&w, SENTENCES, N, &o);
    assert_int_equal(rela_result_count(one), 1);
    for (size_t rank = 0; rank < 3; rank++) {
        check_rank(one, each, rank);
        check_links(one, each, rank, 0);
        check_links(one, each, rank, 1);
    }
    size_t n = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < rela_result_n_source(each, i); k++, n++)
            assert_string_equal(rela_result_source_token(one, 0, n),
                                rela_result_source_token(each, i, k));
    assert_int_equal(rela_result_n_source(one, 0), n);
    rela_result_free(one);
    rela_result_free(each);
    world_end(&w);
}

/* How many sentences a text was for the model: the end symbols of its source. */
static size_t sentences_of(const rela_result *r, size_t i)
{
    size_t n = 0;
    for (size_t k = 0; k < rela_result_n_source(r, i); k++)
        n += strcmp(rela_result_source_token(r, i, k), "<eos>") == 0;
    return n;
}

static void texts_keep_their_places(void **state)
{
    (void)state;
    const char *const src[] = { "", "a b . c d .", "  ", "e", "g . h . a .", "b !" };
    static const size_t WANT[] = { 1, 2, 1, 1, 3, 1 };
    world w;
    world_start(&w, 1);
    rela_translate_options o = options();
    rela_result *r = translate(&w, src, 6, &o);
    assert_int_equal(rela_result_count(r), 6);
    for (size_t i = 0; i < 6; i++) {
        rela_result *alone = translate(&w, src + i, 1, &o);
        assert_int_equal(sentences_of(r, i), WANT[i]);
        assert_string_equal(rela_result_text(r, i, 0), rela_result_text(alone, 0, 0));
        rela_result_free(alone);
    }
    rela_result_free(r);
    o.split = RELA_SPLIT_NEVER;
    r = translate(&w, src, 6, &o);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(sentences_of(r, i), 1);
    rela_result_free(r);
    world_end(&w);
}

static void prefixes_belong_to_the_whole(void **state)
{
    (void)state;
    const char *const src[] = { "a b . c d .", "a b . c d ." }, *const prefix[] = { "e g", "" };
    world w;
    rela_result *r = NULL;
    world_start(&w, 1);
    rela_translate_options o = options();
    o.prefix = prefix;
    r = translate(&w, src, 2, &o);
    assert_int_equal(sentences_of(r, 0), 1);
    assert_int_equal(sentences_of(r, 1), 2);
    assert_memory_equal(rela_result_text(r, 0, 0), "e g", 3);
    rela_result_free(r);
    o.split = RELA_SPLIT_ALWAYS;
    CHECK(rela_translate(&r, w.session, src, NULL, 2, &o, &err) == RELA_ARG && !r &&
              strstr(err.message, "with a prefix cannot be split"),
          "%s", err.message);
    o.prefix = NULL;
    o.split = RELA_SPLIT_ALWAYS + 1;
    CHECK(rela_translate(&r, w.session, src, NULL, 2, &o, &err) == RELA_ARG, "%s", err.message);
    world_end(&w);
}

static void the_language_can_be_given(void **state)
{
    (void)state;
    const char *const src = "A b 3. C d.";
    world w;
    rela_result *r = NULL;
    world_start(&w, 1);
    rela_translate_options o = options();
    r = translate(&w, &src, 1, &o);
    assert_int_equal(sentences_of(r, 0), 2);
    rela_result_free(r);
    o.src_language = "de";
    const char *const date = "Am 3. Mai.";
    r = translate(&w, &date, 1, &o);
    assert_int_equal(sentences_of(r, 0), 1);
    rela_result_free(r);
    o.src_language = "germn";
    CHECK(rela_translate(&r, w.session, &src, NULL, 1, &o, &err) == RELA_ARG && !r &&
              strstr(err.message, "language 'germn' is not known"),
          "%s", err.message);
    world_end(&w);
}

static void samples_are_their_own(void **state)
{
    (void)state;
    const char *const text = "a b c . a b c . a b c .";
    const char *const alone = "a b c .";
    world w;
    world_start(&w, 1);
    rela_translate_options o = options();
    o.method = RELA_SEARCH_SAMPLE;
    o.n_best = 1;
    rela_result *r = translate(&w, &text, 1, &o), *first = translate(&w, &alone, 1, &o);
    const size_t n = rela_result_text_len(first, 0, 0);
    assert_memory_equal(rela_result_text(r, 0, 0), rela_result_text(first, 0, 0), n);
    CHECK(strncmp(rela_result_text(r, 0, 0) + n + 1, rela_result_text(first, 0, 0), n) != 0,
          "the same sample twice: '%s'", rela_result_text(r, 0, 0));
    rela_result_free(r);
    rela_result_free(first);
    world_end(&w);
}

static void long_texts_are_cut_after_so_many_bytes(void **state)
{
    (void)state;
    rela_sentences s = { 0 };
    rela_splitter *splitter = NULL;
    const char *const src[] = { "Tea now. Yes tea. More.", "No tea at all, please." };
    CHECK_OK(rela_splitter_create(&splitter, NULL, &err), err);
    CHECK_OK(rela_sentences_find(&s, splitter, src[0], strlen(src[0]), 15, &err), err);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.lens[0], 8);
    assert_int_equal(s.lens[1], 14);
    CHECK_OK(rela_sentences_find(&s, splitter, src[1], strlen(src[1]), 15, &err), err);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.lens[0], strlen(src[1]));
    rela_sentences_free(&s);
    rela_splitter_destroy(splitter);
}

/* Translations as texts alone, put together. */
static void joins(const char *const *parts, size_t n, const char *want)
{
    rela_translated items[4] = { { 0 } };
    rela_translation best[4] = { { { NULL, 0 }, 0, 0, NULL, NULL, 0, NULL } };
    rela_translated all;
    rela_result r = { .items = &all, .n = 1 };
    rela_arena *arena = rela_arena_create(0);
    for (size_t i = 0; i < n; i++) {
        best[i].text = (rela_span){ parts[i], strlen(parts[i]) };
        items[i] = (rela_translated){ .best = &best[i], .n_best = 1, .n_src = 1 };
    }
    CHECK_OK(rela_sentences_join(&all, arena, items, n, &err), err);
    assert_string_equal(rela_result_text(&r, 0, 0), want);
    rela_arena_destroy(arena);
}

static void wide_marks_are_joined_without_a_blank(void **state)
{
    (void)state;
    joins((const char *const[]){ "Ja.", "Nein." }, 2, "Ja. Nein.");
    joins((const char *const[]){ "Ja.", "", "Nein." }, 3, "Ja. Nein.");
    joins((const char *const[]){ "", "Nein." }, 2, "Nein.");
    joins((const char *const[]){ "是。", "不是。" }, 2, "是。不是。");
    joins((const char *const[]){ "「はい。」", "No." }, 2, "「はい。」No.");
    joins((const char *const[]){ "是", "不是" }, 2, "是 不是");
    joins((const char *const[]){ "그래.", "아니." }, 2, "그래. 아니.");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const char *const src[] = { "a b . c d . e g .", "h" };
    world w;
    world_start(&w, 1);
    rela_translate_options o = options();
    o.n_best = o.beam_size = 1;
    o.src_language = "fr";
    rela_result_free(translate(&w, src, 2, &o));
    for (sweep s = SWEEP_START; sweep_next(&s);) {
        rela_result *r = NULL;
        sweep_arm(&s);
        const rela_status st = rela_translate(&r, w.session, src, NULL, 2, &o, &err);
        sweep_disarm(&s);
        rela_result_free(r);
        sweep_status(&s, st, &err);
        sweep_check(&s);
    }
    world_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_as_each_alone),
        cmocka_unit_test(texts_keep_their_places),
        cmocka_unit_test(prefixes_belong_to_the_whole),
        cmocka_unit_test(the_language_can_be_given),
        cmocka_unit_test(samples_are_their_own),
        cmocka_unit_test(long_texts_are_cut_after_so_many_bytes),
        cmocka_unit_test(wide_marks_are_joined_without_a_blank),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_model, remove_model);
}

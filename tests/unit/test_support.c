/* SPDX-License-Identifier: MIT */
/* tests/unit/test_support.c - words of a pair that its cross attention does not support. */
#include "session/support.h"

#include "check.h"

#include <math.h>
#include <string.h>

enum { WORDS = 4, ROWS = WORDS + 1 };

/* Source and target of four words each, one token each, and an end. */
static const uint32_t EACH[WORDS] = { 0, 1, 2, 3 };
static const char *const NAMES[WORDS] = { "zero", "one", "two", "three" };

static rela_support_pair pair_of(const double *logps, size_t heads)
{
    return (rela_support_pair){ .n_q = ROWS,
                                .n_k = ROWS,
                                .tgt = { EACH, WORDS, WORDS },
                                .src = { EACH, WORDS, WORDS },
                                .logps = logps,
                                .layers = 1,
                                .heads = heads };
}

/* Row q looks at key[q] alone; a negative one at nothing. */
static void add_head(rela_support *s, size_t head, const int *keys)
{
    real w[ROWS * ROWS] = { 0 };
    for (int q = 0; q < ROWS; q++)
        if (keys[q] >= 0)
            w[q * ROWS + keys[q]] = (real)0.5;
    rela_support_add(s, 0, head, w);
}

static void says(const rela_support *s, const char *expected)
{
    rela_span words[WORDS];
    rela_buffer text = RELA_BUFFER_INIT;
    for (int i = 0; i < WORDS; i++)
        words[i] = rela_span_of(NAMES[i]);
    assert_int_equal(rela_support_say(&text, s, words, words, NULL), RELA_OK);
    assert_string_equal(text.len ? text.data : "", expected);
    rela_buffer_free(&text);
}

static void probable_words_have_support(void **state)
{
    const double logps[ROWS] = { -0.1, -0.2, -0.1, -1.0, -0.1 };
    const int keys[ROWS] = { 0, 1, 2, 3, 4 };
    const rela_support_pair pair = pair_of(logps, 1);
    rela_support s = { .n = 0 };
    (void)state;
    assert_int_equal(rela_support_start(&s, &pair, NULL), RELA_OK);
    add_head(&s, 0, keys);
    rela_support_find(&s);
    assert_int_equal(s.n, 0);
    says(&s, "");
    rela_support_free(&s);
}

/* Row 1 wanted source word 2, which no other row looks at. */
static void a_word_looked_at_in_vain_may_be_missing(void **state)
{
    const double logps[ROWS] = { -0.1, log(0.001), -0.1, -0.1, -0.1 };
    const int first[ROWS] = { 0, 2, 1, 3, 4 }, second[ROWS] = { 0, 2, -1, 3, 4 };
    const rela_support_pair pair = pair_of(logps, 2);
    rela_support s = { .n = 0 };
    (void)state;
    assert_int_equal(rela_support_start(&s, &pair, NULL), RELA_OK);
    add_head(&s, 0, first);
    add_head(&s, 1, second);
    rela_support_find(&s);
    assert_int_equal(s.n, 1);
    assert_true(s.doubts[0].missing);
    assert_int_equal(s.doubts[0].src, 2);
    assert_int_equal(s.doubts[0].n_heads, 2);
    assert_true(fabs(s.null_rate - 0.1) < 1e-12);
    says(&s, "“two” may be missing: heads 1.1, 1.2 looked at it where “one” stands, to which the "
             "model gave a probability of 0.001.");
    rela_support_free(&s);
}

/* Row 1 wanted source word 2, and so did row 2, which got it by half. */
static void a_word_half_translated_may_be_either(void **state)
{
    const double logps[ROWS] = { -0.1, log(0.001), -0.1, -0.1, -0.1 };
    const int keys[ROWS] = { 0, 2, 2, 3, 4 };
    const rela_support_pair pair = pair_of(logps, 1);
    rela_support s = { .n = 0 };
    (void)state;
    assert_int_equal(rela_support_start(&s, &pair, NULL), RELA_OK);
    add_head(&s, 0, keys);
    rela_support_find(&s);
    assert_int_equal(s.n, 1);
    assert_true(s.doubts[0].missing && s.doubts[0].either);
    says(&s, "“two” may be missing, or “one” made up: head 1.1 looked at “two” there, to which the "
             "model gave a probability of 0.001.");
    rela_support_free(&s);
}

/* Row 1 wanted source word 2 too, but rows 2 and 3 translate it. */
static void a_word_before_the_one_expected_may_be_made_up(void **state)
{
    const double logps[ROWS] = { -0.1, log(0.001), -0.1, -0.1, -0.1 };
    const int keys[ROWS] = { 0, 2, 2, 2, 4 };
    const rela_support_pair pair = pair_of(logps, 1);
    rela_support s = { .n = 0 };
    (void)state;
    assert_int_equal(rela_support_start(&s, &pair, NULL), RELA_OK);
    add_head(&s, 0, keys);
    rela_support_find(&s);
    assert_int_equal(s.n, 1);
    assert_false(s.doubts[0].missing);
    assert_int_equal(s.doubts[0].tgt, 1);
    says(&s, "“one” may be made up: head 1.1 looked at “two” there, to which the model gave a "
             "probability of 0.001.");
    rela_support_free(&s);
}

static void without_probabilities_only_blanks_count(void **state)
{
    const int keys[ROWS] = { 0, 1, -1, 1, 0 };
    const rela_support_pair pair = pair_of(NULL, 1);
    rela_support s = { .n = 0 };
    (void)state;
    assert_int_equal(rela_support_start(&s, &pair, NULL), RELA_OK);
    add_head(&s, 0, keys);
    rela_support_find(&s);
    assert_int_equal(s.n, 3);
    says(&s, "“two” may be missing: hardly any head looks at it; “three” may be missing: hardly "
             "any head looks at it; “two” may be made up: head 1.1 looks at nothing there.");
    rela_support_free(&s);
}

/* One word of two tokens; shares of its tokens add up. */
static void pieces_of_a_word_count_together(void **state)
{
    static const uint32_t joined[WORDS] = { 0, 1, 1, 2 };
    const double logps[ROWS] = { -0.1, log(0.01), log(0.002), -0.1, -0.1 };
    real w[ROWS * ROWS] = { 0 };
    rela_support_pair pair = pair_of(logps, 1);
    rela_support s = { .n = 0 };
    (void)state;
    pair.src = pair.tgt = (rela_word_map){ joined, WORDS, 3 };
    w[0] = w[3 * ROWS + 3] = w[4 * ROWS + 4] = 1;
    w[1 * ROWS + 0] = w[2 * ROWS + 0] = (real)0.4;
    w[1 * ROWS + 1] = w[1 * ROWS + 2] = w[2 * ROWS + 1] = w[2 * ROWS + 2] = (real)0.3;
    assert_int_equal(rela_support_start(&s, &pair, NULL), RELA_OK);
    rela_support_add(&s, 0, 0, w);
    rela_support_find(&s);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.doubts[0].src, 1);
    assert_true(fabs(s.doubts[0].probability - 0.002) < 1e-9);
    rela_support_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probable_words_have_support),
        cmocka_unit_test(a_word_looked_at_in_vain_may_be_missing),
        cmocka_unit_test(a_word_half_translated_may_be_either),
        cmocka_unit_test(a_word_before_the_one_expected_may_be_made_up),
        cmocka_unit_test(without_probabilities_only_blanks_count),
        cmocka_unit_test(pieces_of_a_word_count_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

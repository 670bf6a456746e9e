/* SPDX-License-Identifier: MIT */
/* tests/unit/test_pairs.c - rules on sentence pairs, scripts, repeated pairs; scores of pairs from
 * attention; the regression that combines them. */
#include "check.h"
#include "data/pair_rules.h"
#include "filter/logistic.h"
#include "filter/pair_score.h"
#include "text/script.h"

#include <math.h>
#include <string.h>

static rela_span span(const char *text)
{
    return (rela_span){ text, strlen(text) };
}

static void the_first_broken_rule_counts(void **state)
{
    (void)state;
    uint32_t latin = 0;
    rela_error err = { RELA_OK, "" };
    CHECK_OK(rela_scripts_parse(&latin, "latin", &err), err);
    const rela_pair_rules r = { .min_words = 2,
                                .max_words = 6,
                                .max_bytes = 60,
                                .max_ratio = 2,
                                .max_overlap = 0.7,
                                .scripts = { latin, latin },
                                .script_share = 0.5 };
    static const struct {
        const char *src, *tgt;
        rela_filter_reason want;
    } CASES[] = {
        { "two boats", "zwei Boote", RELA_FILTER_KEPT },
        { "  two   boats\t", "zwei Boote ", RELA_FILTER_KEPT },
        { "", "zwei Boote", RELA_FILTER_EMPTY },
        { "two boats", " \t", RELA_FILTER_EMPTY },
        { "boats", "die Boote", RELA_FILTER_SHORT },
        { "a b c d e f g", "eins zwei drei vier", RELA_FILTER_LONG },
        { "two boats on the lake", "zwei Boote", RELA_FILTER_RATIO },
        { "two boats on the", "zwei Boote", RELA_FILTER_KEPT },
        { "two boats", "two boats ", RELA_FILTER_COPY },
        { "Anna and Otto Weber", "Anna und Otto Weber", RELA_FILTER_COPY },
        { "Anna saw Otto Weber", "Anna hat Otto gesehen", RELA_FILTER_KEPT },
        { "two b\xFFoats", "zwei Boote", RELA_FILTER_ENCODING },
        { "two boats", "zwei \xC3", RELA_FILTER_ENCODING },
        { "two boats", "\xD0\xB4\xD0\xB2\xD0\xB0 \xD0\xB4\xD0\xB0", RELA_FILTER_SCRIPT },
        { "7 8", "7 9", RELA_FILTER_KEPT }, /* no letters, no script */
        { "0123456789012345678901234567890123456789012345678901234567890123456789", "zwei Boote",
          RELA_FILTER_LONG },
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        const rela_filter_reason got =
            rela_pair_rules_check(&r, span(CASES[i].src), span(CASES[i].tgt));
        CHECK(got == CASES[i].want, "\"%s\", \"%s\": %s, want %s", CASES[i].src, CASES[i].tgt,
              rela_filter_reason_key(got), rela_filter_reason_key(CASES[i].want));
    }
}

static void scripts_are_told_by_their_letters(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
    } CASES[] = { { "Stra\xC3\x9F"
                    "e \xC5\x81",
                    "latin" },
                  { "\xCE\xB1\xCE\xB2", "greek" },
                  { "\xD0\x96 7!", "cyrillic" },
                  { "\xD7\x90", "hebrew" },
                  { "\xD8\xA7", "arabic" },
                  { "\xE0\xA4\x85", "devanagari" },
                  { "\xE3\x81\x82", "kana" },
                  { "\xE4\xB8\xAD", "han" },
                  { "\xF0\xA0\x80\x80", "han" },
                  { "\xEA\xB0\x80", "hangul" } };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        rela_script_counts c = { .all = 0 };
        rela_error err = { RELA_OK, "" };
        uint32_t set = 0;
        CHECK_OK(rela_scripts_parse(&set, CASES[i].name, &err), err);
        rela_scripts_count(&c, CASES[i].text, strlen(CASES[i].text));
        CHECK(c.all > 0 && rela_scripts_of(&c, 0.5) == set && rela_scripts_share(&c, set) == 1,
              "%s is not %s", CASES[i].text, CASES[i].name);
    }
    rela_script_counts none = { .all = 0 }, two = { .all = 0 };
    rela_scripts_count(&none, "1 + 1 = 2 \xFF", 11);
    CHECK(none.all == 0 && rela_scripts_share(&none, 1) == 1, "digits are letters");
    CHECK(rela_scripts_of(&none, 0.5) == UINT32_MAX, "nothing is any script");
    rela_error err = { RELA_OK, "" };
    uint32_t set = 0;
    CHECK_OK(rela_scripts_parse(&set, "han,kana", &err), err);
    rela_scripts_count(&two,
                       "\xE3\x81\x82\xE4\xB8\xAD"
                       "ab",
                       8);
    CHECK(rela_scripts_share(&two, set) == 0.5, "%g", rela_scripts_share(&two, set));
    CHECK(rela_scripts_parse(&set, "runes", &err) == RELA_ARG && strstr(err.message, "runes"), "%s",
          err.message);
    CHECK(rela_scripts_parse(&set, "", &err) == RELA_ARG, "no name");
}

static void repeated_pairs_are_remembered(void **state)
{
    (void)state;
    enum { N = 5000 };
    rela_seen *s = rela_seen_create();
    rela_error err = { RELA_OK, "" };
    CHECK(s, "no memory");
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 0; i < N; i++) {
            bool before = false;
            CHECK_OK(rela_seen_add(s, i * UINT64_C(0x9E3779B97F4A7C15), &before, &err), err);
            CHECK(before == (round == 1), "number %d in round %d", (int)i, round);
        }
    rela_seen_destroy(s);
    CHECK(rela_pair_hash(span("a"), span("b")) == rela_pair_hash(span(" a "), span("b")), "blanks");
    CHECK(rela_pair_hash(span("a"), span("b")) != rela_pair_hash(span("b"), span("a")), "order");
    CHECK(rela_pair_hash(span("ab"), span("")) != rela_pair_hash(span("a"), span("b")), "border");
}

static void attention_of_a_pair_by_hand(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_pair_scores s;
    const rela_config c = { .heads = 2, .dec_layers = 1 };
    /* Two source words (three pieces) and the end; two target tokens and the end. */
    static const uint32_t WORD_OF[] = { 0, 0, 1 };
    const rela_watched p = { .src = { { .n = 4, .map = { WORD_OF, 3, 2 } } },
                             .tgt = { .n = 3 },
                             .nll = 6 };
    static const rela_attn_stack CROSS = { .queries = 1, .keys = 0 };
    const real w[] = { 1, 1, 0, 2, /* head 0: half on word 0 */
                       0, 0, 0, 0, /* null */
                       3, 0, 0, 0, /* all on word 0 */
                       0, 0, 0, 0, /* head 1: all null but a little on word 1 */
                       0, 0, 1, 4, /**/
                       0, 0, 0, 0 };
    const rela_heads h = { .pair = 1, .of = &CROSS, .heads = 2, .n_q = 3, .n_k = 4, .w = w };
    CHECK_OK(rela_pair_scores_init(&s, &c, 2, &err), err);
    rela_pair_scores_clear(&s);
    rela_pair_scores_add(&s, &h, &p);
    static const bool SECOND[] = { false, true };
    CHECK(fabs(rela_pair_null(&s, 1, NULL) - 0.5) < 1e-12, "null %g", rela_pair_null(&s, 1, NULL));
    CHECK(fabs(rela_pair_null(&s, 1, SECOND) - 2.0 / 3) < 1e-12, "chosen head");
    CHECK(rela_pair_null(&s, 0, NULL) == 0, "another pair");
    /* Word 0 gets 1.5, word 1 0.2; the mean is 0.85. */
    CHECK(rela_pair_uncovered(&s, 1, &p) == 0.5, "uncovered %g", rela_pair_uncovered(&s, 1, &p));
    double row[8];
    CHECK(rela_pair_n_features(&s) == 8, "%zu features", rela_pair_n_features(&s));
    rela_pair_features(row, &s, 1, &p);
    CHECK(row[0] == -2 && row[1] == 0.5 && fabs(row[3] - log(0.75)) < 1e-12, "features");
    CHECK(fabs(row[5] - 0.65 / 0.85) < 1e-12, "unevenness %g", row[5]);
    CHECK(fabs(row[6] - 1.0 / 3) < 1e-12 && fabs(row[7] - 2.0 / 3) < 1e-12, "heads");
    rela_pair_scores_deinit(&s);
}

static void a_regression_separates_what_can_be_separated(void **state)
{
    (void)state;
    enum { N = 200 };
    double rows[N * 3];
    bool good[N];
    rela_error err = { RELA_OK, "" };
    rela_logit l;
    for (int i = 0; i < N; i++) { /* the first tells, the second is noise, the third is constant */
        good[i] = i % 4 == 0;
        rows[3 * i] = (good[i] ? 5 : 3) + 0.01 * (i % 7);
        rows[3 * i + 1] = (i * 37) % 11;
        rows[3 * i + 2] = 4;
    }
    CHECK_OK(rela_logit_fit(&l, rows, good, N, 3, &err), err);
    for (int i = 0; i < N; i++) {
        const double score = rela_logit_score(&l, rows + 3 * i);
        CHECK((score > 0.5) == good[i], "row %d: %g", i, score);
    }
    const double middle[] = { 4.03, 5, 4 };
    const double score = rela_logit_score(&l, middle);
    CHECK(score > 0.3 && score < 0.7, "classes weigh the same: %g", score);
    CHECK(fabs(l.weight[1]) < 0.1 * fabs(l.weight[0]) && l.scale[2] == 0, "noise counts");
    rela_logit_free(&l);
    memset(good, 1, sizeof good);
    CHECK(rela_logit_fit(&l, rows, good, N, 3, &err) == RELA_FORMAT, "one kind only");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_broken_rule_counts),
        cmocka_unit_test(scripts_are_told_by_their_letters),
        cmocka_unit_test(repeated_pairs_are_remembered),
        cmocka_unit_test(attention_of_a_pair_by_hand),
        cmocka_unit_test(a_regression_separates_what_can_be_separated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

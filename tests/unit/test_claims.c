/* SPDX-License-Identifier: MIT */
/* tests/unit/test_claims.c - rules of claims on planted results: an effect that is there holds, its
 * reverse does not, noise cannot be told. */
#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "study/claims.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SENTENCES = 300, LAYERS = 6, HEADS = 8 };

typedef struct bench {
    rela_arena *arena;
    rela_facts facts;
    rela_metric *metric;
    rela_claim_means how;
} bench;

static void setup(bench *b)
{
    rela_error err = { RELA_OK, "" };
    b->arena = rela_arena_create(0);
    CHECK(b->arena, "no memory");
    CHECK_OK(rela_facts_init(&b->facts, &err), err);
    CHECK_OK(rela_metric_create_bleu(&b->metric, NULL, &err), err);
    b->how = (rela_claim_means){ 300, 1, b->metric, b->metric, b->metric };
}

static void teardown(bench *b)
{
    rela_facts_deinit(&b->facts);
    rela_arena_destroy(b->arena);
    rela_metric_destroy(b->metric);
}

/* The verdict on one claim, written as in a study. */
static rela_claim_result verdict_of(bench *b, const char *yaml)
{
    const rela_tree *tree = NULL;
    rela_claims claims;
    rela_claim_result r;
    rela_error err = { RELA_OK, "" };
    const rela_tree_sets none = { NULL, 0 };
    CHECK_OK(rela_tree_parse(&tree, b->arena, yaml, strlen(yaml), "claims.yml", none, &err), err);
    CHECK_OK(rela_claims_read(&claims, b->arena, rela_tree_get(tree, "claims"), &err), err);
    CHECK_OK(rela_claim_decide(&r, &claims.items[0], &b->facts, &b->how, &err), err);
    return r;
}

#define VERDICT(b, yaml, expected)                                                                 \
    do {                                                                                           \
        const rela_claim_result r_ = verdict_of(b, yaml);                                          \
        CHECK(r_.verdict == (expected), "%s: %s; %g (%g..%g)", yaml,                               \
              rela_verdict_name(r_.verdict), r_.effect.value, r_.effect.low, r_.effect.high);      \
    } while (0)

/* Sentences of 20 words, of which a share is right: statistics of BLEU up to order 4. */
static void plant_scores(bench *b, const char *model, int64_t seed, double right)
{
    rela_error err = { RELA_OK, "" };
    const size_t k = rela_metric_n_stats(b->metric);
    uint32_t *stats = rela_arena_alloc(b->facts.arena, SENTENCES * k * sizeof *stats);
    rela_rng rng = rela_rng_start((uint64_t)seed, (uint64_t)(model[0] * 256 + model[1]));
    CHECK(stats && k == 10, "%zu statistics", k);
    for (size_t i = 0; i < SENTENCES; i++) {
        uint32_t *row = stats + i * k, run = 0;
        memset(row, 0, k * sizeof *row);
        row[0] = row[1] = 20;
        for (size_t word = 0; word < 20; word++) {
            run = rela_rng_real(&rng) < right ? run + 1 : 0;
            for (size_t order = 0; order < 4; order++)
                row[2 + order] += run > order;
        }
        for (uint32_t order = 0; order < 4; order++)
            row[6 + order] = 20 - order;
    }
    rela_fact_scores s = { .stats = stats, .n = SENTENCES, .k = k, .job = "0123456789ab" };
    s.key = (rela_fact_key){ .measure = "bleu",
                             .model = model,
                             .data = "d",
                             .test = "t",
                             .seed = seed,
                             .layer = RELA_FACT_NONE,
                             .head = RELA_FACT_NONE };
    CHECK_OK(rela_facts_add_scores(&b->facts, &s, &err), err);
}

static void scores_hold_fail_or_stay_open(void **state)
{
    (void)state;
    bench b;
    setup(&b);
    for (int64_t seed = 1; seed <= 3; seed++) {
        plant_scores(&b, "good", seed, 0.86);
        plant_scores(&b, "fair", seed, 0.80);
        plant_scores(&b, "same", seed, 0.80);
    }
    VERDICT(
        &b,
        "claims: [{claim: c, rule: greater, measure: bleu, data: d, a: good, b: fair, effect: 1}]",
        RELA_VERDICT_HOLDS);
    VERDICT(
        &b,
        "claims: [{claim: c, rule: greater, measure: bleu, data: d, a: fair, b: good, effect: 1}]",
        RELA_VERDICT_REFUTED);
    VERDICT(&b,
            "claims: [{claim: c, rule: less, measure: bleu, data: d, a: fair, b: good, effect: 1}]",
            RELA_VERDICT_HOLDS);
    VERDICT(&b,
            "claims: [{claim: c, rule: greater, measure: bleu, data: d, a: fair, b: same, effect: "
            "0.1}]",
            RELA_VERDICT_OPEN);
    VERDICT(
        &b,
        "claims: [{claim: c, rule: greater, measure: bleu, data: d, a: fair, b: same, effect: 9}]",
        RELA_VERDICT_REFUTED);
    VERDICT(
        &b,
        "claims: [{claim: c, rule: equal, measure: bleu, data: d, a: fair, b: same, margin: 9}]",
        RELA_VERDICT_HOLDS);
    VERDICT(
        &b,
        "claims: [{claim: c, rule: equal, measure: bleu, data: d, a: fair, b: same, margin: 0.1}]",
        RELA_VERDICT_OPEN);
    VERDICT(
        &b,
        "claims: [{claim: c, rule: equal, measure: bleu, data: d, a: fair, b: good, margin: 1}]",
        RELA_VERDICT_REFUTED);
    VERDICT(
        &b,
        "claims: [{claim: c, rule: not-less, measure: bleu, data: d, a: good, b: fair, effect: 1}]",
        RELA_VERDICT_HOLDS);
    VERDICT(
        &b,
        "claims: [{claim: c, rule: not-less, measure: bleu, data: d, a: fair, b: good, effect: 1}]",
        RELA_VERDICT_REFUTED);
    VERDICT(&b,
            "claims: [{claim: c, rule: not-greater, measure: bleu, data: d, a: fair, b: same,"
            " effect: 0.01}]",
            RELA_VERDICT_OPEN);
    VERDICT(
        &b,
        "claims: [{claim: c, rule: greater, measure: bleu, data: d, a: good, b: gone, effect: 1}]",
        RELA_VERDICT_NOT_RUN);
    /* All must be exceeded: one that is not decides. */
    VERDICT(&b,
            "claims: [{claim: c, rule: greater, measure: bleu, data: d, a: fair, b: [same, good],"
            " effect: 1}]",
            RELA_VERDICT_REFUTED);
    teardown(&b);
}

/* A value for every head: level + slope * layer + bump in the middle + noise. */
static void plant_heads(bench *b, const char *measure, const char *place, double slope, double bump,
                        double noise)
{
    rela_error err = { RELA_OK, "" };
    rela_rng rng = rela_rng_start(1, (uint64_t)(measure[0] * 256 + place[0]));
    for (int64_t layer = 0; layer < LAYERS; layer++)
        for (int64_t head = 0; head < HEADS; head++) {
            const double middle = layer == 2 || layer == 3 ? bump : 0;
            rela_fact f = { .value = 0.5 + slope * (double)layer + middle +
                                     noise * rela_rng_normal(&rng),
                            .job = "0123456789ab" };
            f.key = (rela_fact_key){ .measure = measure,
                                     .model = "m",
                                     .data = "d",
                                     .place = place,
                                     .seed = 1,
                                     .layer = layer,
                                     .head = head };
            CHECK_OK(rela_facts_add(&b->facts, &f, &err), err);
        }
}

static void trends_and_peaks_hold_fail_or_stay_open(void **state)
{
    (void)state;
    bench b;
    setup(&b);
    plant_heads(&b, "up", "cross", 0.1, 0, 0.02);
    plant_heads(&b, "noise", "cross", 0, 0, 0.3);
    plant_heads(&b, "bump", "cross", 0, 0.3, 0.02);
    plant_heads(&b, "pit", "cross", 0, -0.3, 0.02);
    VERDICT(&b, "claims: [{claim: c, rule: trend-up, measure: up, units: heads, effect: 0.02}]",
            RELA_VERDICT_HOLDS);
    VERDICT(&b, "claims: [{claim: c, rule: trend-down, measure: up, units: heads, effect: 0.02}]",
            RELA_VERDICT_REFUTED);
    VERDICT(&b, "claims: [{claim: c, rule: trend-up, measure: noise, units: heads, effect: 0.02}]",
            RELA_VERDICT_OPEN);
    VERDICT(&b, "claims: [{claim: c, rule: peak-middle, measure: bump, units: heads, effect: 0.1}]",
            RELA_VERDICT_HOLDS);
    VERDICT(&b, "claims: [{claim: c, rule: peak-middle, measure: pit, units: heads, effect: 0.1}]",
            RELA_VERDICT_REFUTED);
    VERDICT(&b,
            "claims: [{claim: c, rule: trough-middle, measure: pit, units: heads, effect: 0.1}]",
            RELA_VERDICT_HOLDS);
    VERDICT(&b,
            "claims: [{claim: c, rule: peak-middle, measure: noise, units: heads, effect: 0.1}]",
            RELA_VERDICT_OPEN);
    teardown(&b);
}

static void places_and_layers_are_compared(void **state)
{
    (void)state;
    bench b;
    setup(&b);
    plant_heads(&b, "null", "cross", 0.05, 0, 0.05);
    plant_heads(&b, "null", "encoder", 0, -0.4, 0.05);
    VERDICT(&b,
            "claims: [{claim: c, rule: greater, measure: null, units: heads, a: {place: cross},"
            " b: {place: encoder}, effect: 0.1}]",
            RELA_VERDICT_HOLDS);
    VERDICT(&b,
            "claims: [{claim: c, rule: less, measure: null, units: heads, a: {place: cross},"
            " b: {place: encoder}, effect: 0.1}]",
            RELA_VERDICT_REFUTED);
    VERDICT(&b,
            "claims: [{claim: c, rule: less, measure: null, units: heads, place: encoder, b: 0.6,"
            " effect: 0.05}]",
            RELA_VERDICT_HOLDS);
    /* Not in the first layer, where both are alike. */
    VERDICT(&b,
            "claims: [{claim: c, rule: greater, measure: null, units: heads, each: layer,"
            " a: {place: cross}, b: {place: encoder}, effect: 0.04}]",
            RELA_VERDICT_OPEN);
    teardown(&b);
}

static void sentences_are_told_apart_by_their_labels(void **state)
{
    (void)state;
    enum { N = 120 };
    bench b;
    setup(&b);
    rela_error err = { RELA_OK, "" };
    static double values[N];
    static const char *labels[N];
    rela_rng rng = rela_rng_start(1, 1);
    for (size_t i = 0; i < N; i++) {
        labels[i] = i % 3 == 0 ? "ok" : i % 3 == 1 ? "ins" : "same";
        values[i] = (i % 3 == 1 ? 1.5 : 0) + rela_rng_normal(&rng);
    }
    rela_fact_column c = { .values = values, .labels = labels, .n = N, .job = "0123456789ab" };
    c.key = rela_fact_any("null");
    c.key.seed = 1;
    c.key.layer = c.key.head = RELA_FACT_NONE;
    CHECK_OK(rela_facts_add_column(&b.facts, &c, &err), err);
    VERDICT(&b,
            "claims: [{claim: c, rule: greater, measure: null, units: sentences, a: {label: ins},"
            " b: {label: ok}, effect: 0.2}]",
            RELA_VERDICT_HOLDS);
    VERDICT(&b,
            "claims: [{claim: c, rule: greater, measure: null, units: sentences, a: {label: ok},"
            " b: {label: ins}, area: true, effect: 0.1}]",
            RELA_VERDICT_REFUTED);
    VERDICT(&b,
            "claims: [{claim: c, rule: greater, measure: null, units: sentences, a: {label: same},"
            " b: {label: ok}, area: true, effect: 0.01}]",
            RELA_VERDICT_OPEN);
    teardown(&b);
}

static void training_fails_above_the_bound_only(void **state)
{
    (void)state;
    bench b;
    setup(&b);
    rela_error err = { RELA_OK, "" };
    rela_fact f = { .value = 7.5, .job = "0123456789ab" };
    f.key = (rela_fact_key){ .measure = "valid-nll",
                             .model = "relu",
                             .seed = 1,
                             .layer = RELA_FACT_NONE,
                             .head = RELA_FACT_NONE };
    CHECK_OK(rela_facts_add(&b.facts, &f, &err), err);
    VERDICT(&b, "claims: [{claim: c, rule: fails, measure: valid-nll, a: relu, bound: 6}]",
            RELA_VERDICT_HOLDS);
    VERDICT(&b, "claims: [{claim: c, rule: fails, measure: valid-nll, a: relu, bound: 8}]",
            RELA_VERDICT_REFUTED);
    VERDICT(&b, "claims: [{claim: c, rule: fails, measure: valid-nll, a: rela-g, bound: 8}]",
            RELA_VERDICT_NOT_RUN);
    teardown(&b);
}

static void quotients_are_compared_by_logarithms(void **state)
{
    (void)state;
    bench b;
    setup(&b);
    rela_error err = { RELA_OK, "" };
    const double rounds[2][4] = { { 99, 102, 100, 101 }, { 31, 30, 29, 30 } };
    for (size_t i = 0; i < 8; i++) {
        rela_fact f = { .value = rounds[i / 4][i % 4], .timing = true, .job = "0123456789ab" };
        f.key = (rela_fact_key){ .measure = "speed",
                                 .model = i < 4 ? "fast" : "slow",
                                 .seed = (int64_t)(i % 4),
                                 .layer = RELA_FACT_NONE,
                                 .head = RELA_FACT_NONE };
        CHECK_OK(rela_facts_add(&b.facts, &f, &err), err);
    }
    VERDICT(&b,
            "claims: [{claim: c, rule: greater, measure: speed, a: fast, b: slow, ratio: true,"
            " effect: 3}]",
            RELA_VERDICT_HOLDS);
    VERDICT(&b,
            "claims: [{claim: c, rule: equal, measure: speed, a: fast, b: slow, ratio: true,"
            " margin: 1.2}]",
            RELA_VERDICT_REFUTED);
    VERDICT(&b,
            "claims: [{claim: c, rule: greater, measure: speed, a: fast, b: slow, ratio: true,"
            " effect: 4}]",
            RELA_VERDICT_REFUTED);
    CHECK(
        verdict_of(&b, "claims: [{claim: c, rule: less, measure: speed, a: slow, b: fast}]").timing,
        "not marked as a timing");
    teardown(&b);
}

static void mistakes_are_refused_with_their_line(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        { "claims:\n- {claim: c, rule: greater}\n", "line 2: a claim needs `measure:`" },
        { "claims:\n- {claim: c, rule: greater, measure: bleu}\n", "rule greater needs `b:`" },
        { "claims:\n\n- {claim: c, rule: larger, measure: bleu}\n",
          "line 3: rule is 'larger'; expected one of greater, less, not-greater" },
        { "claims:\n- {claim: c, rule: equal, measure: bleu, a: x, b: y}\n", "needs `margin:`" },
        { "claims:\n- {claim: c, rule: trend-up, measure: null}\n", "needs `units: heads`" },
        { "claims:\n- {claim: c, rule: less, mesure: bleu}\n", "measure" },
        { "claims:\n- {claim: c, rule: less, measure: bleu, a: x, b: y, effect: -1}\n",
          "effect is '-1'" },
    };
    bench b;
    setup(&b);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        const rela_tree *tree = NULL;
        rela_claims claims;
        rela_error err = { RELA_OK, "" };
        const rela_tree_sets none = { NULL, 0 };
        const char *yaml = CASES[i][0];
        CHECK_OK(rela_tree_parse(&tree, b.arena, yaml, strlen(yaml), "s.yml", none, &err), err);
        CHECK(rela_claims_read(&claims, b.arena, rela_tree_get(tree, "claims"), &err) ==
                  RELA_FORMAT,
              "%s: read", yaml);
        CHECK(strstr(err.message, CASES[i][1]), "%s: %s", yaml, err.message);
    }
    teardown(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_hold_fail_or_stay_open),
        cmocka_unit_test(trends_and_peaks_hold_fail_or_stay_open),
        cmocka_unit_test(places_and_layers_are_compared),
        cmocka_unit_test(sentences_are_told_apart_by_their_labels),
        cmocka_unit_test(training_fails_above_the_bound_only),
        cmocka_unit_test(quotients_are_compared_by_logarithms),
        cmocka_unit_test(mistakes_are_refused_with_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* tests/unit/test_study_test.c - intervals and corrections of studies: what they must cover, and
 * what they must not find. */
#include "study/test.h"
#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "rela/metric.h"

#include <math.h>
#include <string.h>

enum { SENTENCES = 400, SAMPLES = 400 };

/* Two statistics: hits, of a number of tries. The score is their quotient in percent. */
static double share(const void *ctx, const uint64_t *sums)
{
    (void)ctx;
    return 100 * (double)sums[0] / (double)sums[1];
}

/* A system that hits with the given probability; its sentences are as hard as those of others. */
static void make_system(uint32_t *stats, double hit, uint64_t seed)
{
    rela_rng rng = rela_rng_start(seed, 7);
    for (size_t i = 0; i < SENTENCES; i++) {
        stats[2 * i] = 0;
        stats[2 * i + 1] = 10;
        for (size_t j = 0; j < 10; j++)
            stats[2 * i] += rela_rng_real(&rng) < hit;
    }
}

static rela_study_effect compare(double hit_a, double hit_b, size_t seeds, uint64_t first)
{
    static uint32_t stats[2][8][2 * SENTENCES];
    const uint32_t *a[8], *b[8];
    rela_study_effect e;
    rela_error err = { RELA_OK, "" };
    for (size_t i = 0; i < seeds; i++) {
        make_system(stats[0][i], hit_a, first + 2 * i);
        make_system(stats[1][i], hit_b, first + 2 * i + 1);
        a[i] = stats[0][i];
        b[i] = stats[1][i];
    }
    const rela_study_contrast c = { { a, seeds }, { b, seeds }, SENTENCES, 2, share, NULL };
    CHECK_OK(rela_study_bootstrap(&e, &c, SAMPLES, 1, &err), err);
    return e;
}

static void bootstrap_finds_a_planted_effect_and_its_reverse(void **state)
{
    (void)state;
    const rela_study_effect up = compare(0.6, 0.5, 3, 1), down = compare(0.5, 0.6, 3, 1);
    CHECK(up.low > 0 && up.p < 0.01, "up: %.2f..%.2f, p %.3f", up.low, up.high, up.p);
    CHECK(down.high < 0 && down.p < 0.01, "down: %.2f..%.2f", down.low, down.high);
    CHECK(up.n == SENTENCES && up.n_seeds == 3, "%zu sentences, %zu seeds", up.n, up.n_seeds);
}

/* The interval must contain the true difference in about 95 of 100 cases. */
static void bootstrap_covers_the_truth(void **state)
{
    (void)state;
    enum { TRIALS = EMULATED ? 10 : 60 };
    size_t covered = 0, found = 0;
    for (uint64_t i = 0; i < TRIALS; i++) {
        const rela_study_effect e = compare(0.5, 0.5, 2, 100 + 10 * i);
        covered += e.low <= 0 && e.high >= 0;
        found += e.p < 0.05;
    }
    CHECK(covered * 100 >= 88 * TRIALS, "%zu of %d intervals cover 0", covered, (int)TRIALS);
    CHECK(found * 100 <= 12 * TRIALS, "%zu of %d are significant", found, (int)TRIALS);
}

static void one_seed_varies_over_sentences_only(void **state)
{
    (void)state;
    const rela_study_effect e = compare(0.6, 0.5, 1, 1);
    CHECK(e.n_seeds == 1 && e.low > 0 && isfinite(e.high), "%.2f..%.2f", e.low, e.high);
}

/* Seeds that differ much make the interval wide, however many sentences there are. */
static void seeds_that_differ_widen_the_interval(void **state)
{
    (void)state;
    static uint32_t stats[4][2 * SENTENCES];
    const double hits[] = { 0.35, 0.65, 0.45, 0.55 };
    for (size_t i = 0; i < 4; i++)
        make_system(stats[i], hits[i], i);
    const uint32_t *a[] = { stats[0], stats[1] }, *b[] = { stats[2], stats[3] };
    rela_study_effect both, one;
    rela_error err = { RELA_OK, "" };
    rela_study_contrast c = { { a, 2 }, { b, 2 }, SENTENCES, 2, share, NULL };
    CHECK_OK(rela_study_bootstrap(&both, &c, SAMPLES, 1, &err), err);
    c.a.n_seeds = c.b.n_seeds = 1;
    CHECK_OK(rela_study_bootstrap(&one, &c, SAMPLES, 1, &err), err);
    CHECK(both.high - both.low > 4 * (one.high - one.low), "%.2f..%.2f and %.2f..%.2f", both.low,
          both.high, one.low, one.high);
}

static void bootstrap_depends_on_its_seed_only(void **state)
{
    (void)state;
    const rela_study_effect a = compare(0.55, 0.5, 2, 1), b = compare(0.55, 0.5, 2, 1);
    CHECK(memcmp(&a.low, &b.low, sizeof a.low) == 0 && a.high - b.high == 0, "differ");
}

/* Values of tables of Student's t. */
static void t_is_that_of_the_tables(void **state)
{
    (void)state;
    static const double TABLE[][2] = { { 1, 12.706 }, { 2, 4.303 }, { 5, 2.571 }, { 30, 2.042 } };
    for (size_t i = 0; i < 4; i++) {
        const double t = rela_study_t_limit(TABLE[i][0]);
        CHECK(fabs(t - TABLE[i][1]) < 6e-4, "%g degrees: %.4f", TABLE[i][0], t);
    }
    CHECK(fabs(rela_study_t_p(2.228, 10) - 0.05) < 1e-4, "p %.5f", rela_study_t_p(2.228, 10));
}

/* By hand: mean 3, variance 2.5, n 5. */
static void means_and_slopes_have_the_intervals_of_textbooks(void **state)
{
    (void)state;
    const double y[] = { 1, 2, 3, 4, 5 }, x[] = { 0, 1, 2, 3, 4 }, z[] = { 2, 1, 4, 3, 5 };
    rela_study_effect e;
    rela_study_mean(&e, y, 5);
    CHECK(fabs(e.low - 1.0368) < 1e-3 && fabs(e.high - 4.9632) < 1e-3, "%.4f..%.4f", e.low, e.high);
    rela_study_slope(&e, x, z, 5);
    CHECK(fabs(e.value - 0.8) < 1e-12 && fabs(e.p - 0.1041) < 1e-3, "%.3f, p %.4f", e.value, e.p);
    rela_study_mean(&e, y, 1);
    CHECK(isinf(e.low) && isinf(e.high) && e.p == 1, "one value has an interval");
    rela_study_means(&e, y, 5, z, 5);
    CHECK(e.value == 0 && e.p > 0.99, "%.3f, p %.3f", e.value, e.p);
}

static void area_tells_what_is_apart_from_what_is_not(void **state)
{
    (void)state;
    const double low[] = { 1, 2, 3, 4, 5, 6 }, high[] = { 4.5, 5.5, 6.5, 7, 8, 9 };
    rela_study_effect e;
    rela_error err = { RELA_OK, "" };
    CHECK_OK(rela_study_area(&e, high, 6, low, 6, &err), err);
    CHECK(fabs(e.value + 0.5 - 33.0 / 36) < 1e-12 && e.low > 0, "%.3f %.3f", e.value, e.low);
    CHECK_OK(rela_study_area(&e, low, 6, low, 6, &err), err);
    CHECK(e.value == 0 && e.low < 0 && e.high > 0, "%.3f", e.value);
}

/* The example of Holm (1979): 0.01, 0.02, 0.03, 0.04, 0.05 times 5, 4, 3, 2, 1. */
static void holm_multiplies_and_never_falls(void **state)
{
    (void)state;
    double p[] = { 0.03, 0.01, 0.04, 0.9, 0.001 };
    rela_error err = { RELA_OK, "" };
    CHECK_OK(rela_study_holm(p, 5, &err), err);
    const double expected[] = { 0.09, 0.04, 0.09, 0.9, 0.005 };
    for (size_t i = 0; i < 5; i++)
        CHECK(fabs(p[i] - expected[i]) < 1e-12, "p %zu is %.4f", i, p[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bootstrap_finds_a_planted_effect_and_its_reverse),
        cmocka_unit_test(bootstrap_covers_the_truth),
        cmocka_unit_test(one_seed_varies_over_sentences_only),
        cmocka_unit_test(seeds_that_differ_widen_the_interval),
        cmocka_unit_test(bootstrap_depends_on_its_seed_only),
        cmocka_unit_test(t_is_that_of_the_tables),
        cmocka_unit_test(means_and_slopes_have_the_intervals_of_textbooks),
        cmocka_unit_test(area_tells_what_is_apart_from_what_is_not),
        cmocka_unit_test(holm_multiplies_and_never_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

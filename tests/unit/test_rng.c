/* SPDX-License-Identifier: MIT */
/* tests/unit/test_rng.c - known answers of Philox 4x32-10 and the distributions made from it. */
#include "base/rng.h"
#include "check.h"

#include <math.h>
#include <string.h>

/* The vectors published with the paper (Salmon et al. 2011): zeros, ones, digits of pi. */
static const struct {
    uint32_t counter[4], key[2], out[4];
} KNOWN[] = {
    { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
    { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
      { 0xffffffff, 0xffffffff },
      { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
    { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
      { 0xa4093822, 0x299f31d0 },
      { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
};

static void the_block_function_gives_the_known_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        uint32_t out[4];
        rela_rng_block(out, KNOWN[i].counter, KNOWN[i].key);
        CHECK(memcmp(out, KNOWN[i].out, sizeof out) == 0, "row %zu: %08x %08x %08x %08x", i, out[0],
              out[1], out[2], out[3]);
    }
}

static void a_walk_is_the_blocks_in_order(void **state)
{
    (void)state;
    const uint64_t seed = 0x0123456789abcdefu, stream = 0xfedcba9876543210u;
    rela_rng r = rela_rng_start(seed, stream);
    for (uint32_t block = 0; block < 5; block++) {
        const uint32_t counter[4] = { block, 0, (uint32_t)stream, (uint32_t)(stream >> 32) };
        const uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
        uint32_t want[4];
        rela_rng_block(want, counter, key);
        for (int i = 0; i < 4; i++)
            assert_int_equal(rela_rng_u32(&r), want[i]);
    }
}

static void a_copy_remembers_the_place(void **state)
{
    (void)state;
    rela_rng r = rela_rng_start(1, 2);
    for (int i = 0; i < 7; i++)
        (void)rela_rng_u32(&r);
    rela_rng copy = r;
    for (int i = 0; i < 20; i++)
        assert_int_equal(rela_rng_u64(&r), rela_rng_u64(&copy));
}

static void seeds_and_streams_differ(void **state)
{
    (void)state;
    rela_rng a = rela_rng_start(1, 0), b = rela_rng_start(0, 1), c = rela_rng_start(1, 1);
    const uint64_t x = rela_rng_u64(&a), y = rela_rng_u64(&b), z = rela_rng_u64(&c);
    CHECK(x != y && y != z && x != z, "equal starts");
}

static void below_is_uniform_and_never_reaches_n(void **state)
{
    (void)state;
    enum { N = 7, DRAWS = 70000 };
    rela_rng r = rela_rng_start(3, 0);
    unsigned count[N] = { 0 };
    for (int i = 0; i < DRAWS; i++) {
        const uint64_t v = rela_rng_below(&r, N);
        CHECK(v < N, "%d", (int)v);
        count[v]++;
    }
    double chi = 0;
    for (int i = 0; i < N; i++)
        chi +=
            (count[i] - DRAWS / (double)N) * (count[i] - DRAWS / (double)N) / (DRAWS / (double)N);
    CHECK(chi < 22.5, "chi squared %.1f with 6 degrees of freedom: p < 0.001", chi);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(rela_rng_below(&r, 1), 0);
        CHECK(rela_rng_below(&r, (UINT64_C(1) << 63) + 1) <= UINT64_C(1) << 63, "too large");
        (void)rela_rng_below(&r, UINT64_MAX);
    }
}

static void reals_and_normals_have_their_moments(void **state)
{
    (void)state;
    enum { N = 100000 };
    rela_rng r = rela_rng_start(4, 0);
    double sum = 0, square = 0, least = 1, most = 0;
    for (int i = 0; i < N; i++) {
        const double v = rela_rng_real(&r);
        least = fmin(least, v);
        most = fmax(most, v);
        sum += v;
    }
    CHECK(least >= 0 && most < 1 && fabs(sum / N - 0.5) < 0.005, "%g..%g, mean %g", least, most,
          sum / N);
    sum = 0;
    for (int i = 0; i < N; i++) {
        const double v = rela_rng_normal(&r);
        CHECK(isfinite(v), "not finite");
        sum += v;
        square += v * v;
    }
    CHECK(fabs(sum / N) < 0.016 && fabs(square / N - 1) < 0.023, "mean %g, variance %g", sum / N,
          square / N);
}

static void a_shuffle_is_a_permutation(void **state)
{
    (void)state;
    enum { N = 1000 };
    uint32_t items[N], seen[N] = { 0 };
    size_t fixed = 0;
    rela_rng r = rela_rng_start(5, 0);
    for (uint32_t i = 0; i < N; i++)
        items[i] = i;
    rela_rng_shuffle(&r, items, N);
    for (uint32_t i = 0; i < N; i++) {
        seen[items[i]]++;
        fixed += items[i] == i;
    }
    for (uint32_t i = 0; i < N; i++)
        CHECK(seen[i] == 1, "item %u occurs %u times", i, seen[i]);
    CHECK(fixed < 8, "%zu items did not move", fixed);
    rela_rng_shuffle(&r, items, 0);
    rela_rng_shuffle(&r, items, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_block_function_gives_the_known_answers),
        cmocka_unit_test(a_walk_is_the_blocks_in_order),
        cmocka_unit_test(a_copy_remembers_the_place),
        cmocka_unit_test(seeds_and_streams_differ),
        cmocka_unit_test(below_is_uniform_and_never_reaches_n),
        cmocka_unit_test(reals_and_normals_have_their_moments),
        cmocka_unit_test(a_shuffle_is_a_permutation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* src/base/rng.c - see rng.h. */
#include "base/rng.h"

#include <math.h>

enum { ROUNDS = 10 };

static const uint32_t MULTIPLY_0 = 0xD2511F53u, MULTIPLY_1 = 0xCD9E8D57u;
static const uint32_t WEYL_0 = 0x9E3779B9u, WEYL_1 = 0xBB67AE85u;

void rela_rng_block(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t p0 = (uint64_t)MULTIPLY_0 * c0;
        const uint64_t p1 = (uint64_t)MULTIPLY_1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        k0 += WEYL_0;
        k1 += WEYL_1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

rela_rng rela_rng_start(uint64_t seed, uint64_t stream)
{
    return (rela_rng){ .seed = seed, .stream = stream };
}

uint32_t rela_rng_u32(rela_rng *r)
{
    if (r->next % 4 == 0) {
        const uint64_t block = r->next / 4;
        const uint32_t counter[4] = { (uint32_t)block, (uint32_t)(block >> 32), (uint32_t)r->stream,
                                      (uint32_t)(r->stream >> 32) };
        const uint32_t key[2] = { (uint32_t)r->seed, (uint32_t)(r->seed >> 32) };
        rela_rng_block(r->words, counter, key);
    }
    return r->words[r->next++ % 4];
}

uint64_t rela_rng_u64(rela_rng *r)
{
    const uint64_t high = rela_rng_u32(r);
    return high << 32 | rela_rng_u32(r);
}

uint64_t rela_rng_below(rela_rng *r, uint64_t n)
{
    /* Values past the last whole multiple of n would favour small results: reject them. */
    const uint64_t limit = UINT64_MAX - (UINT64_MAX % n + 1) % n;
    uint64_t v = rela_rng_u64(r);
    while (v > limit)
        v = rela_rng_u64(r);
    return v % n;
}

double rela_rng_real(rela_rng *r)
{
    return (double)(rela_rng_u64(r) >> 11) * 0x1p-53;
}

double rela_rng_normal(rela_rng *r)
{
    /* Box-Muller; 1 - u is in (0, 1], so the logarithm is finite. */
    const double u = rela_rng_real(r), v = rela_rng_real(r);
    return sqrt(-2.0 * log(1.0 - u)) * cos(2.0 * 3.14159265358979323846 * v);
}

void rela_rng_shuffle(rela_rng *r, uint32_t *items, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        const size_t j = (size_t)rela_rng_below(r, i);
        const uint32_t t = items[i - 1];
        items[i - 1] = items[j];
        items[j] = t;
    }
}

/* SPDX-License-Identifier: MIT */
/* src/kern/dropout.c - dropout masks: hashes of a key and a position, so that forward and backward
 * agree without a stored mask. The loops that apply them are in loops.h. */
#include "base/rng.h"
#include "kern/kern.h"

uint32_t rela_drop_hash(const uint32_t key[2], uint32_t position)
{
    uint32_t x = position * 0x9E3779B1u + key[0];
    x ^= x >> 16;
    x *= 0x7FEB352Du;
    x ^= key[1];
    x ^= x >> 15;
    x *= 0x846CA68Bu;
    x ^= x >> 16;
    return x;
}

rela_drop rela_drop_make(double p, uint64_t seed, uint64_t update, uint32_t site, uint32_t first)
{
    const uint32_t counter[4] = { (uint32_t)update, (uint32_t)(update >> 32), site, 0xD20Fu };
    const uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    uint32_t words[4];
    rela_rng_block(words, counter, key);
    return (rela_drop){ .key = { words[0], words[1] },
                        .threshold = (uint32_t)(p * 4294967296.0),
                        .scale = (real)(1 / (1 - p)),
                        .first = first };
}

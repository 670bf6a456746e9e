/* SPDX-License-Identifier: MIT */
/* src/base/rng.h - counter-based random numbers: Philox 4x32 with ten rounds (Salmon et al. 2011).
 *
 * A number is a pure function of (seed, stream, counter), so any position can be reached directly,
 * and results depend neither on threads nor on the order of calls. */
#ifndef RELA_BASE_RNG_H
#define RELA_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

/* The block function: four 32-bit words from a 128-bit counter and a 64-bit key. */
void rela_rng_block(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

/* A position in one stream. Copy it to save the position. */
typedef struct rela_rng {
    uint64_t seed;
    uint64_t stream;
    uint64_t next; /* 32-bit words used so far */
    uint32_t words[4];
} rela_rng;

rela_rng rela_rng_start(uint64_t seed, uint64_t stream);
uint32_t rela_rng_u32(rela_rng *r);
uint64_t rela_rng_u64(rela_rng *r);
uint64_t rela_rng_below(rela_rng *r, uint64_t n); /* uniform on 0 .. n-1, exactly; n >= 1 */
double rela_rng_real(rela_rng *r);                /* uniform on [0, 1), 53 bits */
double rela_rng_normal(rela_rng *r);              /* mean 0, variance 1 */

/* Fisher-Yates on n 32-bit numbers. */
void rela_rng_shuffle(rela_rng *r, uint32_t *items, size_t n);

#endif

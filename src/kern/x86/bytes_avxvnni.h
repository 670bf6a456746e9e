/* SPDX-License-Identifier: MIT */
/* src/kern/x86/bytes_avxvnni.h - like bytes_vnni.h, for CPUs whose int8 dot products have only 256
 * bits. */
#define BYTE_ROWS       6
#define BYTE_OFFSET     128
#define BYTE_PREFILTERS true

#include "kern/x86/bytes_256.h"

typedef __m256i byte_weights;

static inline byte_weights byte_load(const int8_t *w)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)w);
}

static inline byte_sums byte_dot(byte_sums sums, byte_row q, byte_weights w)
{
    return (byte_sums)_mm256_dpbusd_avx_epi32((__m256i)sums, q, w);
}

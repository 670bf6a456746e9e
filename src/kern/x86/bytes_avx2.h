/* SPDX-License-Identifier: MIT */
/* src/kern/x86/bytes_avx2.h - the operations of loops_bytes.h for CPUs without int8 dot products.
 *
 * maddubs takes one unsigned operand: the magnitude of the weight; the sign of the weight is moved
 * to the other operand. The sum of two products of numbers up to 127 fits in its 16 bits, so it
 * never saturates. */
#define BYTE_ROWS       4
#define BYTE_OFFSET     0
#define BYTE_PREFILTERS false

#include "kern/x86/bytes_256.h"

typedef struct byte_weights {
    __m256i value, size;
} byte_weights;

static inline byte_weights byte_load(const int8_t *w)
{
    const __m256i value = _mm256_loadu_si256((const __m256i *)(const void *)w);
    return (byte_weights){ value, _mm256_abs_epi8(value) };
}

static inline byte_sums byte_dot(byte_sums sums, byte_row q, byte_weights w)
{
    const __m256i two = _mm256_maddubs_epi16(w.size, _mm256_sign_epi8(q, w.value));
    return sums + (byte_sums)_mm256_madd_epi16(two, _mm256_set1_epi16(1));
}

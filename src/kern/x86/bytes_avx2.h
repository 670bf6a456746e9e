/* SPDX-License-Identifier: MIT */
/* src/kern/x86/bytes_avx2.h - the operations of loops_bytes.h for CPUs without 8-bit dot products.
 *
 * maddubs takes one operand without sign: the size of the weight; the sign of the weight goes to
 * the other. Two products of numbers up to 127 fit its 16 bits, so nothing is ever cut off. */
#define BYTE_ROWS   4
#define BYTE_OFFSET 0

enum { BYTE_COLS = 8 };

typedef int32_t byte_sums __attribute__((vector_size(32), aligned(4), may_alias));
typedef __m256i byte_row;
typedef struct byte_weights {
    __m256i value, size;
} byte_weights;

static inline byte_weights byte_load(const int8_t *w)
{
    const __m256i value = _mm256_loadu_si256((const __m256i *)(const void *)w);
    return (byte_weights){ value, _mm256_abs_epi8(value) };
}

static inline byte_row byte_spread(const int8_t *q)
{
    int32_t four = 0;
    memcpy(&four, q, sizeof four);
    return _mm256_set1_epi32(four);
}

static inline byte_sums byte_dot(byte_sums sums, byte_row q, byte_weights w)
{
    const __m256i two = _mm256_maddubs_epi16(w.size, _mm256_sign_epi8(q, w.value));
    return sums + (byte_sums)_mm256_madd_epi16(two, _mm256_set1_epi16(1));
}

static inline uint32_t byte_from(byte_sums sums, int32_t least)
{
    return (uint32_t)_mm256_movemask_ps((__m256)(sums >= least));
}

static inline void byte_store(float *c, byte_sums sums, float row, const float *scale,
                              const float *bias)
{
    const __m256 factor = _mm256_mul_ps(_mm256_loadu_ps(scale), _mm256_set1_ps(row));
    __m256 y = _mm256_mul_ps(_mm256_cvtepi32_ps((__m256i)sums), factor);
    __asm__("" : "+x"(y)); /* rounded here: no multiply-add */
    _mm256_storeu_ps(c, _mm256_add_ps(y, _mm256_loadu_ps(bias)));
}

static inline void byte_round(int8_t *q, const float *x, float inverse, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256 y = _mm256_mul_ps(_mm256_loadu_ps(x + i), _mm256_set1_ps(inverse));
        const __m256i whole = _mm256_cvtps_epi32(y);
        const __m128i half =
            _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
        _mm_storel_epi64((__m128i *)(void *)(q + i), _mm_packs_epi16(half, half));
    }
    for (; i < n; i++)
        q[i] = (int8_t)_mm_cvtss_si32(_mm_set_ss(x[i] * inverse));
}

/* SPDX-License-Identifier: MIT */
/* src/kern/x86/bytes_256.h - operations of loops_bytes.h shared by the 256-bit levels; BYTE_OFFSET
 * is what the level adds to the bytes of rows. */
enum { BYTE_COLS = 8 };

typedef int32_t byte_sums __attribute__((vector_size(32), aligned(4), may_alias));
typedef __m256i byte_row;

static inline byte_row byte_spread(const int8_t *q)
{
    int32_t four = 0;
    memcpy(&four, q, sizeof four);
    return _mm256_set1_epi32(four);
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
    __asm__("" : "+x"(y)); /* rounded here: no fused multiply-add */
    _mm256_storeu_ps(c, _mm256_add_ps(y, _mm256_loadu_ps(bias)));
}

static inline void byte_round(int8_t *q, const float *x, float inverse, size_t n)
{
    const __m128i offset = _mm_set1_epi8((char)BYTE_OFFSET);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m256 y = _mm256_mul_ps(_mm256_loadu_ps(x + i), _mm256_set1_ps(inverse));
        const __m256i whole = _mm256_cvtps_epi32(y);
        const __m128i half =
            _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
        _mm_storel_epi64((__m128i *)(void *)(q + i),
                         _mm_xor_si128(_mm_packs_epi16(half, half), offset));
    }
    for (; i < n; i++)
        q[i] = (int8_t)(_mm_cvtss_si32(_mm_set_ss(x[i] * inverse)) ^ BYTE_OFFSET);
}

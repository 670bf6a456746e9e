/* SPDX-License-Identifier: MIT */
/* src/kern/x86/bytes_vnni.h - the operations of loops_bytes.h with int8 dot products.
 *
 * dpbusd multiplies unsigned by signed bytes: 128 is added to the bytes of rows, and 128 times the
 * sum of the weights subtracted from the result. */
#define BYTE_ROWS       12
#define BYTE_OFFSET     128
#define BYTE_PREFILTERS true

enum { BYTE_COLS = 16 };

typedef int32_t byte_sums __attribute__((vector_size(64), aligned(4), may_alias));
typedef __m512i byte_row, byte_weights;

static inline byte_weights byte_load(const int8_t *w)
{
    __m512i x = _mm512_loadu_si512(w);
    __asm__("" : "+v"(x)); /* keep it in a register: the compiler would reload it for each row */
    return x;
}

static inline byte_row byte_spread(const int8_t *q)
{
    int32_t four = 0;
    memcpy(&four, q, sizeof four);
    return _mm512_set1_epi32(four);
}

static inline byte_sums byte_dot(byte_sums sums, byte_row q, byte_weights w)
{
    return (byte_sums)_mm512_dpbusd_epi32((__m512i)sums, q, w);
}

static inline uint32_t byte_from(byte_sums sums, int32_t least)
{
    return _mm512_cmpge_epi32_mask((__m512i)sums, _mm512_set1_epi32(least));
}

static inline void byte_store(float *c, byte_sums sums, float row, const float *scale,
                              const float *bias)
{
    const __m512 factor = _mm512_mul_ps(_mm512_loadu_ps(scale), _mm512_set1_ps(row));
    __m512 y = _mm512_mul_ps(_mm512_cvtepi32_ps((__m512i)sums), factor);
    __asm__("" : "+v"(y)); /* rounded here: no fused multiply-add */
    _mm512_storeu_ps(c, _mm512_add_ps(y, _mm512_loadu_ps(bias)));
}

static inline void byte_round(int8_t *q, const float *x, float inverse, size_t n)
{
    const __m128i offset = _mm_set1_epi8((char)BYTE_OFFSET);
    const __m512 factor = _mm512_set1_ps(inverse);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m512i whole = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x + i), factor));
        _mm_storeu_si128((__m128i *)(void *)(q + i),
                         _mm_xor_si128(_mm512_cvtsepi32_epi8(whole), offset));
    }
    if (i == n)
        return;
    const __mmask16 there = (__mmask16)((1u << (n - i)) - 1);
    const __m512 rest = _mm512_mul_ps(_mm512_maskz_loadu_ps(there, x + i), factor);
    const __m128i whole = _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(rest));
    _mm_mask_storeu_epi8(q + i, there, _mm_xor_si128(whole, offset));
}

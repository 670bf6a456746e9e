/* SPDX-License-Identifier: MIT */
/* src/kern/x86/lanes_avx512.h - what loops.h cannot say about lanes in plain C, for 512 bits. */
#define LEVEL_LANES
#define LEVEL_SQUEEZE

static inline float lane_sum(__m512 v)
{
    return _mm512_reduce_add_ps(v);
}

static inline float lane_max(__m512 v)
{
    return _mm512_reduce_max_ps(v);
}

static inline uint32_t above(const float *z, float x)
{
    return _mm512_cmp_ps_mask(_mm512_loadu_ps(z), _mm512_set1_ps(x), _CMP_GT_OQ);
}

static inline size_t squeeze_lanes(uint32_t *at, const float *x, uint32_t first)
{
    const __m512 v = _mm512_loadu_ps(x);
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __mmask16 some = _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_NEQ_OQ);
    const __m512i numbers = _mm512_add_epi32(lanes, _mm512_set1_epi32((int)first));
    _mm512_storeu_si512(at, _mm512_maskz_compress_epi32(some, numbers));
    return (size_t)__builtin_popcount(some);
}

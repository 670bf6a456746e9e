/* SPDX-License-Identifier: MIT */
/* src/kern/x86/avx2.c - built with -mavx2 -mfma; reached only after the check in select.c. */
#include "kern/levels.h"

#define VECTOR_BYTES 32
#define LEVEL        rela_kern_avx2
#define LEVEL_NAME   "avx2"
#define LEVEL_LANES

#include <immintrin.h>
#include <string.h>

#include "kern/x86/bytes_avx2.h"

static inline float lane_sum(__m256 v)
{
    __m128 h = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    h = _mm_add_ps(h, _mm_movehl_ps(h, h));
    h = _mm_add_ss(h, _mm_shuffle_ps(h, h, 1));
    return _mm_cvtss_f32(h);
}

static inline float lane_max(__m256 v)
{
    __m128 h = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    h = _mm_max_ps(h, _mm_movehl_ps(h, h));
    h = _mm_max_ss(h, _mm_shuffle_ps(h, h, 1));
    return _mm_cvtss_f32(h);
}

static inline uint32_t above(const float *z, float x)
{
    const __m256 more = _mm256_cmp_ps(_mm256_loadu_ps(z), _mm256_set1_ps(x), _CMP_GT_OQ);
    return (uint32_t)_mm256_movemask_ps(more);
}

#include "kern/loops.h"

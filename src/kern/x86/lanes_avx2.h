/* SPDX-License-Identifier: MIT */
/* src/kern/x86/lanes_avx2.h - operations on lanes that loops.h cannot express in plain C, for 256
 * bits. */
#include "kern/bit_indices.h"

#define LEVEL_LANES
#define LEVEL_ABOVE_64

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

/* A mask of the first n lanes. */
static inline __m256i first_lanes(size_t n)
{
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lanes);
}

static inline int32_t largest_bits(const float *x, size_t n)
{
    const __m256i size = _mm256_set1_epi32(INT32_MAX);
    const int *bits = (const int *)(const void *)x;
    __m256i most = _mm256_setzero_si256();
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        most = _mm256_max_epi32(
            most, _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(bits + i)), size));
    const __m256i rest = _mm256_maskload_epi32(bits + i, first_lanes(n - i));
    most = _mm256_max_epi32(most, _mm256_and_si256(rest, size));
    __m128i h = _mm_max_epi32(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
    h = _mm_max_epi32(h, _mm_shuffle_epi32(h, 0x4E));
    h = _mm_max_epi32(h, _mm_shuffle_epi32(h, 0xB1));
    return _mm_cvtsi128_si32(h);
}

/* The bit pattern of a positive float is a positive integer, and saturating packs keep it so. */
static inline uint32_t above_32(const float *x)
{
    const __m256i *v = (const __m256i *)x;
    const __m256i in_turn = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i a = _mm256_packs_epi32(_mm256_loadu_si256(v), _mm256_loadu_si256(v + 1));
    const __m256i b = _mm256_packs_epi32(_mm256_loadu_si256(v + 2), _mm256_loadu_si256(v + 3));
    const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(a, b), in_turn);
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi8(bytes, _mm256_setzero_si256()));
}

static inline uint64_t above_64(const float *x)
{
    return above_32(x) | (uint64_t)above_32(x + 32) << 32;
}

static inline uint32_t above(const float *z, float x)
{
    const __m256 more = _mm256_cmp_ps(_mm256_loadu_ps(z), _mm256_set1_ps(x), _CMP_GT_OQ);
    return (uint32_t)_mm256_movemask_ps(more);
}

static inline __m256 larger(__m256 a, __m256 b)
{
    return _mm256_max_ps(a, b);
}

static inline __m256 load_some(const float *s, size_t n, float rest)
{
    const __m256i some = first_lanes(n);
    return _mm256_blendv_ps(_mm256_set1_ps(rest), _mm256_maskload_ps(s, some),
                            _mm256_castsi256_ps(some));
}

static inline void store_some(float *w, __m256 y, size_t n)
{
    _mm256_maskstore_ps(w, first_lanes(n), y);
}

/* Like exp_within of loops.h, with the minimax polynomial for relative error (1.8e-9). */
static inline __m256 exp_lanes(__m256 x)
{
    const __m256 magic = _mm256_set1_ps(12582912.0f);
    const __m256 some = _mm256_cmp_ps(x, _mm256_set1_ps(-87), _CMP_NLT_UQ);
    const __m256 shifted = _mm256_fmadd_ps(x, _mm256_set1_ps(1.44269504f), magic);
    const __m256 n = _mm256_sub_ps(shifted, magic);
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), x);
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
    __m256 p = _mm256_set1_ps(1.38367945e-3f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(8.37485678e-3f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(4.16682288e-2f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.66664198e-1f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(4.99999911e-1f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1));
    /* The low bits of shifted are n; added to those of 1.0, they give 2^n. */
    const __m256i power = _mm256_slli_epi32(_mm256_castps_si256(shifted), 23);
    const __m256 two_n =
        _mm256_castsi256_ps(_mm256_add_epi32(power, _mm256_castps_si256(_mm256_set1_ps(1))));
    return _mm256_and_ps(_mm256_mul_ps(p, two_n), some);
}

static inline size_t squeeze_lanes(uint32_t *at, const float *x, uint32_t first)
{
    const __m256 v = _mm256_loadu_ps(x);
    const __m256 some = _mm256_cmp_ps(v, _mm256_setzero_ps(), _CMP_NEQ_OQ);
    const uint32_t lanes = (uint32_t)_mm256_movemask_ps(some);
    const __m256i places = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)BIT_INDICES[lanes]));
    _mm256_storeu_si256((__m256i *)(void *)at,
                        _mm256_add_epi32(places, _mm256_set1_epi32((int)first)));
    return (size_t)__builtin_popcount(lanes);
}

/* The last steps of turn_bits: the first between two vectors of four words, the others within. */
static inline __m256i turn_low(__m256i x, __m256i other, uint64_t low, int j)
{
    const __m256i mask = _mm256_set1_epi64x((long long)low);
    return _mm256_or_si256(_mm256_and_si256(mask, x),
                           _mm256_andnot_si256(mask, _mm256_slli_epi64(other, j)));
}

static inline __m256i turn_high(__m256i x, __m256i other, uint64_t low, int j)
{
    const __m256i mask = _mm256_set1_epi64x((long long)low);
    return _mm256_or_si256(_mm256_and_si256(mask, _mm256_srli_epi64(other, j)),
                           _mm256_andnot_si256(mask, x));
}

static inline __m256i turn_within(__m256i x)
{
    const uint64_t fours = UINT64_C(0x3333333333333333), twos = UINT64_C(0x5555555555555555);
    __m256i other = _mm256_permute4x64_epi64(x, 0x4E);
    x = _mm256_blend_epi32(turn_low(x, other, fours, 2), turn_high(x, other, fours, 2), 0xF0);
    other = _mm256_shuffle_epi32(x, 0x4E);
    return _mm256_blend_epi32(turn_low(x, other, twos, 1), turn_high(x, other, twos, 1), 0xCC);
}

static inline void turn_near(uint64_t *words)
{
    const uint64_t eights = UINT64_C(0x0F0F0F0F0F0F0F0F);
    for (size_t i = 0; i < 64; i += 8) {
        __m256i *at = (__m256i *)(void *)(words + i);
        const __m256i a = _mm256_loadu_si256(at), b = _mm256_loadu_si256(at + 1);
        _mm256_storeu_si256(at, turn_within(turn_low(a, b, eights, 4)));
        _mm256_storeu_si256(at + 1, turn_within(turn_high(b, a, eights, 4)));
    }
}

static inline void two_sums(float *sums, __m256 a, __m256 b)
{
    const __m256 both = _mm256_add_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(both), _mm256_extractf128_ps(both, 1));
    _mm_storel_pi((__m64 *)(void *)sums, _mm_add_ps(four, _mm_movehl_ps(four, four)));
}

static inline void four_weights(float *w, const __m256_u *v, const int32_t *ends, int32_t p)
{
    const __m256 a = _mm256_hadd_ps(v[0], v[1]), b = _mm256_hadd_ps(v[2], v[3]);
    const __m256 four = _mm256_hadd_ps(a, b);
    const __m128 sums = _mm_add_ps(_mm256_castps256_ps128(four), _mm256_extractf128_ps(four, 1));
    const __m128i last = _mm_loadu_si128((const __m128i *)(const void *)ends);
    const __m128 there = _mm_castsi128_ps(_mm_cmpgt_epi32(last, _mm_set1_epi32(p)));
    _mm_storeu_ps(w, _mm_and_ps(there, _mm_max_ps(sums, _mm_setzero_ps())));
}

/* y (8, ldy) = the transpose of 8 numbers of 8 rows: interleaves pairs of numbers, then fours, then
 * the halves of the vectors. */
static inline void turn_lanes(float *y, size_t ldy, const float *const *rows)
{
    __m256 x[8], t[8];
    for (size_t i = 0; i < 8; i += 2) {
        const __m256 a = _mm256_loadu_ps(rows[i]), b = _mm256_loadu_ps(rows[i + 1]);
        t[i] = _mm256_unpacklo_ps(a, b);
        t[i + 1] = _mm256_unpackhi_ps(a, b);
    }
    for (size_t i = 0; i < 8; i++) {
        const __m256d a = _mm256_castps_pd(t[i / 4 * 4 + i % 4 / 2]);
        const __m256d b = _mm256_castps_pd(t[i / 4 * 4 + i % 4 / 2 + 2]);
        x[i] = _mm256_castpd_ps(i % 2 ? _mm256_unpackhi_pd(a, b) : _mm256_unpacklo_pd(a, b));
    }
    for (size_t c = 0; c < 4; c++) {
        _mm256_storeu_ps(y + c * ldy, _mm256_permute2f128_ps(x[c], x[4 + c], 0x20));
        _mm256_storeu_ps(y + (4 + c) * ldy, _mm256_permute2f128_ps(x[c], x[4 + c], 0x31));
    }
}

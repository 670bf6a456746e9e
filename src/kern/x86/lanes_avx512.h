/* SPDX-License-Identifier: MIT */
/* src/kern/x86/lanes_avx512.h - operations on lanes that loops.h cannot express in plain C, for 512
 * bits. */
#define LEVEL_LANES
#define LEVEL_BITS
#define LEVEL_ABOVE_64

static inline float lane_sum(__m512 v)
{
    return _mm512_reduce_add_ps(v);
}

static inline float lane_max(__m512 v)
{
    return _mm512_reduce_max_ps(v);
}

static inline int32_t largest_bits(const float *x, size_t n)
{
    const __m512i size = _mm512_set1_epi32(INT32_MAX);
    __m512i most = _mm512_setzero_si512();
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        most = _mm512_max_epi32(most, _mm512_and_si512(_mm512_loadu_si512(x + i), size));
    const __m512i rest = _mm512_maskz_loadu_epi32((__mmask16)((1u << (n - i)) - 1), x + i);
    return _mm512_reduce_max_epi32(_mm512_max_epi32(most, _mm512_and_si512(rest, size)));
}

static inline uint32_t above(const float *z, float x)
{
    return _mm512_cmp_ps_mask(_mm512_loadu_ps(z), _mm512_set1_ps(x), _CMP_GT_OQ);
}

static inline __m512 larger(__m512 a, __m512 b)
{
    return _mm512_max_ps(a, b);
}

static inline __m512 load_some(const float *s, size_t n, float rest)
{
    const __mmask16 some = (__mmask16)((1u << n) - 1);
    return _mm512_mask_loadu_ps(_mm512_set1_ps(rest), some, s);
}

static inline void store_some(float *w, __m512 y, size_t n)
{
    _mm512_mask_storeu_ps(w, (__mmask16)((1u << n) - 1), y);
}

/* Like exp_within of loops.h, with the minimax polynomial for relative error (1.8e-9). */
static inline __m512 exp_lanes(__m512 x)
{
    const __m512 magic = _mm512_set1_ps(12582912.0f);
    const __mmask16 some = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-87), _CMP_NLT_UQ);
    const __m512 n = _mm512_sub_ps(_mm512_fmadd_ps(x, _mm512_set1_ps(1.44269504f), magic), magic);
    __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), x);
    r = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.12194440e-4f), r);
    __m512 p = _mm512_set1_ps(1.38367945e-3f);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(8.37485678e-3f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(4.16682288e-2f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.66664198e-1f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(4.99999911e-1f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1));
    return _mm512_maskz_scalef_ps(some, p, n);
}

/* The bit pattern of a positive float is a positive integer, and saturating packs keep it so. */
static inline uint64_t above_64(const float *x)
{
    const __m512i in_turn = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i a = _mm512_packs_epi32(_mm512_loadu_si512(x), _mm512_loadu_si512(x + 16));
    const __m512i b = _mm512_packs_epi32(_mm512_loadu_si512(x + 32), _mm512_loadu_si512(x + 48));
    const __m512i bytes = _mm512_permutexvar_epi32(in_turn, _mm512_packs_epi16(a, b));
    return _mm512_cmpgt_epi8_mask(bytes, _mm512_setzero_si512());
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

static inline size_t squeeze_bits(uint8_t *at, uint64_t bits, uint8_t first)
{
#ifdef LEVEL_SQUEEZE_BYTES
    const __m512i row = _mm512_set_epi8(
        63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41,
        40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18,
        17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i numbers = _mm512_add_epi8(row, _mm512_set1_epi8((char)first));
    _mm512_storeu_si512(at, _mm512_maskz_compress_epi8(bits, numbers));
    return (size_t)__builtin_popcountll(bits);
#else
    const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    size_t have = 0;
    for (int i = 0; i < 64; i += 16) {
        const __mmask16 some = (__mmask16)(bits >> i);
        const __m512i numbers = _mm512_add_epi32(lanes, _mm512_set1_epi32(first + i));
        const __m512i side = _mm512_maskz_compress_epi32(some, numbers);
        _mm_storeu_si128((__m128i *)(void *)(at + have), _mm512_cvtepi32_epi8(side));
        have += (size_t)__builtin_popcount(some);
    }
    return have;
#endif
}

/* The last steps of turn_bits: within vectors of eight words. */
static inline __m512i turn_pair(__m512i x, __m512i other, __mmask8 upper, uint64_t low, int j)
{
    const __m512i mask = _mm512_set1_epi64((long long)low), shift = _mm512_set1_epi64(j);
    const __m512i down = _mm512_srlv_epi64(other, shift), up = _mm512_sllv_epi64(other, shift);
    const __m512i first = _mm512_ternarylogic_epi64(mask, x, up, 0xCA);
    const __m512i second = _mm512_ternarylogic_epi64(mask, down, x, 0xCA);
    return _mm512_mask_mov_epi64(first, upper, second);
}

static inline void turn_near(uint64_t *words)
{
    for (size_t i = 0; i < 64; i += 8) {
        __m512i x = _mm512_loadu_si512(words + i);
        x = turn_pair(x, _mm512_shuffle_i64x2(x, x, 0x4E), 0xF0, UINT64_C(0x0F0F0F0F0F0F0F0F), 4);
        x = turn_pair(x, _mm512_permutex_epi64(x, 0x4E), 0xCC, UINT64_C(0x3333333333333333), 2);
        x = turn_pair(x, _mm512_permutex_epi64(x, 0xB1), 0xAA, UINT64_C(0x5555555555555555), 1);
        _mm512_storeu_si512(words + i, x);
    }
}

static inline void two_sums(float *sums, __m512 a, __m512 b)
{
    const __m512 both = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    const __m256 half =
        _mm256_add_ps(_mm512_castps512_ps256(both), _mm512_extractf32x8_ps(both, 1));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
    _mm_storel_pi((__m64 *)(void *)sums, _mm_add_ps(four, _mm_movehl_ps(four, four)));
}

/* The lane sums of four vectors: interleaves and adds pairs of vectors twice, then adds the
 * quarters. */
static inline __m128 sum_lanes(const __m512_u *v)
{
    const __m512 a = _mm512_add_ps(_mm512_unpacklo_ps(v[0], v[1]), _mm512_unpackhi_ps(v[0], v[1]));
    const __m512 b = _mm512_add_ps(_mm512_unpacklo_ps(v[2], v[3]), _mm512_unpackhi_ps(v[2], v[3]));
    const __m512d low = _mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b));
    const __m512d high = _mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b));
    const __m512 four = _mm512_add_ps(_mm512_castpd_ps(low), _mm512_castpd_ps(high));
    const __m256 two = _mm256_add_ps(_mm512_castps512_ps256(four), _mm512_extractf32x8_ps(four, 1));
    return _mm_add_ps(_mm256_castps256_ps128(two), _mm256_extractf128_ps(two, 1));
}

static inline void four_weights(float *w, const __m512_u *v, const int32_t *ends, int32_t p)
{
    const __m128i last = _mm_loadu_si128((const __m128i *)(const void *)ends);
    const __mmask8 there = _mm_cmpgt_epi32_mask(last, _mm_set1_epi32(p));
    _mm_storeu_ps(w, _mm_maskz_max_ps(there, sum_lanes(v), _mm_setzero_ps()));
}

static inline uint64_t spread_bits(uint64_t some, uint64_t where)
{
    return _pdep_u64(some, where);
}

static inline uint64_t fourth_bits(uint64_t bits, size_t first)
{
    return _pext_u64(bits, UINT64_C(0x1111111111111111) << first);
}

/* y (16, ldy) = the transpose of 16 numbers of 16 rows: interleaves pairs of numbers, then fours,
 * then the quarters of the vectors. */
static inline void turn_lanes(float *y, size_t ldy, const float *const *rows)
{
    __m512 x[16], t[16];
    for (size_t i = 0; i < 16; i += 2) {
        const __m512 a = _mm512_loadu_ps(rows[i]), b = _mm512_loadu_ps(rows[i + 1]);
        t[i] = _mm512_unpacklo_ps(a, b);
        t[i + 1] = _mm512_unpackhi_ps(a, b);
    }
    for (size_t i = 0; i < 16; i++) {
        const __m512d a = _mm512_castps_pd(t[i / 4 * 4 + i % 4 / 2]);
        const __m512d b = _mm512_castps_pd(t[i / 4 * 4 + i % 4 / 2 + 2]);
        x[i] = _mm512_castpd_ps(i % 2 ? _mm512_unpackhi_pd(a, b) : _mm512_unpacklo_pd(a, b));
    }
    for (size_t c = 0; c < 4; c++) {
        const __m512 even_low = _mm512_shuffle_f32x4(x[c], x[4 + c], 0x88);
        const __m512 even_high = _mm512_shuffle_f32x4(x[8 + c], x[12 + c], 0x88);
        const __m512 odd_low = _mm512_shuffle_f32x4(x[c], x[4 + c], 0xDD);
        const __m512 odd_high = _mm512_shuffle_f32x4(x[8 + c], x[12 + c], 0xDD);
        _mm512_storeu_ps(y + c * ldy, _mm512_shuffle_f32x4(even_low, even_high, 0x88));
        _mm512_storeu_ps(y + (4 + c) * ldy, _mm512_shuffle_f32x4(odd_low, odd_high, 0x88));
        _mm512_storeu_ps(y + (8 + c) * ldy, _mm512_shuffle_f32x4(even_low, even_high, 0xDD));
        _mm512_storeu_ps(y + (12 + c) * ldy, _mm512_shuffle_f32x4(odd_low, odd_high, 0xDD));
    }
}

/* SPDX-License-Identifier: MIT */
/* src/kern/arm/lanes_neon.h - operations on lanes that loops.h cannot express in plain C, for NEON.
 */
#include "kern/bit_indices.h"

#define LEVEL_LANES
#define LEVEL_ABOVE_64

typedef float lanes_4 __attribute__((vector_size(16), aligned(4), may_alias)); /* vec of loops.h */

static inline float lane_sum(float32x4_t v)
{
    return vaddvq_f32(v);
}

static inline float lane_max(float32x4_t v)
{
    return vmaxvq_f32(v);
}

/* Turns a lane mask into bits: bit i is set if lane i is. */
static inline uint32_t lane_bits(uint32x4_t lanes)
{
    const uint32x4_t bits = { 1, 2, 4, 8 };
    return vaddvq_u32(vandq_u32(lanes, bits));
}

/* Byte i is 0xFF if number i is above 0, else 0. */
static inline uint8x16_t above_16(const float *x)
{
    const uint16x8_t a = vuzp1q_u16(vreinterpretq_u16_u32(vcgtzq_f32(vld1q_f32(x))),
                                    vreinterpretq_u16_u32(vcgtzq_f32(vld1q_f32(x + 4))));
    const uint16x8_t b = vuzp1q_u16(vreinterpretq_u16_u32(vcgtzq_f32(vld1q_f32(x + 8))),
                                    vreinterpretq_u16_u32(vcgtzq_f32(vld1q_f32(x + 12))));
    return vuzp1q_u8(vreinterpretq_u8_u16(a), vreinterpretq_u8_u16(b));
}

/* Keeps one bit of each byte, then adds neighbours until a byte holds eight of them. */
static inline uint64_t above_64(const float *x)
{
    const uint8x16_t bits = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
    const uint8x16_t a = vpaddq_u8(vandq_u8(above_16(x), bits), vandq_u8(above_16(x + 16), bits));
    const uint8x16_t b =
        vpaddq_u8(vandq_u8(above_16(x + 32), bits), vandq_u8(above_16(x + 48), bits));
    const uint8x16_t fours = vpaddq_u8(a, b);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(fours, fours)), 0);
}

static inline uint32_t above(const float *z, float x)
{
    return lane_bits(vcgtq_f32(vld1q_f32(z), vdupq_n_f32(x)));
}

/* Not vmaxq: the result must be b if either is NaN. */
static inline float32x4_t larger(float32x4_t a, float32x4_t b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

/* n is at most 3. */
static inline float32x4_t load_some(const float *s, size_t n, float rest)
{
    float32x4_t y = vdupq_n_f32(rest);
    y = n > 0 ? vld1q_lane_f32(s, y, 0) : y;
    y = n > 1 ? vld1q_lane_f32(s + 1, y, 1) : y;
    return n > 2 ? vld1q_lane_f32(s + 2, y, 2) : y;
}

static inline int32_t largest_bits(const float *x, size_t n)
{
    int32x4_t most = vdupq_n_s32(0);
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        most = vmaxq_s32(most, vreinterpretq_s32_f32(vabsq_f32(vld1q_f32(x + i))));
    const float32x4_t rest = vabsq_f32(load_some(x + i, n - i, 0));
    return vmaxvq_s32(vmaxq_s32(most, vreinterpretq_s32_f32(rest)));
}

static inline void store_some(float *w, float32x4_t y, size_t n)
{
    if (n > 0)
        vst1q_lane_f32(w, y, 0);
    if (n > 1)
        vst1q_lane_f32(w + 1, y, 1);
    if (n > 2)
        vst1q_lane_f32(w + 2, y, 2);
}

/* Like exp_within of loops.h, with the minimax polynomial for relative error (1.8e-9). */
static inline float32x4_t exp_lanes(float32x4_t x)
{
    const float32x4_t magic = vdupq_n_f32(12582912.0f), one = vdupq_n_f32(1);
    const uint32x4_t none = vcltq_f32(x, vdupq_n_f32(-87)); /* false for NaN */
    const float32x4_t shifted = vfmaq_f32(magic, x, vdupq_n_f32(1.44269504f));
    const float32x4_t n = vsubq_f32(shifted, magic);
    float32x4_t r = vfmsq_f32(x, n, vdupq_n_f32(0.693359375f));
    r = vfmsq_f32(r, n, vdupq_n_f32(-2.12194440e-4f));
    float32x4_t p = vdupq_n_f32(1.38367945e-3f);
    p = vfmaq_f32(vdupq_n_f32(8.37485678e-3f), p, r);
    p = vfmaq_f32(vdupq_n_f32(4.16682288e-2f), p, r);
    p = vfmaq_f32(vdupq_n_f32(1.66664198e-1f), p, r);
    p = vfmaq_f32(vdupq_n_f32(4.99999911e-1f), p, r);
    p = vfmaq_f32(one, p, r);
    p = vfmaq_f32(one, p, r);
    /* The low bits of shifted are n; added to those of 1.0, they give 2^n. */
    const uint32x4_t power = vshlq_n_u32(vreinterpretq_u32_f32(shifted), 23);
    const uint32x4_t two_n = vaddq_u32(power, vreinterpretq_u32_f32(one));
    const float32x4_t y = vmulq_f32(p, vreinterpretq_f32_u32(two_n));
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(y), none));
}

static inline size_t squeeze_lanes(uint32_t *at, const float *x, uint32_t first)
{
    const float32x4_t v = vld1q_f32(x);
    const uint32_t lanes = lane_bits(vorrq_u32(vcgtzq_f32(v), vcltzq_f32(v)));
    const uint16x8_t places = vmovl_u8(vcreate_u8(BIT_INDICES[lanes]));
    vst1q_u32(at, vaddw_u16(vdupq_n_u32(first), vget_low_u16(places)));
    return (size_t)__builtin_popcount(lanes);
}

/* The last steps of turn_bits: between vectors of two words, and within them. */
static inline uint64x2_t turn_low(uint64x2_t x, uint64x2_t other, uint64_t low, int j)
{
    return vbslq_u64(vdupq_n_u64(low), x, vshlq_u64(other, vdupq_n_s64(j)));
}

static inline uint64x2_t turn_high(uint64x2_t x, uint64x2_t other, uint64_t low, int j)
{
    return vbslq_u64(vdupq_n_u64(low), vshlq_u64(other, vdupq_n_s64(-j)), x);
}

static inline uint64x2_t turn_within(uint64x2_t x)
{
    const uint64_t twos = UINT64_C(0x5555555555555555);
    const uint64x2_t other = vextq_u64(x, x, 1), high = turn_high(x, other, twos, 1);
    return vcopyq_laneq_u64(turn_low(x, other, twos, 1), 1, high, 1);
}

static inline void turn_near(uint64_t *words)
{
    const uint64_t eights = UINT64_C(0x0F0F0F0F0F0F0F0F), fours = UINT64_C(0x3333333333333333);
    for (size_t i = 0; i < 64; i += 8, words += 8) {
        uint64x2_t x[4], y[4];
        for (size_t c = 0; c < 4; c++)
            x[c] = vld1q_u64(words + 2 * c);
        for (size_t c = 0; c < 2; c++) {
            y[c] = turn_low(x[c], x[c + 2], eights, 4);
            y[c + 2] = turn_high(x[c + 2], x[c], eights, 4);
        }
        for (size_t c = 0; c < 4; c += 2) {
            vst1q_u64(words + 2 * c, turn_within(turn_low(y[c], y[c + 1], fours, 2)));
            vst1q_u64(words + 2 * c + 2, turn_within(turn_high(y[c + 1], y[c], fours, 2)));
        }
    }
}

static inline void two_sums(float *sums, float32x4_t a, float32x4_t b)
{
    const float32x4_t pairs = vpaddq_f32(a, b);
    vst1_f32(sums, vget_low_f32(vpaddq_f32(pairs, pairs)));
}

static inline void four_weights(float *w, const lanes_4 *v, const int32_t *ends, int32_t p)
{
    const float32x4_t sums = vpaddq_f32(vpaddq_f32(v[0], v[1]), vpaddq_f32(v[2], v[3]));
    const uint32x4_t there = vcgtq_s32(vld1q_s32(ends), vdupq_n_s32(p));
    const uint32x4_t some = vandq_u32(there, vcgtzq_f32(sums));
    vst1q_f32(w, vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(sums), some)));
}

/* y (4, ldy) = the transpose of 4 numbers of 4 rows: interleaves pairs of numbers, then fours. */
static inline void turn_lanes(float *y, size_t ldy, const float *const *rows)
{
    const float32x4_t a = vld1q_f32(rows[0]), b = vld1q_f32(rows[1]);
    const float32x4_t c = vld1q_f32(rows[2]), d = vld1q_f32(rows[3]);
    const float64x2_t ab[2] = { vreinterpretq_f64_f32(vtrn1q_f32(a, b)),
                                vreinterpretq_f64_f32(vtrn2q_f32(a, b)) };
    const float64x2_t cd[2] = { vreinterpretq_f64_f32(vtrn1q_f32(c, d)),
                                vreinterpretq_f64_f32(vtrn2q_f32(c, d)) };
    for (size_t i = 0; i < 2; i++) {
        vst1q_f32(y + i * ldy, vreinterpretq_f32_f64(vzip1q_f64(ab[i], cd[i])));
        vst1q_f32(y + (2 + i) * ldy, vreinterpretq_f32_f64(vzip2q_f64(ab[i], cd[i])));
    }
}

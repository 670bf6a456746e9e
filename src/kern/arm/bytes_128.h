/* SPDX-License-Identifier: MIT */
/* src/kern/arm/bytes_128.h - operations of loops_bytes.h shared by all NEON levels. Products of
 * signed bytes need no offset. */
#define BYTE_OFFSET 0

enum { BYTE_COLS = 4 };

typedef int32_t byte_sums __attribute__((vector_size(16), aligned(4), may_alias));
typedef int8x16_t byte_weights;

static inline byte_weights byte_load(const int8_t *w)
{
    return vld1q_s8(w);
}

static inline uint32_t byte_from(byte_sums sums, int32_t least)
{
    return lane_bits(vcgeq_s32(sums, vdupq_n_s32(least)));
}

static inline void byte_store(float *c, byte_sums sums, float row, const float *scale,
                              const float *bias)
{
    const float32x4_t factor = vmulq_n_f32(vld1q_f32(scale), row);
    float32x4_t y = vmulq_f32(vcvtq_f32_s32(sums), factor);
    __asm__("" : "+w"(y)); /* rounded here: no fused multiply-add */
    vst1q_f32(c, vaddq_f32(y, vld1q_f32(bias)));
}

/* Four numbers rounded to the nearest integer, halves to even, in 16 bits. */
static inline int16x4_t round_4(const float *x, float inverse)
{
    return vqmovn_s32(vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(x), inverse)));
}

static inline void byte_round(int8_t *q, const float *x, float inverse, size_t n)
{
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        vst1_s8(q + i,
                vqmovn_s16(vcombine_s16(round_4(x + i, inverse), round_4(x + i + 4, inverse))));
    for (; i < n; i++)
        q[i] = (int8_t)vcvtns_s32_f32(x[i] * inverse);
}

/* SPDX-License-Identifier: MIT */
/* src/kern/arm/bytes_neon.h - the operations of loops_bytes.h for CPUs without int8 dot products.
 *
 * Products have 16 bits. Rows have no number below -127, so that the sum of two products fits,
 * whatever the weights. */
#define BYTE_ROWS       4
#define BYTE_PREFILTERS false

#include "kern/arm/bytes_128.h"

typedef int8x16_t byte_row;

static inline byte_row byte_spread(const int8_t *q)
{
    int32_t four = 0;
    memcpy(&four, q, sizeof four);
    return vreinterpretq_s8_s32(vdupq_n_s32(four));
}

static inline byte_sums byte_dot(byte_sums sums, byte_row q, byte_weights w)
{
    const int16x8_t low = vmull_s8(vget_low_s8(q), vget_low_s8(w)), high = vmull_high_s8(q, w);
    return vpadalq_s16(sums, vpaddq_s16(low, high));
}

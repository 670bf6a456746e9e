/* SPDX-License-Identifier: MIT */
/* src/kern/arm/bytes_dotprod.h - the operations of loops_bytes.h with int8 dot products. */
#define BYTE_ROWS       6
#define BYTE_PREFILTERS true

#include "kern/arm/bytes_128.h"

typedef int8x8_t byte_row;

/* Not broadcast: the instruction uses the same four bytes for all columns. */
static inline byte_row byte_spread(const int8_t *q)
{
    uint32_t four = 0;
    memcpy(&four, q, sizeof four);
    return vcreate_s8(four);
}

static inline byte_sums byte_dot(byte_sums sums, byte_row q, byte_weights w)
{
    return vdotq_lane_s32(sums, w, q, 0);
}

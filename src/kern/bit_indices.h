/* SPDX-License-Identifier: MIT */
/* src/kern/bit_indices.h - table of the set bits of a byte, for levels without a compress
 * instruction. */
#ifndef RELA_KERN_BIT_INDICES_H
#define RELA_KERN_BIT_INDICES_H

#include <stdint.h>

/* If bit b of byte is set: b, shifted to the output byte that corresponds to its rank. */
#define BIT_INDEX(byte, b)                                                                         \
    ((byte) >> (b)&1 ? (uint64_t)(b) << 8 * __builtin_popcount((byte) & ((1u << (b)) - 1)) : 0)
#define BIT_INDEX_ROW(byte)                                                                        \
    (BIT_INDEX(byte, 1) | BIT_INDEX(byte, 2) | BIT_INDEX(byte, 3) | BIT_INDEX(byte, 4) |           \
     BIT_INDEX(byte, 5) | BIT_INDEX(byte, 6) | BIT_INDEX(byte, 7))
#define BIT_INDEX_ROW_4(byte)                                                                      \
    BIT_INDEX_ROW(byte), BIT_INDEX_ROW((byte) + 1), BIT_INDEX_ROW((byte) + 2),                     \
        BIT_INDEX_ROW((byte) + 3)
#define BIT_INDEX_ROW_16(byte)                                                                     \
    BIT_INDEX_ROW_4(byte), BIT_INDEX_ROW_4((byte) + 4), BIT_INDEX_ROW_4((byte) + 8),               \
        BIT_INDEX_ROW_4((byte) + 12)
#define BIT_INDEX_ROW_64(byte)                                                                     \
    BIT_INDEX_ROW_16(byte), BIT_INDEX_ROW_16((byte) + 16), BIT_INDEX_ROW_16((byte) + 32),          \
        BIT_INDEX_ROW_16((byte) + 48)

/* The indices of the set bits, one per byte from the lowest byte up; 0 after the last. */
static const uint64_t BIT_INDICES[256] = { BIT_INDEX_ROW_64(0u), BIT_INDEX_ROW_64(64u),
                                           BIT_INDEX_ROW_64(128u), BIT_INDEX_ROW_64(192u) };

#undef BIT_INDEX
#undef BIT_INDEX_ROW
#undef BIT_INDEX_ROW_4
#undef BIT_INDEX_ROW_16
#undef BIT_INDEX_ROW_64

#endif

/* SPDX-License-Identifier: MIT */
/* src/kern/places.h - which bits of a byte are set, for levels without an instruction that squeezes
 * numbers together. */
#ifndef RELA_KERN_PLACES_H
#define RELA_KERN_PLACES_H

#include <stdint.h>

/* Bit b of byte, as the number in its place among those that are set. */
#define PLACE(byte, b)                                                                             \
    ((byte) >> (b)&1 ? (uint64_t)(b) << 8 * __builtin_popcount((byte) & ((1u << (b)) - 1)) : 0)
#define PLACES(byte)                                                                               \
    (PLACE(byte, 1) | PLACE(byte, 2) | PLACE(byte, 3) | PLACE(byte, 4) | PLACE(byte, 5) |          \
     PLACE(byte, 6) | PLACE(byte, 7))
#define PLACES_4(byte) PLACES(byte), PLACES((byte) + 1), PLACES((byte) + 2), PLACES((byte) + 3)
#define PLACES_16(byte)                                                                            \
    PLACES_4(byte), PLACES_4((byte) + 4), PLACES_4((byte) + 8), PLACES_4((byte) + 12)
#define PLACES_64(byte)                                                                            \
    PLACES_16(byte), PLACES_16((byte) + 16), PLACES_16((byte) + 32), PLACES_16((byte) + 48)

/* The numbers of the bits that are set, in bytes from the lowest one on; 0 behind the last. */
static const uint64_t BYTE_PLACES[256] = { PLACES_64(0u), PLACES_64(64u), PLACES_64(128u),
                                           PLACES_64(192u) };

#undef PLACE
#undef PLACES
#undef PLACES_4
#undef PLACES_16
#undef PLACES_64

#endif

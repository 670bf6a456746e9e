/* SPDX-License-Identifier: MIT */
/* src/kern/loops_mix_prefiltered.h - attention over the scores that a prefilter leaves
 * (loops_prefilter.h): lists of keys, their weights, mixed values. Part of loops.h. */

#ifndef LEVEL_LANES
/* Weights from the lane sums of four vectors; 0 where p is past the end of the list, ends[i]. */
static inline void four_weights(real *w, const vec *v, const int32_t *ends, int32_t p)
{
    for (size_t i = 0; i < 4; i++) {
        const real sum = lane_sum(v[i]);
        w[i] = sum > 0 && p < ends[i] ? sum : 0;
    }
}
#endif

#ifndef LEVEL_BITS
#include "kern/bit_indices.h"

/* Writes the indices of the set bits, counted from first, to at, which must have room for 64;
 * returns how many. */
static inline size_t squeeze_bits(uint8_t *at, uint64_t bits, uint8_t first)
{
    const uint64_t every = UINT64_C(0x0101010101010101);
    size_t have = 0;
    for (uint64_t i = first; bits; bits >>= 8, i += 8) {
        const uint64_t eight = BIT_INDICES[bits & 0xFF] + i * every;
        memcpy(at + have, &eight, sizeof eight); /* little-endian */
        have += (size_t)__builtin_popcountll(bits & 0xFF);
    }
    return have;
}

/* Every fourth bit from bit first on, packed together. */
static inline uint64_t fourth_bits(uint64_t bits, size_t first)
{
    bits = bits >> first & UINT64_C(0x1111111111111111);
    bits = (bits | bits >> 3) & UINT64_C(0x0303030303030303);
    bits = (bits | bits >> 6) & UINT64_C(0x000F000F000F000F);
    bits = (bits | bits >> 12) & UINT64_C(0x000000FF000000FF);
    return (bits | bits >> 24) & 0xFFFF;
}

/* Deposits the lowest bits of some at the positions that are set in where. */
static inline uint64_t spread_bits(uint64_t some, uint64_t where)
{
    uint64_t bits = 0;
    for (; where; where &= where - 1, some >>= 1)
        bits |= -(some & 1) & where & -where;
    return bits;
}
#endif

/* Row `at` of x. The barrier keeps the compiler from address forms that take more instructions. */
INLINE const real *list_row(const real *x, size_t at, size_t V)
{
    const real *row = x + at * V * LANES;
    __asm__("" : "+r"(row));
    return row;
}

enum { LISTS = 4, LIST_MOST = RELA_PREFILTER_KEYS + 64 };

/* Queries whose lists of keys are processed together: interleaved, to hide the latency of sums, and
 * padded to one length. */
typedef struct prefiltered {
    const rela_prefiltered *b;
    size_t n, row[LISTS]; /* number of queries, and their rows; the last repeated if fewer */
    uint8_t at[LISTS][LIST_MOST];
    int32_t ends[LISTS];
    size_t most;               /* length of the longest list */
    real w[LIST_MOST * LISTS]; /* (LIST_MOST, LISTS) */
} prefiltered;

/* Lists of queries from l->n on are empty. */
static inline void list_keys(prefiltered *l)
{
    l->most = 0;
    for (size_t r = 0; r < LISTS; r++) {
        size_t have = 0;
        for (size_t i = 0; r < l->n && i < RELA_PREFILTER_WORDS; i++)
            have += squeeze_bits(l->at[r] + have, l->b->bits[l->row[r] * RELA_PREFILTER_WORDS + i],
                                 (uint8_t)(64 * i));
        l->ends[r] = (int32_t)have;
        l->most = have > l->most ? have : l->most;
    }
    for (size_t r = 0; r < LISTS; r++) /* pad with any key: its weight becomes 0 */
        for (size_t p = (size_t)l->ends[r]; p < l->most; p += 64)
            memset(l->at[r] + p, 0, 64);
}

INLINE void list_weights(prefiltered *l, size_t V)
{
    const rela_prefiltered *const b = l->b;
    vec q[LISTS][VECTORS_MOST];
    UNROLL for (size_t r = 0; r < LISTS; r++) UNROLL for (size_t c = 0; c < V; c++) q[r][c] =
        b->scale * *(const vec *)(b->q + (l->row[r] * V + c) * LANES);
    for (size_t p = 0; p < l->most; p++) {
        vec along[LISTS];
        UNROLL for (size_t r = 0; r < LISTS; r++)
        {
            const real *key = list_row(b->keys, l->at[r][p], V);
            along[r] = q[r][0] * *(const vec *)key;
            UNROLL for (size_t c = 1; c < V; c++) along[r] +=
                q[r][c] * *(const vec *)(key + c * LANES);
        }
        four_weights(l->w + p * LISTS, along, l->ends, (int32_t)p);
    }
    memset(l->w + l->most * LISTS, 0, 16 * LISTS * sizeof *l->w); /* see keep_weighty */
}

/* For R queries from index first on, V vectors from column c on. */
INLINE void list_mix_part(const prefiltered *l, size_t wide, size_t first, size_t c, size_t R,
                          size_t V)
{
    const rela_prefiltered *const b = l->b;
    vec sum[LISTS][4];
    UNROLL for (size_t r = 0; r < R; r++) UNROLL for (size_t v = 0; v < V; v++) sum[r][v] =
        *(const vec *)(b->z + (l->row[first + r] * wide + c + v) * LANES);
    for (size_t p = 0; p < l->most; p++)
        UNROLL for (size_t r = 0; r < R; r++)
        {
            const real w = l->w[p * LISTS + first + r];
            const real *value = list_row(b->values, l->at[first + r][p], wide) + c * LANES;
            UNROLL for (size_t v = 0; v < V; v++) sum[r][v] +=
                w * *(const vec *)(value + v * LANES);
        }
    for (size_t r = 0; r < R && first + r < l->n; r++)
        UNROLL for (size_t v = 0; v < V; v++) *
            (vec *)(b->z + (l->row[first + r] * wide + c + v) * LANES) = sum[r][v];
}

/* In parts whose sums fit in registers. */
INLINE void list_mix(const prefiltered *l, size_t V)
{
    const size_t most = REGISTERS == 32 ? 16 : 8, columns = V < 4 ? V : 4;
    const size_t rows = most / columns < LISTS ? most / columns : LISTS;
    for (size_t first = 0; first < LISTS; first += rows)
        for (size_t c = 0; c < V; c += columns)
            list_mix_part(l, V, first, c, rows, columns);
}

/* Returns how many weights are above 0; with keeps, clears the bits of all other keys. */
static inline size_t keep_weighty(prefiltered *l)
{
    uint64_t some[LISTS][RELA_PREFILTER_WORDS + 1] = { { 0 } }; /* one bit per list element */
    size_t all = 0;
    for (size_t p = 0; p < l->most; p += 16) { /* 16 elements of 4 lists: 64 bits */
        const uint64_t above_0 = bits_above(l->w + p * LISTS, 64);
        all += (size_t)__builtin_popcountll(above_0);
        for (size_t r = 0; l->b->keeps && r < LISTS; r++)
            some[r][p / 64] |= fourth_bits(above_0, r) << p % 64;
    }
    for (size_t r = 0; l->b->keeps && r < l->n; r++) {
        uint64_t *bits = l->b->bits + l->row[r] * RELA_PREFILTER_WORDS;
        for (size_t i = 0, p = 0; i < RELA_PREFILTER_WORDS; i++) {
            const uint64_t low = some[r][p / 64] >> p % 64,
                           high = p % 64 ? some[r][p / 64 + 1] << (64 - p % 64) : 0;
            p += (size_t)__builtin_popcountll(bits[i]);
            bits[i] = spread_bits(low | high, bits[i]);
        }
    }
    return all;
}

/* Sorts queries by the length of their lists, longest first, so that those processed together have
 * similar lengths; empty ones are left out. order must have room for 64 more. Returns how many. */
static size_t sort_by_length(uint8_t *order, const rela_prefiltered *b)
{
    enum { STEP = 4 };
    real length[RELA_PREFILTER_QUERIES];
    int32_t have[RELA_PREFILTER_QUERIES] = { 0 }, most = 0;
    size_t n = 0;
    for (size_t i = 0; i < b->m; i++)
        for (size_t w = 0; w < RELA_PREFILTER_WORDS; w++)
            have[i] += __builtin_popcountll(b->bits[i * RELA_PREFILTER_WORDS + w]);
    SIMD_MAX(most)
    for (size_t i = 0; i < RELA_PREFILTER_QUERIES; i++) {
        length[i] = (real)have[i];
        most = have[i] > most ? have[i] : most;
    }
    uint64_t done = 0;
    for (size_t end = rela_round_up((size_t)most, STEP); end > 0; end -= STEP) {
        uint64_t now = 0;
        for (size_t i = 0; i < RELA_PREFILTER_QUERIES; i += LANES)
            now |= (uint64_t)above(length + i, (real)(end - STEP)) << i;
        n += squeeze_bits(order + n, now & ~done, 0);
        done |= now;
    }
    return n;
}

INLINE size_t prefiltered_rows(const rela_prefiltered *b, size_t V)
{
    uint8_t order[RELA_PREFILTER_QUERIES + 64];
    prefiltered l;
    l.b = b;
    size_t all = 0;
    const size_t n = sort_by_length(order, b);
    for (size_t i = 0; i < n; i += LISTS) {
        l.n = n - i < LISTS ? n - i : LISTS;
        for (size_t r = 0; r < LISTS; r++)
            l.row[r] = order[i + r < n ? i + r : n - 1];
        list_keys(&l);
        list_weights(&l, V);
        list_mix(&l, V);
        all += keep_weighty(&l);
    }
    return all;
}

/* The same for any width. */
static size_t prefiltered_wide(const rela_prefiltered *b)
{
    const size_t wide = b->wide;
    size_t all = 0;
    for (size_t i = 0; i < b->m * RELA_PREFILTER_WORDS; i++) {
        const size_t row = i / RELA_PREFILTER_WORDS * wide, first = i % RELA_PREFILTER_WORDS * 64;
        uint64_t kept = b->bits[i];
        for (uint64_t left = b->bits[i]; left; left &= left - 1) {
            const size_t key = (first + (size_t)__builtin_ctzll(left)) * wide;
            const real w = dot(b->q + row, b->keys + key, wide);
            if (w > 0)
                axpy(b->z + row, w * b->scale, b->values + key, wide);
            else
                kept &= ~(left & -left);
        }
        all += (size_t)__builtin_popcountll(kept);
        b->bits[i] = kept;
    }
    return all;
}

static size_t mix_prefiltered(const rela_prefiltered *b)
{
    switch (b->wide / LANES) {
    case 1:
        return prefiltered_rows(b, 1);
    case 2:
        return prefiltered_rows(b, 2);
    case 4:
        return prefiltered_rows(b, 4);
#if VECTORS_MOST >= 8
    case 8:
        return prefiltered_rows(b, 8);
#endif
#if VECTORS_MOST >= 16
    case 16:
        return prefiltered_rows(b, 16);
#endif
    default:
        return prefiltered_wide(b);
    }
}

/* SPDX-License-Identifier: MIT */
/* src/kern/loops_prefilter.h - attention whose weights are max(0, score), where most scores are
 * below 0: an int8 product finds those that may be above, and only they are computed. Part of
 * loops.h.
 *
 * Let a query be a * (Q + e) and a key b * (K + f), with integers Q and K and all elements of e and
 * f at most 1/2 in magnitude. Then score / (a * b) is at most Q.K + |Q| / 2 + |key| / 2b, where |x|
 * is the 1-norm, and |Q| is at most |query| / a + d / 2. Where that is below 0, so is the score.
 * What is added to Q.K is split into a bound for each side, an integer that is rounded up and
 * allows for floating-point rounding of Q, K and scores. So the same weights are zero as if all
 * scores had been computed. */

enum {
    BOUND_ALL = 1 << 29,    /* for rows that cannot be quantised: all scores may be above 0 */
    BOUND_NONE = -(1 << 30) /* for padding after the keys: no score is above 0 */
};

/* Products of larger numbers may overflow, and then the sign depends on the order of the sum. */
#define SCREEN_LARGEST ((real)1e17)

static inline int32_t bound_of(real most, real sizes, real inverse, size_t k)
{
    const double d = (double)k, units = (double)sizes * (double)inverse;
    const double bound = units / 2 * (1.0001 + 1e-5 * d) + d / 8 + 2;
    /* NaN gives BOUND_ALL too. */
    return most < SCREEN_LARGEST && bound < BOUND_ALL ? (int32_t)bound : BOUND_ALL;
}

/* Quantises a row to q (k); returns its bound. */
static inline int32_t prefilter_row(int8_t *q, const real *x, size_t k)
{
    vec tops = { 0 }, sizes = { 0 };
    for (size_t i = 0; i < k; i += LANES) {
        const vec v = *(const vec *)(x + i), size = larger(v, -v);
        tops = larger(size, tops);
        sizes += size;
    }
    const real most = lane_max(tops), inverse = most > 0 ? RELA_BYTE_MOST / most : 0;
    byte_round(q, x, inverse, k);
    return bound_of(most, lane_sum(sizes), inverse, k);
}

static void prefilter_queries(int8_t *q, int32_t *bound, const real *x, size_t m, size_t k)
{
    for (size_t i = 0; i < m; i++)
        bound[i] = prefilter_row(q + i * k, x + i * k, k);
}

/* Stores a quantised key in a panel, without BYTE_OFFSET; returns the sum of its integers, which is
 * only used if there is an offset. Eight at a time: sums of bytes fit in 16 bits. */
static inline int32_t put_key(int8_t *p, const int8_t *row, size_t k)
{
    const uint64_t every = UINT64_C(0x0001000100010001), bytes_8 = every * 0x0101;
    uint64_t sums = 0;
    for (size_t i = 0; i < k; i += 8) {
        int8_t plain[8];
        uint64_t eight = 0;
        memcpy(&eight, row + i, sizeof eight);
        sums += (eight & every * 0xFF) + (eight >> 8 & every * 0xFF);
        eight ^= bytes_8 * BYTE_OFFSET;
        memcpy(plain, &eight, sizeof plain);
        memcpy(p + i * RELA_BYTE_PANEL, plain, 4);
        memcpy(p + (i + 4) * RELA_BYTE_PANEL, plain + 4, 4);
    }
    const uint64_t pairs =
        (sums & UINT64_C(0x0000FFFF0000FFFF)) + (sums >> 16 & UINT64_C(0x0000FFFF0000FFFF));
    return (int32_t)((pairs >> 32) + (pairs & UINT32_MAX)) - BYTE_OFFSET * (int32_t)k;
}

/* With an offset, queries are unsigned and keys signed; the bound of a key corrects for it. */
static void prefilter_keys(int8_t *p, int32_t *bound, const real *x, size_t n, size_t k)
{
    for (size_t j0 = 0; j0 < n; j0 += RELA_BYTE_PANEL, p += RELA_BYTE_PANEL * k) {
        const size_t rows = n - j0 < RELA_BYTE_PANEL ? n - j0 : RELA_BYTE_PANEL;
        for (size_t j = rows; j < RELA_BYTE_PANEL; j++)
            bound[j0 + j] = BOUND_NONE;
        if (rows < RELA_BYTE_PANEL)
            memset(p, 0, RELA_BYTE_PANEL * k);
        for (size_t j = 0; j < rows; j++) {
            int8_t row[RELA_PREFILTER_WIDEST];
            const int32_t own = prefilter_row(row, x + (j0 + j) * k, k);
            bound[j0 + j] = own - BYTE_OFFSET * put_key(p + 4 * j, row, k);
        }
    }
}

enum {
    SCREEN_ROWS = BYTE_ROWS < 8 ? BYTE_ROWS : 8,
    SCREEN_PANELS = BYTE_VECS == 1 ? 2 : 1, /* sums of more would not fit in registers */
    SCREEN_VECTORS = SCREEN_PANELS * BYTE_VECS,
    WORD_PANELS = 64 / RELA_BYTE_PANEL
};

/* R queries against P panels of keys from index panel on; sets bits. */
INLINE void prefilter_block(uint64_t *bits, const rela_prefilter *s, size_t first, size_t panel,
                            size_t R, size_t P)
{
    byte_sums sum[SCREEN_ROWS][SCREEN_VECTORS];
    const size_t k = s->wide, V = P * BYTE_VECS;
    const int8_t *p = s->keys + panel * RELA_BYTE_PANEL * k, *q = s->queries + first * k;
    UNROLL for (size_t j = 0; j < V; j++) UNROLL for (size_t i = 0; i < R; i++) sum[i][j] =
        *(const byte_sums *)(s->key_bound + panel * RELA_BYTE_PANEL + j * BYTE_COLS);
    for (size_t t = 0; t < k; t += 4) {
        byte_weights w[SCREEN_VECTORS];
        UNROLL for (size_t j = 0; j < V; j++) w[j] = byte_load(
            p + (j / BYTE_VECS * k + t) * RELA_BYTE_PANEL + j % BYTE_VECS * 4 * BYTE_COLS);
        UNROLL for (size_t i = 0; i < R; i++)
        {
            const byte_row x = byte_spread(q + i * k + t);
            UNROLL for (size_t j = 0; j < V; j++) sum[i][j] = byte_dot(sum[i][j], x, w[j]);
        }
    }
    UNROLL for (size_t i = 0; i < R; i++) UNROLL for (size_t j = 0; j < V; j++) bits[i] |=
        (uint64_t)byte_from(sum[i][j], -s->query_bound[first + i])
        << (panel % WORD_PANELS * RELA_BYTE_PANEL + j * BYTE_COLS);
}

/* R queries against all keys. */
INLINE void prefilter_rows(const rela_prefilter *s, size_t first, size_t R)
{
    const size_t panels = rela_byte_rows(s->n) / RELA_BYTE_PANEL;
    for (size_t word = 0; word < RELA_PREFILTER_WORDS; word++) {
        uint64_t bits[SCREEN_ROWS] = { 0 };
        size_t panel = word * WORD_PANELS, end = panel + WORD_PANELS;
        end = end < panels ? end : panels;
        for (; panel + SCREEN_PANELS <= end; panel += SCREEN_PANELS)
            prefilter_block(bits, s, first, panel, R, SCREEN_PANELS);
        for (; panel < end; panel++)
            prefilter_block(bits, s, first, panel, R, 1);
        for (size_t i = 0; i < R; i++)
            s->bits[(first + i) * RELA_PREFILTER_WORDS + word] = bits[i];
    }
}

static void prefilter(const rela_prefilter *s)
{
    size_t i = 0;
#ifdef LEVEL_TILES
    i = prefilter_tiles(s);
#endif
    for (; i + SCREEN_ROWS <= s->m; i += SCREEN_ROWS)
        prefilter_rows(s, i, SCREEN_ROWS);
    for (; i < s->m; i++)
        prefilter_rows(s, i, 1);
}

static void drop_bits(uint64_t *bits, size_t m, const rela_drop *drop, uint32_t step)
{
    const rela_drop d = *drop;
    for (size_t i = 0; i < m * RELA_PREFILTER_WORDS; i++) {
        const uint32_t first = d.first + (uint32_t)(i / RELA_PREFILTER_WORDS) * step +
                               (uint32_t)(i % RELA_PREFILTER_WORDS) * 64;
        real left[64];
        SIMD for (size_t j = 0; j < 64; j++) left[j] = drop_factor(&d, first + (uint32_t)j);
        bits[i] &= bits_above(left, 64);
    }
}

/* One step of a recursive bit transpose: in each group of 2 j bits, swaps the high j bits of word i
 * with the low j bits of word i + j. */
static inline void turn_step(uint64_t *x, size_t j, uint64_t low)
{
    for (size_t i0 = 0; i0 < 64; i0 += 2 * j)
        SIMD for (size_t i = i0; i < i0 + j; i++)
        {
            const uint64_t differ = (x[i] >> j ^ x[i + j]) & low;
            x[i + j] ^= differ;
            x[i] ^= differ << j;
        }
}

#ifndef LEVEL_LANES
static inline void turn_near(uint64_t *x)
{
    turn_step(x, 4, UINT64_C(0x0F0F0F0F0F0F0F0F));
    turn_step(x, 2, UINT64_C(0x3333333333333333));
    turn_step(x, 1, UINT64_C(0x5555555555555555));
}
#endif

/* Transposes a 64 x 64 bit matrix in place. */
static inline void turn_bits(uint64_t *x)
{
    turn_step(x, 32, UINT64_C(0x00000000FFFFFFFF));
    turn_step(x, 16, UINT64_C(0x0000FFFF0000FFFF));
    turn_step(x, 8, UINT64_C(0x00FF00FF00FF00FF));
    turn_near(x);
}

/* n bits, at most 64, starting at bit at. */
static inline uint64_t some_bits(const uint64_t *bits, size_t at, size_t n)
{
    const uint64_t *from = bits + at / 64;
    const size_t skip = at % 64;
    uint64_t some = from[0] >> skip;
    if (skip + n > 64)
        some |= from[1] << (64 - skip);
    return n < 64 ? some & ((UINT64_C(1) << n) - 1) : some;
}

static void transpose_mask(uint64_t *looks, const uint64_t *bits, size_t m, size_t step)
{
    memset(looks, 0, RELA_PREFILTER_KEYS * sizeof *looks);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < step; j += 64)
            looks[j + i] = some_bits(bits, i * step + j, step - j < 64 ? step - j : 64);
    for (size_t j = 0; j < step; j += 64)
        turn_bits(looks + j);
}

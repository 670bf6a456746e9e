/* SPDX-License-Identifier: MIT */
/* src/kern/x86/tiles_amx.h - int8 products with tiles of 16 x 64 bytes (AMX).
 *
 * The layout of a panel of 16 columns, packed in fours, is that of a column of tiles. Sums are
 * integers and exact, so results have the same bits as those of the vector code, which handles the
 * rest: fewer than 16 rows, and depths that are not a multiple of the tile size. */

/* Tile configuration: sums in tiles 0 to 3, rows in 4 and 5, panels in the others. */
typedef struct tile_shapes {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} __attribute__((aligned(64))) tile_shapes;

enum { TILE_ROWS = 16, TILE_BYTES = 64, TILE_SUMS = 16 };

/* For rows and panels of this depth in bytes, a multiple of 16 up to 64. */
static inline void tiles_begin(size_t bytes)
{
    tile_shapes s = { .palette = 1 };
    for (int i = 0; i < 8; i++) {
        s.rows[i] = i < 6 ? TILE_ROWS : (uint8_t)(bytes / 4);
        s.row_bytes[i] = i == 4 || i == 5 ? (uint16_t)bytes : TILE_BYTES;
    }
    _tile_loadconfig(&s);
}

static inline void tiles_end(void)
{
    _tile_release(); /* context switches then need not save tiles */
}

typedef struct tile_sums {
    int32_t row[TILE_ROWS][TILE_SUMS];
} __attribute__((aligned(64))) tile_sums;

static inline void tile_store(const byte_block *g, const tile_sums *sums, size_t row, size_t column)
{
    for (size_t i = 0; i < TILE_ROWS; i++)
        byte_store(g->c + (row + i) * g->ldc + column, *(const byte_sums *)sums->row[i],
                   g->rows[row + i], g->scale + column, g->bias + column);
}

/* 16 or 32 rows by 16 or 32 columns. */
INLINE void tile_product(const byte_block *g, bool rows_2, bool panels_2)
{
    const size_t k = 4 * g->steps;
    int32_t start[2][TILE_SUMS];
    tile_sums sums[4];
    for (size_t j = 0; j < (panels_2 ? 2 : 1) * TILE_SUMS; j++)
        start[j / TILE_SUMS][j % TILE_SUMS] = g->sums[j] * -BYTE_OFFSET;
    __asm__ volatile("" : : "r"(start) : "memory"); /* compilers do not see that tiles read it */
    _tile_loadd(0, start[0], 0);                    /* stride 0: the same in every row */
    if (panels_2)
        _tile_loadd(1, start[1], 0);
    if (rows_2)
        _tile_loadd(2, start[0], 0);
    if (rows_2 && panels_2)
        _tile_loadd(3, start[1], 0);
    for (size_t t = 0; t < k; t += TILE_BYTES) {
        const int8_t *p = g->p + t * RELA_BYTE_PANEL;
        _tile_loadd(4, g->q + t, g->ldq);
        _tile_loadd(6, p, TILE_BYTES);
        _tile_dpbusd(0, 4, 6);
        if (panels_2) {
            _tile_loadd(7, p + k * RELA_BYTE_PANEL, TILE_BYTES);
            _tile_dpbusd(1, 4, 7);
        }
        if (rows_2) {
            _tile_loadd(5, g->q + TILE_ROWS * g->ldq + t, g->ldq);
            _tile_dpbusd(2, 5, 6);
        }
        if (rows_2 && panels_2)
            _tile_dpbusd(3, 5, 7);
    }
    _tile_stored(0, &sums[0], TILE_BYTES);
    tile_store(g, &sums[0], 0, 0);
    if (panels_2) {
        _tile_stored(1, &sums[1], TILE_BYTES);
        tile_store(g, &sums[1], 0, TILE_SUMS);
    }
    if (rows_2) {
        _tile_stored(2, &sums[2], TILE_BYTES);
        tile_store(g, &sums[2], TILE_ROWS, 0);
    }
    if (rows_2 && panels_2) {
        _tile_stored(3, &sums[3], TILE_BYTES);
        tile_store(g, &sums[3], TILE_ROWS, TILE_SUMS);
    }
}

/* The first m rows and n columns of packed_bytes; m and n are multiples of 16, k of 64. */
static void tile_bytes(const byte_block *all, size_t m, size_t n)
{
    tiles_begin(TILE_BYTES);
    for (size_t j = 0; j < n; j += 2 * RELA_BYTE_PANEL)
        for (size_t i = 0; i < m; i += 2 * TILE_ROWS) {
            const byte_block g = byte_block_at(all, i, j);
            const bool rows_2 = i + TILE_ROWS < m, panels_2 = j + RELA_BYTE_PANEL < n;
            if (rows_2 && panels_2)
                tile_product(&g, true, true);
            else if (rows_2)
                tile_product(&g, true, false);
            else if (panels_2)
                tile_product(&g, false, true);
            else
                tile_product(&g, false, false);
        }
    tiles_end();
}

static inline bool tiles_fit(size_t bytes)
{
    return bytes % TILE_BYTES == 0 || (bytes < TILE_BYTES && bytes % TILE_ROWS == 0);
}

/* 16 queries against up to four panels of keys: bits of the scores that may be above 0. */
static inline void prefilter_tile(uint64_t *bits, const rela_prefilter *s, size_t first,
                                  size_t panel, size_t panels)
{
    tile_sums sums[4];
    const size_t k = s->wide, size = RELA_BYTE_PANEL * k;
    const int8_t *q = s->queries + first * k, *p = s->keys + panel * size;
    const int32_t *bound = s->key_bound + panel * RELA_BYTE_PANEL;
    _tile_loadd(0, bound, 0);
    _tile_loadd(1, bound + (panels > 1) * RELA_BYTE_PANEL, 0);
    _tile_loadd(2, bound + (panels > 2) * 2 * RELA_BYTE_PANEL, 0);
    _tile_loadd(3, bound + (panels > 3) * 3 * RELA_BYTE_PANEL, 0);
    for (size_t t = 0; t < k; t += TILE_BYTES) {
        const int8_t *at = p + t * RELA_BYTE_PANEL;
        _tile_loadd(4, q + t, k);
        _tile_loadd(6, at, TILE_BYTES);
        _tile_dpbusd(0, 4, 6);
        if (panels > 1) {
            _tile_loadd(7, at + size, TILE_BYTES);
            _tile_dpbusd(1, 4, 7);
        }
        if (panels > 2) {
            _tile_loadd(6, at + 2 * size, TILE_BYTES);
            _tile_dpbusd(2, 4, 6);
        }
        if (panels > 3) {
            _tile_loadd(7, at + 3 * size, TILE_BYTES);
            _tile_dpbusd(3, 4, 7);
        }
    }
    _tile_stored(0, &sums[0], TILE_BYTES);
    _tile_stored(1, &sums[1], TILE_BYTES);
    _tile_stored(2, &sums[2], TILE_BYTES);
    _tile_stored(3, &sums[3], TILE_BYTES);
    const uint64_t there = ~UINT64_C(0) >> (64 - panels * RELA_BYTE_PANEL);
    for (size_t i = 0; i < TILE_ROWS; i++) {
        const __m512i least = _mm512_set1_epi32(-s->query_bound[first + i]);
        const __mmask16 m0 = _mm512_cmpge_epi32_mask(_mm512_load_si512(sums[0].row[i]), least);
        const __mmask16 m1 = _mm512_cmpge_epi32_mask(_mm512_load_si512(sums[1].row[i]), least);
        const __mmask16 m2 = _mm512_cmpge_epi32_mask(_mm512_load_si512(sums[2].row[i]), least);
        const __mmask16 m3 = _mm512_cmpge_epi32_mask(_mm512_load_si512(sums[3].row[i]), least);
        const __mmask32 low = _mm512_kunpackw(m1, m0), high = _mm512_kunpackw(m3, m2);
        bits[i * RELA_PREFILTER_WORDS] = _cvtmask64_u64(_mm512_kunpackd(high, low)) & there;
    }
}

/* Returns how many queries are done, a multiple of 16. */
static size_t prefilter_tiles(const rela_prefilter *s)
{
    const size_t panels = rela_byte_rows(s->n) / RELA_BYTE_PANEL;
    const size_t rows = tiles_fit(s->wide) ? s->m / TILE_ROWS * TILE_ROWS : 0;
    if (rows == 0)
        return 0;
    tiles_begin(s->wide < TILE_BYTES ? s->wide : TILE_BYTES);
    for (size_t word = 0; word < RELA_PREFILTER_WORDS; word++) {
        const size_t first = word * 4, left = panels > first ? panels - first : 0;
        for (size_t i = 0; i < rows; i += TILE_ROWS) {
            uint64_t *bits = s->bits + i * RELA_PREFILTER_WORDS + word;
            if (left)
                prefilter_tile(bits, s, i, first, left < 4 ? left : 4);
            for (size_t r = 0; !left && r < TILE_ROWS; r++)
                bits[r * RELA_PREFILTER_WORDS] = 0;
        }
    }
    tiles_end();
    return rows;
}

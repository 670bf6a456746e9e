/* SPDX-License-Identifier: MIT */
/* src/kern/loops_bytes.h - int8 products for decoding. Part of loops.h.
 *
 * Sums are integers and exact, and rounding afterwards happens in the same steps at every level, so
 * all levels give the same bits as a plain loop. A level with suitable instructions defines
 * BYTE_ROWS and, before loops.h, the few operations that have a portable version here. */

#ifndef BYTE_ROWS
#define BYTE_ROWS       1     /* rows whose sums fit in registers */
#define BYTE_OFFSET     0     /* added to the bytes of rows, to make them unsigned */
#define BYTE_PREFILTERS false /* see prefilters of kern.h */

enum { BYTE_COLS = 4 }; /* columns of a vector of sums */

typedef int32_t byte_sums __attribute__((vector_size(16), aligned(4), may_alias));
typedef const int8_t *byte_weights; /* (BYTE_COLS, 4) */
typedef const int8_t *byte_row;     /* (4) */

static inline byte_weights byte_load(const int8_t *w)
{
    return w;
}

static inline byte_row byte_spread(const int8_t *q)
{
    return q;
}

/* Adds four products to each column. */
static inline byte_sums byte_dot(byte_sums sums, byte_row q, byte_weights w)
{
    for (size_t j = 0; j < BYTE_COLS; j++)
        sums[j] +=
            q[0] * w[4 * j] + q[1] * w[4 * j + 1] + q[2] * w[4 * j + 2] + q[3] * w[4 * j + 3];
    return sums;
}

/* Bit i is set if sum i is at least least. */
static inline uint32_t byte_from(byte_sums sums, int32_t least)
{
    uint32_t lanes = 0;
    for (size_t j = 0; j < BYTE_COLS; j++)
        lanes |= (uint32_t)(sums[j] >= least) << j;
    return lanes;
}

/* c = sums * (scale * row) + bias, rounded after each step. */
static inline void byte_store(real *c, byte_sums sums, real row, const real *scale,
                              const real *bias)
{
    for (size_t j = 0; j < BYTE_COLS; j++) {
        const volatile real y = (real)sums[j] * (scale[j] * row); /* no fused multiply-add */
        c[j] = y + bias[j];
    }
}

/* x * inverse rounded to the nearest integer, halves to even. */
static inline void byte_round(int8_t *q, const real *x, real inverse, size_t n)
{
    for (size_t i = 0; i < n; i++)
        q[i] = (int8_t)lrint((double)(x[i] * inverse));
}
#endif

enum { BYTE_VECS = RELA_BYTE_PANEL / BYTE_COLS, BYTE_PANELS_MOST = 8, BYTE_THIRDS = 4 };

#ifdef RELA_REAL_IS_DOUBLE
typedef int64_t real_bits;
#define SIZE_BITS INT64_MAX
#else
typedef int32_t real_bits;
#define SIZE_BITS INT32_MAX
#endif

#ifndef LEVEL_LANES
/* The bit pattern of the largest magnitude among n numbers. */
static inline real_bits largest_bits(const real *x, size_t n)
{
    real_bits most = 0;
    SIMD_TEXT(omp simd reduction(max : most))
    for (size_t i = 0; i < n; i++) {
        real_bits size;
        memcpy(&size, x + i, sizeof size);
        size &= SIZE_BITS;
        most = size > most ? size : most;
    }
    return most;
}
#endif

/* The largest magnitude; NaN if a number is not finite, which int8 could not represent. Bit
 * patterns are compared as integers: those of infinity and NaN are the largest. */
static inline real largest_size(const real *x, size_t n)
{
    const real_bits most = largest_bits(x, n);
    real largest;
    memcpy(&largest, &most, sizeof largest);
    return largest + 0 * largest; /* infinity becomes NaN */
}

/* The factor that maps the largest magnitude to RELA_BYTE_MOST; 0 if it is too large for a float or
 * the row is not finite. */
static inline real byte_inverse(real most)
{
    const real inverse = RELA_BYTE_MOST / most;
    return inverse < (real)INFINITY ? inverse : 0;
}

static void bytes(int8_t *q, size_t ldq, real *scale, const real *a, size_t lda, size_t m, size_t k)
{
    const real top = RELA_BYTE_MOST;
    for (size_t i = 0; i < m; i++) {
        const real most = largest_size(a + i * lda, k);
        scale[i] = most / top;
        byte_round(q + i * ldq, a + i * lda, byte_inverse(most), k);
        if (ldq > k)
            memset(q + i * ldq + k, 0, ldq - k);
    }
}

static void pack_bytes(int8_t *p, real *scale, int32_t *sums, const real *w, size_t ldw, size_t n,
                       size_t k)
{
    const size_t steps = (k + 3) / 4,
                 whole = n + (RELA_BYTE_PANEL - n % RELA_BYTE_PANEL) % RELA_BYTE_PANEL;
    const real top = RELA_BYTE_MOST;
    memset(p, 0, whole * steps * 4);
    memset(scale, 0, whole * sizeof *scale);
    memset(sums, 0, whole * sizeof *sums);
    for (size_t j = 0; j < n; j++) {
        int8_t *to =
            p + j / RELA_BYTE_PANEL * RELA_BYTE_PANEL * steps * 4 + j % RELA_BYTE_PANEL * 4;
        const real most = largest_size(w + j * ldw, k), inverse = byte_inverse(most);
        scale[j] = most / top;
        for (size_t i = 0; i < k; i++) {
            const int8_t x = (int8_t)lrint((double)(w[j * ldw + i] * inverse));
            to[i / 4 * 4 * RELA_BYTE_PANEL + i % 4] = x;
            sums[j] += x;
        }
    }
}

/* Gathers the groups of four first, so that the conversion is vectorised. */
static void unpack_bytes(real *y, const int8_t *p, const real *scale, size_t j, size_t k)
{
    enum { PART = 64 };
    const size_t steps = (k + 3) / 4;
    const real times = scale[j];
    p += j / RELA_BYTE_PANEL * RELA_BYTE_PANEL * steps * 4 + j % RELA_BYTE_PANEL * 4;
    for (size_t first = 0; first < k; first += PART) {
        const size_t n = k - first < PART ? k - first : PART;
        int8_t part[PART];
        for (size_t i = 0; i < n; i += 4, p += 4 * (size_t)RELA_BYTE_PANEL)
            memcpy(part + i, p, 4);
        SIMD for (size_t i = 0; i < n; i++) y[first + i] = (real)part[i] * times;
    }
}

/* Row by row: the groups of four of a row are one cache line apart, so the lines of a panel are
 * read in order, which the hardware prefetches. */
static void pick_bytes(int8_t *p, real *scale, int32_t *sums, const rela_bytes *w,
                       const uint32_t *at, size_t n, size_t k)
{
    const size_t steps = (k + 3) / 4, step = 4 * (size_t)RELA_BYTE_PANEL, panel = step * steps;
    const size_t last = n % RELA_BYTE_PANEL ? n / RELA_BYTE_PANEL : SIZE_MAX;
    for (size_t j = 0; j < n; j++) {
        const size_t row = at[j], to = j / RELA_BYTE_PANEL;
        const int8_t *from = w->p + row / RELA_BYTE_PANEL * panel + row % RELA_BYTE_PANEL * 4;
        int8_t *place = p + to * panel + j % RELA_BYTE_PANEL * 4;
        if (to == last && j % RELA_BYTE_PANEL == 0) {
            memset(p + to * panel, 0, panel);
            memset(scale + j, 0, RELA_BYTE_PANEL * sizeof *scale);
            memset(sums + j, 0, RELA_BYTE_PANEL * sizeof *sums);
        }
        for (size_t t = 0; t < panel; t += step)
            memcpy(place + t, from + t, 4);
        scale[j] = w->scale[row];
        sums[j] = w->sums[row];
    }
}

typedef struct byte_block {
    real *c;
    const int8_t *q, *p;
    const real *rows, *scale, *bias; /* scale and bias: of the first column */
    const int32_t *sums;
    size_t ldc, ldq, steps; /* steps: k / 4, rounded up */
} byte_block;

/* The block that starts at this row and column, which must be the first of a panel. all->bias may
 * be NULL; the result has zeros instead. */
static inline byte_block byte_block_at(const byte_block *all, size_t row, size_t column)
{
    static const real NONE[BYTE_PANELS_MOST * RELA_BYTE_PANEL];
    byte_block g = *all;
    g.c += row * g.ldc + column;
    g.q += row * g.ldq;
    g.p += column * g.steps * 4;
    g.rows += row;
    g.scale += column;
    g.bias = g.bias ? g.bias + column : NONE;
    g.sums += column;
    return g;
}

#ifdef LEVEL_TILES
#include LEVEL_TILES
#endif

/* R rows by V vectors in registers; rows are addressed as in packed_rows. */
INLINE void byte_rows(const byte_block *g, size_t R, size_t V)
{
    byte_sums sum[BYTE_ROWS][BYTE_PANELS_MOST * BYTE_VECS];
    const size_t steps = g->steps, ldq = g->ldq, ldc = g->ldc;
    const int8_t *p = g->p, *thirds[BYTE_THIRDS] = { g->q };
    UNROLL for (size_t i = 1; 3 * i < R; i++) thirds[i] = thirds[i - 1] + 3 * ldq;
    UNROLL for (size_t j = 0; j < V; j++)
    {
        const byte_sums start = *(const byte_sums *)(g->sums + j * BYTE_COLS) * -BYTE_OFFSET;
        UNROLL for (size_t i = 0; i < R; i++) sum[i][j] = start;
    }
    for (size_t t = 0; t < steps; t++, p += 4 * RELA_BYTE_PANEL) {
        byte_weights w[BYTE_PANELS_MOST * BYTE_VECS];
        UNROLL for (size_t j = 0; j < V; j++) w[j] = byte_load(
            p + j / BYTE_VECS * steps * 4 * RELA_BYTE_PANEL + j % BYTE_VECS * 4 * BYTE_COLS);
        UNROLL for (size_t i = 0; i < R; i++)
        {
            const byte_row x = byte_spread(thirds[i / 3] + i % 3 * ldq);
            UNROLL for (size_t j = 0; j < V; j++) sum[i][j] = byte_dot(sum[i][j], x, w[j]);
        }
        UNROLL for (size_t i = 0; 3 * i < R; i++) thirds[i] += 4;
    }
    const real *const rows = g->rows, *const scale = g->scale, *const bias = g->bias;
    real *c = g->c;
    UNROLL for (size_t i = 0; i < R; i++, c += ldc) UNROLL for (size_t j = 0; j < V; j++)
        byte_store(c + j * BYTE_COLS, sum[i][j], rows[i], scale + j * BYTE_COLS,
                   bias + j * BYTE_COLS);
}

#define BYTE_BLOCK(rows_, panels_)                                                                 \
    static void bytes_##rows_##x##panels_(const byte_block *g)                                     \
    {                                                                                              \
        byte_rows(g, rows_, (panels_)*BYTE_VECS);                                                  \
    }

typedef void byte_run(const byte_block *g);

BYTE_BLOCK(1, 1)
#if BYTE_ROWS == 4
BYTE_BLOCK(1, 2)
#endif
#if BYTE_ROWS >= 4
BYTE_BLOCK(2, 1)
BYTE_BLOCK(3, 1)
BYTE_BLOCK(4, 1)
#endif
#if BYTE_ROWS == 6
BYTE_BLOCK(1, 4)
BYTE_BLOCK(2, 2)
BYTE_BLOCK(3, 2)
#endif
#if BYTE_ROWS >= 6
BYTE_BLOCK(5, 1)
BYTE_BLOCK(6, 1)
#endif
#if BYTE_ROWS >= 12
BYTE_BLOCK(1, 8)
BYTE_BLOCK(2, 4)
BYTE_BLOCK(3, 4)
BYTE_BLOCK(4, 4)
BYTE_BLOCK(5, 2)
BYTE_BLOCK(6, 2)
BYTE_BLOCK(7, 2)
BYTE_BLOCK(8, 2)
BYTE_BLOCK(9, 2)
BYTE_BLOCK(10, 2)
BYTE_BLOCK(11, 2)
BYTE_BLOCK(12, 2)
BYTE_BLOCK(7, 1)
BYTE_BLOCK(8, 1)
BYTE_BLOCK(9, 1)
BYTE_BLOCK(10, 1)
BYTE_BLOCK(11, 1)
BYTE_BLOCK(12, 1)
#endif

/* By number of rows: the function for one panel, and the one for several panels at once. */
static const struct byte_runs {
    byte_run *one, *wide;
    size_t panels;
} BYTE_RUNS[BYTE_ROWS + 1] = {
#if BYTE_ROWS >= 12
    [1] = { bytes_1x1, bytes_1x8, 8 },    [2] = { bytes_2x1, bytes_2x4, 4 },
    [3] = { bytes_3x1, bytes_3x4, 4 },    [4] = { bytes_4x1, bytes_4x4, 4 },
    [5] = { bytes_5x1, bytes_5x2, 2 },    [6] = { bytes_6x1, bytes_6x2, 2 },
    [7] = { bytes_7x1, bytes_7x2, 2 },    [8] = { bytes_8x1, bytes_8x2, 2 },
    [9] = { bytes_9x1, bytes_9x2, 2 },    [10] = { bytes_10x1, bytes_10x2, 2 },
    [11] = { bytes_11x1, bytes_11x2, 2 }, [12] = { bytes_12x1, bytes_12x2, 2 },
#elif BYTE_ROWS == 6
    [1] = { bytes_1x1, bytes_1x4, 4 }, [2] = { bytes_2x1, bytes_2x2, 2 },
    [3] = { bytes_3x1, bytes_3x2, 2 }, [4] = { bytes_4x1, bytes_4x1, 1 },
    [5] = { bytes_5x1, bytes_5x1, 1 }, [6] = { bytes_6x1, bytes_6x1, 1 },
#elif BYTE_ROWS == 4
    [1] = { bytes_1x1, bytes_1x2, 2 },
    [2] = { bytes_2x1, bytes_2x1, 1 },
    [3] = { bytes_3x1, bytes_3x1, 1 },
    [4] = { bytes_4x1, bytes_4x1, 1 },
#else
    [1] = { bytes_1x1, bytes_1x1, 1 },
#endif
};

/* The last panel, of which only n columns exist. */
static void bytes_last(const byte_block *g, size_t rows, size_t n)
{
    real c[BYTE_ROWS * RELA_BYTE_PANEL], bias[RELA_BYTE_PANEL] = { 0 };
    byte_block b = *g;
    b.c = c;
    b.ldc = RELA_BYTE_PANEL;
    b.bias = bias;
    memcpy(bias, g->bias, n * sizeof *bias);
    BYTE_RUNS[rows].one(&b);
    for (size_t i = 0; i < rows; i++)
        memcpy(g->c + i * g->ldc, c + i * RELA_BYTE_PANEL, n * sizeof *c);
}

/* Several panels, one after the other: for blocks with fewer rows than their neighbours. */
static void bytes_narrow(const byte_block *g, size_t rows, size_t panels)
{
    for (size_t i = 0; i < panels; i++) {
        const byte_block b = byte_block_at(g, 0, i * RELA_BYTE_PANEL);
        BYTE_RUNS[rows].one(&b);
    }
}

static void rectify(real *c, size_t ldc, size_t m, size_t n)
{
    for (size_t i = 0; i < m; i++)
        SIMD for (size_t j = 0; j < n; j++) c[i * ldc + j] = relu_of(c[i * ldc + j]);
}

/* Rows [row, m) and columns [column, n) of the product, with vector code. */
static void bytes_part(const byte_block *all, size_t row, size_t m, size_t column, size_t n)
{
    const size_t rows = m - row, blocks = (rows + BYTE_ROWS - 1) / BYTE_ROWS;
    for (size_t j = column, take = 0; j < n && blocks; j += take) {
        size_t panels = BYTE_RUNS[(rows + blocks - 1) / blocks].panels;
        if (j + panels * RELA_BYTE_PANEL > n)
            panels = 1;
        take = panels * RELA_BYTE_PANEL;
        for (size_t b = 0; b < blocks; b++) { /* blocks of about equal height */
            const size_t first = rows * b / blocks, height = rows * (b + 1) / blocks - first;
            const byte_block g = byte_block_at(all, row + first, j);
            if (j + take > n)
                bytes_last(&g, height, n - j);
            else if (panels == BYTE_RUNS[height].panels)
                BYTE_RUNS[height].wide(&g);
            else
                bytes_narrow(&g, height, panels);
        }
    }
}

static void packed_bytes(real *c, size_t ldc, const int8_t *q, size_t ldq, const real *rows,
                         const rela_bytes *w, const real *bias, size_t m, size_t n, size_t k,
                         bool with_relu)
{
    const byte_block all = { .c = c,
                             .q = q,
                             .p = w->p,
                             .rows = rows,
                             .scale = w->scale,
                             .bias = bias,
                             .sums = w->sums,
                             .ldc = ldc,
                             .ldq = ldq,
                             .steps = (k + 3) / 4 };
    size_t below = 0, beside = 0; /* rows and columns done with tiles */
#ifdef LEVEL_TILES
    if (k % TILE_BYTES == 0) {
        below = m / TILE_ROWS * TILE_ROWS;
        beside = n / RELA_BYTE_PANEL * RELA_BYTE_PANEL;
        if (below && beside)
            tile_bytes(&all, below, beside);
    }
#endif
    bytes_part(&all, 0, below, beside, n);
    bytes_part(&all, below, m, 0, n);
    if (with_relu)
        rectify(c, ldc, m, n);
}

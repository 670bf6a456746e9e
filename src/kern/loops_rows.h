/* SPDX-License-Identifier: MIT */
/* src/kern/loops_rows.h - the loops of decoding: products with packed weights, attention over
 * cached rows. Part of loops.h.
 *
 * Every element of a result is summed in a fixed order, whatever the number of rows: a sentence
 * gives the same bits alone and in a batch. */

/* ---- products with packed weights ---- */

enum {
    PANEL = 2 * LANES, /* columns stored side by side */
    FETCH_FROM = 6     /* with this many blocks there is time to prefetch the next panel */
};

/* n rows as a zero-padded panel. In tiles of one cache line: rows are often a power of two apart,
 * so all rows of a panel together would compete for the same few cache sets. */
static void pack_panel(real *restrict p, const real *const *rows, size_t n, size_t k)
{
    enum { TILE = 64 / sizeof(real) };
    if (n < PANEL)
        memset(p, 0, k * PANEL * sizeof *p);
    for (size_t i0 = 0; i0 < k; i0 += TILE)
        for (size_t j = 0; j < n; j++) {
            const size_t i1 = i0 + TILE < k ? i0 + TILE : k;
            for (size_t i = i0; i < i1; i++)
                p[i * PANEL + j] = rows[j][i];
        }
}

#ifdef LEVEL_LANES
/* The same for a depth of whole tiles. */
static void pack_tiles(real *restrict p, const real *const *rows, size_t n, size_t k)
{
    static const real NONE[LANES];
    for (size_t i0 = 0; i0 < k; i0 += LANES)
        for (size_t j = 0; j < PANEL; j += LANES) {
            const real *from[LANES];
            for (size_t r = 0; r < LANES; r++)
                from[r] = j + r < n ? rows[j + r] + i0 : NONE;
            turn_lanes(p + i0 * PANEL + j, PANEL, from);
        }
}
#endif

static void pack_at(real *restrict p, const real *restrict w, size_t ldw, const uint32_t *at,
                    size_t n, size_t k)
{
    for (size_t j0 = 0; j0 < n; j0 += PANEL, p += k * PANEL) {
        const size_t nr = n - j0 < PANEL ? n - j0 : PANEL;
        const real *rows[PANEL] = { NULL };
        for (size_t j = 0; j < nr; j++)
            rows[j] = w + (at ? at[j0 + j] : j0 + j) * ldw;
#ifdef LEVEL_LANES
        if (k % LANES == 0) {
            pack_tiles(p, rows, nr, k);
            continue;
        }
#endif
        pack_panel(p, rows, nr, k);
    }
}

static void pack(real *restrict p, const real *restrict w, size_t ldw, size_t n, size_t k)
{
    pack_at(p, w, ldw, NULL, n, k);
}

static void unpack(real *restrict y, const real *restrict p, size_t j, size_t k)
{
    p += rela_panel_at(j, 0, k, PANEL);
    for (size_t i = 0; i < k; i++)
        y[i] = p[i * PANEL];
}

static void pick(real *restrict p, const real *restrict w, const uint32_t *at, size_t n, size_t k)
{
    if (n % PANEL)
        memset(p + n / PANEL * PANEL * k, 0, k * PANEL * sizeof *p);
    for (size_t j = 0; j < n; j++) {
        real *to = p + rela_panel_at(j, 0, k, PANEL);
        const real *from = w + rela_panel_at(at[j], 0, k, PANEL);
        for (size_t i = 0; i < k; i++)
            to[i * PANEL] = from[i * PANEL];
    }
}

enum { MOST_VECTORS = 8 };

typedef struct packed_block {
    real *c;
    const real *a, *p, *bias; /* bias of the first column, or NULL */
    size_t ldc, lda, k;
    bool relu;
} packed_block;

/* Adds the bias to the sums of R rows by V vectors, rectifies if asked, and stores them. */
INLINE void packed_finish(const packed_block *g, vec sum[][MOST_VECTORS], size_t R, size_t V)
{
    if (g->bias)
        UNROLL for (size_t j = 0; j < V; j++)
        {
            const vec bias = *(const vec *)(g->bias + j * LANES);
            UNROLL for (size_t i = 0; i < R; i++) sum[i][j] += bias;
        }
    if (g->relu)
        UNROLL for (size_t i = 0; i < R; i++) UNROLL for (size_t j = 0; j < V; j++) sum[i][j] =
            (vec)((vec_mask)sum[i][j] & ~(sum[i][j] <= (vec){ 0 })); /* NaN stays */
    const size_t ldc = g->ldc;
    real *c = g->c;
    UNROLL for (size_t i = 0; i < R; i++, c += ldc) UNROLL for (size_t j = 0; j < V; j++) *
        (vec *)(c + j * LANES) = sum[i][j];
}

/* R rows by V vectors, two per panel, in registers: few rows take several panels at once to hide
 * the latency of the multiply-add. Rows are addressed relative to every third one, as there are not
 * enough registers for all their addresses. */
INLINE void packed_rows(const packed_block *g, size_t R, size_t V)
{
    vec sum[ROWS_MOST][MOST_VECTORS];
    const size_t lda = g->lda, k = g->k;
    const real *p = g->p, *thirds[ROWS_MOST / 3] = { g->a };
    UNROLL for (size_t i = 1; 3 * i < R; i++) thirds[i] = thirds[i - 1] + 3 * lda;
    UNROLL for (size_t i = 0; i < R; i++) UNROLL for (size_t j = 0; j < V; j++) sum[i][j] =
        (vec){ 0 };
    for (size_t t = 0; t < k; t++, p += PANEL) {
        vec row[MOST_VECTORS];
        UNROLL for (size_t j = 0; j < V; j++) row[j] =
            *(const vec *)(p + j / 2 * k * PANEL + j % 2 * LANES);
        UNROLL for (size_t i = 0; i < R; i++)
        {
            const real x = thirds[i / 3][i % 3 * lda];
            UNROLL for (size_t j = 0; j < V; j++) sum[i][j] += x * row[j];
        }
        UNROLL for (size_t i = 0; 3 * i < R; i++) thirds[i]++;
    }
    packed_finish(g, sum, R, V);
}

#define PACKED_BLOCK(rows_, panels_)                                                               \
    static void packed_##rows_##x##panels_(const packed_block *g)                                  \
    {                                                                                              \
        packed_rows(g, rows_, 2 * (panels_));                                                      \
    }

PACKED_BLOCK(1, 4)
PACKED_BLOCK(1, 1)
PACKED_BLOCK(2, 2)
PACKED_BLOCK(2, 1)
PACKED_BLOCK(3, 2)
PACKED_BLOCK(3, 1)
PACKED_BLOCK(4, 1)
PACKED_BLOCK(5, 1)
PACKED_BLOCK(6, 1)
#if REGISTERS == 32
PACKED_BLOCK(4, 2)
PACKED_BLOCK(5, 2)
PACKED_BLOCK(6, 2)
PACKED_BLOCK(7, 1)
PACKED_BLOCK(8, 1)
PACKED_BLOCK(9, 1)
PACKED_BLOCK(10, 1)
PACKED_BLOCK(11, 1)
PACKED_BLOCK(12, 1)
#endif

typedef void packed_run(const packed_block *g);

/* For one panel, by number of rows. */
static packed_run *const PACKED[ROWS_MOST + 1] = {
    NULL,       packed_1x1, packed_2x1, packed_3x1,  packed_4x1,  packed_5x1,  packed_6x1,
#if REGISTERS == 32
    packed_7x1, packed_8x1, packed_9x1, packed_10x1, packed_11x1, packed_12x1,
#endif
};

/* For several panels at once. */
static const struct packed_wide {
    packed_run *run;
    size_t panels;
} PACKED_WIDE[ROWS_MOST + 1] = {
    [1] = { packed_1x4, 4 }, [2] = { packed_2x2, 2 }, [3] = { packed_3x2, 2 },
#if REGISTERS == 32
    [4] = { packed_4x2, 2 }, [5] = { packed_5x2, 2 }, [6] = { packed_6x2, 2 },
#endif
};

/* The last panel, of which only n columns exist. */
static void packed_last(const packed_block *g, size_t rows, size_t n)
{
    real c[ROWS_MOST * PANEL], bias[PANEL] = { 0 };
    packed_block b = *g;
    b.c = c;
    b.ldc = PANEL;
    if (g->bias) {
        memcpy(bias, g->bias, n * sizeof *bias);
        b.bias = bias;
    }
    PACKED[rows](&b);
    for (size_t i = 0; i < rows; i++)
        memcpy(g->c + i * g->ldc, c + i * PANEL, n * sizeof *c);
}

/* Prefetches part b of the next panel to the L2 cache while this one is used. */
static inline void fetch(const real *next, size_t size, size_t b, size_t blocks)
{
    enum { LINE = 64 / sizeof(real) };
    const size_t end = size * (b + 1) / blocks;
    for (size_t i = size * b / blocks; i < end; i += LINE)
        __builtin_prefetch(next + i, 0, 2);
}

static void packed(real *c, size_t ldc, const real *a, size_t lda, const real *p, const real *bias,
                   size_t m, size_t n, size_t k, bool with_relu)
{
    const size_t blocks = (m + ROWS_MOST - 1) / ROWS_MOST;
    const size_t wide = blocks == 1 ? PACKED_WIDE[m].panels : 0;
    size_t j = 0;
    for (; wide && j + wide * PANEL <= n; j += wide * PANEL) {
        const packed_block g = {
            c + j, a, p + j * k, bias ? bias + j : NULL, ldc, lda, k, with_relu
        };
        PACKED_WIDE[m].run(&g);
    }
    for (; j < n; j += PANEL)
        for (size_t b = 0; b < blocks; b++) { /* blocks of about equal height */
            if (blocks >= FETCH_FROM && j + PANEL < n)
                fetch(p + (j + PANEL) * k, PANEL * k, b, blocks);
            const size_t first = m * b / blocks, rows = m * (b + 1) / blocks - first;
            const packed_block g = { c + first * ldc + j,
                                     a + first * lda,
                                     p + j * k,
                                     bias ? bias + j : NULL,
                                     ldc,
                                     lda,
                                     k,
                                     with_relu };
            if (j + PANEL <= n)
                PACKED[rows](&g);
            else
                packed_last(&g, rows, n - j);
        }
}

/* ---- attention of one query over scattered rows ---- */

/* One head whose width is a whole number of vectors. */
static inline void gather_head(real *s, const real *q, const real *keys, size_t ld,
                               const uint32_t *at, size_t n, size_t d_head)
{
    for (size_t j = 0; j < n; j++) {
        const real *key = keys + at[j] * ld;
        vec sum = *(const vec *)q * *(const vec *)key;
        for (size_t c = LANES; c < d_head; c += LANES)
            sum += *(const vec *)(q + c) * *(const vec *)(key + c);
        s[j] = lane_sum(sum);
    }
}

static void gather_scores(real *s, size_t lds, const real *q, const real *keys, size_t ld,
                          const uint32_t *at, size_t n, size_t heads, size_t d_head)
{
    for (size_t h = 0; h < heads; h++) {
        const real *query = q + h * d_head, *key = keys + h * d_head;
        if (d_head % LANES == 0)
            gather_head(s + h * lds, query, key, ld, at, n, d_head);
        else
            for (size_t j = 0; j < n; j++)
                s[h * lds + j] = dot(query, key + at[j] * ld, d_head);
    }
}

/* Rows whose weight is not zero, and their weights. */
typedef struct gathered {
    uint32_t row[RELA_FEW_MOST];
    real w[RELA_FEW_MOST];
    size_t n;
} gathered;

/* z (V vectors) += weights times rows of values. */
INLINE void gather_block(real *z, const gathered *g, const real *values, size_t ld, size_t V)
{
    vec sum[4];
    UNROLL for (size_t c = 0; c < V; c++) sum[c] = *(const vec *)(z + c * LANES);
    for (size_t p = 0; p < g->n; p++)
        UNROLL for (size_t c = 0; c < V; c++) sum[c] +=
            g->w[p] * *(const vec *)(values + g->row[p] * ld + c * LANES);
    UNROLL for (size_t c = 0; c < V; c++) * (vec *)(z + c * LANES) = sum[c];
}

static void gather_some(real *z, const gathered *g, const real *values, size_t ld, size_t d_head)
{
    size_t c = 0;
    for (; c + 4 * LANES <= d_head; c += 4 * LANES)
        gather_block(z + c, g, values + c, ld, 4);
    for (; c + 2 * LANES <= d_head; c += 2 * LANES)
        gather_block(z + c, g, values + c, ld, 2);
    for (; c + LANES <= d_head; c += LANES)
        gather_block(z + c, g, values + c, ld, 1);
    for (size_t p = 0; c < d_head && p < g->n; p++)
        axpy(z + c, g->w[p], values + g->row[p] * ld + c, d_head - c);
}

/* Rows without weight are not read. */
static void gather_mix(real *z, const real *w, size_t ldw, const real *values, size_t ld,
                       const uint32_t *at, size_t n, size_t heads, size_t d_head)
{
    gathered g;
    memset(z, 0, heads * d_head * sizeof *z);
    for (size_t h = 0; h < heads; h++)
        for (size_t first = 0; first < n; first += RELA_FEW_MOST) {
            const size_t end = n - first < RELA_FEW_MOST ? n : first + RELA_FEW_MOST;
            g.n = 0;
            for (size_t j = first; j < end; j++) { /* a branch would be unpredictable */
                const real x = w[h * ldw + j];
                g.row[g.n] = at[j];
                g.w[g.n] = x;
                g.n += !(x <= 0 && x >= 0);
            }
            gather_some(z + h * d_head, &g, values + h * d_head, ld, d_head);
        }
}

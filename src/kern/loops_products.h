/* SPDX-License-Identifier: MIT */
/* src/kern/loops_products.h - small matrix products, transposed and scaled copies. Part of loops.h.
 */

/* ---- small products ---- */

/* Once inlined, R and V are constants, so the loops over them can be unrolled. */
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")

enum { ROWS_MOST = REGISTERS == 32 ? 12 : 6 }; /* by two vectors: sums that fit in registers */

/* A block of R rows by V vectors, kept in registers for all of k. */
INLINE void mm_block(real *c, size_t ldc, const real *a, size_t a_row, size_t a_col, const real *b,
                     size_t ldb, size_t k, bool add, size_t R, size_t V)
{
    vec sum[ROWS_MOST][4];
    UNROLL for (size_t i = 0; i < R; i++) UNROLL for (size_t j = 0; j < V; j++) sum[i][j] =
        add ? *(const vec *)(c + i * ldc + j * LANES) : (vec){ 0 };
    for (size_t p = 0; p < k; p++) {
        vec row[4];
        UNROLL for (size_t j = 0; j < V; j++) row[j] = *(const vec *)(b + p * ldb + j * LANES);
        UNROLL for (size_t i = 0; i < R; i++)
        {
            const real x = a[i * a_row + p * a_col];
            UNROLL for (size_t j = 0; j < V; j++) sum[i][j] += x * row[j];
        }
    }
    UNROLL for (size_t i = 0; i < R; i++) UNROLL for (size_t j = 0; j < V; j++) *
        (vec *)(c + i * ldc + j * LANES) = sum[i][j];
}

/* V vectors of columns, all rows. */
INLINE void mm_columns(real *c, size_t ldc, const real *a, size_t a_row, size_t a_col,
                       const real *b, size_t ldb, size_t m, size_t k, bool add, size_t V)
{
    enum { HALF = ROWS_MOST / 2 };
    size_t i = 0;
    for (; V <= 2 && i + ROWS_MOST <= m; i += ROWS_MOST)
        mm_block(c + i * ldc, ldc, a + i * a_row, a_row, a_col, b, ldb, k, add, ROWS_MOST, V);
    for (; i + HALF <= m && (REGISTERS == 32 ? m - i != 8 : (m - i) % 4 != 0); i += HALF)
        mm_block(c + i * ldc, ldc, a + i * a_row, a_row, a_col, b, ldb, k, add, HALF, V);
    for (; i + 4 <= m; i += 4) /* the minimum that keeps the multipliers busy */
        mm_block(c + i * ldc, ldc, a + i * a_row, a_row, a_col, b, ldb, k, add, 4, V);
    for (; i + 2 <= m; i += 2)
        mm_block(c + i * ldc, ldc, a + i * a_row, a_row, a_col, b, ldb, k, add, 2, V);
    for (; i < m; i++)
        mm_block(c + i * ldc, ldc, a + i * a_row, a_row, a_col, b, ldb, k, add, 1, V);
}

/* The last columns, fewer than a vector: sums in the same order as above. */
static void mm_tail(real *c, size_t ldc, const real *a, size_t a_row, size_t a_col, const real *b,
                    size_t ldb, size_t m, size_t n, size_t k, bool add)
{
    for (size_t i = 0; i < m; i++) {
        real sum[LANES];
        for (size_t j = 0; j < n; j++)
            sum[j] = add ? c[i * ldc + j] : 0;
        for (size_t p = 0; p < k; p++) {
            const real x = a[i * a_row + p * a_col];
            for (size_t j = 0; j < n; j++)
                sum[j] += x * b[p * ldb + j];
        }
        for (size_t j = 0; j < n; j++)
            c[i * ldc + j] = sum[j];
    }
}

static void mm(real *c, size_t ldc, const real *a, size_t a_row, size_t a_col, const real *b,
               size_t ldb, size_t m, size_t n, size_t k, bool add)
{
    size_t j = 0;
    for (; ROWS_MOST > 6 && j + 4 * LANES <= n; j += 4 * LANES) /* reads a less often */
        mm_columns(c + j, ldc, a, a_row, a_col, b + j, ldb, m, k, add, 4);
    for (; j + 2 * LANES <= n; j += 2 * LANES)
        mm_columns(c + j, ldc, a, a_row, a_col, b + j, ldb, m, k, add, 2);
    for (; j + LANES <= n; j += LANES)
        mm_columns(c + j, ldc, a, a_row, a_col, b + j, ldb, m, k, add, 1);
    if (j < n)
        mm_tail(c + j, ldc, a, a_row, a_col, b + j, ldb, m, n - j, k, add);
}

static void transpose(real *restrict y, size_t ldy, const real *restrict x, size_t ldx, size_t rows,
                      size_t n)
{
    enum { BLOCK = 16 };
    for (size_t i0 = 0; i0 < rows; i0 += BLOCK)
        for (size_t j0 = 0; j0 < n; j0 += BLOCK) {
            const size_t i1 = i0 + BLOCK < rows ? i0 + BLOCK : rows;
            const size_t j1 = j0 + BLOCK < n ? j0 + BLOCK : n;
            for (size_t j = j0; j < j1; j++)
                for (size_t i = i0; i < i1; i++)
                    y[j * ldy + i] = x[i * ldx + j];
        }
}

static void scale_rows(real *restrict to, size_t ldt, const real *restrict from, size_t ldf,
                       size_t rows, size_t n, size_t wide, const real *factor, size_t step)
{
    const size_t whole = n / LANES * LANES;
    for (size_t r = 0; r < rows; r++, to += ldt, from += ldf, factor += step) {
        const real times = *factor;
        for (size_t i = 0; i < whole; i += LANES)
            *(vec *)(to + i) = *(const vec *)(from + i) * times;
        for (size_t i = whole; i < n; i++)
            to[i] = from[i] * times;
        for (size_t i = n; i < wide; i++)
            to[i] = 0;
    }
}

/* SPDX-License-Identifier: MIT */
/* src/kern/loops_sparse.h - attention whose weights are mostly zero; part of loops.h.
 *
 * Only weights that are not zero are processed. Sums run over the keys, or the queries, in the same
 * order as those of mm, one chain per result, and adding zero times a number changes nothing: so
 * mix_few gives the same bits as mm. */

/* Widths of heads up to this many vectors have specialised loops. */
#ifndef VECTORS_MOST
#define VECTORS_MOST (VECTOR_BYTES == 64 ? 4 : 8)
#endif

/* Indices of the weights of a row that are not zero. */
typedef uint32_t places[RELA_FEW_MOST + 2 * LANES];

#ifndef LEVEL_LANES
/* Writes the indices, counted from first, of the lanes of x that are not zero; returns how many. */
static inline size_t squeeze_lanes(uint32_t *at, const real *x, uint32_t first)
{
    size_t have = 0;
    for (uint32_t i = 0; i < LANES; i++) { /* a branch would be unpredictable */
        at[have] = first + i;
        have += x[i] < 0 || x[i] > 0;
    }
    return have;
}
#endif

INLINE size_t squeeze(uint32_t *at, const real *x, size_t n)
{
    size_t have = 0;
    for (size_t i = 0; i < n; i += LANES)
        have += squeeze_lanes(at + have, x + i, (uint32_t)i);
    return have;
}

/* Pads a list with the first index whose weight is zero; there is one if another list is longer. */
INLINE void fill_up(uint32_t *at, size_t have, size_t most)
{
    uint32_t zero = 0;
    while (zero < have && at[zero] == zero)
        zero++;
    for (size_t p = have; p < most; p += LANES)
        UNROLL for (size_t i = 0; i < LANES; i++) at[p + i] = zero;
}

/* z (R rows of V vectors) += the listed weights of w (R, n) times values, for lists of one length.
 * Rows are interleaved to hide the latency of the sums. */
INLINE void mix_block(real *z, const real *w, size_t n, places *at, size_t length,
                      const real *values, size_t wide, size_t R, size_t V)
{
    vec sum[4][4];
    UNROLL for (size_t r = 0; r < R; r++) UNROLL for (size_t c = 0; c < V; c++) sum[r][c] =
        *(vec *)(z + r * wide + c * LANES);
    for (size_t p = 0; p < length; p++)
        UNROLL for (size_t r = 0; r < R; r++)
        {
            const real *row = values + at[r][p] * wide, x = w[r * n + at[r][p]];
            UNROLL for (size_t c = 0; c < V; c++) sum[r][c] += x * *(const vec *)(row + c * LANES);
        }
    UNROLL for (size_t r = 0; r < R; r++) UNROLL for (size_t c = 0; c < V; c++) *
        (vec *)(z + r * wide + c * LANES) = sum[r][c];
}

/* R rows. Short lists are padded: one loop end is easier to predict than R. */
INLINE void mix_rows(real *z, const real *w, size_t n, const real *values, size_t wide, size_t R)
{
    places at[4];
    size_t have[4], most = 0;
    UNROLL for (size_t r = 0; r < R; r++)
    {
        have[r] = squeeze(at[r], w + r * n, n);
        most = have[r] > most ? have[r] : most;
    }
    UNROLL for (size_t r = 0; r < R; r++) fill_up(at[r], have[r], most);
    size_t c = 0;
    for (; c + 4 * LANES <= wide; c += 4 * LANES)
        mix_block(z + c, w, n, at, most, values + c, wide, R, 4);
    for (; c + 2 * LANES <= wide; c += 2 * LANES)
        mix_block(z + c, w, n, at, most, values + c, wide, R, 2);
    for (; c < wide; c += LANES)
        mix_block(z + c, w, n, at, most, values + c, wide, R, 1);
}

/* All rows, R at once. */
INLINE void mix_all(real *z, const real *w, size_t rows, size_t n, const real *values, size_t wide,
                    size_t R)
{
    size_t i = 0;
    for (; i + R <= rows; i += R)
        mix_rows(z + i * wide, w + i * n, n, values, wide, R);
    for (; i < rows; i++)
        mix_rows(z + i * wide, w + i * n, n, values, wide, 1);
}

/* Common widths are compile-time constants. */
static void mix_few(real *z, const real *w, size_t rows, size_t n, const real *values, size_t wide)
{
    if (wide == 8 * LANES)
        mix_all(z, w, rows, n, values, 8 * LANES, 3);
    else if (wide == 4 * LANES)
        mix_all(z, w, rows, n, values, 4 * LANES, 3);
    else if (wide == 2 * LANES)
        mix_all(z, w, rows, n, values, 2 * LANES, 4);
    else
        mix_all(z, w, rows, n, values, wide, 4);
}

/* Bit i is set if x[i] is above 0; n is at most 64. */
static inline uint64_t bits_above(const real *x, size_t n)
{
#ifdef LEVEL_ABOVE_64
    if (n == 64)
        return above_64(x);
#endif
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i += LANES)
        bits |= (uint64_t)above(x + i, 0) << i;
    return bits;
}

static size_t count_above(const real *x, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i += 64)
        count += (size_t)__builtin_popcountll(bits_above(x + i, n - i < 64 ? n - i : 64));
    return count;
}

static size_t note_above(uint64_t *bits, const real *x, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i += 64) {
        bits[i / 64] = bits_above(x + i, n - i < 64 ? n - i : 64);
        count += (size_t)__builtin_popcountll(bits[i / 64]);
    }
    return count;
}

/* Keys and values of V vectors each, kept in registers during the loop over the queries that attend
 * to them. again: weights are recomputed. */
INLINE void rectified_keys(const rela_rectified *b, size_t V, bool again)
{
    const size_t wide = V * LANES;
    const real *const q = b->q, *const dz = b->dz, scale_by = b->scale;
    real *const dq = b->dq;
    for (size_t j = 0; j < b->n; j++) {
        const real *w = again ? NULL : b->w + j * b->queries;
        uint64_t bits = again ? b->looks[j] : bits_above(w, b->queries);
        if (!bits)
            continue;
        vec key[VECTORS_MOST], scaled_key[VECTORS_MOST], scaled_value[VECTORS_MOST];
        vec dkey[VECTORS_MOST], dvalue[VECTORS_MOST];
        UNROLL for (size_t c = 0; c < V; c++)
        {
            const size_t at = c * LANES;
            key[c] = *(const vec *)(b->keys + j * wide + at);
            scaled_key[c] = key[c] * scale_by;
            scaled_value[c] = *(const vec *)(b->values + j * b->ldv + at) * scale_by;
            dkey[c] = *(const vec *)(b->dkeys + j * b->ldk + at);
            dvalue[c] = *(const vec *)(b->dvalues + j * b->ldv + at);
        }
        for (; bits; bits &= bits - 1) {
            const size_t i = (size_t)__builtin_ctzll(bits), row = i * wide;
            vec query[VECTORS_MOST], d[VECTORS_MOST], along[2] = { { 0 }, { 0 } };
            UNROLL for (size_t c = 0; c < V; c++)
            {
                query[c] = *(const vec *)(q + row + c * LANES);
                d[c] = *(const vec *)(dz + row + c * LANES);
                along[0] += d[c] * scaled_value[c];
                along[1] += query[c] * scaled_key[c];
            }
            real sums[2];
            two_sums(sums, along[0], along[1]);
            const real ds = sums[0], x = again ? sums[1] : w[i];
            UNROLL for (size_t c = 0; c < V; c++)
            {
                dvalue[c] += x * d[c];
                dkey[c] += ds * query[c];
                *(vec *)(dq + row + c * LANES) += ds * key[c];
            }
        }
        UNROLL for (size_t c = 0; c < V; c++)
        {
            *(vec *)(b->dkeys + j * b->ldk + c * LANES) = dkey[c];
            *(vec *)(b->dvalues + j * b->ldv + c * LANES) = dvalue[c];
        }
    }
}

/* The same for any width. */
static void rectified_wide(const rela_rectified *b)
{
    const size_t wide = b->wide;
    for (size_t j = 0; j < b->n; j++) {
        const real *w = b->w ? b->w + j * b->queries : NULL, *key = b->keys + j * wide;
        uint64_t bits = w ? bits_above(w, b->queries) : b->looks[j];
        for (; bits; bits &= bits - 1) {
            const size_t i = (size_t)__builtin_ctzll(bits);
            const real *dz = b->dz + i * wide, *q = b->q + i * wide;
            axpy(b->dvalues + j * b->ldv, w ? w[i] : dot(q, key, wide) * b->scale, dz, wide);
            const real ds = dot(dz, b->values + j * b->ldv, wide) * b->scale;
            axpy(b->dkeys + j * b->ldk, ds, q, wide);
            axpy(b->dq + i * wide, ds, key, wide);
        }
    }
}

INLINE void rectified_columns(const rela_rectified *b, size_t V)
{
    if (b->w)
        rectified_keys(b, V, false);
    else
        rectified_keys(b, V, true);
}

static void rectified_back(const rela_rectified *b)
{
    switch (b->wide / LANES) {
    case 1:
        rectified_columns(b, 1);
        break;
    case 2:
        rectified_columns(b, 2);
        break;
    case 4:
        rectified_columns(b, 4);
        break;
#if VECTORS_MOST >= 8
    case 8:
        rectified_columns(b, 8);
        break;
#endif
#if VECTORS_MOST >= 16
    case 16:
        rectified_columns(b, 16);
        break;
#endif
    default:
        rectified_wide(b);
    }
}

static void dropout_across(real *y, size_t n, size_t queries, const rela_drop *drop, uint32_t step)
{
    const rela_drop d = *drop;
    for (size_t j = 0; j < n; j++)
        SIMD for (size_t i = 0; i < queries; i++) y[j * queries + i] *=
            drop_factor(&d, d.first + (uint32_t)i * step + (uint32_t)j);
}

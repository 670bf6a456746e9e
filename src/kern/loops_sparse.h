/* SPDX-License-Identifier: MIT */
/* src/kern/loops_sparse.h - attention whose weights are mostly zero; part of loops.h.
 *
 * Only weights that are not zero are touched. Sums run over the keys, or the queries, in the same
 * order as those of mm, one chain for each result, and adding zero times a number changes nothing:
 * so mix_few gives the bits of mm. */

#ifndef LEVEL_SQUEEZE
/* Numbers, from first on, of the lanes of x that are not zero, side by side in at. */
static inline size_t squeeze_lanes(uint32_t *at, const real *x, uint32_t first)
{
    size_t have = 0;
    for (uint32_t i = 0; i < LANES; i++) { /* no branch: nobody could predict it */
        at[have] = first + i;
        have += x[i] < 0 || x[i] > 0;
    }
    return have;
}
#endif

static size_t squeeze(uint32_t *restrict at, const real *restrict x, size_t n)
{
    size_t have = 0;
    for (size_t i = 0; i < n; i += LANES)
        have += squeeze_lanes(at + have, x + i, (uint32_t)i);
    return have;
}

static size_t count_above(const real *x, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i += LANES)
        count += (size_t)__builtin_popcount(above(x + i, 0));
    return count;
}

/* sum (V vectors) += the values of place p of a row of weights. */
INLINE void mix_place(vec *sum, const real *w, const uint32_t *at, size_t p, const real *values,
                      size_t wide, size_t V)
{
    const real x = w[at[p]], *row = values + at[p] * wide;
    UNROLL for (size_t c = 0; c < V; c++) sum[c] += x * *(const vec *)(row + c * LANES);
}

/* R rows by V vectors. The rows take turns, so that the sums of one do not wait for each other. */
INLINE void mix_block(real *z, const rela_few *f, size_t i, const real *values, size_t wide,
                      size_t R, size_t V)
{
    const real *const w = f->w + i * f->ldw;
    const uint32_t *const at = f->at + i * f->ld, *const count = f->count + i;
    const size_t ldw = f->ldw, ld = f->ld;
    vec sum[4][4];
    size_t least = count[0];
    UNROLL for (size_t r = 0; r < R; r++)
    {
        least = count[r] < least ? count[r] : least;
        UNROLL for (size_t c = 0; c < V; c++) sum[r][c] = *(vec *)(z + r * wide + c * LANES);
    }
    for (size_t p = 0; p < least; p++)
        UNROLL for (size_t r = 0; r < R; r++)
            mix_place(sum[r], w + r * ldw, at + r * ld, p, values, wide, V);
    UNROLL for (size_t r = 0; r < R; r++)
    {
        for (size_t p = least; p < count[r]; p++)
            mix_place(sum[r], w + r * ldw, at + r * ld, p, values, wide, V);
        UNROLL for (size_t c = 0; c < V; c++) * (vec *)(z + r * wide + c * LANES) = sum[r][c];
    }
}

INLINE void mix_columns(real *z, const rela_few *f, const real *values, size_t wide, size_t V)
{
    size_t i = 0;
    for (; i + 4 <= f->rows; i += 4)
        mix_block(z + i * wide, f, i, values, wide, 4, V);
    for (; i < f->rows; i++)
        mix_block(z + i * wide, f, i, values, wide, 1, V);
}

static void mix_few(real *z, const rela_few *f, const real *values, size_t wide)
{
    size_t c = 0;
    for (; c + 4 * LANES <= wide; c += 4 * LANES)
        mix_columns(z + c, f, values + c, wide, 4);
    for (; c + 2 * LANES <= wide; c += 2 * LANES)
        mix_columns(z + c, f, values + c, wide, 2);
    for (; c < wide; c += LANES)
        mix_columns(z + c, f, values + c, wide, 1);
}

/* Bit i is set if query i gives weight to this key. */
static inline uint64_t who_looks(const real *w, size_t queries)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < queries; i += LANES)
        bits |= (uint64_t)above(w + i, 0) << i;
    return bits;
}

/* Keys and values of V vectors each, kept in registers while the queries that look at them pass. */
INLINE void rectified_keys(const rela_rectified *b, size_t V)
{
    const size_t wide = V * LANES;
    const real *const q = b->q, *const dz = b->dz, scale_by = b->scale;
    real *const dq = b->dq;
    for (size_t j = 0; j < b->n; j++) {
        const real *w = b->w + j * b->queries;
        uint64_t bits = who_looks(w, b->queries);
        if (!bits)
            continue;
        vec key[4], value[4], dkey[4], dvalue[4];
        UNROLL for (size_t c = 0; c < V; c++)
        {
            const size_t at = j * wide + c * LANES;
            key[c] = *(const vec *)(b->keys + at);
            value[c] = *(const vec *)(b->values + at);
            dkey[c] = *(const vec *)(b->dkeys + at);
            dvalue[c] = *(const vec *)(b->dvalues + at);
        }
        for (; bits; bits &= bits - 1) {
            const size_t i = (size_t)__builtin_ctzll(bits), row = i * wide;
            const real x = w[i];
            vec along[2] = { { 0 }, { 0 } };
            UNROLL for (size_t c = 0; c < V; c++)
            {
                const vec d = *(const vec *)(dz + row + c * LANES);
                dvalue[c] += x * d;
                along[c % 2] += d * value[c];
            }
            const real ds = lane_sum(along[0] + along[1]) * scale_by;
            UNROLL for (size_t c = 0; c < V; c++)
            {
                dkey[c] += ds * *(const vec *)(q + row + c * LANES);
                *(vec *)(dq + row + c * LANES) += ds * key[c];
            }
        }
        UNROLL for (size_t c = 0; c < V; c++)
        {
            const size_t at = j * wide + c * LANES;
            *(vec *)(b->dkeys + at) = dkey[c];
            *(vec *)(b->dvalues + at) = dvalue[c];
        }
    }
}

/* The same for any width. */
static void rectified_wide(const rela_rectified *b)
{
    const size_t wide = b->wide;
    for (size_t j = 0; j < b->n; j++) {
        const real *w = b->w + j * b->queries, *key = b->keys + j * wide;
        for (uint64_t bits = who_looks(w, b->queries); bits; bits &= bits - 1) {
            const size_t i = (size_t)__builtin_ctzll(bits);
            const real *dz = b->dz + i * wide;
            axpy(b->dvalues + j * wide, w[i], dz, wide);
            const real ds = dot(dz, b->values + j * wide, wide) * b->scale;
            axpy(b->dkeys + j * wide, ds, b->q + i * wide, wide);
            axpy(b->dq + i * wide, ds, key, wide);
        }
    }
}

static void rectified_back(const rela_rectified *b)
{
    switch (b->wide / LANES) {
    case 1:
        rectified_keys(b, 1);
        break;
    case 2:
        rectified_keys(b, 2);
        break;
    case 4:
        rectified_keys(b, 4);
        break;
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

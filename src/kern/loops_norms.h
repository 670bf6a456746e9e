/* SPDX-License-Identifier: MIT */
/* src/kern/loops_norms.h - LayerNorm of residual sums, norms of the attention output. Part of
 * loops.h. */

/* ---- residual sum and LayerNorm ---- */

/* r = x + dropout(a + b); returns the sum of r. */
static inline real residual_row(real *r, const real *x, const real *a, const real *b, size_t d,
                                const rela_drop *drop, uint32_t first)
{
    real sum = 0;
    if (drop->threshold == 0) {
        SIMD_SUM(sum)
        for (size_t i = 0; i < d; i++) {
            const real v = (x ? x[i] : 0) + a[i] + (b ? b[i] : 0);
            r[i] = v;
            sum += v;
        }
    } else {
        const rela_drop k = *drop;
        SIMD_SUM(sum)
        for (size_t i = 0; i < d; i++) {
            const real v = (a[i] + (b ? b[i] : 0)) * drop_factor(&k, first + (uint32_t)i);
            r[i] = (x ? x[i] : 0) + v;
            sum += r[i];
        }
    }
    return sum;
}

static void residual_norm(real *y, real *r, rela_norm_stats *stats, const real *x, const real *a,
                          const real *b, const real *gain, const real *offset, size_t rows,
                          size_t d, real eps, const rela_drop *drop)
{
    for (size_t t = 0; t < rows; t++) {
        real *rr = r + t * d, *yy = y + t * d;
        const real sum = residual_row(rr, x ? x + t * d : NULL, a + t * d, b, d, drop,
                                      drop->first + (uint32_t)(t * d));
        const real mean = sum / (real)d;
        real var = 0;
        SIMD_SUM(var)
        for (size_t i = 0; i < d; i++)
            var += (rr[i] - mean) * (rr[i] - mean);
        const real rstd = inverse_root(var / (real)d, eps);
        SIMD for (size_t i = 0; i < d; i++) yy[i] = gain[i] * ((rr[i] - mean) * rstd) + offset[i];
        stats[t] = (rela_norm_stats){ mean, rstd };
    }
}

static void residual_norm_back(real *dr, real *da, real *dgain, real *doffset, real *dbias,
                               const real *dy, const real *extra, const real *r,
                               const rela_norm_stats *stats, const real *gain, size_t rows,
                               size_t d, const rela_drop *drop)
{
    const rela_drop k = *drop;
    for (size_t t = 0; t < rows; t++) {
        const real *dyy = dy + t * d, *rr = r + t * d;
        const real mean = stats[t].mean, rstd = stats[t].rstd;
        real sum = 0, along = 0; /* become the means of gain*dy and of gain*dy*xhat */
        SIMD_TEXT(omp simd reduction(+ : sum, along))
        for (size_t i = 0; i < d; i++) {
            const real xhat = (rr[i] - mean) * rstd;
            const real g = gain[i] * dyy[i];
            dgain[i] += dyy[i] * xhat;
            doffset[i] += dyy[i];
            sum += g;
            along += g * xhat;
        }
        sum /= (real)d;
        along /= (real)d;
        real *drr = dr + t * d;
        const real *more = extra ? extra + t * d : NULL;
        SIMD for (size_t i = 0; i < d; i++)
        {
            const real xhat = (rr[i] - mean) * rstd;
            drr[i] = rstd * (gain[i] * dyy[i] - sum - xhat * along) + (more ? more[i] : 0);
        }
        if (!da)
            continue;
        real *daa = da + t * d;
        const uint32_t first = k.first + (uint32_t)(t * d);
        if (k.threshold == 0) {
            memcpy(daa, drr, d * sizeof *daa);
        } else {
            SIMD for (size_t i = 0; i < d; i++) daa[i] =
                drr[i] * drop_factor(&k, first + (uint32_t)i);
        }
        if (dbias)
            axpy(dbias, 1, daa, d);
    }
}

/* ---- norms of the attention output ---- */

typedef struct moments {
    real mean, rstd;
} moments;

static inline moments row_moments(const real *z, size_t n, real eps, bool center)
{
    real sum = 0, squares = 0;
    if (center) {
        SIMD_SUM(sum)
        for (size_t i = 0; i < n; i++)
            sum += z[i];
        sum /= (real)n;
    }
    SIMD_SUM(squares)
    for (size_t i = 0; i < n; i++)
        squares += (z[i] - sum) * (z[i] - sum);
    return (moments){ sum, inverse_root(squares / (real)n, eps) };
}

static void gated_norm(real *y, const real *z, const real *gain, const real *gate, size_t rows,
                       size_t d, size_t groups, real eps, bool center)
{
    const size_t n = d / groups;
    for (size_t t = 0; t < rows * groups; t++) {
        const real *zz = z + t * n, *g = gain + t % groups * n;
        real *yy = y + t * n;
        const moments m = row_moments(zz, n, eps, center);
        if (gate) {
            const real *u = gate + t % groups * n;
            SIMD for (size_t i = 0; i < n; i++) yy[i] =
                g[i] * ((zz[i] - m.mean) * m.rstd) * sigmoid(u[i] * zz[i]);
        } else {
            SIMD for (size_t i = 0; i < n; i++) yy[i] = g[i] * ((zz[i] - m.mean) * m.rstd);
        }
    }
}

/* With a = gain * s(gate*z), y = a * zhat: dzhat = dy * a; the backward pass of the norm turns it
 * into dz, to which the gate adds dy * gain * zhat * s' * gate. */
static void gated_norm_back(real *dz, real *dgain, real *dgate, const real *dy, const real *z,
                            const real *gain, const real *gate, size_t rows, size_t d,
                            size_t groups, real eps, bool center)
{
    const size_t n = d / groups;
    for (size_t t = 0; t < rows * groups; t++) {
        const size_t at = t % groups * n;
        const real *zz = z + t * n, *dyy = dy + t * n, *g = gain + at;
        real *dzz = dz + t * n, *dg = dgain + at;
        const moments m = row_moments(zz, n, eps, center);
        real sum = 0, along = 0;
        if (gate) {
            const real *u = gate + at;
            real *du = dgate + at;
            SIMD_TEXT(omp simd reduction(+ : sum, along))
            for (size_t i = 0; i < n; i++) {
                const real zhat = (zz[i] - m.mean) * m.rstd;
                const real s = sigmoid(u[i] * zz[i]);
                const real through = dyy[i] * g[i] * zhat * s * (1 - s);
                dg[i] += dyy[i] * zhat * s;
                du[i] += through * zz[i];
                const real dzhat = dyy[i] * g[i] * s;
                sum += dzhat;
                along += dzhat * zhat;
            }
        } else {
            SIMD_TEXT(omp simd reduction(+ : sum, along))
            for (size_t i = 0; i < n; i++) {
                const real zhat = (zz[i] - m.mean) * m.rstd;
                dg[i] += dyy[i] * zhat;
                sum += dyy[i] * g[i];
                along += dyy[i] * g[i] * zhat;
            }
        }
        sum = center ? sum / (real)n : 0;
        along /= (real)n;
        if (gate) {
            const real *u = gate + at;
            SIMD for (size_t i = 0; i < n; i++)
            {
                const real zhat = (zz[i] - m.mean) * m.rstd;
                const real s = sigmoid(u[i] * zz[i]);
                dzz[i] = m.rstd * (dyy[i] * g[i] * s - sum - zhat * along) +
                         dyy[i] * g[i] * zhat * s * (1 - s) * u[i];
            }
        } else {
            SIMD for (size_t i = 0; i < n; i++)
            {
                const real zhat = (zz[i] - m.mean) * m.rstd;
                dzz[i] = m.rstd * (dyy[i] * g[i] - sum - zhat * along);
            }
        }
    }
}

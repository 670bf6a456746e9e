/* SPDX-License-Identifier: MIT */
/* src/kern/loops_select.h - the sum of the exponentials of many logits, and the top k of them. Part
 * of loops.h. */

/* Sum of exp(z - base) and the largest z, in one pass. With base the largest z, the sum is NaN if
 * any z is NaN or INFINITY, or if all are -INFINITY. */
static inline real exp_pass(double *sum, const real *z, size_t n, real base)
{
    enum { TWO = 2 * LANES };
    real part[TWO] = { 0 }, high[TWO], y[TWO];
    for (size_t l = 0; l < TWO; l++)
        high[l] = z[0];
    size_t i = 0;
    for (; i + TWO <= n; i += TWO) {
        SIMD for (size_t l = 0; l < TWO; l++)
        {
            high[l] = rmax(z[i + l], high[l]);
            const real x = z[i + l] - base;
            y[l] = x < -87 ? -87 : x;
        }
        SIMD for (size_t l = 0; l < TWO; l++) part[l] += exp_within(y[l] > 88 ? 88 : y[l]);
    }
    for (size_t half = LANES; half > 0; half /= 2)
        for (size_t l = 0; l < half; l++)
            high[l] = rmax(high[l + half], high[l]);
    real most = high[0];
    *sum = (double)(lane_sum(*(const vec *)part) + lane_sum(*(const vec *)(part + LANES)));
    for (; i < n; i++) {
        most = rmax(z[i], most);
        *sum += (double)fast_exp(z[i] - base);
    }
    return most;
}

static real exp_sum(rela_exp_sum *total, const real *z, size_t n)
{
    const real far = 40; /* z up to this far above the base still sum well in float */
    double sum = 0;
    const bool first = total->sum <= 0;
    real most = first ? row_max(z, n) : exp_pass(&sum, z, n, total->base);
    if (first || most > total->base + far) {
        total->sum *= first ? 0 : exp((double)total->base - (double)most);
        total->base = most;
        most = exp_pass(&sum, z, n, most);
    }
    total->sum += sum;
    return most;
}

static inline size_t top_insert(uint32_t *at, real *best, size_t have, size_t most, real z,
                                size_t number)
{
    if (have == most && !(z > best[most - 1]))
        return have;
    size_t place = have < most ? have++ : most - 1;
    for (; place > 0 && best[place - 1] < z; place--) {
        at[place] = at[place - 1];
        best[place] = best[place - 1];
    }
    at[place] = (uint32_t)number;
    best[place] = z;
    return have;
}

static size_t top(uint32_t *at, real *best, size_t have, size_t most, const real *z, size_t n,
                  size_t first)
{
    size_t i = 0;
    for (; i + LANES <= n && most > 0; i += LANES) {
        const real least = have < most ? (real)-INFINITY : best[most - 1];
        for (uint32_t lanes = above(z + i, least); lanes; lanes &= lanes - 1) {
            const size_t j = i + (size_t)__builtin_ctz(lanes);
            have = top_insert(at, best, have, most, z[j], first + j);
        }
    }
    for (; i < n && most > 0; i++)
        if (z[i] > (real)-INFINITY)
            have = top_insert(at, best, have, most, z[i], first + i);
    return have;
}

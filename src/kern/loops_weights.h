/* SPDX-License-Identifier: MIT */
/* src/kern/loops_weights.h - rows of scores to weights, other than softmax. Part of loops.h.
 *
 * The simplex kinds need a threshold. All of them use Newton's method on the norm
 * h(t) = (sum of max(0, z - t)^p)^(1/p), which is 1 at the solution: h is decreasing and convex for
 * p >= 1, so from the left the steps never overshoot, and where few scores remain h is nearly
 * linear and the last steps are almost exact. No sorting, only passes that are vectorised.
 * docs/attention.md derives every formula. */
#include <float.h>

#define SIMD_SUM2(x, y) SIMD_TEXT(omp simd reduction(+ : x, y))

static const real REAL_EPSILON =
    sizeof(real) == sizeof(double) ? (real)DBL_EPSILON : (real)FLT_EPSILON;

enum { NEWTON_MAX = 64 }; /* passes; typically about six, for bisection one per bit */

/* log(x) for normal x > 0: mantissa around 1, polynomial of degree 9 (Cephes coefficients);
 * relative error below 2e-7 in float. */
static inline real fast_log(real x)
{
    if (sizeof(real) == sizeof(double))
        return (real)log((double)x);
    union {
        float f;
        int32_t i;
    } u = { .f = (float)x };
    const int32_t e = (u.i - 0x3F3504F3) >> 23; /* mantissa from sqrt(1/2) to sqrt(2) */
    u.i -= e * (1 << 23);
    const float n = (float)e, r = u.f - 1.0f, r2 = r * r;
    float p = 7.0376836292e-2f;
    p = p * r - 1.1514610310e-1f;
    p = p * r + 1.1676998740e-1f;
    p = p * r - 1.2420140846e-1f;
    p = p * r + 1.4249322787e-1f;
    p = p * r - 1.6668057665e-1f;
    p = p * r + 2.0000714765e-1f;
    p = p * r - 2.4999993993e-1f;
    p = p * r + 3.3333331174e-1f;
    p = p * r * r2 - n * 2.12194440e-4f - 0.5f * r2;
    return (real)(r + p + n * 0.693359375f);
}

/* log(1 + u) for u > -1, accurate also for tiny u. */
static inline real fast_log1p(real u)
{
    if (sizeof(real) == sizeof(double))
        return (real)log1p((double)u);
    const real y = 1 + u;
    return fast_log(y) + (u - (y - 1)) / y;
}

static inline real root(real x)
{
    return sizeof(real) == sizeof(double) ? (real)sqrt((double)x) : (real)sqrtf((float)x);
}

/* x or 0; as arguments are always evaluated, loops stay branch-free. */
static inline real only_if(bool condition, real x)
{
    return condition ? x : 0;
}

static void relu_back(real *ds, const real *dw, const real *w, size_t n)
{
    SIMD for (size_t i = 0; i < n; i++) ds[i] = only_if(w[i] > 0, dw[i]);
}

/* ---- Gaussian error linear unit ---- */

/* The normal distribution function from e = exp(-x^2/2): e times a polynomial in 1/(1 + 0.3|x|),
 * our own fit with relative error 1.2e-7 on the whole lower tail. */
static inline real normal_cdf(real x, real e)
{
    if (sizeof(real) == sizeof(double))
        return (real)(0.5 * erfc(-(double)x * 0.70710678118654752440));
    const real a = x < 0 ? -x : x, t = 1 / (1 + (real)0.3 * a);
    real p = (real)0.0361953003;
    p = p * t - (real)0.159380047;
    p = p * t + (real)0.210121185;
    p = p * t - (real)0.0571697521;
    p = p * t + (real)0.130417623;
    p = p * t + (real)0.0993467971;
    p = p * t + (real)0.120845579;
    p = p * t + (real)0.11962326;
    p = p * t * e;
    return x < 0 ? p : 1 - p;
}

static void gelu(real *w, const real *s, size_t n)
{
    SIMD for (size_t i = 0; i < n; i++)
    {
        const real y = s[i] * normal_cdf(s[i], fast_exp(-s[i] * s[i] / 2));
        w[i] = y == y ? y : 0;
    }
}

static void gelu_back(real *ds, const real *dw, const real *s, size_t n)
{
    SIMD for (size_t i = 0; i < n; i++)
    {
        const real e = fast_exp(-s[i] * s[i] / 2);
        const real density = s[i] * e * (real)0.39894228040143267794; /* s times e / sqrt(2 pi) */
        const real slope = normal_cdf(s[i], e) + density;
        ds[i] = only_if(slope == slope, dw[i] * slope);
    }
}

/* ---- features of linear attention: elu(x) + 1 ---- */

static void elu1(real *y, const real *x, size_t n)
{
    SIMD for (size_t i = 0; i < n; i++) y[i] = x[i] > 0 ? x[i] + 1 : fast_exp(x[i]);
}

static void elu1_back(real *dx, const real *dy, const real *x, size_t n)
{
    SIMD for (size_t i = 0; i < n; i++) dx[i] = x[i] > 0 ? dy[i] : dy[i] * fast_exp(x[i]);
}

/* ---- softmax over the scores above a bound ---- */

static void softmax_from(real *w, const real *s, real least, size_t n)
{
    if (n == 0)
        return;
    const real top = row_max(s, n);
    real sum = 0;
    SIMD_SUM(sum)
    for (size_t i = 0; i < n; i++) {
        w[i] = s[i] >= least ? fast_exp(s[i] - top) : 0;
        sum += w[i];
    }
    scale(w, 1 / sum, n);
}

/* ---- projection on the simplex ---- */

/* w = (s - max) * factor: the largest is 0 and thresholds lie in [-1, 0), whatever the scores. */
static inline void shift_row(real *w, const real *s, real factor, size_t n)
{
    const real top = row_max(s, n);
    SIMD for (size_t i = 0; i < n; i++) w[i] = (s[i] - top) * factor;
}

/* With p = 1 Newton's step is the exact solution for the current support, which only shrinks: done
 * when it no longer does. */
static void sparsemax(real *w, const real *s, size_t n)
{
    if (n == 0)
        return;
    shift_row(w, s, 1, n);
    real tau = -1, before = (real)n + 1;
    for (;;) {
        real sum = 0, support = 0;
        SIMD_SUM2(sum, support)
        for (size_t i = 0; i < n; i++) {
            sum += w[i] > tau ? w[i] : 0;
            support += w[i] > tau ? 1 : (real)0;
        }
        if (!(support < before && support > 0))
            break;
        before = support;
        tau = (sum - 1) / support;
    }
    SIMD for (size_t i = 0; i < n; i++) w[i] = w[i] > tau ? w[i] - tau : 0;
}

static void sparsemax_back(real *ds, const real *dw, const real *w, size_t n)
{
    real sum = 0, support = 0;
    SIMD_SUM2(sum, support)
    for (size_t i = 0; i < n; i++) {
        sum += only_if(w[i] > 0, dw[i]);
        support += w[i] > 0 ? 1 : (real)0;
    }
    const real mean = support > 0 ? sum / support : 0;
    SIMD for (size_t i = 0; i < n; i++) ds[i] = only_if(w[i] > 0, dw[i] - mean);
}

/* ---- 1.5-entmax: p = 2, so no powers are needed ---- */

/* A row of V vectors that stays in registers. */
INLINE void entmax15_short(real *w, const real *s, size_t n, size_t V)
{
    vec z[4], high = row_vector(s, 0, n);
    UNROLL for (size_t c = 0; c < V; c++)
    {
        z[c] = row_vector(s, c * LANES, n);
        high = larger(z[c], high);
    }
    const real top = lane_max(high);
    UNROLL for (size_t c = 0; c < V; c++) z[c] = (z[c] - top) * (real)0.5;
    real tau = -1;
    for (int pass = 0; pass < NEWTON_MAX; pass++) {
        const vec none = { 0 };
        vec squares = none, sum = none;
        real sums[2];
        UNROLL for (size_t c = 0; c < V; c++)
        {
            const vec x = larger(z[c] - tau, none);
            squares += x * x;
            sum += x;
        }
        two_sums(sums, squares, sum);
        const real h = root(sums[0]), next = tau + (h - 1) * h / sums[1];
        if (!(h - 1 > 2 * REAL_EPSILON && next > tau))
            break;
        tau = next;
    }
    UNROLL for (size_t c = 0; c < V; c++)
    {
        const vec x = larger(z[c] - tau, (vec){ 0 });
        put_vector(w, x * x, c * LANES, n);
    }
}

static void entmax15(real *w, const real *s, size_t n)
{
    switch ((n + LANES - 1) / LANES) {
    case 0:
        return;
    case 1:
        entmax15_short(w, s, n, 1);
        return;
    case 2:
        entmax15_short(w, s, n, 2);
        return;
    default:
        break;
    }
    shift_row(w, s, (real)0.5, n);
    real tau = -1;
    for (int pass = 0; pass < NEWTON_MAX; pass++) {
        real squares = 0, sum = 0;
        SIMD_SUM2(squares, sum)
        for (size_t i = 0; i < n; i++) {
            const real x = rmax(w[i] - tau, 0);
            squares += x * x;
            sum += x;
        }
        const real h = root(squares), next = tau + (h - 1) * h / sum;
        if (!(h - 1 > 2 * REAL_EPSILON && next > tau))
            break;
        tau = next;
    }
    SIMD for (size_t i = 0; i < n; i++)
    {
        const real x = rmax(w[i] - tau, 0);
        w[i] = x * x;
    }
}

static void entmax15_back(real *ds, const real *dw, const real *w, size_t n)
{
    real along = 0, sum = 0;
    SIMD_SUM2(along, sum)
    for (size_t i = 0; i < n; i++) {
        const real r = root(w[i]);
        along += dw[i] * r;
        sum += r;
    }
    const real mean = sum > 0 ? along / sum : 0;
    SIMD for (size_t i = 0; i < n; i++) ds[i] = only_if(w[i] > 0, (dw[i] - mean) * root(w[i]));
}

/* ---- alpha-entmax ----
 *
 * With b = alpha - 1 a weight is x^(1/b), x = max(0, 1 + b u), u = z - c: Tsallis' exponential,
 * which tends to exp(u) for b to 0. Written with log1p it keeps its accuracy there. */

static inline real power_weight(real u, real b)
{
    const real t = b * u;
    const real inside = t > -1 + REAL_EPSILON ? t : 0; /* keeps the logarithm defined */
    const real y = fast_exp(fast_log1p(inside) / b);
    return t > -1 + REAL_EPSILON ? y : 0;
}

/* The next shift: Newton on the norm, written so that alpha near 1 needs no large power; for alpha
 * above 2 the norm is not convex, so the bracket [lo, hi] is bisected. */
static double next_shift(double c, double b, double sum, double slope, double lo, double hi)
{
    if (b > 1)
        return lo + (hi - lo) / 2;
    const double gap = expm1(b * log(sum)) / b; /* (sum^b - 1) / b: log(sum) for b to 0 */
    return c + gap * pow(sum, 1 - b) / slope;
}

static void entmax(real *w, const real *s, real b, size_t n)
{
    if (n == 0)
        return;
    shift_row(w, s, 1, n);
    double lo = 0, hi = -expm1(-(double)b * log((double)n)) / (double)b, c = 0;
    for (int pass = 0; pass < NEWTON_MAX; pass++) {
        const real shift = (real)c;
        real sum = 0, slope = 0;
        SIMD_SUM2(sum, slope)
        for (size_t i = 0; i < n; i++) {
            const real u = w[i] - shift, y = power_weight(u, b);
            sum += y;
            slope += y > 0 ? y / (1 + b * u) : 0;
        }
        if (sum > 1)
            lo = c;
        else
            hi = c;
        const double next = next_shift(c, (double)b, (double)sum, (double)slope, lo, hi);
        if (!(fabs(next - c) > (double)REAL_EPSILON * (1 + c)))
            break;
        c = next;
    }
    const real shift = (real)c;
    real sum = 0;
    SIMD_SUM(sum)
    for (size_t i = 0; i < n; i++) {
        w[i] = power_weight(w[i] - shift, b);
        sum += w[i];
    }
    scale(w, 1 / sum, n);
}

/* With v = -b log(w): g = w e^v weights the gradient, and -(e^v - 1 - v) w / b^2 is the derivative
 * of w by alpha for a fixed shift; both need only the weights. */
typedef struct power_slope {
    real g, by_alpha;
} power_slope;

static inline power_slope power_slopes(real w, real b)
{
    const bool in = w > 0;
    const real v = in ? -b * fast_log(in ? w : 1) : 0;
    const real e = fast_exp(v), x = v < (real)0.5 ? v : 0;
    /* e^v - 1 - v without cancellation where v is small: the first terms of its series */
    real p = (real)(1.0 / 3628800);
    p = p * x + (real)(1.0 / 362880);
    p = p * x + (real)(1.0 / 40320);
    p = p * x + (real)(1.0 / 5040);
    p = p * x + (real)(1.0 / 720);
    p = p * x + (real)(1.0 / 120);
    p = p * x + (real)(1.0 / 24);
    p = p * x + (real)(1.0 / 6);
    p = p * x + (real)0.5;
    const real rest = v < (real)0.5 ? p * x * x : e - 1 - v;
    return (power_slope){ in ? w * e : 0, in ? -w * rest / (b * b) : 0 };
}

static real entmax_back(real *ds, const real *dw, const real *w, real b, size_t n)
{
    real mass = 0, along = 0, plain = 0, by_alpha = 0;
    SIMD_TEXT(omp simd reduction(+ : mass, along, plain, by_alpha))
    for (size_t i = 0; i < n; i++) {
        const power_slope k = power_slopes(w[i], b);
        mass += k.g;
        along += k.g * dw[i];
        plain += k.by_alpha;
        by_alpha += k.by_alpha * dw[i];
    }
    const real mean = mass > 0 ? along / mass : 0;
    SIMD for (size_t i = 0; i < n; i++) ds[i] = power_slopes(w[i], b).g * (dw[i] - mean);
    return by_alpha - mean * plain;
}

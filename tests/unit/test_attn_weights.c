/* SPDX-License-Identifier: MIT */
/* tests/unit/test_attn_weights.c - the weights that a tap sees against plain formulas in double:
 * one small function per kind, written for clarity and from the definitions. */
#include "attnlayer.h"
#include "check.h"

#include <math.h>
#include <string.h>

enum { HEADS = 2, D_HEAD = 3, D = HEADS * D_HEAD, N_MAX = 40 };

static const attn_setup SETUP = {
    .slope = 0.05f, .alpha = 1.3f, .top = 3, .window = 2, .stride = 3, .fuse = 0.2f
};

static uint32_t seed = 1u;

static float rnd(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / 8388608.0f - 1.0f;
}

static double top_of(const double *s, size_t n)
{
    double top = s[0];
    for (size_t i = 1; i < n; i++)
        top = fmax(top, s[i]);
    return top;
}

static void divide_by_sum(double *w, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += w[i];
    for (size_t i = 0; i < n; i++)
        w[i] /= sum;
}

/* Bisection of the threshold t of (max(0, (alpha - 1) s - t))^(1 / (alpha - 1)). */
static void entmax(double *w, const double *s, size_t n, double alpha)
{
    const double b = alpha - 1, top = top_of(s, n) * b;
    double lo = top - 1, hi = top;
    for (int pass = 0; pass < 100; pass++) {
        const double t = (lo + hi) / 2;
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            w[i] = pow(fmax(0, b * s[i] - t), 1 / b);
            sum += w[i];
        }
        if (sum > 1)
            lo = t;
        else
            hi = t;
    }
}

static void softmax(double *w, const double *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        w[i] = exp(s[i] - top_of(s, n));
    divide_by_sum(w, n);
}

static void sparsemax(double *w, const double *s, size_t n)
{
    entmax(w, s, n, 2);
}

static void entmax15(double *w, const double *s, size_t n)
{
    entmax(w, s, n, 1.5);
}

static void entmax_fixed(double *w, const double *s, size_t n)
{
    entmax(w, s, n, (double)SETUP.alpha);
}

/* Keeps a score if fewer than k scores are larger. */
static void topk(double *w, const double *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t larger = 0;
        for (size_t j = 0; j < n; j++)
            larger += s[j] > s[i];
        w[i] = larger < SETUP.top ? exp(s[i] - top_of(s, n)) : 0;
    }
    divide_by_sum(w, n);
}

/* Smoothing by projected gradient on its dual, then sparsemax. */
static void fusedmax(double *w, const double *s, size_t n)
{
    double u[N_MAX + 1] = { 0 }, y[N_MAX];
    const double fuse = (double)SETUP.fuse;
    for (int pass = 0; pass < 20000; pass++) {
        for (size_t i = 0; i < n; i++)
            y[i] = s[i] + u[i + 1] - u[i]; /* u[0] = u[n] = 0 */
        for (size_t i = 1; i < n; i++)
            u[i] = fmin(fuse, fmax(-fuse, u[i] + (y[i] - y[i - 1]) / 4));
    }
    sparsemax(w, y, n);
}

static void relu(double *w, const double *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        w[i] = fmax(0, s[i]);
}

static void gelu(double *w, const double *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        w[i] = s[i] * (1 + erf(s[i] / sqrt(2))) / 2;
}

static void leaky(double *w, const double *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        w[i] = s[i] > 0 ? s[i] : s[i] * (double)SETUP.slope;
}

static void square(double *w, const double *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        w[i] = pow(fmax(0, s[i]), 2);
}

static void share(double *w, const double *s, size_t n)
{
    memcpy(w, s, n * sizeof *w);
    divide_by_sum(w, n);
}

static double elu1(double x)
{
    return x > 0 ? x + 1 : exp(x);
}

/* A query's weights over the n keys that it sees, by places alone. */
static void cubes(double *w, size_t first, size_t end, bool rises)
{
    for (size_t j = first; j < end; j++)
        w[j] = pow((double)(rises ? j - first + 1 : end - j), 3);
    double sum = 0;
    for (size_t j = first; j < end; j++)
        sum += w[j];
    for (size_t j = first; j < end; j++)
        w[j] /= sum;
}

static void at_current(double *w, size_t query, size_t n)
{
    (void)n;
    w[query] = 1;
}

static void at_previous(double *w, size_t query, size_t n)
{
    (void)n;
    w[query ? query - 1 : 0] = 1;
}

static void at_next(double *w, size_t query, size_t n)
{
    w[query + 1 < n ? query + 1 : n - 1] = 1;
}

static void at_left(double *w, size_t query, size_t n)
{
    (void)n;
    cubes(w, 0, query > 1 ? query - 1 : 1, true);
}

static void at_right(double *w, size_t query, size_t n)
{
    cubes(w, query + 2 < n ? query + 2 : n - 1, n, false);
}

static void at_start(double *w, size_t query, size_t n)
{
    (void)query;
    cubes(w, 0, n, false);
}

static void at_end(double *w, size_t query, size_t n)
{
    (void)query;
    cubes(w, 0, n, true);
}

static void by_mass(double *w, const double *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        w[i] = fmax(0, s[i]) / sqrt((double)n / 2);
}

static void by_log(double *w, const double *s, size_t n)
{
    double scaled[N_MAX];
    for (size_t i = 0; i < n; i++)
        scaled[i] = s[i] * log((double)n) / log(32);
    softmax(w, scaled, n);
}

static void beside_zero(double *w, const double *s, size_t n)
{
    double sum = 1; /* expect has subtracted the learned score */
    for (size_t i = 0; i < n; i++)
        sum += exp(s[i]);
    for (size_t i = 0; i < n; i++)
        w[i] = exp(s[i]) / sum;
}

static bool is_local(size_t query, size_t key)
{
    const size_t far = query > key ? query - key : key - query;
    return far <= SETUP.window;
}

static bool is_strided(size_t query, size_t key)
{
    const size_t far = query > key ? query - key : key - query;
    return far < SETUP.stride || far % SETUP.stride == 0;
}

/* weigh gets the visible scores; learned numbers are applied by expect. */
typedef struct reference {
    const char *name;
    void (*weigh)(double *w, const double *s, size_t n);
    bool (*sees)(size_t query, size_t key);
    bool maps, learned_alpha, learned_threshold, learned_factor, grows; /* the threshold with n */
    void (*places)(double *w, size_t query, size_t n);
} reference;

static const reference REFERENCES[] = {
    { .name = "softmax", .weigh = softmax },
    { .name = "sparsemax", .weigh = sparsemax },
    { .name = "entmax15", .weigh = entmax15 },
    { .name = "entmax", .weigh = entmax_fixed },
    { .name = "entmax-learned", .learned_alpha = true },
    { .name = "topk", .weigh = topk },
    { .name = "fusedmax", .weigh = fusedmax },
    { .name = "relu", .weigh = relu },
    { .name = "relu-rms", .weigh = relu },
    { .name = "rela-i", .weigh = relu },
    { .name = "rela-g", .weigh = relu },
    { .name = "rela-g-ln", .weigh = relu },
    { .name = "gelu-g", .weigh = gelu },
    { .name = "leaky-g", .weigh = leaky },
    { .name = "relu2-g", .weigh = square },
    { .name = "rela-t", .weigh = relu, .learned_threshold = true },
    { .name = "local", .weigh = softmax, .sees = is_local },
    { .name = "strided", .weigh = softmax, .sees = is_strided },
    { .name = "linear", .weigh = share, .maps = true },
    { .name = "current", .places = at_current },
    { .name = "previous", .places = at_previous },
    { .name = "next", .places = at_next },
    { .name = "left", .places = at_left },
    { .name = "right", .places = at_right },
    { .name = "start", .places = at_start },
    { .name = "end", .places = at_end },
    { .name = "reluformer", .weigh = by_mass, .learned_factor = true },
    { .name = "rela-tl", .weigh = relu, .learned_threshold = true, .grows = true },
    { .name = "softmax-n", .weigh = by_log },
    { .name = "softmax-zero", .weigh = beside_zero, .learned_threshold = true },
};

enum { N_REFERENCES = sizeof REFERENCES / sizeof REFERENCES[0] };

static float q[N_MAX * D], k[N_MAX * D], v[N_MAX * D], z[N_MAX * D], head[HEADS];
static float seen[HEADS][N_MAX][N_MAX];

static void see(void *ctx, const rela_attn_view *t)
{
    (void)ctx;
    for (size_t i = 0; i < t->rows; i++)
        for (size_t j = 0; j < t->n; j++)
            seen[t->head][t->first + i][j] = t->w[i * t->ld + j];
}

static double score(const reference *r, size_t h, size_t query, size_t key)
{
    double sum = 0;
    for (size_t c = h * D_HEAD; c < (h + 1) * D_HEAD; c++) {
        const double x = (double)q[query * D + c], y = (double)k[key * D + c];
        sum += r->maps ? elu1(x) * elu1(y) : x * y / sqrt(D_HEAD);
    }
    return sum;
}

/* Weights of one query; 0 where it sees nothing. */
static void expect(double *w, const reference *r, size_t h, size_t query, size_t n, bool causal)
{
    double s[N_MAX], some[N_MAX];
    size_t at[N_MAX], m = 0;
    const size_t visible = causal && query + 1 < n ? query + 1 : n;
    const double grown = r->grows ? sqrt(2 * log((double)visible)) : 1;
    for (size_t j = 0; j < n; j++) {
        w[j] = 0;
        if ((causal && j > query) || (r->sees && !r->sees(query, j)))
            continue;
        s[m] = score(r, h, query, j) - (r->learned_threshold ? (double)head[h] * grown : 0);
        at[m++] = j;
    }
    if (r->places) {
        r->places(w, query, visible);
        return;
    }
    if (r->learned_alpha)
        entmax(some, s, m, 1 + 1 / (1 + exp(-(double)head[h])));
    else
        r->weigh(some, s, m);
    for (size_t j = 0; j < m; j++)
        w[at[j]] = some[j] * (r->learned_factor ? (double)head[h] : 1);
}

static void check(const rela_attn_kind *kind, const reference *r, uint32_t n, bool causal)
{
    attn_layer l;
    const rela_attn_tap tap = { see, NULL };
    const uint32_t at[] = { 0, n };
    for (size_t i = 0; i < (size_t)n * D; i++) {
        q[i] = rnd() * 2.5f;
        k[i] = rnd() * 2.5f;
        v[i] = rnd();
    }
    for (size_t i = 0; i < HEADS; i++)
        head[i] = rnd();
    attn_layer_start(&l, kind, &SETUP, HEADS, D_HEAD, N_MAX);
    l.attn.causal = causal;
    l.attn.tap = &tap;
    CHECK(attn_layer_learned(&l) <= sizeof head / sizeof head[0], "%s: too many learned",
          kind->name);
    attn_layer_learn(&l, head, NULL, NULL);
    const rela_attn_rows rows = { 1, at, at, 0 };
    const rela_attn_in in = { q, k, v, D, D, D };
    rela_attn_forward(&l.attn, &l.scratch, z, &in, &rows);
    attn_layer_end(&l);
    for (size_t h = 0; h < HEADS; h++)
        for (size_t i = 0; i < n; i++) {
            double w[N_MAX], mixed = 0;
            expect(w, r, h, i, n, causal);
            for (size_t j = 0; j < (causal ? i + 1 : n); j++) {
                CHECK(fabs((double)seen[h][i][j] - w[j]) <= 3e-6 * (1 + fabs(w[j])),
                      "%s n=%u query %zu key %zu: %.8f, want %.8f", kind->name, (unsigned)n, i, j,
                      (double)seen[h][i][j], w[j]);
                mixed += w[j] * (double)v[j * D + h * D_HEAD];
            }
            CHECK(fabs((double)z[i * D + h * D_HEAD] - mixed) <= 2e-5 * (1 + fabs(mixed)),
                  "%s: output %g, want %g", kind->name, (double)z[i * D + h * D_HEAD], mixed);
        }
}

static void weights_equal_the_plain_formulas(void **state)
{
    (void)state;
    static const uint32_t LENGTHS[] = { 1, 2, 9, 40 };
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        const rela_attn_kind *kind = rela_attn_kind_at(i);
        size_t at = 0;
        while (at < N_REFERENCES && strcmp(REFERENCES[at].name, kind->name) != 0)
            at++;
        if (at == N_REFERENCES)
            print_message("%s: no formula here, not compared\n", kind->name);
        for (size_t c = 0; c < 8 && at < N_REFERENCES; c++)
            check(kind, &REFERENCES[at], LENGTHS[c / 2], c % 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_equal_the_plain_formulas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

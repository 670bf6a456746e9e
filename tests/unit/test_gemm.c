/* SPDX-License-Identifier: MIT */
/* tests/unit/test_gemm.c - products stay right while signal handlers run at any moment. */
#include "base/mem.h"
#include "base/par.h"
#include "check.h"
#include "covered.h"
#include "kern/gemm.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

enum { ROWS = 256, N = 384, K = 128, V = 2000, ROUNDS = EMULATED ? 2 : 200 };

static _Atomic int n_signals; /* threads may be in the handler at the same time */
static _Atomic int n_wrong;   /* rounds of products */

static void on_alarm(int number)
{
    (void)number;
    n_signals++;
}

static void start_alarms(long microseconds)
{
    const struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
    const struct itimerval every = { { 0, microseconds }, { 0, microseconds } };
    (void)sigaction(SIGALRM, &action, NULL);
    (void)setitimer(ITIMER_REAL, &every, NULL);
}

/* The products of a training step: inputs, and a place for each result. */
typedef struct step {
    real *x, *y, *w;               /* (ROWS, K), (ROWS, V), (V, K) */
    real *nt, *nn, *tn, *out, *dx; /* (ROWS, N), (ROWS, K), (N, K), (ROWS, V), (ROWS, K) */
} step;

static void step_init(step *s)
{
    *s = (step){ .x = rela_mem_array(ROWS * K, sizeof(real)),
                 .y = rela_mem_array(ROWS * V, sizeof(real)),
                 .w = rela_mem_array(V * K, sizeof(real)),
                 .nt = rela_mem_array(ROWS * N, sizeof(real)),
                 .nn = rela_mem_array(ROWS * K, sizeof(real)),
                 .tn = rela_mem_array(N * K, sizeof(real)),
                 .out = rela_mem_array(ROWS * V, sizeof(real)),
                 .dx = rela_mem_array(ROWS * K, sizeof(real)) };
    for (size_t i = 0; i < ROWS * K; i++)
        s->x[i] = (real)(i % 7) / 7;
    for (size_t i = 0; i < ROWS * V; i++)
        s->y[i] = (real)(i % 11) / 11;
    for (size_t i = 0; i < V * K; i++)
        s->w[i] = (real)(i % 5) / 5;
}

static void step_deinit(step *s)
{
    real *const all[] = { s->x, s->y, s->w, s->nt, s->nn, s->tn, s->out, s->dx };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        rela_mem_free(all[i]);
}

static void step_run(step *s)
{
    rela_gemm_nt(s->nt, N, s->x, K, s->w, K, ROWS, N, K, false);
    rela_gemm_nn(s->nn, K, s->y, N, s->w, K, ROWS, K, N, false);
    rela_gemm_tn(s->tn, K, s->y, N, s->x, K, N, K, ROWS, false);
    rela_gemm_nt(s->out, V, s->x, K, s->w, K, ROWS, V, K, false);
    rela_gemm_nn(s->dx, K, s->y, V, s->w, K, ROWS, K, V, false);
}

static bool step_same(const step *a, const step *b)
{
    return memcmp(a->nt, b->nt, sizeof(real) * ROWS * N) == 0 &&
           memcmp(a->nn, b->nn, sizeof(real) * ROWS * K) == 0 &&
           memcmp(a->tn, b->tn, sizeof(real) * N * K) == 0 &&
           memcmp(a->out, b->out, sizeof(real) * ROWS * V) == 0 &&
           memcmp(a->dx, b->dx, sizeof(real) * ROWS * K) == 0;
}

/* ctx: the results without signals. Blocks of varying size around the products: a stray write meets
 * the checks of the heap. */
static void all_rounds(void *ctx, size_t begin, size_t end, int part)
{
    const step *want = ctx;
    step s;
    (void)begin;
    (void)end;
    (void)part;
    step_init(&s);
    for (int i = 0; i < ROUNDS; i++) {
        char *block = rela_mem_alloc((size_t)(100 + i * 37 % 5000));
        memset(block, i, 100);
        step_run(&s);
        n_wrong += !step_same(&s, want);
        n_wrong += block[0] != (char)i || block[99] != (char)i;
        memset(s.nt, 0, sizeof(real) * ROWS * N); /* the next round must write it again */
        memset(s.tn, 0, sizeof(real) * N * K);
        rela_mem_free(block);
    }
    step_deinit(&s);
}

static void handlers_do_not_disturb_products(void **state)
{
    (void)state;
    step want;
    step_init(&want);
    step_run(&want);
    start_alarms(150);
    rela_par_rows(2, 2, all_rounds, &want);
    start_alarms(0);
    step_deinit(&want);
    CHECK(n_signals > 0, "no signal arrived");
    CHECK(n_wrong == 0, "%d of %d rounds gave other results", n_wrong, 2 * ROUNDS);
}

enum { SIZE = 9 };

typedef void product(real *c, size_t ldc, const real *a, size_t lda, const real *b, size_t ldb,
                     size_t m, size_t n, size_t k, bool add);

/* Element (i, j) of the sum, with strides of a and b between rows and between terms. */
static double sum_of(const real *a, size_t row, size_t step_a, const real *b, size_t column,
                     size_t step_b, size_t k)
{
    double sum = 0;
    for (size_t t = 0; t < k; t++)
        sum += (double)a[row + t * step_a] * (double)b[column + t * step_b];
    return sum;
}

static void products_equal_their_definition(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        product *run;
        bool a_turned, b_turned; /* stored as (k, m), as (n, k) */
    } SHAPES[] = { { "nt", rela_gemm_nt, false, true },
                   { "nn", rela_gemm_nn, false, false },
                   { "tn", rela_gemm_tn, true, false } };
    real a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];
    for (size_t i = 0; i < SIZE * SIZE; i++) {
        a[i] = (real)(i % 11) / 11;
        b[i] = (real)(i % 13) / 13;
    }
    for (size_t p = 0; p < 3; p++)
        for (size_t m = 1; m <= SIZE; m++)
            for (int add = 0; add < 2; add++) {
                const size_t n = SIZE - m / 2, k = m > 4 ? SIZE : 3;
                for (size_t i = 0; i < SIZE * SIZE; i++)
                    c[i] = 1;
                SHAPES[p].run(c, SIZE, a, SIZE, b, SIZE, m, n, k, add);
                for (size_t i = 0; i < SIZE; i++)
                    for (size_t j = 0; j < SIZE; j++) {
                        const bool in = i < m && j < n;
                        const double sum = sum_of(
                            a, SHAPES[p].a_turned ? i : i * SIZE, SHAPES[p].a_turned ? SIZE : 1, b,
                            SHAPES[p].b_turned ? j * SIZE : j, SHAPES[p].b_turned ? 1 : SIZE, k);
                        const double want = in ? sum + add : 1; /* the rest is left alone */
                        CHECK(fabs((double)c[i * SIZE + j] - want) < 1e-5,
                              "%s: m %zu, add %d: (%zu, %zu)", SHAPES[p].name, m, add, i, j);
                    }
            }
    covered("float products", "oneDNN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handlers_do_not_disturb_products),
        cmocka_unit_test(products_equal_their_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

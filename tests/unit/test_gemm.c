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

/* The products of a training step. Blocks of varying size around them: a stray write meets the
 * checks of the heap. */
static void one_round(real *x, real *y, real *w, int round)
{
    char *block = rela_mem_alloc((size_t)(100 + round * 37 % 5000));
    memset(block, round, 100);
    rela_gemm_nt(y, N, x, K, w, K, ROWS, N, K, false);
    rela_gemm_nn(x, K, y, N, w, K, ROWS, K, N, false);
    rela_gemm_tn(w, K, y, N, x, K, N, K, ROWS, false);
    rela_gemm_nt(y, V, x, K, w, K, ROWS, V, K, false);
    rela_gemm_nn(x, K, y, V, w, K, ROWS, K, V, false);
    for (size_t i = 0; i < V * K; i++) { /* numbers stay small */
        w[i] = (real)(i % 5) - 2;
        x[i % (ROWS * K)] = (real)(i % 7) - 3;
    }
    rela_mem_free(block);
}

static void all_rounds(void *ctx, size_t begin, size_t end, int part)
{
    (void)ctx;
    (void)begin;
    (void)end;
    (void)part;
    real *x = rela_mem_zalloc(sizeof(real) * ROWS * K), *w = rela_mem_zalloc(sizeof(real) * V * K);
    real *y = rela_mem_zalloc(sizeof(real) * ROWS * V);
    for (int i = 0; i < ROUNDS; i++)
        one_round(x, y, w, i);
    rela_mem_free(x);
    rela_mem_free(y);
    rela_mem_free(w);
}

static void handlers_do_not_disturb_products(void **state)
{
    (void)state;
    start_alarms(150);
    rela_par_rows(2, 2, all_rounds, NULL);
    start_alarms(0);
    CHECK(n_signals > 0, "no signal arrived");
}

static void products_equal_their_definition(void **state)
{
    (void)state;
    enum { SIZE = 9 };
    real a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];
    for (size_t i = 0; i < SIZE * SIZE; i++) {
        a[i] = (real)(i % 11) / 11;
        b[i] = (real)(i % 13) / 13;
    }
    for (size_t m = 1; m <= SIZE; m++) {
        for (size_t i = 0; i < SIZE * SIZE; i++)
            c[i] = 1;
        rela_gemm_nt(c, SIZE, a, SIZE, b, SIZE, m, SIZE, SIZE, true);
        for (size_t i = 0; i < SIZE; i++)
            for (size_t j = 0; j < SIZE; j++) {
                double want = 1;
                for (size_t k = 0; k < SIZE && i < m; k++)
                    want += (double)a[i * SIZE + k] * (double)b[j * SIZE + k];
                CHECK(fabs((double)c[i * SIZE + j] - want) < 1e-5, "m %zu: (%zu, %zu)", m, i, j);
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

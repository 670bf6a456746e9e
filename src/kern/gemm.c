/* SPDX-License-Identifier: MIT */
/* src/kern/gemm.c - see gemm.h. */
#include "kern/gemm.h"

#include "base/mem.h"
#include "base/threads.h"

#ifndef RELA_REAL_IS_DOUBLE
#include <dnnl.h>
#include <omp.h>
#include <pthread.h>
#endif

/* c (m, n) (+)= op(a) op(b) by definition; strides say what is transposed. */
static void plain(real *c, size_t ldc, const real *a, size_t a_row, size_t a_col, const real *b,
                  size_t b_row, size_t b_col, size_t m, size_t n, size_t k, bool add)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            real sum = add ? c[i * ldc + j] : 0;
            for (size_t p = 0; p < k; p++)
                sum += a[i * a_row + p * a_col] * b[p * b_row + j * b_col];
            c[i * ldc + j] = sum;
        }
}

#ifndef RELA_REAL_IS_DOUBLE
/* The generated code of oneDNN 2.6 does not survive a signal handler: the handler's stack frame was
 * seen to land in its packing buffers and to corrupt the heap (tests/unit/test_gemm.c). Signals are
 * blocked until the product is done; the two system calls cost a fraction of a microsecond.
 *
 * A product runs on the calling thread only: callers have already divided the work, or use one
 * thread. Outside a parallel region oneDNN would start threads of its own, which spin while they
 * wait and slow a busy machine down by a factor of twenty. */
static dnnl_status_t shielded(char ta, char tb, real *c, size_t ldc, const real *a, size_t lda,
                              const real *b, size_t ldb, size_t m, size_t n, size_t k, bool add)
{
    sigset_t old;
    rela_threads_block_signals(&old);
    const int n_threads = omp_get_max_threads(); /* a setting of this thread, not of the process */
    omp_set_num_threads(1);
    const dnnl_status_t st =
        dnnl_sgemm(ta, tb, (dnnl_dim_t)m, (dnnl_dim_t)n, (dnnl_dim_t)k, 1, a, (dnnl_dim_t)lda, b,
                   (dnnl_dim_t)ldb, add ? 1 : 0, c, (dnnl_dim_t)ldc);
    omp_set_num_threads(n_threads);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return st;
}
#endif

/* False if oneDNN did not compute the product: it may run out of memory for its packing buffers,
 * and for k = 0 it leaves c unchanged, where the empty sum is 0. */
static bool library(char ta, char tb, real *c, size_t ldc, const real *a, size_t lda, const real *b,
                    size_t ldb, size_t m, size_t n, size_t k, bool add)
{
#ifdef RELA_REAL_IS_DOUBLE
    (void)ta, (void)tb, (void)c, (void)ldc, (void)a, (void)lda, (void)b, (void)ldb;
    (void)m, (void)n, (void)k, (void)add;
    return false;
#else
    return k && shielded(ta, tb, c, ldc, a, lda, b, ldb, m, n, k, add) == dnnl_success;
#endif
}

void rela_gemm_nt(real *c, size_t ldc, const real *a, size_t lda, const real *b, size_t ldb,
                  size_t m, size_t n, size_t k, bool add)
{
    if (m && n && !library('N', 'T', c, ldc, a, lda, b, ldb, m, n, k, add))
        plain(c, ldc, a, lda, 1, b, 1, ldb, m, n, k, add);
}

void rela_gemm_nn(real *c, size_t ldc, const real *a, size_t lda, const real *b, size_t ldb,
                  size_t m, size_t n, size_t k, bool add)
{
    if (m && n && !library('N', 'N', c, ldc, a, lda, b, ldb, m, n, k, add))
        plain(c, ldc, a, lda, 1, b, ldb, 1, m, n, k, add);
}

void rela_gemm_tn(real *c, size_t ldc, const real *a, size_t lda, const real *b, size_t ldb,
                  size_t m, size_t n, size_t k, bool add)
{
    if (m && n && !library('T', 'N', c, ldc, a, lda, b, ldb, m, n, k, add))
        plain(c, ldc, a, 1, lda, b, ldb, 1, m, n, k, add);
}

int rela_gemm_isa(void)
{
#ifdef RELA_REAL_IS_DOUBLE
    return 0;
#else
    rela_mem_purpose_set("matrix products");
    const int isa = (int)dnnl_get_effective_cpu_isa();
    rela_mem_purpose_set(NULL);
    return isa;
#endif
}

#ifndef RELA_REAL_IS_DOUBLE
/* Measured with oneDNN 2.6.3: 18 MB with AVX-512, 6 MB with AVX2, 1 MB with SSE 4.1. */
enum { COMPILED_BYTES = 32 << 20 };

/* Packing buffers of oneDNN: at most BLOCK_ROWS x BLOCK_DEPTH and BLOCK_DEPTH x BLOCK_DEPTH. */
enum { BLOCK_ROWS = 10000, BLOCK_DEPTH = 384, BLOCK_ROUNDING = 48, BLOCK_PAGES = 32 << 10 };

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static bool started;

/* One product of each class with generated code of its own: vectors, few rows, more rows. */
static void compile_all(void)
{
    enum { MOST = 40 };
    static const size_t SIZES[] = { 1, 8, MOST };
    enum { N_SIZES = sizeof SIZES / sizeof SIZES[0] };
    real a[MOST * MOST] = { 0 }, b[MOST * MOST] = { 0 }, c[MOST * MOST] = { 0 };
    for (size_t i = 0; i < N_SIZES * N_SIZES; i++) {
        const size_t m = SIZES[i / N_SIZES], n = SIZES[i % N_SIZES];
        for (int add = 0; add < 2; add++) {
            rela_gemm_nt(c, MOST, a, MOST, b, MOST, m, n, MOST, add);
            rela_gemm_nn(c, MOST, a, MOST, b, MOST, m, n, MOST, add);
            rela_gemm_tn(c, MOST, a, MOST, b, MOST, m, n, MOST, add);
        }
    }
}

rela_status rela_gemm_start(rela_error *err)
{
    (void)pthread_mutex_lock(&starting);
    const rela_status st =
        started ? RELA_OK : rela_mem_reserve(COMPILED_BYTES, "matrix products", err);
    if (st == RELA_OK && !started) {
        rela_mem_purpose_set("matrix products");
        compile_all();
        rela_mem_purpose_set(NULL);
        rela_mem_unreserve(COMPILED_BYTES);
        started = true;
    }
    (void)pthread_mutex_unlock(&starting);
    return st;
}

size_t rela_gemm_bytes(size_t largest)
{
    const size_t rows = largest < BLOCK_ROWS ? largest : BLOCK_ROWS;
    return sizeof(real) * BLOCK_DEPTH * (rows + BLOCK_ROUNDING + BLOCK_DEPTH) + BLOCK_PAGES;
}
#else
rela_status rela_gemm_start(rela_error *err)
{
    (void)err;
    return RELA_OK;
}

size_t rela_gemm_bytes(size_t largest)
{
    (void)largest;
    return 0;
}
#endif

/* SPDX-License-Identifier: MIT */
/* src/kern/gemm.c - see gemm.h. */
#include "kern/gemm.h"

#ifndef RELA_REAL_IS_DOUBLE
#include <dnnl.h>
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

/* False if the library did not do it: it may run out of memory for its packing buffers, and for
 * k = 0 it leaves c as it is, where an empty sum is 0. */
static bool library(char ta, char tb, real *c, size_t ldc, const real *a, size_t lda, const real *b,
                    size_t ldb, size_t m, size_t n, size_t k, bool add)
{
#ifdef RELA_REAL_IS_DOUBLE
    (void)ta, (void)tb, (void)c, (void)ldc, (void)a, (void)lda, (void)b, (void)ldb;
    (void)m, (void)n, (void)k, (void)add;
    return false;
#else
    return k &&
           dnnl_sgemm(ta, tb, (dnnl_dim_t)m, (dnnl_dim_t)n, (dnnl_dim_t)k, 1, a, (dnnl_dim_t)lda, b,
                      (dnnl_dim_t)ldb, add ? 1 : 0, c, (dnnl_dim_t)ldc) == dnnl_success;
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

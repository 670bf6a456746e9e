/* SPDX-License-Identifier: MIT */
/* src/kern/gemm.h - every large matrix product: oneDNN for float, plain loops for double.
 *
 * Row-major. The three shapes of a linear layer y = x W^T with W (n, k):
 *   nt  y  (m, n)  = x (m, k) * W (n, k)^T     forward
 *   nn  dx (m, k)  = dy (m, n) * W (n, k)      gradient of the input
 *   tn  dW (n, k) += dy (m, n)^T * x (m, k)    gradient of the weight
 * add: the result is added to c. Each call runs on the calling thread only. Leading dimensions are
 * in elements. */
#ifndef RELA_KERN_GEMM_H
#define RELA_KERN_GEMM_H

#include "base/error.h"
#include "kern/kern.h"

/* oneDNN 2.6 generates its code on first use, and ends the process if there is no memory for that.
 * Call this before the first product of a process, to get RELA_NOMEM instead. Any thread, any
 * number of times. */
rela_status rela_gemm_start(rela_error *err);
/* Temporary memory that one product may need, in bytes, if no matrix has more rows or columns than
 * largest. Reserve it (rela_mem_reserve) for each concurrent product. Without it a product is still
 * computed, but slowly and with other rounding. */
size_t rela_gemm_bytes(size_t largest);
/* The instruction set that oneDNN uses, as oneDNN's number; products of different ones may differ
 * in the last bits. */
int rela_gemm_isa(void);

void rela_gemm_nt(real *c, size_t ldc, const real *a, size_t lda, const real *b, size_t ldb,
                  size_t m, size_t n, size_t k, bool add);
void rela_gemm_nn(real *c, size_t ldc, const real *a, size_t lda, const real *b, size_t ldb,
                  size_t m, size_t n, size_t k, bool add);
void rela_gemm_tn(real *c, size_t ldc, const real *a, size_t lda, const real *b, size_t ldb,
                  size_t m, size_t n, size_t k, bool add);

#endif

/* SPDX-License-Identifier: MIT */
/* src/nn/linear.h - y = x W^T with W (n_out, n_in), and its gradients. Biases are added by the
 * pass that follows, which reads y anyway. */
#ifndef RELA_NN_LINEAR_H
#define RELA_NN_LINEAR_H

#include "kern/gemm.h"

/* y (rows, n_out) from x (rows, n_in). */
static inline void rela_linear_forward(real *y, const real *x, const real *w, size_t rows,
                                       size_t n_out, size_t n_in)
{
    rela_gemm_nt(y, n_out, x, n_in, w, n_in, rows, n_out, n_in, false);
}

/* dx (rows, n_in), added to if add. */
static inline void rela_linear_back_input(real *dx, const real *dy, const real *w, size_t rows,
                                          size_t n_out, size_t n_in, bool add)
{
    rela_gemm_nn(dx, n_in, dy, n_out, w, n_in, rows, n_in, n_out, add);
}

/* dw (n_out, n_in) is added to. */
static inline void rela_linear_back_weight(real *dw, const real *dy, const real *x, size_t rows,
                                           size_t n_out, size_t n_in)
{
    rela_gemm_tn(dw, n_in, dy, n_out, x, n_in, n_out, n_in, rows, true);
}

#endif

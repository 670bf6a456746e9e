/* SPDX-License-Identifier: MIT */
/* src/nn/attn/guard.h - an overflow in attention must show in its result.
 *
 * Kinds with exact zeros treat a NaN score as one that is not above 0 and skip its value:
 * non-finite numbers would vanish, and the result would look like any other. So queries, keys and
 * values themselves are checked. */
#ifndef RELA_NN_ATTN_GUARD_H
#define RELA_NN_ATTN_GUARD_H

#include "nn/attn/attn.h"

/* 0, or NaN if numbers of x are not finite or their squares overflow. If it is 0 for two rows,
 * their dot product and all its partial sums are finite by the Cauchy-Schwarz inequality. */
static inline real rela_attn_not_finite(const rela_kern *k, const real *x, size_t n)
{
    return k->zero_if_finite(x, n);
}

/* After rela_attn_forward: makes the first mixed value of a query NaN if the query, or a key or
 * value of its sentence (of those it sees, if causal), is not_finite. */
void rela_attn_guard(const rela_attn *a, real *z, const rela_attn_in *in,
                     const rela_attn_rows *rows);

#endif

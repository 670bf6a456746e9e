/* SPDX-License-Identifier: MIT */
/* src/nn/attn/guard.h - an overflow in attention must show in its result.
 *
 * Kinds with exact zeros take a score that is NaN for one that is not above 0, and leave out what
 * it would weigh: numbers that are not finite would vanish, and the rest look like any other
 * result. So queries, keys and values are looked at beforehand. */
#ifndef RELA_NN_ATTN_GUARD_H
#define RELA_NN_ATTN_GUARD_H

#include "nn/attn/attn.h"

/* 0, or NaN if numbers of x are not finite or their squares overflow. If two rows have 0, the
 * Cauchy-Schwarz inequality says that their product and all its partial sums are finite. */
static inline real rela_attn_not_finite(const rela_kern *k, const real *x, size_t n)
{
    return k->zero_if_finite(x, n);
}

/* After rela_attn_forward: makes the first mixed value of a query NaN if the query, or a key or
 * value of its sentence (of those it sees, if causal), is not_finite. */
void rela_attn_guard(const rela_attn *a, real *z, const rela_attn_in *in,
                     const rela_attn_rows *rows);

#endif

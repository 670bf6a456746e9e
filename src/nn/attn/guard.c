/* SPDX-License-Identifier: MIT */
/* src/nn/attn/guard.c - see guard.h. */
#include "nn/attn/guard.h"

static real not_finite_key(const rela_attn *a, const rela_attn_in *in, size_t row)
{
    const size_t d = a->heads * a->d_head;
    return rela_attn_not_finite(a->k, in->k + row * in->ldk, d) +
           rela_attn_not_finite(a->k, in->v + row * in->ldv, d);
}

void rela_attn_guard(const rela_attn *a, real *z, const rela_attn_in *in,
                     const rela_attn_rows *rows)
{
    const size_t d = a->heads * a->d_head, ldz = a->ldz ? a->ldz : d;
    for (size_t s = 0; s < rows->n; s++) {
        size_t key = rows->k_at[s];
        const size_t end = rows->k_at[s + 1];
        real not_finite = 0;
        for (; !a->causal && key < end; key++)
            not_finite += not_finite_key(a, in, key);
        for (size_t q = rows->q_at[s]; q < rows->q_at[s + 1]; q++) {
            if (a->causal && key < end)
                not_finite += not_finite_key(a, in, key++);
            z[q * ldz] += not_finite + rela_attn_not_finite(a->k, in->q + q * in->ldq, d);
        }
    }
}

/* SPDX-License-Identifier: MIT */
/* src/nn/loss.c - see loss.h. */
#include "nn/loss.h"

rela_loss_sums rela_loss_run(const rela_loss *o, real *dx, real *dtable, const real *x,
                             const real *table, const int32_t *gold, const real *weight,
                             size_t rows)
{
    const size_t d = o->d, v = o->vocabulary;
    rela_loss_sums sums = { 0, 0, rows };
    for (size_t at = 0; at < rows; at += RELA_LOSS_CHUNK) {
        const size_t m = rows - at < RELA_LOSS_CHUNK ? rows - at : RELA_LOSS_CHUNK;
        rela_gemm_nt(o->logits, v, x + at * d, d, table, d, m, v, d, false);
        for (size_t t = 0; t < m; t++) {
            const real scale = weight ? weight[at + t] : 1;
            double nll = 0;
            const double loss =
                o->k->loss_row(o->logits + t * v, v, (size_t)gold[at + t], o->smooth, scale, &nll);
            if (o->row_nll)
                o->row_nll[at + t] = (real)nll;
            sums.loss += loss * (double)scale;
            sums.nll += nll * (double)scale;
        }
        if (dx)
            rela_gemm_nn(dx + at * d, d, o->logits, v, table, d, m, d, v, false);
        if (dtable)
            rela_gemm_tn(dtable, d, o->logits, v, x + at * d, d, v, d, m, true);
    }
    return sums;
}

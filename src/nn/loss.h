/* SPDX-License-Identifier: MIT */
/* src/nn/loss.h - label-smoothed cross entropy fused with the output product.
 *
 * Rows are taken in chunks: logits of a chunk, loss, gradient in place, both gradient products,
 * next chunk. The logits of a whole batch never exist. */
#ifndef RELA_NN_LOSS_H
#define RELA_NN_LOSS_H

#include "kern/gemm.h"
#include "kern/kern.h"

typedef struct rela_loss_sums {
    double loss; /* label-smoothed cross entropy */
    double nll;  /* negative log-likelihood of the gold tokens */
    size_t n;    /* rows */
} rela_loss_sums;

enum { RELA_LOSS_CHUNK = 128 };

typedef struct rela_loss {
    const rela_kern *k;
    size_t d, vocabulary;
    real smooth;
    real *logits;  /* (RELA_LOSS_CHUNK, vocabulary) */
    real *row_nll; /* (rows) negative log-likelihood of each, written; NULL: not wanted */
} rela_loss;

/* x (rows, d), table (vocabulary, d); weight[t] (NULL: 1) scales loss and gradient of row t. dx
 * is written, dtable added to; both NULL: forward only. */
rela_loss_sums rela_loss_run(const rela_loss *o, real *dx, real *dtable, const real *x,
                             const real *table, const int32_t *gold, const real *weight,
                             size_t rows);

#endif

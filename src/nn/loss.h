/* SPDX-License-Identifier: MIT */
/* src/nn/loss.h - label-smoothed cross entropy fused with the output product.
 *
 * Rows are taken in chunks: logits of a chunk, loss, gradient in place, both gradient products,
 * next chunk. The logits of a whole batch never exist at once. */
#ifndef RELA_NN_LOSS_H
#define RELA_NN_LOSS_H

#include "kern/gemm.h"
#include "kern/kern.h"

#include <stdint.h>

typedef struct rela_loss_sums {
    double loss; /* label-smoothed cross entropy, rows weighted */
    double nll;  /* negative log-likelihood of the gold tokens, without weights */
    size_t n;    /* rows */
} rela_loss_sums;

enum { RELA_LOSS_CHUNK = 128 };

typedef struct rela_loss {
    const rela_kern *k;
    size_t d, vocabulary;
    real smooth;
    real *logits;          /* (RELA_LOSS_CHUNK, vocabulary) */
    real *row_nll;         /* (rows) negative log-likelihood of each, written; may be NULL */
    real kl_weight;        /* of R-Drop pairs, see below */
    const uint32_t *pairs; /* (n_pairs + 1) first rows of sentences; a pair is adjacent */
    size_t n_pairs;        /* sentences, two for each pair; 0: no pairs */
} rela_loss;

/* A pair is the same sentence with two dropout masks. Loss and gradients are then the mean of both
 * plus kl_weight / 4 times the KL divergences between their predictions (R-Drop: Liang et al.,
 * NeurIPS 2021), and the weights are those of the first.
 *
 * x (rows, d), table (vocabulary, d); weight[t] (NULL: 1) scales loss and gradient of row t. dx is
 * written, dtable added to; both NULL: forward only. */
rela_loss_sums rela_loss_run(const rela_loss *o, real *dx, real *dtable, const real *x,
                             const real *table, const int32_t *gold, const real *weight,
                             size_t rows);

#endif

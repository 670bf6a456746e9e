/* SPDX-License-Identifier: MIT */
/* src/model/aligner.h - the pass of an alignment model: embeddings, the probabilities of the words
 * of the batch, and the alignment layer (nn/align.h). A worker (encdec.h) of such a model runs it.
 *
 * log p(y | x) = log softmax_y (sqrt(d) src[x] . tgt[y] + bias[y]). In training the softmax is over
 * the different target tokens of the batch alone: some hundred products per token instead of a
 * vocabulary. The end of the source stands for no source token; the end of the target is left out.
 */
#ifndef RELA_MODEL_ALIGNER_H
#define RELA_MODEL_ALIGNER_H

#include "model/encdec.h"
#include "nn/align.h"

/* Lies in the block of its worker. */
typedef struct rela_aligner {
    size_t max_types;  /* different target tokens of a batch */
    size_t chunk_rows; /* source rows whose probabilities exist at a time */
    int32_t *local;    /* (target vocabulary): number among the types; -1: not there */
    int32_t *types;    /* (max_types) */
    size_t n_types;
    real *table, *dtable; /* (max_types, d) rows of the target embedding */
    real *bias, *dbias;   /* (max_types) */
    real *x, *dx;         /* (source rows, d) */
    real *lp, *dlogits;   /* (chunk_rows, max_types) */
    real *norms; /* (source vocabulary): log-sum-exp over the target vocabulary, or UNKNOWN */
    real *end;   /* weights of the end of the target */
    rela_align_scratch scratch;
} rela_aligner;

void rela_aligner_plan(rela_aligner *a, rela_plan *p, const rela_config *c, size_t max_src_rows,
                       size_t max_tgt_rows);
/* Once, after a plan with memory. */
void rela_aligner_start(const rela_aligner *a, const rela_config *c);

/* Shows the weights of all pairs to the tap, as those of a cross attention of one layer and head:
 * here the softmax is over the whole vocabulary, and nothing depends on the company of a pair.
 * Weights must not change between calls: norms are kept. */
void rela_aligner_attend(rela_aligner *a, const rela_net *net, const rela_packed *b,
                         const rela_attn_tap *tap);

/* As rela_worker_train: grads may be NULL. */
rela_loss_sums rela_aligner_run(rela_aligner *a, const rela_net *net, real *grads,
                                const rela_packed *b, const rela_pass *p);

#endif

/* SPDX-License-Identifier: MIT */
/* src/nn/align.h - the alignment layer: attention between the tokens of a sentence pair whose two
 * sides are both known.
 *
 * Given lp(j, i) = log p(target token j | source token i), whose last column stands for no source
 * token (null), the layer attends in two rounds, called looks. With the prior
 *     log pi(j, i) = log(1 - pi0) + log softmax_i r(j, i),   log pi(j, null) = log pi0
 * the log-odds of a link against no link, and its probability, are
 *     s(j, i) = lp(j, i) + log pi(j, i) - lp(j, null) - log pi(j, null),   s(j, null) = 0,
 *     q(j, i) = softmax_i s(j, i),
 * and the kind of attention turns them into weights w: kinds whose weights sum to one take s,
 * rectified kinds take q(j, i) - q(j, null), so that they keep exactly the links that explain a
 * token better than null does. First look: r = near[distance from the diagonal]. Second look: the
 * weights of the first one around (j, i) are added,
 *     r'(j, i) = r(j, i) + sum around[y][x] w(j + y, i + x) over y != 0,
 * so that neighbouring links attract each other, but no token votes for itself. The loss of token j
 * is -log sum_i exp(lp(j, i) + log pi'(j, i)): how well the source explains it. */
#ifndef RELA_NN_ALIGN_H
#define RELA_NN_ALIGN_H

#include "nn/attn/kind.h"
#include "tensor/plan.h"

enum {
    RELA_ALIGN_FAR = 24, /* distances from the diagonal are clipped to this */
    RELA_ALIGN_NEAR = 2 * RELA_ALIGN_FAR + 1,
    RELA_ALIGN_REACH = 3, /* neighbours that the second look sees on each side */
    RELA_ALIGN_AROUND = 2 * RELA_ALIGN_REACH + 1
};

typedef struct rela_align_layer {
    const rela_kern *k;
    const rela_attn_kind *kind;
    const real *numbers; /* hyper-parameters of the kind */
    const real *null;    /* (1): log-odds of pi0 */
    const real *near;    /* (RELA_ALIGN_NEAR) */
    const real *around;  /* (RELA_ALIGN_AROUND, RELA_ALIGN_AROUND); the middle row is not used */
} rela_align_layer;

/* Gradients of the parameters, added to. */
typedef struct rela_align_grad {
    real *null, *near, *around;
} rela_align_grad;

/* One look at a pair; all (rows, cols). */
typedef struct rela_align_look {
    real *pi;      /* softmax of r; no column for null, so cols - 1 per row */
    real *scores;  /* s */
    real *weights; /* the attention weights from them */
} rela_align_look;

/* For pairs of up to max_len tokens a side. */
typedef struct rela_align_scratch {
    rela_align_look look[2]; /* of the last pair; weights of look[1] are the result */
    real *lp;                /* filled by the caller; holds its gradient after a backward pass */
    real *r, *dr, *dw;
    real *row; /* 4 * max_len reals for the kind, then two rows */
} rela_align_scratch;

void rela_align_scratch_plan(rela_align_scratch *s, rela_plan *p, size_t max_len);

typedef struct rela_align_sums {
    double loss; /* row j times scale[j] */
    double nll;  /* unscaled */
} rela_align_sums;

/* s->lp (rows, cols) as above, cols >= 2. scale (rows) weights loss and gradient (NULL: 1); loss
 * (rows), unless NULL, receives the unscaled loss of each row. Unless g is NULL, the gradient of lp
 * replaces lp. */
rela_align_sums rela_align_run(const rela_align_layer *a, const rela_align_scratch *s,
                               const rela_align_grad *g, real *loss, const real *scale, size_t rows,
                               size_t cols);

#endif

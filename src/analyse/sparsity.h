/* SPDX-License-Identifier: MIT */
/* src/analyse/sparsity.h - counts exact zeros and null rows of attention, per head.
 *
 * Sparsity: zeros over the query-key pairs that can be seen (causally masked ones are not counted).
 * Null rate: queries that attend to nothing at all, also for want of keys. An observer of a forward
 * pass: give rela_sparsity_tap to rela_pass_options.tap. One thread at a time. */
#ifndef RELA_ANALYSE_SPARSITY_H
#define RELA_ANALYSE_SPARSITY_H

#include "model/net.h"

typedef struct rela_zeros {
    uint64_t zeros, pairs;    /* weights */
    uint64_t null_rows, rows; /* queries */
} rela_zeros;

typedef struct rela_sparsity {
    const rela_attn_stack *stacks; /* (n_stacks) lent by the model */
    size_t n_stacks, heads;
    rela_zeros *cells[RELA_STACKS_MAX]; /* (layers, heads) */
} rela_sparsity;

/* The net must outlive it. */
rela_status rela_sparsity_init(rela_sparsity *s, const rela_net *net, rela_error *err);
void rela_sparsity_deinit(rela_sparsity *s);
rela_attn_tap rela_sparsity_tap(rela_sparsity *s);

/* Sum over the heads of a layer, or over all layers for layer SIZE_MAX. */
rela_zeros rela_sparsity_sum(const rela_sparsity *s, size_t stack, size_t layer);
double rela_zeros_share(rela_zeros z); /* of weights that are zero; 0 if there are none */
double rela_zeros_null(rela_zeros z);  /* of queries that attend to nothing */

#endif

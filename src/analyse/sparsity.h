/* SPDX-License-Identifier: MIT */
/* src/analyse/sparsity.h - counts exact zeros and null attention, per head.
 *
 * Sparsity: the share of zeros among the query-key pairs that are not causally masked. Null rate:
 * the share of queries with null attention, or that have no keys. Observes a forward pass: set
 * rela_pass_options.tap to rela_sparsity_tap. One thread at a time. */
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
double rela_zeros_share(rela_zeros z); /* share of zero weights; 0 if there are no weights */
double rela_zeros_null(rela_zeros z);  /* null rate */

#endif

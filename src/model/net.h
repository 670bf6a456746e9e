/* SPDX-License-Identifier: MIT */
/* src/model/net.h - a model in memory: configuration, blocks, parameters.
 *
 * Threads may share it while none writes weights. */
#ifndef RELA_MODEL_NET_H
#define RELA_MODEL_NET_H

#include "model/build.h"

/* Why some files cannot do more than translate. */
#define RELA_TRANSLATES_ONLY "a packed model can only translate"

typedef struct rela_net {
    rela_config config;
    rela_params params;
    rela_block_list list;
    const rela_kern *k;
    real *weights;      /* params.total reals */
    rela_weight *plain; /* (params.n) the matrices among them; NULL if params.packed */
    real *positions;    /* (max_len, d) */
} rela_net;

/* Allocates weights (not initialised) and positions. c must have passed rela_config_check. */
rela_status rela_net_init(rela_net *n, const rela_config *c, rela_error *err);
/* The same with existing parameters of c and weights (rela_mem_alloc). Both are given to n, on
 * failure too. */
rela_status rela_net_adopt(rela_net *n, const rela_config *c, rela_params *params, real *weights,
                           rela_error *err);
/* Changes settings, keeping the weights: rela_config_differs must find nothing, and vocabularies
 * must keep their sizes. On failure nothing has changed. */
rela_status rela_net_configure(rela_net *n, const rela_config *c, rela_error *err);
/* Frees the matrices; the rest serves packed weights. */
rela_status rela_net_drop_matrices(rela_net *n, rela_error *err);
void rela_net_deinit(rela_net *n);

/* The block that computes logits: the last. */
const rela_block *rela_net_output(const rela_net *n);
/* The values of a parameter, which must exist; a matrix must not be packed. */
real *rela_net_values(const rela_net *n, const char *name);

#endif

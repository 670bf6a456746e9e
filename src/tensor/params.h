/* SPDX-License-Identifier: MIT */
/* src/tensor/params.h - the table of named parameters: shape, offset, initial values.
 *
 * All parameters of a model live in one block; gradients, optimiser moments and averages are
 * further blocks of the same layout, so an offset addresses all of them. Checkpoint, optimiser,
 * averaging, export and golden files walk this table. */
#ifndef RELA_TENSOR_PARAMS_H
#define RELA_TENSOR_PARAMS_H

#include "base/error.h"
#include "kern/kern.h"

#include <stddef.h>
#include <stdint.h>

typedef enum rela_init_kind {
    RELA_INIT_CONSTANT, /* arg */
    RELA_INIT_UNIFORM,  /* on [-arg, arg) */
    RELA_INIT_NORMAL    /* mean 0, standard deviation arg */
} rela_init_kind;

typedef struct rela_init {
    rela_init_kind kind;
    double arg;
} rela_init;

enum { RELA_PARAM_NAME_MAX = 64 };

typedef struct rela_param {
    char name[RELA_PARAM_NAME_MAX];
    uint64_t hash; /* of the name */
    size_t rank;   /* 1 or 2 */
    size_t rows;   /* 1 for vectors */
    size_t cols;
    size_t offset; /* in reals, from the start of the block */
    bool matrix;   /* weights of a product or an embedding: can be packed */
    bool lookup;   /* used by no product: its rows are only looked up */
    bool table;    /* one row per entry of a vocabulary */
    bool packed;   /* stored packed, outside the block */
    rela_init init;
} rela_param;

typedef struct rela_params {
    rela_param *items;
    size_t *offsets; /* (n) those of the items, contiguous: a decoding step needs many */
    size_t n, cap, cap_offsets;
    size_t total; /* reals of the block, padding included */
    size_t count; /* reals of all parameters, packed ones included */
    bool packed;  /* matrices are stored packed, outside the block */
} rela_params;

void rela_params_deinit(rela_params *p);

/* A parameter to add; rows 0: a vector. */
typedef struct rela_param_shape {
    size_t rows, cols;
    bool matrix; /* see rela_param */
    rela_init init;
    bool lookup, table; /* the same */
} rela_param_shape;

/* Sets *index to the number of the parameter of that name, which is added if it is new: layers
 * share parameters by using the same names. */
rela_status rela_params_add(rela_params *p, uint32_t *index, const char *name,
                            const rela_param_shape *shape, rela_error *err);

const rela_param *rela_params_find(const rela_params *p, const char *name); /* NULL: none */
static inline size_t rela_param_count(const rela_param *p)
{
    return p->rows * p->cols;
}

/* Initial values: each parameter has its own random stream, keyed by its name, so adding one never
 * changes the others. block holds p->total reals. */
void rela_params_init(real *block, const rela_params *p, uint64_t seed);

#endif

/* SPDX-License-Identifier: MIT */
/* tests/attnlayer.h - one attention layer with its scratch, for tests. */
#ifndef RELA_TESTS_ATTNLAYER_H
#define RELA_TESTS_ATTNLAYER_H

#include "attend.h"
#include "covered.h"
#include "nn/attn/attn.h"

#include <stdlib.h>

typedef struct attn_layer {
    rela_attn attn;
    rela_attn_scratch scratch;
    real numbers[RELA_ATTN_NUMBERS_MAX];
    char *memory;
} attn_layer;

static inline rela_attn_shape attn_layer_shape(const attn_layer *l)
{
    rela_attn_shape shape = rela_attn_shape_of(&l->attn);
    shape.numbers = l->numbers;
    return shape;
}

/* Numbers of the learned arrays of the kind. */
static inline size_t attn_layer_learned(const attn_layer *l)
{
    const rela_attn_shape shape = attn_layer_shape(l);
    size_t at[RELA_ATTN_PARAMS_MAX];
    return rela_attn_params_at(at, &shape);
}

/* Learned arrays, and in the backward pass their gradients, one after the other. */
static inline void attn_layer_learn(attn_layer *l, const real *all, rela_attn_grad *grad,
                                    real *dall)
{
    const rela_attn_shape shape = attn_layer_shape(l);
    size_t at[RELA_ATTN_PARAMS_MAX];
    (void)rela_attn_params_at(at, &shape);
    for (size_t i = 0; i < rela_attn_params_n(shape.kind); i++) {
        l->attn.params[i] = all + at[i];
        if (grad)
            grad->dparams[i] = dall + at[i];
    }
}

/* first: the first hyper-parameter, if not 0. */
static inline void attn_layer_start_with(attn_layer *l, const rela_attn_kind *kind,
                                         const attn_setup *setup, real first, size_t heads,
                                         size_t d_head, size_t len_max)
{
    *l = (attn_layer){ .attn = {
                           .k = rela_kern_get(), .kind = kind, .heads = heads, .d_head = d_head } };
    attn_setup_numbers(l->numbers, kind, setup);
    if (first != 0)
        l->numbers[0] = first;
    l->attn.numbers = l->numbers;
    rela_plan plan = { NULL, 0 };
    const size_t made =
        kind->made ? kind->made->size(&(rela_attn_shape){ kind, l->numbers, heads, d_head }) : 0;
    (void)rela_plan_reals(&plan, made);
    const rela_attn_shape shape = attn_layer_shape(l);
    rela_attn_scratch_plan(&l->scratch, &plan, &shape, len_max);
    l->memory = aligned_alloc(RELA_PLAN_ALIGN, plan.used);
    CHECK(l->memory != NULL, "no memory for %zu bytes", plan.used);
    plan = (rela_plan){ l->memory, 0 };
    real *array = rela_plan_reals(&plan, made);
    if (made)
        kind->made->make(array, &shape, 0, 0);
    l->attn.made = array;
    rela_attn_scratch_plan(&l->scratch, &plan, &shape, len_max);
}

static inline void attn_layer_start(attn_layer *l, const rela_attn_kind *kind,
                                    const attn_setup *setup, size_t heads, size_t d_head,
                                    size_t len_max)
{
    attn_layer_start_with(l, kind, setup, 0, heads, d_head, len_max);
}

static inline void attn_layer_end(attn_layer *l)
{
    covered("level: attention", l->attn.k->name);
    free(l->memory);
    l->memory = NULL;
}

#endif

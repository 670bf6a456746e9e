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

static inline void attn_layer_start(attn_layer *l, const rela_attn_kind *kind,
                                    const attn_setup *setup, size_t heads, size_t d_head,
                                    size_t len_max)
{
    *l = (attn_layer){ .attn = {
                           .k = rela_kern_get(), .kind = kind, .heads = heads, .d_head = d_head } };
    attn_setup_numbers(l->numbers, kind, setup);
    l->attn.numbers = l->numbers;
    rela_plan plan = { NULL, 0 };
    rela_attn_scratch_plan(&l->scratch, &plan, kind, d_head, len_max);
    l->memory = aligned_alloc(RELA_PLAN_ALIGN, plan.used);
    CHECK(l->memory != NULL, "no memory for %zu bytes", plan.used);
    plan = (rela_plan){ l->memory, 0 };
    rela_attn_scratch_plan(&l->scratch, &plan, kind, d_head, len_max);
}

static inline void attn_layer_end(attn_layer *l)
{
    covered("level: attention", l->attn.k->name);
    free(l->memory);
    l->memory = NULL;
}

#endif

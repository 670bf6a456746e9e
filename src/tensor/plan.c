/* SPDX-License-Identifier: MIT */
/* src/tensor/plan.c - see plan.h. */
#include "tensor/plan.h"

#include <stdint.h>

rela_plan rela_plan_in(void *block)
{
    const size_t past = (size_t)((uintptr_t)block % RELA_PLAN_ALIGN);
    return (rela_plan){ (char *)block + (RELA_PLAN_ALIGN - past) % RELA_PLAN_ALIGN, 0 };
}

void *rela_plan_take(rela_plan *p, size_t n, size_t size)
{
    void *at = p->base ? p->base + p->used : NULL;
    const size_t bytes = n * size + RELA_PLAN_ALIGN - 1;
    p->used += bytes - bytes % RELA_PLAN_ALIGN;
    return at;
}

real *rela_plan_reals(rela_plan *p, size_t n)
{
    return rela_plan_take(p, n, sizeof(real));
}

/* SPDX-License-Identifier: MIT */
/* src/tensor/plan.c - see plan.h. */
#include "tensor/plan.h"

#include <stdint.h>

#ifdef RELA_POISON
#include <string.h>

static size_t planted;
static _Thread_local size_t taken; /* threads plan at the same time */

void rela_plan_poison(void *scratch, size_t bytes)
{
    memset(scratch, 0xFF, bytes); /* NaN as float and double, -1 as an integer */
}

size_t rela_plan_plant(size_t which)
{
    planted = which;
    return taken;
}
#endif

rela_plan rela_plan_in(void *block)
{
    const size_t past = (size_t)((uintptr_t)block % RELA_PLAN_ALIGN);
    return (rela_plan){ (char *)block + (RELA_PLAN_ALIGN - past) % RELA_PLAN_ALIGN, 0 };
}

#ifdef RELA_POISON
real *rela_plan_reals(rela_plan *p, size_t n)
{
    real *x = rela_plan_take(p, n, sizeof(real));
    const size_t before = x ? (size_t)(x - (real *)(void *)p->base) : 0;
    taken = before == 0 ? 1 : taken + 1;
    if (taken == planted)
        x -= n < before ? n : before;
    return x;
}
#endif

/* SPDX-License-Identifier: MIT */
/* src/tensor/plan.h - lay out a set of arrays in one block: run the layout code once without
 * memory to learn the size, then again with memory. Same code, so the two cannot drift. */
#ifndef RELA_TENSOR_PLAN_H
#define RELA_TENSOR_PLAN_H

#include "kern/kern.h"

#include <stddef.h>

enum { RELA_PLAN_ALIGN = 64 };

typedef struct rela_plan {
    char *base;  /* NULL: measure only; aligned to RELA_PLAN_ALIGN otherwise */
    size_t used; /* bytes so far */
} rela_plan;

/* A plan in a block, whose size is the measured bytes plus RELA_PLAN_ALIGN. */
rela_plan rela_plan_in(void *block);

/* n elements of the given size; NULL while measuring. Sizes are the caller's own, already
 * bounded: overflow is a programming error. */
static inline void *rela_plan_take(rela_plan *p, size_t n, size_t size)
{
    void *at = p->base ? p->base + p->used : NULL;
    const size_t bytes = n * size + RELA_PLAN_ALIGN - 1;
    p->used += bytes - bytes % RELA_PLAN_ALIGN;
    return at;
}

/* Test builds (RELA_POISON) fill scratch with NaN before a sublayer gets it, to expose results that
 * depend on what another sublayer left there. Other builds do nothing. */
#ifdef RELA_POISON
real *rela_plan_reals(rela_plan *p, size_t n);
void rela_plan_poison(void *scratch, size_t bytes);
/* Plants a fault for tests: in every plan the array of reals number `which`, from 1, overlaps what
 * was taken before it; 0: no fault. Returns how many arrays of reals the last plan had. */
size_t rela_plan_plant(size_t which);
#else
static inline real *rela_plan_reals(rela_plan *p, size_t n)
{
    return rela_plan_take(p, n, sizeof(real));
}
static inline void rela_plan_poison(void *scratch, size_t bytes)
{
    (void)scratch;
    (void)bytes;
}
#endif

#endif

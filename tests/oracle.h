/* SPDX-License-Identifier: MIT */
/* tests/oracle.h - shared by the tests of kernels: random numbers, unaligned arrays between guard
 * bands, comparison with exact values within a bound, and the walk over all kernel tables. */
#ifndef RELA_TESTS_ORACLE_H
#define RELA_TESTS_ORACLE_H

#include "check.h"
#include "covered.h"
#include "kern/kern.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { N_MAX = 67, BOX_REALS = 8192, GUARD = 17, N_BOXES = 12 };

#define EPS ((double)FLT_EPSILON)

static uint32_t oracle_seed = 1u;

/* Uniform on [-1, 1); the same sequence on every machine. */
static inline float rnd(void)
{
    oracle_seed = oracle_seed * 1664525u + 1013904223u;
    return (float)(oracle_seed >> 8) / 8388608.0f - 1.0f;
}

/* The guard is a NaN with a known payload: a stray write changes its bits, a stray read shows in
 * results. */
static const uint32_t GUARD_BITS = 0x7FC0ABCDu;

static float box_memory[N_BOXES][BOX_REALS + 2 * GUARD];
static size_t box_size[N_BOXES];

static inline void fill_guard(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(x + i, &GUARD_BITS, sizeof *x);
}

static inline bool is_guard(const float *x)
{
    return memcmp(x, &GUARD_BITS, sizeof *x) == 0;
}

/* Array number `box` of n reals; GUARD is odd, so it is not aligned to more than one real. */
static inline float *box(size_t number, size_t n)
{
    float *x = box_memory[number];
    CHECK(n <= BOX_REALS, "box of %zu reals", n);
    fill_guard(x, n + 2 * GUARD);
    box_size[number] = n;
    return x + GUARD;
}

static inline float *random_box(size_t number, size_t n, float scale)
{
    float *x = box(number, n);
    for (size_t i = 0; i < n; i++)
        x[i] = rnd() * scale;
    return x;
}

/* No write outside any box; inside, everything was written. */
static inline void check_boxes(const char *level, const char *what, size_t n)
{
    for (size_t b = 0; b < N_BOXES; b++) {
        for (size_t i = 0; i < GUARD && box_size[b]; i++)
            CHECK(is_guard(box_memory[b] + i) && is_guard(box_memory[b] + GUARD + box_size[b] + i),
                  "%s %s n=%zu: stray write beside array %zu", level, what, n, b);
        for (size_t i = 0; i < box_size[b]; i++)
            CHECK(!is_guard(box_memory[b] + GUARD + i), "%s %s n=%zu: array %zu lacks %zu", level,
                  what, n, b, i);
    }
    memset(box_size, 0, sizeof box_size);
}

/* Where a failing comparison happened. */
typedef struct place {
    const rela_kern *k;
    const char *what;
    size_t n;
} place;

static inline void near(const place *p, size_t i, double got, double want, double bound)
{
    CHECK(fabs(got - want) <= bound, "%s %s n=%zu i=%zu: %.9g, want %.9g +- %.2g", p->k->name,
          p->what, p->n, i, got, want, bound);
}

typedef struct loop_check {
    const char *what;
    void (*run)(const place *p);
} loop_check;

/* Every check on every kernel table, for all lengths up to N_MAX. */
static inline void run_checks(const loop_check *checks, size_t n_checks)
{
    for (size_t level = 0; rela_kern_at(level); level++) {
        for (size_t c = 0; c < n_checks; c++)
            for (size_t n = 0; n <= N_MAX; n++) {
                const place p = { rela_kern_at(level), checks[c].what, n };
                checks[c].run(&p);
                check_boxes(p.k->name, p.what, n);
            }
        covered("level: loops", rela_kern_at(level)->name);
    }
}

#endif

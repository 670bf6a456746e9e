/* SPDX-License-Identifier: MIT */
/* tests/sweep.h - makes every allocation and every file call of a piece of code fail in turn, first
 * that call alone, then all from it on, and checks that nothing leaks:
 *
 *     for (sweep s = SWEEP_START; sweep_next(&s);) {
 *         ... prepare ...
 *         sweep_arm(&s);
 *         ... the code ...
 *         sweep_disarm(&s);
 *         ... free the results ...
 *         sweep_check(&s);
 *     } */
#ifndef RELA_TESTS_SWEEP_H
#define RELA_TESTS_SWEEP_H

#include "check.h"

#include "base/fault.h"
#include "base/mem.h"

typedef struct sweep {
    rela_fault_class kind;
    bool persistent;
    uint64_t n; /* the call that fails */
    bool hit;   /* it was reached; false ends the pass */
    uint64_t live;
} sweep;

/* clang-format off */
#define SWEEP_START { .kind = RELA_FAULT_MEM, .hit = true }
/* clang-format on */

static inline bool sweep_next(sweep *s)
{
    if (s->hit) {
        s->n++;
        return true;
    }
    s->n = 1;
    if (s->persistent)
        s->kind = (rela_fault_class)(s->kind + 1);
    s->persistent = !s->persistent;
    return s->kind < RELA_FAULT_N_CLASSES;
}

static inline void sweep_arm(sweep *s)
{
    rela_memory_stats stats;
    stats = memory_now();
    s->live = stats.live;
    rela_fault_set(s->kind, s->n, s->persistent);
}

static inline void sweep_disarm(sweep *s)
{
    s->hit = rela_fault_seen(s->kind) >= s->n;
    rela_fault_set(s->kind, 0, false);
}

static inline void sweep_check(const sweep *s)
{
    rela_memory_stats stats;
    stats = memory_now();
    CHECK(stats.live == s->live, "class %d call %d: leak", s->kind, (int)s->n);
}

/* The code must succeed if the failing call was not reached; a failure must be RELA_NOMEM or
 * RELA_IO, with a message. */
static inline void sweep_status(const sweep *s, rela_status st, const rela_error *err)
{
    CHECK(s->hit || st == RELA_OK, "without a fault: %s", err->message);
    CHECK(st == RELA_OK || st == RELA_NOMEM || st == RELA_IO, "status %d", st);
    CHECK(st == RELA_OK || err->message[0], "class %d call %d: no message", s->kind, (int)s->n);
    CHECK(!s->hit || s->kind != RELA_FAULT_MEM || st == RELA_NOMEM,
          "allocation %d failed unnoticed: status %d", (int)s->n, st);
}

#endif

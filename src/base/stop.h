/* SPDX-License-Identifier: MIT */
/* src/base/stop.h - whether long work is to end early.
 *
 * Work asks often, on any thread: between blocks of text, sentences or parts of a model. Once
 * the answer was yes, it stays yes. */
#ifndef RELA_BASE_STOP_H
#define RELA_BASE_STOP_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rela_stop {
    int (*asked)(void *ctx); /* NULL: never */
    void *ctx;
} rela_stop;

static inline bool rela_stop_asked(const rela_stop *s)
{
    return s->asked && s->asked(s->ctx) != 0;
}

static inline rela_status rela_stop_check(const rela_stop *s, rela_error *err)
{
    return rela_stop_asked(s) ? rela_fail(err, RELA_CANCEL, "stopped") : RELA_OK;
}

/* A callback for progress, which stops the work; ctx is a rela_stop. */
static inline int rela_stop_progress(void *ctx, uint64_t done, uint64_t total)
{
    (void)done, (void)total;
    return rela_stop_asked(ctx);
}

#endif

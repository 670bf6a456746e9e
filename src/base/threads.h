/* SPDX-License-Identifier: MIT */
/* src/base/threads.h - the process's pool of threads; for par.c, which has the patterns built on
 * it.
 *
 * Threads exist while someone holds the pool. Any number of callers may use it at the same time:
 * each works on its own region itself, helped by the threads that have nothing else to do, so a
 * region always completes, even if no thread could be started. In a forked child the pool is empty
 * and starts threads anew. */
#ifndef RELA_BASE_THREADS_H
#define RELA_BASE_THREADS_H

#include "base/error.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* Blocks all signals for the calling thread, and for threads it starts, but those that a faulting
 * instruction or abort raises: blocked, these would end the process without its handlers. old
 * receives what was blocked before. */
void rela_threads_block_signals(sigset_t *old);

/* Adds a holder. Until _release there may be threads; the last _release ends and joins them. */
void rela_threads_hold(void);
void rela_threads_release(void);

/* Sees to it that n threads of the pool exist. RELA_NOMEM: the limits of the process do not allow
 * that many; those that could be started stay. For a caller that holds the pool. */
rela_status rela_threads_start(size_t n, rela_error *err);

/* Whether the calling thread is working on a part of a region. */
bool rela_threads_inside(void);

/* Calls f(ctx, part) for each part 0 .. n_parts - 1, on this thread, which always has part 0, and
 * at most n_parts - 1 of the pool; returns when all parts are done. Inside a region, this thread
 * does all of them. */
void rela_threads_run(size_t n_parts, void (*f)(void *ctx, size_t part), void *ctx);

#endif

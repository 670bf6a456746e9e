/* SPDX-License-Identifier: MIT */
/* src/decode/pool.h - several engines, one per thread, that take sentences from one queue.
 *
 * A *task* is a sentence with options of its own; its memory is the caller's, from rela_pool_submit
 * until on_end was called. Tasks start in the order of the queue; an engine takes several at a time
 * where it can, as sources are encoded faster together. rela_pool_work lends threads to the pool
 * until nothing is left to do. */
#ifndef RELA_DECODE_POOL_H
#define RELA_DECODE_POOL_H

#include "base/arena.h"
#include "decode/search.h"

typedef struct rela_pool_task rela_pool_task;

struct rela_pool_task {
    rela_source source;
    const rela_search_options *options; /* lent */
    double deadline;                    /* by rela_clock_seconds; 0: none */
    /* Called once, on a thread of the pool, with no lock held. r is lent during the call; NULL:
     * there is none, and why says why not. worker: number of the calling thread, below that of
     * workers; no two calls with the same number at the same time. */
    void (*on_end)(rela_pool_task *t, size_t worker, const rela_search_result *r,
                   const rela_error *why);
    /* private */
    rela_pool_task *after;
    size_t tokens;
    _Atomic bool cancelled;
};

typedef struct rela_pool_limits {
    size_t workers;           /* threads; at most those of the pool */
    size_t sentences, tokens; /* decoded at the same time, by all threads */
} rela_pool_limits;

typedef struct rela_pool_run {
    rela_pool_limits limits;
    /* Until no task is left or the first failure, after which on_end is not called any more, and
     * which is returned. Otherwise a failure concerns only the tasks it ends, and workers that have
     * nothing to do wait for others that have. */
    bool closed;
    /* Called by workers when few tasks wait; may submit some. False: it has no more at present.
     * NULL: none. */
    bool (*feed)(void *ctx, size_t worker);
    void *ctx;
    rela_callback *callback; /* counts sentences. NULL: none */
    rela_stop stop;          /* asked before each step: RELA_CANCEL. For closed runs only */
} rela_pool_run;

size_t rela_pool_workers(const rela_search_pool *p); /* at most */

/* May be called at any time from any thread. It has been checked (rela_pool_check). */
void rela_pool_submit(rela_search_pool *p, rela_pool_task *t);
rela_status rela_pool_check(const rela_search_pool *p, const rela_source *sources, size_t n,
                            const rela_search_options *o, rela_error *err);
/* Ends a task before the next step, with RELA_CANCEL. One that has ended is left alone, but its
 * memory must still be there. */
void rela_pool_cancel(rela_search_pool *p, rela_pool_task *t);
/* There is something to feed. */
void rela_pool_wake(rela_search_pool *p);

/* Works until nothing waits or runs. One thread at a time. */
rela_status rela_pool_work(rela_search_pool *p, const rela_pool_run *run, rela_error *err);
/* Frees the caches of all engines, between runs. */
void rela_pool_trim(rela_search_pool *p);

size_t rela_pool_live(rela_search_pool *p); /* sentences that are being decoded */

/* A copy of a result in an arena, with what the options ask for of its attention. RELA_NOMEM. */
rela_status rela_search_result_keep(rela_search_result *to, rela_arena *arena,
                                    const rela_search_result *from, const rela_source *source,
                                    const rela_search_options *o, rela_error *err);

#endif

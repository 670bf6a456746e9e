/* SPDX-License-Identifier: MIT */
/* src/decode/pool.c - see pool.h.
 *
 * An engine takes new sentences when all that wait fit in, or when a part of its room is free: the
 * sources of several are encoded in one pass, while one sentence alone would cost as much as a step
 * of all others. It takes no more than its share of what waits, so that threads end at about the
 * same time. A closed run is sorted by length: neighbours end at about the same time, and waiting
 * for nearly all of them keeps the number of rows high and the caches short.
 */
#include "decode/pool.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/par.h"
#include "decode/engine.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* Eighths of the room that must be free before new sentences come. */
enum { EIGHTHS = 8, REFILL = 2, REFILL_SORTED = 7 };

/* One thread of a run. */
typedef struct worker {
    rela_engine *engine; /* created when first needed */
    rela_arena *arena;   /* of the result that is being handed over */
    rela_admission *admissions;
    uint32_t *places;
    size_t cap; /* sentences at a time */
    size_t cap_admissions, cap_places;
    size_t tokens;   /* of live sentences */
    uint64_t seen;   /* cancellations */
    double deadline; /* the earliest of the live ones */
    rela_status status;
    rela_error err;
} worker;

struct rela_search_pool {
    size_t n_nets, n_workers;
    const rela_packed_weights **nets;
    worker *workers;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    rela_pool_task *first, *last; /* tasks that wait */
    size_t n_waiting, n_live, n_feeding;
    uint64_t n_changes; /* that may give a worker something to do */
    _Atomic uint64_t n_cancelled;
    _Atomic bool stopped;
    const rela_pool_run *run;
};

static void work(void *ctx, size_t begin, size_t end, int thread);
static rela_status work_once(rela_search_pool *p, size_t number, bool *done);
static bool feed(rela_search_pool *p, size_t number);
static size_t take_waiting(rela_search_pool *p, worker *w, rela_pool_task **ended);
static rela_status admit(rela_search_pool *p, size_t number, size_t n);
static void end_task(rela_search_pool *p, size_t number, rela_pool_task *t,
                     const rela_search_result *r, const rela_error *why);
static void refuse(rela_pool_task *tasks, size_t number);
static void drop_over(rela_search_pool *p, size_t number);
static rela_status hand_over(rela_search_pool *p, size_t number);
static void fail_all(rela_search_pool *p, size_t number);
static bool wait_for_others(rela_search_pool *p, uint64_t n_changes);

rela_status rela_search_pool_create(rela_search_pool **out, const rela_packed_weights *const *nets,
                                    size_t n_nets, int n_threads, rela_error *err)
{
    *out = NULL;
    rela_search_pool *p = rela_mem_zalloc(sizeof *p);
    if (!p)
        return rela_fail(err, RELA_NOMEM, "no memory for the search");
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->changed, NULL);
    p->n_nets = n_nets;
    p->n_workers = (size_t)rela_par_threads(n_threads);
    p->nets = rela_mem_array(n_nets, sizeof *p->nets);
    p->workers = rela_mem_zalloc(p->n_workers * sizeof *p->workers);
    rela_status st =
        p->nets && p->workers ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for the search");
    for (size_t i = 0; st == RELA_OK && i < n_nets; i++)
        p->nets[i] = nets[i];
    if (st == RELA_OK) /* fails early if the nets do not match */
        st = rela_engine_create(&p->workers[0].engine, p->nets, n_nets, err);
    if (st == RELA_OK)
        *out = p;
    else
        rela_search_pool_destroy(p);
    return st;
}

void rela_search_pool_destroy(rela_search_pool *p)
{
    if (!p)
        return;
    for (size_t i = 0; p->workers && i < p->n_workers; i++) {
        worker *w = &p->workers[i];
        rela_engine_destroy(w->engine);
        rela_arena_destroy(w->arena);
        rela_mem_free(w->admissions);
        rela_mem_free(w->places);
    }
    rela_mem_free(p->workers);
    rela_mem_free(p->nets);
    (void)pthread_cond_destroy(&p->changed);
    (void)pthread_mutex_destroy(&p->lock);
    rela_mem_free(p);
}

void rela_pool_trim(rela_search_pool *p)
{
    for (size_t i = 0; i < p->n_workers; i++) {
        worker *w = &p->workers[i];
        if (w->engine)
            rela_engine_trim(w->engine);
        rela_arena_destroy(w->arena);
        w->arena = NULL;
    }
}

size_t rela_pool_workers(const rela_search_pool *p)
{
    return p->n_workers;
}

size_t rela_pool_live(rela_search_pool *p)
{
    (void)pthread_mutex_lock(&p->lock);
    const size_t n = p->n_live;
    (void)pthread_mutex_unlock(&p->lock);
    return n;
}

rela_status rela_pool_check(const rela_search_pool *p, const rela_source *sources, size_t n,
                            const rela_search_options *o, rela_error *err)
{
    return rela_search_check(p->workers[0].engine, sources, n, o, err);
}

/* ---- the queue ---- */

/* Called with the lock held. */
static void tell_all(rela_search_pool *p)
{
    p->n_changes++;
    (void)pthread_cond_broadcast(&p->changed);
}

void rela_pool_submit(rela_search_pool *p, rela_pool_task *t)
{
    t->after = NULL;
    t->tokens = rela_source_longest(&t->source) + 1;
    (void)pthread_mutex_lock(&p->lock);
    if (p->last)
        p->last->after = t;
    else
        p->first = t;
    p->last = t;
    p->n_waiting++;
    p->n_changes++;
    (void)pthread_cond_signal(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
}

void rela_pool_cancel(rela_search_pool *p, rela_pool_task *t)
{
    atomic_store(&t->cancelled, true);
    atomic_fetch_add(&p->n_cancelled, 1);
    rela_pool_wake(p);
}

void rela_pool_wake(rela_search_pool *p)
{
    (void)pthread_mutex_lock(&p->lock);
    tell_all(p);
    (void)pthread_mutex_unlock(&p->lock);
}

static bool over(const rela_pool_task *t, double now)
{
    return atomic_load(&t->cancelled) || (t->deadline > 0 && t->deadline <= now);
}

/* Takes a task out of the queue. Called with the lock held. */
static rela_pool_task *pop(rela_search_pool *p)
{
    rela_pool_task *t = p->first;
    p->first = t->after;
    if (!p->first)
        p->last = NULL;
    p->n_waiting--;
    return t;
}

/* ---- a run ---- */

static size_t share(const rela_pool_limits *l, size_t limit)
{
    const size_t part = (limit + l->workers - 1) / l->workers;
    return part ? part : 1;
}

static rela_status make_worker(rela_search_pool *p, worker *w, rela_error *err)
{
    w->status = RELA_OK;
    w->tokens = 0;
    w->deadline = INFINITY;
    w->seen = atomic_load(&p->n_cancelled);
    w->cap = share(&p->run->limits, p->run->limits.sentences);
    if (!w->arena)
        w->arena = rela_arena_create(0);
    void *a = rela_mem_grow(w->admissions, &w->cap_admissions, w->cap, sizeof *w->admissions);
    w->admissions = a ? a : w->admissions;
    void *b = rela_mem_grow(w->places, &w->cap_places, w->cap, sizeof *w->places);
    w->places = b ? b : w->places;
    if (!a || !b || !w->arena)
        return rela_fail(err, RELA_NOMEM, "no memory for the search");
    const rela_status st =
        w->engine ? RELA_OK : rela_engine_create(&w->engine, p->nets, p->n_nets, err);
    if (st == RELA_OK)
        rela_engine_callback_set(w->engine, p->run->callback);
    return st;
}

rela_status rela_pool_work(rela_search_pool *p, const rela_pool_run *run, rela_error *err)
{
    const size_t n = run->limits.workers;
    rela_status st = RELA_OK;
    p->run = run;
    atomic_store(&p->stopped, false);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = make_worker(p, &p->workers[i], err);
    if (st == RELA_OK)
        rela_par_rows(n, (int)n, work, p);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        if ((st = p->workers[i].status) != RELA_OK && err)
            *err = p->workers[i].err;
    for (size_t i = 0; i < n; i++)
        if (p->workers[i].engine) {
            rela_engine_clear(p->workers[i].engine);
            rela_engine_callback_set(p->workers[i].engine, NULL);
        }
    if (run->closed) { /* what waits after a failure is the caller's again */
        p->first = p->last = NULL;
        p->n_waiting = p->n_live = 0;
    }
    p->run = NULL;
    return st;
}

static void work(void *ctx, size_t begin, size_t end, int thread)
{
    rela_search_pool *p = ctx;
    (void)thread;
    rela_callback_enter(p->run->callback);
    for (size_t i = begin; i < end; i++) {
        worker *w = &p->workers[i];
        bool done = false;
        while (!done && !atomic_load(&p->stopped)) {
            w->status = work_once(p, i, &done);
            if (w->status == RELA_OK)
                continue;
            if (p->run->closed)
                atomic_store(&p->stopped, true);
            else
                fail_all(p, i);
        }
    }
    rela_callback_leave(p->run->callback);
}

/* Takes what waits, makes a step, hands over what has ended. *done: there is nothing left. */
static rela_status work_once(rela_search_pool *p, size_t number, bool *done)
{
    worker *w = &p->workers[number];
    rela_pool_task *ended = NULL;
    (void)pthread_mutex_lock(&p->lock);
    const uint64_t n_changes = p->n_changes;
    (void)pthread_mutex_unlock(&p->lock);
    while (feed(p, number)) {
    }
    const size_t n = take_waiting(p, w, &ended);
    refuse(ended, number);
    rela_status st = n ? admit(p, number, n) : RELA_OK;
    drop_over(p, number);
    if (st == RELA_OK && rela_engine_n_live(w->engine) > 0) {
        st = rela_stop_check(&p->run->stop, &w->err);
        st = st ? st : rela_engine_step(w->engine, &w->err);
    } else if (st == RELA_OK && n == 0 && !ended) {
        *done = !wait_for_others(p, n_changes);
    }
    return st ? st : hand_over(p, number);
}

/* Prepares more tasks if few wait. True: call again. */
static bool feed(rela_search_pool *p, size_t number)
{
    if (!p->run->feed)
        return false;
    (void)pthread_mutex_lock(&p->lock);
    const bool few = p->n_waiting < p->workers[number].cap;
    p->n_feeding += few;
    (void)pthread_mutex_unlock(&p->lock);
    if (!few)
        return false;
    const bool more = p->run->feed(p->run->ctx, number);
    (void)pthread_mutex_lock(&p->lock);
    p->n_feeding--;
    if (more)
        tell_all(p);
    else if (p->run->closed) /* others may wait for this */
        (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
    return more;
}

/* Takes tasks for this worker: their admissions. Those that have been cancelled or are too late go
 * to *ended. */
static size_t take_waiting(rela_search_pool *p, worker *w, rela_pool_task **ended)
{
    const size_t live = rela_engine_n_live(w->engine);
    const size_t tokens = share(&p->run->limits, p->run->limits.tokens);
    const double now = rela_clock_seconds();
    size_t n = 0;
    (void)pthread_mutex_lock(&p->lock);
    const size_t room = w->cap > live ? w->cap - live : 0;
    const size_t part = share(&p->run->limits, p->n_waiting);
    size_t most = room < part ? room : part;
    if (live > 0 && part > room &&
        room * EIGHTHS < w->cap * (p->run->closed ? REFILL_SORTED : REFILL))
        most = 0;
    while (p->first && (over(p->first, now) || n < most)) {
        if (over(p->first, now)) {
            rela_pool_task *t = pop(p);
            t->after = *ended;
            *ended = t;
            continue;
        }
        if (live + n > 0 && w->tokens + p->first->tokens > tokens)
            break;
        rela_pool_task *t = pop(p);
        w->tokens += t->tokens;
        w->deadline = t->deadline > 0 && t->deadline < w->deadline ? t->deadline : w->deadline;
        w->admissions[n++] = (rela_admission){ &t->source, t->options, t };
    }
    p->n_live += n;
    (void)pthread_mutex_unlock(&p->lock);
    return n;
}

static rela_status admit(rela_search_pool *p, size_t number, size_t n)
{
    worker *w = &p->workers[number];
    const rela_status st = rela_engine_admit(w->engine, w->places, w->admissions, n, &w->err);
    if (st == RELA_OK)
        return RELA_OK;
    for (size_t i = 0; i < n; i++)
        end_task(p, number, w->admissions[i].ctx, NULL, &w->err);
    return st;
}

/* ---- the end of tasks ---- */

static void end_task(rela_search_pool *p, size_t number, rela_pool_task *t,
                     const rela_search_result *r, const rela_error *why)
{
    p->workers[number].tokens -= t->tokens;
    (void)pthread_mutex_lock(&p->lock);
    if (--p->n_live == 0)
        tell_all(p);
    (void)pthread_mutex_unlock(&p->lock);
    if (r || !p->run->closed)
        t->on_end(t, number, r, why);
}

/* Why a task ends that has no result. */
static void give_reason(rela_error *why, const rela_pool_task *t)
{
    (void)rela_fail(why, RELA_CANCEL, "%s",
                    atomic_load(&t->cancelled) ? "cancelled" : "the deadline has passed");
}

/* Ends tasks that never started. */
static void refuse(rela_pool_task *tasks, size_t number)
{
    for (rela_pool_task *t = tasks, *after = NULL; t; t = after) {
        rela_error why;
        after = t->after;
        give_reason(&why, t);
        t->on_end(t, number, NULL, &why);
    }
}

/* Drops live sentences that have been cancelled or are too late. */
static void drop_over(rela_search_pool *p, size_t number)
{
    worker *w = &p->workers[number];
    const uint64_t cancelled = atomic_load(&p->n_cancelled);
    const double now = rela_clock_seconds();
    if (w->seen == cancelled && now < w->deadline)
        return;
    w->seen = cancelled;
    w->deadline = INFINITY;
    for (uint32_t i = 0; i < rela_engine_n_places(w->engine); i++) {
        rela_pool_task *t = rela_engine_ctx(w->engine, i);
        rela_error why;
        if (t && over(t, now)) {
            give_reason(&why, t);
            rela_engine_cancel(w->engine, i);
            end_task(p, number, t, NULL, &why);
        } else if (t && t->deadline > 0 && t->deadline < w->deadline) {
            w->deadline = t->deadline;
        }
    }
}

static rela_status hand_over(rela_search_pool *p, size_t number)
{
    worker *w = &p->workers[number];
    rela_status st = RELA_OK;
    for (uint32_t i = 0;
         st == RELA_OK && (i = rela_engine_next_ended(w->engine)) != RELA_NO_PLACE;) {
        rela_pool_task *t = rela_engine_ctx(w->engine, i);
        rela_search_result r;
        rela_arena_reset(w->arena);
        st = rela_engine_take(w->engine, &r, i, w->arena, &w->err);
        end_task(p, number, t, st == RELA_OK ? &r : NULL, st == RELA_OK ? NULL : &w->err);
        st = st ? st : rela_callback_check(p->run->callback, 1, &w->err);
    }
    return st;
}

/* After a failure of the engine: it concerns all that it decodes. */
static void fail_all(rela_search_pool *p, size_t number)
{
    worker *w = &p->workers[number];
    for (uint32_t i = 0; i < rela_engine_n_places(w->engine); i++) {
        rela_pool_task *t = rela_engine_ctx(w->engine, i);
        if (!t)
            continue;
        rela_engine_cancel(w->engine, i);
        end_task(p, number, t, NULL, &w->err);
    }
    w->status = RELA_OK;
}

/* With nothing to do: waits until something has changed, unless it has since n_changes were
 * counted. False: there is nothing left. */
static bool wait_for_others(rela_search_pool *p, uint64_t n_changes)
{
    (void)pthread_mutex_lock(&p->lock);
    bool left = p->first != NULL || p->n_changes != n_changes;
    if (!left && (p->n_feeding > 0 || (!p->run->closed && p->n_live > 0))) {
        (void)pthread_cond_wait(&p->changed, &p->lock);
        left = true;
    }
    (void)pthread_mutex_unlock(&p->lock);
    return left;
}

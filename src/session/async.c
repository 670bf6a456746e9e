/* SPDX-License-Identifier: MIT */
/* src/session/async.c - rela/async.h: worker threads with a session each take requests in order. */
#include "rela/async.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/sized.h"
#include "base/str.h"
#include "session/session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { SLOTS = 1024 }; /* lists of requests by id */

typedef struct task {
    uint64_t id;
    const char *texts[RELA_SOURCES_MAX];
    size_t lens[RELA_SOURCES_MAX];
    size_t bytes;
    const char *prefix;
    size_t prefix_len;
    rela_translate_options options;
    double deadline; /* 0: none */
    void (*on_end)(void *ctx, uint64_t id, rela_result *result, const rela_error *err);
    void *ctx;
    _Atomic bool cancelled;
    bool running, ended;
    rela_result *result; /* of one that has ended and waits to be fetched */
    rela_error err;
    struct task *next, **at;      /* in the queue */
    struct task *same, **same_at; /* in the list of its slot */
} task;

typedef struct worker {
    struct rela_async *owner;
    rela_session *session;
    pthread_t thread;
} worker;

struct rela_async {
    pthread_mutex_t lock;
    pthread_cond_t work, ended;
    size_t n_sources, n_workers;
    worker workers[RELA_PAR_MAX];
    task *first, **last; /* that wait */
    task *slots[SLOTS];
    uint64_t issued;
    rela_async_load load;
    size_t calls; /* of on_end, that have not returned */
    bool stopping;
    size_t n_started; /* threads */
};

static rela_status start(rela_async *a, const rela_model *const *models, size_t n,
                         const rela_async_options *o, rela_error *err);
static task *task_create(const rela_async *a, const rela_async_request *r,
                         const rela_translate_options *o, rela_error *err);
static void *run(void *ctx);
static task *take(rela_async *a);
static void translate(worker *w, task *t);
static void finish(rela_async *a, task *t);
static void leave_queue(rela_async *a, task *t);
static void forget(task *t);
static task *find(const rela_async *a, uint64_t id);

void rela_async_options_init(rela_async_options *o, size_t size)
{
    const rela_async_options defaults = { .struct_size = size, .sentences = 32, .tokens = 4096 };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

void rela_async_request_init(rela_async_request *r, size_t size)
{
    const rela_async_request defaults = { .struct_size = size };
    rela_sized_init(r, size, &defaults, sizeof defaults);
}

rela_status rela_async_create(rela_async **out, const rela_model *const *models, size_t n,
                              const rela_async_options *o, rela_error *err)
{
    *out = NULL;
    rela_async_options own;
    rela_async_options_init(&own, sizeof own);
    const rela_status took = rela_sized_take(&own, sizeof own, o, "rela_async_options", err);
    if (took != RELA_OK)
        return took;
    if (own.n_threads < 0 || own.n_threads > RELA_PAR_MAX || own.sentences < 1 || own.tokens < 1)
        return rela_fail(err, RELA_ARG,
                         "%d threads, %d sentences, %d tokens; expected 0..%d, and 1 or more",
                         (int)own.n_threads, (int)own.sentences, (int)own.tokens, RELA_PAR_MAX);
    rela_async *a = rela_mem_zalloc(sizeof *a);
    if (!a)
        return rela_fail(err, RELA_NOMEM, "no memory to translate");
    pthread_condattr_t monotonic;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&a->lock, NULL);
    (void)pthread_cond_init(&a->work, &monotonic);
    (void)pthread_cond_init(&a->ended, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    a->last = &a->first;
    const rela_status st = start(a, models, n, &own, err);
    if (st != RELA_OK)
        rela_async_destroy(a);
    else
        *out = a;
    return st;
}

void rela_async_stop(rela_async *a, bool drain)
{
    (void)pthread_mutex_lock(&a->lock);
    a->stopping = true;
    for (size_t i = 0; i < SLOTS && !drain; i++)
        for (task *t = a->slots[i]; t; t = t->same)
            atomic_store(&t->cancelled, true);
    (void)pthread_cond_broadcast(&a->work);
    while (a->load.waiting + a->load.running + a->calls > 0)
        (void)pthread_cond_wait(&a->ended, &a->lock);
    const size_t n = a->n_started;
    a->n_started = 0;
    (void)pthread_mutex_unlock(&a->lock);
    for (size_t i = 0; i < n; i++)
        (void)pthread_join(a->workers[i].thread, NULL);
}

void rela_async_destroy(rela_async *a)
{
    if (!a)
        return;
    rela_async_stop(a, false);
    for (size_t i = 0; i < SLOTS; i++)
        while (a->slots[i])
            forget(a->slots[i]);
    for (size_t i = 0; i < a->n_workers; i++)
        rela_session_destroy(a->workers[i].session);
    (void)pthread_cond_destroy(&a->ended);
    (void)pthread_cond_destroy(&a->work);
    (void)pthread_mutex_destroy(&a->lock);
    rela_mem_free(a);
}

rela_status rela_async_submit(rela_async *a, uint64_t *id, const rela_async_request *r,
                              rela_error *err)
{
    rela_async_request own;
    rela_translate_options options;
    rela_async_request_init(&own, sizeof own);
    rela_translate_options_init(&options, sizeof options);
    rela_status st = rela_sized_take(&own, sizeof own, r, "rela_async_request", err);
    st = st ? st
            : rela_sized_take(&options, sizeof options, own.options, "rela_translate_options", err);
    if (st != RELA_OK)
        return st;
    if (!own.on_end && !id)
        return rela_fail(err, RELA_ARG, "a request without on_end needs its id");
    task *t = task_create(a, &own, &options, err);
    if (!t)
        return RELA_NOMEM;
    (void)pthread_mutex_lock(&a->lock);
    if (a->stopping) {
        (void)pthread_mutex_unlock(&a->lock);
        rela_mem_free(t);
        return rela_fail(err, RELA_STATE, "the translator was stopped");
    }
    t->id = ++a->issued;
    if (id)
        *id = t->id;
    task **slot = &a->slots[t->id % SLOTS];
    t->same = *slot;
    t->same_at = slot;
    if (*slot)
        (*slot)->same_at = &t->same;
    *slot = t;
    t->at = a->last;
    *a->last = t;
    a->last = &t->next;
    a->load.waiting++;
    a->load.waiting_bytes += t->bytes;
    (void)pthread_cond_signal(&a->work);
    (void)pthread_mutex_unlock(&a->lock);
    return RELA_OK;
}

void rela_async_cancel(rela_async *a, uint64_t id)
{
    (void)pthread_mutex_lock(&a->lock);
    task *t = find(a, id);
    if (t && !t->ended) {
        atomic_store(&t->cancelled, true);
        if (!t->running) {
            /* First in the queue: the next worker ends it. */
            leave_queue(a, t);
            t->next = a->first;
            t->at = &a->first;
            if (a->first)
                a->first->at = &t->next;
            else
                a->last = &t->next;
            a->first = t;
            a->load.waiting++;
            a->load.waiting_bytes += t->bytes;
            (void)pthread_cond_signal(&a->work);
        }
    }
    (void)pthread_mutex_unlock(&a->lock);
}

rela_status rela_async_wait(rela_result **out, bool *done, rela_async *a, uint64_t id,
                            double seconds, rela_error *err)
{
    *out = NULL;
    *done = false;
    const struct timespec until = rela_clock_after(seconds > 0 ? seconds : 0);
    (void)pthread_mutex_lock(&a->lock);
    task *t = find(a, id);
    int timed_out = 0;
    while (t && !t->on_end && !t->ended && !timed_out && (seconds < 0 || seconds > 0)) {
        timed_out = seconds < 0 ? pthread_cond_wait(&a->ended, &a->lock)
                                : pthread_cond_timedwait(&a->ended, &a->lock, &until);
        t = find(a, id);
    }
    rela_status st = RELA_OK;
    if (!t || t->on_end) {
        st = rela_fail(err, RELA_ARG, "no request %llu to wait for", (unsigned long long)id);
    } else if (t->ended) {
        *out = t->result;
        t->result = NULL;
        *done = true;
        st = t->err.status ? rela_fail(err, t->err.status, "%s", t->err.message) : RELA_OK;
        forget(t);
    }
    (void)pthread_mutex_unlock(&a->lock);
    return st;
}

rela_status rela_async_load_get(rela_async_load *out, rela_async *a, rela_error *err)
{
    const rela_status st = rela_sized_check(out, sizeof *out, "rela_async_load", err);
    if (st != RELA_OK)
        return st;
    (void)pthread_mutex_lock(&a->lock);
    const rela_async_load now = a->load;
    (void)pthread_mutex_unlock(&a->lock);
    rela_sized_give(out, &now, sizeof now);
    return RELA_OK;
}

/* ---- threads ---- */

static rela_status start(rela_async *a, const rela_model *const *models, size_t n,
                         const rela_async_options *o, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t wanted = 1; a->n_workers < wanted && st == RELA_OK; a->n_workers++) {
        worker *w = &a->workers[a->n_workers];
        w->owner = a;
        st = rela_session_create_ensemble(&w->session, models, n, err);
        if (st != RELA_OK)
            return st;
        wanted = o->n_threads ? (size_t)o->n_threads : (size_t)models[0]->runtime->n_threads;
    }
    a->n_sources = models[0]->net.config.sources;
    for (; a->n_started < a->n_workers; a->n_started++)
        if (pthread_create(&a->workers[a->n_started].thread, NULL, run,
                           &a->workers[a->n_started]) != 0)
            return rela_fail(err, RELA_NOMEM, "a thread cannot be started");
    return st;
}

static void *run(void *ctx)
{
    worker *w = ctx;
    rela_async *a = w->owner;
    for (task *t; (t = take(a));) {
        translate(w, t);
        finish(a, t);
    }
    return NULL;
}

/* NULL: it is over. */
static task *take(rela_async *a)
{
    (void)pthread_mutex_lock(&a->lock);
    while (!a->first && !a->stopping)
        (void)pthread_cond_wait(&a->work, &a->lock);
    task *t = a->first;
    if (t) {
        leave_queue(a, t);
        t->running = true;
        a->load.running++;
    }
    (void)pthread_mutex_unlock(&a->lock);
    return t;
}

static int progress(void *ctx, uint64_t done, uint64_t total)
{
    const task *t = ctx;
    (void)done, (void)total;
    return atomic_load(&t->cancelled) || (t->deadline > 0 && rela_clock_seconds() > t->deadline);
}

static void translate(worker *w, task *t)
{
    rela_status st = RELA_OK;
    if (!progress(t, 0, 0)) {
        t->options.progress = progress;
        t->options.progress_ctx = t;
        t->options.prefix = t->prefix ? &t->prefix : NULL;
        t->options.prefix_len = &t->prefix_len;
        st = rela_translate(&t->result, w->session, t->texts, t->lens, 1, &t->options, &t->err);
    } else {
        st = RELA_CANCEL;
    }
    if (st == RELA_CANCEL)
        st = rela_fail(&t->err, RELA_CANCEL, "%s",
                       atomic_load(&t->cancelled) ? "the request was cancelled"
                                                  : "the deadline of the request has passed");
    t->err.status = st;
}

static void finish(rela_async *a, task *t)
{
    (void)pthread_mutex_lock(&a->lock);
    t->ended = true;
    a->load.running--;
    if (t->on_end) {
        a->calls++;
        *t->same_at = t->same;
        if (t->same)
            t->same->same_at = t->same_at;
    }
    (void)pthread_cond_broadcast(&a->ended);
    /* A caller of _wait may free the others as soon as the lock is open. */
    const bool calls = t->on_end != NULL;
    (void)pthread_mutex_unlock(&a->lock);
    if (!calls)
        return;
    t->on_end(t->ctx, t->id, t->result, &t->err);
    rela_mem_free(t);
    (void)pthread_mutex_lock(&a->lock);
    a->calls--;
    (void)pthread_cond_broadcast(&a->ended);
    (void)pthread_mutex_unlock(&a->lock);
}

/* ---- requests ---- */

/* One block with copies of all texts. */
static task *task_create(const rela_async *a, const rela_async_request *r,
                         const rela_translate_options *o, rela_error *err)
{
    size_t lens[RELA_SOURCES_MAX] = { 0 }, bytes = 0, prefix = 0;
    for (size_t i = 0; i < a->n_sources; i++)
        bytes += 1 + (lens[i] = rela_text_len(r->texts, r->lens, i));
    if (o->prefix)
        prefix = rela_text_len(o->prefix, o->prefix_len, 0);
    task *t = rela_mem_zalloc(sizeof *t + bytes + prefix + 1);
    if (!t) {
        (void)rela_fail(err, RELA_NOMEM, "no memory for a request");
        return NULL;
    }
    char *at = (char *)(t + 1);
    for (size_t i = 0; i < a->n_sources; i++, at += lens[i - 1] + 1) {
        if (lens[i])
            memcpy(at, r->texts[i], lens[i]);
        t->texts[i] = at;
        t->lens[i] = lens[i];
    }
    if (o->prefix) {
        memcpy(at, o->prefix[0], prefix);
        t->prefix = at;
        t->prefix_len = prefix;
    }
    t->bytes = bytes;
    t->options = *o;
    t->deadline = r->seconds > 0 ? rela_clock_seconds() + r->seconds : 0;
    t->on_end = r->on_end;
    t->ctx = r->ctx;
    return t;
}

static void leave_queue(rela_async *a, task *t)
{
    *t->at = t->next;
    if (t->next)
        t->next->at = t->at;
    else
        a->last = t->at;
    t->next = NULL;
    a->load.waiting--;
    a->load.waiting_bytes -= t->bytes;
}

static void forget(task *t)
{
    *t->same_at = t->same;
    if (t->same)
        t->same->same_at = t->same_at;
    rela_result_free(t->result);
    rela_mem_free(t);
}

static task *find(const rela_async *a, uint64_t id)
{
    task *t = a->slots[id % SLOTS];
    while (t && t->id != id)
        t = t->same;
    return t;
}

/* SPDX-License-Identifier: MIT */
/* src/base/committer.c - see committer.h. */
#include "base/committer.h"

#include "base/fault.h"
#include "base/mem.h"
#include "base/threads.h"

#include <pthread.h>

enum { PENDING_MAX = 4, STACK_BYTES = 256 << 10 };

struct rela_committer {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool running, ending;
    rela_writer *pending[PENDING_MAX]; /* the first is being committed */
    size_t n;
    rela_status status; /* of the first failure */
    rela_error why;
};

static void *run(void *ctx);
static bool start(rela_committer *c);
static void commit_first(rela_committer *c);

rela_status rela_committer_create(rela_committer **out, rela_error *err)
{
    rela_committer *c = rela_mem_zalloc(sizeof *c);
    *out = c;
    if (!c)
        return rela_fail(err, RELA_NOMEM, "no memory to commit files");
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->changed, NULL);
    return RELA_OK;
}

void rela_committer_destroy(rela_committer *c)
{
    if (!c)
        return;
    (void)pthread_mutex_lock(&c->lock);
    c->ending = true;
    (void)pthread_cond_broadcast(&c->changed);
    (void)pthread_mutex_unlock(&c->lock);
    if (c->running)
        (void)pthread_join(c->thread, NULL);
    (void)pthread_cond_destroy(&c->changed);
    (void)pthread_mutex_destroy(&c->lock);
    rela_mem_free(c);
}

void rela_committer_add(rela_committer *c, rela_writer *w)
{
    (void)pthread_mutex_lock(&c->lock);
    while (c->n == PENDING_MAX)
        (void)pthread_cond_wait(&c->changed, &c->lock);
    c->pending[c->n++] = w;
    if (start(c))
        (void)pthread_cond_broadcast(&c->changed);
    else
        commit_first(c);
    (void)pthread_mutex_unlock(&c->lock);
}

bool rela_committer_done(rela_committer *c)
{
    (void)pthread_mutex_lock(&c->lock);
    const bool done = c->n == 0 || c->status != RELA_OK;
    (void)pthread_mutex_unlock(&c->lock);
    return done;
}

rela_status rela_committer_wait(rela_committer *c, rela_error *err)
{
    (void)pthread_mutex_lock(&c->lock);
    while (c->n)
        (void)pthread_cond_wait(&c->changed, &c->lock);
    const rela_status st = c->status;
    if (st != RELA_OK && err)
        *err = c->why;
    c->status = RELA_OK;
    (void)pthread_mutex_unlock(&c->lock);
    return st;
}

/* The thread blocks signals: they are for the threads of the caller. */
static bool start(rela_committer *c)
{
    sigset_t old;
    pthread_attr_t attributes;
    if (c->running)
        return true;
    rela_threads_block_signals(&old);
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    c->running = pthread_create(&c->thread, &attributes, run, c) == 0;
    (void)pthread_attr_destroy(&attributes);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return c->running;
}

static void *run(void *ctx)
{
    rela_committer *c = ctx;
    (void)pthread_mutex_lock(&c->lock);
    while (c->n || !c->ending) {
        if (c->n)
            commit_first(c);
        else
            (void)pthread_cond_wait(&c->changed, &c->lock);
    }
    (void)pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Called with the lock held; releases it while the file is made durable. */
static void commit_first(rela_committer *c)
{
    rela_writer *w = c->pending[0];
    const bool failed = c->status != RELA_OK;
    rela_error why = { RELA_OK, "" };
    rela_status st = RELA_OK;
    (void)pthread_mutex_unlock(&c->lock);
    rela_fault_reach(RELA_FAULT_COMMIT);
    if (failed)
        rela_writer_abort(w);
    else
        st = rela_writer_commit(w, &why);
    (void)pthread_mutex_lock(&c->lock);
    if (st != RELA_OK) {
        c->status = st;
        c->why = why;
    }
    for (size_t i = 1; i < c->n; i++)
        c->pending[i - 1] = c->pending[i];
    c->n--;
    (void)pthread_cond_broadcast(&c->changed);
}

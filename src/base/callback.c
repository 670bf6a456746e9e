/* SPDX-License-Identifier: MIT */
/* src/base/callback.c - see callback.h. */
#include "base/callback.h"

#include "base/clock.h"

static const double INTERVAL = 0.1; /* seconds between calls */

static void call(rela_callback *c);
static rela_status stopped(rela_error *err);
static void wait_for_one(rela_callback *c);

rela_status rela_callback_start(rela_callback *c,
                                int (*function)(void *ctx, uint64_t done, uint64_t total),
                                void *ctx, rela_error *err)
{
    pthread_condattr_t monotonic;
    c->call = function;
    c->ctx = ctx;
    c->caller = pthread_self();
    c->busy = 0;
    atomic_store(&c->done, 0);
    atomic_store(&c->total, 0);
    atomic_store(&c->stopped, false);
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&c->left, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    call(c);
    return atomic_load(&c->stopped) ? stopped(err) : RELA_OK;
}

rela_status rela_callback_end(rela_callback *c, rela_status st, rela_error *err)
{
    if (st == RELA_OK)
        call(c);
    (void)pthread_cond_destroy(&c->left);
    (void)pthread_mutex_destroy(&c->lock);
    return st == RELA_OK && atomic_load(&c->stopped) ? stopped(err) : st;
}

bool rela_callback_poll(rela_callback *c, uint64_t more)
{
    if (!c || !c->call)
        return false;
    if (more)
        (void)atomic_fetch_add(&c->done, more);
    if (!atomic_load(&c->stopped) && pthread_equal(c->caller, pthread_self()) &&
        rela_clock_seconds() - c->called >= INTERVAL)
        call(c);
    return atomic_load(&c->stopped);
}

rela_status rela_callback_check(rela_callback *c, uint64_t more, rela_error *err)
{
    return rela_callback_poll(c, more) ? stopped(err) : RELA_OK;
}

void rela_callback_enter(rela_callback *c)
{
    if (!c || !c->call)
        return;
    (void)pthread_mutex_lock(&c->lock);
    c->busy++;
    (void)pthread_mutex_unlock(&c->lock);
}

void rela_callback_leave(rela_callback *c)
{
    if (!c || !c->call)
        return;
    const bool waits = pthread_equal(c->caller, pthread_self());
    (void)pthread_mutex_lock(&c->lock);
    c->busy--;
    (void)pthread_cond_signal(&c->left);
    while (waits && c->busy > 0) {
        wait_for_one(c);
        (void)pthread_mutex_unlock(&c->lock); /* the callback may take its time */
        (void)rela_callback_poll(c, 0);
        (void)pthread_mutex_lock(&c->lock);
    }
    (void)pthread_mutex_unlock(&c->lock);
}

static void call(rela_callback *c)
{
    if (!c->call || atomic_load(&c->stopped))
        return;
    if (c->call(c->ctx, atomic_load(&c->done), atomic_load(&c->total)) != 0)
        atomic_store(&c->stopped, true);
    c->called = rela_clock_seconds();
}

static rela_status stopped(rela_error *err)
{
    return rela_fail(err, RELA_CANCEL, "stopped by the callback");
}

/* Until a thread leaves or the next call is due. */
static void wait_for_one(rela_callback *c)
{
    const struct timespec until = rela_clock_after(INTERVAL);
    (void)pthread_cond_timedwait(&c->left, &c->lock, &until);
}

/* SPDX-License-Identifier: MIT */
/* src/base/callback.h - the progress callback of a call that works on several threads, which may
 * stop it.
 *
 * The callback runs on the thread of the caller only, at most about ten times a second: languages
 * like Python handle signals on one thread. All threads poll, as often as they like, and stop soon
 * after it has asked for that. Functions accept NULL: no callback. */
#ifndef RELA_BASE_CALLBACK_H
#define RELA_BASE_CALLBACK_H

#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct rela_callback {
    int (*call)(void *ctx, uint64_t done, uint64_t total); /* NULL: none */
    void *ctx;
    _Atomic uint64_t done, total; /* total 0: not known yet */
    _Atomic bool stopped;
    /* private */
    pthread_t caller;
    double called; /* time of the last call */
    pthread_mutex_t lock;
    pthread_cond_t left;
    int busy; /* threads between enter and leave; protected by the lock */
} rela_callback;

/* Calls it for the first time. RELA_CANCEL if it wants no start; end is due nevertheless. */
rela_status rela_callback_start(rela_callback *c,
                                int (*function)(void *ctx, uint64_t done, uint64_t total),
                                void *ctx, rela_error *err);
/* Calls it for the last time unless st is a failure. Returns st, or RELA_CANCEL if it has stopped
 * the work in any call, this one included. */
rela_status rela_callback_end(rela_callback *c, rela_status st, rela_error *err);

/* Adds to what is done. True: stop. */
bool rela_callback_poll(rela_callback *c, uint64_t more);
/* The same as a status. */
rela_status rela_callback_check(rela_callback *c, uint64_t more, rela_error *err);

/* A thread begins and ends its share of parallel work. Where the thread of the caller ends first,
 * it waits, and polls, until all those that have begun have ended. */
void rela_callback_enter(rela_callback *c);
void rela_callback_leave(rela_callback *c);

#endif

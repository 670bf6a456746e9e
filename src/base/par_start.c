/* SPDX-License-Identifier: MIT */
/* src/base/par_start.c - see par_start.h and par.h.
 *
 * libgomp ends the process when it cannot start a thread, and offers no way to ask beforehand. So
 * as many threads as it will start are started here first, all at the same time, and joined again,
 * which frees their resources for libgomp. */
#include "base/par_start.h"

#include "base/mem.h"
#include "base/par.h"

#include <omp.h>
#include <pthread.h>

/* Size of the thread pool that libgomp keeps for the calling thread, which is included: that of its
 * last region of two or more threads. A smaller region ends the surplus threads; a larger one
 * starts new ones. */
static _Thread_local int n_kept = 1;

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void watch_forks(void);
static bool can_start(int n);
static void *wait_for(void *lock);
static void allocate(void *ctx, size_t begin, size_t end, int thread);

rela_status rela_par_start(int n_threads, rela_error *err)
{
    const rela_status st = n_threads > 1 ? rela_par_ready(n_threads, err) : RELA_OK;
    if (st != RELA_OK || n_threads < 2)
        return st;
    rela_par_rows((size_t)n_threads, n_threads, allocate, NULL);
    return rela_mem_reserve(0, "threads", err); /* checks that the reserve is still intact */
}

rela_status rela_par_ready(int n_threads, rela_error *err)
{
    if (n_threads > n_kept && !can_start(n_threads - n_kept))
        return rela_fail(err, RELA_NOMEM,
                         "%d threads cannot be started within the limits of this process",
                         n_threads);
    (void)pthread_once(&fork_once, watch_forks);
    n_kept = n_threads;
    return RELA_OK;
}

void rela_par_stop(void)
{
    if (n_kept > 1 && omp_pause_resource_all(omp_pause_soft) == 0)
        n_kept = 1;
}

static void watch_forks(void)
{
    (void)pthread_atfork(rela_par_stop, NULL, NULL);
}

/* Whether n more threads can exist at the same time without touching the reserve (mem.h). */
static bool can_start(int n)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t threads[RELA_PAR_MAX];
    int started = 0;
    (void)pthread_mutex_lock(&lock);
    while (started < n && started < RELA_PAR_MAX &&
           pthread_create(&threads[started], NULL, wait_for, &lock) == 0)
        started++;
    const bool all = started == n && rela_mem_reserve(0, "threads", NULL) == RELA_OK;
    (void)pthread_mutex_unlock(&lock);
    for (int i = 0; i < started; i++)
        (void)pthread_join(threads[i], NULL);
    (void)pthread_mutex_destroy(&lock);
    return all;
}

static void *wait_for(void *lock)
{
    (void)pthread_mutex_lock(lock);
    (void)pthread_mutex_unlock(lock);
    return NULL;
}

/* The first allocation of a thread creates its arena: up to 64 MiB of address space with glibc. */
static void allocate(void *ctx, size_t begin, size_t end, int thread)
{
    (void)ctx, (void)begin, (void)end, (void)thread;
    rela_mem_free(rela_mem_alloc(1));
}

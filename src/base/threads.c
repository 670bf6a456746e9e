/* SPDX-License-Identifier: MIT */
/* src/base/threads.c - see threads.h.
 *
 * One lock protects everything. It is taken once or twice per part, and parts are large: a slot of
 * gradients, a batch of sentences. Between regions a thread spins for some microseconds before it
 * sleeps, as the next region often follows at once; a longer spin would take the processor from
 * other processes. */
#include "base/threads.h"

#include "base/mem.h"
#include "base/par.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

enum { SPINS = 600 }; /* 10 to 25 microseconds */

/* A region lives on the stack of its caller. */
typedef struct region {
    void (*f)(void *ctx, size_t part);
    void *ctx;
    size_t n_parts, next; /* parts from next on have not been taken */
    _Atomic size_t unfinished;
    struct region *after;
} region;

typedef struct pool {
    pthread_mutex_t lock;
    pthread_cond_t posted, finished, ready;
    region *first, *last;      /* regions with parts left to take */
    _Atomic uint64_t n_posted; /* regions so far; threads that spin watch it */
    size_t n_threads, n_ready, n_asleep;
    size_t n_holders;
    bool ending, alone; /* alone: one processor, so spinning never helps */
    bool refused;       /* a thread got no memory when it started */
    pthread_t threads[RELA_PAR_MAX];
} pool;

static pool shared = { .lock = PTHREAD_MUTEX_INITIALIZER,
                       .posted = PTHREAD_COND_INITIALIZER,
                       .finished = PTHREAD_COND_INITIALIZER,
                       .ready = PTHREAD_COND_INITIALIZER };
static pthread_once_t once = PTHREAD_ONCE_INIT, signals_once = PTHREAD_ONCE_INIT;
static sigset_t asynchronous;
static _Thread_local bool inside;

static void fill_asynchronous(void);
static void prepare(void);
static void before_fork(void);
static void after_fork(void);
static void start_in_child(void);
static size_t start_threads(size_t n);
static void *run_thread(void *unused);
static void wait_for_region(void);
static bool take_part(region *r, size_t *part);
static void finish_part(region *r);
static void relax(void);

/* ---- signals ---- */

static void fill_asynchronous(void)
{
    const int synchronous[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP };
    (void)sigfillset(&asynchronous);
    for (size_t i = 0; i < sizeof synchronous / sizeof synchronous[0]; i++)
        (void)sigdelset(&asynchronous, synchronous[i]);
}

void rela_threads_block_signals(sigset_t *old)
{
    (void)pthread_once(&signals_once, fill_asynchronous);
    (void)pthread_sigmask(SIG_BLOCK, &asynchronous, old);
}

/* ---- the pool ---- */

static void prepare(void)
{
    cpu_set_t set;
    shared.alone = sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1;
    (void)pthread_atfork(before_fork, after_fork, start_in_child);
}

static void before_fork(void)
{
    (void)pthread_mutex_lock(&shared.lock);
}

static void after_fork(void)
{
    (void)pthread_mutex_unlock(&shared.lock);
}

/* Only the thread that called fork exists in the child; holders and that thread's place in a region
 * stay what they are. */
static void start_in_child(void)
{
    (void)pthread_mutex_init(&shared.lock, NULL);
    (void)pthread_cond_init(&shared.posted, NULL);
    (void)pthread_cond_init(&shared.finished, NULL);
    (void)pthread_cond_init(&shared.ready, NULL);
    shared.first = shared.last = NULL;
    shared.n_threads = shared.n_ready = shared.n_asleep = 0;
    shared.ending = false;
}

void rela_threads_hold(void)
{
    (void)pthread_once(&once, prepare);
    (void)pthread_mutex_lock(&shared.lock);
    while (shared.ending) /* the threads of before are being joined */
        (void)pthread_cond_wait(&shared.ready, &shared.lock);
    shared.n_holders++;
    (void)pthread_mutex_unlock(&shared.lock);
}

void rela_threads_release(void)
{
    (void)pthread_mutex_lock(&shared.lock);
    if (--shared.n_holders > 0 || shared.n_threads == 0) {
        (void)pthread_mutex_unlock(&shared.lock);
        return;
    }
    shared.ending = true;
    atomic_fetch_add(&shared.n_posted, 1);
    (void)pthread_cond_broadcast(&shared.posted);
    (void)pthread_mutex_unlock(&shared.lock);
    for (size_t i = 0; i < shared.n_threads; i++)
        (void)pthread_join(shared.threads[i], NULL);
    (void)pthread_mutex_lock(&shared.lock);
    shared.n_threads = shared.n_ready = 0;
    shared.ending = false;
    (void)pthread_cond_broadcast(&shared.ready);
    (void)pthread_mutex_unlock(&shared.lock);
}

rela_status rela_threads_start(size_t n, rela_error *err)
{
    (void)pthread_mutex_lock(&shared.lock);
    shared.refused = false;
    const size_t n_threads = start_threads(n);
    const bool refused = shared.refused;
    (void)pthread_mutex_unlock(&shared.lock);
    if (n_threads < n || refused)
        return rela_fail(err, RELA_NOMEM,
                         "%zu threads cannot be started within the limits of this process", n + 1);
    return n ? rela_mem_reserve(0, "threads", err) : RELA_OK; /* the reserve is still intact */
}

/* Starts threads until there are n; returns how many there are. They block signals, which thus go
 * to threads of the program. Called and left with the lock held. */
static size_t start_threads(size_t n)
{
    sigset_t old;
    n = n < RELA_PAR_MAX ? n : RELA_PAR_MAX;
    if (shared.n_threads >= n)
        return shared.n_threads;
    rela_threads_block_signals(&old);
    while (shared.n_threads < n &&
           pthread_create(&shared.threads[shared.n_threads], NULL, run_thread, NULL) == 0)
        shared.n_threads++;
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    while (shared.n_ready < shared.n_threads)
        (void)pthread_cond_wait(&shared.ready, &shared.lock);
    return shared.n_threads;
}

static void *run_thread(void *unused)
{
    (void)unused;
    /* The first allocation of a thread creates its arena, up to 64 MiB of address space with glibc:
     * better now than when there is work to lose. */
    void *first = rela_mem_alloc(1);
    inside = true;
    (void)pthread_mutex_lock(&shared.lock);
    shared.refused = shared.refused || !first;
    rela_mem_free(first);
    shared.n_ready++;
    (void)pthread_cond_broadcast(&shared.ready);
    while (!shared.ending) {
        size_t part = 0;
        region *r = shared.first;
        if (!r) {
            wait_for_region();
            continue;
        }
        (void)take_part(r, &part);
        (void)pthread_mutex_unlock(&shared.lock);
        r->f(r->ctx, part);
        (void)pthread_mutex_lock(&shared.lock);
        finish_part(r);
    }
    (void)pthread_mutex_unlock(&shared.lock);
    return NULL;
}

/* Called and left with the lock held. */
static void wait_for_region(void)
{
    const uint64_t before = atomic_load(&shared.n_posted);
    (void)pthread_mutex_unlock(&shared.lock);
    for (int i = 0; i < SPINS && !shared.alone && atomic_load(&shared.n_posted) == before; i++)
        relax();
    (void)pthread_mutex_lock(&shared.lock);
    while (atomic_load(&shared.n_posted) == before && !shared.ending) {
        shared.n_asleep++;
        (void)pthread_cond_wait(&shared.posted, &shared.lock);
        shared.n_asleep--;
    }
}

/* ---- regions ---- */

bool rela_threads_inside(void)
{
    return inside;
}

void rela_threads_run(size_t n_parts, void (*f)(void *ctx, size_t part), void *ctx)
{
    if (inside || n_parts < 2) {
        for (size_t i = 0; i < n_parts; i++)
            f(ctx, i);
        return;
    }
    region r = { .f = f, .ctx = ctx, .n_parts = n_parts, .next = 1, .unfinished = n_parts };
    size_t part = 0; /* the caller's own */
    rela_threads_hold();
    (void)pthread_mutex_lock(&shared.lock);
    (void)start_threads(n_parts - 1);
    if (shared.last)
        shared.last->after = &r;
    else
        shared.first = &r;
    shared.last = &r;
    atomic_fetch_add(&shared.n_posted, 1);
    for (size_t i = 1; i < n_parts && i <= shared.n_asleep; i++)
        (void)pthread_cond_signal(&shared.posted);
    inside = true;
    do {
        (void)pthread_mutex_unlock(&shared.lock);
        f(ctx, part);
        (void)pthread_mutex_lock(&shared.lock);
        finish_part(&r);
    } while (take_part(&r, &part));
    inside = false;
    if (atomic_load(&r.unfinished) > 0) {
        (void)pthread_mutex_unlock(&shared.lock);
        for (int i = 0; i < SPINS && !shared.alone && atomic_load(&r.unfinished) > 0; i++)
            relax();
        (void)pthread_mutex_lock(&shared.lock);
        while (atomic_load(&r.unfinished) > 0)
            (void)pthread_cond_wait(&shared.finished, &shared.lock);
    }
    (void)pthread_mutex_unlock(&shared.lock);
    rela_threads_release();
}

/* False: all parts have been taken. A region leaves the list with its last part. */
static bool take_part(region *r, size_t *part)
{
    if (r->next == r->n_parts)
        return false;
    *part = r->next++;
    if (r->next < r->n_parts)
        return true;
    region **at = &shared.first, *before = NULL;
    for (; *at && *at != r; at = &(*at)->after)
        before = *at;
    if (*at) /* a forked child begins with an empty list */
        *at = r->after;
    if (shared.last == r)
        shared.last = before;
    return true;
}

static void finish_part(region *r)
{
    if (atomic_fetch_sub(&r->unfinished, 1) == 1)
        (void)pthread_cond_broadcast(&shared.finished);
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

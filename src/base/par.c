/* SPDX-License-Identifier: MIT */
/* src/base/par.c - see par.h. */
#include "base/par.h"

#include "base/mem.h"
#include "base/par_start.h"

#include <omp.h>
#include <pthread.h>
#include <stdint.h>

/* ThreadSanitizer does not see the synchronisation inside OpenMP, so it needs annotations. Fork and
 * join of a parallel region have an object each; with one for both, a thread that starts late would
 * seem to have synchronised with those that are done, which would hide races between them. */
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#define UNWATCHED     __attribute__((no_sanitize("thread")))
#define HAND_OVER(at) __tsan_release(at)
#define TAKE_OVER(at) __tsan_acquire(at)
#else
#define UNWATCHED
#define HAND_OVER(at)
#define TAKE_OVER(at)
#endif

/* A block that has been worked on and waits for its turn to be written. */
typedef struct pipe_done {
    void *block; /* NULL: none */
    rela_status status;
    rela_error why;
} pipe_done;

typedef struct pipe_state {
    pthread_mutex_t lock;
    pthread_cond_t turn;
    size_t n_blocks, n_free;
    void **free;     /* blocks not in use */
    pipe_done *done; /* (n_blocks), a ring: block numbers are below n_written + n_blocks */
    uint64_t n_read, n_written; /* blocks */
    bool ended;
    bool reading, writing;
    rela_status status; /* of the earliest block that failed */
    uint64_t failed_at; /* its number: blocks before it are still written */
    rela_error *err;    /* the caller's; protected by the lock */
} pipe_state;

static void pipe_workers(const rela_pipe *p, pipe_state *s);
static void pipe_worker(const rela_pipe *p, pipe_state *s, int thread);
static void *take_block(pipe_state *s);
static void give_block(pipe_state *s, void *block);
static bool pipe_read(const rela_pipe *p, pipe_state *s, void *block, uint64_t *number);
static void pipe_write(const rela_pipe *p, pipe_state *s);
static void stop(pipe_state *s, uint64_t at, rela_status status, const rela_error *why);

int rela_par_threads(int requested)
{
    const int n = requested > 0 ? requested : omp_get_max_threads();
    return n < 1 ? 1 : n > RELA_PAR_MAX ? RELA_PAR_MAX : n;
}

UNWATCHED void rela_par_rows(size_t n, int n_threads,
                             void (*f)(void *ctx, size_t begin, size_t end, int thread), void *ctx)
{
    if (n == 0)
        return;
    const size_t wanted = n_threads > 1 ? (size_t)n_threads : 1, parts = wanted < n ? wanted : n;
    const size_t each = n / parts, rest = n % parts; /* the first rest parts get an extra row */
    char fork = 0, join = 0;
    (void)fork;
    (void)join;
    HAND_OVER(&fork);
    /* A loop over parts, not over threads: OpenMP may provide fewer threads than requested (one
     * inside a parallel region), and the split must not depend on that. */
    const bool together = parts > 1 && !omp_in_parallel() && rela_par_ready((int)parts, NULL) == 0;
#pragma omp parallel for num_threads((int)parts) schedule(static, 1) if (together)
    for (size_t i = 0; i < parts; i++) {
        const size_t begin = i * each + (i < rest ? i : rest);
        TAKE_OVER(&fork);
        f(ctx, begin, begin + each + (i < rest), (int)i);
        HAND_OVER(&join);
    }
    TAKE_OVER(&join);
}

rela_status rela_pipe_run(const rela_pipe *p, rela_error *err)
{
    pipe_state s = { .status = RELA_OK, .err = err };
    const bool together = p->n_threads > 1 && !omp_in_parallel();
    const rela_status st = together ? rela_par_ready(p->n_threads, err) : RELA_OK;
    if (st != RELA_OK)
        return st;
    s.n_blocks = s.n_free = (size_t)(p->n_blocks ? p->n_blocks : p->n_threads);
    s.free = rela_mem_array(s.n_blocks, sizeof *s.free);
    s.done = rela_mem_zalloc(s.n_blocks * sizeof *s.done);
    if (!s.free || !s.done) {
        rela_mem_free(s.free);
        rela_mem_free(s.done);
        return rela_fail(err, RELA_NOMEM, "no memory for %zu blocks", s.n_blocks);
    }
    for (size_t i = 0; i < s.n_blocks; i++)
        s.free[i] = p->blocks[s.n_blocks - 1 - i];
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.turn, NULL);
    if (together)
        pipe_workers(p, &s);
    else
        pipe_worker(p, &s, 0);
    pthread_cond_destroy(&s.turn);
    pthread_mutex_destroy(&s.lock);
    rela_mem_free(s.free);
    rela_mem_free(s.done);
    return s.status;
}

UNWATCHED static void pipe_workers(const rela_pipe *p, pipe_state *s)
{
    char fork = 0, join = 0;
    (void)fork;
    (void)join;
    HAND_OVER(&fork);
#pragma omp parallel num_threads(p->n_threads)
    {
        TAKE_OVER(&fork);
        pipe_worker(p, s, omp_get_thread_num());
        HAND_OVER(&join);
    }
    TAKE_OVER(&join);
}

static void pipe_worker(const rela_pipe *p, pipe_state *s, int thread)
{
    uint64_t number = 0;
    for (;;) {
        void *block = take_block(s);
        if (!pipe_read(p, s, block, &number)) {
            give_block(s, block);
            return;
        }
        pipe_done d = { block, RELA_OK, { RELA_OK, "" } };
        d.status = p->work(p->ctx, block, thread, &d.why);
        pthread_mutex_lock(&s->lock);
        s->done[number % s->n_blocks] = d;
        pipe_write(p, s);
        pthread_mutex_unlock(&s->lock);
    }
}

static void *take_block(pipe_state *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->n_free == 0)
        pthread_cond_wait(&s->turn, &s->lock);
    void *block = s->free[--s->n_free];
    pthread_mutex_unlock(&s->lock);
    return block;
}

static void give_block(pipe_state *s, void *block)
{
    pthread_mutex_lock(&s->lock);
    s->free[s->n_free++] = block;
    pthread_cond_broadcast(&s->turn);
    pthread_mutex_unlock(&s->lock);
}

/* One reader at a time; the lock is released while reading, so that writers can continue. */
static bool pipe_read(const rela_pipe *p, pipe_state *s, void *block, uint64_t *number)
{
    pthread_mutex_lock(&s->lock);
    while (s->reading)
        pthread_cond_wait(&s->turn, &s->lock);
    bool more = false;
    if (!s->ended) {
        s->reading = true;
        pthread_mutex_unlock(&s->lock);
        rela_error why = { RELA_OK, "" };
        const rela_status st = p->read(p->ctx, block, &more, &why);
        pthread_mutex_lock(&s->lock);
        s->reading = false;
        more = more && st == RELA_OK && !s->ended;
        if (more)
            *number = s->n_read++;
        else
            s->ended = true;
        if (st != RELA_OK)
            stop(s, s->n_read, st, &why);
        pthread_cond_broadcast(&s->turn);
    }
    pthread_mutex_unlock(&s->lock);
    return more;
}

/* Writes all blocks whose turn has come, unless another thread is writing, which then writes these
 * too. Called and left with the lock held; the lock is released while writing. */
static void pipe_write(const rela_pipe *p, pipe_state *s)
{
    for (;;) {
        const uint64_t number = s->n_written;
        pipe_done *d = &s->done[number % s->n_blocks];
        if (s->writing || !d->block)
            return;
        const bool write = d->status == RELA_OK && (s->status == RELA_OK || number < s->failed_at);
        if (d->status != RELA_OK)
            stop(s, number, d->status, &d->why);
        s->writing = true;
        pthread_mutex_unlock(&s->lock);
        rela_error why = { RELA_OK, "" };
        const rela_status st = write ? p->write(p->ctx, d->block, &why) : RELA_OK;
        pthread_mutex_lock(&s->lock);
        if (st != RELA_OK)
            stop(s, number, st, &why);
        s->free[s->n_free++] = d->block;
        d->block = NULL;
        s->writing = false;
        s->n_written++;
        pthread_cond_broadcast(&s->turn);
    }
}

static void stop(pipe_state *s, uint64_t at, rela_status status, const rela_error *why)
{
    s->ended = true;
    if (s->status != RELA_OK && s->failed_at <= at)
        return;
    s->status = status;
    s->failed_at = at;
    if (s->err) {
        *s->err = *why;
        s->err->status = status;
    }
}

/* SPDX-License-Identifier: MIT */
/* src/base/par.c - see par.h. */
#include "base/par.h"

#include "base/mem.h"
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

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

static void pipe_part(void *ctx, size_t part);
static void pipe_worker(const rela_pipe *p, pipe_state *s, int thread);
static void *take_block(pipe_state *s);
static void give_block(pipe_state *s, void *block);
static bool pipe_read(const rela_pipe *p, pipe_state *s, void *block, uint64_t *number);
static void pipe_write(const rela_pipe *p, pipe_state *s);
static void stop(pipe_state *s, uint64_t at, rela_status status, const rela_error *why);

/* OMP_NUM_THREADS is what other programs of the field go by; it may be a list, one number per level
 * of nesting. */
static int threads_by_default(void)
{
    const char *text = getenv("OMP_NUM_THREADS");
    const long n = text ? strtol(text, NULL, 10) : 0;
    cpu_set_t set;
    if (n > 0)
        return n < RELA_PAR_MAX ? (int)n : RELA_PAR_MAX;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

int rela_par_threads(int requested)
{
    const int n = requested > 0 ? requested : threads_by_default();
    return n < 1 ? 1 : n > RELA_PAR_MAX ? RELA_PAR_MAX : n;
}

rela_status rela_par_start(int n_threads, rela_error *err)
{
    rela_threads_hold();
    const rela_status st = rela_threads_start(n_threads > 1 ? (size_t)n_threads - 1 : 0, err);
    if (st != RELA_OK)
        rela_threads_release();
    return st;
}

void rela_par_end(void)
{
    rela_threads_release();
}

typedef struct rows {
    size_t n, parts;
    void (*f)(void *ctx, size_t begin, size_t end, int thread);
    void *ctx;
} rows;

/* The first n % parts parts get an extra row. */
static void rows_part(void *ctx, size_t part)
{
    const rows *r = ctx;
    const size_t each = r->n / r->parts, rest = r->n % r->parts;
    const size_t begin = part * each + (part < rest ? part : rest);
    r->f(r->ctx, begin, begin + each + (part < rest), (int)part);
}

void rela_par_rows(size_t n, int n_threads,
                   void (*f)(void *ctx, size_t begin, size_t end, int thread), void *ctx)
{
    const size_t wanted = n_threads > 1 ? (size_t)n_threads : 1;
    rows r = { .n = n, .parts = wanted < n ? wanted : n, .f = f, .ctx = ctx };
    rela_threads_run(r.parts, rows_part, &r);
}

typedef struct pipe_job {
    const rela_pipe *p;
    pipe_state *s;
} pipe_job;

rela_status rela_pipe_run(const rela_pipe *p, rela_error *err)
{
    pipe_state s = { .status = RELA_OK, .err = err };
    pipe_job job = { p, &s };
    const bool together = p->n_threads > 1 && !rela_threads_inside();
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
    rela_threads_run(together ? (size_t)p->n_threads : 1, pipe_part, &job);
    pthread_cond_destroy(&s.turn);
    pthread_mutex_destroy(&s.lock);
    rela_mem_free(s.free);
    rela_mem_free(s.done);
    return s.status;
}

/* Parts are equal: one that starts when the input has ended finds nothing to do. */
static void pipe_part(void *ctx, size_t part)
{
    const pipe_job *job = ctx;
    pipe_worker(job->p, job->s, (int)part);
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

/* SPDX-License-Identifier: MIT */
/* src/base/par.c - see par.h. */
#include "base/par.h"

#include <omp.h>
#include <pthread.h>
#include <stdint.h>

typedef struct pipe_state {
    pthread_mutex_t lock;
    pthread_cond_t turn;
    uint64_t n_read, n_written; /* blocks */
    bool ended;
    bool reading;
    rela_status status; /* of the earliest block that failed */
    uint64_t failed_at; /* its ticket: blocks before it are still written */
    rela_error *err;    /* of the caller, under the lock */
} pipe_state;

static void pipe_worker(const rela_pipe *p, pipe_state *s, int thread);
static bool pipe_read(const rela_pipe *p, pipe_state *s, void *block, uint64_t *ticket);
static void pipe_write(const rela_pipe *p, pipe_state *s, void *block, uint64_t ticket,
                       rela_status worked, const rela_error *why);
static void stop(pipe_state *s, uint64_t at, rela_status status, const rela_error *why);

int rela_par_threads(int requested)
{
    const int n = requested > 0 ? requested : omp_get_max_threads();
    return n < 1 ? 1 : n > RELA_PAR_MAX ? RELA_PAR_MAX : n;
}

void rela_par_rows(size_t n, int n_threads,
                   void (*f)(void *ctx, size_t begin, size_t end, int thread), void *ctx)
{
    if (n == 0)
        return;
    const size_t wanted = n_threads > 1 ? (size_t)n_threads : 1, parts = wanted < n ? wanted : n;
    const size_t each = n / parts, rest = n % parts; /* the first rest parts get one row more */
    /* A loop over parts, not over threads: OpenMP may give fewer threads than asked for (one,
     * inside a parallel region), and the split must not depend on that. */
#pragma omp parallel for num_threads((int)parts)                                                   \
    schedule(static, 1) if (parts > 1 && !omp_in_parallel())
    for (size_t i = 0; i < parts; i++) {
        const size_t begin = i * each + (i < rest ? i : rest);
        f(ctx, begin, begin + each + (i < rest), (int)i);
    }
}

rela_status rela_pipe_run(const rela_pipe *p, rela_error *err)
{
    pipe_state s = { .status = RELA_OK, .err = err };
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.turn, NULL);
    if (p->n_threads < 2 || omp_in_parallel()) {
        pipe_worker(p, &s, 0);
    } else {
#pragma omp parallel num_threads(p->n_threads)
        pipe_worker(p, &s, omp_get_thread_num());
    }
    pthread_cond_destroy(&s.turn);
    pthread_mutex_destroy(&s.lock);
    return s.status;
}

static void pipe_worker(const rela_pipe *p, pipe_state *s, int thread)
{
    void *block = p->blocks[thread];
    uint64_t ticket = 0;
    while (pipe_read(p, s, block, &ticket)) {
        rela_error why = { RELA_OK, "" };
        const rela_status st = p->work(p->ctx, block, thread, &why);
        pipe_write(p, s, block, ticket, st, &why);
    }
}

/* One reader at a time; the lock is not held while reading, so that writers go on meanwhile. */
static bool pipe_read(const rela_pipe *p, pipe_state *s, void *block, uint64_t *ticket)
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
            *ticket = s->n_read++;
        else
            s->ended = true;
        if (st != RELA_OK)
            stop(s, s->n_read, st, &why);
        pthread_cond_broadcast(&s->turn);
    }
    pthread_mutex_unlock(&s->lock);
    return more;
}

static void pipe_write(const rela_pipe *p, pipe_state *s, void *block, uint64_t ticket,
                       rela_status worked, const rela_error *why)
{
    pthread_mutex_lock(&s->lock);
    while (s->n_written != ticket)
        pthread_cond_wait(&s->turn, &s->lock);
    const bool write = worked == RELA_OK && (s->status == RELA_OK || ticket < s->failed_at);
    if (worked != RELA_OK)
        stop(s, ticket, worked, why);
    pthread_mutex_unlock(&s->lock);
    rela_error write_why = { RELA_OK, "" };
    rela_status st = write ? p->write(p->ctx, block, &write_why) : RELA_OK;
    pthread_mutex_lock(&s->lock);
    if (st != RELA_OK)
        stop(s, ticket, st, &write_why);
    s->n_written++;
    pthread_cond_broadcast(&s->turn);
    pthread_mutex_unlock(&s->lock);
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

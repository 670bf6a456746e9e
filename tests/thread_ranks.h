/* SPDX-License-Identifier: MIT */
/* tests/thread_ranks.h - ranks as threads of one process: a transport without MPI.
 *
 * `begin` publishes messages; in `wait` each receiver copies its own, between two barriers. */
#ifndef RELA_TESTS_THREAD_RANKS_H
#define RELA_TESTS_THREAD_RANKS_H

#include "check.h"
#include "dist/world.h"
#include "train/update.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

enum { THREAD_RANKS_MAX = 8, THREAD_MESSAGES_MAX = 2048 };

typedef struct thread_rank {
    size_t rank;
    rela_message out[THREAD_MESSAGES_MAX], in[THREAD_MESSAGES_MAX];
    size_t n_out, n_in;
    size_t n_advanced; /* calls of advance */
    void (*run)(rela_world *w, void *ctx);
    void *ctx;
    rela_transport_options o;
} thread_rank;

static thread_rank thread_ranks[THREAD_RANKS_MAX];
static size_t n_thread_ranks;
static pthread_barrier_t thread_ranks_meet;
static _Thread_local thread_rank *this_rank;

static int thread_rank_start(void **out, size_t *rank, size_t *size,
                             const rela_transport_options *o, char why[RELA_TRANSPORT_TEXT])
{
    (void)why;
    this_rank->o = *o;
    *out = this_rank;
    *rank = this_rank->rank;
    *size = n_thread_ranks;
    return 0;
}

static void thread_rank_begin(void *transport, const rela_message *out, size_t n_out,
                              const rela_message *in, size_t n_in)
{
    thread_rank *t = transport;
    assert_true(t->n_out + n_out <= THREAD_MESSAGES_MAX && t->n_in + n_in <= THREAD_MESSAGES_MAX);
    if (n_out)
        memcpy(t->out + t->n_out, out, n_out * sizeof *out);
    if (n_in)
        memcpy(t->in + t->n_in, in, n_in * sizeof *in);
    t->n_out += n_out;
    t->n_in += n_in;
}

/* Message number `skip`, from 0, of those that `from` sends to rank `to`. */
static const rela_message *thread_rank_find(const thread_rank *from, size_t to, size_t skip)
{
    for (size_t i = 0; i < from->n_out; i++)
        if (from->out[i].rank == to && skip-- == 0)
            return &from->out[i];
    return NULL;
}

static void thread_rank_wait(void *transport)
{
    thread_rank *t = transport;
    size_t seen[THREAD_RANKS_MAX] = { 0 };
    (void)pthread_barrier_wait(&thread_ranks_meet);
    for (size_t i = 0; i < t->n_in; i++) {
        const size_t from = t->in[i].rank;
        const rela_message *m = thread_rank_find(&thread_ranks[from], t->rank, seen[from]++);
        CHECK(m && m->len == t->in[i].len, "rank %zu waits for %zu bytes of rank %zu", t->rank,
              t->in[i].len, from);
        memcpy(t->in[i].bytes, m->bytes, m->len);
    }
    (void)pthread_barrier_wait(&thread_ranks_meet);
    t->n_out = t->n_in = 0;
}

static void thread_rank_advance(void *transport)
{
    thread_rank *t = transport;
    t->n_advanced++;
}

static void thread_rank_broadcast(void *transport, void *bytes, size_t len)
{
    thread_rank *t = transport;
    const rela_message m = { 0, bytes, len };
    rela_message out[THREAD_RANKS_MAX];
    for (size_t i = 1; i < n_thread_ranks; i++)
        out[i - 1] = (rela_message){ i, bytes, len };
    thread_rank_begin(t, out, t->rank ? 0 : n_thread_ranks - 1, &m, t->rank != 0);
    thread_rank_wait(t);
}

static int thread_rank_stopping(void *transport)
{
    (void)transport;
    for (size_t i = 0; i < n_thread_ranks; i++)
        if (thread_ranks[i].o.stop && thread_ranks[i].o.stop(thread_ranks[i].o.ctx))
            return 1;
    return 0;
}

static void thread_rank_abort(void *transport)
{
    (void)transport;
    fail_msg("a rank ends the others");
}

static void thread_rank_finish(void *transport)
{
    (void)transport;
    (void)pthread_barrier_wait(&thread_ranks_meet);
}

static const rela_transport THREAD_TRANSPORT = { .version = RELA_TRANSPORT_VERSION,
                                                 .start = thread_rank_start,
                                                 .begin = thread_rank_begin,
                                                 .wait = thread_rank_wait,
                                                 .advance = thread_rank_advance,
                                                 .broadcast = thread_rank_broadcast,
                                                 .stopping = thread_rank_stopping,
                                                 .abort = thread_rank_abort,
                                                 .finish = thread_rank_finish };

static void *thread_rank_main(void *arg)
{
    rela_error err = { RELA_OK, "" };
    rela_world *w = NULL;
    this_rank = arg;
    CHECK_OK(rela_world_open_with(&w, &THREAD_TRANSPORT, &err), err);
    this_rank->run(w, this_rank->ctx);
    rela_world_close(w, RELA_OK, NULL);
    return NULL;
}

/* Adam with clipping, in micro-batches so small that an update has several. */
static inline rela_update_options clipped_steps(rela_world *w, int n_threads, size_t slots,
                                                size_t groups)
{
    return (rela_update_options){ .n_threads = n_threads,
                                  .slots = slots,
                                  .groups = groups,
                                  .micro_batch_rows = 64,
                                  .beta1 = 0.9,
                                  .beta2 = 0.98,
                                  .epsilon = 1e-8,
                                  .clip = 0.5,
                                  .seed = 3,
                                  .world = w };
}

/* Calls run(world, ctx) as n ranks at once. */
static inline void run_thread_ranks(size_t n, void (*run)(rela_world *w, void *ctx), void *ctx)
{
    pthread_t threads[THREAD_RANKS_MAX];
    n_thread_ranks = n;
    assert_int_equal(pthread_barrier_init(&thread_ranks_meet, NULL, (unsigned)n), 0);
    for (size_t i = 0; i < n; i++) {
        thread_ranks[i] = (thread_rank){ .rank = i, .run = run, .ctx = ctx };
        assert_int_equal(pthread_create(&threads[i], NULL, thread_rank_main, &thread_ranks[i]), 0);
    }
    for (size_t i = 0; i < n; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    (void)pthread_barrier_destroy(&thread_ranks_meet);
}

#endif

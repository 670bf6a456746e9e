/* SPDX-License-Identifier: MIT */
/* src/dist/mpi_module.c - librela_mpi.so: the transport over MPI.
 *
 * A thread exchanges heartbeats between rank 0 and each of the others a few times a second: so a
 * process that is lost is distinguished from one that is busy, and all ranks learn that one of them
 * is asked to stop. The thread also polls for messages in flight
 * while the caller computes. MPI is called under a lock (MPI_THREAD_SERIALIZED), and waiting polls,
 * so that the thread gets its turn and idle ranks leave the processor to busy ones. */
#include "dist/transport.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000L
#define BEAT   (SECOND / 4)

enum {
    CHUNK = 1 << 30, /* maximum bytes per message: MPI counts in int */
    SPINS = 500,     /* polls without a pause between them */
    PAUSE_MIN = 20,  /* microseconds */
    PAUSE_MAX = 50,  /* MPI moves large messages only inside its calls: longer pauses slow them */
    ABORT_SECONDS = 5
};

typedef struct group {
    rela_transport_options o;
    MPI_Comm data, life;
    int rank, size;
    MPI_Request *requests;
    size_t n, cap;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool started, ending;
    bool advancing;   /* the thread polls for the messages in flight */
    bool initialised; /* MPI was initialised by us */
    atomic_int stopping;
    /* heartbeats, by rank */
    MPI_Request *beats;
    double *heard;
} group;

static int start(void **out, size_t *rank, size_t *size, const rela_transport_options *o,
                 char why[RELA_TRANSPORT_TEXT]);
static void begin(void *transport, const rela_message *out, size_t n_out, const rela_message *in,
                  size_t n_in);
static void wait_all(void *transport);
static void advance(void *transport);
static void broadcast(void *transport, void *bytes, size_t len);
static int stopping(void *transport);
static void abort_all(void *transport);
static void finish(void *transport);
static bool join(group *g, char why[RELA_TRANSPORT_TEXT]);
static void *watch(void *transport);
static void exchange_beats(group *g);
static void check_silence(group *g, bool forgive);

extern const rela_transport rela_transport_module;
__attribute__((visibility("default")))
const rela_transport rela_transport_module = { .version = RELA_TRANSPORT_VERSION,
                                               .start = start,
                                               .begin = begin,
                                               .wait = wait_all,
                                               .advance = advance,
                                               .broadcast = broadcast,
                                               .stopping = stopping,
                                               .abort = abort_all,
                                               .finish = finish };

static int start(void **out, size_t *rank, size_t *size, const rela_transport_options *o,
                 char why[RELA_TRANSPORT_TEXT])
{
    group *g = o->resize(NULL, sizeof *g);
    if (!g) {
        (void)snprintf(why, RELA_TRANSPORT_TEXT, "no memory");
        return -1;
    }
    memset(g, 0, sizeof *g);
    g->o = *o;
    if (!join(g, why)) {
        o->release(g);
        return -1;
    }
    *out = g;
    *rank = (size_t)g->rank;
    *size = (size_t)g->size;
    return 0;
}

static bool refuse(char why[RELA_TRANSPORT_TEXT], const char *text)
{
    (void)snprintf(why, RELA_TRANSPORT_TEXT, "%s", text);
    return false;
}

/* The watching thread starts before MPI, which waits for all ranks when it starts. */
static bool start_watch(group *g)
{
    pthread_condattr_t clock;
    (void)pthread_mutex_init(&g->lock, NULL);
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&g->wake, &clock);
    (void)pthread_condattr_destroy(&clock);
    return pthread_create(&g->thread, NULL, watch, g) == 0;
}

static const char *start_mpi(group *g)
{
    int there = 0, level = MPI_THREAD_SINGLE;
    (void)MPI_Initialized(&there);
    g->initialised = !there;
    if (there)
        (void)MPI_Query_thread(&level);
    else if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
        return "it cannot start";
    if (level < MPI_THREAD_SERIALIZED)
        return "it does not allow calls from two threads";
    (void)MPI_Comm_dup(MPI_COMM_WORLD, &g->data);
    (void)MPI_Comm_dup(MPI_COMM_WORLD, &g->life);
    (void)MPI_Comm_rank(g->data, &g->rank);
    (void)MPI_Comm_size(g->data, &g->size);
    g->beats = g->o.resize(NULL, (size_t)g->size * sizeof *g->beats);
    g->heard = g->o.resize(NULL, (size_t)g->size * sizeof *g->heard);
    if (!g->beats || !g->heard)
        return "no memory";
    for (int i = 0; i < g->size; i++) {
        g->beats[i] = MPI_REQUEST_NULL;
        g->heard[i] = g->o.seconds();
    }
    return NULL;
}

static bool join(group *g, char why[RELA_TRANSPORT_TEXT])
{
    if (!start_watch(g))
        return refuse(why, "no thread can start");
    const char *wrong = start_mpi(g);
    (void)pthread_mutex_lock(&g->lock);
    g->started = !wrong;
    g->ending = wrong != NULL;
    (void)pthread_cond_signal(&g->wake);
    (void)pthread_mutex_unlock(&g->lock);
    if (!wrong)
        return true;
    (void)pthread_join(g->thread, NULL);
    return refuse(why, wrong);
}

/* Without memory for one more, all ranks are ended: begin has no status. */
static MPI_Request *next_request(group *g)
{
    if (g->n == g->cap) {
        g->cap = g->cap ? 2 * g->cap : 64;
        g->requests = g->o.resize(g->requests, g->cap * sizeof *g->requests);
        if (!g->requests)
            abort_all(g);
    }
    return &g->requests[g->n++];
}

static int part_of(size_t len, size_t at)
{
    return (int)(len - at < CHUNK ? len - at : CHUNK);
}

static void begin(void *transport, const rela_message *out, size_t n_out, const rela_message *in,
                  size_t n_in)
{
    group *g = transport;
    (void)pthread_mutex_lock(&g->lock);
    for (size_t i = 0; i < n_in; i++)
        for (size_t at = 0; at < in[i].len; at += CHUNK)
            (void)MPI_Irecv((char *)in[i].bytes + at, part_of(in[i].len, at), MPI_BYTE,
                            (int)in[i].rank, 0, g->data, next_request(g));
    for (size_t i = 0; i < n_out; i++)
        for (size_t at = 0; at < out[i].len; at += CHUNK)
            (void)MPI_Isend((const char *)out[i].bytes + at, part_of(out[i].len, at), MPI_BYTE,
                            (int)out[i].rank, 0, g->data, next_request(g));
    (void)pthread_mutex_unlock(&g->lock);
}

static void wait_all(void *transport)
{
    group *g = transport;
    int done = 0;
    long pause = PAUSE_MIN;
    for (int i = 0; !done; i++) {
        (void)pthread_mutex_lock(&g->lock);
        g->advancing = false;
        (void)MPI_Testall((int)g->n, g->requests, &done, MPI_STATUSES_IGNORE);
        (void)pthread_mutex_unlock(&g->lock);
        if (!done && i < SPINS)
            (void)sched_yield();
        else if (!done) {
            (void)nanosleep(&(struct timespec){ 0, pause * 1000 }, NULL);
            pause = pause * 2 < PAUSE_MAX ? pause * 2 : PAUSE_MAX;
        }
    }
    g->n = 0;
}

static void advance(void *transport)
{
    group *g = transport;
    (void)pthread_mutex_lock(&g->lock);
    g->advancing = true;
    (void)pthread_cond_signal(&g->wake);
    (void)pthread_mutex_unlock(&g->lock);
}

static void broadcast(void *transport, void *bytes, size_t len)
{
    group *g = transport;
    for (size_t at = 0; at < len; at += CHUNK) {
        (void)pthread_mutex_lock(&g->lock);
        (void)MPI_Ibcast((char *)bytes + at, part_of(len, at), MPI_BYTE, 0, g->data,
                         next_request(g));
        (void)pthread_mutex_unlock(&g->lock);
        wait_all(g);
    }
}

static int stopping(void *transport)
{
    group *g = transport;
    return atomic_load(&g->stopping);
}

/* The alarm ends the process if MPI_Abort waits for ranks that no longer answer. */
static void abort_all(void *transport)
{
    group *g = transport;
    (void)alarm(ABORT_SECONDS);
    (void)MPI_Abort(g->data, 1);
    for (;;)
        (void)pause();
}

static void finish(void *transport)
{
    group *g = transport;
    int there = 0;
    (void)pthread_mutex_lock(&g->lock);
    (void)MPI_Ibarrier(g->data, next_request(g));
    (void)pthread_mutex_unlock(&g->lock);
    wait_all(g);
    (void)pthread_mutex_lock(&g->lock);
    g->ending = true;
    (void)pthread_cond_signal(&g->wake);
    (void)pthread_mutex_unlock(&g->lock);
    (void)pthread_join(g->thread, NULL);
    (void)MPI_Barrier(g->data); /* all have sent their last heartbeat */
    do {
        char beat;
        (void)MPI_Iprobe(MPI_ANY_SOURCE, 0, g->life, &there, MPI_STATUS_IGNORE);
        if (there)
            (void)MPI_Recv(&beat, 1, MPI_BYTE, MPI_ANY_SOURCE, 0, g->life, MPI_STATUS_IGNORE);
    } while (there);
    (void)MPI_Waitall(g->size, g->beats, MPI_STATUSES_IGNORE);
    (void)MPI_Comm_free(&g->life);
    (void)MPI_Comm_free(&g->data);
    if (g->initialised)
        (void)MPI_Finalize();
    g->o.release(g->requests);
    g->o.release(g->beats);
    g->o.release(g->heard);
    g->o.release(g);
}

static void pause_for(group *g, long nanoseconds)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until); /* NOLINT: what the condition waits by */
    until.tv_nsec += nanoseconds;
    until.tv_sec += until.tv_nsec / SECOND;
    until.tv_nsec %= SECOND;
    (void)pthread_cond_timedwait(&g->wake, &g->lock, &until);
}

/* Waits until the next heartbeat; polls for messages meanwhile if advance was called. */
static void wait_for_beat(group *g)
{
    const long beat = BEAT;
    const double from = g->o.seconds();
    while (!g->ending && g->o.seconds() - from < (double)beat / (double)SECOND) {
        int done = 0;
        if (g->advancing)
            (void)MPI_Testall((int)g->n, g->requests, &done, MPI_STATUSES_IGNORE);
        g->advancing = g->advancing && !done;
        pause_for(g, g->advancing ? PAUSE_MAX * 1000L : beat);
    }
}

static void *watch(void *transport)
{
    group *g = transport;
    const double from = g->o.seconds();
    (void)pthread_mutex_lock(&g->lock);
    while (!g->started && !g->ending) {
        pause_for(g, SECOND);
        if (!g->started && !g->ending && g->o.seconds() - from > g->o.timeout) {
            /* MPI_Abort is not available before MPI has started; mpirun ends the others. */
            g->o.on_lost(g->o.ctx, SIZE_MAX, g->o.seconds() - from);
            _exit(1); /* NOLINT: see above */
        }
    }
    while (!g->ending) {
        const double before = g->o.seconds();
        wait_for_beat(g);
        if (g->ending)
            break;
        exchange_beats(g);
        /* A process that was suspended has heard from no rank meanwhile: start afresh. */
        check_silence(g, g->o.seconds() - before > g->o.timeout / 2);
    }
    (void)pthread_mutex_unlock(&g->lock);
    return NULL;
}

static void check_silence(group *g, bool forgive)
{
    /* One report is enough: other ranks give rank 0 or 1 time to make it. */
    const double limit = g->o.timeout + (g->rank > 1 ? 2 : 0), now = g->o.seconds();
    for (int i = 0; i < (g->rank ? 1 : g->size); i++) {
        if (forgive)
            g->heard[i] = now;
        if (i == g->rank || now - g->heard[i] <= limit)
            continue;
        g->o.on_lost(g->o.ctx, (size_t)i, now - g->heard[i]);
        abort_all(g);
    }
}

/* Between rank 0 and the others. A heartbeat says whether a rank is to stop. What was received
 * comes first, for rank 0 to pass it on at once. Sends none while the last one is still pending. */
static void exchange_beats(group *g)
{
    static const char BEATS[] = { 0, 1 };
    const int first = g->rank ? 0 : 1, last = g->rank ? 1 : g->size;
    int there = 1;
    while (there) {
        MPI_Status from;
        char got = 0;
        (void)MPI_Iprobe(MPI_ANY_SOURCE, 0, g->life, &there, &from);
        if (!there)
            break;
        (void)MPI_Recv(&got, 1, MPI_BYTE, from.MPI_SOURCE, 0, g->life, MPI_STATUS_IGNORE);
        g->heard[from.MPI_SOURCE] = g->o.seconds();
        if (got)
            atomic_store(&g->stopping, 1);
    }
    if (g->o.stop(g->o.ctx))
        atomic_store(&g->stopping, 1);
    for (int i = first; i < last; i++) {
        int sent = 1;
        (void)MPI_Test(&g->beats[i], &sent, MPI_STATUS_IGNORE);
        if (sent)
            (void)MPI_Isend(&BEATS[atomic_load(&g->stopping)], 1, MPI_BYTE, i, 0, g->life,
                            &g->beats[i]);
    }
}

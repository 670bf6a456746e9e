/* SPDX-License-Identifier: MIT */
/* src/serve/socket_loop.c - see socket_loop.h. All but the loading of models and the outcomes that
 * come in happens on the thread of the caller. */
#include "serve/socket_loop.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <uv.h>

enum {
    READ_BYTES = 64 << 10,
    WRITE_BYTES = 64 << 10,
    BACKLOG = 511,
    TICK_MS = 50,
    LINGERING_MAX = 512,
    SIGNALS = 4
};
static const double LINGER = 2;      /* seconds that a closed connection may still send */
static const double SAME_SIGNAL = 1; /* seconds in which a second signal is the first again */

typedef struct socket_loop socket_loop;

typedef struct peer {
    uv_tcp_t tcp;
    uv_write_t write;
    uv_shutdown_t shutdown;
    socket_loop *owner;
    int32_t slot; /* -1: the service has forgotten it */
    bool reading, writing, closing;
    double linger; /* when it is closed for good; 0: not yet */
    char *pending; /* WRITE_BYTES, while they are written */
    size_t n_pending;
    struct peer *next, **at;
} peer;

/* Models that are loaded in the background. */
typedef struct loading {
    uv_work_t work;
    rela_service_model **models;
    size_t n;
    rela_status status;
    rela_error err;
    bool busy, again;
} loading;

struct socket_loop {
    const rela_socket_options *o;
    uv_loop_t loop;
    uv_tcp_t accepting;
    uv_timer_t timer;
    uv_async_t woken;
    uv_signal_t signals[SIGNALS];
    rela_service *service;
    rela_outcome_sink sink;
    rela_served_options served;
    peer **peers; /* by slot */
    peer *first;
    size_t n_lingering;
    pthread_mutex_t lock;
    pthread_cond_t handed;
    rela_outcome *done, **last_done; /* handed over, in order; under the lock */
    bool deaf;                       /* the loop has ended; under the lock */
    loading loading;
    bool loaded, draining, listening, ended;
    double drain_until, signalled;
    int signal;
    rela_status status;
    rela_error err;
    char bytes[READ_BYTES];
};

static rela_status listen_on(socket_loop *l, rela_error *err);
static void on_connection(uv_stream_t *accepting, int status);
static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf);
static void on_bytes(uv_handle_t *handle, size_t wanted, uv_buf_t *buf);
static void flush(socket_loop *l);
static void flush_peer(peer *k);
static void finish_peer(peer *k);
static void close_peer(peer *k);
static void put_outcome(void *ctx, rela_outcome *o);
static void take_outcomes(socket_loop *l, bool wait);
static void on_woken(uv_async_t *woken);
static void on_timer(uv_timer_t *timer);
static void on_signal(uv_signal_t *handle, int number);
static void load(socket_loop *l);
static void end(socket_loop *l);

static rela_status fail(rela_error *err, int code, const char *what)
{
    const rela_status st = code == UV_ENOMEM ? RELA_NOMEM : RELA_IO;
    return rela_fail(err, st, "%s: %s", what, uv_strerror(code));
}

static void note(const socket_loop *l, bool warning, const char *text)
{
    if (l->o->note)
        l->o->note(l->o->note_ctx, warning, text);
}

static rela_status open_all(socket_loop *l, rela_error *err)
{
    static const int NUMBERS[SIGNALS] = { SIGTERM, SIGINT, SIGHUP, SIGPIPE };
    int code = uv_timer_init(&l->loop, &l->timer);
    code = code ? code : uv_async_init(&l->loop, &l->woken, on_woken);
    for (size_t i = 0; i < SIGNALS && !code; i++) {
        code = uv_signal_init(&l->loop, &l->signals[i]);
        code = code ? code : uv_signal_start(&l->signals[i], on_signal, NUMBERS[i]);
        l->signals[i].data = l;
    }
    code = code ? code : uv_timer_start(&l->timer, on_timer, TICK_MS, TICK_MS);
    l->timer.data = l;
    l->woken.data = l;
    return code ? fail(err, code, "the server cannot start") : listen_on(l, err);
}

/* Signals are for this thread only: a handler must not interrupt one that computes, see
 * cli/stop_signals.c. The threads that load models, and those that they start, keep the mask that
 * they begin with. */
static void load_first(socket_loop *l)
{
    sigset_t set, old;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGHUP);
    (void)sigaddset(&set, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &set, &old);
    load(l);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void close_all(uv_handle_t *handle, void *ctx)
{
    (void)ctx;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

rela_status rela_socket_serve(int *signal, const rela_socket_options *o, rela_error *err)
{
    *signal = 0;
    socket_loop *l = rela_mem_zalloc(sizeof *l);
    if (!l)
        return rela_fail(err, RELA_NOMEM, "no memory for the server");
    l->o = o;
    l->sink = (rela_outcome_sink){ put_outcome, l };
    l->served = o->served;
    l->served.sink = &l->sink;
    l->loading.work.data = l;
    l->last_done = &l->done;
    (void)pthread_mutex_init(&l->lock, NULL);
    (void)pthread_cond_init(&l->handed, NULL);
    const rela_service_backend backend = { .start = rela_served_model_start,
                                           .cancel = rela_served_model_cancel };
    l->peers = rela_mem_zalloc(o->service->queue.connections * sizeof *l->peers);
    rela_status st = l->peers ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for the server");
    st = st ? st : rela_service_create(&l->service, o->service, &backend, err);
    if (st == RELA_OK) {
        int code = uv_loop_init(&l->loop);
        st = code ? fail(err, code, "the server cannot start") : open_all(l, err);
        if (st == RELA_OK) {
            load_first(l);
            (void)uv_run(&l->loop, UV_RUN_DEFAULT);
            *signal = l->signal;
            st = l->status ? rela_fail(err, l->status, "%s", l->err.message) : RELA_OK;
        } else if (!code) {
            uv_walk(&l->loop, close_all, NULL);
            (void)uv_run(&l->loop, UV_RUN_DEFAULT);
        }
        if (!code)
            (void)uv_loop_close(&l->loop);
    }
    /* What was cancelled at the end still comes back, and needs its text until then. */
    while (l->service && !rela_service_idle(l->service))
        take_outcomes(l, true);
    rela_service_destroy(l->service);
    rela_mem_free(l->peers);
    (void)pthread_cond_destroy(&l->handed);
    (void)pthread_mutex_destroy(&l->lock);
    rela_mem_free(l);
    return st;
}

/* ---- connections ---- */

static rela_status listen_on(socket_loop *l, rela_error *err)
{
    struct sockaddr_storage at;
    char what[128], text[160];
    const int port = l->o->port;
    const bool six = strchr(l->o->address, ':') != NULL;
    rela_format_text(what, sizeof what, "%s%s%s port %d", six ? "[" : "", l->o->address,
                     six ? "]" : "", port);
    int code = six ? uv_ip6_addr(l->o->address, port, (struct sockaddr_in6 *)&at)
                   : uv_ip4_addr(l->o->address, port, (struct sockaddr_in *)&at);
    if (code)
        return rela_fail(err, RELA_ARG, "'%s' is not an address", l->o->address);
    code = uv_tcp_init(&l->loop, &l->accepting);
    code = code ? code : uv_tcp_bind(&l->accepting, (const struct sockaddr *)&at, 0);
    code = code ? code : uv_listen((uv_stream_t *)&l->accepting, BACKLOG, on_connection);
    l->accepting.data = l;
    if (code)
        return fail(err, code, what);
    int len = sizeof at;
    (void)uv_tcp_getsockname(&l->accepting, (struct sockaddr *)&at, &len);
    const uint16_t bound = six ? ((const struct sockaddr_in6 *)&at)->sin6_port
                               : ((const struct sockaddr_in *)&at)->sin_port;
    l->listening = true;
    rela_format_text(text, sizeof text, "listening on http://%s%s%s:%u", six ? "[" : "",
                     l->o->address, six ? "]" : "", (unsigned)ntohs(bound));
    note(l, false, text);
    return RELA_OK;
}

/* A number for limits per address: one for a whole network of IPv6, which one client may have. */
static uint64_t address_of(const uv_tcp_t *tcp, char *name, size_t size)
{
    struct sockaddr_storage at;
    int len = sizeof at;
    uint64_t hash = 1469598103934665603u;
    rela_format_text(name, size, "-");
    if (uv_tcp_getpeername(tcp, (struct sockaddr *)&at, &len) != 0)
        return hash;
    const bool six = at.ss_family == AF_INET6;
    const unsigned char *bytes =
        six ? ((const struct sockaddr_in6 *)&at)->sin6_addr.s6_addr
            : (const unsigned char *)&((const struct sockaddr_in *)&at)->sin_addr;
    for (size_t i = 0; i < (six ? 8 : 4); i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    if (six)
        (void)uv_ip6_name((const struct sockaddr_in6 *)&at, name, size);
    else
        (void)uv_ip4_name((const struct sockaddr_in *)&at, name, size);
    return hash;
}

static void on_closed(uv_handle_t *handle)
{
    peer *k = handle->data;
    *k->at = k->next;
    if (k->next)
        k->next->at = k->at;
    rela_mem_free(k->pending);
    rela_mem_free(k);
}

static void on_connection(uv_stream_t *accepting, int status)
{
    socket_loop *l = accepting->data;
    peer *k = status == 0 ? rela_mem_zalloc(sizeof *k) : NULL;
    char name[64];
    if (!k)
        return;
    if (uv_tcp_init(&l->loop, &k->tcp) != 0) {
        rela_mem_free(k);
        return;
    }
    k->tcp.data = k;
    k->owner = l;
    k->slot = -1;
    k->next = l->first;
    k->at = &l->first;
    if (l->first)
        l->first->at = &k->next;
    l->first = k;
    if (uv_accept(accepting, (uv_stream_t *)&k->tcp) == 0) {
        const uint64_t address = address_of(&k->tcp, name, sizeof name);
        (void)uv_tcp_nodelay(&k->tcp, 1);
        k->slot = rela_service_connect(l->service, address, name, rela_clock_seconds());
    }
    if (k->slot < 0) {
        close_peer(k);
        return;
    }
    l->peers[k->slot] = k;
    flush_peer(k);
}

static void on_bytes(uv_handle_t *handle, size_t wanted, uv_buf_t *buf)
{
    const peer *k = handle->data;
    (void)wanted;
    *buf = uv_buf_init(k->owner->bytes, READ_BYTES);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    peer *k = stream->data;
    socket_loop *l = k->owner;
    if (n < 0) {
        close_peer(k);
    } else if (n > 0 && k->slot >= 0) {
        rela_service_receive(l->service, k->slot, buf->base, (size_t)n, rela_clock_seconds());
        flush_peer(k);
    }
    flush(l);
}

static void flush(socket_loop *l)
{
    for (int32_t slot; (slot = rela_service_changed(l->service)) >= 0;)
        if (l->peers[slot])
            flush_peer(l->peers[slot]);
}

static void on_written(uv_write_t *write, int status)
{
    peer *k = write->data;
    k->writing = false;
    if (status != 0 || k->closing) {
        close_peer(k);
        return;
    }
    if (k->slot >= 0)
        rela_service_written(k->owner->service, k->slot, k->n_pending, rela_clock_seconds());
    flush_peer(k);
}

/* Writes what is there, as far as it goes without waiting; then waits with a copy. */
static void write_some(peer *k)
{
    rela_service *s = k->owner->service;
    while (!k->writing && !k->closing && k->slot >= 0) {
        const rela_span out = rela_service_output(s, k->slot);
        if (!out.text)
            return;
        uv_buf_t buf = uv_buf_init(NULL, (unsigned)(out.len < 1 << 30 ? out.len : 1 << 30));
        memcpy(&buf.base, &out.text, sizeof buf.base); /* which is not written to */
        const int n = uv_try_write((uv_stream_t *)&k->tcp, &buf, 1);
        if (n > 0) {
            rela_service_written(s, k->slot, (size_t)n, rela_clock_seconds());
            continue;
        }
        k->pending = k->pending ? k->pending : rela_mem_alloc(WRITE_BYTES);
        if (n != UV_EAGAIN || !k->pending) {
            close_peer(k);
            return;
        }
        k->n_pending = out.len < WRITE_BYTES ? out.len : WRITE_BYTES;
        memcpy(k->pending, out.text, k->n_pending);
        buf = uv_buf_init(k->pending, (unsigned)k->n_pending);
        k->write.data = k;
        k->writing = uv_write(&k->write, (uv_stream_t *)&k->tcp, &buf, 1, on_written) == 0;
        if (!k->writing)
            close_peer(k);
    }
}

static void flush_peer(peer *k)
{
    rela_service *s = k->owner->service;
    write_some(k);
    if (k->closing || k->slot < 0)
        return;
    if (!k->writing && rela_service_closes(s, k->slot)) {
        finish_peer(k);
        return;
    }
    const bool wants = rela_service_wants(s, k->slot);
    if (wants && !k->reading)
        k->reading = uv_read_start((uv_stream_t *)&k->tcp, on_bytes, on_read) == 0;
    else if (!wants && k->reading)
        k->reading = uv_read_stop((uv_stream_t *)&k->tcp) != 0;
}

static void forget_slot(peer *k)
{
    if (k->slot < 0)
        return;
    k->owner->peers[k->slot] = NULL;
    rela_service_disconnect(k->owner->service, k->slot, rela_clock_seconds());
    k->slot = -1;
}

static void on_shutdown(uv_shutdown_t *shutdown, int status)
{
    (void)shutdown, (void)status;
}

/* Says that nothing more comes, and reads on for a while: closing a socket with unread bytes would
 * take the answer away from the client. */
static void finish_peer(peer *k)
{
    forget_slot(k);
    k->shutdown.data = k;
    if (k->owner->n_lingering >= LINGERING_MAX || k->owner->ended ||
        uv_shutdown(&k->shutdown, (uv_stream_t *)&k->tcp, on_shutdown) != 0) {
        close_peer(k);
        return;
    }
    k->linger = rela_clock_seconds() + LINGER;
    k->owner->n_lingering++;
    if (!k->reading)
        k->reading = uv_read_start((uv_stream_t *)&k->tcp, on_bytes, on_read) == 0;
}

static void close_peer(peer *k)
{
    if (k->closing)
        return;
    k->closing = true;
    k->owner->n_lingering -= k->linger > 0;
    forget_slot(k);
    uv_close((uv_handle_t *)&k->tcp, on_closed);
}

/* ---- outcomes ---- */

/* On a thread of a model. */
static void put_outcome(void *ctx, rela_outcome *o)
{
    socket_loop *l = ctx;
    (void)pthread_mutex_lock(&l->lock);
    o->next = NULL;
    *l->last_done = o;
    l->last_done = &o->next;
    (void)pthread_cond_signal(&l->handed);
    if (!l->deaf)
        (void)uv_async_send(&l->woken);
    (void)pthread_mutex_unlock(&l->lock);
}

static void take_outcomes(socket_loop *l, bool wait)
{
    (void)pthread_mutex_lock(&l->lock);
    while (wait && !l->done)
        (void)pthread_cond_wait(&l->handed, &l->lock);
    rela_outcome *o = l->done, *next = NULL;
    l->done = NULL;
    l->last_done = &l->done;
    (void)pthread_mutex_unlock(&l->lock);
    const double now = rela_clock_seconds();
    for (; o; o = next) {
        next = o->next;
        rela_service_finish(l->service, o, now);
    }
}

static void on_woken(uv_async_t *woken)
{
    socket_loop *l = woken->data;
    take_outcomes(l, false);
    flush(l);
}

/* ---- models ---- */

static void load_models(uv_work_t *work)
{
    socket_loop *l = work->data;
    loading *g = &l->loading;
    rela_buffer path = RELA_BUFFER_INIT;
    g->n = 0;
    g->err = (rela_error){ RELA_OK, "" };
    g->models = rela_mem_zalloc(l->o->n_models * sizeof *g->models);
    g->status = g->models ? RELA_OK : rela_fail(&g->err, RELA_NOMEM, "no memory for the models");
    for (size_t i = 0; i < l->o->n_models && g->status == RELA_OK; i++) {
        g->status = l->o->find(l->o->find_ctx, &path, l->o->models[i], &g->err);
        g->status = g->status
                        ? g->status
                        : rela_served_model_load(&g->models[i], path.data, &l->served, &g->err);
        g->n += g->status == RELA_OK;
    }
    rela_buffer_free(&path);
}

static void note_model(socket_loop *l, size_t number)
{
    rela_service_model *const *models = l->loading.models;
    const rela_service_model *m = models[number];
    char text[600];
    rela_format_text(text, sizeof text, "serving %s: %s to %s", m->name, m->source, m->target);
    note(l, false, text);
    for (size_t i = 0; i < number; i++)
        if (strcmp(models[i]->name, m->name) == 0) {
            rela_format_text(
                text, sizeof text,
                "more than one model is called %s: by that name requests get the first", m->name);
            note(l, true, text);
            return;
        }
}

static void on_loaded(uv_work_t *work, int code)
{
    socket_loop *l = work->data;
    loading *g = &l->loading;
    char text[600];
    g->busy = false;
    if (g->status == RELA_OK && code == 0 && !l->ended)
        g->status = rela_service_models_set(l->service, g->models, g->n, &g->err);
    if (g->status != RELA_OK || code != 0 || l->ended) {
        for (size_t i = 0; i < g->n; i++)
            rela_served_model_free(g->models[i]);
        if (!l->loaded && !l->ended) {
            l->status = g->status;
            l->err = g->err;
            end(l);
        } else if (!l->ended) {
            rela_format_text(text, sizeof text, "the models stay as they are: %s", g->err.message);
            note(l, true, text);
        }
    } else {
        for (size_t i = 0; i < g->n; i++)
            note_model(l, i);
        l->loaded = true;
    }
    rela_mem_free(g->models);
    g->models = NULL;
    if (g->again && !l->ended)
        load(l);
    flush(l);
}

static void load(socket_loop *l)
{
    l->loading.again = l->loading.busy;
    if (l->loading.busy)
        return;
    l->loading.busy = uv_queue_work(&l->loop, &l->loading.work, load_models, on_loaded) == 0;
    if (!l->loading.busy && !l->loaded) {
        l->status = rela_fail(&l->err, RELA_NOMEM, "the models cannot be loaded");
        end(l);
    }
}

/* ---- time and signals ---- */

static bool is_quiet(const socket_loop *l)
{
    for (const peer *k = l->first; k; k = k->next)
        if (!k->closing && k->slot >= 0 &&
            (k->writing || rela_service_output(l->service, k->slot).text))
            return false;
    return rela_service_idle(l->service);
}

static void on_timer(uv_timer_t *timer)
{
    socket_loop *l = timer->data;
    const double now = rela_clock_seconds();
    rela_service_tick(l->service, now);
    flush(l);
    for (peer *k = l->first, *next; k; k = next) {
        next = k->next;
        if (k->linger > 0 && now > k->linger)
            close_peer(k);
    }
    if (!l->draining || l->ended)
        return;
    const bool late = now > l->drain_until;
    if (is_quiet(l) || (late && l->signal)) {
        end(l);
    } else if (late) {
        l->signal = SIGTERM; /* requests are cut off */
        rela_service_abandon(l->service, now);
        flush(l);
        l->drain_until = now + SAME_SIGNAL;
    }
}

static void on_signal(uv_signal_t *handle, int number)
{
    socket_loop *l = handle->data;
    const double now = rela_clock_seconds();
    if (number == SIGPIPE)
        return; /* a client that is gone shows when it is written to */
    if (number == SIGHUP) {
        note(l, false, "loading the models anew");
        load(l);
    } else if (!l->draining) {
        char text[100];
        l->draining = true;
        l->signalled = now;
        l->drain_until = now + l->o->drain_seconds;
        rela_service_drain(l->service);
        uv_close((uv_handle_t *)&l->accepting, NULL);
        l->listening = false;
        rela_format_text(text, sizeof text, "stopping: %llu requests are being finished",
                         (unsigned long long)rela_service_load(l->service).requests);
        note(l, false, text);
    } else if (now > l->signalled + SAME_SIGNAL && !l->ended) {
        l->signal = rela_service_idle(l->service) ? 0 : number;
        rela_service_abandon(l->service, now);
        flush(l);
        end(l);
    }
}

/* Closes everything, so that the loop ends. What the models still do is cancelled. */
static void end(socket_loop *l)
{
    if (l->ended)
        return;
    l->ended = true;
    rela_service_abandon(l->service, rela_clock_seconds());
    flush(l);
    for (peer *k = l->first, *next; k; k = next) {
        next = k->next;
        close_peer(k);
    }
    if (l->listening)
        uv_close((uv_handle_t *)&l->accepting, NULL);
    l->listening = false;
    (void)uv_timer_stop(&l->timer);
    uv_close((uv_handle_t *)&l->timer, NULL);
    for (size_t i = 0; i < SIGNALS; i++)
        uv_close((uv_handle_t *)&l->signals[i], NULL);
    (void)pthread_mutex_lock(&l->lock);
    l->deaf = true;
    (void)pthread_mutex_unlock(&l->lock);
    uv_close((uv_handle_t *)&l->woken, NULL);
}

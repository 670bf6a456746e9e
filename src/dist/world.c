/* SPDX-License-Identifier: MIT */
/* src/dist/world.c - see world.h. */
#include "dist/world.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "dist/job_settings.h"
#include "dist/launch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIMEOUT = 20, TIMEOUT_MIN = 2, TIMEOUT_MAX = 86400, FOLLOW_SECONDS = 2 };

struct rela_world {
    const rela_transport *t;
    void *transport;
    size_t rank, size;
    char (*hosts)[RELA_HOST_MAX]; /* (size) */
    rela_message *messages;       /* (2 * size) */
    size_t *each;                 /* (size + 1) 0, 1, 2 ...: one element per rank */
    int64_t *values;              /* (size) */
    bool failed;                  /* a rank failed, and all ranks know */
    _Atomic(const rela_stop *) own_stop;
};

void rela_world_set_stop(rela_world *w, const rela_stop *own)
{
    if (w)
        atomic_store(&w->own_stop, own);
}

bool rela_world_stopping(const rela_world *w)
{
    return w && w->t->stopping(w->transport) != 0;
}

static int is_asked(void *ctx)
{
    rela_world *w = ctx;
    const rela_stop *own = atomic_load(&w->own_stop);
    return own && rela_stop_asked(own);
}

static rela_status get_timeout(double *seconds, rela_error *err);
static rela_status make_tables(rela_world *w, rela_error *err);
static void on_lost(void *ctx, size_t rank, double seconds);
static int is_asked(void *ctx);
static void print_line(const rela_world *w, const char *line);
static size_t list_parts(const rela_world *w, rela_message *in, void *array, size_t element,
                         const size_t *first);

rela_status rela_world_open(rela_world **out, rela_error *err)
{
    const rela_transport *t = NULL;
    const size_t n = rela_launch_size();
    *out = NULL;
    if (n < 2)
        return RELA_OK;
    rela_status st = rela_launch_module(&t, err);
    st = st ? st : rela_world_open_with(out, t, err);
    if (st != RELA_OK || rela_world_size(*out) == n)
        return st;
    st = rela_fail(err, RELA_STATE,
                   "%zu processes were started together, but MPI knows of %zu; the module for MPI "
                   "must be built for the MPI of this mpirun, and srun may need --mpi=pmix",
                   n, rela_world_size(*out));
    rela_world_close(*out, RELA_OK, NULL);
    *out = NULL;
    return st;
}

rela_status rela_world_open_with(rela_world **out, const rela_transport *t, rela_error *err)
{
    char why[RELA_TRANSPORT_TEXT] = "";
    rela_world *w = rela_mem_zalloc(sizeof *w);
    *out = NULL;
    if (!w)
        return rela_fail(err, RELA_NOMEM, "no memory for several processes");
    rela_transport_options o = { .resize = rela_mem_resize,
                                 .release = rela_mem_free,
                                 .seconds = rela_clock_seconds,
                                 .on_lost = on_lost,
                                 .stop = is_asked,
                                 .ctx = w };
    w->t = t;
    rela_status st = get_timeout(&o.timeout, err);
    if (st == RELA_OK && t->start(&w->transport, &w->rank, &w->size, &o, why) != 0)
        st = rela_fail(err, RELA_STATE, "MPI: %s", why);
    if (st == RELA_OK && (st = make_tables(w, err)) != RELA_OK) {
        print_line(w, "no memory for several processes");
        t->abort(w->transport);
    }
    if (st != RELA_OK) {
        rela_mem_free(w);
        return st;
    }
    (void)gethostname(w->hosts[w->rank], RELA_HOST_MAX - 1);
    rela_world_share(w, w->hosts, sizeof *w->hosts, w->each);
    *out = w;
    return RELA_OK;
}

void rela_world_close(rela_world *w, rela_status st, const rela_error *why)
{
    if (!w)
        return;
    if (st != RELA_OK && st != RELA_CANCEL && !w->failed) {
        /* The others wait for this rank for ever, unless all failed alike: then rank 0 reports
         * first. */
        if (w->rank)
            (void)sleep(FOLLOW_SECONDS);
        print_line(w, why && *why->message ? why->message : rela_status_text(st));
        w->t->abort(w->transport);
    }
    w->t->finish(w->transport);
    rela_mem_free(w->hosts);
    rela_mem_free(w->messages);
    rela_mem_free(w->each);
    rela_mem_free(w->values);
    rela_mem_free(w);
}

size_t rela_world_rank(const rela_world *w)
{
    return w ? w->rank : 0;
}

size_t rela_world_size(const rela_world *w)
{
    return w ? w->size : 1;
}

const char *rela_world_host(const rela_world *w, size_t rank)
{
    return w ? w->hosts[rank] : "";
}

/* Ranks below `end` on the host of this one. */
static size_t count_local(const rela_world *w, size_t end)
{
    size_t n = 0;
    for (size_t i = 0; i < end; i++)
        n += strcmp(w->hosts[i], w->hosts[w->rank]) == 0;
    return n;
}

size_t rela_world_local_size(const rela_world *w)
{
    return w ? count_local(w, w->size) : 1;
}

size_t rela_world_local_rank(const rela_world *w)
{
    return w ? count_local(w, w->rank) : 0;
}

rela_status rela_world_agree(rela_world *w, rela_status st, rela_error *err)
{
    if (!w || w->failed)
        return st;
    const size_t first = (size_t)rela_world_min(w, st ? (int64_t)w->rank : (int64_t)w->size);
    if (first == w->size)
        return RELA_OK;
    rela_error own = { RELA_OK, "" };
    if (first == w->rank && err)
        own = *err;
    own.status = st;
    for (size_t i = 0; i < w->size; i++)
        w->messages[i] = (rela_message){ first == w->rank ? i : first, &own, sizeof own };
    if (first == w->rank) {
        w->messages[first] = w->messages[w->size - 1];
        rela_world_begin(w, w->messages, w->size - 1, NULL, 0);
    } else {
        rela_world_begin(w, NULL, 0, w->messages, 1);
    }
    rela_world_wait(w);
    w->failed = true;
    return rela_fail(err, own.status, "rank %zu on %s: %s", first, w->hosts[first],
                     *own.message ? own.message : rela_status_text(own.status));
}

rela_status rela_world_same(rela_world *w, const char *text, rela_error *err)
{
    rela_buffer first = RELA_BUFFER_INIT;
    if (!w)
        return RELA_OK;
    rela_status st = w->rank ? RELA_OK : rela_buffer_append_text(&first, text, err);
    st = rela_world_agree(w, st, err);
    st = st ? st : rela_world_broadcast_text(w, &first, err);
    if (st == RELA_OK) {
        char where[RELA_HOST_MAX + 32];
        rela_format_text(where, sizeof where, "on rank 0 (%s)", w->hosts[0]);
        st = rela_settings_compare(text, first.data ? first.data : "", where, err);
        st = rela_world_agree(w, st, err);
    }
    rela_buffer_free(&first);
    return st;
}

static int64_t find_extreme(rela_world *w, int64_t value, bool most)
{
    if (!w)
        return value;
    w->values[w->rank] = value;
    rela_world_share(w, w->values, sizeof *w->values, w->each);
    for (size_t i = 0; i < w->size; i++)
        if (most ? w->values[i] > value : w->values[i] < value)
            value = w->values[i];
    return value;
}

int64_t rela_world_max(rela_world *w, int64_t value)
{
    return find_extreme(w, value, true);
}

int64_t rela_world_min(rela_world *w, int64_t value)
{
    return find_extreme(w, value, false);
}

void rela_world_broadcast(rela_world *w, void *bytes, size_t len)
{
    if (w && len)
        w->t->broadcast(w->transport, bytes, len);
}

rela_status rela_world_broadcast_text(rela_world *w, rela_buffer *text, rela_error *err)
{
    uint64_t len = text->len;
    if (!w)
        return RELA_OK;
    rela_world_broadcast(w, &len, sizeof len);
    rela_status st = RELA_OK;
    if (w->rank) {
        rela_buffer_clear(text);
        st = rela_buffer_reserve(text, len, err);
    }
    st = rela_world_agree(w, st, err);
    if (st != RELA_OK || len == 0 || !text->data)
        return st;
    rela_world_broadcast(w, text->data, len);
    text->len = len;
    text->data[len] = '\0';
    return RELA_OK;
}

void rela_world_share(rela_world *w, void *array, size_t element, const size_t *first)
{
    if (!w)
        return;
    const size_t n = (first[w->rank + 1] - first[w->rank]) * element;
    rela_message *out = w->messages, *in = w->messages + w->size;
    size_t n_out = 0;
    const size_t n_in = list_parts(w, in, array, element, first);
    for (size_t i = 0; i < w->size && n; i++)
        if (i != w->rank)
            out[n_out++] = (rela_message){ i, (char *)array + first[w->rank] * element, n };
    rela_world_begin(w, out, n_out, in, n_in);
    rela_world_wait(w);
}

/* Messages to receive the parts of an array that the other ranks have. */
static size_t list_parts(const rela_world *w, rela_message *in, void *array, size_t element,
                         const size_t *first)
{
    size_t n = 0;
    for (size_t i = 0; i < w->size; i++)
        if (i != w->rank && first[i + 1] > first[i])
            in[n++] = (rela_message){ i, (char *)array + first[i] * element,
                                      (first[i + 1] - first[i]) * element };
    return n;
}

void rela_world_share_equal(rela_world *w, void *array, size_t element)
{
    if (w)
        rela_world_share(w, array, element, w->each);
}

void rela_world_begin(rela_world *w, const rela_message *out, size_t n_out, const rela_message *in,
                      size_t n_in)
{
    w->t->begin(w->transport, out, n_out, in, n_in);
}

void rela_world_wait(rela_world *w)
{
    w->t->wait(w->transport);
}

void rela_world_advance(rela_world *w)
{
    w->t->advance(w->transport);
}

static rela_status get_timeout(double *seconds, rela_error *err)
{
    const char *text = getenv("RELA_MPI_TIMEOUT");
    *seconds = TIMEOUT;
    if (!text ||
        (rela_parse_f64(seconds, text) && *seconds >= TIMEOUT_MIN && *seconds <= TIMEOUT_MAX))
        return RELA_OK;
    return rela_fail(err, RELA_ARG, "RELA_MPI_TIMEOUT is '%.40s'; expected %d..%d seconds", text,
                     TIMEOUT_MIN, TIMEOUT_MAX);
}

static rela_status make_tables(rela_world *w, rela_error *err)
{
    w->hosts = rela_mem_zalloc(w->size * sizeof *w->hosts);
    w->messages = rela_mem_array(2 * w->size, sizeof *w->messages);
    w->each = rela_mem_array(w->size + 1, sizeof *w->each);
    w->values = rela_mem_array(w->size, sizeof *w->values);
    if (!w->hosts || !w->messages || !w->each || !w->values)
        return rela_fail(err, RELA_NOMEM, "no memory for several processes");
    for (size_t i = 0; i <= w->size; i++)
        w->each[i] = i;
    return RELA_OK;
}

static void on_lost(void *ctx, size_t rank, double seconds)
{
    const rela_world *w = ctx;
    char line[256];
    if (rank == SIZE_MAX)
        rela_format_text(line, sizeof line, "another rank has not started within %.0f seconds",
                         seconds);
    else
        rela_format_text(line, sizeof line,
                         "no sign of life from rank %zu on %s for %.0f seconds: all ranks stop",
                         rank, w->hosts ? w->hosts[rank] : "?", seconds);
    print_line(w, line);
    rela_file_abort_all();
}

/* A rank that ends the others has no caller to give a message to. */
static void print_line(const rela_world *w, const char *line)
{
    char text[sizeof((rela_error *)0)->message + 2 * RELA_HOST_MAX], host[RELA_HOST_MAX] = "?";
    (void)gethostname(host, sizeof host - 1);
    if (w->size)
        rela_format_text(text, sizeof text, "rela: rank %zu on %s: %s\n", w->rank, host, line);
    else
        rela_format_text(text, sizeof text, "rela: a rank on %s: %s\n", host, line);
    (void)fputs(text, stderr); /* NOLINT: see above */
    (void)fflush(stderr);      /* NOLINT */
}

/* SPDX-License-Identifier: MIT */
/* src/serve/service.h - the server without sockets, threads or a clock: bytes of connections go in,
 * bytes come out, sentences go to a backend and their outcomes come back.
 *
 * All calls are made by one thread, with the time in seconds, which never goes back. So a test can
 * run years of a server in a second, and repeat them from a seed. */
#ifndef RELA_SERVE_SERVICE_H
#define RELA_SERVE_SERVICE_H

#include "serve/outcome.h"
#include "serve/request_queue.h"

#include "rela/text.h"

typedef struct rela_service rela_service;

/* A model that is served. Belongs to who made it; counted references keep it while requests use
 * it, and release is called when there are none left. */
typedef struct rela_service_model {
    const char *name;            /* of its file */
    const char *source, *target; /* codes of its languages */
    rela_model_shape shape;
    const rela_splitter *splitter; /* NULL: lines are sentences */
    void *handle;                  /* for the backend */
    size_t references;
    void (*release)(struct rela_service_model *m);
} rela_service_model;

/* A sentence to be translated; everything is lent until its outcome is handed in. */
typedef struct rela_service_sentence {
    void *call;
    size_t number;
    rela_span text;
    const rela_translate_options *options;
    int wants; /* RELA_WANT_... */
    double deadline;
} rela_service_sentence;

/* What translates. start: *id names it for cancel; after a success an outcome follows, also of a
 * sentence that was cancelled. Neither call hands in an outcome itself. */
typedef struct rela_service_backend {
    void *ctx;
    rela_status (*start)(void *ctx, uint64_t *id, rela_service_model *m,
                         const rela_service_sentence *s, rela_error *err);
    void (*cancel)(void *ctx, rela_service_model *m, uint64_t id);
} rela_service_backend;

typedef struct rela_service_key {
    const char *text;
    double per_minute; /* 0: as all */
} rela_service_key;

/* Lent for the life of the service. _init sets the defaults. */
typedef struct rela_service_options {
    rela_queue_limits queue;
    size_t per_address;    /* connections; 0: any number */
    size_t per_connection; /* requests */
    size_t body_bytes, texts;
    double head_seconds, body_seconds, write_seconds, idle_seconds;
    double deadline, deadline_max; /* seconds of a request, unless it says; and at most */
    double per_minute;             /* requests of a client; 0: any number */
    bool behind_proxy;             /* addresses are those of a proxy: no limits per address */
    const char *const *hosts;      /* names that Host may have besides those of this machine */
    size_t n_hosts;
    const char *const *origins; /* pages of other sites that may use it; "*": all */
    size_t n_origins;
    const rela_service_key *keys;
    size_t n_keys; /* 0: none is needed */
    bool metrics;
    const char *metrics_token; /* NULL: none is needed */
    uint64_t seed;             /* of request ids */
    /* A line of the access log, without its end; NULL: none. */
    void (*log)(void *ctx, const char *line);
    void *log_ctx;
} rela_service_options;

void rela_service_options_init(rela_service_options *o);

rela_status rela_service_create(rela_service **out, const rela_service_options *o,
                                const rela_service_backend *backend, rela_error *err);
/* Nothing may be left with the backend. NULL is fine. */
void rela_service_destroy(rela_service *s);

/* Replaces the models; requests that run keep theirs. Until the first call, the service is not
 * ready. */
rela_status rela_service_models_set(rela_service *s, rela_service_model *const *models, size_t n,
                                    rela_error *err);

/* A new connection from an address (for limits: a hash; for the log: a text). -1: there are too
 * many, close it. */
int32_t rela_service_connect(rela_service *s, uint64_t address, const char *name, double now);
/* Bytes of the client. */
void rela_service_receive(rela_service *s, int32_t connection, const char *bytes, size_t len,
                          double now);
/* The client is gone: its requests are cancelled, and the number of the connection is free. */
void rela_service_disconnect(rela_service *s, int32_t connection, double now);
/* Whether more bytes of the client are wanted now. */
bool rela_service_wants(const rela_service *s, int32_t connection);
/* Bytes for the client; text NULL: none now. Lent until the next call. */
rela_span rela_service_output(const rela_service *s, int32_t connection);
/* The first len of them were written. */
void rela_service_written(rela_service *s, int32_t connection, size_t len, double now);
/* Whether to close it, now that there is no more output. */
bool rela_service_closes(const rela_service *s, int32_t connection);
/* Each connection that has changed since the last call, one after the other; -1: none is left. */
int32_t rela_service_changed(rela_service *s);

/* An outcome, which is given; also of a sentence that was cancelled. */
void rela_service_finish(rela_service *s, rela_outcome *o, double now);
/* Deadlines; call it about twenty times a second. */
void rela_service_tick(rela_service *s, double now);
/* From now on: no new requests. True of _idle: none is left. */
void rela_service_drain(rela_service *s);
bool rela_service_idle(const rela_service *s);
/* Ends what is left, with 503. */
void rela_service_abandon(rela_service *s, double now);

rela_queue_load rela_service_load(const rela_service *s);

#endif

/* SPDX-License-Identifier: MIT */
/* src/serve/service_state.h - what the files of the service share. */
#ifndef RELA_SERVE_SERVICE_STATE_H
#define RELA_SERVE_SERVICE_STATE_H

#include "serve/client_rates.h"
#include "serve/http_body.h"
#include "serve/passages.h"
#include "serve/request_fields.h"
#include "serve/service.h"
#include "serve/service_metrics.h"

enum { RELA_REQUEST_ID_SIZE = 65, RELA_HOST_NAME_SIZE = 64 };

struct rela_call;

typedef enum rela_exchange_phase {
    RELA_EXCHANGE_CLOSED, /* the slot is free */
    RELA_EXCHANGE_IDLE,   /* waits for a request */
    RELA_EXCHANGE_HEAD,
    RELA_EXCHANGE_BODY,
    RELA_EXCHANGE_CALL, /* waits for its answer */
    RELA_EXCHANGE_LAST  /* nothing more is read: closed once the output is written */
} rela_exchange_phase;

/* A connection, and the request that is being read or answered. */
typedef struct rela_exchange {
    rela_exchange_phase phase;
    uint64_t address;
    char name[RELA_HOST_NAME_SIZE];
    rela_buffer in, out, body;
    size_t sent;         /* of out */
    rela_http_head head; /* its spans point into in */
    rela_http_body reader;
    double deadline, write_deadline, began;
    size_t served;
    bool changed;
    struct rela_call *call;
    char id[RELA_REQUEST_ID_SIZE]; /* of the request */
    uint64_t client;               /* a hash of its key, or its address */
    double per_minute;
    rela_span origin; /* of another site that is allowed; or empty */
} rela_exchange;

/* How the answers of an interface look. */
typedef enum rela_interface {
    RELA_INTERFACE_LIBRE,
    RELA_INTERFACE_DEEPL,
    RELA_INTERFACE_OWN
} rela_interface;

/* A request for translations that was accepted or waits to be. */
typedef struct rela_call {
    uint64_t id; /* in the queue; 0: not there */
    struct rela_call *next, **at;
    int32_t connection; /* -1: it is gone */
    char request_id[RELA_REQUEST_ID_SIZE];
    uint64_t client;
    rela_interface form;
    rela_service_model *model;
    rela_translate_options options;
    rela_buffer prefix;
    const char *prefix_text;
    size_t prefix_len;
    int wants;
    bool listed, detected, stream, html, head;
    int32_t alternatives;
    rela_passages text;
    rela_outcome **outcomes; /* (n_sentences) */
    uint64_t *names;         /* (n_sentences) with the backend; 0: not there */
    size_t *where;           /* (n_sentences) their passages */
    size_t n_done, n_streamed;
    int status; /* of a failure; 0: none so far */
    rela_error err;
    bool answered;
    double began, started, deadline, now; /* started: the first sentence; 0: none yet */
} rela_call;

struct rela_service {
    rela_service_options options;
    rela_service_backend backend;
    rela_queue *queue;
    rela_client_rates *rates;
    rela_service_model **models;
    size_t n_models;
    rela_exchange *exchanges;
    size_t n_open;
    rela_call *calls;
    uint64_t n_requests;
    size_t next_changed;
    rela_service_metrics metrics;
    double now;
};

/* ---- exchange.c ---- */

/* Answers the request of a connection: head and body at once. type: of the content. The access log
 * and the metrics learn of it. retry: seconds, 0: no such field. */
typedef struct rela_reply {
    int status;
    const char *type;
    const char *body;
    size_t len;
    double retry;
    const char *more; /* other fields, each with its CRLF; NULL: none */
} rela_reply;
void rela_exchange_reply(rela_service *s, rela_exchange *x, const rela_reply *r);
void rela_exchange_reply_json(rela_service *s, rela_exchange *x, int status, const rela_buffer *b);
/* {"error": message}, or {"message": message} for the interface of DeepL. */
void rela_exchange_fail(rela_service *s, rela_exchange *x, int status, double retry,
                        const char *message);
/* For answers in parts: the head; the parts are appended to out; _end. */
void rela_exchange_stream(rela_service *s, rela_exchange *x, const char *type);
void rela_exchange_part(rela_service *s, rela_exchange *x, const char *text, size_t len);
void rela_exchange_end(rela_service *s, rela_exchange *x);
void rela_exchange_touch(rela_exchange *x);
void rela_exchange_tick(rela_service *s, rela_exchange *x);
const char *rela_status_reason(int status);

/* ---- routes.c ---- */

/* A complete request: an answer, or a call that will have one. */
void rela_routes_dispatch(rela_service *s, rela_exchange *x);
/* What can be said from the head alone: 0, or the status of a refusal. */
int rela_routes_check(rela_service *s, rela_exchange *x);
/* The number of its route, for the metrics. */
size_t rela_routes_number(rela_span path);
/* The methods that a path takes, as the field Allow lists them. */
const char *rela_routes_methods(rela_span path);

/* ---- calls.c ---- */

/* Makes a call of the fields: model, options and texts. *status: of a failure. */
rela_status rela_call_create(rela_call **out, rela_service *s, rela_exchange *x,
                             const rela_fields *f, rela_interface form, int *status,
                             rela_error *err);
/* Hands it to the queue, or answers with a refusal and frees it. */
void rela_call_submit(rela_service *s, rela_exchange *x, rela_call *c, const rela_fields *f);
/* Gives sentences to the backend as long as it takes them. */
void rela_calls_run(rela_service *s);
/* Its connection gets this status; what runs ends unheard. */
void rela_call_end(rela_service *s, rela_call *c, int status, const char *message);
void rela_call_free(rela_service *s, rela_call *c);
rela_exchange *rela_call_exchange(rela_service *s, const rela_call *c); /* NULL: it is gone */
/* The body of the answer of a call whose sentences are done. */
rela_status rela_answers_write(rela_buffer *out, const rela_service *s, const rela_call *c,
                               rela_error *err);
/* An event of a stream: the result of one sentence. */
rela_status rela_answers_event(rela_buffer *out, const rela_call *c, size_t sentence,
                               rela_error *err);
/* The translation of sentence number `sentence` with a rank, or with its lowest one. */
rela_span rela_call_translation(const rela_call *c, size_t sentence, size_t rank);
size_t rela_call_n_best(const rela_call *c, size_t text);
rela_service_model *rela_service_find(const rela_service *s, rela_span source, rela_span target);
/* Whether two codes name the same language: "EN-GB" and "en". */
bool rela_language_matches(const char *code, rela_span asked);
uint64_t rela_service_hash(const char *text, size_t len);

#endif

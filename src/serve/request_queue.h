/* SPDX-License-Identifier: MIT */
/* src/serve/request_queue.h - which requests are accepted, and whose sentence is translated next.
 *
 * A state machine without threads, files or a clock of its own: the time comes with each call, in
 * seconds, and never goes back. A request is a list of sentences with their source tokens. It is
 * accepted if its tokens fit into the queue and its predicted end lies before its own deadline.
 * Connections take turns, a sentence each, so that a long list of one does not delay the others.
 * The prediction uses the tokens per second that the backend has lately done while it was busy. */
#ifndef RELA_SERVE_REQUEST_QUEUE_H
#define RELA_SERVE_REQUEST_QUEUE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rela_queue rela_queue;

typedef struct rela_queue_limits {
    size_t connections;      /* numbered from 0 */
    size_t requests;         /* waiting and running */
    uint64_t waiting_tokens; /* in the queue */
    uint64_t running_tokens; /* with the backend; one sentence may have more */
    size_t running_sentences;
    double tokens_per_second; /* of the backend, to begin with; 0: not known */
} rela_queue_limits;

typedef struct rela_queue_request {
    size_t connection;
    uint64_t supersede; /* key; 0: none */
    double deadline;    /* a time */
    const uint32_t *tokens;
    size_t n; /* sentences, at least 1 */
    void *owner;
} rela_queue_request;

typedef enum rela_queue_verdict {
    RELA_QUEUE_YES,
    RELA_QUEUE_FULL,     /* the queue has no room */
    RELA_QUEUE_LATE,     /* it would end after its deadline */
    RELA_QUEUE_TOO_LONG, /* it has more tokens than the queue can ever hold */
    RELA_QUEUE_DRAINING,
    RELA_QUEUE_NO_MEMORY
} rela_queue_verdict;

/* With every verdict: sentences ahead, and seconds until the end as predicted; 0 if not known. */
typedef struct rela_queue_forecast {
    uint64_t position;
    double seconds;
} rela_queue_forecast;

/* A sentence to be given to the backend. */
typedef struct rela_queue_turn {
    uint64_t id;
    void *owner;
    size_t sentence;
} rela_queue_turn;

rela_status rela_queue_create(rela_queue **out, const rela_queue_limits *limits, rela_error *err);
void rela_queue_destroy(rela_queue *a); /* NULL is fine */

/* *id, never 0, names an accepted request until it has ended. forecast may be NULL. */
rela_queue_verdict rela_queue_submit(rela_queue *a, uint64_t *id, rela_queue_forecast *forecast,
                                     const rela_queue_request *r, double now);

/* The next sentence; false: none waits, or the backend has enough. */
bool rela_queue_next(rela_queue *a, rela_queue_turn *turn, double now);
/* A sentence of the request left the backend; translated: it was not cancelled, so it tells of the
 * speed. True: it was the last one of the request, which is forgotten. */
bool rela_queue_done(rela_queue *a, uint64_t id, size_t sentence, bool translated, double now);
/* Its waiting sentences are dropped. True: the request is forgotten; otherwise the backend still
 * has sentences of it, which end with _done. */
bool rela_queue_cancel(rela_queue *a, uint64_t id);

/* A request that is past its deadline, or with this key, and not cancelled; false: none. */
bool rela_queue_expired(const rela_queue *a, uint64_t *id, void **owner, double now);
bool rela_queue_find(const rela_queue *a, uint64_t *id, void **owner, uint64_t supersede);

void rela_queue_drain(rela_queue *a); /* from now on nothing is accepted */

typedef struct rela_queue_load {
    uint64_t waiting_tokens, waiting_sentences, running_tokens, running_sentences, requests;
    double tokens_per_second; /* 0: not known yet */
    bool draining;
} rela_queue_load;
rela_queue_load rela_queue_look(const rela_queue *a);

#endif

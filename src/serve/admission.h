/* SPDX-License-Identifier: MIT */
/* src/serve/admission.h - which requests are accepted, and whose sentence is translated next.
 *
 * A state machine without threads, files or a clock of its own: the time comes with each call, in
 * seconds, and never goes back. A request is a list of sentences with their source tokens. It is
 * accepted if its tokens fit into the queue and its predicted end lies before its own deadline.
 * Connections take turns, a sentence each, so that a long list of one does not delay the others.
 * The prediction uses the tokens per second that the backend has lately done while it was busy. */
#ifndef RELA_SERVE_ADMISSION_H
#define RELA_SERVE_ADMISSION_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rela_admission rela_admission;

typedef struct rela_admission_limits {
    size_t connections;      /* numbered from 0 */
    size_t requests;         /* waiting and running */
    uint64_t waiting_tokens; /* in the queue */
    uint64_t running_tokens; /* with the backend; one sentence may have more */
    size_t running_sentences;
    double tokens_per_second; /* of the backend, to begin with; 0: not known */
} rela_admission_limits;

typedef struct rela_admission_request {
    size_t connection;
    uint64_t supersede; /* key; 0: none */
    double deadline;    /* a time */
    const uint32_t *tokens;
    size_t n; /* sentences, at least 1 */
    void *owner;
} rela_admission_request;

typedef enum rela_admission_verdict {
    RELA_ADMISSION_YES,
    RELA_ADMISSION_FULL,     /* the queue has no room */
    RELA_ADMISSION_LATE,     /* it would end after its deadline */
    RELA_ADMISSION_TOO_LONG, /* it has more tokens than the queue can ever hold */
    RELA_ADMISSION_DRAINING,
    RELA_ADMISSION_NO_MEMORY
} rela_admission_verdict;

/* With every verdict: sentences ahead, and seconds until the end as predicted; 0 if not known. */
typedef struct rela_admission_forecast {
    uint64_t position;
    double seconds;
} rela_admission_forecast;

/* A sentence to be given to the backend. */
typedef struct rela_admission_turn {
    uint64_t id;
    void *owner;
    size_t sentence;
} rela_admission_turn;

rela_status rela_admission_create(rela_admission **out, const rela_admission_limits *limits,
                                  rela_error *err);
void rela_admission_destroy(rela_admission *a); /* NULL is fine */

/* *id, never 0, names an accepted request until it has ended. forecast may be NULL. */
rela_admission_verdict rela_admission_submit(rela_admission *a, uint64_t *id,
                                             rela_admission_forecast *forecast,
                                             const rela_admission_request *r, double now);

/* The next sentence; false: none waits, or the backend has enough. */
bool rela_admission_next(rela_admission *a, rela_admission_turn *turn, double now);
/* A sentence of the request left the backend, done or not. True: it was the last one of the
 * request, which is forgotten. */
bool rela_admission_done(rela_admission *a, uint64_t id, size_t sentence, double now);
/* Its waiting sentences are dropped. True: the request is forgotten; otherwise the backend still
 * has sentences of it, which end with _done. */
bool rela_admission_cancel(rela_admission *a, uint64_t id);

/* A request that is past its deadline, or with this key, and not cancelled; false: none. */
bool rela_admission_expired(const rela_admission *a, uint64_t *id, void **owner, double now);
bool rela_admission_find(const rela_admission *a, uint64_t *id, void **owner, uint64_t supersede);

void rela_admission_drain(rela_admission *a); /* from now on nothing is accepted */

typedef struct rela_admission_load {
    uint64_t waiting_tokens, waiting_sentences, running_tokens, running_sentences, requests;
    double tokens_per_second; /* 0: not known yet */
    bool draining;
} rela_admission_load;
rela_admission_load rela_admission_look(const rela_admission *a);

#endif

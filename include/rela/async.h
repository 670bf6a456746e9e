/* SPDX-License-Identifier: MIT */
/* include/rela/async.h - translating texts that arrive at any time: for servers and event loops.
 *
 *   submitted -> waiting -> running -> ended
 *
 * A request is one text with options of its own. It ends exactly as rela_translate would translate
 * its text alone, whatever else runs: the same bytes. Requests start in the order in which they
 * came. How many may wait is for the caller to decide: rela_async_load_get says how many do.
 *
 * A request that was submitted ends exactly once. With on_end it is then called, on a thread of
 * the translator, with no lock held; it may call every function here except _stop, _destroy and
 * _wait, but should be short. Without on_end the caller fetches the result by rela_async_wait.
 * All functions but _create, _stop and _destroy may be called from any thread. */
#ifndef RELA_ASYNC_H
#define RELA_ASYNC_H

#include "rela/translate.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rela_async rela_async;

typedef struct rela_async_options {
    size_t struct_size;
    int32_t n_threads; /* 0: those of the runtime */
    int32_t sentences; /* translated at the same time, by all threads */
    int32_t tokens;    /* source tokens of these */
    int32_t reserved;  /* leave it 0 */
} rela_async_options;

RELA_API void rela_async_options_init(rela_async_options *o, size_t size);

typedef struct rela_async_request {
    size_t struct_size;
    /* One text for each source of the model; lens NULL: NUL-terminated. Copied. */
    const char *const *texts;
    const size_t *lens;
    /* As for rela_translate, but for progress, batch_sentences and batch_tokens, which are ignored;
     * prefix has one item. NULL: the defaults. Copied, except shortlist and src_language, which are
     * lent until the request has ended. */
    const rela_translate_options *options;
    double seconds; /* until its deadline; 0: none */
    /* status: RELA_OK and a result, which is given; or a failure with its message and NULL.
     * RELA_CANCEL: was cancelled, its deadline passed, or everything was stopped. */
    void (*on_end)(void *ctx, uint64_t id, rela_result *result, const rela_error *err);
    void *ctx;
} rela_async_request;

RELA_API void rela_async_request_init(rela_async_request *r, size_t size);

/* What waits and what runs. */
typedef struct rela_async_load {
    size_t struct_size; /* set by the caller */
    uint64_t waiting;   /* requests that have not started */
    uint64_t waiting_bytes;
    uint64_t running; /* requests */
} rela_async_load;

/* Models as for rela_session_create_ensemble; they must outlive it. o may be NULL. */
RELA_API rela_status rela_async_create(rela_async **out, const rela_model *const *models, size_t n,
                                       const rela_async_options *o, rela_error *err);
/* Ends all requests: with drain those submitted before are finished first, without they are
 * cancelled. Returns when the last on_end has; later submissions are RELA_STATE. */
RELA_API void rela_async_stop(rela_async *a, bool drain);
/* Stops without drain, frees results that were not fetched. NULL is fine. */
RELA_API void rela_async_destroy(rela_async *a);

/* Checks the options and returns without computing. *id, never 0, may be NULL with on_end. If it
 * fails, the request does not exist and on_end is not called. */
RELA_API rela_status rela_async_submit(rela_async *a, uint64_t *id, const rela_async_request *r,
                                       rela_error *err);
/* A request that waits ends at once, one that runs soon, in the middle of its sentence; both as
 * RELA_CANCEL. One that has ended, or never was, is ignored. */
RELA_API void rela_async_cancel(rela_async *a, uint64_t id);

/* For a request without on_end: waits for at most `seconds` (0: not at all, negative: without
 * limit) until it has ended. *done: it has; then it is forgotten, and the result, status and
 * message are those of the request. RELA_ARG: no such request. */
RELA_API rela_status rela_async_wait(rela_result **out, bool *done, rela_async *a, uint64_t id,
                                     double seconds, rela_error *err);

RELA_API rela_status rela_async_load_get(rela_async_load *out, rela_async *a, rela_error *err);

#ifdef __cplusplus
}
#endif
#endif

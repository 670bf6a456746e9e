/* SPDX-License-Identifier: MIT */
/* src/session/translator.h - translates texts that arrive at any time, for callers like a server:
 * submit a text, be called back with its translations.
 *
 * A request is one text with options of its own. It may have several sentences, which are decoded
 * together with those of all other requests: new sentences join between two steps of the search,
 * and the engines (decode/engine.h), one per thread, never wait for a batch to fill. A request ends
 * exactly as rela_translate would translate its text alone, whatever else runs: same bytes.
 *
 *   submitted -> waiting -> running -> ended
 *
 * - _submit checks the options, copies text, prefix and options (shortlist and src_language are
 * lent until the request has ended) and returns without computing. If it succeeds, on_end is called
 *   exactly once; if it fails, never.
 * - on_end runs on a thread of the translator, with no lock held, outside of all calls of the
 *   caller; it may call _submit, _cancel and _load, but should be short: hand the result over. The
 *   result is given: rela_result_free. It is NULL unless the status is RELA_OK. RELA_CANCEL: was
 *   cancelled, the deadline passed, or the translator was stopped; the message says which. All
 *   other failures are of this request alone, except RELA_NOMEM, which may hit any.
 * - _cancel may be called at any time, from any thread. A waiting request ends at once, one that
 *   runs at the next step; both through on_end. An id that is unknown or has ended is ignored.
 * - deadline: in rela_clock_seconds. Checked before a request starts and in every step.
 * - Order: requests start in the order of arrival; fairness is the caller's. The bound of the queue
 *   is the caller's too: _load says how much waits and runs.
 * - progress, progress_ctx, batch_sentences and batch_tokens of the options are ignored; the last
 *   two are set for all requests together by rela_translator_options.
 * - _stop ends all: with drain, what was submitted before is finished first. It returns when the
 *   last on_end has returned and the threads are free again; later submissions are RELA_STATE.
 *   Not to be called from on_end.
 *
 * All functions but create, stop and destroy may be called from any thread. */
#ifndef RELA_SESSION_TRANSLATOR_H
#define RELA_SESSION_TRANSLATOR_H

#include "rela/translate.h"

typedef struct rela_translator rela_translator;

typedef struct rela_translator_options {
    int n_threads;    /* 0: those of the runtime */
    size_t sentences; /* decoded at the same time, by all threads */
    size_t tokens;    /* source tokens of these, at most */
} rela_translator_options;

/* As rela_translate: 32 sentences, 4096 tokens. */
void rela_translator_options_init(rela_translator_options *o);

typedef struct rela_request {
    const char *texts[RELA_SOURCES_MAX]; /* one for each source of the model */
    size_t lens[RELA_SOURCES_MAX];
    const char *prefix; /* the translation begins with it; NULL: none */
    size_t prefix_len;
    const rela_translate_options *options; /* prefix and prefix_len of these are ignored */
    double deadline;                       /* 0: none */
    void (*on_end)(void *ctx, uint64_t id, rela_result *result, const rela_error *err);
    void *ctx;
} rela_request;

/* What waits and what runs. */
typedef struct rela_translator_load {
    size_t waiting;                        /* requests not yet started */
    size_t waiting_bytes;                  /* of their texts */
    size_t running;                        /* requests */
    size_t live_sentences;                 /* that are being decoded */
    uint64_t source_tokens, target_tokens; /* of all sentences that have ended, since the start */
} rela_translator_load;

/* Models as for rela_session_create_ensemble. Threads are those of the process's pool
 * (base/threads.h), used only while there is something to translate. */
rela_status rela_translator_create(rela_translator **out, const rela_model *const *models, size_t n,
                                   const rela_translator_options *o, rela_error *err);
void rela_translator_stop(rela_translator *t, bool drain);
void rela_translator_destroy(rela_translator *t); /* stops it first; NULL is fine */

/* err of on_end: its status is that of the request. *id, which is never 0, may be NULL. */
rela_status rela_translator_submit(rela_translator *t, uint64_t *id, const rela_request *from,
                                   rela_error *err);
void rela_translator_cancel(rela_translator *t, uint64_t id);
void rela_translator_load_get(rela_translator *t, rela_translator_load *out);

#endif

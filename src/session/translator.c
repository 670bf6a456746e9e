/* SPDX-License-Identifier: MIT */
/* src/session/translator.c - see translator.h.
 *
 * A thread of its own sleeps until there is a request, then lends itself and the pool of threads to
 * the engines until nothing is left to do. They fetch requests themselves, when few sentences wait:
 * the texts of requests that wait are all that is kept of them. */
#include "session/translator.h"

#include "base/clock.h"
#include "base/mem.h"
#include "session/text_job.h"

#include <pthread.h>
#include <string.h>

typedef enum request_state { WAITS, RUNS } request_state;

typedef struct request {
    struct request *before, *after; /* in the list of its state */
    request_state state;
    uint64_t id;
    rela_translator *translator;
    bool cancelled, submitted;
    rela_text_call call;
    rela_text_job job;
    rela_result *result;
    const char *texts[RELA_SOURCES_MAX];
    size_t lens[RELA_SOURCES_MAX];
    size_t bytes;
    void (*on_end)(void *ctx, uint64_t id, rela_result *result, const rela_error *err);
    void *ctx;
    char *copies; /* of texts and prefix */
} request;

typedef struct list {
    request *first, *last;
    size_t n;
} list;

struct rela_translator {
    rela_session *session;
    rela_pool_limits limits;
    pthread_t host;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    list waiting, running;
    size_t waiting_bytes;
    uint64_t last_id, source_tokens, target_tokens;
    bool started, stopping, drop; /* drop: what waits and runs is not finished */
};

static void *run_host(void *ctx);
static bool feed(void *ctx, size_t worker);
static void start_request(rela_translator *t, request *r, size_t worker);
static void build(rela_text_job *j, size_t worker);
static void end_request(request *r, rela_status st, const rela_error *err);
static rela_arena *arena_of(rela_text_job *j, size_t worker);

void rela_translator_options_init(rela_translator_options *o)
{
    rela_search_options s;
    rela_search_options_init(&s);
    *o = (rela_translator_options){ .sentences = s.batch_sentences, .tokens = s.batch_tokens };
}

rela_status rela_translator_create(rela_translator **out, const rela_model *const *models, size_t n,
                                   const rela_translator_options *o, rela_error *err)
{
    *out = NULL;
    rela_translator *t = rela_mem_zalloc(sizeof *t);
    if (!t)
        return rela_fail(err, RELA_NOMEM, "no memory for a translator");
    (void)pthread_mutex_init(&t->lock, NULL);
    (void)pthread_cond_init(&t->changed, NULL);
    rela_status st = o->sentences < 1 || o->tokens < 1 || o->n_threads < 0
                         ? rela_fail(err, RELA_ARG, "a translator of 0 sentences or tokens")
                         : rela_session_create_ensemble(&t->session, models, n, err);
    const size_t most = st == RELA_OK ? rela_pool_workers(t->session->pool) : 1;
    const size_t wanted = o->n_threads > 0 ? (size_t)o->n_threads : most;
    t->limits = (rela_pool_limits){ wanted < most ? wanted : most, o->sentences, o->tokens };
    for (size_t i = 0; i < t->limits.workers && st == RELA_OK; i++)
        st = rela_text_scratch_init(&t->session->scratch[i], models[0], err);
    if (st == RELA_OK && pthread_create(&t->host, NULL, run_host, t) != 0)
        st = rela_fail(err, RELA_NOMEM, "a thread cannot be started");
    t->started = st == RELA_OK;
    if (st == RELA_OK)
        *out = t;
    else
        rela_translator_destroy(t);
    return st;
}

void rela_translator_stop(rela_translator *t, bool drain)
{
    (void)pthread_mutex_lock(&t->lock);
    const bool started = t->started;
    t->started = false;
    t->stopping = true;
    t->drop = t->drop || !drain;
    for (request *r = t->running.first; r && t->drop; r = r->after)
        for (size_t i = 0; i < r->job.n_parts && r->submitted; i++)
            rela_pool_cancel(t->session->pool, &r->job.parts[i].task);
    (void)pthread_cond_broadcast(&t->changed);
    (void)pthread_mutex_unlock(&t->lock);
    if (started)
        (void)pthread_join(t->host, NULL);
}

void rela_translator_destroy(rela_translator *t)
{
    if (!t)
        return;
    rela_translator_stop(t, false);
    rela_session_destroy(t->session);
    (void)pthread_cond_destroy(&t->changed);
    (void)pthread_mutex_destroy(&t->lock);
    rela_mem_free(t);
}

/* ---- lists of requests; all with the lock held ---- */

static void append(list *l, request *r)
{
    r->before = l->last;
    r->after = NULL;
    if (l->last)
        l->last->after = r;
    else
        l->first = r;
    l->last = r;
    l->n++;
}

static void take_out(list *l, request *r)
{
    if (r->before)
        r->before->after = r->after;
    else
        l->first = r->after;
    if (r->after)
        r->after->before = r->before;
    else
        l->last = r->before;
    l->n--;
}

static request *find(const list *l, uint64_t id)
{
    request *r = l->first;
    while (r && r->id != id)
        r = r->after;
    return r;
}

/* ---- what callers do ---- */

static void free_request(request *r)
{
    if (!r)
        return;
    rela_text_job_deinit(&r->job);
    rela_text_call_deinit(&r->call);
    rela_result_free(r->result);
    rela_mem_free(r->copies);
    rela_mem_free(r);
}

/* Texts and prefix, one after the other. */
static rela_status copy_texts(request *r, const rela_request *from, rela_error *err)
{
    const size_t n = r->call.n_sources, prefix = from->prefix ? from->prefix_len : 0;
    size_t bytes = prefix, at = 0;
    for (size_t i = 0; i < RELA_SOURCES_MAX; i++) {
        if (!from->texts[i] != (i >= n))
            return rela_fail(err, RELA_ARG, "the model has %zu source%s; there is %s text %zu", n,
                             n == 1 ? "" : "s", from->texts[i] ? "a" : "no", i + 1);
        bytes += i < n ? from->lens[i] : 0;
    }
    r->copies = rela_mem_alloc(bytes);
    if (!r->copies)
        return rela_fail(err, RELA_NOMEM, "no memory for a text of %zu bytes", bytes);
    for (size_t i = 0; i < n; i++) {
        memcpy(r->copies + at, from->texts[i], from->lens[i]);
        r->texts[i] = r->copies + at;
        r->lens[i] = from->lens[i];
        at += from->lens[i];
    }
    if (prefix)
        memcpy(r->copies + at, from->prefix, prefix);
    r->job.prefix = from->prefix ? r->copies + at : NULL;
    r->job.prefix_len = prefix;
    r->bytes = bytes;
    return RELA_OK;
}

static rela_status make_request(request **out, rela_translator *t, const rela_request *from,
                                rela_error *err)
{
    request *r = *out = rela_mem_zalloc(sizeof *r);
    if (!r)
        return rela_fail(err, RELA_NOMEM, "no memory for a request");
    rela_status st = rela_text_call_init(&r->call, t->session, from->options, err);
    if (st == RELA_OK && from->prefix && r->call.options.split == RELA_SPLIT_ALWAYS)
        st = rela_fail(err, RELA_ARG, "a text with a prefix cannot be split into sentences");
    st = st ? st : rela_pool_check(t->session->pool, NULL, 0, &r->call.search, err);
    st = st ? st : copy_texts(r, from, err);
    st = st ? st : rela_result_create(&r->result, r->call.model, 1, t->limits.workers, err);
    r->call.deadline = from->deadline;
    r->translator = t;
    r->on_end = from->on_end;
    r->ctx = from->ctx;
    r->job.call = &r->call;
    r->job.texts = r->texts;
    r->job.lens = r->lens;
    r->job.line = r->call.options.first_line + 1;
    r->job.ctx = r;
    r->job.on_end = build;
    r->job.arena = arena_of;
    return st;
}

rela_status rela_translator_submit(rela_translator *t, uint64_t *id, const rela_request *from,
                                   rela_error *err)
{
    request *r = NULL;
    rela_status st = make_request(&r, t, from, err);
    if (st == RELA_OK) {
        (void)pthread_mutex_lock(&t->lock);
        if (t->stopping) {
            st = rela_fail(err, RELA_STATE, "the translator has been stopped");
        } else {
            r->id = ++t->last_id;
            if (id)
                *id = r->id;
            append(&t->waiting, r);
            t->waiting_bytes += r->bytes;
            (void)pthread_cond_broadcast(&t->changed);
        }
        (void)pthread_mutex_unlock(&t->lock);
    }
    if (st == RELA_OK)
        rela_pool_wake(t->session->pool);
    else
        free_request(r);
    return st;
}

void rela_translator_cancel(rela_translator *t, uint64_t id)
{
    (void)pthread_mutex_lock(&t->lock);
    request *r = find(&t->waiting, id);
    r = r ? r : find(&t->running, id);
    if (r) {
        r->cancelled = true;
        for (size_t i = 0; i < r->job.n_parts && r->submitted; i++)
            rela_pool_cancel(t->session->pool, &r->job.parts[i].task);
        if (r->state == WAITS) { /* to the front: it ends before others start */
            take_out(&t->waiting, r);
            r->before = NULL;
            r->after = t->waiting.first;
            if (r->after)
                r->after->before = r;
            else
                t->waiting.last = r;
            t->waiting.first = r;
            t->waiting.n++;
        }
    }
    (void)pthread_mutex_unlock(&t->lock);
}

void rela_translator_load_get(rela_translator *t, rela_translator_load *out)
{
    (void)pthread_mutex_lock(&t->lock);
    *out = (rela_translator_load){ .waiting = t->waiting.n,
                                   .waiting_bytes = t->waiting_bytes,
                                   .running = t->running.n,
                                   .source_tokens = t->source_tokens,
                                   .target_tokens = t->target_tokens };
    (void)pthread_mutex_unlock(&t->lock);
    out->live_sentences = rela_pool_live(t->session->pool);
}

/* ---- what threads do ---- */

static void *run_host(void *ctx)
{
    rela_translator *t = ctx;
    const rela_pool_run run = { .limits = t->limits, .feed = feed, .ctx = t };
    (void)pthread_mutex_lock(&t->lock);
    while (!t->stopping || t->waiting.n > 0) {
        if (t->waiting.n == 0) {
            (void)pthread_cond_wait(&t->changed, &t->lock);
            continue;
        }
        (void)pthread_mutex_unlock(&t->lock);
        rela_error err;
        const rela_status st = rela_pool_work(t->session->pool, &run, &err);
        (void)pthread_mutex_lock(&t->lock);
        while (st != RELA_OK && t->waiting.n > 0) { /* no memory even for a thread */
            request *r = t->waiting.first;
            take_out(&t->waiting, r);
            t->waiting_bytes -= r->bytes;
            append(&t->running, r);
            (void)pthread_mutex_unlock(&t->lock);
            end_request(r, st, &err);
            (void)pthread_mutex_lock(&t->lock);
        }
    }
    (void)pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* Starts the first request that waits. */
static bool feed(void *ctx, size_t worker)
{
    rela_translator *t = ctx;
    (void)pthread_mutex_lock(&t->lock);
    request *r = t->waiting.first;
    if (r) {
        take_out(&t->waiting, r);
        append(&t->running, r);
        t->waiting_bytes -= r->bytes;
        r->state = RUNS;
    }
    (void)pthread_mutex_unlock(&t->lock);
    if (r)
        start_request(t, r, worker);
    return r != NULL;
}

/* Why a request is not started, or not any more. Called with the lock held. */
static rela_status check_wanted(const rela_translator *t, const request *r, rela_error *err)
{
    if (r->cancelled)
        return rela_fail(err, RELA_CANCEL, "cancelled");
    if (t->drop)
        return rela_fail(err, RELA_CANCEL, "the translator was stopped");
    if (r->call.deadline > 0 && r->call.deadline <= rela_clock_seconds())
        return rela_fail(err, RELA_CANCEL, "the deadline has passed");
    return RELA_OK;
}

static void start_request(rela_translator *t, request *r, size_t worker)
{
    rela_search_pool *pool = t->session->pool;
    rela_error err;
    (void)pthread_mutex_lock(&t->lock);
    rela_status st = check_wanted(t, r, &err);
    (void)pthread_mutex_unlock(&t->lock);
    st = st ? st : rela_result_arena(r->result, worker, &err);
    if (st == RELA_OK)
        st = rela_text_job_encode(&r->job, &t->session->scratch[worker], r->result->arenas[worker],
                                  &err);
    for (size_t i = 0; i < r->job.n_parts && st == RELA_OK; i++)
        st = rela_pool_check(pool, &r->job.parts[i].task.source, 1, &r->call.search, &err);
    if (st == RELA_OK)
        rela_text_job_warn(&r->job);
    (void)pthread_mutex_lock(&t->lock);
    st = st ? st : check_wanted(t, r, &err);
    r->submitted = st == RELA_OK;
    for (size_t i = 0, n = r->job.n_parts; i < n && st == RELA_OK; i++)
        rela_pool_submit(pool, &r->job.parts[i].task);
    (void)pthread_mutex_unlock(&t->lock);
    if (st != RELA_OK)
        end_request(r, st, &err);
}

static rela_arena *arena_of(rela_text_job *j, size_t worker)
{
    const request *r = j->ctx;
    return rela_result_arena(r->result, worker, NULL) == RELA_OK ? r->result->arenas[worker] : NULL;
}

static void build(rela_text_job *j, size_t worker)
{
    request *r = j->ctx;
    rela_status st = j->status;
    rela_error err = j->err;
    if (st == RELA_OK)
        st = rela_result_arena(r->result, worker, &err);
    if (st == RELA_OK)
        st = rela_text_job_build(&r->result->items[0], j, &r->translator->session->scratch[worker],
                                 r->result->arenas[worker], &err);
    end_request(r, st, &err);
}

static void end_request(request *r, rela_status st, const rela_error *err)
{
    static const rela_error NONE = { RELA_OK, "" };
    rela_translator *t = r->translator;
    rela_error why = st == RELA_OK ? NONE : *err;
    rela_result *result = st == RELA_OK ? r->result : NULL;
    (void)pthread_mutex_lock(&t->lock);
    take_out(&t->running, r);
    for (size_t i = 0; i < r->job.n_sentences && result; i++)
        t->source_tokens += r->job.sentences[i].n_src;
    t->target_tokens += result && result->items[0].n_best ? result->items[0].best[0].n : 0;
    if (st == RELA_CANCEL && t->drop && !r->cancelled)
        (void)rela_fail(&why, RELA_CANCEL, "the translator was stopped");
    (void)pthread_mutex_unlock(&t->lock);
    if (result)
        r->result = NULL; /* given */
    r->on_end(r->ctx, r->id, result, &why);
    free_request(r);
}

/* SPDX-License-Identifier: MIT */
/* src/session/async.c - rela/async.h: the translator, and results that are kept until they are
 * fetched. */
#include "rela/async.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/sized.h"
#include "session/session.h"
#include "session/translator.h"

#include <pthread.h>
#include <string.h>

enum { SLOTS = 256 }; /* lists of kept requests by id */

/* A request without on_end. */
typedef struct kept {
    struct rela_async *owner;
    uint64_t id;
    bool ended;
    rela_result *result;
    rela_error err;
    struct kept *next, **at; /* in the list of its slot; at NULL: not there yet */
} kept;

struct rela_async {
    rela_translator *translator;
    size_t n_sources;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    kept *slots[SLOTS];
};

static void keep_end(void *ctx, uint64_t id, rela_result *result, const rela_error *err);
static kept *find(const rela_async *a, uint64_t id);
static void forget(kept *k);

void rela_async_options_init(rela_async_options *o, size_t size)
{
    const rela_async_options defaults = { .struct_size = size, .sentences = 32, .tokens = 4096 };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

void rela_async_request_init(rela_async_request *r, size_t size)
{
    const rela_async_request defaults = { .struct_size = size };
    rela_sized_init(r, size, &defaults, sizeof defaults);
}

rela_status rela_async_create(rela_async **out, const rela_model *const *models, size_t n,
                              const rela_async_options *o, rela_error *err)
{
    *out = NULL;
    rela_async_options own;
    rela_async_options_init(&own, sizeof own);
    rela_status st = rela_sized_take(&own, sizeof own, o, "rela_async_options", err);
    if (st != RELA_OK)
        return st;
    if (own.n_threads < 0 || own.n_threads > RELA_PAR_MAX || own.sentences < 1 || own.tokens < 1)
        return rela_fail(err, RELA_ARG,
                         "%d threads, %d sentences, %d tokens; expected 0..%d, and 1 or more",
                         (int)own.n_threads, (int)own.sentences, (int)own.tokens, RELA_PAR_MAX);
    rela_async *a = rela_mem_zalloc(sizeof *a);
    if (!a)
        return rela_fail(err, RELA_NOMEM, "no memory to translate");
    pthread_condattr_t monotonic;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&a->lock, NULL);
    (void)pthread_cond_init(&a->ended, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    const rela_translator_options with = { .n_threads = own.n_threads,
                                           .sentences = (size_t)own.sentences,
                                           .tokens = (size_t)own.tokens };
    st = rela_translator_create(&a->translator, models, n, &with, err);
    if (st == RELA_OK)
        a->n_sources = models[0]->net.config.sources;
    if (st == RELA_OK)
        *out = a;
    else
        rela_async_destroy(a);
    return st;
}

void rela_async_stop(rela_async *a, bool drain)
{
    rela_translator_stop(a->translator, drain);
}

void rela_async_destroy(rela_async *a)
{
    if (!a)
        return;
    rela_translator_destroy(a->translator);
    for (size_t i = 0; i < SLOTS; i++)
        while (a->slots[i])
            forget(a->slots[i]);
    (void)pthread_cond_destroy(&a->ended);
    (void)pthread_mutex_destroy(&a->lock);
    rela_mem_free(a);
}

rela_status rela_async_submit(rela_async *a, uint64_t *id, const rela_async_request *r,
                              rela_error *err)
{
    rela_async_request own;
    rela_translate_options options;
    rela_async_request_init(&own, sizeof own);
    rela_translate_options_init(&options, sizeof options);
    rela_status st = rela_sized_take(&own, sizeof own, r, "rela_async_request", err);
    st = st ? st
            : rela_sized_take(&options, sizeof options, own.options, "rela_translate_options", err);
    if (st != RELA_OK)
        return st;
    if (!own.on_end && !id)
        return rela_fail(err, RELA_ARG, "a request without on_end needs its id");
    rela_request request = { .options = &options,
                             .deadline = own.seconds > 0 ? rela_clock_seconds() + own.seconds : 0,
                             .on_end = own.on_end,
                             .ctx = own.ctx };
    for (size_t i = 0; i < a->n_sources; i++) {
        request.texts[i] = own.texts[i];
        request.lens[i] = rela_text_len(own.texts, own.lens, i);
    }
    if (options.prefix) {
        request.prefix = options.prefix[0];
        request.prefix_len = rela_text_len(options.prefix, options.prefix_len, 0);
    }
    if (own.on_end)
        return rela_translator_submit(a->translator, id, &request, err);
    kept *k = rela_mem_zalloc(sizeof *k);
    if (!k)
        return rela_fail(err, RELA_NOMEM, "no memory for a request");
    k->owner = a;
    request.on_end = keep_end;
    request.ctx = k;
    st = rela_translator_submit(a->translator, id, &request, err);
    if (st != RELA_OK) {
        rela_mem_free(k);
        return st;
    }
    (void)pthread_mutex_lock(&a->lock);
    k->id = *id; /* it may have ended meanwhile */
    k->at = &a->slots[k->id % SLOTS];
    k->next = *k->at;
    if (k->next)
        k->next->at = &k->next;
    *k->at = k;
    (void)pthread_mutex_unlock(&a->lock);
    return RELA_OK;
}

void rela_async_cancel(rela_async *a, uint64_t id)
{
    rela_translator_cancel(a->translator, id);
}

rela_status rela_async_wait(rela_result **out, bool *done, rela_async *a, uint64_t id,
                            double seconds, rela_error *err)
{
    *out = NULL;
    *done = false;
    const struct timespec until = rela_clock_after(seconds > 0 ? seconds : 0);
    (void)pthread_mutex_lock(&a->lock);
    kept *k = find(a, id);
    int timed_out = 0;
    while (k && !k->ended && !timed_out && (seconds < 0 || seconds > 0)) {
        timed_out = seconds < 0 ? pthread_cond_wait(&a->ended, &a->lock)
                                : pthread_cond_timedwait(&a->ended, &a->lock, &until);
        k = find(a, id);
    }
    rela_status st = RELA_OK;
    if (!k) {
        st = rela_fail(err, RELA_ARG, "no request %llu to wait for", (unsigned long long)id);
    } else if (k->ended) {
        *out = k->result;
        k->result = NULL;
        *done = true;
        st = k->err.status ? rela_fail(err, k->err.status, "%s", k->err.message) : RELA_OK;
        forget(k);
    }
    (void)pthread_mutex_unlock(&a->lock);
    return st;
}

rela_status rela_async_load_get(rela_async_load *out, rela_async *a, rela_error *err)
{
    const rela_status st = rela_sized_check(out, sizeof *out, "rela_async_load", err);
    if (st != RELA_OK)
        return st;
    rela_translator_load load;
    rela_translator_load_get(a->translator, &load);
    const rela_async_load now = { .struct_size = sizeof now,
                                  .waiting = load.waiting,
                                  .waiting_bytes = load.waiting_bytes,
                                  .running = load.running };
    rela_sized_give(out, &now, sizeof now);
    return RELA_OK;
}

/* On a thread of the translator. */
static void keep_end(void *ctx, uint64_t id, rela_result *result, const rela_error *err)
{
    kept *k = ctx;
    rela_async *a = k->owner;
    (void)pthread_mutex_lock(&a->lock);
    k->id = id;
    k->result = result;
    k->err = *err;
    k->ended = true;
    (void)pthread_cond_broadcast(&a->ended);
    (void)pthread_mutex_unlock(&a->lock);
}

static kept *find(const rela_async *a, uint64_t id)
{
    kept *k = a->slots[id % SLOTS];
    while (k && k->id != id)
        k = k->next;
    return k;
}

static void forget(kept *k)
{
    *k->at = k->next;
    if (k->next)
        k->next->at = k->at;
    rela_result_free(k->result);
    rela_mem_free(k);
}

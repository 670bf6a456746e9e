/* SPDX-License-Identifier: MIT */
/* src/serve/calls.c - requests for translations: from fields to sentences, through the queue and
 * the backend to an answer. */
#include "serve/service_state.h"

#include "base/json.h"
#include "base/mem.h"

#include <string.h>

static void start_sentence(rela_service *s, const rela_queue_turn *turn);
static void finish_sentence(rela_service *s, rela_call *c, size_t sentence);
static void complete(rela_service *s, rela_call *c);
static void stream(rela_service *s, rela_call *c);
static void refuse(rela_service *s, rela_exchange *x, rela_queue_verdict v,
                   const rela_queue_forecast *f, double deadline);
static void supersede(rela_service *s, const rela_call *c, uint64_t key);

/* ---- service ---- */

void rela_service_options_init(rela_service_options *o)
{
    *o = (rela_service_options){
        .queue = { .connections = 1024,
                   .requests = 4096,
                   .waiting_tokens = 65536,
                   .running_tokens = 4096,
                   .running_sentences = 64 },
        .per_address = 0,
        .per_connection = 1000,
        .body_bytes = 1 << 20,
        .texts = 256,
        .head_seconds = 10,
        .body_seconds = 30,
        .write_seconds = 30,
        .idle_seconds = 15,
        .deadline = 10,
        .deadline_max = 600,
    };
}

rela_status rela_service_create(rela_service **out, const rela_service_options *o,
                                const rela_service_backend *backend, rela_error *err)
{
    *out = NULL;
    rela_service *s = rela_mem_zalloc(sizeof *s);
    if (!s)
        return rela_fail(err, RELA_NOMEM, "no memory for the server");
    s->options = *o;
    s->backend = *backend;
    s->exchanges = rela_mem_zalloc(o->queue.connections * sizeof *s->exchanges);
    rela_status st = s->exchanges ? RELA_OK
                                  : rela_fail(err, RELA_NOMEM, "no memory for %zu connections",
                                              o->queue.connections);
    st = st ? st : rela_queue_create(&s->queue, &o->queue, err);
    st = st ? st : rela_client_rates_create(&s->rates, 4096, err);
    if (st == RELA_OK)
        *out = s;
    else
        rela_service_destroy(s);
    return st;
}

static void release(rela_service_model *m)
{
    if (--m->references == 0 && m->release)
        m->release(m);
}

void rela_service_destroy(rela_service *s)
{
    if (!s)
        return;
    for (size_t i = 0; s->exchanges && i < s->options.queue.connections; i++)
        rela_service_disconnect(s, (int32_t)i, s->now);
    while (s->calls)
        rela_call_free(s, s->calls);
    for (size_t i = 0; i < s->n_models; i++)
        release(s->models[i]);
    rela_mem_free(s->models);
    rela_mem_free(s->exchanges);
    rela_client_rates_destroy(s->rates);
    rela_queue_destroy(s->queue);
    rela_mem_free(s);
}

rela_status rela_service_models_set(rela_service *s, rela_service_model *const *models, size_t n,
                                    rela_error *err)
{
    rela_service_model **copy = rela_mem_array(n + 1, sizeof *copy);
    if (!copy)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu models", n);
    for (size_t i = 0; i < n; i++) {
        copy[i] = models[i];
        copy[i]->references++;
    }
    for (size_t i = 0; i < s->n_models; i++)
        release(s->models[i]);
    rela_mem_free(s->models);
    s->models = copy;
    s->n_models = n;
    return RELA_OK;
}

void rela_service_tick(rela_service *s, double now)
{
    uint64_t id = 0;
    void *owner = NULL;
    s->now = now;
    while (rela_queue_expired(s->queue, &id, &owner, now))
        rela_call_end(s, owner, 503, "the deadline of the request has passed");
    for (size_t i = 0; i < s->options.queue.connections; i++)
        if (s->exchanges[i].phase != RELA_EXCHANGE_CLOSED)
            rela_exchange_tick(s, &s->exchanges[i]);
    rela_calls_run(s);
}

void rela_service_drain(rela_service *s)
{
    rela_queue_drain(s->queue);
}

bool rela_service_idle(const rela_service *s)
{
    return !s->calls;
}

void rela_service_abandon(rela_service *s, double now)
{
    s->now = now;
    for (rela_call *c = s->calls, *next; c; c = next) {
        next = c->next;
        rela_call_end(s, c, 503, "the server stops");
    }
}

rela_queue_load rela_service_load(const rela_service *s)
{
    return rela_queue_look(s->queue);
}

/* ---- the way of a call ---- */

rela_exchange *rela_call_exchange(rela_service *s, const rela_call *c)
{
    return c->connection < 0 ? NULL : &s->exchanges[c->connection];
}

static void enlist(rela_service *s, rela_call *c)
{
    c->next = s->calls;
    c->at = &s->calls;
    if (s->calls)
        s->calls->at = &c->next;
    s->calls = c;
}

void rela_call_free(rela_service *s, rela_call *c)
{
    (void)s;
    if (c->at) {
        *c->at = c->next;
        if (c->next)
            c->next->at = c->at;
    }
    for (size_t i = 0; c->outcomes && i < c->text.n_sentences; i++)
        rela_outcome_free(c->outcomes[i]);
    rela_mem_free(c->outcomes);
    rela_mem_free(c->names);
    rela_mem_free(c->where);
    rela_passages_free(&c->text);
    rela_buffer_free(&c->prefix);
    if (c->model)
        release(c->model);
    rela_mem_free(c);
}

static rela_span sentence_text(const rela_call *c, size_t sentence)
{
    const rela_passage *p = &c->text.items[c->where[sentence]];
    return (rela_span){ c->text.texts.data + p->begin, p->end - p->begin };
}

/* Nothing to translate: only blanks and mark-up. */
static void answer_at_once(rela_service *s, rela_exchange *x, rela_call *c)
{
    enlist(s, c);
    c->connection = (int32_t)(x - s->exchanges);
    x->phase = RELA_EXCHANGE_CALL;
    x->call = c;
    if (c->stream)
        rela_exchange_stream(s, x, "text/event-stream; charset=utf-8");
    complete(s, c);
    rela_call_free(s, c);
}

void rela_call_submit(rela_service *s, rela_exchange *x, rela_call *c, const rela_fields *f)
{
    const rela_span key = rela_fields_get(f, "supersede");
    const size_t n = c->text.n_sentences;
    if (n == 0) {
        answer_at_once(s, x, c);
        return;
    }
    uint32_t *tokens = rela_mem_array(n, sizeof *tokens);
    if (!tokens) {
        rela_call_free(s, c);
        rela_exchange_fail(s, x, 503, 1, "no memory for the request");
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const rela_span t = sentence_text(c, i);
        tokens[i] = rela_passages_tokens(t.text, t.len);
    }
    rela_queue_forecast forecast;
    const rela_queue_request r = {
        .connection = (size_t)(x - s->exchanges),
        .supersede = key.len ? (rela_service_hash(key.text, key.len) ^ x->client) | 1 : 0,
        .deadline = c->deadline,
        .tokens = tokens,
        .n = n,
        .owner = c
    };
    supersede(s, c, r.supersede);
    const rela_queue_verdict v = rela_queue_submit(s->queue, &c->id, &forecast, &r, s->now);
    rela_mem_free(tokens);
    if (v != RELA_QUEUE_YES) {
        const double seconds = c->deadline - s->now;
        rela_call_free(s, c);
        refuse(s, x, v, &forecast, seconds);
        return;
    }
    enlist(s, c);
    c->connection = (int32_t)(x - s->exchanges);
    x->phase = RELA_EXCHANGE_CALL;
    x->call = c;
    if (c->stream)
        rela_exchange_stream(s, x, "text/event-stream; charset=utf-8");
    rela_calls_run(s);
}

static void supersede(rela_service *s, const rela_call *c, uint64_t key)
{
    uint64_t id = 0;
    void *owner = NULL;
    (void)c;
    while (rela_queue_find(s->queue, &id, &owner, key))
        rela_call_end(s, owner, 409, "a later request has superseded this one");
}

static void refuse(rela_service *s, rela_exchange *x, rela_queue_verdict v,
                   const rela_queue_forecast *f, double deadline)
{
    static const struct {
        int status;
        rela_rejection why;
        const char *message;
    } ROWS[] = {
        [RELA_QUEUE_FULL] = { 503, RELA_REJECTED_FULL, "the queue is full" },
        [RELA_QUEUE_LATE] = { 503, RELA_REJECTED_LATE, "the request might end after its deadline" },
        [RELA_QUEUE_TOO_LONG] = { 413, RELA_REJECTED_SIZE,
                                  "the request has more text than the queue can hold" },
        [RELA_QUEUE_DRAINING] = { 503, RELA_REJECTED_DRAINING, "the server stops" },
        [RELA_QUEUE_NO_MEMORY] = { 503, RELA_REJECTED_FULL, "no memory for the request" },
    };
    rela_buffer b = RELA_BUFFER_INIT;
    const bool deepl = x->head.path.len > 3 && memcmp(x->head.path.text, "/v2/", 4) == 0;
    double retry = f->seconds > deadline ? f->seconds - deadline : f->seconds;
    retry = retry < 1 ? 1 : retry;
    const rela_status st = rela_buffer_printf(
        &b, NULL, "{\"%s\":\"%s\",\"position\":%llu,\"seconds\":%.3f}", deepl ? "message" : "error",
        ROWS[v].message, (unsigned long long)f->position, f->seconds);
    const rela_reply r = { .status = ROWS[v].status,
                           .type = "application/json; charset=utf-8",
                           .body = b.data,
                           .len = st == RELA_OK ? b.len : 0,
                           .retry = ROWS[v].status == 503 ? retry : 0 };
    s->metrics.rejected[ROWS[v].why]++;
    rela_exchange_reply(s, x, &r);
    rela_buffer_free(&b);
}

void rela_calls_run(rela_service *s)
{
    rela_queue_turn turn;
    while (rela_queue_next(s->queue, &turn, s->now))
        start_sentence(s, &turn);
}

static void start_sentence(rela_service *s, const rela_queue_turn *turn)
{
    rela_call *c = turn->owner;
    rela_error err = { RELA_OK, "" };
    if (c->started <= 0) {
        c->started = s->now;
        rela_metrics_seconds(&s->metrics.queue_seconds, s->now - c->began);
    }
    const rela_service_sentence sentence = { .call = c,
                                             .number = turn->sentence,
                                             .text = sentence_text(c, turn->sentence),
                                             .options = &c->options,
                                             .wants = c->wants,
                                             .deadline = c->deadline };
    uint64_t name = 0;
    const rela_status st = s->backend.start(s->backend.ctx, &name, c->model, &sentence, &err);
    if (st == RELA_OK) {
        c->names[turn->sentence] = name;
        return;
    }
    /* As if the backend had begun and failed. */
    rela_outcome *o = rela_outcome_create(NULL, &err, sentence.text, NULL, 0);
    if (o)
        o->status = st;
    c->outcomes[turn->sentence] = o;
    if (!o && !c->status)
        c->status = 503;
    finish_sentence(s, c, turn->sentence);
}

void rela_service_finish(rela_service *s, rela_outcome *o, double now)
{
    rela_call *c = o->call;
    s->now = now;
    s->metrics.source_tokens += o->source_tokens;
    s->metrics.target_tokens += o->target_tokens;
    for (size_t k = 0; k < RELA_WARNING_KINDS; k++)
        s->metrics.warnings[k] += o->warnings >> k & 1;
    if (o->null_rate >= 0)
        rela_metrics_share(&s->metrics.null_rate, o->null_rate);
    c->outcomes[o->sentence] = o;
    finish_sentence(s, c, o->sentence);
    rela_calls_run(s);
}

static int status_of(rela_status st)
{
    return st == RELA_ARG || st == RELA_FORMAT     ? 400
           : st == RELA_CANCEL || st == RELA_NOMEM ? 503
                                                   : 500;
}

static void finish_sentence(rela_service *s, rela_call *c, size_t sentence)
{
    const rela_outcome *o = c->outcomes[sentence];
    c->names[sentence] = 0;
    c->n_done++;
    if (o && o->status != RELA_OK && !c->status) {
        c->status = status_of(o->status);
        c->err = o->err;
    }
    const uint64_t id = c->id;
    if (!c->answered && c->status) {
        /* The first failure ends the call; the sentence has yet to leave the queue. */
        c->answered = true;
        rela_exchange *x = rela_call_exchange(s, c);
        c->connection = -1;
        if (x && c->stream && x->phase == RELA_EXCHANGE_CALL) {
            x->call = NULL;
            rela_exchange_end(s, x);
        } else if (x) {
            rela_exchange_fail(s, x, c->status, c->status == 503 ? 1 : 0, c->err.message);
        }
        (void)rela_queue_cancel(s->queue, id);
        for (size_t i = 0; i < c->text.n_sentences; i++)
            if (c->names[i])
                s->backend.cancel(s->backend.ctx, c->model, c->names[i]);
    } else if (!c->answered) {
        stream(s, c);
    }
    if (!rela_queue_done(s->queue, id, sentence, o && o->status == RELA_OK, s->now))
        return;
    if (!c->answered)
        complete(s, c);
    rela_call_free(s, c);
}

static bool send_event(rela_service *s, rela_call *c, size_t sentence)
{
    rela_exchange *x = rela_call_exchange(s, c);
    rela_buffer b = RELA_BUFFER_INIT;
    const rela_status st = rela_answers_event(&b, c, sentence, NULL);
    if (st == RELA_OK && x)
        rela_exchange_part(s, x, b.data, b.len);
    rela_buffer_free(&b);
    return st == RELA_OK && x && x->call == c;
}

/* Sentences go out in order, as soon as they and all before them are done. */
static void stream(rela_service *s, rela_call *c)
{
    while (c->stream && !c->answered && c->n_streamed < c->text.n_sentences &&
           c->outcomes[c->n_streamed])
        if (!send_event(s, c, c->n_streamed++))
            return;
}

static void complete(rela_service *s, rela_call *c)
{
    rela_exchange *x = rela_call_exchange(s, c);
    c->answered = true;
    c->connection = -1;
    if (!x)
        return;
    rela_buffer b = RELA_BUFFER_INIT;
    const rela_status st = rela_answers_write(&b, s, c, NULL);
    x->call = NULL;
    if (c->stream) {
        if (st == RELA_OK)
            rela_exchange_part(s, x, b.data, b.len);
        if (x->phase == RELA_EXCHANGE_CALL)
            rela_exchange_end(s, x);
    } else if (st == RELA_OK) {
        rela_exchange_reply_json(s, x, 200, &b);
    } else {
        rela_exchange_fail(s, x, 503, 1, "no memory for the answer");
    }
    rela_buffer_free(&b);
}

void rela_call_end(rela_service *s, rela_call *c, int status, const char *message)
{
    rela_exchange *x = rela_call_exchange(s, c);
    if (c->answered)
        return; /* it is about to leave the backend */
    c->answered = true;
    c->connection = -1;
    if (x && x->phase == RELA_EXCHANGE_CALL) {
        x->call = NULL;
        if (c->stream)
            rela_exchange_end(s, x);
        else
            rela_exchange_fail(s, x, status, status == 503 ? 1 : 0, message);
    }
    s->metrics.cancelled++;
    for (size_t i = 0; i < c->text.n_sentences; i++)
        if (c->names[i])
            s->backend.cancel(s->backend.ctx, c->model, c->names[i]);
    if (rela_queue_cancel(s->queue, c->id))
        rela_call_free(s, c);
}

uint64_t rela_service_hash(const char *text, size_t len)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * 1099511628211u;
    return h;
}

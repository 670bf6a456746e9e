/* SPDX-License-Identifier: MIT */
/* tests/unit/test_service.c - the whole server but for sockets and models, in virtual time: single
 * requests, then thousands of histories of polite, slow, dying and flooding clients, each from its
 * seed: RELA_SEED=N repeats one. */
#include "check.h"

#include "base/mem.h"
#include "base/rng.h"
#include "serve/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 24, RUNNING_MAX = 256, REPLY_MAX = 8192, PAGE_MAX = 1 << 18 };

/* ---- a backend: every translation is its source ---- */

typedef struct job {
    uint64_t id; /* 0: free */
    rela_service_sentence sentence;
    double due;
    bool cancelled, fails;
} job;

typedef struct world {
    rela_rng rng;
    rela_service *service;
    rela_service_model model;
    rela_service_options options;
    job jobs[RUNNING_MAX];
    uint64_t issued;
    double now, speed;
    bool faulty; /* some sentences fail */
    size_t n_cancels;
} world;

static rela_status start(void *ctx, uint64_t *id, rela_service_model *m,
                         const rela_service_sentence *s, rela_error *err)
{
    world *w = ctx;
    size_t i = 0;
    (void)m;
    if (w->faulty && rela_rng_below(&w->rng, 200) == 0)
        return rela_fail(err, RELA_NOMEM, "no memory, on purpose");
    while (i < RUNNING_MAX && w->jobs[i].id)
        i++;
    CHECK(i < RUNNING_MAX, "the backend has too many sentences");
    const double seconds = (1 + (double)s->text.len / 4) / w->speed;
    w->jobs[i] = (job){ .id = ++w->issued,
                        .sentence = *s,
                        .due = w->now + seconds * (0.5 + rela_rng_real(&w->rng)),
                        .fails = w->faulty && rela_rng_below(&w->rng, 100) == 0 };
    *id = w->jobs[i].id;
    return RELA_OK;
}

static void cancel(void *ctx, rela_service_model *m, uint64_t id)
{
    world *w = ctx;
    (void)m;
    for (size_t i = 0; i < RUNNING_MAX; i++)
        if (w->jobs[i].id == id) {
            CHECK(!w->jobs[i].cancelled, "cancelled twice");
            w->jobs[i].cancelled = true;
            w->jobs[i].due = w->now;
            w->n_cancels++;
        }
}

/* Hands in what is done by now, in any order. */
static void finish_jobs(world *w)
{
    for (size_t k = 0, first = rela_rng_below(&w->rng, RUNNING_MAX); k < RUNNING_MAX; k++) {
        job *j = &w->jobs[(first + k) % RUNNING_MAX];
        if (!j->id || j->due > w->now)
            continue;
        rela_outcome *o = NULL;
        if (j->cancelled || j->fails) {
            const rela_error why = { j->cancelled ? RELA_CANCEL : RELA_NOTFINITE, "on purpose" };
            o = rela_outcome_create(NULL, &why, j->sentence.text, NULL, 0);
        } else {
            o = rela_outcome_of_text(j->sentence.text.text, j->sentence.text.len,
                                     (size_t)j->sentence.options->n_best);
        }
        CHECK(o, "no memory for an outcome");
        o->call = j->sentence.call;
        o->sentence = j->sentence.number;
        j->id = 0;
        rela_service_finish(w->service, o, w->now);
    }
}

static size_t n_released;

static void release(rela_service_model *m)
{
    (void)m;
    n_released++;
}

static void make_world(world *w, uint64_t seed, void (*change)(rela_service_options *o))
{
    static const rela_service_model MODEL = {
        .name = "m",
        .source = "en",
        .target = "de",
        .shape = { .heads = 1, .dec_layers = 1, .sources = 1 },
        .release = release
    };
    rela_error err;
    *w = (world){ .rng = rela_rng_start(seed, 1), .model = MODEL, .speed = 1000 };
    rela_service_options_init(&w->options);
    w->options.queue.connections = CLIENTS;
    w->options.queue.running_sentences = 16;
    if (change)
        change(&w->options);
    const rela_service_backend backend = { .ctx = w, .start = start, .cancel = cancel };
    rela_service_model *models[] = { &w->model };
    CHECK_OK(rela_service_create(&w->service, &w->options, &backend, &err), err);
    CHECK_OK(rela_service_models_set(w->service, models, 1, &err), err);
}

static void end_world(world *w)
{
    rela_service_abandon(w->service, w->now);
    while (!rela_service_idle(w->service)) {
        w->now += 100;
        finish_jobs(w);
    }
    n_released = 0;
    rela_service_destroy(w->service);
    assert_int_equal(n_released, 1);
}

/* ---- single requests ---- */

/* A request with the length of its body. */
static size_t complete(char out[512], const char *request)
{
    const char *mark = strchr(request, '@'), *body = strstr(request, "\r\n\r\n");
    if (mark && body && mark < body)
        (void)snprintf(out, 512, "%.*s%zu%s", (int)(mark - request), request, strlen(body + 4),
                       mark + 1);
    else
        (void)snprintf(out, 512, "%s", request);
    return strlen(out);
}

static size_t read_all(world *w, int32_t c, char *reply, size_t size)
{
    size_t len = 0;
    for (rela_span s; (s = rela_service_output(w->service, c)).text;) {
        CHECK(len + s.len < size, "a long reply");
        memcpy(reply + len, s.text, s.len);
        len += s.len;
        rela_service_written(w->service, c, s.len, w->now);
    }
    reply[len] = '\0';
    return len;
}

/* Sends bytes on a new connection, lets two seconds pass, and returns what came back. */
static const char *exchange(world *w, const char *bytes)
{
    static char reply[PAGE_MAX];
    char request[512];
    size_t len = 0;
    const size_t size = complete(request, bytes);
    const int32_t c = rela_service_connect(w->service, 7, "client", w->now);
    CHECK(c >= 0, "no connection");
    rela_service_receive(w->service, c, request, size, w->now);
    for (int i = 0; i < 40; i++) {
        len += read_all(w, c, reply + len, sizeof reply - len);
        w->now += 0.05;
        finish_jobs(w);
        rela_service_tick(w->service, w->now);
    }
    rela_service_disconnect(w->service, c, w->now);
    return reply;
}

static void with_keys(rela_service_options *o)
{
    static const rela_service_key KEYS[] = { { "secret", 2 }, { "other", 0 } };
    static const char *const ORIGINS[] = { "https://good.example" };
    o->keys = KEYS;
    o->n_keys = 2;
    o->origins = ORIGINS;
    o->n_origins = 1;
}

typedef struct row {
    const char *request;
    const char *status; /* how the answer begins */
    const char *holds;  /* part of it; NULL: anything */
} row;

#define HOST       "Host: localhost:8080\r\n"
#define BODY(text) "Content-Length: @\r\n\r\n" text /* @: its length */

static const row ROWS[] = {
    { "GET /health HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 200", "{\"status\":\"ok\"}" },
    { "GET /health HTTP/1.1\r\n" HOST BODY("{}"), "HTTP/1.1 200", "{\"status\":\"ok\"}" },
    { "HEAD /health HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 200", "Content-Length: 15\r\n" },
    { "GET /health HTTP/1.0\r\n\r\n", "HTTP/1.1 200", "Connection: close" },
    { "GET /ready HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 200", "ready" },
    { "GET / HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 200",
      "Content-Security-Policy: frame-ancestors 'none'" },
    { "GET / HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 200", "connect-src 'self'" },
    { "GET /spec HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 200", "\"openapi\"" },
    { "GET /languages HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 200",
      "[{\"code\":\"en\",\"name\":\"English\",\"targets\":[\"de\"]}]" },
    { "GET /frontend/settings HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 200", "\"charLimit\":1048576" },
    { "GET /metrics HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 404", NULL },
    { "GET /no HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 404", "{\"error\":" },
    { "GET /translate HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 405", "\r\nAllow: POST\r\n" },
    { "DELETE /health HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 405", "\r\nAllow: GET, HEAD\r\n" },
    { "GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 403", "Host" },
    { "GET /health HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n", "HTTP/1.1 403", NULL },
    { "GET /health HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "HTTP/1.1 200", NULL },
    { "GET /health HTTP/1.1\r\n" HOST "Origin: http://localhost:8080\r\n\r\n", "HTTP/1.1 200",
      NULL },
    { "GET /health HTTP/1.1\r\n" HOST "Origin: http://evil.example\r\n\r\n", "HTTP/1.1 403", NULL },
    { "GET /health HTTP/1.1\r\n" HOST "Origin: null\r\n\r\n", "HTTP/1.1 403", NULL },
    { "OPTIONS /translate HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 204", NULL },
    { "POST /translate_file HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 403", "Files translation" },
    { "POST /translate HTTP/1.1\r\n" HOST BODY("q=a+b&source=en&target=de&x"), "HTTP/1.1 200",
      "\r\n\r\n{\"translatedText\":\"a b\"}" },
    { "POST /translate?q=a%0Ab&target=de HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 200",
      "{\"translatedText\":\"a\\nb\",\"detectedLanguage\":{\"confidence\":0,\"language\":\"en\"}"
      "}" },
    { "POST /translate HTTP/1.1\r\n" HOST BODY(
          "{\"q\":[\"a\",\"b\"],\"target\":\"de\",\"source\":\"en\", \"x\": 1}"),
      "HTTP/1.1 200", "{\"translatedText\":[\"a\",\"b\"]}" },
    { "POST /translate HTTP/1.1\r\n" HOST BODY("{\"q\":\"\",\"target\":\"de\",\"x\":\"123\"}"),
      "HTTP/1.1 400", "missing q" },
    { "POST /translate HTTP/1.1\r\n" HOST BODY("q=a&target=fr"), "HTTP/1.1 400", "not supported" },
    { "POST /translate HTTP/1.1\r\n" HOST BODY("q=a"), "HTTP/1.1 400", "missing target" },
    { "POST /translate HTTP/1.1\r\n" HOST BODY("{"), "HTTP/1.1 400", "{\"error\":\"byte 2" },
    { "POST /translate HTTP/1.1\r\n" HOST BODY("q=a&target=de&alternatives=-1"), "HTTP/1.1 400",
      "alternatives" },
    { "POST /translate HTTP/1.1\r\n" HOST "X-Timeout-Ms: x\r\n" BODY("q=a&target=de"),
      "HTTP/1.1 400", "X-Timeout-Ms" },
    { "POST /translate HTTP/1.1\r\n" HOST "X-Request-Id: my-id_1\r\n" BODY("q=a&target=de"),
      "HTTP/1.1 200", "X-Request-Id: my-id_1\r\n" },
    { "POST /translate HTTP/1.1\r\n" HOST BODY(
          "{\"q\":\"<p>a <b>b</b> &amp; c</p>\",\"target\":\"de\",\"format\":\"html\"}"),
      "HTTP/1.1 200", "{\"translatedText\":\"<p>a <b>b</b> &amp; c</p>\"" },
    { "POST /v2/translate HTTP/1.1\r\n" HOST BODY("text=a&text=b&target_lang=DE"), "HTTP/1.1 200",
      "{\"translations\":[{\"detected_source_language\":\"EN\",\"text\":\"a\",\"billed_"
      "characters\":1},"
      "{\"detected_source_language\":\"EN\",\"text\":\"b\",\"billed_characters\":1}]}" },
    { "POST /v2/translate HTTP/1.1\r\n" HOST BODY("text=a"), "HTTP/1.1 400", "{\"message\":" },
    { "GET /v2/languages?type=target HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 200",
      "[{\"language\":\"DE\",\"name\":\"German\",\"supports_formality\":false}]" },
    { "POST /v1/translate HTTP/1.1\r\n" HOST BODY("{\"text\":\"a\"}"), "HTTP/1.1 200",
      "\"translations\":[{\"text\":\"a\",\"score\":-1,\"logp\":-1,\"sentences\":[{\"source\":"
      "\"a\"" },
    { "POST /v1/translate HTTP/1.1\r\n" HOST BODY("{\"text\":\"a\",\"stream\":true} "),
      "HTTP/1.1 200", "event: done" },
    { "POST /v1/translate HTTP/1.1\r\n" HOST BODY("{\"text\":\"a\",\"beam\":-5}"), "HTTP/1.1 400",
      "beam" },
    { "POST /v1/translate HTTP/1.1\r\n" HOST BODY("{\"text\":\"a\",\"n_best\":5,\"beam\":4   }"),
      "HTTP/1.1 400", "n_best 5 is more than beam 4" },
    { "POST /v1/translate HTTP/1.1\r\n" HOST BODY("{\"text\":\"a\",\"target\":\"fr\"}"),
      "HTTP/1.1 400", "{\"error\":\"to fr is not supported: see /languages\"}" },
    { "POST /v1/translate HTTP/1.1\r\n" HOST BODY("{\"text\":\"a\",\"source\":\"xx\"}"),
      "HTTP/1.1 400", "{\"error\":\"from xx is not supported: see /languages\"}" },
    { "POST /v1/translate HTTP/1.1\r\n" HOST BODY(
          "{\"text\":\"a\",\"source\":\"de\",\"target\":\"fr\"}"),
      "HTTP/1.1 400", "{\"error\":\"de to fr is not supported: see /languages\"}" },
    { "POST /v1/translate HTTP/1.1\r\n" HOST BODY(
          "{\"text\":\"a\",\"model\":\"m\",\"source\":\"fr\"}"),
      "HTTP/1.1 400", "{\"error\":\"model 'm': from fr is not supported: see /v1/models\"}" },
    { "POST /v1/translate HTTP/1.1\r\n" HOST BODY("{\"text\":\"a\",\"model\":\"m\", \"x\":1}"),
      "HTTP/1.1 200", "\"model\":\"m\"" },
    { "POST /v1/translate HTTP/1.1\r\n" HOST BODY("{\"text\":\"a\",\"split\":\"none\"}"),
      "HTTP/1.1 400", "split: expected auto or never" },
    { "GET /v1/models HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 200", "\"source\":\"en\"" },
    { "DELETE /v1/requests/x HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 404", NULL },
    { "GET / HTTP/2.0\r\n" HOST "\r\n", "HTTP/1.1 505", "Connection: close" },
    { "BREW / HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 501", "Connection: close" },
    { "GET /health HTTP/1.1\nHost: a\n\n", "HTTP/1.1 400", "Connection: close" },
    { "GET /health HTTP/1.1\r\n" HOST "\r\nGET /ready HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 200",
      "ready" },
};

static void each_request_has_its_answer(void **state)
{
    (void)state;
    world *w = test_calloc(1, sizeof *w);
    make_world(w, 1, NULL);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const char *reply = exchange(w, ROWS[i].request);
        CHECK(strncmp(reply, ROWS[i].status, strlen(ROWS[i].status)) == 0 &&
                  (!ROWS[i].holds || strstr(reply, ROWS[i].holds)),
              "%s\n%s\nexpected %s ... %s", ROWS[i].request, reply, ROWS[i].status,
              ROWS[i].holds ? ROWS[i].holds : "");
        CHECK(strstr(reply, "\r\nX-Request-Id: "), "no request id: %s", reply);
    }
    end_world(w);
    test_free(w);
}

static void keys_and_origins_are_checked(void **state)
{
    (void)state;
    static const row KEYED[] = {
        { "POST /translate HTTP/1.1\r\n" HOST BODY("q=a&target=de"), "HTTP/1.1 403", "api_key" },
        { "POST /translate HTTP/1.1\r\n" HOST BODY("q=a&target=de&api_key=wrong"), "HTTP/1.1 403",
          NULL },
        { "POST /translate HTTP/1.1\r\n" HOST BODY("q=a&target=de&api_key=secret"), "HTTP/1.1 200",
          NULL },
        { "POST /translate HTTP/1.1\r\n" HOST
          "Authorization: Bearer secret\r\n" BODY("q=a&target=de"),
          "HTTP/1.1 200", NULL },
        { "POST /translate HTTP/1.1\r\n" HOST
          "Authorization: DeepL-Auth-Key secret\r\n" BODY("q=a&target=de"),
          "HTTP/1.1 429", "Retry-After: " },
        { "POST /translate HTTP/1.1\r\n" HOST
          "Authorization: Bearer other\r\n" BODY("q=a&target=de"),
          "HTTP/1.1 200", NULL },
        { "GET /health HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 200", NULL },
        { "GET /health HTTP/1.1\r\n" HOST "Origin: https://good.example\r\n\r\n", "HTTP/1.1 200",
          "Access-Control-Allow-Origin: https://good.example\r\n" },
        { "GET /health HTTP/1.1\r\n" HOST "Origin: https://good.example.evil\r\n\r\n",
          "HTTP/1.1 403", NULL },
    };
    world *w = test_calloc(1, sizeof *w);
    make_world(w, 1, with_keys);
    for (size_t i = 0; i < sizeof KEYED / sizeof *KEYED; i++) {
        const char *reply = exchange(w, KEYED[i].request);
        CHECK(strncmp(reply, KEYED[i].status, strlen(KEYED[i].status)) == 0 &&
                  (!KEYED[i].holds || strstr(reply, KEYED[i].holds)),
              "row %zu:\n%s", i, reply);
    }
    end_world(w);
    test_free(w);
}

static void languages_of_several_models_are_named_once(void **state)
{
    (void)state;
    static const row SEVERAL[] = {
        { "GET /languages HTTP/1.1\r\n" HOST "\r\n", "HTTP/1.1 200",
          "[{\"code\":\"en\",\"name\":\"English\",\"targets\":[\"de\",\"fr\"]}]" },
        { "POST /v1/translate HTTP/1.1\r\n" HOST BODY("{\"text\":\"a\",\"source\":\"en\"}"),
          "HTTP/1.1 400", "several models fit: name source and target; see /languages" },
        { "POST /translate HTTP/1.1\r\n" HOST BODY("q=a&target=de&source=en"), "HTTP/1.1 200",
          "{\"translatedText\":\"a\"}" },
    };
    world *w = test_calloc(1, sizeof *w);
    make_world(w, 1, NULL);
    rela_error err;
    rela_service_model same = w->model, other = w->model;
    same.references = other.references = 0;
    other.target = "fr";
    rela_service_model *models[] = { &w->model, &other, &same };
    CHECK_OK(rela_service_models_set(w->service, models, 3, &err), err);
    for (size_t i = 0; i < sizeof SEVERAL / sizeof *SEVERAL; i++) {
        const char *reply = exchange(w, SEVERAL[i].request);
        CHECK(strncmp(reply, SEVERAL[i].status, strlen(SEVERAL[i].status)) == 0 &&
                  strstr(reply, SEVERAL[i].holds),
              "row %zu:\n%s", i, reply);
    }
    CHECK_OK(rela_service_models_set(w->service, models, 1, &err), err);
    end_world(w);
    test_free(w);
}

static void send(world *w, int32_t c, const char *request)
{
    char bytes[512];
    rela_service_receive(w->service, c, bytes, complete(bytes, request), w->now);
}

static void requests_are_cancelled_by_id_key_and_disconnect(void **state)
{
    (void)state;
    static const char FIRST[] =
        "POST /v1/translate HTTP/1.1\r\n" HOST
        "X-Request-Id: one\r\n" BODY("{\"text\":\"a\",\"supersede\":\"k\"}");
    static const char SECOND[] =
        "POST /v1/translate HTTP/1.1\r\n" HOST
        "X-Request-Id: two\r\n" BODY("{\"text\":\"b\",\"supersede\":\"k\"}");
    static const char DROP[] = "DELETE /v1/requests/two HTTP/1.1\r\n" HOST "\r\n";
    world *w = test_calloc(1, sizeof *w);
    char reply[REPLY_MAX];
    make_world(w, 1, NULL);
    const int32_t a = rela_service_connect(w->service, 1, "a", 0);
    const int32_t b = rela_service_connect(w->service, 1, "b", 0);
    const int32_t d = rela_service_connect(w->service, 1, "d", 0);
    const int32_t stranger = rela_service_connect(w->service, 2, "s", 0);
    send(w, a, FIRST);
    send(w, b, SECOND);
    assert_true(read_all(w, a, reply, sizeof reply) > 0 && strstr(reply, "HTTP/1.1 409"));
    assert_int_equal(read_all(w, b, reply, sizeof reply), 0);
    send(w, stranger, DROP);
    assert_true(read_all(w, stranger, reply, sizeof reply) > 0 && strstr(reply, "HTTP/1.1 404"));
    send(w, d, DROP);
    assert_true(read_all(w, d, reply, sizeof reply) > 0 && strstr(reply, "HTTP/1.1 204"));
    assert_true(read_all(w, b, reply, sizeof reply) > 0 && strstr(reply, "HTTP/1.1 409"));
    send(w, a, FIRST);
    rela_service_disconnect(w->service, a, 0);
    assert_int_equal(w->n_cancels, 3);
    end_world(w);
    test_free(w);
}

static void slow_heads_and_idle_connections_are_closed(void **state)
{
    (void)state;
    static const char HEAD[] = "GET /health HTTP/1.1\r\nHost: localhost\r\nA: bbbbbbbbbbbbbbbbb";
    world *w = test_calloc(1, sizeof *w);
    char reply[REPLY_MAX] = "";
    make_world(w, 1, NULL);
    const int32_t slow = rela_service_connect(w->service, 1, "slow", 0);
    const int32_t idle = rela_service_connect(w->service, 1, "idle", 0);
    for (size_t i = 0; i < sizeof HEAD - 1 && !rela_service_closes(w->service, slow); i++) {
        rela_service_receive(w->service, slow, HEAD + i, 1, w->now);
        rela_service_tick(w->service, ++w->now);
        (void)read_all(w, slow, reply, sizeof reply);
    }
    CHECK(strstr(reply, "HTTP/1.1 408") && w->now < 13, "a slow head after %g s: %s", w->now,
          reply);
    assert_true(rela_service_closes(w->service, idle));
    end_world(w);
    test_free(w);
}

/* ---- histories ---- */

typedef enum kind { POLITE, SLOW, DYING, FLOODING, MALFORMED, DEAF, KINDS } kind;

typedef struct client {
    kind kind;
    int32_t connection; /* -1: none */
    char request[400];
    size_t len, sent;
    char reply[REPLY_MAX];
    size_t got;
    uint64_t token;
    double asked;
    bool waits;
} client;

typedef struct history {
    world w;
    client clients[CLIENTS];
    uint64_t seed, tokens, answered, refused;
} history;

static void ask(history *h, client *c)
{
    char body[200], more[120] = "";
    const uint64_t timeout = 50 + rela_rng_below(&h->w.rng, 3000);
    const bool stream = rela_rng_below(&h->w.rng, 4) == 0;
    c->token = ++h->tokens;
    for (uint64_t k = rela_rng_below(&h->w.rng, 8); k > 0; k--)
        (void)snprintf(more + strlen(more), 16, "%s", k % 2 ? "And one\\n" : "more.\\n");
    (void)snprintf(body, sizeof body, "{\"text\":[\"t%llu.\",\"%s\"],\"stream\":%s}",
                   (unsigned long long)c->token, more, stream ? "true" : "false");
    (void)snprintf(c->request, sizeof c->request,
                   "POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nX-Timeout-Ms: %llu\r\n"
                   "Content-Length: %zu\r\n\r\n%s",
                   (unsigned long long)timeout, strlen(body), body);
    c->len = strlen(c->request);
    if (c->kind == MALFORMED)
        c->request[rela_rng_below(&h->w.rng, c->len)] = (char)rela_rng_below(&h->w.rng, 256);
    c->sent = c->got = 0;
    c->asked = h->w.now;
    c->waits = true;
}

/* The answer of a polite client is complete: it is for its own request, and all it should be. */
static void judge(history *h, client *c)
{
    char want[32];
    c->reply[c->got] = '\0';
    const char *end = strstr(c->reply, "\r\n\r\n");
    if (!end)
        return;
    const char *length = strstr(c->reply, "Content-Length: ");
    const bool whole = length && length < end
                           ? c->got == (size_t)(end + 4 - c->reply) + strtoul(length + 16, NULL, 10)
                           : c->got > 5 && memcmp(c->reply + c->got - 5, "0\r\n\r\n", 5) == 0;
    if (!whole)
        return;
    c->waits = false;
    if (strncmp(c->reply, "HTTP/1.1 200", 12) == 0) {
        (void)snprintf(want, sizeof want, "\"t%llu.\"", (unsigned long long)c->token);
        CHECK(strstr(c->reply, want) || !length || c->kind == MALFORMED,
              "seed %llu: the answer of another: %s", (unsigned long long)h->seed, c->reply);
        h->answered++;
    } else if (strncmp(c->reply, "HTTP/1.1 503", 12) == 0) {
        CHECK(strstr(c->reply, "Retry-After: "), "seed %llu: no Retry-After: %s",
              (unsigned long long)h->seed, c->reply);
        h->refused++;
    } else {
        CHECK(c->kind == MALFORMED || strncmp(c->reply, "HTTP/1.1 500", 12) == 0 ||
                  strncmp(c->reply, "HTTP/1.1 408", 12) == 0,
              "seed %llu: %s", (unsigned long long)h->seed, c->reply);
    }
}

static void leave(history *h, client *c)
{
    rela_service_disconnect(h->w.service, c->connection, h->w.now);
    c->connection = -1;
    c->waits = false;
}

static void act(history *h, client *c)
{
    rela_service *s = h->w.service;
    if (c->connection < 0) {
        c->kind = (kind)rela_rng_below(&h->w.rng, KINDS);
        c->connection = rela_service_connect(s, rela_rng_below(&h->w.rng, 4), "c", h->w.now);
        CHECK(c->connection >= 0, "seed %llu: no connection", (unsigned long long)h->seed);
        c->waits = false;
        return;
    }
    if (rela_service_closes(s, c->connection) ||
        (c->kind == DYING && rela_rng_below(&h->w.rng, 20) == 0)) {
        leave(h, c);
        return;
    }
    if (!c->waits)
        ask(h, c);
    if (c->sent < c->len && rela_service_wants(s, c->connection)) {
        const size_t left = c->len - c->sent, most = c->kind == SLOW ? 3 : left;
        const size_t n = 1 + rela_rng_below(&h->w.rng, most < left ? most : left);
        rela_service_receive(s, c->connection, c->request + c->sent, n, h->w.now);
        c->sent += n;
        if (c->kind == FLOODING && c->sent == c->len)
            ask(h, c); /* the next one, without waiting */
    }
    const rela_span out = rela_service_output(s, c->connection);
    if (!out.text || c->kind == DEAF)
        return;
    const size_t n = 1 + rela_rng_below(&h->w.rng, out.len);
    if (c->got + n >= REPLY_MAX)
        c->got = 0; /* of a client that floods: nobody checks it */
    if (n < REPLY_MAX)
        memcpy(c->reply + c->got, out.text, n);
    c->got += n < REPLY_MAX ? n : 0;
    rela_service_written(s, c->connection, n, h->w.now);
    if (c->kind != FLOODING)
        judge(h, c);
}

static void tight(rela_service_options *o)
{
    o->queue.waiting_tokens = 300;
    o->queue.running_tokens = 100;
    o->queue.requests = 40;
    o->per_connection = 20;
}

static void live_through(uint64_t seed, uint64_t *answered, uint64_t *refused)
{
    history *h = test_calloc(1, sizeof *h);
    make_world(&h->w, seed, tight);
    h->seed = seed;
    h->w.faulty = rela_rng_below(&h->w.rng, 2) == 0;
    h->w.speed = 10 * (double)(1 + rela_rng_below(&h->w.rng, 40));
    for (size_t i = 0; i < CLIENTS; i++)
        h->clients[i].connection = -1;
    for (int step = 0; step < 2000; step++) {
        act(h, &h->clients[rela_rng_below(&h->w.rng, CLIENTS)]);
        h->w.now += 0.002 * (double)rela_rng_below(&h->w.rng, 30);
        finish_jobs(&h->w);
        if (rela_rng_below(&h->w.rng, 3) == 0)
            rela_service_tick(h->w.service, h->w.now);
        while (rela_service_changed(h->w.service) >= 0)
            ;
    }
    /* It drains: what was accepted ends within its own deadline. */
    rela_service_drain(h->w.service);
    const double stop = h->w.now + 3.2;
    while (h->w.now < stop) {
        h->w.now += 0.05;
        finish_jobs(&h->w);
        rela_service_tick(h->w.service, h->w.now);
    }
    finish_jobs(&h->w);
    CHECK(rela_service_idle(h->w.service), "seed %llu: requests are left",
          (unsigned long long)seed);
    const rela_queue_load l = rela_service_load(h->w.service);
    CHECK(l.requests == 0 && l.waiting_tokens == 0 && l.running_tokens == 0,
          "seed %llu: the queue is not empty", (unsigned long long)seed);
    *answered += h->answered;
    *refused += h->refused;
    end_world(&h->w);
    test_free(h);
}

static void histories_end_well(void **state)
{
    (void)state;
    const char *one = getenv("RELA_SEED");
    const uint64_t first = one ? strtoull(one, NULL, 10) : 1, n = one ? 1 : EMULATED ? 20 : 500;
    uint64_t answered = 0, refused = 0;
    for (uint64_t seed = first; seed < first + n; seed++)
        live_through(seed, &answered, &refused);
    CHECK(one || (answered > n && refused > n / 10), "%d answered, %d refused", (int)answered,
          (int)refused);
    print_message("%llu histories: %llu requests answered, %llu refused\n", (unsigned long long)n,
                  (unsigned long long)answered, (unsigned long long)refused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_request_has_its_answer),
        cmocka_unit_test(languages_of_several_models_are_named_once),
        cmocka_unit_test(keys_and_origins_are_checked),
        cmocka_unit_test(requests_are_cancelled_by_id_key_and_disconnect),
        cmocka_unit_test(slow_heads_and_idle_connections_are_closed),
        cmocka_unit_test(histories_end_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

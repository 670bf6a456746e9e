/* SPDX-License-Identifier: MIT */
/* src/serve/routes.c - which request goes where: paths, hosts, origins, keys and rates. */
#include "serve/service_state.h"

#include "base/json.h"
#include "rela/view.h"
#include "serve/embedded.h"

#include <string.h>

typedef void handler(rela_service *s, rela_exchange *x, const rela_fields *f);

typedef struct route {
    const char *path;
    bool prefix; /* and what is below it */
    bool get, post, delete;
    bool open; /* without a key */
    handler *handle;
} route;

static handler translate, languages, detect, settings, health, ready, metrics, spec, file, page,
    deepl_translate, deepl_languages, deepl_usage, own_translate, own_models, own_request;

static const route ROUTES[] = {
    { "/translate", false, false, true, false, false, translate },
    { "/languages", false, true, true, false, true, languages },
    { "/detect", false, false, true, false, false, detect },
    { "/frontend/settings", false, true, false, false, true, settings },
    { "/health", false, true, false, false, true, health },
    { "/v1/health", false, true, false, false, true, health },
    { "/ready", false, true, false, false, true, ready },
    { "/metrics", false, true, false, false, true, metrics },
    { "/spec", false, true, false, false, true, spec },
    { "/translate_file", false, false, true, false, true, file },
    { "/", false, true, false, false, true, page },
    { "/v2/translate", false, false, true, false, false, deepl_translate },
    { "/v2/languages", false, true, true, false, false, deepl_languages },
    { "/v2/usage", false, true, true, false, false, deepl_usage },
    { "/v1/translate", false, false, true, false, false, own_translate },
    { "/v1/models", false, true, false, false, true, own_models },
    { "/v1/requests/", true, false, false, true, false, own_request },
};
enum { N_ROUTES = sizeof ROUTES / sizeof *ROUTES };

static const route *find_route(rela_span path)
{
    for (size_t i = 0; i < N_ROUTES; i++) {
        const size_t len = strlen(ROUTES[i].path);
        if (path.len >= len && memcmp(path.text, ROUTES[i].path, len) == 0 &&
            (ROUTES[i].prefix || path.len == len))
            return &ROUTES[i];
    }
    return NULL;
}

size_t rela_routes_number(rela_span path)
{
    const route *r = path.len ? find_route(path) : NULL;
    return r ? (size_t)(r - ROUTES) : N_ROUTES;
}

const char *rela_routes_methods(rela_span path)
{
    static const char *const READ_AND_WRITE[] = { "", "GET, HEAD", "POST", "GET, HEAD, POST" };
    const route *r = find_route(path);
    return !r ? "" : r->delete ? "DELETE" : READ_AND_WRITE[r->get + 2 * r->post];
}

/* ---- hosts and origins ---- */

/* The name of "name:port" or "[::1]:port", without the port. */
static rela_span host_name(rela_span host)
{
    const char *end = host.text + host.len;
    const char *at = host.len && *host.text == '[' ? memchr(host.text, ']', host.len) : NULL;
    const char *colon = memchr(at ? at : host.text, ':', (size_t)(end - (at ? at : host.text)));
    return (rela_span){ host.text, (size_t)((colon ? colon : end) - host.text) };
}

/* A web page elsewhere may have its name lead to this machine: only known names are served. */
static bool is_host_known(const rela_service *s, rela_span host)
{
    static const char *const OWN[] = { "localhost", "127.0.0.1", "[::1]" };
    const rela_span name = host_name(host);
    for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++)
        if (rela_http_same(name, OWN[i]))
            return true;
    for (size_t i = 0; i < s->options.n_hosts; i++)
        if (rela_http_same(name, s->options.hosts[i]) ||
            rela_span_is((rela_span){ s->options.hosts[i], 1 }, "*"))
            return true;
    return false;
}

/* Browsers send Origin with every request of a page of another site that can do harm. */
static bool is_origin_allowed(const rela_service *s, rela_exchange *x, rela_span origin)
{
    static const char *const SCHEMES[] = { "http://", "https://" };
    for (size_t i = 0; i < 2; i++) {
        const size_t len = strlen(SCHEMES[i]);
        if (origin.len == len + x->head.host.len && memcmp(origin.text, SCHEMES[i], len) == 0 &&
            memcmp(origin.text + len, x->head.host.text, x->head.host.len) == 0)
            return true;
    }
    for (size_t i = 0; i < s->options.n_origins; i++)
        if (strcmp(s->options.origins[i], "*") == 0 ||
            rela_span_is(origin, s->options.origins[i])) {
            x->origin = origin;
            return true;
        }
    return false;
}

/* ---- keys ---- */

/* In a time that does not depend on where they differ. */
static bool same_secret(rela_span a, const char *b)
{
    const size_t len = strlen(b);
    unsigned char differ = a.len != len;
    for (size_t i = 0; i < a.len; i++)
        differ |= (unsigned char)(a.text[i] ^ (len ? b[i % len] : 1));
    return differ == 0;
}

static rela_span key_of(const rela_exchange *x, const rela_fields *f)
{
    static const char *const SCHEMES[] = { "Bearer ", "DeepL-Auth-Key " };
    const rela_span given = rela_http_field_get(&x->head, "authorization");
    for (size_t i = 0; i < 2 && given.text; i++) {
        const size_t len = strlen(SCHEMES[i]);
        if (given.len > len && rela_http_same((rela_span){ given.text, len }, SCHEMES[i]))
            return (rela_span){ given.text + len, given.len - len };
    }
    const rela_span field = rela_fields_get(f, "api_key");
    return field.text ? field : rela_fields_get(f, "auth_key");
}

/* Sets whom the request is counted for; false: a key is needed and is not there. */
static bool identify(rela_service *s, rela_exchange *x, const rela_fields *f)
{
    const rela_span key = key_of(x, f);
    x->client = x->address;
    x->per_minute = s->options.behind_proxy ? 0 : s->options.per_minute;
    for (size_t i = 0; i < s->options.n_keys && key.text; i++)
        if (same_secret(key, s->options.keys[i].text)) {
            x->client = rela_service_hash(key.text, key.len) | 1;
            x->per_minute = s->options.keys[i].per_minute > 0 ? s->options.keys[i].per_minute
                                                              : s->options.per_minute;
            return true;
        }
    return s->options.n_keys == 0;
}

/* ---- dispatch ---- */

static void preflight(rela_service *s, rela_exchange *x)
{
    const rela_reply r = { .status = 204,
                           .more = "Access-Control-Allow-Methods: GET, POST, DELETE\r\n"
                                   "Access-Control-Allow-Headers: Authorization, Content-Type, "
                                   "X-Timeout-Ms, X-Request-Id\r\n"
                                   "Access-Control-Max-Age: 600\r\n" };
    rela_exchange_reply(s, x, &r);
}

int rela_routes_check(rela_service *s, rela_exchange *x)
{
    const rela_http_head *h = &x->head;
    const route *r = find_route(h->path);
    const rela_span origin = rela_http_field_get(h, "origin");
    const bool asked = h->method == RELA_HTTP_OPTIONS;
    const bool read = h->method == RELA_HTTP_GET || h->method == RELA_HTTP_HEAD;
    int status = 0;
    const char *why = "";
    if (!(h->old && h->host.len == 0) && !is_host_known(s, h->host))
        status = 403, why = "this server is not known by that Host; see --host-name";
    else if (origin.text && !is_origin_allowed(s, x, origin))
        status = 403, why = "pages of that Origin may not use this server; see --cors";
    else if (!asked && !r)
        status = 404, why = "there is nothing at this path";
    else if (!asked &&
             !(read                          ? r->get
               : h->method == RELA_HTTP_POST ? r->post
                                             : h->method == RELA_HTTP_DELETE && r->delete))
        status = 405, why = "this path does not take that method";
    if (status == 0)
        return 0;
    s->metrics.rejected[status == 403 ? RELA_REJECTED_HOST : RELA_REJECTED_MALFORMED]++;
    /* Its body is not read. */
    x->head.keep_alive = x->head.keep_alive && !h->chunked && h->length == 0;
    rela_exchange_fail(s, x, status, 0, why);
    return status;
}

/* Query first, then the body: JSON if it begins like an object, else a form. */
static rela_status read_fields(rela_fields *f, rela_exchange *x, rela_buffer *query,
                               rela_error *err)
{
    rela_status st = RELA_OK;
    if (x->head.query.len)
        st = rela_buffer_append(query, x->head.query.text, x->head.query.len, err);
    if (st == RELA_OK && query->len)
        st = rela_fields_add_form(f, query->data, query->len, err);
    const rela_span body = rela_trim((rela_span){ x->body.data, x->body.len });
    if (st != RELA_OK || body.len == 0)
        return st;
    return *body.text == '{' || *body.text == '['
               ? rela_fields_add_json(f, x->body.data, x->body.len, err)
               : rela_fields_add_form(f, x->body.data, x->body.len, err);
}

void rela_routes_dispatch(rela_service *s, rela_exchange *x)
{
    rela_fields f = { .n = 0 };
    rela_buffer query = RELA_BUFFER_INIT;
    rela_error err = { RELA_OK, "" };
    const route *r = find_route(x->head.path);
    if (x->head.method == RELA_HTTP_OPTIONS) {
        preflight(s, x);
        return;
    }
    rela_status st = read_fields(&f, x, &query, &err);
    if (st == RELA_FORMAT && x->head.method != RELA_HTTP_POST)
        st = RELA_OK; /* some clients send what is no field with GET */
    const bool known = identify(s, x, &f);
    const double wait = st == RELA_OK && known && !r->open && x->per_minute > 0
                            ? rela_client_rates_take(s->rates, x->client, x->per_minute, s->now)
                            : 0;
    if (st != RELA_OK) {
        rela_exchange_fail(s, x, st == RELA_NOMEM ? 503 : 400, 0, err.message);
    } else if (!known && !r->open) {
        s->metrics.rejected[RELA_REJECTED_KEY]++;
        rela_exchange_fail(s, x, 403, 0, "a valid api_key is needed");
    } else if (wait > 0) {
        s->metrics.rejected[RELA_REJECTED_RATE]++;
        rela_exchange_fail(s, x, 429, wait, "too many requests per minute");
    } else {
        r->handle(s, x, &f);
    }
    rela_fields_free(&f);
    rela_buffer_free(&query);
}

/* ---- translations ---- */

static void start_call(rela_service *s, rela_exchange *x, const rela_fields *f, rela_interface form)
{
    rela_call *c = NULL;
    rela_error err = { RELA_OK, "" };
    int status = 400;
    const rela_status st = rela_call_create(&c, s, x, f, form, &status, &err);
    if (st != RELA_OK)
        rela_exchange_fail(s, x, st == RELA_NOMEM ? 503 : status, 0, err.message);
    else
        rela_call_submit(s, x, c, f);
}

static void translate(rela_service *s, rela_exchange *x, const rela_fields *f)
{
    start_call(s, x, f, RELA_INTERFACE_LIBRE);
}

static void deepl_translate(rela_service *s, rela_exchange *x, const rela_fields *f)
{
    start_call(s, x, f, RELA_INTERFACE_DEEPL);
}

static void own_translate(rela_service *s, rela_exchange *x, const rela_fields *f)
{
    start_call(s, x, f, RELA_INTERFACE_OWN);
}

/* DELETE /v1/requests/ID: of the same client only. */
static void own_request(rela_service *s, rela_exchange *x, const rela_fields *f)
{
    const size_t skip = strlen("/v1/requests/");
    const rela_span id = { x->head.path.text + skip, x->head.path.len - skip };
    (void)f;
    for (rela_call *c = s->calls; c; c = c->next)
        if (!c->answered && c->client == x->client && rela_span_is(id, c->request_id)) {
            rela_call_end(s, c, 409, "the request was cancelled");
            const rela_reply r = { .status = 204 };
            rela_exchange_reply(s, x, &r);
            return;
        }
    rela_exchange_fail(s, x, 404, 0, "no such request waits or runs");
}

/* ---- what is known at once ---- */

/* Replies with text, or with 503 if there was no memory for it. */
static void finish(rela_service *s, rela_exchange *x, rela_buffer *b, rela_status st)
{
    if (st == RELA_OK)
        rela_exchange_reply_json(s, x, 200, b);
    else
        rela_exchange_fail(s, x, 503, 1, "no memory for the answer");
    rela_buffer_free(b);
}

static void reply_text(rela_service *s, rela_exchange *x, const char *json)
{
    rela_buffer b = RELA_BUFFER_INIT;
    const rela_status st = rela_buffer_append_text(&b, json, NULL);
    finish(s, x, &b, st);
}

static void health(rela_service *s, rela_exchange *x, const rela_fields *f)
{
    (void)f;
    reply_text(s, x, "{\"status\":\"ok\"}");
}

static void ready(rela_service *s, rela_exchange *x, const rela_fields *f)
{
    (void)f;
    const rela_queue_load load = rela_queue_look(s->queue);
    const char *what = s->n_models == 0                                                 ? "loading"
                       : load.draining                                                  ? "draining"
                       : load.waiting_tokens > s->options.queue.waiting_tokens / 10 * 9 ? "full"
                                                                                        : NULL;
    rela_buffer b = RELA_BUFFER_INIT;
    const rela_status st =
        rela_buffer_printf(&b, NULL, "{\"status\":\"%s\"}", what ? what : "ready");
    if (st == RELA_OK && what)
        rela_exchange_reply_json(s, x, 503, &b);
    else if (st == RELA_OK)
        rela_exchange_reply_json(s, x, 200, &b);
    else
        rela_exchange_fail(s, x, 503, 1, "no memory for the answer");
    rela_buffer_free(&b);
}

static void metrics(rela_service *s, rela_exchange *x, const rela_fields *f)
{
    const char *names[N_ROUTES + 1] = { [N_ROUTES] = "other" };
    const rela_queue_load load = rela_queue_look(s->queue);
    if (!s->options.metrics) {
        rela_exchange_fail(s, x, 404, 0, "there is nothing at this path");
        return;
    }
    if (s->options.metrics_token && !same_secret(key_of(x, f), s->options.metrics_token)) {
        rela_exchange_fail(s, x, 403, 0, "a valid token is needed");
        return;
    }
    for (size_t i = 0; i < N_ROUTES; i++)
        names[i] = ROUTES[i].path;
    rela_buffer b = RELA_BUFFER_INIT;
    const rela_status st =
        rela_metrics_write(&b, &s->metrics, names, N_ROUTES + 1, &load, s->n_open, NULL);
    const rela_reply r = { .status = 200,
                           .type = "text/plain; version=0.0.4; charset=utf-8",
                           .body = b.data,
                           .len = b.len };
    if (st == RELA_OK)
        rela_exchange_reply(s, x, &r);
    else
        rela_exchange_fail(s, x, 503, 1, "no memory for the answer");
    rela_buffer_free(&b);
}

static void file(rela_service *s, rela_exchange *x, const rela_fields *f)
{
    (void)f;
    rela_exchange_fail(s, x, 403, 0, "Files translation are disabled on this server.");
}

static void settings(rela_service *s, rela_exchange *x, const rela_fields *f)
{
    (void)f;
    rela_buffer b = RELA_BUFFER_INIT;
    const char *source = s->n_models ? s->models[0]->source : "auto";
    const char *target = s->n_models ? s->models[0]->target : "en";
    const rela_status st = rela_buffer_printf(
        &b, NULL,
        "{\"apiKeys\":%s,\"charLimit\":%zu,\"filesTranslation\":false,\"frontendTimeout\":500,"
        "\"keyRequired\":%s,\"language\":{\"source\":{\"code\":\"%s\",\"name\":\"%s\"},\"target\":{"
        "\"code\":\"%s\",\"name\":\"%s\"}},\"suggestions\":false,\"supportedFilesFormat\":[]}",
        s->options.n_keys ? "true" : "false", s->options.body_bytes,
        s->options.n_keys ? "true" : "false", source, source, target, target);
    finish(s, x, &b, st);
}

/* ---- languages ---- */

static bool is_first(const rela_service *s, size_t i, bool target)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(target ? s->models[k]->target : s->models[k]->source,
                   target ? s->models[i]->target : s->models[i]->source) == 0)
            return false;
    return true;
}

/* Whether no model before number i has the same languages. */
static bool is_first_pair(const rela_service *s, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(s->models[k]->source, s->models[i]->source) == 0 &&
            strcmp(s->models[k]->target, s->models[i]->target) == 0)
            return false;
    return true;
}

static rela_status quote(rela_buffer *b, const char *text)
{
    return rela_json_quote(b, text, strlen(text), NULL);
}

static void languages(rela_service *s, rela_exchange *x, const rela_fields *f)
{
    (void)f;
    rela_buffer b = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_append_text(&b, "[", NULL);
    bool first = true;
    for (size_t i = 0; i < s->n_models && st == RELA_OK; i++) {
        if (!is_first(s, i, false))
            continue;
        const char *code = s->models[i]->source;
        st = rela_buffer_append_text(&b, first ? "{\"code\":" : ",{\"code\":", NULL);
        st = st ? st : quote(&b, code);
        st = st ? st : rela_buffer_append_text(&b, ",\"name\":", NULL);
        st = st ? st : quote(&b, rela_page_language(code));
        st = st ? st : rela_buffer_append_text(&b, ",\"targets\":[", NULL);
        first = false;
        bool none = true;
        for (size_t k = 0; k < s->n_models && st == RELA_OK; k++)
            if (strcmp(s->models[k]->source, code) == 0 && is_first_pair(s, k)) {
                st = rela_buffer_append_text(&b, none ? "" : ",", NULL);
                st = st ? st : quote(&b, s->models[k]->target);
                none = false;
            }
        st = st ? st : rela_buffer_append_text(&b, "]}", NULL);
    }
    st = st ? st : rela_buffer_append_text(&b, "]", NULL);
    finish(s, x, &b, st);
}

/* Until languages are detected, a text is in the only language that there is a model for. */
static void detect(rela_service *s, rela_exchange *x, const rela_fields *f)
{
    size_t sources = 0;
    rela_buffer b = RELA_BUFFER_INIT;
    for (size_t i = 0; i < s->n_models; i++)
        sources += is_first(s, i, false);
    if (rela_fields_count(f, "q") == 0) {
        rela_exchange_fail(s, x, 400, 0, "Invalid request: missing q parameter");
    } else if (sources != 1) {
        rela_exchange_fail(s, x, 400, 0, "languages are not detected: name the source");
    } else {
        rela_status st = rela_buffer_append_text(&b, "[{\"confidence\":0,\"language\":", NULL);
        st = st ? st : quote(&b, s->models[0]->source);
        st = st ? st : rela_buffer_append_text(&b, "}]", NULL);
        finish(s, x, &b, st);
    }
}

/* Codes in capitals, as DeepL writes them. */
static rela_status quote_capitals(rela_buffer *b, const char *code)
{
    char text[32];
    rela_format_text(text, sizeof text, "%s", code);
    for (char *c = text; *c; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c + 'A' - 'a') : *c;
    return quote(b, text);
}

static void deepl_languages(rela_service *s, rela_exchange *x, const rela_fields *f)
{
    const bool target = rela_span_is(rela_fields_get(f, "type"), "target");
    rela_buffer b = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_append_text(&b, "[", NULL);
    bool first = true;
    for (size_t i = 0; i < s->n_models && st == RELA_OK; i++) {
        if (!is_first(s, i, target))
            continue;
        const char *code = target ? s->models[i]->target : s->models[i]->source;
        st = rela_buffer_append_text(&b, first ? "{\"language\":" : ",{\"language\":", NULL);
        st = st ? st : quote_capitals(&b, code);
        st = st ? st : rela_buffer_append_text(&b, ",\"name\":", NULL);
        st = st ? st : quote(&b, rela_page_language(code));
        st =
            st ? st
               : rela_buffer_append_text(&b, target ? ",\"supports_formality\":false}" : "}", NULL);
        first = false;
    }
    st = st ? st : rela_buffer_append_text(&b, "]", NULL);
    finish(s, x, &b, st);
}

/* There is no quota. */
static void deepl_usage(rela_service *s, rela_exchange *x, const rela_fields *f)
{
    (void)f;
    reply_text(s, x, "{\"character_count\":0,\"character_limit\":1000000000000}");
}

static void own_models(rela_service *s, rela_exchange *x, const rela_fields *f)
{
    (void)f;
    rela_buffer b = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_append_text(&b, "{\"models\":[", NULL);
    for (size_t i = 0; i < s->n_models && st == RELA_OK; i++) {
        const rela_service_model *m = s->models[i];
        st = rela_buffer_append_text(&b, i ? ",{\"name\":" : "{\"name\":", NULL);
        st = st ? st : quote(&b, m->name);
        st = st ? st : rela_buffer_append_text(&b, ",\"source\":", NULL);
        st = st ? st : quote(&b, m->source);
        st = st ? st : rela_buffer_append_text(&b, ",\"target\":", NULL);
        st = st ? st : quote(&b, m->target);
        st = st ? st
                : rela_buffer_printf(&b, NULL,
                                     ",\"enc_layers\":%d,\"dec_layers\":%d,\"heads\":%d,"
                                     "\"width\":%d,\"max_length\":%d,\"sources\":%d,"
                                     "\"attention\":",
                                     (int)m->shape.enc_layers, (int)m->shape.dec_layers,
                                     (int)m->shape.heads, (int)m->shape.width,
                                     (int)m->shape.max_length, (int)m->shape.sources);
        st = st ? st : quote(&b, m->shape.attention[RELA_ATTENTION_CROSS]);
        st = st ? st : rela_buffer_append_text(&b, "}", NULL);
    }
    st = st ? st : rela_buffer_append_text(&b, "]}", NULL);
    finish(s, x, &b, st);
}

/* ---- embedded files ---- */

static void reply_file(rela_service *s, rela_exchange *x, const char *type, const char *text)
{
    const rela_reply r = { .status = 200,
                           .type = type,
                           .body = text,
                           .len = strlen(text),
                           .more = "Content-Security-Policy: default-src 'self'\r\n" };
    rela_exchange_reply(s, x, &r);
}

/* The attention viewer, whose policy is part of the page. */
static void page(rela_service *s, rela_exchange *x, const rela_fields *f)
{
    rela_buffer html = RELA_BUFFER_INIT;
    (void)f;
    const rela_status st = rela_view_page(&html, "rela", NULL, 0, NULL);
    const rela_reply r = { .status = 200,
                           .type = "text/html; charset=utf-8",
                           .body = html.data,
                           .len = html.len,
                           .more = "Content-Security-Policy: frame-ancestors 'none'\r\n" };
    if (st == RELA_OK)
        rela_exchange_reply(s, x, &r);
    else
        rela_exchange_fail(s, x, 503, 1, "no memory for the page");
    rela_buffer_free(&html);
}

static void spec(rela_service *s, rela_exchange *x, const rela_fields *f)
{
    (void)f;
    reply_file(s, x, "application/json; charset=utf-8", RELA_PAGE_SPEC);
}

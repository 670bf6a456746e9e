/* SPDX-License-Identifier: MIT */
/* src/serve/exchange.c - connections: requests are read one after the other, answers written, and
 * deadlines kept. */
#include "serve/service_state.h"

#include "base/json.h"
#include "base/mem.h"

#include <string.h>

enum { PIPELINED_MAX = 64 << 10, OUTPUT_MAX = 64 << 20, STREAM_MAX = 1 << 20 };

static void read_requests(rela_service *s, rela_exchange *x);
static void name_request(rela_service *s, rela_exchange *x);
static bool read_head(rela_service *s, rela_exchange *x);
static bool read_body(rela_service *s, rela_exchange *x);
static void refuse(rela_service *s, rela_exchange *x, int status);
static void consume(rela_exchange *x, size_t n);
static rela_status write_head(rela_service *s, rela_exchange *x, const rela_reply *r, bool chunked,
                              rela_error *err);
static void sent(rela_service *s, rela_exchange *x, int status, size_t bytes);
static void close_now(rela_service *s, rela_exchange *x);

static rela_exchange *at(const rela_service *s, int32_t connection)
{
    return &s->exchanges[connection];
}

/* The buffer has moved, and what the head points to. */
static void reread(rela_exchange *x)
{
    const bool keep = x->head.keep_alive;
    (void)rela_http_head_read(&x->head, x->in.data, x->head.size);
    x->head.keep_alive = keep;
    if (x->origin.len)
        x->origin = rela_http_field_get(&x->head, "origin");
}

int32_t rela_service_connect(rela_service *s, uint64_t address, const char *name, double now)
{
    size_t free_slot = SIZE_MAX, same = 0;
    s->now = now;
    for (size_t i = 0; i < s->options.queue.connections; i++) {
        const rela_exchange *x = &s->exchanges[i];
        if (x->phase == RELA_EXCHANGE_CLOSED)
            free_slot = free_slot == SIZE_MAX ? i : free_slot;
        else
            same += x->address == address;
    }
    if (free_slot == SIZE_MAX ||
        (s->options.per_address && !s->options.behind_proxy && same >= s->options.per_address))
        return -1;
    rela_exchange *x = &s->exchanges[free_slot];
    *x = (rela_exchange){ .phase = RELA_EXCHANGE_IDLE,
                          .address = address,
                          .deadline = now + s->options.head_seconds };
    (void)rela_format_text(x->name, sizeof x->name, "%s", name);
    s->n_open++;
    return (int32_t)free_slot;
}

void rela_service_receive(rela_service *s, int32_t connection, const char *bytes, size_t len,
                          double now)
{
    rela_exchange *x = at(s, connection);
    s->now = now;
    if (x->phase == RELA_EXCHANGE_LAST || len == 0)
        return; /* what comes after the last request is not for us */
    const char *before = x->in.data;
    if (rela_buffer_append(&x->in, bytes, len, NULL) != RELA_OK) {
        close_now(s, x);
        return;
    }
    if (x->in.data != before && (x->phase == RELA_EXCHANGE_BODY || x->phase == RELA_EXCHANGE_CALL))
        reread(x);
    read_requests(s, x);
    rela_calls_run(s);
}

void rela_service_disconnect(rela_service *s, int32_t connection, double now)
{
    rela_exchange *x = at(s, connection);
    s->now = now;
    if (x->phase == RELA_EXCHANGE_CLOSED)
        return;
    rela_call *c = x->call;
    x->call = NULL;
    if (c) {
        sent(s, x, 499, 0);
        c->connection = -1;
        rela_call_end(s, c, 499, "the client is gone");
    }
    rela_buffer_free(&x->in);
    rela_buffer_free(&x->out);
    rela_buffer_free(&x->body);
    x->phase = RELA_EXCHANGE_CLOSED;
    s->n_open--;
    rela_calls_run(s);
}

bool rela_service_wants(const rela_service *s, int32_t connection)
{
    const rela_exchange *x = at(s, connection);
    return x->in.len < PIPELINED_MAX;
}

rela_span rela_service_output(const rela_service *s, int32_t connection)
{
    const rela_exchange *x = at(s, connection);
    if (x->sent == x->out.len)
        return (rela_span){ NULL, 0 };
    return (rela_span){ x->out.data + x->sent, x->out.len - x->sent };
}

void rela_service_written(rela_service *s, int32_t connection, size_t len, double now)
{
    rela_exchange *x = at(s, connection);
    s->now = now;
    x->sent += len;
    x->write_deadline = now + s->options.write_seconds;
    if (x->sent < x->out.len)
        return;
    rela_buffer_clear(&x->out);
    x->sent = 0;
    x->write_deadline = 0;
    if (x->phase == RELA_EXCHANGE_IDLE)
        read_requests(s, x);
}

bool rela_service_closes(const rela_service *s, int32_t connection)
{
    const rela_exchange *x = at(s, connection);
    return x->phase == RELA_EXCHANGE_LAST && x->sent == x->out.len;
}

int32_t rela_service_changed(rela_service *s)
{
    const size_t n = s->options.queue.connections;
    for (; s->next_changed < n; s->next_changed++) {
        rela_exchange *x = &s->exchanges[s->next_changed];
        if (x->changed) {
            x->changed = false;
            return (int32_t)s->next_changed;
        }
    }
    s->next_changed = 0;
    return -1;
}

/* Deadlines of connections. */
void rela_exchange_tick(rela_service *s, rela_exchange *x)
{
    const bool writing = x->sent < x->out.len;
    if (writing && x->write_deadline > 0 && s->now > x->write_deadline) {
        close_now(s, x);
    } else if (!writing && x->phase != RELA_EXCHANGE_CALL && x->phase != RELA_EXCHANGE_LAST &&
               s->now > x->deadline) {
        if (x->phase == RELA_EXCHANGE_HEAD) {
            x->head = (rela_http_head){ .n_fields = 0 };
            name_request(s, x);
        }
        if (x->phase == RELA_EXCHANGE_IDLE)
            close_now(s, x);
        else
            refuse(s, x, 408);
    }
}

/* ---- reading ---- */

static void read_requests(rela_service *s, rela_exchange *x)
{
    bool more = true;
    while (more) {
        if (x->phase == RELA_EXCHANGE_IDLE && x->in.len > 0 && x->sent == x->out.len) {
            x->phase = RELA_EXCHANGE_HEAD;
            x->began = s->now;
            x->deadline = s->now + s->options.head_seconds;
        }
        more = x->phase == RELA_EXCHANGE_HEAD   ? read_head(s, x)
               : x->phase == RELA_EXCHANGE_BODY ? read_body(s, x)
                                                : false;
    }
}

static bool is_id(rela_span v)
{
    for (size_t i = 0; i < v.len; i++)
        if (!rela_http_is_token(v.text[i]))
            return false;
    return v.len > 0 && v.len < RELA_REQUEST_ID_SIZE;
}

static void name_request(rela_service *s, rela_exchange *x)
{
    const rela_span given = rela_http_field_get(&x->head, "x-request-id");
    char text[32];
    rela_format_text(text, sizeof text, "%llu", (unsigned long long)++s->n_requests);
    if (is_id(given))
        rela_format_text(x->id, sizeof x->id, "%.*s", (int)given.len, given.text);
    else
        rela_format_text(x->id, sizeof x->id, "%08llx-%s",
                         (unsigned long long)(s->options.seed & 0xFFFFFFFF), text);
}

/* True: something was read, and there may be more. */
static bool read_head(rela_service *s, rela_exchange *x)
{
    const int status = rela_http_head_read(&x->head, x->in.data, x->in.len);
    if (status == RELA_HTTP_MORE)
        return false;
    x->id[0] = '\0';
    x->client = x->address;
    x->origin = (rela_span){ NULL, 0 };
    if (status != RELA_HTTP_DONE) {
        x->head = (rela_http_head){ .n_fields = 0 };
        name_request(s, x);
        refuse(s, x, status);
        return false;
    }
    name_request(s, x);
    x->served++;
    rela_buffer_clear(&x->body);
    x->reader = rela_http_body_start(&x->head, s->options.body_bytes);
    const int refused = rela_routes_check(s, x);
    if (refused) {
        /* Its body would have to be read first: the connection ends instead. */
        return x->phase == RELA_EXCHANGE_IDLE && x->in.len > 0;
    }
    x->phase = RELA_EXCHANGE_BODY;
    x->deadline = s->now + s->options.body_seconds;
    /* The head stays at the beginning of the buffer; the body is taken from behind it. */
    return true;
}

static bool read_body(rela_service *s, rela_exchange *x)
{
    size_t used = 0;
    const size_t head = x->head.size;
    const int status =
        rela_http_body_read(&x->reader, &x->body, &used, x->in.data + head, x->in.len - head);
    if (used) {
        memmove(x->in.data + head, x->in.data + head + used, x->in.len - head - used);
        x->in.len -= used;
    }
    if (status == RELA_HTTP_MORE)
        return false;
    if (status != RELA_HTTP_DONE) {
        refuse(s, x, status);
        return false;
    }
    rela_routes_dispatch(s, x);
    return x->phase == RELA_EXCHANGE_IDLE;
}

/* Answers and closes: what follows on the connection cannot be trusted. */
static void refuse(rela_service *s, rela_exchange *x, int status)
{
    x->head.keep_alive = false;
    s->metrics
        .rejected[status == 413 || status == 431 || status == 414 ? RELA_REJECTED_SIZE
                                                                  : RELA_REJECTED_MALFORMED]++;
    rela_exchange_fail(s, x, status, 0, rela_status_reason(status));
}

static void consume(rela_exchange *x, size_t n)
{
    if (n < x->in.len)
        memmove(x->in.data, x->in.data + n, x->in.len - n);
    x->in.len -= n;
}

static void close_now(rela_service *s, rela_exchange *x)
{
    rela_call *c = x->call;
    x->call = NULL;
    if (c) {
        c->connection = -1;
        rela_call_end(s, c, 499, "the client does not read");
    }
    x->phase = RELA_EXCHANGE_LAST;
    x->sent = x->out.len;
    rela_exchange_touch(x);
}

void rela_exchange_touch(rela_exchange *x)
{
    x->changed = true;
}

/* ---- answering ---- */

const char *rela_status_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } REASONS[] = { { 200, "OK" },
                    { 204, "No Content" },
                    { 400, "Bad Request" },
                    { 403, "Forbidden" },
                    { 404, "Not Found" },
                    { 405, "Method Not Allowed" },
                    { 408, "Request Timeout" },
                    { 409, "Conflict" },
                    { 413, "Content Too Large" },
                    { 414, "URI Too Long" },
                    { 417, "Expectation Failed" },
                    { 429, "Too Many Requests" },
                    { 431, "Request Header Fields Too Large" },
                    { 500, "Internal Server Error" },
                    { 501, "Not Implemented" },
                    { 503, "Service Unavailable" },
                    { 505, "HTTP Version Not Supported" } };
    for (size_t i = 0; i < sizeof REASONS / sizeof *REASONS; i++)
        if (REASONS[i].status == status)
            return REASONS[i].reason;
    return "Error";
}

static rela_status write_head(rela_service *s, rela_exchange *x, const rela_reply *r, bool chunked,
                              rela_error *err)
{
    rela_buffer *out = &x->out;
    const size_t most = s->options.per_connection;
    if ((most && x->served >= most) || rela_service_load(s).draining)
        x->head.keep_alive = false;
    rela_status st = rela_buffer_printf(out, err, "HTTP/1.1 %d %s\r\n", r->status,
                                        rela_status_reason(r->status));
    if (st == RELA_OK && r->type)
        st = rela_buffer_printf(out, err, "Content-Type: %s\r\n", r->type);
    if (st == RELA_OK && !chunked && r->status != 204)
        st = rela_buffer_printf(out, err, "Content-Length: %zu\r\n", r->len);
    if (st == RELA_OK && chunked && !x->head.old)
        st = rela_buffer_append_text(out, "Transfer-Encoding: chunked\r\n", err);
    if (st == RELA_OK && r->retry > 0)
        st =
            rela_buffer_printf(out, err, "Retry-After: %lld\r\n", (long long)(r->retry + 0.999999));
    if (st == RELA_OK && r->status == 405)
        st = rela_buffer_printf(out, err, "Allow: %s\r\n", rela_routes_methods(x->head.path));
    if (st == RELA_OK && x->origin.len)
        st = rela_buffer_printf(out, err, "Access-Control-Allow-Origin: %.*s\r\nVary: Origin\r\n",
                                (int)x->origin.len, x->origin.text);
    if (st == RELA_OK && r->more)
        st = rela_buffer_append_text(out, r->more, err);
    return st ? st
              : rela_buffer_printf(out, err,
                                   "X-Request-Id: %s\r\nX-Content-Type-Options: nosniff\r\n"
                                   "Referrer-Policy: no-referrer\r\nCache-Control: no-store\r\n"
                                   "Connection: %s\r\n\r\n",
                                   x->id, x->head.keep_alive ? "keep-alive" : "close");
}

void rela_exchange_reply(rela_service *s, rela_exchange *x, const rela_reply *r)
{
    const bool body = x->head.method != RELA_HTTP_HEAD && r->len > 0;
    rela_status st = write_head(s, x, r, false, NULL);
    if (st == RELA_OK && body)
        st = rela_buffer_append(&x->out, r->body, r->len, NULL);
    if (st != RELA_OK || x->out.len > OUTPUT_MAX) {
        close_now(s, x); /* half an answer is worse than none */
        return;
    }
    sent(s, x, r->status, body ? r->len : 0);
}

/* The answer is in the output: the next request may come. */
static void sent(rela_service *s, rela_exchange *x, int status, size_t bytes)
{
    const size_t route = rela_routes_number(x->head.path);
    rela_metrics_count(&s->metrics, route, status);
    rela_metrics_seconds(&s->metrics.request_seconds, s->now - x->began);
    if (s->options.log) {
        rela_buffer line = RELA_BUFFER_INIT;
        static const char *const METHODS[] = { "GET",   "HEAD",   "POST",   "PUT",
                                               "PATCH", "DELETE", "OPTIONS" };
        const bool read = x->head.path.len > 0;
        rela_status st = rela_buffer_printf(&line, NULL, "%s %s ", x->name,
                                            read ? METHODS[x->head.method] : "-");
        /* As JSON, so that no path can forge a line; without the query, which may hold text. */
        st = st ? st
                : rela_json_quote(&line, read ? x->head.path.text : "-",
                                  read ? x->head.path.len : 1, NULL);
        st = st ? st
                : rela_buffer_printf(&line, NULL, " %d %zu %.3f %s", status, bytes,
                                     s->now - x->began, x->id);
        if (st == RELA_OK)
            s->options.log(s->options.log_ctx, line.data);
        rela_buffer_free(&line);
    }
    /* The head is gone after this. */
    const size_t used = x->head.size < x->in.len ? x->head.size : x->in.len;
    if (x->head.keep_alive)
        consume(x, used);
    x->call = NULL;
    x->phase = x->head.keep_alive ? RELA_EXCHANGE_IDLE : RELA_EXCHANGE_LAST;
    x->deadline = s->now + s->options.idle_seconds;
    x->write_deadline = s->now + s->options.write_seconds;
    x->origin = (rela_span){ NULL, 0 };
    if (x->phase == RELA_EXCHANGE_LAST)
        rela_buffer_free(&x->in);
    if (x->body.cap > PIPELINED_MAX)
        rela_buffer_free(&x->body);
    rela_exchange_touch(x);
}

void rela_exchange_reply_json(rela_service *s, rela_exchange *x, int status, const rela_buffer *b)
{
    const rela_reply r = {
        .status = status, .type = "application/json; charset=utf-8", .body = b->data, .len = b->len
    };
    rela_exchange_reply(s, x, &r);
}

void rela_exchange_fail(rela_service *s, rela_exchange *x, int status, double retry,
                        const char *message)
{
    rela_buffer b = RELA_BUFFER_INIT;
    const bool deepl = x->head.path.len > 3 && memcmp(x->head.path.text, "/v2/", 4) == 0;
    rela_status st = rela_buffer_printf(&b, NULL, "{\"%s\":", deepl ? "message" : "error");
    st = st ? st : rela_json_quote(&b, message, strlen(message), NULL);
    st = st ? st : rela_buffer_append_text(&b, "}", NULL);
    const rela_reply r = { .status = status,
                           .type = "application/json; charset=utf-8",
                           .body = b.data,
                           .len = st == RELA_OK ? b.len : 0,
                           .retry = retry };
    rela_exchange_reply(s, x, &r);
    rela_buffer_free(&b);
}

void rela_exchange_stream(rela_service *s, rela_exchange *x, const char *type)
{
    const rela_reply r = { .status = 200, .type = type };
    if (x->head.old)
        x->head.keep_alive = false;
    if (write_head(s, x, &r, true, NULL) != RELA_OK)
        close_now(s, x);
    x->write_deadline = s->now + s->options.write_seconds;
    rela_exchange_touch(x);
}

void rela_exchange_part(rela_service *s, rela_exchange *x, const char *text, size_t len)
{
    rela_status st = RELA_OK;
    if (!x->head.old)
        st = rela_buffer_printf(&x->out, NULL, "%zx\r\n", len);
    st = st ? st : rela_buffer_append(&x->out, text, len, NULL);
    if (st == RELA_OK && !x->head.old)
        st = rela_buffer_append_text(&x->out, "\r\n", NULL);
    if (st != RELA_OK || x->out.len - x->sent > STREAM_MAX)
        close_now(s, x); /* a reader that is so slow is none */
    if (x->write_deadline <= 0)
        x->write_deadline = s->now + s->options.write_seconds;
    rela_exchange_touch(x);
}

void rela_exchange_end(rela_service *s, rela_exchange *x)
{
    if (!x->head.old && rela_buffer_append_text(&x->out, "0\r\n\r\n", NULL) != RELA_OK)
        close_now(s, x);
    else
        sent(s, x, 200, x->out.len);
}

/* SPDX-License-Identifier: MIT */
/* tests/unit/test_http.c - requests that are served and requests that are refused: one row each. */
#include "check.h"

#include "base/mem.h"
#include "serve/http_body.h"

#include <string.h>

enum { BODY_MAX = 64 };

#define POST "POST /t HTTP/1.1\r\nHost: localhost\r\n"

typedef struct row {
    const char *bytes;
    size_t len;       /* 0: strlen */
    int status;       /* RELA_HTTP_DONE: served */
    const char *body; /* of a request that is served */
} row;

static const row ROWS[] = {
    /* Two readers may see two requests. */
    { POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0, 400, NULL },
    { POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 0, 400, NULL },
    { POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 0, 400, NULL },
    { POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 0, 400, NULL },
    { POST "Content-Length: 0, 5\r\n\r\nhello", 0, 400, NULL },
    { POST "Content-Length: +5\r\n\r\nhello", 0, 400, NULL },
    { POST "Content-Length: -5\r\n\r\nhello", 0, 400, NULL },
    { POST "Content-Length: 0x5\r\n\r\nhello", 0, 400, NULL },
    { POST "Content-Length: 5 5\r\n\r\nhello", 0, 400, NULL },
    { POST "Content-Length: 99999999999999999999999\r\n\r\nhello", 0, 400, NULL },
    { POST "Content-Length:\r\n\r\nhello", 0, 400, NULL },
    { POST "Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n\r\nhello", 0, 400, NULL },
    { POST "Transfer-Encoding: xchunked\r\n\r\n", 0, 501, NULL },
    { POST "Transfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n", 0, 400, NULL },
    { POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 0, 501, NULL },
    { POST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 0, 501, NULL },
    { POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 0, 400, NULL },
    { POST "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n", 0, 400, NULL },
    { "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0, 400, NULL },
    { POST "Content-Length : 5\r\n\r\nhello", 0, 400, NULL },
    { "GET / HTTP/1.1\nHost: localhost\n\n", 0, 400, NULL },
    { "GET / HTTP/1.1\r\nHost: localhost\n\r\n", 0, 400, NULL },
    { "GET / HTTP/1.1\r\nHost: local\0host\r\n\r\n", 36, 400, NULL },
    { "GET / HTTP/1.1\r\nHost: localhost\r\nA: 1\r\n 2\r\n\r\n", 0, 400, NULL },
    { "GET / HTTP/1.1\r\n Host: localhost\r\n\r\n", 0, 400, NULL },
    { "GET / HTTP/1.1\r\nHost: localhost\r\nA(: 1\r\n\r\n", 0, 400, NULL },
    { "GET / HTTP/1.1\r\nHost: localhost\r\nA\xFF: 1\r\n\r\n", 0, 400, NULL },
    { "GET / HTTP/1.1\r\nHost: localhost\r\nA: 1\rB: 2\r\n\r\n", 0, 400, NULL },
    { "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 0, 400, NULL },
    { "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 0, 400, NULL },
    { "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", 0, 400, NULL },
    { "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 0, 400, NULL },
    { "GET / HTTP/1.1\r\nHost:\r\n\r\n", 0, 400, NULL },
    { "GET / HTTP/1.1\r\n\r\n", 0, 400, NULL },
    { "GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 0, 400, NULL },
    { "GET / HTTP/1.1\r\nHost: a\r\n: no name\r\n\r\n", 0, 400, NULL },
    { "GET / HTTP/1.1\r\nHost: a\r\nA: \x01\r\n\r\n", 0, 400, NULL },
    { "GET / HTTP/1.1\r\nHost: a\r\nA: \x7F\r\n\r\n", 0, 400, NULL },
    { "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 0, 400, NULL },
    { "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 0, 400, NULL },
    { "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 0, 400, NULL },
    { "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", 0, 400, NULL },
    { " GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, 400, NULL },
    { "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 0, 400, NULL },
    { "GET /#here HTTP/1.1\r\nHost: a\r\n\r\n", 0, 400, NULL },
    { "GET /\xC3\xA9 HTTP/1.1\r\nHost: a\r\n\r\n", 0, 400, NULL },
    { "GET a HTTP/1.1\r\nHost: a\r\n\r\n", 0, 400, NULL },
    { "GET * HTTP/1.1\r\nHost: a\r\n\r\n", 0, 400, NULL },
    { "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", 0, 400, NULL },
    { "GET http:///a HTTP/1.1\r\nHost: a\r\n\r\n", 0, 400, NULL },
    { "GET / HTTP/1.9\r\nHost: a\r\n\r\n", 0, 505, NULL },
    { "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 0, 505, NULL },
    { "GET / HTTP/0.9\r\nHost: a\r\n\r\n", 0, 505, NULL },
    { "GET / http/1.1\r\nHost: a\r\n\r\n", 0, 400, NULL },
    { "GET / HTTP/1.10\r\nHost: a\r\n\r\n", 0, 400, NULL },
    { "GET / HTTPS/1.1\r\nHost: a\r\n\r\n", 0, 400, NULL },
    { "GET /\r\n\r\n", 0, 400, NULL },
    { "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0, 505, NULL },
    { "\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03", 11, 400, NULL },
    { "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 0, 501, NULL },
    { "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 0, 501, NULL },
    { "get / HTTP/1.1\r\nHost: a\r\n\r\n", 0, 501, NULL },
    { "G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 0, 400, NULL },
    { POST "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n", 0, 417, NULL },
    { POST "Upgrade: h2c\r\n\r\n", 0, 501, NULL },
    { POST "Content-Length: 65\r\n\r\n", 0, 413, NULL },
    { POST "Content-Length: 999999999999999999\r\n\r\n", 0, 413, NULL },
    /* Chunks. */
    { POST "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n", 0, 400, NULL },
    { POST "Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n", 0, 400, NULL },
    { POST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\n0\r\n\r\n", 0, 400, NULL },
    { POST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello!\r\n0\r\n\r\n", 0, 400, NULL },
    { POST "Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n", 0, 400, NULL },
    { POST "Transfer-Encoding: chunked\r\n\r\n 5\r\nhello\r\n0\r\n\r\n", 0, 400, NULL },
    { POST "Transfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\n", 0, 400, NULL },
    { POST "Transfer-Encoding: chunked\r\n\r\n\r\nhello\r\n0\r\n\r\n", 0, 400, NULL },
    { POST "Transfer-Encoding: chunked\r\n\r\n5;\r\nhello\r\n0\r\n\r\n", 0, 400, NULL },
    { POST "Transfer-Encoding: chunked\r\n\r\n5;a=\r\nhello\r\n0\r\n\r\n", 0, 400, NULL },
    { POST "Transfer-Encoding: chunked\r\n\r\nfffffffff\r\n", 0, 400, NULL },
    { POST "Transfer-Encoding: chunked\r\n\r\n41\r\n", 0, 413, NULL },
    { POST "Transfer-Encoding: chunked\r\n\r\n40\r\n0123456789012345678901234567890123456789"
           "012345678901234567890123\r\n1\r\nx",
      0, 413, NULL },
    { POST "Transfer-Encoding: chunked\r\n\r\n0\r\nno colon\r\n\r\n", 0, 400, NULL },
    { POST "Transfer-Encoding: chunked\r\n\r\n0\r\nHost: b\r\n\r\n", 0, 400, NULL },
    { POST "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 0\r\n\r\n", 0, 400, NULL },
    { POST "Transfer-Encoding: chunked\r\n\r\n0\r\nA: 1\n\r\n", 0, 400, NULL },
    /* Legal ones. */
    { "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 1, "" },
    { "GET / HTTP/1.0\r\n\r\n", 0, 1, "" },
    { "GET /?a=b&c=%20d HTTP/1.1\r\nHost: [::1]:8080\r\nA:1\r\n\r\n", 0, 1, "" },
    { "GET / HTTP/1.1\r\nhOST:   localhost:80 \t\r\nEmpty:\r\nOdd!#$%&'*+-.^_`|~: \xFF \t "
      "x\r\n\r\n",
      0, 1, "" },
    { "GET http://localhost/a?b HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 1, "" },
    { "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 1, "" },
    { "HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 0, 1, "" },
    { "DELETE /v1/requests/1 HTTP/1.1\r\nHost: localhost\r\n\r\n", 0, 1, "" },
    { POST "Content-Length: 5\r\n\r\nhello", 0, 1, "hello" },
    { POST "Content-Length: 0\r\n\r\n", 0, 1, "" },
    { POST "Content-Length: 005\r\n\r\nhello", 0, 1, "hello" },
    { "GET /languages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}", 0, 1, "{}" },
    { POST "Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", 0, 1, "hello!" },
    { POST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0, 1, "" },
    { POST "Transfer-Encoding: chunked\r\n\r\n05;a;b=c\r\nhello\r\n000\r\nA: 1\r\nB:\r\n\r\n", 0, 1,
      "hello" },
    { POST "Transfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", 0,
      1, "01234567890123456789" },
};

/* Reads a request whose first `first` bytes arrive before the rest. */
static int read_request(rela_buffer *body, const char *bytes, size_t first, size_t len)
{
    rela_http_head h;
    size_t used = 0;
    int status = rela_http_head_read(&h, bytes, first);
    if (status == RELA_HTTP_MORE) {
        first = len;
        status = rela_http_head_read(&h, bytes, len);
    }
    if (status != RELA_HTTP_DONE)
        return status;
    rela_http_body b = rela_http_body_start(&h, BODY_MAX);
    size_t at = h.size;
    status = rela_http_body_read(&b, body, &used, bytes + at, first - at);
    at += used;
    if (status == RELA_HTTP_MORE && first < len) {
        status = rela_http_body_read(&b, body, &used, bytes + at, len - at);
        at += used;
    }
    CHECK(status != RELA_HTTP_DONE || at == len, "%zu of %zu bytes are read", at, len);
    return status;
}

static void read_row(const row *r, size_t i, const char *bytes, size_t len)
{
    for (size_t first = 0; first <= len; first++) {
        rela_buffer body = RELA_BUFFER_INIT;
        const int status = read_request(&body, bytes, first, len);
        CHECK(status == r->status, "row %zu cut at %zu: %d, expected %d:\n%s", i, first, status,
              r->status, r->bytes);
        if (status == RELA_HTTP_DONE)
            CHECK(rela_span_is((rela_span){ body.len ? body.data : "", body.len }, r->body),
                  "row %zu: another body", i);
        rela_buffer_free(&body);
    }
}

static void each_request_is_served_or_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const size_t len = ROWS[i].len ? ROWS[i].len : strlen(ROWS[i].bytes);
        char *bytes = test_malloc(len); /* exact, so that reading past the end is seen */
        memcpy(bytes, ROWS[i].bytes, len);
        read_row(&ROWS[i], i, bytes, len);
        test_free(bytes);
    }
}

static void a_beginning_of_a_legal_request_waits_for_more(void **state)
{
    (void)state;
    rela_http_head h;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const row *r = &ROWS[i];
        const char *end = strstr(r->bytes, "\r\n\r\n");
        for (size_t len = 0; r->status == RELA_HTTP_DONE && r->bytes + len < end + 4; len++)
            CHECK(rela_http_head_read(&h, r->bytes, len) == RELA_HTTP_MORE, "row %zu at %zu", i,
                  len);
    }
}

static void a_head_says_what_was_asked(void **state)
{
    (void)state;
    static const char TEXT[] = "POST /a/b?c=d&e HTTP/1.1\r\nHost: x:1\r\nX-One: 1 2 \r\n"
                               "Content-Length: 12\r\nConnection: x, Close\r\n\r\nbody";
    rela_http_head h;
    assert_int_equal(rela_http_head_read(&h, TEXT, sizeof TEXT - 1), RELA_HTTP_DONE);
    assert_int_equal(h.method, RELA_HTTP_POST);
    assert_true(rela_span_is(h.path, "/a/b") && rela_span_is(h.query, "c=d&e"));
    assert_true(rela_span_is(h.host, "x:1") && h.length == 12 && !h.chunked && !h.keep_alive);
    assert_true(rela_span_is(rela_http_field_get(&h, "x-oNE"), "1 2"));
    assert_null(rela_http_field_get(&h, "x-two").text);
    assert_int_equal(h.size, sizeof TEXT - 5);
}

static void connections_are_kept_as_the_version_says(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool keep;
    } HEADS[] = { { "GET / HTTP/1.1\r\nHost: a\r\n\r\n", true },
                  { "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false },
                  { "GET / HTTP/1.0\r\n\r\n", false },
                  { "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true } };
    rela_http_head h;
    for (size_t i = 0; i < sizeof HEADS / sizeof *HEADS; i++) {
        assert_int_equal(rela_http_head_read(&h, HEADS[i].text, strlen(HEADS[i].text)), 1);
        assert_int_equal(h.keep_alive, HEADS[i].keep);
    }
}

static void heads_are_bounded(void **state)
{
    (void)state;
    enum { HUGE_HEAD = 3 * RELA_HTTP_HEAD_MAX };
    rela_http_head h;
    rela_buffer b = RELA_BUFFER_INIT;
    rela_error err;
    CHECK_OK(rela_buffer_append_text(&b, "GET / HTTP/1.1\r\nHost: a\r\n", &err), err);
    for (int i = 0; i < 63; i++)
        CHECK_OK(rela_buffer_printf(&b, &err, "F%d: x\r\n", i), err);
    const size_t len = b.len;
    CHECK_OK(rela_buffer_append_text(&b, "\r\n", &err), err);
    assert_int_equal(rela_http_head_read(&h, b.data, b.len), RELA_HTTP_DONE);
    assert_int_equal(h.n_fields, RELA_HTTP_FIELDS_MAX);
    b.len = len;
    CHECK_OK(rela_buffer_append_text(&b, "One: more\r\n", &err), err);
    assert_int_equal(rela_http_head_read(&h, b.data, b.len), 431);
    char *text = test_malloc(HUGE_HEAD);
    memset(text, 'a', HUGE_HEAD);
    memcpy(text, "GET /", 5);
    assert_int_equal(rela_http_head_read(&h, text, 2000), RELA_HTTP_MORE);
    assert_int_equal(rela_http_head_read(&h, text, HUGE_HEAD), 414);
    memcpy(text, "GET / HTTP/1.1\r\nA: ", 19);
    assert_int_equal(rela_http_head_read(&h, text, RELA_HTTP_HEAD_MAX - 1), RELA_HTTP_MORE);
    assert_int_equal(rela_http_head_read(&h, text, HUGE_HEAD), 431);
    test_free(text);
    rela_buffer_free(&b);
}

static void trailers_and_extensions_are_bounded(void **state)
{
    (void)state;
    static const rela_http_head CHUNKED = { .chunked = true };
    enum { FLOOD = 20000 };
    char *text = test_malloc(FLOOD);
    for (int trailer = 0; trailer < 2; trailer++) {
        rela_http_body b = rela_http_body_start(&CHUNKED, BODY_MAX);
        rela_buffer out = RELA_BUFFER_INIT;
        size_t used = 0;
        memset(text, 'a', FLOOD);
        memcpy(text, trailer ? "0\r\n" : "5;x", 3);
        for (size_t i = 3; trailer && i + 8 < FLOOD; i += 8)
            memcpy(text + i, "Aa: bb\r\n", 8);
        assert_int_equal(rela_http_body_read(&b, &out, &used, text, FLOOD), 400);
    }
    test_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_request_is_served_or_refused),
        cmocka_unit_test(a_beginning_of_a_legal_request_waits_for_more),
        cmocka_unit_test(a_head_says_what_was_asked),
        cmocka_unit_test(connections_are_kept_as_the_version_says),
        cmocka_unit_test(heads_are_bounded),
        cmocka_unit_test(trailers_and_extensions_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

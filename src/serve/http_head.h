/* SPDX-License-Identifier: MIT */
/* src/serve/http_head.h - the head of an HTTP/1.1 request: a pure function over its bytes.
 *
 * A strict subset of RFC 9112, in which no two readers can see different requests: lines end in
 * CRLF only, names are tokens, the length of the body is one Content-Length of digits or chunked
 * alone, there is exactly one Host, no line is folded, there is no NUL and no CR by itself. What is
 * not part of it is refused with the status to answer before the connection is closed. Nothing is
 * allocated and nothing is kept; any thread may call. */
#ifndef RELA_SERVE_HTTP_HEAD_H
#define RELA_SERVE_HTTP_HEAD_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RELA_HTTP_HEAD_MAX = 8192, /* bytes of the request line and all fields */
    RELA_HTTP_TARGET_MAX = 2048,
    RELA_HTTP_FIELDS_MAX = 64
};

/* What reading has come to; any other number is the status of a refusal. */
enum { RELA_HTTP_MORE = 0, RELA_HTTP_DONE = 1 };

typedef enum rela_http_method {
    RELA_HTTP_GET,
    RELA_HTTP_HEAD,
    RELA_HTTP_POST,
    RELA_HTTP_PUT,
    RELA_HTTP_PATCH,
    RELA_HTTP_DELETE,
    RELA_HTTP_OPTIONS
} rela_http_method;

typedef struct rela_http_field {
    rela_span name, value; /* value without the blanks around it */
} rela_http_field;

/* All spans point into the bytes. */
typedef struct rela_http_head {
    rela_http_method method;
    rela_span path, query; /* as sent, percent-encoded; query without its '?' */
    rela_span host;        /* empty only in HTTP/1.0 */
    bool keep_alive;       /* the client expects more than this answer on the connection */
    bool old;              /* HTTP/1.0 */
    bool chunked;          /* if not, the body has length bytes */
    uint64_t length;
    size_t size; /* bytes of the head; the body starts there */
    size_t n_fields;
    rela_http_field fields[RELA_HTTP_FIELDS_MAX];
} rela_http_head;

/* Reads the head of a request from the first len bytes of a connection. RELA_HTTP_MORE: it is not
 * complete, but has no fault so far, and what was refused once stays so. Statuses: 400, 414
 * (target), 417 (Expect), 431 (head), 501 (method, transfer coding, Upgrade), 505 (version). */
int rela_http_head_read(rela_http_head *out, const char *bytes, size_t len);

/* The value of the first field with that name, in any case; text NULL if there is none. */
rela_span rela_http_field_get(const rela_http_head *h, const char *name);

/* Whether two texts are equal but for the case of ASCII letters. */
bool rela_http_same(rela_span a, const char *b);

/* Of one character: part of a name; a hexadecimal digit (its value, or -1). */
bool rela_http_is_token(char c);
int rela_http_hex(char c);

/* The end of the line at `at`, its CR, or end if it is not complete. NULL: a CR or LF by itself, or
 * a byte that no line may have (controls other than tab). */
const char *rela_http_line_end(const char *at, const char *end);
/* A line with a field, without its end; false: it is none. */
bool rela_http_field_read(rela_http_field *out, const char *at, const char *end);

#endif

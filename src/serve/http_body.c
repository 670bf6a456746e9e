/* SPDX-License-Identifier: MIT */
/* src/serve/http_body.c - see http_body.h. */
#include "serve/http_body.h"

enum { SIZE, DATA, DATA_END, TRAILER, ENDED };
enum { SIZE_DIGITS = 8, SIZE_LINE_MAX = 256 };

static int read_size(rela_http_body *b, const char *at, const char *end);
static int take(rela_http_body *b, rela_buffer *out, size_t *used, const char *bytes, size_t len);
static int read_line(rela_http_body *b, size_t *used, const char *bytes, size_t len);

rela_http_body rela_http_body_start(const rela_http_head *h, uint64_t most)
{
    return (rela_http_body){ .chunked = h->chunked,
                             .phase = h->chunked      ? SIZE
                                      : h->length > 0 ? DATA
                                                      : ENDED,
                             .left = h->length,
                             .most = most };
}

int rela_http_body_read(rela_http_body *b, rela_buffer *out, size_t *used, const char *bytes,
                        size_t len)
{
    *used = 0;
    while (b->phase != ENDED) {
        size_t n = 0;
        const int status = b->phase == DATA ? take(b, out, &n, bytes + *used, len - *used)
                                            : read_line(b, &n, bytes + *used, len - *used);
        *used += n;
        if (status != RELA_HTTP_DONE)
            return status;
    }
    return RELA_HTTP_DONE;
}

/* Bytes of the body itself. */
static int take(rela_http_body *b, rela_buffer *out, size_t *used, const char *bytes, size_t len)
{
    const size_t n = len < b->left ? len : (size_t)b->left;
    if (b->got + b->left > b->most)
        return 413;
    if (n && rela_buffer_append(out, bytes, n, NULL) != RELA_OK)
        return 503;
    *used = n;
    b->left -= n;
    b->got += n;
    if (b->left > 0)
        return RELA_HTTP_MORE;
    b->phase = b->chunked ? DATA_END : ENDED;
    return RELA_HTTP_DONE;
}

/* Fields that say how a request is read or where it goes have no place after it. */
static bool is_trailer(rela_span name)
{
    static const char *const NOT[] = { "host",   "content-length", "transfer-encoding",
                                       "expect", "connection",     "upgrade" };
    for (size_t i = 0; i < sizeof NOT / sizeof *NOT; i++)
        if (rela_http_same(name, NOT[i]))
            return false;
    return true;
}

/* A line between chunks: it is read when it is complete, and refused as soon as it has a fault. */
static int read_line(rela_http_body *b, size_t *used, const char *bytes, size_t len)
{
    const size_t most = b->phase == TRAILER    ? RELA_HTTP_HEAD_MAX - b->trailer
                        : b->phase == DATA_END ? 2
                                               : SIZE_LINE_MAX;
    const char *limit = bytes + (len < most ? len : most);
    const char *end = rela_http_line_end(bytes, limit);
    if (!end)
        return 400;
    if (end + 1 >= limit)
        return len >= most ? 400 : RELA_HTTP_MORE;
    *used = (size_t)(end + 2 - bytes);
    if (b->phase == SIZE)
        return read_size(b, bytes, end);
    if (b->phase == DATA_END) {
        b->phase = SIZE;
        return end == bytes ? RELA_HTTP_DONE : 400;
    }
    rela_http_field f;
    b->trailer += *used;
    if (end == bytes)
        b->phase = ENDED;
    return end == bytes || (rela_http_field_read(&f, bytes, end) && is_trailer(f.name))
               ? RELA_HTTP_DONE
               : 400;
}

/* ;name or ;name=value, again and again, without blanks. */
static bool are_extensions(const char *at, const char *end)
{
    while (at < end) {
        if (*at++ != ';')
            return false;
        for (int part = 0; part < 2; part++) {
            const char *first = at;
            while (at < end && rela_http_is_token(*at))
                at++;
            if (at == first)
                return false;
            if (part == 1 || at == end || *at != '=')
                break;
            at++;
        }
    }
    return true;
}

static int read_size(rela_http_body *b, const char *at, const char *end)
{
    const char *first = at;
    b->left = 0;
    while (at < end && rela_http_hex(*at) >= 0 && at - first < SIZE_DIGITS)
        b->left = 16 * b->left + (uint64_t)rela_http_hex(*at++);
    if (at == first || !are_extensions(at, end))
        return 400;
    b->phase = b->left ? DATA : TRAILER;
    return RELA_HTTP_DONE;
}

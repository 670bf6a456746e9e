/* SPDX-License-Identifier: MIT */
/* src/serve/http_body.h - the body of a request: by its length or in chunks (RFC 9112, section 7).
 *
 * As strict as http_head.h: CRLF only, sizes of at most eight hexadecimal digits, extensions of the
 * form ;name=value. Extensions and trailer fields are checked and discarded. One thread at a time
 * per reader. */
#ifndef RELA_SERVE_HTTP_BODY_H
#define RELA_SERVE_HTTP_BODY_H

#include "serve/http_head.h"

typedef struct rela_http_body {
    bool chunked;
    int phase;
    uint64_t left;      /* bytes of the body or chunk that are still to come */
    uint64_t got, most; /* bytes of the body so far, and at most */
    size_t trailer;
} rela_http_body;

rela_http_body rela_http_body_start(const rela_http_head *h, uint64_t most);

/* Appends what the first len bytes hold of the body to out; *used: how many of them were needed.
 * The rest, and whatever follows, must come again in the next call. RELA_HTTP_MORE, RELA_HTTP_DONE,
 * or the status of a refusal: 400, 413 (larger than most), 503 (no memory). */
int rela_http_body_read(rela_http_body *b, rela_buffer *out, size_t *used, const char *bytes,
                        size_t len);

#endif

/* SPDX-License-Identifier: MIT */
/* fuzz/fuzz_http.c - requests: read or refused, never past their end, and the same however the
 * bytes arrive.
 *
 * The first byte says where the bytes are cut in two. */
#include "fuzz.h"

#include "serve/http_body.h"

#include <string.h>

enum { BODY_MAX = 4096 };

typedef struct reading {
    int status;
    size_t used;
    rela_http_head head;
    rela_buffer body;
} reading;

static void inside(rela_span s, const char *bytes, size_t len)
{
    HOLDS(s.len == 0 || (s.text >= bytes && s.text + s.len <= bytes + len));
}

/* The request in bytes, of which the first ones come before the others. */
static reading read_cut(const char *bytes, size_t first, size_t len)
{
    reading r = { .body = RELA_BUFFER_INIT };
    size_t used = 0;
    r.status = rela_http_head_read(&r.head, bytes, first);
    if (r.status == RELA_HTTP_MORE)
        r.status = rela_http_head_read(&r.head, bytes, first = len);
    else if (r.status != RELA_HTTP_DONE) {
        rela_http_head again;
        HOLDS(rela_http_head_read(&again, bytes, len) > RELA_HTTP_DONE);
    }
    if (r.status != RELA_HTTP_DONE)
        return r;
    HOLDS(r.head.size <= len && r.head.n_fields <= RELA_HTTP_FIELDS_MAX);
    HOLDS(r.head.old || r.head.host.len > 0);
    inside(r.head.path, bytes, len);
    inside(r.head.query, bytes, len);
    for (size_t i = 0; i < r.head.n_fields; i++) {
        inside(r.head.fields[i].name, bytes, r.head.size);
        inside(r.head.fields[i].value, bytes, r.head.size);
    }
    rela_http_body b = rela_http_body_start(&r.head, BODY_MAX);
    first = first < r.head.size ? r.head.size : first;
    r.status = rela_http_body_read(&b, &r.body, &used, bytes + r.head.size, first - r.head.size);
    r.used = r.head.size + used;
    if (r.status == RELA_HTTP_MORE) {
        r.status = rela_http_body_read(&b, &r.body, &used, bytes + r.used, len - r.used);
        r.used += used;
    }
    HOLDS(r.used <= len && r.body.len <= BODY_MAX);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *bytes = (const char *)data + 1;
    const size_t len = size - 1;
    reading a = read_cut(bytes, len, len);
    reading b = read_cut(bytes, len ? data[0] * len / 256 : 0, len);
    HOLDS((a.status > RELA_HTTP_DONE) == (b.status > RELA_HTTP_DONE));
    HOLDS(a.status > RELA_HTTP_DONE || a.status == b.status);
    if (a.status == RELA_HTTP_DONE) {
        HOLDS(a.used == b.used && a.body.len == b.body.len);
        HOLDS(a.body.len == 0 || memcmp(a.body.data, b.body.data, a.body.len) == 0);
    }
    rela_buffer_free(&a.body);
    rela_buffer_free(&b.body);
    return 0;
}

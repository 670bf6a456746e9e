/* SPDX-License-Identifier: MIT */
/* bench/bench_http.c - what the server reads in requests, for bench/http_diff.py.
 *
 * Standard input: for each request its size in decimal, LF, its bytes. Standard output: a JSON line
 * for each. */
#include "base/json.h"
#include "serve/http_body.h"

#include <stdio.h>
#include <stdlib.h>

enum { REQUEST_MAX = 1 << 20 };

static void put(rela_buffer *out, const char *key, rela_span s)
{
    (void)rela_buffer_printf(out, NULL, ",\"%s\":\"", key);
    for (size_t i = 0; i < s.len; i++)
        (void)rela_buffer_printf(out, NULL, "%02x", (unsigned)(unsigned char)s.text[i]);
    (void)rela_buffer_append_text(out, "\"", NULL);
}

int main(void)
{
    static char bytes[REQUEST_MAX];
    size_t len = 0, used = 0;
    while (scanf("%zu", &len) == 1 && getchar() == '\n' && len <= sizeof bytes &&
           fread(bytes, 1, len, stdin) == len) {
        rela_http_head h;
        rela_buffer body = RELA_BUFFER_INIT, out = RELA_BUFFER_INIT;
        int status = rela_http_head_read(&h, bytes, len);
        if (status == RELA_HTTP_DONE) {
            rela_http_body b = rela_http_body_start(&h, REQUEST_MAX);
            status = rela_http_body_read(&b, &body, &used, bytes + h.size, len - h.size);
        }
        (void)rela_buffer_printf(&out, NULL, "{\"status\":%d", status);
        if (status == RELA_HTTP_DONE) {
            (void)rela_buffer_printf(&out, NULL, ",\"keep\":%d,\"size\":%zu", h.keep_alive,
                                     h.size + used);
            put(&out, "path", h.path);
            put(&out, "query", h.query);
            put(&out, "host", h.host);
            put(&out, "body", (rela_span){ body.data, body.len });
        }
        (void)puts(rela_buffer_append_text(&out, "}", NULL) == RELA_OK ? out.data : "{}");
        rela_buffer_free(&out);
        rela_buffer_free(&body);
    }
    return EXIT_SUCCESS;
}

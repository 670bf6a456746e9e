/* SPDX-License-Identifier: MIT */
/* tests/coded.h - gzip and zstd bytes made with the libraries themselves, for file tests. */
#ifndef RELA_TESTS_CODED_H
#define RELA_TESTS_CODED_H

#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* A growing byte string of a test; freed with free(x.data). */
typedef struct coded {
    char *data;
    size_t len;
} coded;

static inline void coded_add(coded *c, const void *bytes, size_t len)
{
    c->data = realloc(c->data, c->len + len + 1);
    CHECK(c->data, "no memory");
    if (len)
        memcpy(c->data + c->len, bytes, len);
    c->len += len;
}

static inline void coded_add_gzip(coded *c, const void *bytes, size_t len)
{
    z_stream z = { .next_in = bytes, .avail_in = (unsigned)len };
    CHECK(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "deflate");
    const size_t room = deflateBound(&z, len) + 64;
    unsigned char *out = malloc(room);
    CHECK(out, "no memory");
    z.next_out = out;
    z.avail_out = (unsigned)room;
    CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END, "deflate");
    coded_add(c, out, room - z.avail_out);
    (void)deflateEnd(&z);
    free(out);
}

static inline void coded_add_zstd(coded *c, const void *bytes, size_t len)
{
    ZSTD_CCtx *z = ZSTD_createCCtx();
    const size_t room = ZSTD_compressBound(len);
    char *out = malloc(room);
    CHECK(z && out && !ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1)), "zstd");
    const size_t n = ZSTD_compress2(z, out, room, bytes, len);
    CHECK(!ZSTD_isError(n), "zstd: %s", ZSTD_getErrorName(n));
    coded_add(c, out, n);
    (void)ZSTD_freeCCtx(z);
    free(out);
}

static inline void coded_add_skippable(coded *c, size_t len)
{
    const unsigned char head[8] = { 0x53, 0x2A, 0x4D, 0x18, (unsigned char)len };
    char junk[256];
    CHECK(len < sizeof junk, "too long");
    memset(junk, 0x5A, sizeof junk);
    coded_add(c, head, sizeof head);
    coded_add(c, junk, len);
}

#endif

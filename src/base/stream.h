/* SPDX-License-Identifier: MIT */
/* src/base/stream.h - decoded bytes of a plain, gzip or zstd file, recognised by content.
 *
 * Only for the reading half of file.h, whose guarantees about damaged input are implemented here.
 * One thread at a time. */
#ifndef RELA_BASE_STREAM_H
#define RELA_BASE_STREAM_H

#include "base/file.h"

typedef struct rela_byte_stream rela_byte_stream;

/* max_ratio 0: the default of file.h; any_ratio: no limit. */
rela_status rela_byte_stream_open(rela_byte_stream **out, const char *path, uint32_t max_ratio,
                                  bool any_ratio, rela_error *err);
void rela_byte_stream_close(rela_byte_stream *s); /* NULL is fine */

/* At least one byte, unless the input has ended (*got 0) or size is 0. */
rela_status rela_byte_stream_bytes(rela_byte_stream *s, char *out, size_t size, size_t *got,
                                   rela_error *err);

/* Whether it is an uncompressed regular file; false until the first bytes are read. */
bool rela_byte_stream_plain(const rela_byte_stream *s);
/* Sets the offset of the next byte; only for such a file. */
rela_status rela_byte_stream_seek(rela_byte_stream *s, uint64_t at, rela_error *err);

/* True if the next read may block. */
bool rela_byte_stream_waits(const rela_byte_stream *s);

const char *rela_byte_stream_name(const rela_byte_stream *s);  /* for messages; lent */
uint64_t rela_byte_stream_position(const rela_byte_stream *s); /* stored bytes consumed so far */
uint64_t rela_byte_stream_size(const rela_byte_stream *s); /* stored bytes at open; 0 if unknown */

/* Memory for zlib: base/mem.h. */
void *rela_zlib_alloc(void *ctx, unsigned n, unsigned size);
void rela_zlib_free(void *ctx, void *p);

#endif

/* SPDX-License-Identifier: MIT */
/* src/base/source.h - decoded bytes of a plain, gzip or zstd file, recognised by content.
 *
 * For the reading half of file.h only; what it promises about damaged input is kept here. One
 * thread at a time. */
#ifndef RELA_BASE_SOURCE_H
#define RELA_BASE_SOURCE_H

#include "base/file.h"

typedef struct rela_source rela_source;

/* max_ratio 0: the default of file.h; any_ratio: none. */
rela_status rela_source_open(rela_source **out, const char *path, uint32_t max_ratio,
                             bool any_ratio, rela_error *err);
void rela_source_close(rela_source *s); /* NULL is fine */

/* At least one byte, unless the input has ended (*got 0) or size is 0. */
rela_status rela_source_bytes(rela_source *s, char *out, size_t size, size_t *got, rela_error *err);

/* True if the next bytes may have to be waited for. */
bool rela_source_waits(const rela_source *s);

const char *rela_source_name(const rela_source *s);  /* for messages; lent */
uint64_t rela_source_position(const rela_source *s); /* stored bytes used so far */
uint64_t rela_source_size(const rela_source *s);     /* stored bytes at open; 0 if unknown */

#endif

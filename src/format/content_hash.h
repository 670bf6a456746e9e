/* SPDX-License-Identifier: MIT */
/* src/format/content_hash.h - reads or walks all tensors in pieces on all threads; each piece is
 * hashed and checked for numbers that are not finite while it is still in the cache.
 *
 * The hash depends on what a file says, not on how its header is laid out: see docs/formats.md. */
#ifndef RELA_FORMAT_CONTENT_HASH_H
#define RELA_FORMAT_CONTENT_HASH_H

#include "format/safetensors.h"

enum { RELA_HASH_TEXT = 48 }; /* room for "xxh3-128:" and 32 digits */

#define RELA_HASH_KEY "hash" /* of the metadata; the one text that is not hashed */

typedef struct rela_content {
    rela_header header;           /* sorted; lent */
    const rela_safetensors *file; /* where to read from; NULL: tensors have their data */
    const char *mapped;           /* with file: its data, if it is mapped */
    void *const *to;              /* otherwise n destinations for the data; NULL: only check it */
    int n_threads;                /* 0: all */
    const char *path;             /* for messages */
} rela_content;

/* Writes the hash to out. A value that is not finite is RELA_FORMAT with its tensor and place. */
rela_status rela_content_run(char out[RELA_HASH_TEXT], const rela_content *c, rela_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* src/data/store.h - encoded pairs, compact: small corpora in memory, large ones in a scratch file.
 *
 * Token ids are stored as varints, seven bits per byte. In memory there is an index of 8 bytes per
 * pair (lengths and an offset); the pairs themselves stay there only up to a limit. After
 * rela_store_finish a store is read-only and any number of threads may read it. */
#ifndef RELA_DATA_STORE_H
#define RELA_DATA_STORE_H

#include "data/corpus_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rela_store rela_store;

/* memory: bytes of pairs to hold before they move to a scratch file in dir (NULL: TMPDIR, /tmp). */
rela_status rela_store_create(rela_store **out, size_t n_sides, uint64_t memory, const char *dir,
                              rela_error *err);
void rela_store_destroy(rela_store *s); /* NULL is fine */

/* Has the type of rela_corpus_job.take, with the store as context. */
rela_status rela_store_add(void *store, const rela_pair *pair, rela_error *err);
rela_status rela_store_finish(rela_store *s, rela_error *err);

/* Creates a store, reads a corpus into it (take and take_ctx of the job are not used), finishes. */
rela_status rela_store_read(rela_store **out, rela_corpus_report *report,
                            const rela_corpus_job *job, uint64_t memory, const char *dir,
                            rela_error *err);

uint32_t rela_store_size(const rela_store *s); /* pairs */
size_t rela_store_sides(const rela_store *s);
uint32_t rela_store_length(const rela_store *s, uint32_t pair, size_t side); /* tokens */
uint64_t rela_store_tokens(const rela_store *s, size_t side);
uint64_t rela_store_bytes(const rela_store *s); /* of all records */
bool rela_store_on_disk(const rela_store *s);
/* Hash of all pairs in order: a run that resumes can tell whether its data is still the same. */
uint64_t rela_store_digest(const rela_store *s);

/* A record is the encoded bytes of one pair. Records follow one another in the order of the pairs,
 * without gaps; a place is an offset in them. */
uint64_t rela_store_place(const rela_store *s,
                          uint32_t pair); /* pair == size: the end of the records */
/* The records from byte offset from on; lent. NULL if they are on disk. */
const unsigned char *rela_store_view(const rela_store *s, uint64_t from);
/* Copies bytes [from, to) of the records to out, from memory or disk. */
rela_status rela_store_load(const rela_store *s, unsigned char *out, uint64_t from, uint64_t to,
                            rela_error *err);

/* Copying pairs to another store. pack appends those from pair *at on to out, as many as fit into
 * bytes and at least one, and advances *at; unpack adds them to a store with as many sides. */
rela_status rela_store_pack(rela_buffer *out, const rela_store *s, uint32_t *at, size_t bytes,
                            rela_error *err);
rela_status rela_store_unpack(rela_store *s, const char *bytes, size_t len, rela_error *err);

/* Decodes the record of a pair; ids have room for the lengths of its sides. Returns the line
 * number. */
uint64_t rela_store_decode(const rela_store *s, uint32_t pair, const unsigned char *record,
                           int32_t *const *ids);

#endif

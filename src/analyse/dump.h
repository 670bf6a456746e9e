/* SPDX-License-Identifier: MIT */
/* src/analyse/dump.h - all attention of all pairs as sparse rows in one .npz file, from which every
 * number of an analysis can be recomputed. Format: docs/formats.md.
 *
 * Any thread may fill blocks; they are written one at a time. */
#ifndef RELA_ANALYSE_DUMP_H
#define RELA_ANALYSE_DUMP_H

#include "base/file.h"
#include "session/watch.h"

/* Rows of some pairs. All zero means empty. */
typedef struct rela_dump_block {
    rela_buffer rows;    /* (n, 6) int32: pair, number of the stack, layer, head, query, n_keys */
    rela_buffer counts;  /* (n) int64: keys with non-zero weight */
    rela_buffer indices; /* int32 */
    rela_buffer weights; /* float32 */
    rela_buffer text;    /* tokens of the pairs */
} rela_dump_block;

typedef struct rela_dump rela_dump;

void rela_dump_block_clear(rela_dump_block *b);
void rela_dump_block_free(rela_dump_block *b);
/* number: of the pair in the corpus, from 0. */
rela_status rela_dump_add(rela_dump_block *b, const rela_heads *h, uint64_t number,
                          rela_error *err);
/* Appends a line with the tokens of a pair, sources then target, separated by tabs; an empty line
 * for a pair that was not run. */
rela_status rela_dump_tokens(rela_dump_block *b, const rela_watched *p,
                             const rela_pipeline *pipeline, rela_error *err);

/* For a model with several sources the names of the stacks are written too. */
rela_status rela_dump_open(rela_dump **out, const char *path, const rela_block_list *list,
                           rela_error *err);
rela_status rela_dump_write(rela_dump *d, rela_dump_block *b, rela_error *err);
rela_status rela_dump_commit(rela_dump *d, rela_file_set *set, rela_error *err); /* ends its life */
void rela_dump_abort(rela_dump *d);                                              /* NULL is fine */

#endif

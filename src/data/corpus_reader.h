/* SPDX-License-Identifier: MIT */
/* src/data/corpus_reader.h - reads parallel text, applies the rules of rela/corpus.h, encodes what
 * is kept.
 *
 * A callback encodes text as token ids, on all threads; pairs are delivered in file order, by one
 * thread at a time. Memory grows neither with the corpus nor with the length of a line. */
#ifndef RELA_DATA_CORPUS_READER_H
#define RELA_DATA_CORPUS_READER_H

#include "base/error.h"
#include "rela/corpus.h"

#include <stddef.h>
#include <stdint.h>

/* Sides of a pair: its sources, then its target. */
enum { RELA_SIDES_MAX = RELA_SOURCES_MAX + 1 };

/* A growable list of token ids, all zero when empty. */
typedef struct rela_ids {
    int32_t *data;
    size_t len, cap;
} rela_ids;

rela_status rela_ids_push(rela_ids *ids, int32_t id, rela_error *err);
void rela_ids_free(rela_ids *ids); /* NULL is fine */

/* One side of a pair as an encoder sees it. */
typedef struct rela_corpus_line {
    int32_t side;
    const char
        *text; /* valid UTF-8 without a line end, blanks at both ends removed; may hold NUL */
    size_t len;
    uint64_t number; /* in the file, from 1 */
} rela_corpus_line;

/* Appends the token ids of one line to out, all >= 0. thread < n_threads of the job, to select
 * scratch memory. */
typedef rela_status (*rela_encode)(void *ctx, const rela_corpus_line *line, int thread,
                                   rela_ids *out, rela_error *err);

/* A kept pair; ids are lent during the call. */
typedef struct rela_pair {
    const int32_t *ids[RELA_SIDES_MAX];
    size_t n[RELA_SIDES_MAX]; /* 1 .. RELA_CORPUS_TOKENS_MAX; some of several sources may have 0 */
    uint64_t line;            /* in the corpus, from 1 */
} rela_pair;

/* Files that are read in parallel, line by line. */
typedef struct rela_corpus_files {
    const char *side[RELA_SIDES_MAX]; /* the second NULL: the first has a column for each side */
} rela_corpus_files;

typedef struct rela_corpus_job {
    const rela_corpus_files *files; /* one set after the other */
    size_t n_files;
    size_t n_sides; /* 2 or more */
    rela_corpus_rules rules;
    int n_threads; /* >= 1 */
    rela_encode encode;
    void *encode_ctx;
    rela_status (*take)(void *ctx, const rela_pair *pair, rela_error *err);
    void *take_ctx;
    rela_corpus_progress progress; /* or NULL */
    void *progress_ctx;
} rela_corpus_job;

rela_status rela_corpus_read(rela_corpus_report *report, const rela_corpus_job *job,
                             rela_error *err);

#endif

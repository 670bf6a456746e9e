/* SPDX-License-Identifier: MIT */
/* src/analyse/analyse_job.h - what the files that run models for an analysis share. */
#ifndef RELA_ANALYSE_ANALYSE_JOB_H
#define RELA_ANALYSE_ANALYSE_JOB_H

#include "analyse/dump.h"
#include "analyse/findings.h"
#include "base/textlines.h"
#include "dist/job_flow.h"
#include "rela/analyse.h"
#include "session/session.h"

enum { BLOCK_PAIRS = 16 };
enum { SRC, TGT = SRC + RELA_SOURCES_MAX, GOLD, TAGS, N_FILES };

/* What became of a pair. */
typedef struct rela_analyse_note {
    uint8_t state; /* rela_watched_state */
    uint8_t tagged;
    uint8_t empty[RELA_SOURCES_MAX];
} rela_analyse_note;

/* Some pairs and what was found on them; one per thread, and one for results that are added up. */
typedef struct block {
    size_t first, n;
    rela_watcher *watcher;
    rela_text_pair pairs[BLOCK_PAIRS];
    rela_measures measures;
    rela_head_aer aer;
    rela_tag_null tags;
    rela_dump_block dump;
    rela_links gold[BLOCK_PAIRS];
    uint32_t *tag_of; /* (BLOCK_PAIRS, RELA_WATCH_TOKENS_MAX) */
    rela_analyse_note notes[BLOCK_PAIRS];
    double null[RELA_SOURCES_MAX]
               [BLOCK_PAIRS]; /* sum of null shares of the heads that attend to it */
} rela_analyse_block;

/* Lines that are worked on at a time. */
typedef struct rela_analyse_range {
    size_t first, n;
} rela_analyse_range;

typedef struct rela_analyse_job {
    rela_analyse_options o;
    const rela_model *model;
    rela_findings *found;
    rela_text_lines files[N_FILES];
    size_t n_sources, source;
    size_t n;        /* pairs */
    uint32_t *order; /* of the targets in the permuted text */
    rela_map *tag_names;
    bool permuted;
    size_t next;
    uint64_t done, total;
    rela_analyse_block *blocks; /* one per thread */
    rela_analyse_block sum;     /* the results of a range, to be added up; it has no watcher */
    bool dumps;
    rela_dump *dump; /* on rank 0 */
} rela_analyse_job;

/* A line, with the target of the given line. */
rela_text_pair rela_analyse_pair(const rela_analyse_job *j, size_t line, size_t target);

/* runs: it gets pairs to run, so that it needs a watcher. */
rela_status rela_analyse_block_start(rela_analyse_block *b, const rela_analyse_job *j, bool runs,
                                     rela_error *err);
void rela_analyse_block_end(rela_analyse_block *b);
/* What was found, as bytes and back. */
rela_status rela_analyse_block_pack(rela_buffer *out, const rela_analyse_job *j,
                                    rela_analyse_block *b, rela_error *err);
rela_status rela_analyse_block_unpack(rela_analyse_block *b, const rela_analyse_job *j,
                                      const rela_buffer *bytes, rela_error *err);
/* The gold links of a line, whose pair is p. */
rela_status rela_analyse_gold(rela_links *out, const rela_analyse_job *j, size_t line,
                              const rela_watched *p, rela_error *err);
/* For a flow of ranges, whose context is the job. */
rela_status rela_analyse_range_read(void *ctx, void *range, uint64_t want, uint64_t *n,
                                    rela_error *err);
rela_status rela_analyse_range_run(void *ctx, void *range, rela_buffer *result, int thread,
                                   rela_error *err);
rela_status rela_analyse_range_finish(void *ctx, void *range, const rela_buffer *result,
                                      rela_error *err);

/* Attention of the example line with its own target and with the permuted one. */
rela_status rela_analyse_examples(const rela_analyse_job *j, rela_error *err);

#endif

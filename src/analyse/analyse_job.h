/* SPDX-License-Identifier: MIT */
/* src/analyse/analyse_job.h - state of an analysis, shared by the files that run its models. */
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

/* Outcome of a pair. */
typedef struct rela_analyse_note {
    uint8_t state;  /* rela_watched_state */
    uint8_t tagged; /* as many tags as target words */
    uint8_t empty[RELA_SOURCES_MAX];
} rela_analyse_note;

/* Some pairs and their results; one per thread, and one to unpack results into. */
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
    double *null; /* (sources, layers, BLOCK_PAIRS) null rates, summed over heads */
} rela_analyse_block;

/* A range of lines: the unit of work. */
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
    rela_analyse_block sum;     /* results of the range being added up; has no watcher */
    rela_file_set *set;         /* of all files that are written; on rank 0 */
    bool dumps;
    rela_dump *dump; /* on rank 0 */
} rela_analyse_job;

/* The sources of one line with the target of another or the same. */
rela_text_pair rela_analyse_pair(const rela_analyse_job *j, size_t line, size_t target);

/* runs: the block will run pairs and needs a watcher. */
rela_status rela_analyse_block_start(rela_analyse_block *b, const rela_analyse_job *j, bool runs,
                                     rela_error *err);
void rela_analyse_block_end(rela_analyse_block *b);
size_t rela_analyse_nulls(const rela_analyse_job *j); /* length of b->null */
/* Serialise the results of a block, and read them back. */
rela_status rela_analyse_block_pack(rela_buffer *out, const rela_analyse_job *j,
                                    rela_analyse_block *b, rela_error *err);
rela_status rela_analyse_block_unpack(rela_analyse_block *b, const rela_analyse_job *j,
                                      const rela_buffer *bytes, rela_error *err);
/* The gold links of a line; p is its loaded pair. */
rela_status rela_analyse_gold(rela_links *out, const rela_analyse_job *j, size_t line,
                              const rela_watched *p, rela_error *err);
/* Callbacks of a rela_flow over ranges; ctx is the job. */
rela_status rela_analyse_range_read(void *ctx, void *range, uint64_t want, uint64_t *n,
                                    rela_error *err);
rela_status rela_analyse_range_run(void *ctx, void *range, rela_buffer *result, int thread,
                                   rela_error *err);
rela_status rela_analyse_range_finish(void *ctx, void *range, const rela_buffer *result,
                                      rela_error *err);

/* Records the attention of every model on the same line and layer, with its own target and with the
 * permuted one; no example of models for which the line is too long. On rank 0, after all models
 * have been run. */
rela_status rela_analyse_examples(rela_analyse_job *j, rela_findings *found,
                                  const rela_model *const *models, size_t n, rela_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* src/analyse/analyse_job.h - what the files that run models for an analysis share. */
#ifndef RELA_ANALYSE_ANALYSE_JOB_H
#define RELA_ANALYSE_ANALYSE_JOB_H

#include "analyse/dump.h"
#include "analyse/findings.h"
#include "base/textlines.h"
#include "rela/analyse.h"
#include "session/session.h"

enum { BLOCK_PAIRS = 16 };
enum { SRC, TGT = SRC + RELA_SOURCES_MAX, GOLD, TAGS, N_FILES };

/* Some pairs and what was found on them; one per thread. */
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
    bool tagged[BLOCK_PAIRS];
    double null[RELA_SOURCES_MAX]
               [BLOCK_PAIRS]; /* sum of null shares of the heads that attend to it */
} rela_analyse_block;

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
    rela_analyse_block *blocks;
    int n_blocks;
    rela_dump *dump;
} rela_analyse_job;

/* A line, with the target of the given line. */
rela_text_pair rela_analyse_pair(const rela_analyse_job *j, size_t line, size_t target);

rela_status rela_analyse_block_start(rela_analyse_block *b, const rela_analyse_job *j,
                                     rela_error *err);
void rela_analyse_block_end(rela_analyse_block *b);
/* The gold links of a line, whose pair is p. */
rela_status rela_analyse_gold(rela_links *out, const rela_analyse_job *j, size_t line,
                              const rela_watched *p, rela_error *err);
/* For rela_pipe_run, whose context is the job. */
rela_status rela_analyse_block_read(void *ctx, void *item, bool *more, rela_error *err);
rela_status rela_analyse_block_run(void *ctx, void *item, int thread, rela_error *err);
rela_status rela_analyse_block_finish(void *ctx, void *item, rela_error *err);

/* Attention of the example line with its own target and with the permuted one. */
rela_status rela_analyse_examples(const rela_analyse_job *j, rela_error *err);

#endif

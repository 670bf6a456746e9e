/* SPDX-License-Identifier: MIT */
/* src/align/align_job.h - shared by head choice, link output and shortlist learning. */
#ifndef RELA_ALIGN_ALIGN_JOB_H
#define RELA_ALIGN_ALIGN_JOB_H

#include "align/head_aer.h"
#include "base/line_rows.h"
#include "base/textlines.h"
#include "rela/analyse.h"
#include "session/session.h"

/* RELA_ALIGN_LINE: bytes. Longer lines are cut there; they are too long for any model anyway. */
enum { RELA_ALIGN_ROWS = 32, RELA_ALIGN_DIRECTIONS = 2, RELA_ALIGN_LINE = 1 << 20 };

/* State of one thread. */
typedef struct rela_align_worker {
    rela_watcher *watcher[RELA_ALIGN_DIRECTIONS];
    rela_text_pair pairs[RELA_ALIGN_ROWS];
    rela_word_weights sums[RELA_ALIGN_DIRECTIONS][RELA_ALIGN_ROWS]; /* over the chosen layers */
    rela_word_weights merged;
    rela_links links[RELA_ALIGN_DIRECTIONS], joined;
    rela_head_aer aer[RELA_ALIGN_DIRECTIONS];
    rela_links gold[RELA_ALIGN_DIRECTIONS][RELA_ALIGN_ROWS];
    real *mean;
    size_t cap_mean;
} rela_align_worker;

typedef struct rela_align_job {
    rela_align_options o;
    const rela_model *models[RELA_ALIGN_DIRECTIONS];
    rela_head_choice choice[RELA_ALIGN_DIRECTIONS];
    int n_directions;
    const char *links; /* file of links to use instead of running a model, or NULL */
    /* Read line by line in parallel: the sources, the target and, if given, the links. */
    const char *files[RELA_SOURCES_MAX + 2];
    size_t n_sources, n_files;
    rela_align_worker *workers;
    int n_workers;
    rela_align_report report;
    bool encoding_reported;
    int (*on_line)(void *ctx, const rela_aligned *line);
    void *ctx;
    rela_text_lines gold;
    /* for options.only: source and target words of that line, and their weights */
    rela_buffer words[2];
    rela_word_weights shown;
} rela_align_job;

/* Context of the watcher callbacks of one worker and direction. */
typedef struct rela_align_callback {
    const rela_align_job *j;
    rela_align_worker *l;
    int direction;
} rela_align_callback;

/* j->o must be set. Takes models and heads from it, checks them and makes one worker per thread.
 * Call rela_align_job_end afterwards, also after a failure. */
rela_status rela_align_job_start(rela_align_job *j, const rela_model *m, rela_error *err);
void rela_align_job_end(rela_align_job *j);

/* Watcher callback; ctx is a rela_align_callback. Adds the chosen attention of a layer to the sum
 * of its pair. */
rela_status rela_align_gather(void *ctx, const rela_heads *h, rela_error *err);
/* Warns about a pair that is too long for the model. line counts from 1. */
void rela_align_log_long(const rela_align_job *j, uint64_t line);

/* Encodes the pairs of a block for one direction, ready for rela_align_watch. */
rela_status rela_align_load(const rela_align_job *j, rela_align_worker *l, int direction,
                            const rela_rows *rows, rela_error *err);
/* Runs the loaded pairs. RELA_NOTFINITE, naming the line, if the model overflows on one. */
rela_status rela_align_watch(const rela_align_job *j, rela_align_worker *l, int direction,
                             const rela_rows *rows, const rela_watch *watch, rela_error *err);
/* The source text that a direction links to, and the cross attention to it as a set of stacks (for
 * rela_watch). */
size_t rela_align_source(const rela_align_job *j, int direction);
uint32_t rela_align_stack(const rela_align_job *j, int direction);
/* Pair i of the loaded block; lent. */
const rela_watched *rela_align_pair(const rela_align_worker *l, int direction, size_t i);

/* Links all lines and reports them in order. */
rela_status rela_align_lines(rela_align_job *j, rela_error *err);
/* Chooses the heads with the lowest alignment error on the lines that have gold links. */
rela_status rela_align_choose(rela_align_job *j, rela_error *err);

#endif

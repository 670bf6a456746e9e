/* SPDX-License-Identifier: MIT */
/* src/align/align_job.h - what choosing heads, writing links and learning a shortlist from them
 * share.
 */
#ifndef RELA_ALIGN_ALIGN_JOB_H
#define RELA_ALIGN_ALIGN_JOB_H

#include "align/head_aer.h"
#include "base/line_rows.h"
#include "base/textlines.h"
#include "rela/analyse.h"
#include "session/session.h"

/* Of a longer line only the beginning is looked at: it is too long for any model. */
enum { RELA_ALIGN_ROWS = 32, RELA_ALIGN_DIRECTIONS = 2, RELA_ALIGN_LINE = 1 << 20 };

/* What one thread owns. */
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
    const char *links; /* a file of links, then no model runs; or NULL */
    /* Read in step: the sources, the target and perhaps links. */
    const char *files[RELA_SOURCES_MAX + 2];
    size_t n_sources, n_files;
    rela_align_worker *workers;
    int n_workers;
    rela_align_report report;
    int (*on_line)(void *ctx, const rela_aligned *line);
    void *ctx;
    rela_text_lines gold;
    /* options.only */
    rela_buffer words[2];
    rela_word_weights shown;
} rela_align_job;

/* What a callback of one direction of one worker needs. */
typedef struct rela_align_callback {
    const rela_align_job *j;
    rela_align_worker *l;
    int direction;
} rela_align_callback;

/* Fills in the models and heads of the options, which are set, and checks them; makes a worker for
 * each thread. Ends with rela_align_job_end, also after a failure. */
rela_status rela_align_job_start(rela_align_job *j, const rela_model *m, rela_error *err);
void rela_align_job_end(rela_align_job *j);

/* Callback of a watcher, ctx: rela_align_callback. Adds the chosen attention of a layer to the sum
 * of its pair. */
rela_status rela_align_gather(void *ctx, const rela_heads *h, rela_error *err);
/* Logs a pair that is too long for the model, the first few of them; n: how many there were. */
void rela_align_log_long(const rela_align_job *j, uint64_t line);

/* Encodes the pairs of a block for one direction. */
rela_status rela_align_load(const rela_align_job *j, rela_align_worker *l, int direction,
                            const rela_rows *rows, rela_error *err);
/* Runs them. RELA_NOTFINITE with the line if numbers of the model overflow for one of them. */
rela_status rela_align_watch(const rela_align_job *j, rela_align_worker *l, int direction,
                             const rela_rows *rows, const rela_watch *watch, rela_error *err);
/* The source of a direction that links are about, and as a set of stacks the attention to it. */
size_t rela_align_source(const rela_align_job *j, int direction);
uint32_t rela_align_stack(const rela_align_job *j, int direction);
/* A pair of the block that was loaded; lent. */
const rela_watched *rela_align_pair(const rela_align_worker *l, int direction, size_t i);

/* Sets the choices of the job by the alignment error on the lines that have gold links. */
rela_status rela_align_choose(rela_align_job *j, rela_error *err);

#endif

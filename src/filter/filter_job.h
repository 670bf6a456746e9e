/* SPDX-License-Identifier: MIT */
/* src/filter/filter_job.h - state shared by calibration and filtering. */
#ifndef RELA_FILTER_FILTER_JOB_H
#define RELA_FILTER_FILTER_JOB_H

#include "base/file.h"
#include "base/line_rows.h"
#include "data/pair_rules.h"
#include "filter/logistic.h"
#include "filter/pair_score.h"
#include "rela/analyse.h"
#include "session/session.h"

enum { RELA_FILTER_ROWS = 32 };
enum { RELA_FILTER_OUT_SRC, RELA_FILTER_OUT_TGT, RELA_FILTER_OUT_SCORES, RELA_FILTER_N_OUT };

/* State of one thread. */
typedef struct rela_filter_worker {
    rela_watcher *watcher;
    size_t stack; /* number of the cross-attention stack */
    rela_pair_scores scores;
    double *row; /* features of one pair */
    rela_text_pair pairs[RELA_FILTER_ROWS];
    size_t rows[RELA_FILTER_ROWS]; /* number in the block of each pair that is run */
} rela_filter_worker;

typedef struct rela_filter_job {
    rela_filter_options o;
    const rela_model *model; /* NULL: rules only */
    rela_pair_rules rules;
    rela_logit logit;
    bool *marks; /* heads that count for the null rate; NULL: all */
    rela_filter_worker *workers;
    int n_workers;
    rela_filter_report report;
    /* filtering */
    rela_seen *seen;
    rela_file_set *set;
    rela_writer *writers[RELA_FILTER_N_OUT];
    rela_buffer out[RELA_FILTER_N_OUT];
    float *kept_scores; /* with options.keep: one per line, negative if a rule dropped it */
    size_t n_scores, cap_scores;
    double cut, sum;
    uint64_t scored;
} rela_filter_job;

/* Runs the first n pairs of the worker; collects attention and log-probabilities. */
rela_status rela_filter_run(rela_filter_worker *l, size_t n, rela_error *err);

/* Judges all lines and writes those that are kept, or collects their scores. */
rela_status rela_filter_lines(rela_filter_job *j, rela_error *err);
/* Then writes the best pairs: the share to keep. */
rela_status rela_filter_cut(rela_filter_job *j, rela_error *err);

/* Fits the combined score: pairs of the text against corrupted copies of them. */
rela_status rela_filter_calibrate(rela_filter_job *j, rela_error *err);

#endif

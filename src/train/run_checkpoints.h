/* SPDX-License-Identifier: MIT */
/* src/train/run_checkpoints.h - the checkpoints of a run: the newest is resumed, the
 * result is made of the last ones. The folder may hold any file, so each is checked against the run
 * before its numbers are used. */
#ifndef RELA_TRAIN_RUN_CHECKPOINTS_H
#define RELA_TRAIN_RUN_CHECKPOINTS_H

#include "text/pipeline.h"
#include "train/resume_state.h"
#include "train/run_dir.h"
#include "train/update.h"

/* The run that a checkpoint must belong to; all lent. */
typedef struct rela_train_run {
    const rela_run *run;
    const rela_train_options *o;
    const rela_net *net;
    const rela_pipeline *pipeline;
    uint64_t data_digest;
} rela_train_run;

/* Checks a loaded checkpoint, whose net and pipeline are those of r: configuration, state and
 * moments must match the settings. RELA_FORMAT if not; the message does not name the file. */
rela_status rela_train_check_loaded(const rela_train_run *r, const rela_extras *loaded,
                                    uint64_t update, rela_error *err);

/* RELA_FORMAT, naming the first checkpoint that is packed or of another model or run. Only headers
 * are read. */
rela_status rela_train_check_files(const rela_train_run *r, const uint64_t *updates, size_t n,
                                   rela_error *err);

/* Moves the moments of a checkpoint that has passed the checks to the updater; count: updates that
 * they have seen. */
void rela_train_restore_moments(rela_updater *s, rela_extras *loaded, uint64_t count);

/* Reads the weights of a checkpoint of the run, in the layout of r->net. On failure their values
 * are undefined. */
rela_status rela_train_read_weights(real *weights, const rela_train_run *r, uint64_t update,
                                    rela_error *err);
/* The same of best.rela, which is of that update. */
rela_status rela_train_read_best(real *weights, const rela_train_run *r, uint64_t update,
                                 rela_error *err);

#endif

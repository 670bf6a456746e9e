/* SPDX-License-Identifier: MIT */
/* src/train/run_checkpoints.h - the checkpoints of a run: the newest is resumed, the mean of the
 * last ones is the result. Any file may lie in the folder, so each is compared with the run before
 * its numbers are used. */
#ifndef RELA_TRAIN_RUN_CHECKPOINTS_H
#define RELA_TRAIN_RUN_CHECKPOINTS_H

#include "text/pipeline.h"
#include "train/resume_state.h"
#include "train/run_dir.h"
#include "train/step.h"

/* The run that a checkpoint must belong to; all lent. */
typedef struct rela_train_run {
    const rela_run *run;
    const rela_train_options *o;
    const rela_net *net;
    const rela_pipeline *pipeline;
    uint64_t data_digest;
} rela_train_run;

/* Are configuration, state and moments of the checkpoint that was loaded, with its net and
 * pipeline, what the settings make of them? RELA_FORMAT if not, the file not named. */
rela_status rela_train_check_loaded(const rela_train_run *r, const rela_extras *loaded,
                                    uint64_t update, rela_error *err);

/* RELA_FORMAT with the name of the first checkpoint that is packed, of another model or another
 * run. Only headers are read. */
rela_status rela_train_check_files(const rela_train_run *r, const uint64_t *updates, size_t n,
                                   rela_error *err);

/* Moments and count of the optimiser go from the checkpoint, which was checked, to the stepper. */
void rela_train_restore_moments(rela_stepper *s, rela_extras *loaded, uint64_t count);

/* weights, of r->net, become the mean of the given checkpoints. On failure they are of no use. */
rela_status rela_train_mean(real *weights, const rela_train_run *r, const uint64_t *updates,
                            size_t n, rela_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* src/train/resume_state.h - what a checkpoint holds of a run besides tensors: its progress, and
 * the settings and data it was made with. */
#ifndef RELA_TRAIN_RESUME_STATE_H
#define RELA_TRAIN_RESUME_STATE_H

#include "format/checkpoint.h"
#include "rela/train.h"
#include "train/loop.h"

typedef struct rela_train_state {
    rela_loop_state loop;
    uint64_t adam_count;
    uint64_t data_digest; /* of the encoded training pairs */
    bool at_interval;     /* the update is a multiple of --save-every */
} rela_train_state;

/* Adds the state and the settings, which are resolved, as sections of a checkpoint; reads the state
 * back. */
rela_status rela_train_state_store(rela_extras *e, const rela_train_state *s,
                                   const rela_train_options *o, rela_error *err);
rela_status rela_train_state_restore(rela_train_state *s, const rela_extras *e, rela_error *err);

/* RELA_STATE, naming up to five settings that differ from the checkpoint and would change the
 * result. The length of the run, intervals, file names and the number of checkpoints to keep may
 * change. */
rela_status rela_train_state_compare(const rela_extras *e, const rela_train_options *o,
                                     rela_error *err);

/* Appends which names of training texts differ from the checkpoint: "train-src was ..., now ...".
 */
rela_status rela_train_state_texts(rela_buffer *out, const rela_extras *e,
                                   const rela_train_options *o, rela_error *err);

/* A whole number among the settings of the checkpoint; otherwise: if it is of a version without
 * that setting. */
int64_t rela_train_state_setting(const rela_extras *e, const char *key, int64_t otherwise);

/* Whether the checkpoint is of a run with validation text. */
bool rela_train_state_had_valid(const rela_extras *e);

/* RELA_FORMAT unless the checkpoint was saved after this update by a run with these settings on
 * text with this digest. */
rela_status rela_train_state_check(const rela_extras *e, const rela_train_options *o,
                                   uint64_t update, uint64_t data_digest, rela_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* src/train/run_dir.h - the directory of a training run: lock, logs, numbered checkpoints.
 *
 * Regular checkpoints are saved at updates that depend on the settings alone; the result is made of
 * them. A run that is stopped, or asked to save, between two of them leaves an interim checkpoint
 * beside their folder. The next checkpoint of either kind replaces it. */
#ifndef RELA_TRAIN_RUN_DIR_H
#define RELA_TRAIN_RUN_DIR_H

#include "base/file.h"

typedef struct rela_run {
    char *dir;
    rela_lock *lock;
    bool is_new;     /* it was not a run directory before */
    size_t existing; /* bytes of the part of dir that was there; the rest was made for the run */
    rela_appender *log, *records, *valid; /* train.log, train.jsonl, valid.tsv */
} rela_run;

/* Makes the directory and locks it; RELA_STATE if another trainer is at work there. */
rela_status rela_run_open(rela_run *r, const char *dir, rela_error *err);
/* For the other ranks: reads a directory that rank 0 has made and locked. */
rela_status rela_run_view(rela_run *r, const char *dir, rela_error *err);
void rela_run_close(rela_run *r);
/* Removes what rela_run_open and rela_run_open_logs have made, unless the directory was that of a
 * run before or has checkpoints; other files are left alone. To be closed afterwards. */
void rela_run_discard(rela_run *r);

/* Opens the logs; drops records of updates after the given one, which will be written again. head:
 * the first line of a new valid.tsv. */
rela_status rela_run_open_logs(rela_run *r, rela_span head, uint64_t update, rela_error *err);

/* path = DIR/name; the caller frees it with rela_buffer_free. */
rela_status rela_run_path(rela_buffer *path, const rela_run *r, const char *name, rela_error *err);
rela_status rela_run_checkpoint_path(rela_buffer *path, const rela_run *r, uint64_t update,
                                     bool regular, rela_error *err);

/* Updates of the regular checkpoints, ascending; given to the caller, freed with rela_mem_free. */
rela_status rela_run_checkpoints(uint64_t **updates, size_t *n, const rela_run *r, rela_error *err);

/* The newest checkpoint of either kind; *update is 0 if there is none. */
rela_status rela_run_newest(uint64_t *update, bool *regular, const rela_run *r, rela_error *err);

/* Turns a regular checkpoint into an interim one: for a finished run that is extended, whose last
 * checkpoint was saved only because the run ended there. */
rela_status rela_run_demote(const rela_run *r, uint64_t update, rela_error *err);

/* Removes all regular checkpoints but the newest `keep`, and all interim ones, unless one is the
 * newest checkpoint. */
rela_status rela_run_prune(const rela_run *r, size_t keep, rela_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* src/api/run.h - the directory of a training run: lock, logs, numbered checkpoints. */
#ifndef RELA_API_RUN_H
#define RELA_API_RUN_H

#include "base/file.h"

typedef struct rela_run {
    char *dir;
    rela_lock *lock;
    rela_appender *log, *records, *valid; /* train.log, train.jsonl, valid.tsv */
} rela_run;

/* Makes the directory and locks it; RELA_STATE if another trainer is at work there. */
rela_status rela_run_open(rela_run *r, const char *dir, rela_error *err);
void rela_run_close(rela_run *r);

/* Opens the logs; records of updates after the given one are cut off, as they will come again. */
rela_status rela_run_open_logs(rela_run *r, uint64_t update, rela_error *err);

/* path = DIR/name; a text to be freed with rela_buffer_free. */
rela_status rela_run_path(rela_buffer *path, const rela_run *r, const char *name, rela_error *err);
rela_status rela_run_checkpoint_path(rela_buffer *path, const rela_run *r, uint64_t update,
                                     rela_error *err);

/* Numbers of the checkpoints, rising; given, freed with rela_mem_free. */
rela_status rela_run_checkpoints(uint64_t **updates, size_t *n, const rela_run *r, rela_error *err);

/* Removes all but the newest. */
rela_status rela_run_prune(const rela_run *r, size_t keep, rela_error *err);

#endif

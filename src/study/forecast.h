/* SPDX-License-Identifier: MIT */
/* src/study/forecast.h - time, memory and disk that jobs will need.
 *
 * Time comes from jobs that are done: seconds per unit of work of those most like it. Without any,
 * it comes from the speed of the machine. Memory of a training is (4 + threads) times its
 * parameters and what the program itself takes; disk is its checkpoints. */
#ifndef RELA_STUDY_FORECAST_H
#define RELA_STUDY_FORECAST_H

#include "study/study_job.h"

typedef struct rela_study_need {
    double seconds;        /* of one core */
    uint64_t memory, disk; /* bytes; disk while it runs */
    uint64_t kept;         /* bytes that stay in DIR */
    bool measured;         /* seconds come from jobs that are done */
} rela_study_need;

/* needs has one element per job; those of done jobs are zero. flops: operations per second of one
 * core, for what no finished job tells. threads: of one job. */
rela_status rela_study_forecast(rela_study_need *needs, const rela_study_jobs *jobs,
                                const char *results, double flops, int64_t threads,
                                rela_error *err);

/* RELA_IO if the file system of dir has no room for the jobs that are wanted, of which at_once run
 * at the same time. wanted: one per job. */
rela_status rela_study_check_room(const rela_study_need *needs, const rela_study_jobs *jobs,
                                  const bool *wanted, const char *dir, size_t at_once,
                                  rela_error *err);

#endif

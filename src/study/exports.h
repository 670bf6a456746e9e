/* SPDX-License-Identifier: MIT */
/* src/study/exports.h - the jobs of a study for engines that exist: make, xargs, Slurm. */
#ifndef RELA_STUDY_EXPORTS_H
#define RELA_STUDY_EXPORTS_H

#include "study/study_job.h"

/* The command that runs one job, without its name: "rela study run own.yml --dir work --job". */
typedef struct rela_study_engine {
    const char *command;
    const char *dir, *results;
} rela_study_engine;

/* A Makefile. Targets of jobs whose keys are known are their manifests in RESULTS: existence
 * decides, never a time stamp. */
rela_status rela_study_export_make(rela_buffer *out, const rela_study_jobs *jobs,
                                   const rela_study_engine *e, rela_error *err);
/* Names of jobs, one per line, every job after those that it needs. */
rela_status rela_study_export_xargs(rela_buffer *out, const rela_study_jobs *jobs, rela_error *err);
/* A shell script with one sbatch --array per level of jobs that need only those before. */
rela_status rela_study_export_slurm(rela_buffer *out, const rela_study_jobs *jobs,
                                    const rela_study_engine *e, rela_error *err);

#endif

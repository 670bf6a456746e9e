/* SPDX-License-Identifier: MIT */
/* cli/jobs.h - runs a command on files as a job (rela/job.h): on the ranks of mpirun, and with
 * --resume FILE from where it was interrupted. */
#ifndef RELA_CLI_JOBS_H
#define RELA_CLI_JOBS_H

#include "cli.h"

#include "rela/job.h"

#define RELA_CLI_RESUME_HELP                                                                       \
    "save results to FILE while the job runs; if FILE exists, continue an interrupted job from it"

/* Joins the ranks, silences all but rank 0 and divides the threads. resume: FILE of --resume or
 * NULL. Options, and size and hash of the input files named by options and operands, become
 * settings of the job. */
rela_status rela_cli_job_open(rela_job **out, rela_cli *cli, const char *resume, rela_error *err);

/* Whether it is more than a plain run: several ranks, or --resume. */
bool rela_cli_job_shared(const rela_job *j, const char *resume);

#endif

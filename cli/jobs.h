/* SPDX-License-Identifier: MIT */
/* cli/jobs.h - a command on files as a job (rela/job.h): on the ranks of mpirun, and with --resume
 * FILE one that goes on where it was ended. */
#ifndef RELA_CLI_JOBS_H
#define RELA_CLI_JOBS_H

#include "cli.h"

#include "rela/job.h"

#define RELA_CLI_RESUME_HELP                                                                       \
    "keep results in FILE until all is done; if it is there, go on with what an ended job has "    \
    "kept"

/* Joins the ranks; all but rank 0 are quiet from now on, and threads are divided. resume: NULL
 * without. Options, and size and hash of the files that the options and operands name, become
 * settings of the job. */
rela_status rela_cli_job_open(rela_job **out, rela_cli *cli, const char *resume, rela_error *err);

/* Whether anything but a plain run was asked for. */
bool rela_cli_job_shared(const rela_job *j, const char *resume);

#endif

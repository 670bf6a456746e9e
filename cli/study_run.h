/* SPDX-License-Identifier: MIT */
/* cli/study_run.h - runs the jobs of a study. */
#ifndef RELA_CLI_STUDY_RUN_H
#define RELA_CLI_STUDY_RUN_H

#include "studies.h"

typedef struct rela_cli_run_options {
    rela_cli_study_options study;
    int64_t jobs;        /* at the same time */
    bool next;           /* one job, then end */
    const char *job;     /* this one, and what it needs; NULL: all */
    const char *until;   /* last stage; NULL: all */
    const char *program; /* NULL: this one */
    int64_t nice;
} rela_cli_run_options;

rela_status rela_cli_study_run(rela_cli *cli, const rela_cli_run_options *o, rela_error *err);

#endif

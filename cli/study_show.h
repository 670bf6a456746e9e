/* SPDX-License-Identifier: MIT */
/* cli/study_show.h - what rela study plan, status and why print. */
#ifndef RELA_CLI_STUDY_SHOW_H
#define RELA_CLI_STUDY_SHOW_H

#include "studies.h"

typedef struct rela_cli_plan_options {
    rela_cli_study_options study;
    const char *format, *program;
} rela_cli_plan_options;

typedef struct rela_cli_status_options {
    rela_cli_study_options study;
    const char *format;
} rela_cli_status_options;

rela_status rela_cli_study_plan(rela_cli *cli, const rela_cli_plan_options *o, rela_error *err);
rela_status rela_cli_study_status(rela_cli *cli, const rela_cli_status_options *o, rela_error *err);
rela_status rela_cli_study_why(rela_cli *cli, const rela_cli_study_options *o, rela_error *err);

#endif

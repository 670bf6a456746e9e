/* SPDX-License-Identifier: MIT */
/* cli/study_keep.h - rela study verify and adopt. */
#ifndef RELA_CLI_STUDY_KEEP_H
#define RELA_CLI_STUDY_KEEP_H

#include "studies.h"

typedef struct rela_cli_adopt_options {
    rela_cli_study_options study;
    const char *from;
} rela_cli_adopt_options;

rela_status rela_cli_study_verify(rela_cli *cli, const rela_cli_study_options *o, rela_error *err);
rela_status rela_cli_study_adopt(rela_cli *cli, const rela_cli_adopt_options *o, rela_error *err);

#endif

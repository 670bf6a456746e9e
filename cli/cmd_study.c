/* SPDX-License-Identifier: MIT */
/* cli/cmd_study.c - rela study plan, run, status, why, verify, adopt. */
#include "studies.h"

const rela_command rela_commands_study[] = {
    { .name = NULL },
};

/* SPDX-License-Identifier: MIT */
/* cli/studies.h - what the commands of studies share: options, reading, jobs with their states. */
#ifndef RELA_CLI_STUDIES_H
#define RELA_CLI_STUDIES_H

#include "cli.h"

#include "study/study_job.h"

/* The options that name a study and its folders; the first member of the options of a command. */
typedef struct rela_cli_study_options {
    const char *scale, *dir, *results;
    rela_list sets;
} rela_cli_study_options;

/* clang-format off */
#define RELA_CLI_STUDY_ROWS                                                                       \
    { "scale", 's', RELA_OPTION_TEXT, offsetof(rela_cli_study_options, scale), 0, 0, NULL, "NAME",\
      "scale of the study, one of its 'scales:'" },                                               \
    { "dir", 'd', RELA_OPTION_DIR, offsetof(rela_cli_study_options, dir), 0, 0, NULL, "DIR",      \
      "folder of the jobs [build/study/NAME-SCALE]" },                                            \
    { "results", 'r', RELA_OPTION_DIR, offsetof(rela_cli_study_options, results), 0, 0, NULL,     \
      "DIR", "folder of the small results [results in --dir]" },                                  \
    { "set", 0, RELA_OPTION_LIST, offsetof(rela_cli_study_options, sets), 0, 0, NULL,             \
      "NAME=VALUE", "value of ${NAME} in the study; may be repeated" }
/* clang-format on */

typedef struct rela_cli_study {
    rela_study *study;
    rela_study_jobs jobs;
    rela_buffer dir, results;
} rela_cli_study;

/* Reads the study and expands it to jobs. out is to be closed also after a failure. */
rela_status rela_cli_study_open(rela_cli_study *out, const char *path,
                                const rela_cli_study_options *o, rela_error *err);
void rela_cli_study_close(rela_cli_study *s);

/* Options in full of a command, for keys. */
extern const rela_study_normaliser RELA_CLI_NORMALISER;

#endif

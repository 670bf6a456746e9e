/* SPDX-License-Identifier: MIT */
/* cli/row_jobs.h - base/line_rows.h for commands, with --threads and a progress bar. */
#ifndef RELA_CLI_ROW_JOBS_H
#define RELA_CLI_ROW_JOBS_H

#include "cli.h"

#include "base/line_rows.h"

typedef rela_rows rela_cli_rows;

typedef struct rela_cli_steps {
    rela_list files; /* "-" is standard input, once */
    const char *label;
    bool may_be_empty;
    rela_status (*work)(void *ctx, rela_cli_rows *rows, rela_error *err);       /* on all threads */
    rela_status (*done)(void *ctx, const rela_cli_rows *rows, rela_error *err); /* in order */
    void *ctx;
} rela_cli_steps;

rela_status rela_cli_run_steps(rela_cli *cli, const rela_cli_steps *job, rela_error *err);

/* Prefixes the message of a failure with file and line. Returns st; RELA_OK is passed through. */
rela_status rela_cli_fail_at(rela_error *err, rela_status st, const char *path, uint64_t line);

#endif

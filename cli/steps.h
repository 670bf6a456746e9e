/* SPDX-License-Identifier: MIT */
/* cli/steps.h - several files read in step: line n of one belongs to line n of the others.
 *
 * Files with different numbers of lines are an error that tells both counts; so are files without
 * any line, unless told otherwise. */
#ifndef RELA_CLI_STEPS_H
#define RELA_CLI_STEPS_H

#include "cli.h"

/* Some lines of all files. */
typedef struct rela_cli_rows {
    rela_span *cells; /* (n, n_files): one line of each file */
    size_t n;
    uint64_t first;  /* number of the first line */
    rela_buffer out; /* what work makes of them; empty before */
    /* private */
    rela_buffer text;
    size_t cap;
} rela_cli_rows;

typedef struct rela_cli_steps {
    rela_list files; /* "-" is standard input, once */
    const char *label;
    bool may_be_empty;
    rela_status (*work)(void *ctx, rela_cli_rows *rows, rela_error *err);       /* on all threads */
    rela_status (*done)(void *ctx, const rela_cli_rows *rows, rela_error *err); /* in order */
    void *ctx;
} rela_cli_steps;

rela_status rela_cli_run_steps(rela_cli *cli, const rela_cli_steps *job, rela_error *err);

/* Adds the place of line of a file to the message of a failure; passes RELA_OK on. */
rela_status rela_cli_fail_at(rela_error *err, rela_status st, const char *path, uint64_t line);

#endif

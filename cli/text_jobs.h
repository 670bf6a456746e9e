/* SPDX-License-Identifier: MIT */
/* cli/text_jobs.h - commands that turn lines into text with a model, as jobs: many lines at a time,
 * with those of a further file that belong to them, and results in the order of the input. */
#ifndef RELA_CLI_TEXT_JOBS_H
#define RELA_CLI_TEXT_JOBS_H

#include "jobs.h"
#include "sources.h"

/* What is worked on at a time. */
typedef struct rela_cli_lines_read {
    rela_cli_sentences in;
    rela_cli_block other; /* their lines of the further file, if there is one */
} rela_cli_lines_read;

typedef struct rela_cli_text_job {
    /* Set by the command. */
    rela_cli *cli;
    const char *label;
    int64_t read_bytes; /* text read at a time, at most */
    /* Appends text to be written, and notes about it. What it makes before a line for which numbers
     * are not finite is written too. */
    rela_status (*work)(void *ctx, const rela_cli_lines_read *lines, rela_buffer *text,
                        rela_buffer *notes, rela_error *err);
    /* On rank 0, in order: the notes about some lines. May be NULL. */
    void (*on_notes)(void *ctx, const char *notes, size_t len);
    void *ctx;
    rela_job *job;
    rela_cli_sources sources;
    rela_reader *other;  /* or NULL */
    rela_writer *writer; /* on rank 0 */
    /* private */
    rela_progress bar;
    size_t bytes;
    bool prompts;
    rela_buffer text, notes, log; /* of the present lines */
} rela_cli_text_job;

/* All lines. */
rela_status rela_cli_text_job_run(rela_cli_text_job *t, rela_error *err);
/* Opens the output on rank 0; it may replace a file that others read until commit. */
rela_status rela_cli_text_job_output(rela_cli_text_job *t, const char *path, rela_error *err);
rela_status rela_cli_text_job_commit(rela_cli_text_job *t, rela_error *err);
/* st: how the command ended; returns it. Closes files and the job too. */
rela_status rela_cli_text_job_close(rela_cli_text_job *t, rela_status st, rela_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/text_jobs.h - runs commands that map lines to text with a model as jobs: in blocks of lines,
 * optionally with the lines of a parallel file, and with results in input order. */
#ifndef RELA_CLI_TEXT_JOBS_H
#define RELA_CLI_TEXT_JOBS_H

#include "jobs.h"
#include "sources.h"

/* A block of input. */
typedef struct rela_cli_lines_read {
    rela_cli_sentences in;
    rela_cli_block other; /* their lines in the parallel file, if there is one */
} rela_cli_lines_read;

typedef struct rela_cli_text_job {
    /* Set by the command. */
    rela_cli *cli;
    const char *label;
    int64_t read_bytes; /* size of a block, at most */
    /* Appends text to write, and notes about it for on_notes. With RELA_NOTFINITE the text made
     * before the failing line is still written. */
    rela_status (*work)(void *ctx, const rela_cli_lines_read *lines, rela_buffer *text,
                        rela_buffer *notes, rela_error *err);
    /* Called on rank 0, in input order, with the notes of a block. May be NULL. */
    void (*on_notes)(void *ctx, const char *notes, size_t len);
    void *ctx;
    rela_job *job;
    rela_cli_sources sources;
    rela_reader *other;                      /* or NULL */
    const char *paths[RELA_SOURCES_MAX + 1]; /* of the sources, then of other; or NULL */
    rela_writer *writer;                     /* on rank 0 */
    /* private */
    rela_progress bar;
    size_t bytes;
    rela_buffer text, notes, log; /* of the current block */
} rela_cli_text_job;

/* Processes all lines. */
rela_status rela_cli_text_job_run(rela_cli_text_job *t, rela_error *err);
/* Opens the output on rank 0. An existing file is only replaced at commit, so that other ranks can
 * still read it. */
rela_status rela_cli_text_job_output(rela_cli_text_job *t, const char *path, rela_error *err);
rela_status rela_cli_text_job_commit(rela_cli_text_job *t, rela_error *err);
/* Closes files and job. st: how the command ended; returned. */
rela_status rela_cli_text_job_close(rela_cli_text_job *t, rela_status st, rela_error *err);

#endif

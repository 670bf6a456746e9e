/* SPDX-License-Identifier: MIT */
/* src/base/line_rows.h - several files read in step, on all threads: line n of one belongs to line
 * n of the others.
 *
 * Blocks of rows are read in order, worked on concurrently and finished in order. Files with
 * different numbers of lines are an error that gives both counts; so are files without any line,
 * unless allowed. */
#ifndef RELA_BASE_LINE_ROWS_H
#define RELA_BASE_LINE_ROWS_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Some lines of all files. */
typedef struct rela_rows {
    rela_span *lines; /* (n, n_files): one line of each file */
    size_t n;
    uint64_t first;  /* number of the first line, from 1 */
    rela_buffer out; /* what work makes of them; empty before */
    void *extra;     /* the same for what is no text: kept from block to block, NULL at first */
    /* private */
    rela_buffer text;
    size_t cap;
} rela_rows;

typedef struct rela_steps {
    const char *const *files; /* "-" is standard input, once */
    size_t n_files;
    int n_threads;
    size_t block_rows; /* rows per block at most; 0: thousands */
    uint64_t limit;    /* rows to read; 0: at the end */
    size_t max_line;   /* lines are cut after this many bytes; 0: RELA_LINE_MAX, and longer ones
                        * are an error */
    bool may_be_empty;
    rela_status (*work)(void *ctx, rela_rows *rows, int thread, rela_error *err);
    rela_status (*done)(void *ctx, rela_rows *rows, rela_error *err); /* in order */
    void (*free_extra)(void *extra);                                  /* or NULL */
    void *ctx;
} rela_steps;

/* *n_rows (NULL is fine): how many were read. */
rela_status rela_steps_run(uint64_t *n_rows, const rela_steps *s, rela_error *err);

/* The reading alone. The steps must outlive the reader. */
typedef struct rela_row_reader rela_row_reader;
rela_status rela_row_reader_open(rela_row_reader **out, const rela_steps *s, rela_error *err);
void rela_row_reader_close(rela_row_reader *w); /* NULL is fine */
/* The next block: so many rows, unless the files end before; want 0: as the steps have it. None at
 * the end, which is a failure if there was no row at all and there must be one. */
rela_status rela_row_reader_next(rela_row_reader *w, rela_rows *rows, size_t want, rela_error *err);
uint64_t rela_row_reader_count(const rela_row_reader *w); /* rows read so far */
/* Where the next row begins in each file (n_files), see rela_reader_place; and going there. */
void rela_row_reader_place(const rela_row_reader *w, uint64_t *places);
rela_status rela_row_reader_seek(rela_row_reader *w, const uint64_t *places, uint64_t n_rows,
                                 rela_error *err);
void rela_rows_free(rela_rows *rows); /* all but extra */

/* Adds the place of a line of a file to the message of a failure; passes RELA_OK on. */
rela_status rela_fail_at(rela_error *err, rela_status st, const char *path, uint64_t line);

#endif

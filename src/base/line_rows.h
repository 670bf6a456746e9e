/* SPDX-License-Identifier: MIT */
/* src/base/line_rows.h - parallel files processed line by line on all threads: row n is line n of
 * each file.
 *
 * Blocks of rows are read in order, processed concurrently and finished in order. Files with
 * different numbers of lines are an error that gives both counts; empty files are an error too,
 * unless may_be_empty is set. */
#ifndef RELA_BASE_LINE_ROWS_H
#define RELA_BASE_LINE_ROWS_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A block of rows. */
typedef struct rela_rows {
    rela_span *lines; /* (n, n_files): one line of each file */
    size_t n;
    uint64_t first;  /* number of the first line, from 1 */
    rela_buffer out; /* output of work; empty before the call */
    void *extra;     /* output of work that is not text: kept between blocks, NULL at first */
    /* private */
    rela_buffer text;
    size_t cap;
} rela_rows;

typedef struct rela_steps {
    const char *const *files; /* "-" is standard input, once */
    size_t n_files;
    int n_threads;
    size_t block_rows; /* maximum rows per block; 0: thousands */
    uint64_t limit;    /* rows to read; 0: all */
    size_t max_line;   /* lines are cut after this many bytes; 0: lines over RELA_LINE_MAX are an
                        * error */
    bool may_be_empty;
    rela_status (*work)(void *ctx, rela_rows *rows, int thread, rela_error *err);
    rela_status (*done)(void *ctx, rela_rows *rows, rela_error *err); /* in order */
    void (*free_extra)(void *extra);                                  /* or NULL */
    void *ctx;
} rela_steps;

/* *n_rows: the number of rows read; n_rows may be NULL. */
rela_status rela_steps_run(uint64_t *n_rows, const rela_steps *s, rela_error *err);

/* Only the reading part. s must outlive the reader. */
typedef struct rela_row_reader rela_row_reader;
rela_status rela_row_reader_open(rela_row_reader **out, const rela_steps *s, rela_error *err);
void rela_row_reader_close(rela_row_reader *w); /* NULL is fine */
/* The next block: want rows, or fewer if the files end before that; want 0: the block size of the
 * steps. rows->n is 0 at the end; it is a failure if there were no rows at all, unless
 * may_be_empty is set. */
rela_status rela_row_reader_next(rela_row_reader *w, rela_rows *rows, size_t want, rela_error *err);
uint64_t rela_row_reader_count(const rela_row_reader *w); /* rows read so far */
/* Where the next row begins in each file (n_files), see rela_reader_place; and seeking to it. */
void rela_row_reader_place(const rela_row_reader *w, uint64_t *places);
rela_status rela_row_reader_seek(rela_row_reader *w, const uint64_t *places, uint64_t n_rows,
                                 rela_error *err);
void rela_rows_free(rela_rows *rows); /* all but extra */

/* Prepends file and line to the message of a failure; returns st. */
rela_status rela_fail_at(rela_error *err, rela_status st, const char *path, uint64_t line);

#endif

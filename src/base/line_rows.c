/* SPDX-License-Identifier: MIT */
/* src/base/line_rows.c - see line_rows.h. */
#include "base/line_rows.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"

#include <string.h>

enum { BLOCK_BYTES = 1 << 18, BLOCK_ROWS = 1 << 13, PLACE_MAX = 32 };

struct rela_row_reader {
    const rela_steps *job;
    rela_reader **readers;
    uint64_t *n_lines; /* read so far, per file */
    uint64_t n_rows;
};

static rela_status open_files(rela_row_reader *w, rela_error *err);
static rela_status read_rows(void *ctx, void *block, bool *more, rela_error *err);
static rela_status read_row(rela_row_reader *w, rela_rows *rows, bool *more, rela_error *err);
static rela_status compare_counts(rela_row_reader *w, rela_error *err);
static rela_status work_rows(void *ctx, void *block, int thread, rela_error *err);
static rela_status finish_rows(void *ctx, void *block, rela_error *err);
static rela_status run_pipe(rela_row_reader *w, rela_error *err);
static void free_blocks(const rela_steps *job, void **blocks);

rela_status rela_steps_run(uint64_t *n_rows, const rela_steps *s, rela_error *err)
{
    rela_row_reader *w = NULL;
    rela_status st = rela_row_reader_open(&w, s, err);
    if (st == RELA_OK)
        st = run_pipe(w, err);
    if (n_rows)
        *n_rows = w ? w->n_rows : 0;
    rela_row_reader_close(w);
    return st;
}

rela_status rela_row_reader_open(rela_row_reader **out, const rela_steps *s, rela_error *err)
{
    const size_t n = s->n_files;
    rela_row_reader *w = rela_mem_zalloc(sizeof *w);
    *out = NULL;
    if (!w)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu files", n);
    w->job = s;
    w->readers = rela_mem_zalloc(n * sizeof *w->readers);
    w->n_lines = rela_mem_zalloc(n * sizeof *w->n_lines);
    const rela_status st = w->readers && w->n_lines
                               ? open_files(w, err)
                               : rela_fail(err, RELA_NOMEM, "no memory for %zu files", n);
    if (st != RELA_OK) {
        rela_row_reader_close(w);
        return st;
    }
    *out = w;
    return RELA_OK;
}

void rela_row_reader_close(rela_row_reader *w)
{
    if (!w)
        return;
    for (size_t i = 0; w->readers && i < w->job->n_files; i++)
        rela_reader_close(w->readers[i]);
    rela_mem_free(w->readers);
    rela_mem_free(w->n_lines);
    rela_mem_free(w);
}

uint64_t rela_row_reader_count(const rela_row_reader *w)
{
    return w->n_rows;
}

void rela_row_reader_place(const rela_row_reader *w, uint64_t *places)
{
    for (size_t i = 0; i < w->job->n_files; i++)
        places[i] = rela_reader_place(w->readers[i]);
}

rela_status rela_row_reader_seek(rela_row_reader *w, const uint64_t *places, uint64_t n_rows,
                                 rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < w->job->n_files && st == RELA_OK; i++) {
        st = rela_reader_seek(w->readers[i], places[i], n_rows, err);
        w->n_lines[i] = rela_reader_lines(w->readers[i]);
    }
    w->n_rows = n_rows;
    return st;
}

rela_status rela_fail_at(rela_error *err, rela_status st, const char *path, uint64_t line)
{
    if (st == RELA_OK)
        return st;
    char place[PLACE_MAX];
    rela_format_text(place, sizeof place, "line %llu", (unsigned long long)line);
    (void)rela_fail_in(err, st, place);
    return rela_fail_in(err, st, strcmp(path, "-") == 0 ? "standard input" : path);
}

static rela_status open_files(rela_row_reader *w, rela_error *err)
{
    rela_status st = RELA_OK;
    bool standard = false;
    for (size_t i = 0; i < w->job->n_files && st == RELA_OK; i++) {
        const char *path = w->job->files[i];
        if (strcmp(path, "-") == 0 && standard)
            return rela_fail(err, RELA_ARG, "standard input can be read only once");
        standard = standard || strcmp(path, "-") == 0;
        const rela_reader_options o = { .max_line = w->job->max_line };
        st = rela_reader_open(&w->readers[i], path, &o, err);
    }
    return st;
}

static rela_status run_pipe(rela_row_reader *w, rela_error *err)
{
    const int n_threads = w->job->n_threads;
    void **blocks = rela_mem_zalloc((size_t)n_threads * sizeof *blocks);
    bool good = blocks != NULL;
    for (int i = 0; i < n_threads && good; i++)
        good = (blocks[i] = rela_mem_zalloc(sizeof(rela_rows))) != NULL;
    const rela_pipe pipe = { .read = read_rows,
                             .work = work_rows,
                             .write = finish_rows,
                             .ctx = w,
                             .blocks = blocks,
                             .n_threads = n_threads };
    const rela_status st = good ? rela_pipe_run(&pipe, err)
                                : rela_fail(err, RELA_NOMEM, "no memory for %d threads", n_threads);
    free_blocks(w->job, blocks);
    return st;
}

static rela_status read_rows(void *ctx, void *block, bool *more, rela_error *err)
{
    rela_rows *rows = block;
    const rela_status st = rela_row_reader_next(ctx, rows, 0, err);
    *more = rows->n > 0;
    return st;
}

rela_status rela_row_reader_next(rela_row_reader *w, rela_rows *rows, size_t want, rela_error *err)
{
    const size_t most = want ? want : w->job->block_rows ? w->job->block_rows : BLOCK_ROWS;
    const size_t bytes = want ? SIZE_MAX : BLOCK_BYTES;
    rela_status st = RELA_OK;
    bool more = true;
    rela_buffer_clear(&rows->text);
    rows->n = 0;
    rows->first = w->n_rows + 1;
    while (st == RELA_OK && more && rows->n < most && rows->text.len < bytes &&
           (w->job->limit == 0 || w->n_rows < w->job->limit))
        st = read_row(w, rows, &more, err);
    const char *at = rows->text.data; /* set last: the buffer moves while it grows */
    for (size_t i = 0; i < rows->n * w->job->n_files; i++) {
        rows->lines[i].text = at ? at : "";
        at += rows->lines[i].len;
    }
    if (st == RELA_OK && w->n_rows == 0 && !w->job->may_be_empty)
        return rela_fail(err, RELA_FORMAT, "%s: no lines", rela_reader_name(w->readers[0]));
    return st;
}

/* One line of every file; *more = false if all have ended. */
static rela_status read_row(rela_row_reader *w, rela_rows *rows, bool *more, rela_error *err)
{
    const size_t n_files = w->job->n_files;
    rela_span *cells =
        rela_mem_grow(rows->lines, &rows->cap, (rows->n + 1) * n_files, sizeof *cells);
    if (!cells)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu lines", rows->n + 1);
    rows->lines = cells;
    size_t n_ended = 0;
    for (size_t i = 0; i < n_files; i++) {
        rela_line line;
        rela_status st = rela_reader_line(w->readers[i], &line, err);
        if (st != RELA_OK)
            return st;
        if (line.too_long && !w->job->max_line)
            return rela_fail(err, RELA_FORMAT, "%s: line %llu: longer than %d bytes",
                             rela_reader_name(w->readers[i]), (unsigned long long)line.number,
                             RELA_LINE_MAX);
        n_ended += !line.text;
        w->n_lines[i] += line.text != NULL;
        cells[rows->n * n_files + i].len = line.len;
        if (line.text &&
            (st = rela_buffer_append(&rows->text, line.text, line.len, err)) != RELA_OK)
            return st;
    }
    *more = n_ended == 0;
    if (n_ended > 0 && n_ended < n_files)
        return compare_counts(w, err);
    rows->n += n_ended == 0;
    w->n_rows += n_ended == 0;
    return RELA_OK;
}

/* Reads all files to the end, so that the message can give their numbers of lines. */
static rela_status compare_counts(rela_row_reader *w, rela_error *err)
{
    for (size_t i = 0; i < w->job->n_files; i++)
        for (rela_line line = { .text = "" }; line.text;) {
            const rela_status st = rela_reader_line(w->readers[i], &line, err);
            if (st != RELA_OK)
                return st;
            w->n_lines[i] += line.text != NULL;
        }
    size_t other = 1;
    while (w->n_lines[other] == w->n_lines[0])
        other++;
    return rela_fail(err, RELA_FORMAT, "%s has %llu line%s but %s has %llu",
                     rela_reader_name(w->readers[0]), (unsigned long long)w->n_lines[0],
                     rela_plural(w->n_lines[0]), rela_reader_name(w->readers[other]),
                     (unsigned long long)w->n_lines[other]);
}

static rela_status work_rows(void *ctx, void *block, int thread, rela_error *err)
{
    const rela_row_reader *w = ctx;
    rela_rows *rows = block;
    rela_buffer_clear(&rows->out);
    return w->job->work(w->job->ctx, rows, thread, err);
}

static rela_status finish_rows(void *ctx, void *block, rela_error *err)
{
    const rela_row_reader *w = ctx;
    return w->job->done(w->job->ctx, block, err);
}

static void free_blocks(const rela_steps *job, void **blocks)
{
    for (int i = 0; blocks && i < job->n_threads && blocks[i]; i++) {
        rela_rows *rows = blocks[i];
        if (rows->extra && job->free_extra)
            job->free_extra(rows->extra);
        rela_rows_free(rows);
        rela_mem_free(rows);
    }
    rela_mem_free(blocks);
}

void rela_rows_free(rela_rows *rows)
{
    rela_buffer_free(&rows->text);
    rela_buffer_free(&rows->out);
    rela_mem_free(rows->lines);
}

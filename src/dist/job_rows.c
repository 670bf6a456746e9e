/* SPDX-License-Identifier: MIT */
/* src/dist/job_rows.c - see job_rows.h. */
#include "dist/job_rows.h"

#include "dist/job_flow.h"

#include <assert.h>
#include <xxhash.h>

typedef struct walk {
    const rela_steps *steps;
    rela_row_reader *reader;
} walk;

static rela_status read_rows(void *ctx, void *block, uint64_t want, uint64_t *n, rela_error *err);
static void find_place(void *ctx, rela_job_place *out);
static rela_status go_to(void *ctx, const rela_job_place *at, rela_error *err);
static uint64_t hash_rows(void *ctx, const void *block);
static rela_status work_rows(void *ctx, void *block, rela_buffer *result, int thread,
                             rela_error *err);
static rela_status finish_rows(void *ctx, void *block, const rela_buffer *result, rela_error *err);
static void free_rows(void *block);

rela_status rela_job_rows(uint64_t *n_rows, rela_job *j, const rela_steps *s, rela_error *err)
{
    if (!j)
        return rela_steps_run(n_rows, s, err);
    assert(s->n_files <= RELA_PLACE_FILES);
    walk w = { .steps = s };
    const rela_flow flow = { .block_size = sizeof(rela_rows),
                             .free_block = free_rows,
                             .read = read_rows,
                             .place = find_place,
                             .seek = go_to,
                             .hash = hash_rows,
                             .work = work_rows,
                             .finish = finish_rows,
                             .n_threads = s->n_threads,
                             .ctx = &w };
    rela_status st = rela_job_agree(j, rela_row_reader_open(&w.reader, s, err), err);
    st = st ? st : rela_job_run(j, &flow, err);
    if (n_rows)
        *n_rows = w.reader ? rela_row_reader_count(w.reader) : 0;
    rela_row_reader_close(w.reader);
    return st;
}

static rela_status read_rows(void *ctx, void *block, uint64_t want, uint64_t *n, rela_error *err)
{
    const walk *w = ctx;
    rela_rows *rows = block;
    const rela_status st = rela_row_reader_next(w->reader, rows, (size_t)want, err);
    *n = rows->n;
    return st;
}

static void find_place(void *ctx, rela_job_place *out)
{
    const walk *w = ctx;
    *out = (rela_job_place){ .line = rela_row_reader_count(w->reader) };
    rela_row_reader_place(w->reader, out->bytes);
}

static rela_status go_to(void *ctx, const rela_job_place *at, rela_error *err)
{
    const walk *w = ctx;
    return rela_row_reader_seek(w->reader, at->bytes, at->line, err);
}

/* Includes the lengths of lines, so that a moved line end changes it. */
static uint64_t hash_rows(void *ctx, const void *block)
{
    const walk *w = ctx;
    const rela_rows *rows = block;
    uint64_t hash = XXH3_64bits(rows->text.data ? rows->text.data : "", rows->text.len);
    for (size_t i = 0; i < rows->n * w->steps->n_files; i++)
        hash = XXH3_64bits_withSeed(&rows->lines[i].len, sizeof rows->lines[i].len, hash);
    return hash;
}

static rela_status work_rows(void *ctx, void *block, rela_buffer *result, int thread,
                             rela_error *err)
{
    const walk *w = ctx;
    rela_rows *rows = block;
    rela_buffer_clear(&rows->out);
    const rela_status st = w->steps->work(w->steps->ctx, rows, thread, err);
    return st ? st
              : rela_buffer_append(result, rows->out.data ? rows->out.data : "", rows->out.len,
                                   err);
}

static rela_status finish_rows(void *ctx, void *block, const rela_buffer *result, rela_error *err)
{
    const walk *w = ctx;
    rela_rows *rows = block;
    rela_buffer_clear(&rows->out);
    const rela_status st =
        rela_buffer_append(&rows->out, result->data ? result->data : "", result->len, err);
    return st ? st : w->steps->done(w->steps->ctx, rows, err);
}

static void free_rows(void *block)
{
    rela_rows_free(block);
}

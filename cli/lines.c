/* SPDX-License-Identifier: MIT */
/* cli/lines.c - the read-work-write loop of all commands that map lines to lines. */
#include "cli.h"

#include "base/mem.h"
#include "base/par.h"
#include "row_jobs.h"

#include <string.h>

enum {
    BLOCK_BYTES = 1 << 18,
    PER_THREAD = 2 /* blocks, so that a thread need not wait for its turn to write */
};

typedef struct block {
    rela_buffer in, out;
    uint64_t first; /* number of the first line */
} block;

typedef struct stream {
    rela_cli *cli;
    const rela_cli_lines *job;
    rela_reader *reader;
    rela_writer *writer;
    rela_progress progress;
} stream;

static rela_status run_file(rela_cli *cli, stream *s, const char *path, void **blocks,
                            int n_threads, rela_error *err);
static rela_status read_block(void *ctx, void *b, bool *more, rela_error *err);
static rela_status work_block(void *ctx, void *b, int thread, rela_error *err);
static rela_status write_block(void *ctx, void *b, rela_error *err);
static void free_blocks(void **blocks, int n);
static void **make_blocks(int n);

rela_status rela_cli_run_lines(rela_cli *cli, const rela_cli_lines *job, rela_list inputs,
                               const char *output, rela_error *err)
{
    static const char *const STANDARD[] = { "-" };
    const int n_threads = rela_par_threads((int)cli->common.threads);
    stream s = { .cli = cli, .job = job };
    void **blocks = make_blocks(n_threads * PER_THREAD);
    rela_status st = blocks ? rela_writer_open(&s.writer, output ? output : "-", err)
                            : rela_fail(err, RELA_NOMEM, "no memory for %d threads", n_threads);
    const size_t n = inputs.n ? inputs.n : 1;
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = run_file(cli, &s, inputs.n ? inputs.items[i] : STANDARD[0], blocks, n_threads, err);
    free_blocks(blocks, n_threads * PER_THREAD);
    if (st == RELA_OK)
        return rela_writer_commit(s.writer, err);
    if (s.writer && (!output || strcmp(output, "-") == 0))
        (void)rela_writer_flush(s.writer, NULL); /* what was done before the failure */
    rela_writer_abort(s.writer);
    return st;
}

static rela_status run_file(rela_cli *cli, stream *s, const char *path, void **blocks,
                            int n_threads, rela_error *err)
{
    rela_status st = rela_reader_open(&s->reader, path, NULL, err);
    if (st != RELA_OK)
        return st;
    rela_cli_typed_lines(cli, path);
    rela_cli_progress(cli, &s->progress, s->job->label, "bytes", rela_reader_size(s->reader));
    rela_progress_start(&s->progress, 0);
    const rela_pipe pipe = { .read = read_block,
                             .work = work_block,
                             .write = write_block,
                             .ctx = s,
                             .blocks = blocks,
                             .n_threads = cli->typed ? 1 : n_threads, /* no answer after a prompt */
                             .n_blocks = n_threads * PER_THREAD };
    st = rela_pipe_run(&pipe, err);
    if (st == RELA_OK && s->progress.visible)
        rela_progress_finish(&s->progress, rela_reader_position(s->reader), NULL);
    rela_reader_close(s->reader);
    s->reader = NULL;
    return st;
}

static rela_status read_block(void *ctx, void *b, bool *more, rela_error *err)
{
    stream *s = ctx;
    block *k = b;
    rela_cli_prompt(s->cli);
    const rela_status st = rela_reader_block(s->reader, &k->in, &k->first, BLOCK_BYTES, err);
    *more = k->in.len > 0;
    if (!*more)
        rela_cli_prompt_end(s->cli);
    rela_cli_check_encoding(s->cli, rela_reader_name(s->reader), k->in.data, k->in.len, k->first);
    rela_progress_update(&s->progress, rela_reader_position(s->reader), NULL);
    return st;
}

static rela_status work_block(void *ctx, void *b, int thread, rela_error *err)
{
    const stream *s = ctx;
    block *k = b;
    const char *at = k->in.data, *end = at + k->in.len;
    rela_status st = RELA_OK;
    rela_span line;
    rela_buffer_clear(&k->out);
    for (uint64_t i = 0; st == RELA_OK && rela_next_line(&line, &at, end); i++) {
        st = s->job->line(s->job->ctx, &k->out, line.text, line.len, k->first + i, thread, err);
        st = rela_cli_fail_at(err, st, rela_reader_name(s->reader), k->first + i);
        if (st == RELA_OK)
            st = rela_buffer_append_char(&k->out, '\n', err);
    }
    return st;
}

static rela_status write_block(void *ctx, void *b, rela_error *err)
{
    stream *s = ctx;
    const block *k = b;
    const rela_status st = rela_writer_write(s->writer, k->out.data, k->out.len, err);
    return st == RELA_OK ? rela_writer_flush(s->writer, err) : st;
}

static void free_blocks(void **blocks, int n)
{
    for (int i = 0; blocks && i < n; i++) {
        block *k = blocks[i];
        if (!k)
            continue;
        rela_buffer_free(&k->in);
        rela_buffer_free(&k->out);
        rela_mem_free(k);
    }
    rela_mem_free(blocks);
}

static void **make_blocks(int n)
{
    void **blocks = rela_mem_zalloc((size_t)n * sizeof *blocks);
    for (int i = 0; blocks && i < n; i++)
        if (!(blocks[i] = rela_mem_zalloc(sizeof(block)))) {
            free_blocks(blocks, n);
            return NULL;
        }
    return blocks;
}

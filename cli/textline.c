/* SPDX-License-Identifier: MIT */
/* cli/textline.c - see textline.h. */
#include "textline.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/utf8.h"

#include <inttypes.h>

enum { BLOCK_BYTES = 1 << 18 };

/* Invalid UTF-8 that one thread has found. */
typedef struct flaws {
    rela_buffer room;
    uint64_t n_bad, n_lines;
} flaws;

typedef struct text_job {
    rela_text_apply apply;
    const void *object;
    flaws *flaws; /* one per thread */
} text_job;

typedef struct block {
    rela_buffer lines;
    uint64_t first; /* number of the first line in its file */
} block;

typedef struct text_scan {
    rela_cli *cli;
    rela_text_take take;
    void *ctx;
    flaws *flaws; /* one per thread */
    block *blocks;
    void **block_pointers; /* into blocks */
    rela_reader *reader;
    rela_progress progress;
    uint64_t before; /* lines of the files before this one */
    uint64_t last;   /* number of the last line so far, over all files */
} text_scan;

static rela_status apply_line(void *ctx, rela_buffer *out, const char *text, size_t len,
                              uint64_t number, int thread, rela_error *err);
static rela_status scan_file(rela_cli *cli, text_scan *s, const char *path, const char *label,
                             int n_threads, rela_error *err);
static rela_status read_block(void *ctx, void *b, bool *more, rela_error *err);
static rela_status take_block(void *ctx, void *b, int thread, rela_error *err);
static rela_status drop_block(void *ctx, void *b, rela_error *err);
static rela_status repair(flaws *f, rela_span *line, rela_error *err);
static rela_status name_line(rela_status st, uint64_t number, rela_error *err);
static void report(rela_cli *cli, flaws *f, int n);

rela_status rela_cli_run_text(rela_cli *cli, rela_text_apply apply, const void *object,
                              const char *label, const char *output, rela_error *err)
{
    const int n = rela_par_threads((int)cli->common.threads);
    text_job job = { apply, object, rela_mem_zalloc((size_t)n * sizeof *job.flaws) };
    if (!job.flaws)
        return rela_fail(err, RELA_NOMEM, "no memory for %d threads", n);
    const rela_cli_lines lines = { .line = apply_line, .ctx = &job, .label = label };
    const rela_status st = rela_cli_run_lines(cli, &lines, cli->operands, output, err);
    report(cli, job.flaws, n);
    return st;
}

rela_status rela_cli_scan_text(rela_cli *cli, rela_text_take take, void *ctx, const char *label,
                               rela_error *err)
{
    const int n = rela_par_threads((int)cli->common.threads);
    text_scan s = { .cli = cli,
                    .take = take,
                    .ctx = ctx,
                    .flaws = rela_mem_zalloc((size_t)n * sizeof *s.flaws),
                    .blocks = rela_mem_zalloc((size_t)n * sizeof *s.blocks),
                    .block_pointers = rela_mem_zalloc((size_t)n * sizeof *s.block_pointers) };
    rela_status st = RELA_OK;
    if (!s.flaws || !s.blocks || !s.block_pointers)
        st = rela_fail(err, RELA_NOMEM, "no memory for %d threads", n);
    else
        for (int i = 0; i < n; i++)
            s.block_pointers[i] = &s.blocks[i];
    const rela_list inputs = cli->operands;
    for (size_t i = 0; i < (inputs.n ? inputs.n : 1) && st == RELA_OK; i++)
        st = scan_file(cli, &s, inputs.n ? inputs.items[i] : "-", label, n, err);
    for (int i = 0; s.blocks && i < n; i++)
        rela_buffer_free(&s.blocks[i].lines);
    rela_mem_free(s.blocks);
    rela_mem_free(s.block_pointers);
    report(cli, s.flaws, n);
    return st;
}

static rela_status apply_line(void *ctx, rela_buffer *out, const char *text, size_t len,
                              uint64_t number, int thread, rela_error *err)
{
    const text_job *job = ctx;
    rela_span line = { text, len };
    rela_status st = repair(&job->flaws[thread], &line, err);
    if (st == RELA_OK)
        st = job->apply(job->object, out, line.text, line.len, err);
    return name_line(st, number, err);
}

static rela_status scan_file(rela_cli *cli, text_scan *s, const char *path, const char *label,
                             int n_threads, rela_error *err)
{
    rela_status st = rela_reader_open(&s->reader, path, NULL, err);
    if (st != RELA_OK)
        return st;
    rela_cli_typed_text(cli, &path, 1);
    rela_cli_progress(cli, &s->progress, label, "bytes", rela_reader_size(s->reader));
    rela_progress_start(&s->progress, 0);
    s->before = s->last;
    const rela_pipe pipe = { .read = read_block,
                             .work = take_block,
                             .write = drop_block,
                             .ctx = s,
                             .blocks = s->block_pointers,
                             .n_threads = n_threads };
    st = rela_pipe_run(&pipe, err);
    if (st == RELA_OK && s->progress.visible)
        rela_progress_finish(&s->progress, rela_reader_position(s->reader), NULL);
    rela_reader_close(s->reader);
    return st;
}

static rela_status read_block(void *ctx, void *b, bool *more, rela_error *err)
{
    text_scan *s = ctx;
    block *k = b;
    const rela_status st = rela_reader_block(s->reader, &k->lines, &k->first, BLOCK_BYTES, err);
    *more = k->lines.len > 0;
    rela_cli_check_encoding(s->cli, rela_reader_name(s->reader), k->lines.data, k->lines.len,
                            k->first);
    for (size_t i = 0; i < k->lines.len; i++)
        s->last += k->lines.data[i] == '\n';
    rela_progress_update(&s->progress, rela_reader_position(s->reader), NULL);
    return st;
}

static rela_status take_block(void *ctx, void *b, int thread, rela_error *err)
{
    const text_scan *s = ctx;
    const block *k = b;
    const char *at = k->lines.data, *end = at + k->lines.len;
    rela_status st = RELA_OK;
    rela_span line;
    for (uint64_t number = k->first; st == RELA_OK && rela_next_line(&line, &at, end); number++) {
        st = repair(&s->flaws[thread], &line, err);
        if (st == RELA_OK)
            st = s->take(s->ctx, line.text, line.len, s->before + number, thread, err);
        st = name_line(st, number, err);
    }
    return st;
}

static rela_status drop_block(void *ctx, void *b, rela_error *err)
{
    (void)ctx, (void)b, (void)err;
    return RELA_OK;
}

/* Makes *line valid UTF-8; a changed line is in f->room until the next call. */
static rela_status repair(flaws *f, rela_span *line, rela_error *err)
{
    if (rela_utf8_valid(line->text, line->len) == line->len)
        return RELA_OK;
    size_t n_bad = 0;
    rela_buffer_clear(&f->room);
    const rela_status st = rela_utf8_repair(&f->room, &n_bad, line->text, line->len, err);
    if (st != RELA_OK)
        return st;
    *line = (rela_span){ f->room.data, f->room.len };
    f->n_bad += n_bad;
    f->n_lines++;
    return RELA_OK;
}

/* Adds the line number to failures caused by the text. */
static rela_status name_line(rela_status st, uint64_t number, rela_error *err)
{
    if (st != RELA_FORMAT && st != RELA_ARG)
        return st;
    char place[32];
    (void)snprintf(place, sizeof place, "line %" PRIu64, number);
    return rela_fail_in(err, st, place);
}

/* Logs the UTF-8 errors of n threads, if there were any, and frees them. */
static void report(rela_cli *cli, flaws *f, int n)
{
    uint64_t n_bad = 0, n_lines = 0;
    for (int i = 0; f && i < n; i++) {
        n_bad += f[i].n_bad;
        n_lines += f[i].n_lines;
        rela_buffer_free(&f[i].room);
    }
    if (n_lines)
        rela_log_line(&cli->sink, RELA_LOG_WARNING,
                      "%" PRIu64 " invalid UTF-8 sequence%s in %" PRIu64
                      " line%s replaced by U+FFFD",
                      n_bad, n_bad == 1 ? "" : "s", n_lines, n_lines == 1 ? "" : "s");
    rela_mem_free(f);
}

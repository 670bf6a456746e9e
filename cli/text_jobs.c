/* SPDX-License-Identifier: MIT */
/* cli/text_jobs.c - see text_jobs.h. */
#include "text_jobs.h"

#include "base/map.h"
#include "dist/job_flow.h"

#include <string.h>

/* Header of a result: bytes of the three parts that follow. */
typedef struct result_head {
    uint64_t text, notes, log;
} result_head;

static size_t block_bytes(const rela_cli_text_job *t);
static rela_status read_lines(void *ctx, void *block, uint64_t want, uint64_t *n, rela_error *err);
static void find_place(void *ctx, rela_job_place *out);
static rela_status go_to(void *ctx, const rela_job_place *at, rela_error *err);
static uint64_t hash_lines(void *ctx, const void *block);
static rela_status work(void *ctx, void *block, rela_buffer *result, int thread, rela_error *err);
static rela_status finish(void *ctx, void *block, const rela_buffer *result, rela_error *err);
static void free_lines(void *block);

rela_status rela_cli_text_job_run(rela_cli_text_job *t, rela_error *err)
{
    const rela_reader *first = t->sources.readers[0];
    const rela_flow flow = { .block_size = sizeof(rela_cli_lines_read),
                             .free_block = free_lines,
                             .read = read_lines,
                             .place = find_place,
                             .seek = go_to,
                             .hash = hash_lines,
                             .work = work,
                             .finish = finish,
                             .partial = true,
                             .n_threads = 1,
                             .ctx = t };
    t->bytes = block_bytes(t);
    rela_cli_typed_lines(t->cli, t->paths[0]);
    if (!t->cli->typed)
        rela_cli_typed_text(t->cli, t->paths + 1, RELA_SOURCES_MAX);
    rela_cli_progress(t->cli, &t->bar, t->label, "bytes", rela_reader_size(first));
    rela_progress_start(&t->bar, 0);
    const rela_status st = rela_job_run(t->job, &flow, err);
    if (st == RELA_OK && t->bar.visible)
        rela_progress_finish(&t->bar, rela_reader_position(first), NULL);
    return st;
}

rela_status rela_cli_text_job_output(rela_cli_text_job *t, const char *path, rela_error *err)
{
    return rela_job_rank(t->job) == 0 ? rela_writer_open(&t->writer, path, err) : RELA_OK;
}

rela_status rela_cli_text_job_commit(rela_cli_text_job *t, rela_error *err)
{
    rela_writer *w = t->writer;
    t->writer = NULL;
    return rela_job_agree(t->job, w ? rela_writer_commit(w, err) : RELA_OK, err);
}

rela_status rela_cli_text_job_close(rela_cli_text_job *t, rela_status st, rela_error *err)
{
    if (t->writer && st != RELA_OK)
        (void)rela_writer_flush(t->writer, NULL); /* what was done before the failure */
    rela_writer_abort(t->writer);
    rela_cli_sources_close(&t->sources);
    rela_reader_close(t->other);
    rela_buffer_free(&t->text);
    rela_buffer_free(&t->notes);
    rela_buffer_free(&t->log);
    return rela_job_close(t->job, st, err);
}

/* read_bytes, but on several ranks small enough that each gets some blocks. */
static size_t block_bytes(const rela_cli_text_job *t)
{
    enum { ROUNDS = 8, LEAST = 4096 };
    const uint64_t size = rela_reader_size(t->sources.readers[0]), most = (uint64_t)t->read_bytes;
    const uint64_t part = size / ((uint64_t)rela_job_ranks(t->job) * ROUNDS);
    const uint64_t few = part > LEAST ? part : LEAST;
    return (size_t)(rela_job_ranks(t->job) > 1 && few < most ? few : most);
}

/* ---- reading ---- */

static rela_status read_lines(void *ctx, void *block, uint64_t want, uint64_t *n, rela_error *err)
{
    rela_cli_text_job *t = ctx;
    rela_cli_lines_read *b = block;
    rela_cli_prompt(t->cli);
    rela_status st = rela_cli_sources_read(&t->sources, &b->in, t->bytes, (size_t)want, err);
    if (st == RELA_OK && t->other)
        st = rela_cli_block_match(&b->other, t->other, &b->in.blocks[0],
                                  rela_reader_name(t->sources.readers[0]), err);
    if (st == RELA_OK)
        rela_cli_sources_check(&t->sources, &b->in, t->cli);
    *n = b->in.n;
    if (*n == 0)
        rela_cli_prompt_end(t->cli);
    return st;
}

/* All files that are read in parallel. */
static size_t list_readers(const rela_cli_text_job *t, rela_reader *out[RELA_PLACE_FILES])
{
    size_t n = 0;
    for (size_t i = 0; i < RELA_SOURCES_MAX; i++)
        if (t->sources.readers[i])
            out[n++] = t->sources.readers[i];
    if (t->other)
        out[n++] = t->other;
    return n;
}

_Static_assert((int)RELA_SOURCES_MAX + 1 <= (int)RELA_PLACE_FILES, "a place for every file");

static void find_place(void *ctx, rela_job_place *out)
{
    rela_reader *readers[RELA_PLACE_FILES];
    const size_t n = list_readers(ctx, readers);
    *out = (rela_job_place){ .line = rela_reader_lines(readers[0]) };
    for (size_t i = 0; i < n; i++)
        out->bytes[i] = rela_reader_place(readers[i]);
}

static rela_status go_to(void *ctx, const rela_job_place *at, rela_error *err)
{
    rela_reader *readers[RELA_PLACE_FILES];
    const size_t n = list_readers(ctx, readers);
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = rela_reader_seek(readers[i], at->bytes[i], at->line, err);
    return st;
}

static uint64_t hash_block(const rela_cli_block *b, uint64_t hash)
{
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t both[] = { hash, rela_map_hash(b->texts[i], b->lens[i]) };
        hash = rela_map_hash((const char *)both, sizeof both);
    }
    return hash;
}

static uint64_t hash_lines(void *ctx, const void *block)
{
    const rela_cli_text_job *t = ctx;
    const rela_cli_lines_read *b = block;
    uint64_t hash = b->in.n;
    for (size_t i = 0; i < RELA_SOURCES_MAX; i++)
        if (t->sources.readers[i])
            hash = hash_block(&b->in.blocks[i], hash);
    return t->other ? hash_block(&b->other, hash) : hash;
}

static void free_lines(void *block)
{
    rela_cli_lines_read *b = block;
    rela_cli_sentences_free(&b->in);
    rela_cli_block_free(&b->other);
}

/* ---- work ---- */

/* Log lines are part of the result, so that rank 0 logs them wherever the work was done. Those of
 * the library name lines, but it does not know of which file. */
static void keep_log(void *ctx, rela_log_level level, const char *line)
{
    rela_cli_text_job *t = ctx;
    const bool place = strncmp(line, "line ", 5) == 0;
    (void)rela_buffer_printf(&t->log, NULL, "%c%s%s%s\n", '0' + (int)level,
                             place ? rela_reader_name(t->sources.readers[0]) : "",
                             place ? ": " : "", line);
}

static rela_status work(void *ctx, void *block, rela_buffer *result, int thread, rela_error *err)
{
    rela_cli_text_job *t = ctx;
    const rela_log sink = t->cli->sink;
    (void)thread;
    rela_buffer_clear(&t->text);
    rela_buffer_clear(&t->notes);
    rela_buffer_clear(&t->log);
    t->cli->sink = (rela_log){ keep_log, t, RELA_LOG_INFO };
    const rela_status st = t->work(t->ctx, block, &t->text, &t->notes, err);
    t->cli->sink = sink;
    if (st != RELA_OK && st != RELA_NOTFINITE) /* the last line may be incomplete */
        rela_buffer_clear(&t->text);
    const result_head head = { t->text.len, t->notes.len, t->log.len };
    const rela_buffer *const parts[] = { &t->text, &t->notes, &t->log };
    rela_status kept = rela_buffer_append(result, (const char *)&head, sizeof head, NULL);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && kept == RELA_OK; i++)
        if (parts[i]->len)
            kept = rela_buffer_append(result, parts[i]->data, parts[i]->len, NULL);
    if (st == RELA_OK && kept != RELA_OK)
        return rela_fail(err, kept, "no memory for %zu bytes of results", t->text.len);
    return st;
}

static void log_lines(const rela_cli *cli, const char *at, size_t len)
{
    const char *const end = at + len;
    for (rela_span line; rela_next_line(&line, &at, end);)
        if (line.len)
            rela_log_line(&cli->sink, (rela_log_level)(line.text[0] - '0'), "%.*s",
                          (int)(line.len - 1), line.text + 1);
}

static rela_status finish(void *ctx, void *block, const rela_buffer *result, rela_error *err)
{
    rela_cli_text_job *t = ctx;
    result_head head;
    (void)block;
    if (result->len < sizeof head)
        return rela_fail(err, RELA_FORMAT, "a result of %zu bytes", result->len);
    memcpy(&head, result->data, sizeof head);
    const size_t rest = result->len - sizeof head;
    if (head.text > rest || head.notes > rest - head.text ||
        head.log != rest - head.text - head.notes)
        return rela_fail(err, RELA_FORMAT, "a result of %zu bytes that do not fit together",
                         result->len);
    const char *text = result->data + sizeof head;
    log_lines(t->cli, text + head.text + head.notes, head.log);
    rela_status st = head.text ? rela_writer_write(t->writer, text, head.text, err) : RELA_OK;
    st = st ? st : rela_writer_flush(t->writer, err);
    if (t->on_notes && head.notes)
        t->on_notes(t->ctx, text + head.text, head.notes);
    rela_progress_update(&t->bar, rela_reader_position(t->sources.readers[0]), NULL);
    return st;
}

/* SPDX-License-Identifier: MIT */
/* src/text/pipeline_learn.c - learns codes and vocabularies of a pipeline from training text.
 *
 * Each pass over the text sends lines through the part of the pipeline that exists already (on all
 * threads) and counts the words that come out (in order, so that the result does not depend on
 * the number of threads). */
#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "text/pipeline.h"

#include <string.h>

enum { BLOCK_BYTES = 1 << 18 };

typedef struct block {
    rela_buffer in, out;
    uint64_t first; /* number of the first line */
    rela_pipeline_scratch *scratch;
} block;

typedef struct pass {
    const rela_pipeline_text *text;
    size_t max_line; /* 0: any */
    rela_reader *reader;
    rela_word_counts *counts;
    rela_stop stop;
} pass;

static rela_status count_file(rela_word_counts *counts, const rela_pipeline *p,
                              const rela_bpe *sampled, const rela_pipeline_text *text,
                              const rela_pipeline_recipe *r, rela_error *err);
static rela_status read_block(void *ctx, void *b, bool *more, rela_error *err);
static rela_status work_block(void *ctx, void *b, int thread, rela_error *err);
static rela_status write_block(void *ctx, void *b, rela_error *err);
static rela_status learn_codes(rela_buffer *codes, const rela_pipeline_recipe *r, rela_error *err);
static rela_status build_vocab(rela_buffer *out, const rela_pipeline_recipe *r,
                               const rela_pipeline *p, bool sources, bool target, rela_error *err);

static rela_pipeline_parts parts_of(const rela_pipeline_recipe *r)
{
    rela_pipeline_parts parts = { .n_sides = r->n_sides };
    for (size_t i = 0; i < r->n_sides; i++)
        parts.side[i] = r->side[i];
    return parts;
}

rela_status rela_pipeline_learn(rela_pipeline **out, const rela_pipeline_recipe *r, rela_error *err)
{
    rela_buffer codes = RELA_BUFFER_INIT, vocab[2] = { RELA_BUFFER_INIT, RELA_BUFFER_INIT };
    rela_pipeline *p = NULL;
    *out = NULL;
    rela_status st = RELA_OK;
    if (r->codes.len)
        st = rela_buffer_append(&codes, r->codes.text, r->codes.len, err);
    else if (r->merges)
        st = learn_codes(&codes, r, err);
    rela_pipeline_parts parts = parts_of(r);
    parts.codes = (rela_span){ codes.data, codes.len };
    if (st == RELA_OK)
        st = rela_pipeline_create(&p, &parts, err);
    if (st == RELA_OK)
        st = build_vocab(&vocab[0], r, p, true, r->joint_vocab, err);
    if (st == RELA_OK && !r->joint_vocab)
        st = build_vocab(&vocab[1], r, p, false, true, err);
    rela_pipeline_destroy(p);
    for (int i = 0; i < RELA_PIPELINE_VOCABS; i++)
        parts.vocab[i] = (rela_span){ vocab[i].data, vocab[i].len };
    if (st == RELA_OK)
        st = rela_pipeline_create(out, &parts, err);
    rela_buffer_free(&codes);
    rela_buffer_free(&vocab[0]);
    rela_buffer_free(&vocab[1]);
    return st;
}

static rela_status learn_codes(rela_buffer *codes, const rela_pipeline_recipe *r, rela_error *err)
{
    const rela_pipeline_parts words = parts_of(r);
    rela_stop stop = r->stop;
    rela_pipeline *p = NULL;
    rela_word_counts *counts = NULL;
    rela_bpe_learn_options o;
    rela_bpe_learn_options_init(&o, sizeof o);
    o.n_symbols = r->merges;
    o.progress = rela_stop_progress;
    o.progress_ctx = &stop;
    rela_status st = rela_pipeline_create(&p, &words, err);
    if (st == RELA_OK)
        st = rela_word_counts_create(&counts, err);
    for (size_t i = 0; i < r->n_texts && st == RELA_OK; i++)
        st = count_file(counts, p, NULL, &r->texts[i], r, err);
    if (st == RELA_OK)
        st = rela_bpe_learn(codes, NULL, counts, &o, err);
    rela_word_counts_destroy(counts);
    rela_pipeline_destroy(p);
    return st;
}

/* The vocabulary of the pieces of the sources, of the target, or of both. */
static rela_status build_vocab(rela_buffer *out, const rela_pipeline_recipe *r,
                               const rela_pipeline *p, bool sources, bool target, rela_error *err)
{
    rela_word_counts *counts = NULL;
    rela_vocab *vocab = NULL;
    rela_bpe *sampled = NULL;
    rela_status st = rela_word_counts_create(&counts, err);
    if (st == RELA_OK && r->dropout > 0)
        st = rela_pipeline_sampled(&sampled, p, r->dropout, r->seed, err);
    for (size_t i = 0; i < r->n_texts && st == RELA_OK; i++) {
        if (!(r->texts[i].side == rela_pipeline_target(p) ? target : sources))
            continue;
        st = count_file(counts, p, NULL, &r->texts[i], r, err);
        if (st == RELA_OK && sampled)
            st = count_file(counts, p, sampled, &r->texts[i], r, err);
    }
    if (st == RELA_OK)
        st = rela_vocab_build(&vocab, NULL, counts, r->vocab_size, r->vocab_min, err);
    if (st == RELA_OK)
        st = rela_vocab_write(out, vocab, err);
    rela_vocab_free(vocab);
    rela_bpe_free(sampled);
    rela_word_counts_destroy(counts);
    return st;
}

/* Counts the pieces of a file. sampled: codes to use instead of those of p; NULL: p's own. */
static rela_status count_file(rela_word_counts *counts, const rela_pipeline *p,
                              const rela_bpe *sampled, const rela_pipeline_text *text,
                              const rela_pipeline_recipe *r, rela_error *err)
{
    pass s = { .text = text, .max_line = r->max_line, .counts = counts, .stop = r->stop };
    const int n = rela_par_threads(r->n_threads);
    block *blocks = rela_mem_zalloc((size_t)n * sizeof *blocks);
    void **pointers = rela_mem_zalloc((size_t)n * sizeof *pointers);
    if (!blocks || !pointers) {
        rela_mem_free(blocks);
        rela_mem_free(pointers);
        return rela_fail(err, RELA_NOMEM, "no memory to read text");
    }
    const size_t columns = text->n_columns > 1 ? text->n_columns : 1;
    const rela_reader_options options = { .max_line = columns * (r->max_line + 1) - 1 };
    rela_status st = rela_reader_open(&s.reader, text->path, &options, err);
    for (int i = 0; i < n && st == RELA_OK; i++) {
        pointers[i] = &blocks[i];
        st = rela_pipeline_scratch_create_sampled(&blocks[i].scratch, p, sampled, err);
    }
    const rela_pipe pipe = { read_block, work_block, write_block, &s, pointers, n, 0 };
    if (st == RELA_OK)
        st = rela_pipe_run(&pipe, err);
    rela_reader_close(s.reader);
    for (int i = 0; i < n; i++) {
        rela_pipeline_scratch_destroy(blocks[i].scratch);
        rela_buffer_free(&blocks[i].in);
        rela_buffer_free(&blocks[i].out);
    }
    rela_mem_free(blocks);
    rela_mem_free(pointers);
    return st;
}

/* The column of a line that the text consists of; empty for a line that the corpus will drop. */
static rela_span column_of(const rela_pipeline_text *text, const rela_line *line)
{
    const char *at = line->text, *end = at + line->len;
    const size_t n = text->n_columns > 1 ? text->n_columns : 1;
    rela_span own = { at, 0 };
    for (size_t i = 0; i < n && !line->too_long; i++) {
        const char *tab = n > 1 ? memchr(at, '\t', (size_t)(end - at)) : NULL;
        if (!tab != (i + 1 == n))
            return (rela_span){ line->text, 0 };
        if (i == text->column)
            own = (rela_span){ at, (size_t)((tab ? tab : end) - at) };
        at = tab ? tab + 1 : end;
    }
    return own;
}

static rela_status read_block(void *ctx, void *b, bool *more, rela_error *err)
{
    const pass *s = ctx;
    block *k = b;
    rela_line line = { .text = "" };
    rela_status st = rela_stop_check(&s->stop, err);
    rela_buffer_clear(&k->in);
    k->first = 0;
    while (st == RELA_OK && line.text && k->in.len < BLOCK_BYTES) {
        st = rela_reader_line(s->reader, &line, err);
        if (st != RELA_OK || !line.text)
            break;
        k->first = k->first ? k->first : line.number;
        const rela_span own = column_of(s->text, &line);
        if (own.len && (!s->max_line || own.len <= s->max_line))
            st = rela_buffer_append(&k->in, own.text, own.len, err);
        st = st ? st : rela_buffer_append_char(&k->in, '\n', err);
    }
    *more = k->in.len > 0;
    return st;
}

static rela_status work_block(void *ctx, void *b, int thread, rela_error *err)
{
    const pass *s = ctx;
    block *k = b;
    const char *at = k->in.data, *end = at + k->in.len;
    uint64_t number = k->first;
    rela_status st = RELA_OK;
    rela_span line;
    (void)thread;
    rela_buffer_clear(&k->out);
    while (st == RELA_OK && rela_next_line(&line, &at, end)) {
        rela_pipeline_scratch_number(k->scratch, number++);
        st = rela_pipeline_pieces(&k->out, k->scratch, s->text->side, line.text, line.len, err);
        if (st == RELA_OK)
            st = rela_buffer_append_char(&k->out, '\n', err);
    }
    return st;
}

static rela_status write_block(void *ctx, void *b, rela_error *err)
{
    const pass *s = ctx;
    const block *k = b;
    return rela_word_counts_add_text(s->counts, k->out.data, k->out.len, err);
}

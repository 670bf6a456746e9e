/* SPDX-License-Identifier: MIT */
/* src/text/pipeline_learn.c - learns codes and vocabularies of a pipeline from training text.
 *
 * Each pass over the text sends lines through the part of the pipeline that exists already (on all
 * threads) and counts the words that come out (in order, so that the result does not depend on
 * the number of threads). */
#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "text/counts.h"
#include "text/pipeline.h"

#include <string.h>

enum {
    BLOCK_BYTES = 1 << 18,
    FREQUENT_RATIO = 10 /* see rela_pipeline_is_source */
};

typedef struct block {
    rela_buffer in, out;
    uint64_t first; /* number of the first line */
    rela_pipeline_scratch *scratch;
} block;

/* Words of all texts, and those of the sources once more; sources may be NULL. */
typedef struct piece_counts {
    rela_word_counts *all, *sources;
} piece_counts;

typedef struct pass {
    const rela_pipeline_text *text;
    size_t max_line; /* 0: any */
    rela_reader *reader;
    piece_counts to;
    rela_stop stop;
} pass;

static rela_status count_file(piece_counts to, const rela_pipeline *p, const rela_bpe *sampled,
                              const rela_pipeline_text *text, const rela_pipeline_recipe *r,
                              rela_error *err);
static rela_status read_block(void *ctx, void *b, bool *more, rela_error *err);
static rela_status work_block(void *ctx, void *b, int thread, rela_error *err);
static rela_status write_block(void *ctx, void *b, rela_error *err);
static rela_status learn_codes(rela_buffer *codes, const rela_pipeline_recipe *r, rela_error *err);
static rela_status build_vocab(rela_buffer *out, rela_buffer *source, const rela_pipeline_recipe *r,
                               const rela_pipeline *p, bool sources, bool target, rela_error *err);
static rela_status mark_source(rela_buffer *out, const rela_vocab *vocab,
                               const piece_counts *counted, rela_error *err);

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
    rela_buffer source = RELA_BUFFER_INIT;
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
        st = build_vocab(&vocab[0], &source, r, p, true, r->joint_vocab, err);
    if (st == RELA_OK && !r->joint_vocab)
        st = build_vocab(&vocab[1], NULL, r, p, false, true, err);
    rela_pipeline_destroy(p);
    for (int i = 0; i < RELA_PIPELINE_VOCABS; i++)
        parts.vocab[i] = (rela_span){ vocab[i].data, vocab[i].len };
    parts.source = (rela_span){ source.data, source.len };
    if (st == RELA_OK)
        st = rela_pipeline_create(out, &parts, err);
    rela_buffer_free(&codes);
    rela_buffer_free(&vocab[0]);
    rela_buffer_free(&vocab[1]);
    rela_buffer_free(&source);
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
        st = count_file((piece_counts){ counts, NULL }, p, NULL, &r->texts[i], r, err);
    if (st == RELA_OK)
        st = rela_bpe_learn(codes, NULL, counts, &o, err);
    rela_word_counts_destroy(counts);
    rela_pipeline_destroy(p);
    return st;
}

/* The vocabulary of the pieces of the sources, of the target, or of both. source: the tokens of a
 * joint vocabulary that belong to the sources. */
static rela_status build_vocab(rela_buffer *out, rela_buffer *source, const rela_pipeline_recipe *r,
                               const rela_pipeline *p, bool sources, bool target, rela_error *err)
{
    piece_counts counted = { NULL, NULL };
    rela_vocab *vocab = NULL;
    rela_bpe *sampled = NULL;
    rela_status st = rela_word_counts_create(&counted.all, err);
    if (st == RELA_OK && sources && target)
        st = rela_word_counts_create(&counted.sources, err);
    if (st == RELA_OK && r->dropout > 0)
        st = rela_pipeline_sampled(&sampled, p, r->dropout, r->seed, err);
    for (size_t i = 0; i < r->n_texts && st == RELA_OK; i++) {
        const bool is_target = r->texts[i].side == rela_pipeline_target(p);
        const piece_counts to = { counted.all, is_target ? NULL : counted.sources };
        if (!(is_target ? target : sources))
            continue;
        st = count_file(to, p, NULL, &r->texts[i], r, err);
        if (st == RELA_OK && sampled)
            st = count_file(to, p, sampled, &r->texts[i], r, err);
    }
    if (st == RELA_OK)
        st = rela_vocab_build(&vocab, NULL, counted.all, r->vocab_size, r->vocab_min, err);
    if (st == RELA_OK)
        st = rela_vocab_write(out, vocab, err);
    if (st == RELA_OK && counted.sources)
        st = mark_source(source, vocab, &counted, err);
    rela_vocab_free(vocab);
    rela_bpe_free(sampled);
    rela_word_counts_destroy(counted.all);
    rela_word_counts_destroy(counted.sources);
    return st;
}

static uint64_t count_of(const rela_word_counts *c, const char *token)
{
    const uint32_t number = rela_map_find(rela_word_counts_map(c), token, strlen(token));
    return number == RELA_MAP_NONE ? 0 : rela_word_counts_of(c, number);
}

/* The bits of parts.source. */
static rela_status mark_source(rela_buffer *out, const rela_vocab *vocab,
                               const piece_counts *counted, rela_error *err)
{
    const size_t n = rela_vocab_size(vocab);
    double in_source = 0, in_target = 0;
    unsigned digit = 0;
    rela_status st = RELA_OK;
    for (size_t i = RELA_VOCAB_N_SPECIAL; i < n; i++) {
        const char *token = rela_vocab_token(vocab, (int32_t)i);
        const uint64_t source = count_of(counted->sources, token);
        in_source += (double)source;
        in_target += (double)(count_of(counted->all, token) - source);
    }
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        const char *token = rela_vocab_token(vocab, (int32_t)i);
        const uint64_t source = count_of(counted->sources, token);
        const double target = (double)(count_of(counted->all, token) - source);
        const bool rare = (double)source * FREQUENT_RATIO * in_target < target * in_source;
        digit |= (unsigned)((source && !rare) || i < RELA_VOCAB_N_SPECIAL)
                 << i % RELA_PIPELINE_BITS;
        if (i % RELA_PIPELINE_BITS == RELA_PIPELINE_BITS - 1 || i + 1 == n) {
            st = rela_buffer_append_char(out, "0123456789abcdef"[digit], err);
            digit = 0;
        }
    }
    return st;
}

/* Counts the pieces of a file. sampled: codes to use instead of those of p; NULL: p's own. */
static rela_status count_file(piece_counts to, const rela_pipeline *p, const rela_bpe *sampled,
                              const rela_pipeline_text *text, const rela_pipeline_recipe *r,
                              rela_error *err)
{
    pass s = { .text = text, .max_line = r->max_line, .to = to, .stop = r->stop };
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
    const rela_status st = rela_word_counts_add_text(s->to.all, k->out.data, k->out.len, err);
    if (st != RELA_OK || !s->to.sources)
        return st;
    return rela_word_counts_add_text(s->to.sources, k->out.data, k->out.len, err);
}

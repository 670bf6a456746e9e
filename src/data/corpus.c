/* SPDX-License-Identifier: MIT */
/* src/data/corpus.c - see corpus.h. A block of pairs is read, judged and encoded on any thread, and
 * counted and handed on in order. */
#include "data/corpus.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/utf8.h"

#include <assert.h>
#include <string.h>

enum { BLOCK_BYTES = 256 << 10, BLOCK_PAIRS = 1024 };

static const rela_corpus_reason KEPT = RELA_CORPUS_N_REASONS;

typedef struct item {
    size_t len[RELA_SIDES]; /* bytes of text; both sides lie one after the other */
    size_t n[RELA_SIDES];   /* ids */
    rela_corpus_reason reason;
    bool has_nul, was_cut;
} item;

typedef struct block {
    rela_buffer text;
    rela_ids ids; /* of the kept pairs, source before target */
    item items[BLOCK_PAIRS];
    size_t n;
    uint64_t first;   /* line number of the first pair */
    uint64_t returns; /* lines that ended in CR LF */
} block;

typedef struct stream {
    const rela_corpus_job *job;
    rela_reader *reader[RELA_SIDES]; /* the second is NULL for two columns */
    uint64_t total;                  /* stored bytes; 0: unknown */
    rela_corpus_report *report;
} stream;

static rela_status check_job(const rela_corpus_job *job, rela_error *err);
static rela_status open_files(stream *s, rela_error *err);
static rela_status run(stream *s, rela_error *err);
static rela_status read_block(void *ctx, void *b, bool *more, rela_error *err);
static rela_status read_lines(stream *s, block *b, bool *more, rela_error *err);
static rela_status read_columns(stream *s, block *b, bool *more, rela_error *err);
static rela_status add_item(const stream *s, block *b, const rela_span *side, rela_error *err);
static rela_status count_rest(stream *s, uint64_t n_pairs, int longer, rela_error *err);
static rela_status work_block(void *ctx, void *b, int thread, rela_error *err);
static rela_corpus_reason judge_text(const rela_corpus_rules *rules, item *it, rela_span *side);
static rela_status encode(const stream *s, block *b, size_t i, const rela_span *side, int thread,
                          rela_error *err);
static rela_corpus_reason judge_lengths(const rela_corpus_rules *rules, item *it, rela_ids *ids);
static rela_status write_block(void *ctx, void *b, rela_error *err);
static void note_dropped(rela_corpus_report *report, rela_corpus_reason reason, uint64_t line);

rela_status rela_corpus_read(rela_corpus_report *report, const rela_corpus_job *job,
                             rela_error *err)
{
    stream s = { .job = job, .report = report };
    *report = (rela_corpus_report){ .struct_size = sizeof *report };
    rela_status st = check_job(job, err);
    if (st == RELA_OK)
        st = open_files(&s, err);
    if (st == RELA_OK)
        st = run(&s, err);
    for (int i = 0; i < RELA_SIDES; i++) {
        report->marks += s.reader[i] && rela_reader_had_mark(s.reader[i]);
        rela_reader_close(s.reader[i]);
    }
    uint64_t sum = report->kept;
    for (int i = 0; i < RELA_CORPUS_N_REASONS; i++)
        sum += report->dropped[i];
    assert(sum == report->read);
    return st;
}

rela_status rela_ids_push(rela_ids *ids, int32_t id, rela_error *err)
{
    int32_t *p = rela_mem_grow(ids->data, &ids->cap, ids->len + 1, sizeof *p);
    if (!p)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu tokens", ids->len + 1);
    ids->data = p;
    p[ids->len++] = id;
    return RELA_OK;
}

void rela_ids_free(rela_ids *ids)
{
    if (!ids)
        return;
    rela_mem_free(ids->data);
    *ids = (rela_ids){ NULL, 0, 0 };
}

static rela_status check_job(const rela_corpus_job *job, rela_error *err)
{
    const rela_corpus_rules *r = &job->rules;
    if (r->max_tokens < 1 || r->max_tokens > RELA_CORPUS_TOKENS_MAX)
        return rela_fail(err, RELA_ARG, "max_tokens is %d; expected 1..%d", (int)r->max_tokens,
                         RELA_CORPUS_TOKENS_MAX);
    if (r->max_line < 1 || r->max_line > RELA_LINE_MAX)
        return rela_fail(err, RELA_ARG, "max_line is %llu bytes; expected 1..%d",
                         (unsigned long long)r->max_line, RELA_LINE_MAX);
    if (r->max_ratio != 0 && !(r->max_ratio >= 1))
        return rela_fail(err, RELA_ARG, "max_ratio is %g; expected 0 or at least 1", r->max_ratio);
    if (job->tgt && strcmp(job->src, "-") == 0 && strcmp(job->tgt, "-") == 0)
        return rela_fail(err, RELA_ARG, "source and target cannot both be standard input");
    return RELA_OK;
}

static rela_status open_files(stream *s, rela_error *err)
{
    const rela_corpus_rules *rules = &s->job->rules;
    const size_t max_line = (size_t)rules->max_line;
    const rela_reader_options options = { .max_line = s->job->tgt ? max_line : 2 * max_line + 1,
                                          .any_ratio = rules->any_expansion != 0 };
    rela_status st = rela_reader_open(&s->reader[RELA_SOURCE], s->job->src, &options, err);
    if (st == RELA_OK && s->job->tgt)
        st = rela_reader_open(&s->reader[RELA_TARGET], s->job->tgt, &options, err);
    if (st != RELA_OK)
        return st;
    for (int i = 0; i < RELA_SIDES && s->reader[i]; i++) {
        const uint64_t size = rela_reader_size(s->reader[i]);
        if (size == 0) { /* a pipe: no share can be given */
            s->total = 0;
            break;
        }
        s->total += size;
    }
    return RELA_OK;
}

static rela_status run(stream *s, rela_error *err)
{
    const int n = s->job->n_threads;
    rela_status st = RELA_OK;
    void **blocks = rela_mem_zalloc((size_t)n * sizeof *blocks);
    bool good = blocks != NULL;
    for (int i = 0; i < n && good; i++)
        good = (blocks[i] = rela_mem_zalloc(sizeof(block))) != NULL;
    if (good) {
        const rela_pipe pipe = { .read = read_block,
                                 .work = work_block,
                                 .write = write_block,
                                 .ctx = s,
                                 .blocks = blocks,
                                 .n_threads = n };
        st = rela_pipe_run(&pipe, err);
    } else {
        st = rela_fail(err, RELA_NOMEM, "no memory to read with %d threads", n);
    }
    for (int i = 0; i < n && blocks && blocks[i]; i++) {
        block *b = blocks[i];
        rela_buffer_free(&b->text);
        rela_ids_free(&b->ids);
        rela_mem_free(b);
    }
    rela_mem_free(blocks);
    return st;
}

static rela_status read_block(void *ctx, void *block_, bool *more, rela_error *err)
{
    stream *s = ctx;
    block *b = block_;
    const rela_corpus_job *job = s->job;
    rela_buffer_clear(&b->text);
    b->n = 0;
    b->returns = 0;
    const rela_status st = job->tgt ? read_lines(s, b, more, err) : read_columns(s, b, more, err);
    if (st != RELA_OK || !job->progress)
        return st;
    uint64_t done = 0;
    for (int i = 0; i < RELA_SIDES && s->reader[i]; i++)
        done += rela_reader_position(s->reader[i]);
    return job->progress(job->progress_ctx, done, s->total) == 0
               ? RELA_OK
               : rela_fail(err, RELA_CANCEL, "reading was stopped");
}

static rela_status read_lines(stream *s, block *b, bool *more, rela_error *err)
{
    rela_status st = RELA_OK;
    while (st == RELA_OK && b->n < BLOCK_PAIRS && b->text.len < BLOCK_BYTES) {
        rela_line line[RELA_SIDES];
        for (int i = 0; i < RELA_SIDES && st == RELA_OK; i++)
            st = rela_reader_line(s->reader[i], &line[i], err);
        if (st != RELA_OK)
            break;
        if (!line[0].text != !line[1].text) {
            const int longer = line[0].text ? RELA_SOURCE : RELA_TARGET;
            return count_rest(s, line[longer].number - 1, longer, err);
        }
        if (!line[0].text)
            break;
        if (b->n == 0)
            b->first = line[0].number;
        rela_span side[RELA_SIDES] = { { NULL, 0 }, { NULL, 0 } };
        for (int i = 0; i < RELA_SIDES; i++) {
            b->returns += line[i].had_cr;
            side[i] = (rela_span){ line[i].text, line[i].len };
        }
        item *it = &b->items[b->n];
        *it = (item){ .reason = KEPT };
        if (line[0].too_long || line[1].too_long)
            it->reason = RELA_CORPUS_TOO_LONG;
        st = add_item(s, b, side, err);
    }
    *more = b->n > 0;
    return st;
}

static rela_status read_columns(stream *s, block *b, bool *more, rela_error *err)
{
    rela_status st = RELA_OK;
    while (st == RELA_OK && b->n < BLOCK_PAIRS && b->text.len < BLOCK_BYTES) {
        rela_line line;
        if ((st = rela_reader_line(s->reader[0], &line, err)) != RELA_OK || !line.text)
            break;
        if (b->n == 0)
            b->first = line.number;
        b->returns += line.had_cr;
        item *it = &b->items[b->n];
        *it = (item){ .reason = KEPT };
        const char *end = line.text + line.len;
        const char *tab = memchr(line.text, '\t', line.len);
        if (line.too_long)
            it->reason = RELA_CORPUS_TOO_LONG;
        else if (!tab || memchr(tab + 1, '\t', (size_t)(end - tab - 1)))
            it->reason = RELA_CORPUS_COLUMNS;
        rela_span side[RELA_SIDES] = { { NULL, 0 }, { NULL, 0 } };
        if (it->reason == KEPT) {
            side[0] = (rela_span){ line.text, (size_t)(tab - line.text) };
            side[1] = (rela_span){ tab + 1, (size_t)(end - tab - 1) };
        }
        st = add_item(s, b, side, err);
    }
    *more = b->n > 0;
    return st;
}

static rela_status add_item(const stream *s, block *b, const rela_span *side, rela_error *err)
{
    item *it = &b->items[b->n];
    rela_status st = RELA_OK;
    for (int i = 0; i < RELA_SIDES && it->reason == KEPT; i++)
        if (side[i].len > s->job->rules.max_line)
            it->reason = RELA_CORPUS_TOO_LONG;
    for (int i = 0; i < RELA_SIDES && it->reason == KEPT && st == RELA_OK; i++) {
        it->len[i] = side[i].len;
        st = rela_buffer_append(&b->text, side[i].text, side[i].len, err);
    }
    b->n++;
    return st;
}

/* One file has ended: the message tells both numbers of lines, so the longer is read to its end. */
static rela_status count_rest(stream *s, uint64_t n_pairs, int longer, rela_error *err)
{
    uint64_t n = n_pairs;
    rela_line line = { .text = "" };
    while (line.text) {
        n++;
        const rela_status st = rela_reader_line(s->reader[longer], &line, err);
        if (st != RELA_OK)
            return st;
    }
    const uint64_t lines[RELA_SIDES] = { longer == RELA_SOURCE ? n : n_pairs,
                                         longer == RELA_TARGET ? n : n_pairs };
    return rela_fail(err, RELA_FORMAT,
                     "%s has %llu lines and %s has %llu; expected as many lines in both",
                     rela_reader_name(s->reader[0]), (unsigned long long)lines[0],
                     rela_reader_name(s->reader[1]), (unsigned long long)lines[1]);
}

static rela_status work_block(void *ctx, void *block_, int thread, rela_error *err)
{
    const stream *s = ctx;
    block *b = block_;
    const char *text = b->text.data;
    rela_status st = RELA_OK;
    b->ids.len = 0;
    for (size_t i = 0; i < b->n && st == RELA_OK; i++) {
        item *it = &b->items[i];
        if (it->reason != KEPT)
            continue;
        rela_span side[RELA_SIDES] = { { text, it->len[0] }, { text + it->len[0], it->len[1] } };
        text += it->len[0] + it->len[1];
        it->reason = judge_text(&s->job->rules, it, side);
        if (it->reason != KEPT)
            continue;
        const size_t before = b->ids.len;
        st = encode(s, b, i, side, thread, err);
        if (st == RELA_OK)
            it->reason = judge_lengths(&s->job->rules, it, &b->ids);
        if (it->reason != KEPT)
            b->ids.len = before;
    }
    return st;
}

/* Removes blanks at the ends of both sides. */
static rela_corpus_reason judge_text(const rela_corpus_rules *rules, item *it, rela_span *side)
{
    for (int i = 0; i < RELA_SIDES; i++)
        if (rela_utf8_valid(side[i].text, side[i].len) != side[i].len)
            return RELA_CORPUS_UTF8;
    for (int i = 0; i < RELA_SIDES; i++) {
        side[i] = rela_trim(side[i]);
        it->has_nul = it->has_nul || (side[i].len && memchr(side[i].text, '\0', side[i].len));
    }
    if (side[0].len == 0 || side[1].len == 0)
        return RELA_CORPUS_EMPTY;
    if (rules->drop_identical && side[0].len == side[1].len &&
        memcmp(side[0].text, side[1].text, side[0].len) == 0)
        return RELA_CORPUS_IDENTICAL;
    return KEPT;
}

static rela_status encode(const stream *s, block *b, size_t i, const rela_span *side, int thread,
                          rela_error *err)
{
    const rela_corpus_job *job = s->job;
    rela_status st = RELA_OK;
    for (int k = 0; k < RELA_SIDES && st == RELA_OK; k++) {
        const size_t start = b->ids.len;
        const rela_corpus_line line = { k, side[k].text, side[k].len, b->first + i };
        st = job->encode(job->encode_ctx, &line, thread, &b->ids, err);
        for (size_t j = start; j < b->ids.len && st == RELA_OK; j++)
            assert(b->ids.data[j] >= 0);
        b->items[i].n[k] = b->ids.len - start;
        if (st != RELA_OK) {
            const rela_error why = *err;
            const rela_reader *r = s->reader[k] ? s->reader[k] : s->reader[RELA_SOURCE];
            (void)rela_fail(err, st, "%s: line %llu: %s", rela_reader_name(r),
                            (unsigned long long)line.number, why.message);
        }
    }
    return st;
}

static rela_corpus_reason judge_lengths(const rela_corpus_rules *rules, item *it, rela_ids *ids)
{
    const size_t limit = (size_t)rules->max_tokens;
    if (it->n[0] == 0 || it->n[1] == 0)
        return RELA_CORPUS_EMPTY;
    if (it->n[0] > limit || it->n[1] > limit) {
        if (!rules->cut)
            return RELA_CORPUS_TOKENS;
        const size_t n[RELA_SIDES] = { it->n[0] < limit ? it->n[0] : limit,
                                       it->n[1] < limit ? it->n[1] : limit };
        int32_t *pair = ids->data + ids->len - it->n[0] - it->n[1];
        memmove(pair + n[0], pair + it->n[0], n[1] * sizeof *pair);
        ids->len -= it->n[0] - n[0] + it->n[1] - n[1];
        it->n[0] = n[0];
        it->n[1] = n[1];
        it->was_cut = true;
    }
    const double longer = (double)(it->n[0] > it->n[1] ? it->n[0] : it->n[1]);
    const double shorter = (double)(it->n[0] > it->n[1] ? it->n[1] : it->n[0]);
    if (rules->max_ratio > 0 && longer > rules->max_ratio * shorter)
        return RELA_CORPUS_RATIO;
    return KEPT;
}

static rela_status write_block(void *ctx, void *block_, rela_error *err)
{
    stream *s = ctx;
    const block *b = block_;
    rela_corpus_report *report = s->report;
    const int32_t *ids = b->ids.data;
    rela_status st = RELA_OK;
    report->returns += b->returns;
    for (size_t i = 0; i < b->n && st == RELA_OK; i++) {
        const item *it = &b->items[i];
        const uint64_t line = b->first + i;
        report->read++;
        if (it->reason != KEPT) {
            note_dropped(report, it->reason, line);
            continue;
        }
        const rela_pair pair = { { ids, ids + it->n[0] }, { it->n[0], it->n[1] }, line };
        ids += it->n[0] + it->n[1];
        report->kept++;
        report->nuls += it->has_nul;
        report->cut += it->was_cut;
        st = s->job->take(s->job->take_ctx, &pair, err);
    }
    return st;
}

static void note_dropped(rela_corpus_report *report, rela_corpus_reason reason, uint64_t line)
{
    const uint64_t n = report->dropped[reason]++;
    if (n < RELA_CORPUS_SHOWN)
        report->first[reason][n] = line;
}

/* SPDX-License-Identifier: MIT */
/* src/data/corpus_reader.c - see corpus_reader.h. A block of pairs is read, judged and encoded
 * on any thread, and counted and handed on in order. */
#include "data/corpus_reader.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "data/corpus_judge.h"

#include <assert.h>
#include <string.h>

enum { BLOCK_BYTES = 256 << 10, BLOCK_PAIRS = 1024 };

typedef struct block {
    rela_buffer text;
    rela_ids ids; /* of the kept pairs, side after side */
    rela_corpus_item items[BLOCK_PAIRS];
    size_t n;
    size_t set;       /* index in job->files */
    uint64_t before;  /* lines of earlier sets */
    uint64_t first;   /* line number of the first pair in its set */
    uint64_t returns; /* lines that ended in CR LF */
} block;

typedef struct readers {
    rela_reader *side[RELA_SIDES_MAX]; /* the second is NULL for a file of columns */
} readers;

typedef struct stream {
    const rela_corpus_job *job;
    size_t n_sides;
    readers *sets;   /* (job->n_files) */
    size_t set;      /* being read */
    uint64_t before; /* lines of earlier sets */
    uint64_t lines;  /* of this set, so far */
    uint64_t total;  /* stored bytes; 0: unknown */
    rela_corpus_report *report;
} stream;

static rela_status check_job(const rela_corpus_job *job, rela_error *err);
static rela_status open_files(stream *s, rela_error *err);
static void close_files(stream *s);
static rela_status run(stream *s, rela_error *err);
static rela_status read_block(void *ctx, void *b, bool *more, rela_error *err);
static rela_status read_lines(stream *s, block *b, bool *more, rela_error *err);
static rela_status read_columns(stream *s, block *b, bool *more, rela_error *err);
static rela_status add_item(const stream *s, block *b, const rela_span *side, rela_error *err);
static rela_status count_rest(const readers *r, uint64_t n_pairs, size_t longer, size_t shorter,
                              rela_error *err);
static rela_status work_block(void *ctx, void *b, int thread, rela_error *err);
static rela_status encode(const stream *s, block *b, size_t i, const rela_span *side, int thread,
                          rela_error *err);
static rela_status write_block(void *ctx, void *b, rela_error *err);
static void note_dropped(rela_corpus_report *report, rela_corpus_reason reason, uint64_t line);

rela_status rela_corpus_read(rela_corpus_report *report, const rela_corpus_job *job,
                             rela_error *err)
{
    stream s = { .job = job, .n_sides = job->n_sides, .report = report };
    *report = (rela_corpus_report){ .struct_size = sizeof *report };
    rela_status st = check_job(job, err);
    st = st ? st : open_files(&s, err);
    st = st ? st : run(&s, err);
    close_files(&s);
    uint64_t sum = report->kept;
    for (int i = 0; i < RELA_CORPUS_N_REASONS; i++)
        sum += report->dropped[i];
    assert(sum == report->read);
    return st;
}

static rela_status check_job(const rela_corpus_job *job, rela_error *err)
{
    const rela_status st = rela_corpus_rules_check(&job->rules, err);
    size_t from_stdin = 0;
    for (size_t i = 0; i < job->n_files * RELA_SIDES_MAX; i++) {
        const char *path = job->files[i / RELA_SIDES_MAX].side[i % RELA_SIDES_MAX];
        from_stdin += path && strcmp(path, "-") == 0;
    }
    if (st == RELA_OK && from_stdin > 1)
        return rela_fail(err, RELA_ARG, "only one file can be standard input");
    return st;
}

static bool has_columns(const rela_corpus_files *f)
{
    return !f->side[1];
}

static rela_status open_set(stream *s, size_t i, rela_error *err)
{
    const rela_corpus_files *files = &s->job->files[i];
    const bool columns = has_columns(files);
    const size_t max_line = (size_t)s->job->rules.max_line;
    const rela_reader_options options = {
        .max_line = columns ? s->n_sides * (max_line + 1) - 1 : max_line,
        .any_ratio = s->job->rules.any_expansion != 0,
    };
    rela_status st = RELA_OK;
    for (size_t k = 0; k < (columns ? 1 : s->n_sides) && st == RELA_OK; k++)
        st = rela_reader_open(&s->sets[i].side[k], files->side[k], &options, err);
    return st;
}

static rela_status open_files(stream *s, rela_error *err)
{
    rela_status st = RELA_OK;
    bool known = true; /* the size of a pipe is not */
    s->sets = rela_mem_zalloc(s->job->n_files * sizeof *s->sets);
    if (!s->sets)
        return rela_fail(err, RELA_NOMEM, "no memory to read %zu files", s->job->n_files);
    for (size_t i = 0; i < s->job->n_files && st == RELA_OK; i++) {
        st = open_set(s, i, err);
        for (size_t k = 0; k < s->n_sides && s->sets[i].side[k] && st == RELA_OK; k++) {
            const uint64_t size = rela_reader_size(s->sets[i].side[k]);
            known = known && size > 0;
            s->total += size;
        }
    }
    s->total = known ? s->total : 0;
    return st;
}

static void close_files(stream *s)
{
    for (size_t i = 0; s->sets && i < s->job->n_files; i++)
        for (size_t k = 0; k < s->n_sides; k++) {
            rela_reader *r = s->sets[i].side[k];
            s->report->marks += r && rela_reader_had_mark(r);
            rela_reader_close(r);
        }
    rela_mem_free(s->sets);
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

static rela_status report_progress(const stream *s, rela_error *err)
{
    const rela_corpus_job *job = s->job;
    uint64_t done = 0;
    if (!job->progress)
        return RELA_OK;
    for (size_t i = 0; i <= s->set && i < job->n_files; i++)
        for (size_t k = 0; k < s->n_sides && s->sets[i].side[k]; k++)
            done += rela_reader_position(s->sets[i].side[k]);
    return job->progress(job->progress_ctx, done, s->total) == 0
               ? RELA_OK
               : rela_fail(err, RELA_CANCEL, "reading was stopped");
}

/* A block never holds lines of two sets. */
static rela_status read_block(void *ctx, void *block_, bool *more, rela_error *err)
{
    stream *s = ctx;
    block *b = block_;
    rela_status st = RELA_OK;
    *more = false;
    rela_buffer_clear(&b->text);
    b->n = 0;
    b->returns = 0;
    while (st == RELA_OK && !*more && s->set < s->job->n_files) {
        b->set = s->set;
        b->before = s->before;
        st = has_columns(&s->job->files[s->set]) ? read_columns(s, b, more, err)
                                                 : read_lines(s, b, more, err);
        if (*more) {
            s->lines = b->first + b->n - 1;
        } else {
            s->set++;
            s->before += s->lines;
            s->lines = 0;
        }
    }
    return st ? st : report_progress(s, err);
}

static rela_status read_lines(stream *s, block *b, bool *more, rela_error *err)
{
    const readers *r = &s->sets[s->set];
    rela_status st = RELA_OK;
    while (st == RELA_OK && b->n < BLOCK_PAIRS && b->text.len < BLOCK_BYTES) {
        rela_line line[RELA_SIDES_MAX];
        size_t longer = s->n_sides, shorter = s->n_sides;
        for (size_t i = 0; i < s->n_sides && st == RELA_OK; i++) {
            st = rela_reader_line(r->side[i], &line[i], err);
            if (st == RELA_OK)
                *(line[i].text ? &longer : &shorter) = i;
        }
        if (st != RELA_OK)
            break;
        if (longer < s->n_sides && shorter < s->n_sides)
            return count_rest(r, line[longer].number - 1, longer, shorter, err);
        if (longer == s->n_sides)
            break;
        if (b->n == 0)
            b->first = line[0].number;
        rela_span side[RELA_SIDES_MAX] = { { NULL, 0 } };
        rela_corpus_item *it = &b->items[b->n];
        *it = (rela_corpus_item){ .reason = RELA_CORPUS_KEPT };
        for (size_t i = 0; i < s->n_sides; i++) {
            b->returns += line[i].had_cr;
            side[i] = (rela_span){ line[i].text, line[i].len };
            it->reason = line[i].too_long ? RELA_CORPUS_TOO_LONG : it->reason;
        }
        st = add_item(s, b, side, err);
    }
    *more = b->n > 0;
    return st;
}

/* Splits a line at tabs; false unless it has exactly n columns. */
static bool split_columns(rela_span *side, size_t n, const rela_line *line)
{
    const char *at = line->text, *end = at + line->len;
    for (size_t i = 0; i < n; i++) {
        const char *tab = memchr(at, '\t', (size_t)(end - at));
        if (!tab != (i + 1 == n))
            return false;
        side[i] = (rela_span){ at, (size_t)((tab ? tab : end) - at) };
        at = tab ? tab + 1 : end;
    }
    return true;
}

static rela_status read_columns(stream *s, block *b, bool *more, rela_error *err)
{
    rela_status st = RELA_OK;
    while (st == RELA_OK && b->n < BLOCK_PAIRS && b->text.len < BLOCK_BYTES) {
        rela_line line;
        if ((st = rela_reader_line(s->sets[s->set].side[0], &line, err)) != RELA_OK || !line.text)
            break;
        if (b->n == 0)
            b->first = line.number;
        b->returns += line.had_cr;
        rela_corpus_item *it = &b->items[b->n];
        *it = (rela_corpus_item){ .reason = RELA_CORPUS_KEPT };
        rela_span side[RELA_SIDES_MAX] = { { NULL, 0 } };
        if (line.too_long)
            it->reason = RELA_CORPUS_TOO_LONG;
        else if (!split_columns(side, s->n_sides, &line))
            it->reason = RELA_CORPUS_COLUMNS;
        st = add_item(s, b, side, err);
    }
    *more = b->n > 0;
    return st;
}

static rela_status add_item(const stream *s, block *b, const rela_span *side, rela_error *err)
{
    rela_corpus_item *it = &b->items[b->n];
    rela_status st = RELA_OK;
    for (size_t i = 0; i < s->n_sides && it->reason == RELA_CORPUS_KEPT; i++)
        if (side[i].len > s->job->rules.max_line)
            it->reason = RELA_CORPUS_TOO_LONG;
    for (size_t i = 0; i < s->n_sides && it->reason == RELA_CORPUS_KEPT && st == RELA_OK; i++) {
        it->len[i] = side[i].len;
        st = rela_buffer_append(&b->text, side[i].text, side[i].len, err);
    }
    b->n++;
    return st;
}

/* One file has ended: the message gives both line counts, so the longer one is read to its end. */
static rela_status count_rest(const readers *r, uint64_t n_pairs, size_t longer, size_t shorter,
                              rela_error *err)
{
    uint64_t n = n_pairs;
    rela_line line = { .text = "" };
    while (line.text) {
        n++;
        const rela_status st = rela_reader_line(r->side[longer], &line, err);
        if (st != RELA_OK)
            return st;
    }
    const size_t a = longer < shorter ? longer : shorter, b = longer < shorter ? shorter : longer;
    return rela_fail(err, RELA_FORMAT,
                     "%s has %llu line%s and %s has %llu; expected as many lines in both",
                     rela_reader_name(r->side[a]), (unsigned long long)(a == longer ? n : n_pairs),
                     rela_plural(a == longer ? n : n_pairs), rela_reader_name(r->side[b]),
                     (unsigned long long)(b == longer ? n : n_pairs));
}

static rela_status work_block(void *ctx, void *block_, int thread, rela_error *err)
{
    const stream *s = ctx;
    block *b = block_;
    const char *text = b->text.data;
    rela_status st = RELA_OK;
    b->ids.len = 0;
    for (size_t i = 0; i < b->n && st == RELA_OK; i++) {
        rela_corpus_item *it = &b->items[i];
        if (it->reason != RELA_CORPUS_KEPT)
            continue;
        rela_span side[RELA_SIDES_MAX];
        for (size_t k = 0; k < s->n_sides; k++) {
            side[k] = (rela_span){ text, it->len[k] };
            text += it->len[k];
        }
        it->reason = rela_corpus_judge_text(it, side, s->n_sides, &s->job->rules);
        if (it->reason != RELA_CORPUS_KEPT)
            continue;
        const size_t before = b->ids.len;
        st = encode(s, b, i, side, thread, err);
        if (st == RELA_OK)
            it->reason = rela_corpus_judge_lengths(it, &b->ids, s->n_sides, &s->job->rules);
        if (it->reason != RELA_CORPUS_KEPT)
            b->ids.len = before;
    }
    return st;
}

static rela_status encode(const stream *s, block *b, size_t i, const rela_span *side, int thread,
                          rela_error *err)
{
    const rela_corpus_job *job = s->job;
    rela_status st = RELA_OK;
    for (size_t k = 0; k < s->n_sides && st == RELA_OK; k++) {
        const size_t start = b->ids.len;
        const rela_corpus_line line = { (int32_t)k, side[k].text, side[k].len,
                                        b->before + b->first + i };
        st = job->encode(job->encode_ctx, &line, thread, &b->ids, err);
        for (size_t j = start; j < b->ids.len && st == RELA_OK; j++)
            assert(b->ids.data[j] >= 0);
        b->items[i].n[k] = b->ids.len - start;
        if (st != RELA_OK) {
            const rela_error why = *err;
            const readers *r = &s->sets[b->set];
            (void)rela_fail(err, st, "%s: line %llu: %s",
                            rela_reader_name(r->side[k] ? r->side[k] : r->side[0]),
                            (unsigned long long)(b->first + i), why.message);
        }
    }
    return st;
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
        const rela_corpus_item *it = &b->items[i];
        const uint64_t line = b->before + b->first + i;
        report->read++;
        if (it->reason != RELA_CORPUS_KEPT) {
            note_dropped(report, it->reason, line);
            continue;
        }
        rela_pair pair = { .line = line };
        for (size_t k = 0; k < s->n_sides; k++) {
            pair.ids[k] = ids;
            pair.n[k] = it->n[k];
            ids += it->n[k];
        }
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
        report->first[reason][n] = line - 1;
}

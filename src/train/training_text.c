/* SPDX-License-Identifier: MIT */
/* src/train/training_text.c - see training_text.h. */
#include "train/training_text.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "format/safetensors.h"
#include "text/bpe.h"
#include "train/train_options.h"

#include <stdio.h>
#include <string.h>

enum {
    CODES_MAX = 256 << 20,
    HEADER_ROOM = RELA_HEADER_MAX - (1 << 20), /* leaves room for the list of tensors */
    HELD_LEAST = 20,                           /* fewer lines say too little */
    HELD_SHARE = 50 /* one line in so many, which training hardly misses */
};

typedef struct encoders {
    rela_pipeline_scratch *scratch[RELA_PAR_MAX];
    int n;
    size_t target; /* side */
    uint64_t draw; /* with BPE dropout: numbers the segmentations of the same text */
} encoders;

/* Bits of the number of a segmentation: target 0, line 1..37, source 38..39, draw from 40. A corpus
 * has fewer than 2^37 lines. */
enum { DRAW_SHIFT = 40, FURTHER_SHIFT = 38 };

typedef struct reading {
    bool validation;
    const rela_bpe *sampled; /* NULL: segmented as the pipeline does */
    uint64_t draw;
} reading;

/* Takes the pairs: n of so many lines, at even distances, are held out. */
typedef struct split_pairs {
    rela_store *rest, *held;
    uint64_t n, lines;
} split_pairs;

static void fill_side(rela_pipeline_side *s, const char *language, const rela_train_options *o);
static size_t list_files(rela_pipeline_text *files, const rela_train_options *o);
static rela_status check_text(bool codes, const char *path, const char *text, size_t len,
                              rela_error *err);
static rela_status check_size(const rela_pipeline *p, rela_error *err);
static rela_status read_pairs(split_pairs *s, rela_corpus_report *report,
                              const rela_train_options *o, const rela_pipeline *p, const reading *r,
                              rela_error *err);
static rela_status read_split(split_pairs *s, rela_corpus_report *report, rela_corpus_job *job,
                              const rela_train_options *o, rela_error *err);
static rela_status count_held(split_pairs *s, const rela_train_options *o, rela_error *err);
static rela_status take_pair(void *ctx, const rela_pair *pair, rela_error *err);
static rela_status encode(void *ctx, const rela_corpus_line *line, int thread, rela_ids *out,
                          rela_error *err);

rela_status rela_train_pipeline(rela_pipeline **out, const rela_train_options *o, rela_error *err)
{
    const char *const paths[] = { o->codes, o->vocab_src, o->vocab_tgt };
    char *texts[3] = { NULL, NULL, NULL };
    size_t lens[3] = { 0, 0, 0 };
    rela_status st = RELA_OK;
    *out = NULL;
    for (int i = 0; i < 3 && st == RELA_OK; i++)
        if (paths[i]) {
            st = rela_file_read_lines(&texts[i], &lens[i], paths[i], CODES_MAX, RELA_BPE_LINE_MAX,
                                      err);
            st = st ? st : check_text(i == 0, paths[i], texts[i], lens[i], err);
        }
    const size_t n_sides = rela_train_sources(o) + 1;
    rela_pipeline_text *files = rela_mem_array((o->n_more + 1) * n_sides, sizeof *files);
    if (st == RELA_OK && !files)
        st = rela_fail(err, RELA_NOMEM, "no memory for the names of files");
    rela_pipeline_recipe r = { .n_sides = n_sides,
                               .texts = files,
                               .n_texts = files ? list_files(files, o) : 0,
                               .max_line = RELA_CORPUS_LINE_MAX, /* ignores what read_pairs drops */
                               .merges = (uint64_t)o->merges,
                               .codes = { texts[0], lens[0] },
                               .vocab_size = (size_t)o->vocab_size,
                               .vocab_min = (uint64_t)o->vocab_min,
                               .joint_vocab = strcmp(o->tie, "all") == 0,
                               .dropout = o->bpe_dropout,
                               .seed = (uint64_t)o->seed,
                               .n_threads = (int)o->threads,
                               .stop = rela_train_stop(o) };
    for (size_t i = 0; i < n_sides; i++)
        fill_side(&r.side[i], i + 1 < n_sides ? rela_train_language(o, i) : o->tgt_lang, o);
    rela_pipeline_parts parts = { .n_sides = n_sides,
                                  .codes = { texts[0], lens[0] },
                                  .vocab = { { texts[1], lens[1] }, { texts[2], lens[2] } } };
    memcpy(parts.side, r.side, sizeof parts.side);
    const bool given = o->vocab_src && (o->codes || o->merges == 0);
    if (st == RELA_OK)
        st = given ? rela_pipeline_create(out, &parts, err) : rela_pipeline_learn(out, &r, err);
    if (st == RELA_OK && (st = check_size(*out, err)) != RELA_OK) {
        rela_pipeline_destroy(*out);
        *out = NULL;
    }
    for (int i = 0; i < 3; i++)
        rela_mem_free(texts[i]);
    rela_mem_free(files);
    return st;
}

/* All files of a side before those of the next. */
static size_t list_files(rela_pipeline_text *files, const rela_train_options *o)
{
    const size_t sources = rela_train_sources(o);
    size_t n = 0;
    for (size_t side = 0; side <= sources; side++)
        for (size_t i = 0; i <= o->n_more; i++) {
            const rela_train_files t = rela_train_text_at(o, i);
            files[n++] =
                (rela_pipeline_text){ .path = side < sources ? t.src[side] : t.tgt, .side = side };
        }
    return n;
}

rela_status rela_train_pipeline_compare(const rela_pipeline *p, const rela_train_options *o,
                                        rela_error *err)
{
    const rela_pipeline_parts *parts = rela_pipeline_parts_of(p);
    const char *const paths[] = { o->codes, o->vocab_src, o->vocab_tgt };
    const rela_span old[] = { parts->codes, parts->vocab[0],
                              parts->vocab[1].text ? parts->vocab[1] : parts->vocab[0] };
    rela_status st = RELA_OK;
    for (int i = 0; i < 3 && st == RELA_OK; i++) {
        char *text = NULL;
        size_t len = 0;
        if (!paths[i])
            continue;
        st = rela_file_read_lines(&text, &len, paths[i], CODES_MAX, RELA_BPE_LINE_MAX, err);
        if (st == RELA_OK && (len != old[i].len || memcmp(text, old[i].text, len) != 0))
            st = rela_fail(err, RELA_STATE,
                           "%s is not the file this run was started with; use another directory to "
                           "start afresh",
                           paths[i]);
        rela_mem_free(text);
    }
    return st;
}

rela_status rela_train_read(rela_store **out, rela_store **held, rela_corpus_report *report,
                            const rela_train_options *o, const rela_pipeline *p, rela_error *err)
{
    const reading r = { .validation = false };
    split_pairs s = { .n = 0 };
    const rela_status st = read_pairs(&s, report, o, p, &r, err);
    *out = s.rest;
    *held = s.held;
    return st;
}

rela_status rela_train_read_valid(rela_store **out, rela_corpus_report *report,
                                  const rela_train_options *o, const rela_pipeline *p,
                                  rela_error *err)
{
    const reading r = { .validation = true };
    split_pairs s = { .n = 0 };
    const rela_status st = read_pairs(&s, report, o, p, &r, err);
    *out = s.rest;
    return st;
}

rela_status rela_train_read_sampled(rela_store **out, const rela_train_options *o,
                                    const rela_pipeline *p, uint64_t epoch, rela_error *err)
{
    rela_bpe *sampled = NULL;
    rela_corpus_report report;
    rela_status st = rela_pipeline_sampled(&sampled, p, o->bpe_dropout, (uint64_t)o->seed, err);
    const reading r = { false, sampled, epoch + 1 }; /* 0 is that of the vocabulary */
    split_pairs s = { .n = 0 };
    if (st == RELA_OK)
        st = read_pairs(&s, &report, o, p, &r, err);
    rela_store_destroy(s.held);
    *out = s.rest;
    rela_bpe_free(sampled);
    return st;
}

static rela_status read_pairs(split_pairs *s, rela_corpus_report *report,
                              const rela_train_options *o, const rela_pipeline *p, const reading *r,
                              rela_error *err)
{
    const size_t n = r->validation ? 1 : o->n_more + 1, sources = rela_train_sources(o);
    encoders e = { .n = rela_par_threads((int)o->threads), .target = sources, .draw = r->draw };
    rela_stop stop = rela_train_stop(o);
    rela_corpus_files *files = rela_mem_zalloc(n * sizeof *files);
    if (!files)
        return rela_fail(err, RELA_NOMEM, "no memory for the names of files");
    for (size_t i = 0; i < n; i++) {
        const rela_train_files t =
            r->validation ? rela_train_valid_text(o) : rela_train_text_at(o, i);
        memcpy(files[i].side, t.src, sources * sizeof *t.src);
        files[i].side[sources] = t.tgt;
    }
    rela_corpus_job job = { .files = files,
                            .n_files = n,
                            .n_sides = sources + 1,
                            .n_threads = e.n,
                            .encode = encode,
                            .encode_ctx = &e,
                            .progress = rela_stop_progress,
                            .progress_ctx = &stop };
    rela_corpus_rules_init(&job.rules, sizeof job.rules);
    job.rules.max_tokens = (int32_t)(o->max_length - 1); /* the end symbol is added */
    job.rules.cut = o->cut_long;
    job.rules.max_ratio = o->max_ratio;
    rela_status st = r->validation ? RELA_OK : count_held(s, o, err);
    for (int i = 0; i < e.n && st == RELA_OK; i++)
        st = rela_pipeline_scratch_create_sampled(&e.scratch[i], p, r->sampled, err);
    if (st == RELA_OK)
        st = read_split(s, report, &job, o, err);
    for (int i = 0; i < e.n; i++)
        rela_pipeline_scratch_destroy(e.scratch[i]);
    rela_mem_free(files);
    return st;
}

static rela_status count_held(split_pairs *s, const rela_train_options *o, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; o->hold_out > 0 && i <= o->n_more && st == RELA_OK; i++) {
        uint64_t n = 0;
        st = rela_file_count_lines(&n, rela_train_text_at(o, i).tgt, err);
        s->lines += n;
    }
    const uint64_t most = s->lines / HELD_SHARE, wanted = (uint64_t)o->hold_out;
    s->n = most < HELD_LEAST ? 0 : most < wanted ? most : wanted;
    return st;
}

/* On failure there is no store. */
static rela_status read_split(split_pairs *s, rela_corpus_report *report, rela_corpus_job *job,
                              const rela_train_options *o, rela_error *err)
{
    job->take = take_pair;
    job->take_ctx = s;
    rela_status st =
        rela_store_create(&s->rest, job->n_sides, (uint64_t)o->data_memory, o->out, err);
    if (st == RELA_OK && s->n)
        st = rela_store_create(&s->held, job->n_sides, UINT64_MAX, NULL, err);
    st = st ? st : rela_corpus_read(report, job, err);
    st = st ? st : rela_store_finish(s->rest, err);
    if (st == RELA_OK && s->held)
        st = rela_store_finish(s->held, err);
    if (st != RELA_OK || (s->held && rela_store_size(s->held) == 0)) {
        rela_store_destroy(s->held);
        s->held = NULL;
    }
    if (st != RELA_OK) {
        rela_store_destroy(s->rest);
        s->rest = NULL;
    }
    return st;
}

static rela_status take_pair(void *ctx, const rela_pair *pair, rela_error *err)
{
    split_pairs *s = ctx;
    const bool held = s->n && pair->line * s->n / s->lines != (pair->line - 1) * s->n / s->lines;
    return rela_store_add(held ? s->held : s->rest, pair, err);
}

/* Bytes that a text takes as a JSON string in the header of a model file. */
static size_t quoted_size(rela_span text)
{
    size_t n = text.len;
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char)text.text[i];
        n += c == '\n' || c == '"' || c == '\\' ? 1 : c < 0x20 ? 5 : 0;
    }
    return n;
}

/* Fails now rather than at the first checkpoint. */
static rela_status check_size(const rela_pipeline *p, rela_error *err)
{
    const rela_pipeline_parts *parts = rela_pipeline_parts_of(p);
    const rela_span *tgt = parts->vocab[1].text ? &parts->vocab[1] : &parts->vocab[0];
    const size_t size =
        quoted_size(parts->codes) + quoted_size(parts->vocab[0]) + quoted_size(*tgt);
    if (size <= HEADER_ROOM)
        return RELA_OK;
    return rela_fail(err, RELA_FORMAT,
                     "codes and vocabularies take %zu bytes of a model file; at most %d fit: a "
                     "smaller vocabulary or fewer merges help",
                     size, HEADER_ROOM);
}

/* Parsed here as well, so that messages name the file. */
static rela_status check_text(bool codes, const char *path, const char *text, size_t len,
                              rela_error *err)
{
    rela_bpe *bpe = NULL;
    rela_vocab *vocab = NULL;
    const rela_status st = codes ? rela_bpe_parse(&bpe, path, text, len, NULL, err)
                                 : rela_vocab_parse(&vocab, path, text, len, err);
    rela_bpe_free(bpe);
    rela_vocab_free(vocab);
    return st;
}

static void fill_side(rela_pipeline_side *s, const char *language, const rela_train_options *o)
{
    *s = (rela_pipeline_side){ .normalise = o->normalise,
                               .tokenise = o->tokenise,
                               .lowercase = o->lowercase };
    (void)snprintf(s->language, sizeof s->language, "%s", language ? language : "");
}

static rela_status encode(void *ctx, const rela_corpus_line *line, int thread, rela_ids *out,
                          rela_error *err)
{
    const encoders *e = ctx;
    const int32_t *ids = NULL;
    size_t n = 0;
    rela_pipeline_scratch *s = e->scratch[thread];
    const size_t side = (size_t)line->side;
    const uint64_t target = side == e->target, further = target ? 0 : side;
    rela_pipeline_scratch_number(s, e->draw << DRAW_SHIFT | further << FURTHER_SHIFT |
                                        line->number << 1 | target);
    rela_status st = rela_pipeline_encode(&ids, &n, s, side, line->text, line->len, err);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = rela_ids_push(out, ids[i], err);
    return st;
}

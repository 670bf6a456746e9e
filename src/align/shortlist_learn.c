/* SPDX-License-Identifier: MIT */
/* src/align/shortlist_learn.c - rela_shortlist_learn: takes word links of parallel text from
 * attention or from a file and counts them between the tokens of the linked words. */
#include "align/align_job.h"
#include "align/lexicon.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/sized.h"

enum { FREQUENT = 50, BEST = 50, MOST = 1 << 20 };

typedef struct learner {
    rela_align_job align;
    rela_shortlist_options o;
    rela_lexicon *lexicon;
    rela_shortlist_report report;
} learner;

/* Result of a block, passed from its worker to the thread that finishes blocks in order. */
typedef struct found {
    rela_watched_state state[RELA_ALIGN_ROWS];
    uint32_t *pairs;   /* (n_pairs, 2): source and target token */
    uint32_t *targets; /* (n_targets) */
    size_t n_pairs, cap_pairs, n_targets, cap_targets;
    uint64_t n_links;
} found;

static rela_status check(const rela_shortlist_options *o, rela_error *err);
static rela_status learn(learner *l, rela_error *err);
static rela_status work(void *ctx, rela_rows *rows, int thread, rela_error *err);
static rela_status done(void *ctx, rela_rows *rows, rela_error *err);

rela_status rela_shortlist_load(rela_shortlist **out, const rela_model *m, const char *path,
                                rela_error *err)
{
    return rela_shortlist_read(out, path, &m->vocab, err);
}

void rela_shortlist_options_init(rela_shortlist_options *o, size_t size)
{
    const rela_shortlist_options defaults = {
        .struct_size = size, .layer = -1, .head = -1, .frequent = FREQUENT, .best = BEST
    };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_shortlist_learn(rela_shortlist_report *report, const rela_model *m,
                                 const rela_shortlist_options *o, rela_error *err)
{
    learner l = { .o = { .struct_size = 0 } };
    rela_shortlist *made = NULL;
    rela_shortlist_options_init(&l.o, sizeof l.o);
    rela_status st = rela_sized_take(&l.o, sizeof l.o, o, "rela_shortlist_options", err);
    if (st == RELA_OK && report)
        st = rela_sized_check(report, sizeof *report, "rela_shortlist_report", err);
    if (st != RELA_OK)
        return st;
    rela_align_options_init(&l.align.o, sizeof l.align.o);
    l.align.o.src = l.o.src;
    l.align.o.tgt = l.o.tgt;
    l.align.o.layer = l.o.layer;
    l.align.o.head = l.o.head;
    l.align.o.shift = l.o.shift;
    l.align.o.threshold = l.o.threshold;
    l.align.links = l.o.links;
    st = rela_model_check_single(m, "a shortlist", err);
    st = st ? st : check(&l.o, err);
    st = st ? st : rela_align_job_start(&l.align, m, err);
    st = st ? st
            : rela_lexicon_create(&l.lexicon, rela_pipeline_vocab(m->pipeline, 0),
                                  rela_pipeline_vocab(m->pipeline, 1), err);
    st = st ? st : learn(&l, err);
    if (st == RELA_OK)
        st = rela_lexicon_shortlist(&made, l.lexicon, (size_t)l.o.frequent, (size_t)l.o.best, err);
    st = st ? st : rela_shortlist_write(l.o.out, made, err);
    if (st == RELA_OK && report) {
        const rela_shortlist_parts *p = rela_shortlist_parts_of(made);
        l.report.frequent = p->n_frequent;
        l.report.words = (uint64_t)p->first[p->vocab.n_src];
        rela_sized_give(report, &l.report, sizeof l.report);
    }
    rela_shortlist_free(made);
    rela_lexicon_destroy(l.lexicon);
    rela_align_job_end(&l.align);
    return st;
}

static rela_status check(const rela_shortlist_options *o, rela_error *err)
{
    rela_writer *w = NULL;
    if (!o->out)
        return rela_fail(err, RELA_ARG, "no file for the shortlist is given");
    if (o->frequent < 0 || o->frequent > MOST)
        return rela_fail(err, RELA_ARG, "%lld frequent symbols; expected 0..%d",
                         (long long)o->frequent, (int)MOST);
    if (o->best < 0 || o->best > MOST)
        return rela_fail(err, RELA_ARG, "%lld best symbols; expected 0..%d", (long long)o->best,
                         (int)MOST);
    const rela_status st = rela_writer_open(&w, o->out, err); /* fail early, not after hours */
    rela_writer_abort(w);
    return st;
}

static void free_found(void *extra)
{
    found *f = extra;
    rela_mem_free(f->pairs);
    rela_mem_free(f->targets);
    rela_mem_free(f);
}

static rela_status learn(learner *l, rela_error *err)
{
    const rela_steps steps = { .files = l->align.files,
                               .n_files = l->align.n_files,
                               .n_threads = l->align.n_workers,
                               .block_rows = RELA_ALIGN_ROWS,
                               .max_line = RELA_ALIGN_LINE,
                               .work = work,
                               .done = done,
                               .free_extra = free_found,
                               .ctx = l };
    return rela_steps_run(NULL, &steps, err);
}

/* ---- links of a block ---- */

/* Pairs every token of the source word with every token of the target word. */
static rela_status add_link(found *f, const rela_watched *p, const rela_link *link, rela_error *err)
{
    f->n_links++;
    const rela_watched_text *src = &p->src[0], *tgt = &p->tgt;
    for (size_t s = 0; s < src->map.n_pieces; s++)
        for (size_t t = 0; t < tgt->map.n_pieces && src->map.word_of[s] == link->src; t++) {
            if (tgt->map.word_of[t] != link->tgt)
                continue;
            uint32_t *more =
                rela_mem_grow(f->pairs, &f->cap_pairs, 2 * (f->n_pairs + 1), sizeof *more);
            if (!more)
                return rela_fail(err, RELA_NOMEM, "no memory for %zu links", f->n_pairs);
            f->pairs = more;
            more[2 * f->n_pairs] = (uint32_t)src->ids[s];
            more[2 * f->n_pairs + 1] = (uint32_t)tgt->ids[t];
            f->n_pairs++;
        }
    return RELA_OK;
}

static rela_status add_pair(found *f, const rela_watched *p, const rela_links *links,
                            rela_error *err)
{
    const size_t n = p->tgt.map.n_pieces;
    uint32_t *targets =
        rela_mem_grow(f->targets, &f->cap_targets, f->n_targets + n, sizeof *targets);
    if (!targets)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu symbols", n);
    f->targets = targets;
    for (size_t t = 0; t < n; t++)
        targets[f->n_targets++] = (uint32_t)p->tgt.ids[t];
    rela_status st = RELA_OK;
    for (size_t i = 0; i < links->n && st == RELA_OK; i++)
        st = add_link(f, p, &links->items[i], err);
    return st;
}

/* Sets worker->links[0] to the links of pair i, from the file of links or from attention. */
static rela_status find_links(const learner *l, rela_align_worker *worker, const rela_rows *rows,
                              size_t i, rela_error *err)
{
    const rela_watched *p = rela_align_pair(worker, 0, i);
    if (!l->o.links)
        return rela_word_weights_links(&worker->links[0], &worker->sums[0][i], l->o.threshold,
                                       false, err);
    const rela_link_format form = { .struct_size = sizeof form,
                                    .check = 1,
                                    .n_src = p->src[0].map.n_words,
                                    .n_tgt = p->tgt.map.n_words };
    const rela_span text = rows->lines[i * l->align.n_files + 2];
    const rela_status st = rela_links_parse(&worker->links[0], text.text, text.len, &form, err);
    return rela_fail_at(err, st, l->o.links, rows->first + i);
}

static rela_status work(void *ctx, rela_rows *rows, int thread, rela_error *err)
{
    learner *l = ctx;
    rela_align_worker *worker = &l->align.workers[thread];
    if (!rows->extra && !(rows->extra = rela_mem_zalloc(sizeof(found))))
        return rela_fail(err, RELA_NOMEM, "no memory for a block");
    found *f = rows->extra;
    f->n_pairs = f->n_targets = 0;
    f->n_links = 0;
    rela_status st = rela_align_load(&l->align, worker, 0, rows, err);
    if (st == RELA_OK && !l->o.links) {
        rela_align_callback e = { &l->align, worker, 0 };
        const rela_watch watch = { .stacks = rela_align_stack(&l->align, 0),
                                   .on_heads = rela_align_gather,
                                   .ctx = &e };
        st = rela_align_watch(&l->align, worker, 0, rows, &watch, err);
    }
    for (size_t i = 0; i < rows->n && st == RELA_OK; i++) {
        const rela_watched *p = rela_align_pair(worker, 0, i);
        f->state[i] = p->state;
        if (p->state == RELA_WATCHED) {
            st = find_links(l, worker, rows, i, err);
            st = st ? st : add_pair(f, p, &worker->links[0], err);
        }
        rela_word_weights_free(&worker->sums[0][i]);
    }
    return st;
}

static rela_status done(void *ctx, rela_rows *rows, rela_error *err)
{
    learner *l = ctx;
    const found *f = rows->extra;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < f->n_targets; i++)
        rela_lexicon_add(l->lexicon, f->targets[i]);
    for (size_t i = 0; i < f->n_pairs && st == RELA_OK; i++)
        st = rela_lexicon_link(l->lexicon, f->pairs[2 * i], f->pairs[2 * i + 1], err);
    for (size_t i = 0; i < rows->n; i++) {
        l->report.empty += f->state[i] == RELA_WATCHED_EMPTY;
        l->report.too_long += f->state[i] == RELA_WATCHED_LONG;
        if (f->state[i] == RELA_WATCHED_LONG)
            rela_align_log_long(&l->align, rows->first + i);
    }
    l->report.lines += rows->n;
    l->report.links += f->n_links;
    if (st == RELA_OK && l->o.progress && l->o.progress(l->o.progress_ctx, l->report.lines))
        st = rela_fail(err, RELA_CANCEL, "cancelled");
    return st;
}

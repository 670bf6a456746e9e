/* SPDX-License-Identifier: MIT */
/* src/align/align_text.c - rela_align: checks the options, makes workers, and on request chooses
 * the heads on the lines that have gold links. */
#include "align/align_job.h"
#include "base/mem.h"
#include "base/sized.h"

#include <string.h>

static rela_status check(const rela_align_job *j, rela_error *err);
static rela_status name_choice(const rela_align_job *j, rela_error *err);
static void list_files(rela_align_job *j);
static rela_status make_workers(rela_align_job *j, rela_error *err);

void rela_align_options_init(rela_align_options *o, size_t size)
{
    const rela_align_options defaults = { .struct_size = size,
                                          .layer = -1,
                                          .head = -1,
                                          .reverse_layer = -1,
                                          .reverse_head = -1,
                                          .symmetrise = RELA_INTERSECT,
                                          .only = -1 };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_align(rela_align_report *report, const rela_model *m, const rela_align_options *o,
                       int (*on_line)(void *ctx, const rela_aligned *line), void *ctx,
                       rela_error *err)
{
    rela_align_job j = { .on_line = on_line, .ctx = ctx };
    rela_align_options_init(&j.o, sizeof j.o);
    rela_status st = rela_sized_take(&j.o, sizeof j.o, o, "rela_align_options", err);
    if (st == RELA_OK && report)
        st = rela_sized_check(report, sizeof *report, "rela_align_report", err);
    if (st != RELA_OK)
        return st;
    st = rela_align_job_start(&j, m, err);
    if (st == RELA_OK && j.o.best_on)
        st = rela_align_choose(&j, err);
    if (st == RELA_OK && j.o.best_on)
        st = name_choice(&j, err);
    st = rela_job_agree(j.o.job, st, err);
    if (st == RELA_OK)
        st = rela_align_lines(&j, err);
    const rela_head_choice *c = j.choice;
    j.report.layer = c[0].layer;
    j.report.head = c[0].head;
    j.report.shift = c[0].shift;
    j.report.reverse_layer = c[1].layer;
    j.report.reverse_head = c[1].head;
    j.report.reverse_shift = c[1].shift;
    rela_sized_give(report, &j.report, sizeof j.report);
    rela_align_job_end(&j);
    return st;
}

rela_status rela_align_job_start(rela_align_job *j, const rela_model *m, rela_error *err)
{
    const rela_align_options *o = &j->o;
    j->models[0] = m;
    j->models[1] = o->reverse;
    j->n_directions = o->reverse ? 2 : 1;
    j->choice[0] = (rela_head_choice){ o->layer, o->head, o->shift != 0 };
    j->choice[1] = (rela_head_choice){ o->reverse_layer, o->reverse_head, o->reverse_shift != 0 };
    rela_status st = check(j, err);
    for (int d = 0; d < j->n_directions && st == RELA_OK && !j->links; d++)
        st = rela_model_check_full(j->models[d], err);
    if (st != RELA_OK)
        return st;
    list_files(j);
    return make_workers(j, err);
}

/* Each rank, and a job that resumes, chooses heads on its own. Recording the choice as a setting
 * makes sure that all agree; otherwise their results could not be combined. */
static rela_status name_choice(const rela_align_job *j, rela_error *err)
{
    const rela_head_choice *a = &j->choice[0], *b = &j->choice[1];
    char text[128];
    rela_format_text(text, sizeof text, "%d %d %d, reverse %d %d %d", a->layer + 1, a->head + 1,
                     a->shift, b->layer + 1, b->head + 1, b->shift);
    return rela_job_setting(j->o.job, "best layer, head and shift", text, err);
}

static void list_files(rela_align_job *j)
{
    const rela_align_options *o = &j->o;
    const char *const texts[RELA_SOURCES_MAX] = { o->src, o->src_2, o->src_3, o->src_4 };
    j->n_sources = j->models[0]->net.config.sources;
    for (size_t i = 0; i < j->n_sources; i++)
        j->files[j->n_files++] = texts[i];
    j->files[j->n_files++] = o->tgt;
    if (j->links)
        j->files[j->n_files++] = j->links;
}

static rela_status check_texts(const rela_align_job *j, rela_error *err)
{
    const rela_align_options *o = &j->o;
    const char *const texts[] = { o->src, o->src_2, o->src_3, o->src_4, o->tgt };
    if (!o->src || !o->tgt)
        return rela_fail(err, RELA_ARG, "source and target text are needed");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && o->best_on; i++)
        if (texts[i] && strcmp(texts[i], "-") == 0)
            return rela_fail(err, RELA_ARG,
                             "text is read twice to choose a head, so it cannot be standard input");
    if (o->reverse && o->reverse->net.config.sources > 1)
        return rela_fail(err, RELA_ARG, "%s: a reverse model with %zu sources; expected 1",
                         o->reverse->path, o->reverse->net.config.sources);
    return rela_model_check_texts(j->models[0], texts, o->source, err);
}

static rela_status check(const rela_align_job *j, rela_error *err)
{
    const rela_align_options *o = &j->o;
    for (int d = 0; d < j->n_directions; d++) {
        const rela_config *c = &j->models[d]->net.config;
        const rela_head_choice *h = &j->choice[d];
        if (h->layer < -1 || h->layer >= (int32_t)rela_config_layers(c, RELA_ATTN_CROSS))
            return rela_fail(err, RELA_ARG, "no layer %lld; the %smodel has %zu",
                             1 + (long long)h->layer, d ? "reverse " : "",
                             rela_config_layers(c, RELA_ATTN_CROSS));
        if (h->head < -1 || h->head >= (int32_t)c->heads)
            return rela_fail(err, RELA_ARG, "no head %lld; the %smodel has %zu",
                             1 + (long long)h->head, d ? "reverse " : "", c->heads);
        if (h->layer < 0 && h->head >= 0)
            return rela_fail(err, RELA_ARG, "a head without its layer");
    }
    if (!(o->threshold >= 0 && o->threshold <= 1))
        return rela_fail(err, RELA_ARG, "threshold %g; expected 0..1", o->threshold);
    if (o->symmetrise < RELA_INTERSECT || o->symmetrise > RELA_ALIGN_MEAN)
        return rela_fail(err, RELA_ARG, "unknown way to symmetrise: %d", (int)o->symmetrise);
    if (o->gold_base < 0 || o->gold_base > 1)
        return rela_fail(err, RELA_ARG, "gold links count words from %d; expected 0 or 1",
                         o->gold_base);
    if (o->soft && o->reverse)
        return rela_fail(err, RELA_ARG, "soft links have one direction: no reverse model");
    return check_texts(j, err);
}

static rela_status make_workers(rela_align_job *j, rela_error *err)
{
    j->n_workers = j->models[0]->runtime->n_threads;
    j->workers = rela_mem_zalloc((size_t)j->n_workers * sizeof *j->workers);
    if (!j->workers)
        return rela_fail(err, RELA_NOMEM, "no memory for %d threads", j->n_workers);
    for (int i = 0; i < j->n_workers; i++)
        for (int d = 0; d < j->n_directions; d++) {
            const rela_model *m = j->models[d];
            rela_status st =
                rela_watcher_create(&j->workers[i].watcher[d], &m->net, m->pipeline, err);
            if (st == RELA_OK)
                st = rela_head_aer_init(&j->workers[i].aer[d],
                                        rela_config_layers(&m->net.config, RELA_ATTN_CROSS),
                                        m->net.config.heads, j->o.threshold, err);
            if (st != RELA_OK)
                return st;
        }
    return RELA_OK;
}

static void free_worker(rela_align_worker *l)
{
    for (int d = 0; d < RELA_ALIGN_DIRECTIONS; d++) {
        rela_watcher_destroy(l->watcher[d]);
        rela_head_aer_deinit(&l->aer[d]);
        rela_links_free(&l->links[d]);
        for (int i = 0; i < RELA_ALIGN_ROWS; i++) {
            rela_word_weights_free(&l->sums[d][i]);
            rela_links_free(&l->gold[d][i]);
        }
    }
    rela_word_weights_free(&l->merged);
    rela_links_free(&l->joined);
    rela_mem_free(l->mean);
}

void rela_align_job_end(rela_align_job *j)
{
    for (int i = 0; j->workers && i < j->n_workers; i++)
        free_worker(&j->workers[i]);
    rela_mem_free(j->workers);
    rela_text_lines_free(&j->gold);
    rela_word_weights_free(&j->shown);
    for (int i = 0; i < 2; i++)
        rela_buffer_free(&j->words[i]);
}

rela_status rela_align_load(const rela_align_job *j, rela_align_worker *l, int d,
                            const rela_rows *rows, rela_error *err)
{
    for (size_t i = 0; i < rows->n; i++) {
        const rela_span *c = rows->lines + i * j->n_files, tgt = c[j->n_sources];
        l->pairs[i] = (rela_text_pair){ .src = { tgt }, .tgt = c[j->o.source] };
        if (d == 1)
            continue;
        memcpy(l->pairs[i].src, c, j->n_sources * sizeof *c);
        l->pairs[i].tgt = tgt;
    }
    const rela_status st = rela_watcher_load(l->watcher[d], l->pairs, rows->n, err);
    if (st != RELA_OK)
        return rela_fail_at(err, st, j->o.src, rows->first);
    return st;
}

rela_status rela_align_watch(const rela_align_job *j, rela_align_worker *l, int direction,
                             const rela_rows *rows, const rela_watch *watch, rela_error *err)
{
    const rela_status st = rela_watcher_run(l->watcher[direction], watch, err);
    const size_t odd =
        st == RELA_OK ? rela_watcher_not_finite(l->watcher[direction], rows->n) : rows->n;
    return odd < rows->n ? rela_fail_not_finite(err, j->o.src, rows->first + odd, "attention is")
                         : st;
}

size_t rela_align_source(const rela_align_job *j, int d)
{
    return d == 0 ? (size_t)j->o.source : 0;
}

uint32_t rela_align_stack(const rela_align_job *j, int d)
{
    const rela_block_list *list = &j->models[d]->net.list;
    return rela_watch_stack(rela_block_list_cross(list, rela_align_source(j, d)));
}

const rela_watched *rela_align_pair(const rela_align_worker *l, int d, size_t i)
{
    return rela_watcher_pair(l->watcher[d], i);
}

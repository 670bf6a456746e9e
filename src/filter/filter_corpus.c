/* SPDX-License-Identifier: MIT */
/* src/filter/filter_corpus.c - rela_filter: checks the options, opens files and makes workers; the
 * pairs are judged in filter_lines.c. */
#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/sized.h"
#include "dist/job_rows.h"
#include "filter/filter_job.h"
#include "filter/verdict.h"
#include "text/script.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Share of the letters of a vocabulary from which on a script belongs to it. */
static const double SCRIPT_LEAST = 0.05;

static rela_status check(const rela_filter_job *j, rela_error *err);
static rela_status set_rules(rela_filter_job *j, rela_error *err);
static rela_status name_weights(const rela_filter_job *j, rela_error *err);
static rela_status mark_heads(rela_filter_job *j, rela_error *err);
static rela_status make_workers(rela_filter_job *j, rela_error *err);
static rela_status open_all(rela_filter_job *j, rela_error *err);
static rela_status close_all(rela_filter_job *j, rela_status st, rela_error *err);

void rela_filter_options_init(rela_filter_options *o, size_t size)
{
    const rela_filter_options defaults = { .struct_size = size,
                                           .min_words = 1,
                                           .max_words = 200,
                                           .max_bytes = 64 << 10,
                                           .max_ratio = 3,
                                           .max_overlap = 0.8,
                                           .script_share = 0.5,
                                           .duplicates = RELA_REPEATS_PAIR,
                                           .min_score = -1,
                                           .calibrate = 2000,
                                           .seed = 1 };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_filter(rela_filter_report *report, const rela_model *m,
                        const rela_filter_options *o, rela_error *err)
{
    rela_filter_job j = { .model = m };
    rela_filter_options_init(&j.o, sizeof j.o);
    rela_status st = rela_sized_take(&j.o, sizeof j.o, o, "rela_filter_options", err);
    if (st == RELA_OK && report)
        st = rela_sized_check(report, sizeof *report, "rela_filter_report", err);
    if (st != RELA_OK)
        return st;
    const bool first = rela_job_rank(j.o.job) == 0; /* only rank 0 writes */
    j.cut = j.o.min_score >= 0 ? j.o.min_score : j.o.by == RELA_FILTER_COMBINED ? 0.5 : 0;
    st = check(&j, err);
    if (st == RELA_OK)
        st = set_rules(&j, err);
    if (st == RELA_OK && m)
        st = mark_heads(&j, err);
    if (st == RELA_OK)
        st = make_workers(&j, err);
    if (st == RELA_OK && m && j.o.by == RELA_FILTER_COMBINED)
        st = rela_filter_calibrate(&j, err);
    if (st == RELA_OK && j.logit.n)
        st = name_weights(&j, err);
    if (st == RELA_OK && first)
        st = open_all(&j, err);
    st = rela_job_agree(j.o.job, st, err);
    if (st == RELA_OK)
        st = rela_filter_lines(&j, err);
    if (st == RELA_OK && j.o.keep > 0 && first)
        st = rela_filter_cut(&j, err);
    st = rela_job_agree(j.o.job, close_all(&j, st, err), err);
    j.report.cut = m ? j.cut : 0;
    j.report.mean_score = j.scored ? j.sum / (double)j.scored : 0;
    rela_sized_give(report, &j.report, sizeof j.report);
    return st;
}

/* Of two outputs in one file only the last would survive, and an overwritten input would no longer
 * match the other side. */
static rela_status check_apart(const rela_filter_options *o, rela_error *err)
{
    const char *const out[] = { o->out_src, o->out_tgt, o->scores };
    const char *const in[] = { o->src, o->tgt, o->trusted_src, o->trusted_tgt };
    for (size_t i = 0; i < RELA_FILTER_N_OUT; i++) {
        for (size_t k = 0; k < i; k++)
            if (out[i] && out[k] && rela_file_same(out[i], out[k]))
                return rela_fail(err, RELA_ARG, "%s: two outputs in one file", out[i]);
        for (size_t k = 0; k < sizeof in / sizeof in[0]; k++)
            if (out[i] && in[k] && rela_file_same(out[i], in[k]))
                return rela_fail(err, RELA_ARG, "%s: an input, which the output would replace",
                                 out[i]);
    }
    return RELA_OK;
}

static rela_status check(const rela_filter_job *j, rela_error *err)
{
    const rela_filter_options *o = &j->o;
    const bool standard =
        o->src && o->tgt && (strcmp(o->src, "-") == 0 || strcmp(o->tgt, "-") == 0);
    if (!o->src || !o->tgt)
        return rela_fail(err, RELA_ARG, "source and target text are needed");
    if (!o->out_src != !o->out_tgt)
        return rela_fail(err, RELA_ARG, "both sides are written, or none");
    if (o->by < RELA_FILTER_COMBINED || o->by > RELA_FILTER_LOGPROB)
        return rela_fail(err, RELA_ARG, "unknown score %d", (int)o->by);
    if (!(o->keep >= 0 && o->keep <= 1))
        return rela_fail(err, RELA_ARG, "share %g to keep; expected 0..1", o->keep);
    if (o->keep > 0 && !j->model)
        return rela_fail(err, RELA_ARG, "the best share needs scores, which need a model");
    if (!o->trusted_src != !o->trusted_tgt)
        return rela_fail(err, RELA_ARG, "trusted text needs both sides");
    rela_status st = check_apart(o, err);
    if (st != RELA_OK)
        return st;
    if (standard && j->model && (o->keep > 0 || (o->by == RELA_FILTER_COMBINED && !o->trusted_src)))
        return rela_fail(err, RELA_ARG,
                         "the text is read twice for a combined score or a share to keep, so it "
                         "cannot be standard input");
    if (o->calibrate < 1 || o->min_words < 0 || o->max_words < 1 || o->max_bytes < 1)
        return rela_fail(err, RELA_ARG, "a limit below its least value");
    if (!j->model)
        return RELA_OK;
    st = rela_model_check_translates(j->model, err);
    st = st ? st : rela_model_check_single(j->model, "filtering", err);
    return st ? st : rela_model_check_full(j->model, err);
}

/* The named scripts, else those of the vocabulary, else any. */
static rela_status set_scripts(rela_filter_job *j, int side, const char *names, rela_error *err)
{
    uint32_t *set = &j->rules.scripts[side];
    *set = UINT32_MAX;
    if (names)
        return strcmp(names, "any") == 0 ? RELA_OK : rela_scripts_parse(set, names, err);
    if (!j->model)
        return RELA_OK;
    const rela_vocab *v = rela_pipeline_vocab(j->model->pipeline, side);
    rela_script_counts c = { .all = 0 };
    for (size_t i = RELA_VOCAB_N_SPECIAL; i < rela_vocab_size(v); i++) {
        const char *token = rela_vocab_token(v, (int32_t)i);
        rela_scripts_count(&c, token, strlen(token));
    }
    *set = rela_scripts_of(&c, SCRIPT_LEAST);
    return RELA_OK;
}

static rela_status set_rules(rela_filter_job *j, rela_error *err)
{
    const rela_filter_options *o = &j->o;
    j->rules = (rela_pair_rules){ .min_words = (size_t)o->min_words,
                                  .max_words = (size_t)o->max_words,
                                  .max_bytes = (size_t)o->max_bytes,
                                  .max_ratio = o->max_ratio,
                                  .keep_copies = o->keep_copies != 0,
                                  .max_overlap = o->max_overlap,
                                  .script_share = o->script_share };
    const rela_status st = set_scripts(j, 0, o->src_script, err);
    return st == RELA_OK ? set_scripts(j, 1, o->tgt_script, err) : st;
}

/* Each rank, and a job that resumes, calibrates on its own. Recording a hash as a setting makes
 * sure that all agree; otherwise their scores could not be compared. */
static rela_status name_weights(const rela_filter_job *j, rela_error *err)
{
    const rela_logit *l = &j->logit;
    char text[32];
    uint64_t hash = XXH3_64bits(l->weight, (l->n + 1) * sizeof *l->weight);
    hash = XXH3_64bits_withSeed(l->mean, l->n * sizeof *l->mean, hash);
    hash = XXH3_64bits_withSeed(l->scale, l->n * sizeof *l->scale, hash);
    rela_format_text(text, sizeof text, "%016llx", (unsigned long long)hash);
    return rela_job_setting(j->o.job, "hash of the combined score", text, err);
}

static rela_status mark_heads(rela_filter_job *j, rela_error *err)
{
    const rela_config *c = &j->model->net.config;
    if (!j->o.heads)
        return RELA_OK;
    j->marks = rela_mem_zalloc(rela_config_layers(c, RELA_ATTN_CROSS) * c->heads);
    if (!j->marks)
        return rela_fail(err, RELA_NOMEM, "no memory for heads");
    for (size_t i = 0; i < j->o.n_heads; i++) {
        const rela_head *h = &j->o.heads[i];
        if (h->layer < 0 || (size_t)h->layer >= rela_config_layers(c, RELA_ATTN_CROSS))
            return rela_fail(err, RELA_ARG, "no layer %lld; the model has %zu",
                             1 + (long long)h->layer, rela_config_layers(c, RELA_ATTN_CROSS));
        if (h->head < 0 || (size_t)h->head >= c->heads)
            return rela_fail(err, RELA_ARG, "no head %lld; the model has %zu",
                             1 + (long long)h->head, c->heads);
        j->marks[(size_t)h->layer * c->heads + (size_t)h->head] = true;
    }
    return RELA_OK;
}

static rela_status make_workers(rela_filter_job *j, rela_error *err)
{
    j->n_workers = j->model ? j->model->runtime->n_threads : rela_par_threads(j->o.n_threads);
    j->workers = rela_mem_zalloc((size_t)j->n_workers * sizeof *j->workers);
    rela_status st =
        j->workers ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for %d threads", j->n_workers);
    for (int i = 0; i < j->n_workers && st == RELA_OK && j->model; i++) {
        rela_filter_worker *l = &j->workers[i];
        l->stack = rela_block_list_cross(&j->model->net.list, 0);
        st = rela_watcher_create(&l->watcher, &j->model->net, j->model->pipeline, err);
        if (st == RELA_OK)
            st = rela_pair_scores_init(&l->scores, &j->model->net.config, RELA_FILTER_ROWS, err);
        if (st == RELA_OK &&
            !(l->row = rela_mem_array(rela_pair_n_features(&l->scores), sizeof *l->row)))
            st = rela_fail(err, RELA_NOMEM, "no memory for features");
    }
    return st;
}

static rela_status open_all(rela_filter_job *j, rela_error *err)
{
    const char *const paths[RELA_FILTER_N_OUT] = { j->o.out_src, j->o.out_tgt, j->o.scores };
    rela_status st = rela_file_set_create(&j->set, err);
    for (int i = 0; i < RELA_FILTER_N_OUT && st == RELA_OK; i++)
        if (paths[i])
            st = rela_writer_open_in(&j->writers[i], j->set, paths[i], err);
    if (st == RELA_OK && !(j->seen = rela_seen_create()))
        st = rela_fail(err, RELA_NOMEM, "no memory to remember pairs");
    return st;
}

static rela_status close_all(rela_filter_job *j, rela_status st, rela_error *err)
{
    for (int i = 0; i < RELA_FILTER_N_OUT; i++) {
        if (j->writers[i])
            st = rela_writer_finish(j->writers[i], st, err);
        rela_buffer_free(&j->out[i]);
    }
    st = rela_file_set_finish(j->set, st, err);
    for (int i = 0; j->workers && i < j->n_workers; i++) {
        rela_watcher_destroy(j->workers[i].watcher);
        rela_pair_scores_deinit(&j->workers[i].scores);
        rela_mem_free(j->workers[i].row);
    }
    rela_mem_free(j->workers);
    rela_mem_free(j->marks);
    rela_mem_free(j->kept_scores);
    rela_logit_free(&j->logit);
    rela_seen_destroy(j->seen);
    return st;
}

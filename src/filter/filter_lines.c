/* SPDX-License-Identifier: MIT */
/* src/filter/filter_lines.c - rules, then model scores, pair by pair in order. With a share to
 * keep, a first pass collects the scores and a second one writes the best pairs. */
#include "base/mem.h"
#include "dist/job_rows.h"
#include "filter/filter_job.h"
#include "filter/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- scores ---- */

static rela_status see(void *ctx, const rela_heads *h, rela_error *err)
{
    rela_filter_worker *l = ctx;
    (void)err;
    rela_pair_scores_add(&l->scores, h, rela_watcher_pair(l->watcher, h->pair));
    return RELA_OK;
}

rela_status rela_filter_run(rela_filter_worker *l, size_t n, rela_error *err)
{
    const rela_watch watch = {
        .stacks = rela_watch_stack(l->stack), .nll = true, .on_heads = see, .ctx = l
    };
    rela_pair_scores_clear(&l->scores);
    const rela_status st = rela_watcher_load(l->watcher, l->pairs, n, err);
    return st == RELA_OK ? rela_watcher_run(l->watcher, &watch, err) : st;
}

static void judge(const rela_filter_job *j, rela_filter_worker *l, size_t pair,
                  rela_pair_verdict *v)
{
    const rela_watched *p = rela_watcher_pair(l->watcher, pair);
    if (p->state != RELA_WATCHED) {
        v->reason = p->state == RELA_WATCHED_LONG ? RELA_FILTER_TOKENS : RELA_FILTER_EMPTY;
        return;
    }
    v->null = rela_pair_null(&l->scores, pair, j->marks);
    v->uncovered = rela_pair_uncovered(&l->scores, pair, p);
    v->logp = -p->nll / (double)p->tgt.n;
    switch (j->o.by) {
    case RELA_FILTER_NULL:
        v->score = 1 - v->null;
        break;
    case RELA_FILTER_UNCOVERED:
        v->score = 1 - v->uncovered;
        break;
    case RELA_FILTER_LOGPROB:
        v->score = exp(v->logp);
        break;
    default:
        rela_pair_features(l->row, &l->scores, pair, p);
        v->score = rela_logit_score(&j->logit, l->row);
    }
    if (j->o.keep == 0 && v->score < j->cut)
        v->reason = RELA_FILTER_SCORE;
}

static rela_status work_block(void *ctx, rela_rows *rows, int thread, rela_error *err)
{
    const rela_filter_job *j = ctx;
    rela_filter_worker *l = &j->workers[thread];
    rela_pair_verdict verdicts[RELA_FILTER_ROWS];
    rela_status st = RELA_OK;
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        const rela_span *c = rows->lines + 2 * i;
        verdicts[i] = (rela_pair_verdict){ .reason = rela_pair_rules_check(&j->rules, c[0], c[1]),
                                           .score = -1 };
        if (verdicts[i].reason != RELA_FILTER_KEPT)
            continue;
        l->pairs[n] = (rela_text_pair){ .src = { c[0] }, .tgt = c[1] };
        l->rows[n++] = i;
    }
    if (j->model)
        st = rela_filter_run(l, n, err);
    const size_t odd = st == RELA_OK && j->model ? rela_watcher_not_finite(l->watcher, n) : n;
    if (odd < n)
        st = rela_fail_not_finite(err, j->o.src, rows->first + l->rows[odd], "logits are");
    for (size_t i = 0; i < n && st == RELA_OK && j->model; i++)
        judge(j, l, i, &verdicts[l->rows[i]]);
    for (size_t i = 0; i < rows->n && st == RELA_OK; i++)
        st = rela_pair_verdict_append(&rows->out, &verdicts[i], err);
    return st;
}

/* ---- lines ---- */

/* Duplicates depend on all earlier pairs, so only the thread that finishes blocks in order can find
 * them. */
static rela_status find_duplicate(rela_filter_job *j, rela_pair_verdict *v, const rela_span *c,
                                  rela_error *err)
{
    static const rela_span NOTHING = { "", 0 };
    const int32_t how = j->o.duplicates;
    bool before = false;
    if (how == RELA_REPEATS_KEEP ||
        (v->reason != RELA_FILTER_KEPT && v->reason != RELA_FILTER_SCORE))
        return RELA_OK;
    const uint64_t hash = rela_pair_hash(how == RELA_REPEATS_TARGET ? NOTHING : c[0],
                                         how == RELA_REPEATS_SOURCE ? NOTHING : c[1]);
    const rela_status st = rela_seen_add(j->seen, hash, &before, err);
    if (before)
        v->reason = RELA_FILTER_DUPLICATE;
    return st;
}

static rela_status put_pair(rela_filter_job *j, const rela_span *c, rela_error *err)
{
    rela_status st = RELA_OK;
    for (int k = 0; k < 2 && st == RELA_OK; k++) {
        if (!j->writers[k])
            continue;
        st = rela_writer_write(j->writers[k], c[k].text, c[k].len, err);
        if (st == RELA_OK)
            st = rela_writer_write(j->writers[k], "\n", 1, err);
    }
    return st;
}

static rela_status put_scores(rela_filter_job *j, const rela_pair_verdict *v, uint64_t line,
                              rela_error *err)
{
    rela_buffer *out = &j->out[RELA_FILTER_OUT_SCORES];
    rela_writer *w = j->writers[RELA_FILTER_OUT_SCORES];
    if (!w)
        return RELA_OK;
    rela_buffer_clear(out);
    rela_status st =
        line == 1
            ? rela_buffer_append_text(out, "line\treason\tscore\tnull\tuncovered\tlogprob\n", err)
            : RELA_OK;
    if (st == RELA_OK)
        st = rela_buffer_printf(out, err, "%llu\t%s", (unsigned long long)line - 1,
                                rela_filter_reason_key(v->reason));
    if (st == RELA_OK && v->score >= 0)
        st = rela_buffer_printf(out, err, "\t%.6f\t%.6f\t%.6f\t%.6f\n", v->score, v->null,
                                v->uncovered, v->logp);
    else if (st == RELA_OK)
        st = rela_buffer_append_text(out, "\t\t\t\t\n", err);
    return st == RELA_OK ? rela_writer_write(w, out->data, out->len, err) : st;
}

static rela_status keep_score(rela_filter_job *j, const rela_pair_verdict *v, rela_error *err)
{
    float *scores = rela_mem_grow(j->kept_scores, &j->cap_scores, j->n_scores + 1, sizeof *scores);
    if (!scores)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu scores", j->n_scores + 1);
    j->kept_scores = scores;
    scores[j->n_scores++] = v->reason == RELA_FILTER_KEPT ? (float)v->score : -1;
    return RELA_OK;
}

static rela_status finish_pair(rela_filter_job *j, rela_pair_verdict *v, const rela_span *c,
                               uint64_t line, rela_error *err)
{
    rela_status st = find_duplicate(j, v, c, err);
    if (v->score >= 0) {
        j->sum += v->score;
        j->scored++;
    }
    j->report.read++;
    j->report.count[v->reason]++;
    if (st == RELA_OK && j->o.keep > 0)
        st = keep_score(j, v, err);
    else if (st == RELA_OK && v->reason == RELA_FILTER_KEPT)
        st = put_pair(j, c, err);
    return st ? st : put_scores(j, v, line, err);
}

static rela_status finish_block(void *ctx, rela_rows *rows, rela_error *err)
{
    rela_filter_job *j = ctx;
    rela_span bytes = { rows->out.data, rows->out.len };
    rela_status st = RELA_OK;
    for (size_t i = 0; i < rows->n && st == RELA_OK; i++) {
        rela_pair_verdict v;
        st = rela_pair_verdict_take(&v, &bytes, rows->first + i, err);
        st = st ? st : finish_pair(j, &v, rows->lines + 2 * i, rows->first + i, err);
    }
    if (st == RELA_OK && j->o.progress && j->o.progress(j->o.progress_ctx, j->report.read))
        st = rela_fail(err, RELA_CANCEL, "cancelled");
    return st;
}

rela_status rela_filter_lines(rela_filter_job *j, rela_error *err)
{
    const char *const files[] = { j->o.src, j->o.tgt };
    const rela_steps steps = { .files = files,
                               .n_files = 2,
                               .n_threads = j->n_workers,
                               .block_rows = RELA_FILTER_ROWS,
                               .max_line = (size_t)j->o.max_bytes + 1, /* enough to drop it */
                               .may_be_empty = true,
                               .work = work_block,
                               .done = finish_block,
                               .ctx = j };
    return rela_job_rows(NULL, j->o.job, &steps, err);
}

/* ---- a share of the best ---- */

static int by_falling_score(const void *a, const void *b)
{
    const float *x = a, *y = b;
    return *x > *y ? -1 : *x < *y;
}

/* Sets j->cut to the score of the last pair to keep; pairs with an equal score are kept too. */
static rela_status find_cut(rela_filter_job *j, rela_error *err)
{
    float *sorted = rela_mem_array(j->n_scores + 1, sizeof *sorted);
    size_t n = 0;
    if (!sorted)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu scores", j->n_scores);
    for (size_t i = 0; i < j->n_scores; i++)
        if (j->kept_scores[i] >= 0)
            sorted[n++] = j->kept_scores[i];
    qsort(sorted, n, sizeof *sorted, by_falling_score);
    const size_t want = (size_t)ceil(j->o.keep * (double)n);
    j->cut = want ? (double)sorted[want - 1] : 0;
    rela_mem_free(sorted);
    return RELA_OK;
}

static rela_status nothing(void *ctx, rela_rows *rows, int thread, rela_error *err)
{
    (void)ctx;
    (void)rows;
    (void)thread;
    (void)err;
    return RELA_OK;
}

static rela_status cut_block(void *ctx, rela_rows *rows, rela_error *err)
{
    rela_filter_job *j = ctx;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < rows->n && st == RELA_OK; i++) {
        const uint64_t line = rows->first + i - 1;
        if (line >= j->n_scores)
            return rela_fail(err, RELA_FORMAT, "%s: has grown while it was read", j->o.src);
        const double score = (double)j->kept_scores[line];
        if (score >= j->cut) {
            st = put_pair(j, rows->lines + 2 * i, err);
        } else if (score >= 0) {
            j->report.count[RELA_FILTER_KEPT]--;
            j->report.count[RELA_FILTER_SCORE]++;
        }
    }
    return st;
}

rela_status rela_filter_cut(rela_filter_job *j, rela_error *err)
{
    const char *const files[] = { j->o.src, j->o.tgt };
    const rela_steps steps = { .files = files,
                               .n_files = 2,
                               .n_threads = 1,
                               .max_line = (size_t)j->o.max_bytes + 1,
                               .may_be_empty = true,
                               .work = nothing,
                               .done = cut_block,
                               .ctx = j };
    rela_status st = find_cut(j, err);
    return st == RELA_OK ? rela_steps_run(NULL, &steps, err) : st;
}

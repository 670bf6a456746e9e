/* SPDX-License-Identifier: MIT */
/* src/filter/filter_calibrate.c - the combined score of rela_filter: a logistic regression that
 * tells the first pairs of the text from corrupted copies. A third of the copies have the target of
 * another pair, a third have another target appended, a third have another source appended. */
#include "analyse/findings.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/rng.h"
#include "filter/filter_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double KEPT = 0.99, CUT_MOST = 0.5;

enum { KINDS = 4, FOLDS = 5, LEAST_PAIRS = 20 };

/* Good pairs, and the features of them and of their corrupted copies. */
typedef struct sample {
    rela_filter_job *j;
    rela_buffer text;
    size_t *at; /* (2 n + 1) offsets of the sides in text */
    size_t n, cap;
    uint32_t *other; /* (n) the pair whose text is used for the corrupted copy */
    double *rows;    /* (2 n, features) good, then bad */
    bool *good, *usable;
    size_t next;
    rela_buffer *made; /* per worker: text of its corrupted pairs */
} sample;

static rela_status gather(sample *s, rela_error *err);
static rela_status measure(sample *s, rela_error *err);
static rela_status fit(sample *s, rela_error *err);

rela_status rela_filter_calibrate(rela_filter_job *j, rela_error *err)
{
    sample s = { .j = j };
    rela_status st = gather(&s, err);
    if (st == RELA_OK && s.n < LEAST_PAIRS)
        st = rela_fail(err, RELA_FORMAT,
                       "%s: %zu pair%s left by the rules; %d are needed to make a combined score",
                       j->o.trusted_src ? j->o.trusted_src : j->o.src, s.n, rela_plural(s.n),
                       LEAST_PAIRS);
    if (st == RELA_OK)
        st = measure(&s, err);
    if (st == RELA_OK)
        st = fit(&s, err);
    for (int i = 0; s.made && i < j->n_workers; i++)
        rela_buffer_free(&s.made[i]);
    rela_mem_free(s.made);
    rela_buffer_free(&s.text);
    rela_mem_free(s.at);
    rela_mem_free(s.other);
    rela_mem_free(s.rows);
    rela_mem_free(s.good);
    rela_mem_free(s.usable);
    return st;
}

/* ---- the first pairs that pass the rules ---- */

static rela_status no_work(void *ctx, rela_rows *rows, int thread, rela_error *err)
{
    (void)ctx;
    (void)rows;
    (void)thread;
    (void)err;
    return RELA_OK;
}

static rela_status take(void *ctx, rela_rows *rows, rela_error *err)
{
    sample *s = ctx;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < rows->n && s->n < (size_t)s->j->o.calibrate; i++) {
        const rela_span *c = rows->lines + 2 * i;
        if (rela_pair_rules_check(&s->j->rules, c[0], c[1]) != RELA_FILTER_KEPT)
            continue;
        size_t *at = rela_mem_grow(s->at, &s->cap, 2 * s->n + 3, sizeof *at);
        if (!at)
            return rela_fail(err, RELA_NOMEM, "no memory for a sample");
        s->at = at;
        at[0] = 0;
        for (size_t k = 0; k < 2; k++) {
            st = rela_buffer_append(&s->text, c[k].text, c[k].len, err);
            if (st != RELA_OK)
                return st;
            at[2 * s->n + k + 1] = s->text.len;
        }
        s->n++;
    }
    /* A failure stops the reader; RELA_CANCEL stands for "enough" and is not an error. */
    return s->n < (size_t)s->j->o.calibrate ? st : rela_fail(err, RELA_CANCEL, "enough");
}

static rela_status gather(sample *s, rela_error *err)
{
    const rela_filter_options *o = &s->j->o;
    const char *const files[] = { o->trusted_src ? o->trusted_src : o->src,
                                  o->trusted_src ? o->trusted_tgt : o->tgt };
    const rela_steps steps = { .files = files,
                               .n_files = 2,
                               .n_threads = 1,
                               .block_rows = RELA_FILTER_ROWS,
                               .max_line = (size_t)o->max_bytes + 1,
                               .may_be_empty = true,
                               .work = no_work,
                               .done = take,
                               .ctx = s };
    const rela_status st = rela_steps_run(NULL, &steps, err);
    return st == RELA_CANCEL ? RELA_OK : st;
}

/* ---- features ---- */

static rela_span side(const sample *s, size_t pair, size_t k)
{
    const size_t from = s->at[2 * pair + k], to = s->at[2 * pair + k + 1];
    return (rela_span){ s->text.data + from, to - from };
}

/* Appends two texts with a space between them. Returns an offset, since out may move later. */
static rela_status join(rela_buffer *out, size_t *from, rela_span a, rela_span b, rela_error *err)
{
    *from = out->len;
    rela_status st = rela_buffer_append(out, a.text, a.len, err);
    if (st == RELA_OK)
        st = rela_buffer_append_char(out, ' ', err);
    return st == RELA_OK ? rela_buffer_append(out, b.text, b.len, err) : st;
}

/* Fills rows [first, first + n) of all 2 s->n: the pairs as they are, then the corrupted ones. */
static rela_status make_pairs(const sample *s, rela_filter_worker *l, rela_buffer *made,
                              size_t first, size_t n, rela_error *err)
{
    size_t from[RELA_FILTER_ROWS], to[RELA_FILTER_ROWS];
    rela_status st = RELA_OK;
    rela_buffer_clear(made);
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        const size_t p = (first + i) % s->n, other = s->other[p];
        const size_t kind = first + i < s->n ? 0 : 1 + p % (KINDS - 1);
        l->pairs[i] =
            (rela_text_pair){ .src = { side(s, p, 0) }, .tgt = side(s, kind == 1 ? other : p, 1) };
        from[i] = to[i] = SIZE_MAX;
        if (kind >= 2)
            st = join(made, &from[i], side(s, p, kind == 2), side(s, other, kind == 2), err);
        to[i] = made->len;
    }
    for (size_t i = 0; i < n && st == RELA_OK; i++) { /* made no longer moves */
        const size_t p = (first + i) % s->n;
        const size_t kind = first + i < s->n ? 0 : 1 + p % (KINDS - 1);
        if (kind >= 2)
            *(kind == 2 ? &l->pairs[i].tgt : &l->pairs[i].src[0]) =
                (rela_span){ made->data + from[i], to[i] - from[i] };
    }
    return st;
}

static rela_status read_rows(void *ctx, void *block, bool *more, rela_error *err)
{
    sample *s = ctx;
    size_t *range = block;
    (void)err;
    range[0] = s->next;
    range[1] = 2 * s->n - s->next < RELA_FILTER_ROWS ? 2 * s->n - s->next : RELA_FILTER_ROWS;
    s->next += range[1];
    *more = range[1] > 0;
    return RELA_OK;
}

static rela_status work_rows(void *ctx, void *block, int thread, rela_error *err)
{
    const sample *s = ctx;
    const size_t *range = block;
    rela_filter_worker *l = &s->j->workers[thread];
    rela_status st = make_pairs(s, l, &s->made[thread], range[0], range[1], err);
    if (st == RELA_OK)
        st = rela_filter_run(l, range[1], err);
    if (st == RELA_OK && rela_watcher_not_finite(l->watcher, range[1]) < range[1])
        st = rela_fail(err, RELA_NOTFINITE,
                       "%s: a pair to calibrate with: logits are not finite: numbers of the model "
                       "overflow",
                       s->j->o.trusted_src ? s->j->o.trusted_src : s->j->o.src);
    for (size_t i = 0; i < range[1] && st == RELA_OK; i++) {
        const size_t row = range[0] + i, n = rela_pair_n_features(&l->scores);
        const rela_watched *p = rela_watcher_pair(l->watcher, i);
        s->good[row] = row < s->n;
        s->usable[row] = p->state == RELA_WATCHED;
        if (s->usable[row])
            rela_pair_features(s->rows + row * n, &l->scores, i, p);
    }
    return st;
}

static rela_status no_write(void *ctx, void *block, rela_error *err)
{
    (void)ctx;
    (void)block;
    (void)err;
    return RELA_OK;
}

static rela_status measure(sample *s, rela_error *err)
{
    const int n_workers = s->j->n_workers;
    const size_t features = rela_pair_n_features(&s->j->workers[0].scores);
    size_t(*ranges)[2] = rela_mem_zalloc((size_t)n_workers * sizeof *ranges);
    void **blocks = rela_mem_zalloc((size_t)n_workers * sizeof *blocks);
    rela_rng r = rela_rng_start(s->j->o.seed, 1);
    s->other = rela_mem_array(s->n, sizeof *s->other);
    s->rows = rela_mem_array(2 * s->n * features, sizeof *s->rows);
    s->good = rela_mem_zalloc(2 * s->n);
    s->usable = rela_mem_zalloc(2 * s->n);
    s->made = rela_mem_zalloc((size_t)n_workers * sizeof *s->made);
    rela_status st = RELA_OK;
    if (!ranges || !blocks || !s->other || !s->rows || !s->good || !s->usable || !s->made)
        st = rela_fail(err, RELA_NOMEM, "no memory for a sample of %zu pairs", s->n);
    for (size_t i = 0; i < s->n && st == RELA_OK; i++) /* any pair but itself */
        s->other[i] = (uint32_t)((i + 1 + rela_rng_below(&r, s->n - 1)) % s->n);
    for (int i = 0; i < n_workers && st == RELA_OK; i++)
        blocks[i] = ranges[i];
    const rela_pipe pipe = { .read = read_rows,
                             .work = work_rows,
                             .write = no_write,
                             .ctx = s,
                             .blocks = blocks,
                             .n_threads = n_workers };
    if (st == RELA_OK)
        st = rela_pipe_run(&pipe, err);
    rela_mem_free(ranges);
    rela_mem_free(blocks);
    return st;
}

/* ---- fitting ---- */

/* Copies the usable rows of the training or the test part to `to`; returns how many. */
static size_t select_rows(double *to, bool *good, const sample *s, size_t features, bool test)
{
    size_t n = 0;
    for (size_t i = 0; i < 2 * s->n; i++) {
        const bool in_test = (i % s->n) / (KINDS - 1) % FOLDS == 0;
        if (!s->usable[i] || in_test != test)
            continue;
        memcpy(to + n * features, s->rows + i * features, features * sizeof *to);
        good[n++] = s->good[i];
    }
    return n;
}

/* AUC on pairs held out from the fit. */
static double test_auc(const rela_logit *l, double *rows, const bool *good, size_t n,
                       double *scores)
{
    size_t n_bad = 0, n_good = 0;
    for (size_t i = 0; i < n; i++) {
        const double score = rela_logit_score(l, rows + i * l->n);
        if (good[i])
            scores[n - ++n_good] = score;
        else
            scores[n_bad++] = score;
    }
    return rela_auc_find(scores, n_bad, scores + n_bad, n_good).value;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Scores of the good or the bad pairs, in order; returns how many. */
static size_t sort_scores(double *to, const sample *s, size_t features, bool good)
{
    size_t n = 0;
    for (size_t i = good ? 0 : s->n; i < (good ? s->n : 2 * s->n); i++)
        if (s->usable[i])
            to[n++] = rela_logit_score(&s->j->logit, s->rows + i * features);
    qsort(to, n, sizeof *to, by_value);
    return n;
}

/* The score from which on pairs are kept. Trusted text is clean: all but KEPT of it must pass. Else
 * some of the text may be noise. Few clean pairs look like the worse half of the corrupted ones,
 * so its share of the text tells the share of noise, and below a score as high as that share a pair
 * is more likely noise than not. */
static double choose_cut(const sample *s, double *scores, size_t features)
{
    size_t n = sort_scores(scores, s, features, !!s->j->o.trusted_src);
    if (n == 0)
        return CUT_MOST;
    if (s->j->o.trusted_src)
        return fmin(CUT_MOST, scores[(size_t)((1 - KEPT) * (double)n)]);
    const double worst = scores[n / 2];
    size_t below = 0;
    n = sort_scores(scores, s, features, true);
    while (below < n && scores[below] < worst)
        below++;
    return n ? fmin(CUT_MOST, 2 * (double)below / (double)n) : CUT_MOST;
}

/* Fits, and without trusted text once more without the examples that looked corrupted: noise among
 * the good ones would teach that it is good. */
static rela_status fit_twice(sample *s, double *rows, bool *good, size_t features, rela_error *err)
{
    rela_logit *l = &s->j->logit;
    size_t n = select_rows(rows, good, s, features, false), kept = 0, n_good = 0;
    rela_status st = rela_logit_fit(l, rows, good, n, features, err);
    if (st != RELA_OK || s->j->o.trusted_src)
        return st;
    for (size_t i = 0; i < n; i++) {
        if (good[i] && rela_logit_score(l, rows + i * features) < CUT_MOST)
            continue;
        memmove(rows + kept * features, rows + i * features, features * sizeof *rows);
        n_good += good[i];
        good[kept++] = good[i];
    }
    if (n_good < LEAST_PAIRS / 2)
        return RELA_OK;
    rela_logit_free(l);
    return rela_logit_fit(l, rows, good, kept, features, err);
}

static rela_status fit(sample *s, rela_error *err)
{
    const size_t features = rela_pair_n_features(&s->j->workers[0].scores);
    double *rows = rela_mem_array(2 * s->n * features, sizeof *rows);
    double *scores = rela_mem_array(2 * s->n, sizeof *scores);
    bool *good = rela_mem_zalloc(2 * s->n);
    rela_status st =
        rows && good && scores ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for a sample");
    st = st ? st : fit_twice(s, rows, good, features, err);
    if (st == RELA_OK) {
        const size_t n = select_rows(rows, good, s, features, true);
        s->j->report.auc = test_auc(&s->j->logit, rows, good, n, scores);
        s->j->report.calibrated = s->n;
        if (s->j->o.min_score < 0)
            s->j->cut = choose_cut(s, scores, features);
        char pairs[RELA_GROUPED_SIZE];
        char drops[48] = "";
        if (s->j->o.keep == 0)
            rela_format_text(drops, sizeof drops, "; scores below %.3f are dropped", s->j->cut);
        rela_log_line(&s->j->model->runtime->log, RELA_LOG_INFO,
                      "combined score made from %s pairs: AUC %.3f on a held-out fifth of them, "
                      "against bad pairs made with seed %llu%s",
                      rela_grouped(pairs, s->n), s->j->report.auc, (unsigned long long)s->j->o.seed,
                      drops);
    }
    rela_mem_free(rows);
    rela_mem_free(scores);
    rela_mem_free(good);
    return st;
}

/* SPDX-License-Identifier: MIT */
/* src/metric/metric.c - settings of a metric, counting on all threads, signature. */
#include "metric/metric_shared.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/sized.h"
#include "base/utf8.h"
#include "metric/python_chars.h"

static const double BETA_MAX = 100, FLOOR_DEFAULT = 0.1, ADD_K_DEFAULT = 1;

typedef struct worker {
    rela_status status;
    rela_error err;
} worker;

typedef struct count_job {
    uint32_t *stats;
    const rela_metric *m;
    const rela_segment *segments;
    worker *workers; /* one per thread */
} count_job;

static rela_status finish(rela_metric **out, rela_metric *m, rela_status st, rela_error *err);
static rela_status check_bleu(const rela_bleu_options *o, rela_error *err);
static rela_status check_chrf(const rela_chrf_options *o, rela_error *err);
static rela_status check_range(const char *name, double value, double min, double max,
                               rela_error *err);
static void count_rows(void *ctx, size_t begin, size_t end, int thread);
static void free_tally(rela_tally *t);
static rela_status sign_bleu(rela_buffer *out, const rela_bleu_options *o, rela_error *err);
static rela_status sign_chrf(rela_buffer *out, const rela_chrf_options *o, rela_error *err);

void rela_bleu_options_init(rela_bleu_options *o, size_t size)
{
    const rela_bleu_options start = { .struct_size = size, .smooth_value = -1, .max_order = 4 };
    rela_sized_init(o, size, &start, sizeof start);
}

void rela_chrf_options_init(rela_chrf_options *o, size_t size)
{
    const rela_chrf_options start = { .struct_size = size, .char_order = 6, .beta = 2 };
    rela_sized_init(o, size, &start, sizeof start);
}

rela_status rela_metric_create_bleu(rela_metric **out, const rela_bleu_options *o, rela_error *err)
{
    rela_metric m = { .kind = RELA_METRIC_BLEU };
    rela_bleu_options *own = &m.bleu;
    rela_bleu_options_init(own, sizeof *own);
    rela_status st = rela_sized_take(own, sizeof *own, o, "rela_bleu_options", err);
    st = st ? st : check_bleu(own, err);
    if (own->smooth_value < 0)
        own->smooth_value = own->smoothing == RELA_SMOOTH_FLOOR ? FLOOR_DEFAULT : ADD_K_DEFAULT;
    m.n_stats = 2 + 2 * (size_t)own->max_order;
    if (st == RELA_OK)
        st = rela_buffer_append_text(&m.name, "BLEU", err);
    return finish(out, &m, st, err);
}

rela_status rela_metric_create_chrf(rela_metric **out, const rela_chrf_options *o, rela_error *err)
{
    rela_metric m = { .kind = RELA_METRIC_CHRF };
    rela_chrf_options *own = &m.chrf;
    rela_chrf_options_init(own, sizeof *own);
    rela_status st = rela_sized_take(own, sizeof *own, o, "rela_chrf_options", err);
    st = st ? st : check_chrf(own, err);
    m.n_stats = 3 * (size_t)(own->char_order + own->word_order);
    if (st == RELA_OK)
        st = rela_buffer_printf(&m.name, err, "chrF%.15g", own->beta);
    for (int i = 0; i < own->word_order && st == RELA_OK; i++)
        st = rela_buffer_append_char(&m.name, '+', err);
    return finish(out, &m, st, err);
}

void rela_metric_destroy(rela_metric *m)
{
    if (!m)
        return;
    rela_buffer_free(&m->name);
    rela_mem_free(m);
}

size_t rela_metric_n_stats(const rela_metric *m)
{
    return m->n_stats;
}

const char *rela_metric_name(const rela_metric *m)
{
    return m->name.data;
}

rela_status rela_metric_count(uint32_t *stats, const rela_metric *m, const rela_segment *segments,
                              size_t n, int32_t n_threads, rela_error *err)
{
    const int threads = rela_par_threads(n_threads);
    rela_status st = RELA_OK;
    count_job job = { .stats = stats, .m = m, .segments = segments };
    job.workers = rela_mem_zalloc((size_t)threads * sizeof *job.workers);
    if (!job.workers)
        return rela_fail(err, RELA_NOMEM, "no memory to count n-grams");
    rela_par_rows(n, threads, count_rows, &job);
    for (int i = 0; i < threads; i++) {
        if (st != RELA_OK || job.workers[i].status == RELA_OK)
            continue;
        st = job.workers[i].status;
        if (err)
            *err = job.workers[i].err;
    }
    rela_mem_free(job.workers);
    return st;
}

void rela_stats_add(uint64_t *sums, const uint32_t *stats, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++)
            sums[j] += stats[i * k + j];
}

double rela_metric_score(const rela_metric *m, const uint64_t *sums)
{
    if (m->kind == RELA_METRIC_CHRF)
        return rela_chrf_compute(&m->chrf, sums);
    rela_bleu_figures f;
    rela_bleu_compute(&f, &m->bleu, sums);
    return f.score;
}

double rela_metric_score_fn(const void *ctx, const uint64_t *sums)
{
    return rela_metric_score(ctx, sums);
}

rela_status rela_bleu_figures_get(rela_bleu_figures *out, const rela_metric *m,
                                  const uint64_t *sums, rela_error *err)
{
    rela_bleu_figures found;
    const rela_status st = rela_sized_check(out, sizeof *out, "rela_bleu_figures", err);
    if (st != RELA_OK)
        return st;
    if (m->kind != RELA_METRIC_BLEU)
        return rela_fail(err, RELA_ARG, "%s has no BLEU score", rela_metric_name(m));
    rela_bleu_compute(&found, &m->bleu, sums);
    rela_sized_give(out, &found, sizeof found);
    return RELA_OK;
}

void rela_signature_init(rela_signature *s, size_t size)
{
    const rela_signature start = { .struct_size = size };
    rela_sized_init(s, size, &start, sizeof start);
}

rela_status rela_metric_signature(rela_buffer *out, const rela_metric *m,
                                  const rela_signature *given, rela_error *err)
{
    rela_signature s = { .n_refs = 0 };
    rela_status st = rela_sized_take(&s, sizeof s, given, "rela_signature", err);
    if (st == RELA_OK)
        st = s.n_refs ? rela_buffer_printf(out, err, "nrefs:%zu", s.n_refs)
                      : rela_buffer_append_text(out, "nrefs:var", err);
    if (st == RELA_OK && s.bootstrap)
        st = rela_buffer_printf(out, err, "|bs:%lld", (long long)s.bootstrap);
    if (st == RELA_OK && s.randomise)
        st = rela_buffer_printf(out, err, "|ar:%lld", (long long)s.randomise);
    if (st == RELA_OK && (s.bootstrap || s.randomise))
        st = rela_buffer_printf(out, err, "|seed:%llu", (unsigned long long)s.seed);
    if (st == RELA_OK)
        st = m->kind == RELA_METRIC_BLEU ? sign_bleu(out, &m->bleu, err)
                                         : sign_chrf(out, &m->chrf, err);
    const uint32_t v = rela_version();
    if (st == RELA_OK)
        st = rela_buffer_printf(out, err, "|version:rela-%u.%u.%u", v >> 16, v >> 8 & 255, v & 255);
    return st;
}

rela_status rela_tally_text(rela_span *out, rela_tally *t, const char *text, size_t len,
                            bool lowercase, rela_error *err)
{
    rela_status st = RELA_OK;
    *out = (rela_span){ text, len };
    if (rela_utf8_valid(text, len) < len) {
        size_t n_bad = 0;
        rela_buffer_clear(&t->repaired);
        st = rela_utf8_repair(&t->repaired, &n_bad, text, len, err);
        *out = (rela_span){ t->repaired.data, t->repaired.len };
    }
    if (st == RELA_OK && lowercase) {
        rela_buffer_clear(&t->lowered);
        st = rela_lower(&t->lowered, out->text, out->len, err);
        *out = (rela_span){ t->lowered.data, t->lowered.len };
    }
    return st;
}

rela_status rela_symbols_push(rela_symbols *s, uint32_t symbol, rela_error *err)
{
    if (s->n == s->cap) {
        uint32_t *items = rela_mem_grow(s->items, &s->cap, s->n + 1, sizeof *items);
        if (!items)
            return rela_fail(err, RELA_NOMEM, "no memory for a segment of %zu symbols", s->n + 1);
        s->items = items;
    }
    s->items[s->n++] = symbol;
    return RELA_OK;
}

static rela_status finish(rela_metric **out, rela_metric *m, rela_status st, rela_error *err)
{
    *out = NULL;
    rela_metric *copy = st == RELA_OK ? rela_mem_alloc(sizeof *copy) : NULL;
    if (copy) {
        *copy = *m;
        *out = copy;
        return RELA_OK;
    }
    rela_buffer_free(&m->name);
    return st == RELA_OK ? rela_fail(err, RELA_NOMEM, "no memory for a metric") : st;
}

static rela_status check_bleu(const rela_bleu_options *o, rela_error *err)
{
    rela_status st = check_range("tokens", o->tokens, RELA_BLEU_13A, RELA_BLEU_BLANKS, err);
    if (st == RELA_OK)
        st = check_range("smoothing", o->smoothing, RELA_SMOOTH_EXP, RELA_SMOOTH_NONE, err);
    if (st == RELA_OK)
        st = check_range("max_order", o->max_order, 1, RELA_BLEU_ORDER_MAX, err);
    if (st == RELA_OK)
        st = check_range("smooth_value", o->smooth_value, -1, 1e9, err);
    return st;
}

static rela_status check_chrf(const rela_chrf_options *o, rela_error *err)
{
    rela_status st = check_range("char_order", o->char_order, 1, RELA_CHRF_ORDER_MAX, err);
    if (st == RELA_OK)
        st = check_range("word_order", o->word_order, 0, RELA_CHRF_ORDER_MAX, err);
    if (st == RELA_OK)
        st = check_range("beta", o->beta, 0, BETA_MAX, err);
    return st;
}

static rela_status check_range(const char *name, double value, double min, double max,
                               rela_error *err)
{
    if (value >= min && value <= max) /* false for NaN */
        return RELA_OK;
    return rela_fail(err, RELA_ARG, "%s is %.15g; expected %.15g..%.15g", name, value, min, max);
}

static void count_rows(void *ctx, size_t begin, size_t end, int thread)
{
    const count_job *job = ctx;
    worker *w = &job->workers[thread];
    const size_t k = job->m->n_stats;
    rela_tally t = { .m = job->m, .grams = rela_ngrams_create() };
    if (!t.grams)
        w->status = rela_fail(&w->err, RELA_NOMEM, "no memory to count n-grams");
    for (size_t i = begin; i < end && w->status == RELA_OK; i++) {
        w->status = job->m->kind == RELA_METRIC_BLEU
                        ? rela_bleu_count(job->stats + i * k, &t, &job->segments[i], &w->err)
                        : rela_chrf_count(job->stats + i * k, &t, &job->segments[i], &w->err);
    }
    free_tally(&t);
}

static void free_tally(rela_tally *t)
{
    rela_ngrams_destroy(t->grams);
    rela_buffer_free(&t->repaired);
    rela_buffer_free(&t->lowered);
    rela_buffer_free(&t->text);
    rela_mem_free(t->codes[0]);
    rela_mem_free(t->codes[1]);
    rela_mem_free(t->hyp.items);
    rela_mem_free(t->ref.items);
    rela_mem_free(t->hyp_chars.items);
    rela_mem_free(t->ref_chars.items);
}

static rela_status sign_bleu(rela_buffer *out, const rela_bleu_options *o, rela_error *err)
{
    static const char *const TOKENS[] = { "13a", "intl", "char", "none", "blanks" };
    static const char *const SMOOTH[] = { "exp", "floor", "add-k", "none" };
    rela_status st = rela_buffer_printf(
        out, err, "|case:%s|eff:%s|tok:%s|smooth:%s", o->lowercase ? "lc" : "mixed",
        o->effective_order ? "yes" : "no", TOKENS[o->tokens], SMOOTH[o->smoothing]);
    if (st == RELA_OK && (o->smoothing == RELA_SMOOTH_FLOOR || o->smoothing == RELA_SMOOTH_ADD_K))
        st = rela_buffer_printf(out, err, "[%.2f]", o->smooth_value);
    return st;
}

static rela_status sign_chrf(rela_buffer *out, const rela_chrf_options *o, rela_error *err)
{
    return rela_buffer_printf(out, err, "|case:%s|eff:%s|nc:%d|nw:%d|space:%s",
                              o->lowercase ? "lc" : "mixed", o->eps_smoothing ? "no" : "yes",
                              o->char_order, o->word_order, o->whitespace ? "yes" : "no");
}

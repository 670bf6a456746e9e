/* SPDX-License-Identifier: MIT */
/* src/session/translate_text.c - rela_translate: a closed set of texts on the pool of a session.
 * Its threads encode all of them, then decode; a text is put together as soon as its last part has
 * ended, beside the decoding of others. */
#include "base/lengths.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/sized.h"
#include "session/text_job.h"

#include <string.h>

enum { FOREIGN_LEAST = 10 }; /* fewer tokens may be names */

/* One call. */
typedef struct set {
    rela_session *session;
    rela_text_call call;
    rela_result *result;
    rela_text_job *jobs;
    size_t n, n_workers, n_parts;
    rela_callback callback;
    _Atomic bool stopped;
} set;

static rela_status check_options(const rela_translate_options *o, const rela_model *m,
                                 rela_error *err);
static rela_status check_shortlist(const rela_translate_options *o, const rela_model *m,
                                   rela_error *err);
static rela_search_options search_options(const rela_translate_options *o);
static rela_status start(set *s, const char *const *texts, const size_t *lens, rela_error *err);
static void encode(void *ctx, size_t begin, size_t end, int thread);
static void check_language(const set *call);
static rela_status decode(set *s, rela_error *err);
static rela_status first_failure(const set *s, rela_error *err);

void rela_translate_options_init(rela_translate_options *o, size_t size)
{
    rela_search_options s;
    rela_search_options_init(&s);
    const rela_translate_options defaults = { .struct_size = size,
                                              .method = s.method,
                                              .beam_size = (int32_t)s.beam,
                                              .n_best = (int32_t)s.n_best,
                                              .penalty = s.penalty,
                                              .length_penalty = s.alpha,
                                              .max_factor = s.max_factor,
                                              .max_extra = (int32_t)s.max_extra,
                                              .temperature = s.temperature,
                                              .top_p = s.top_p,
                                              .seed = 1,
                                              .batch_sentences = (int32_t)s.batch_sentences,
                                              .batch_tokens = (int32_t)s.batch_tokens };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_translate(rela_result **out, rela_session *session, const char *const *texts,
                           const size_t *lens, size_t n, const rela_translate_options *o,
                           rela_error *err)
{
    set s = { .session = session, .n = n };
    *out = NULL;
    rela_status st = rela_text_call_init(&s.call, session, o, err);
    if (st != RELA_OK)
        return st;
    s.call.callback = &s.callback;
    s.n_workers = rela_pool_workers(session->pool);
    st =
        rela_callback_start(&s.callback, s.call.options.progress, s.call.options.progress_ctx, err);
    st = st ? st : start(&s, texts, lens, err);
    if (st == RELA_OK) {
        rela_par_rows(n, (int)s.n_workers, encode, &s);
        st = first_failure(&s, err);
    }
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        rela_text_job_warn(&s.jobs[i]);
    if (st == RELA_OK)
        check_language(&s);
    st = st ? st : decode(&s, err);
    st = st ? st : first_failure(&s, err);
    st = rela_callback_end(&s.callback, st, err);
    for (size_t i = 0; i < n && s.jobs; i++)
        rela_text_job_deinit(&s.jobs[i]);
    rela_mem_free(s.jobs);
    rela_text_call_deinit(&s.call);
    if (st == RELA_OK)
        *out = s.result;
    else
        rela_result_free(s.result);
    return st;
}

static rela_arena *arena_of(rela_text_job *j, size_t worker)
{
    const set *s = j->ctx;
    return s->result->arenas[worker];
}

static void fail(rela_text_job *j, rela_status st, const rela_error *err)
{
    if (j->status == RELA_OK) {
        j->status = st;
        j->err = *err;
    }
}

/* All parts have ended: text is made of them. */
static void build(rela_text_job *j, size_t worker)
{
    const set *s = j->ctx;
    rela_error err;
    if (j->status != RELA_OK)
        return;
    const rela_status st =
        rela_text_job_build(&s->result->items[j - s->jobs], j, &s->session->scratch[worker],
                            s->result->arenas[worker], &err);
    if (st != RELA_OK)
        fail(j, st, &err);
}

static rela_status start(set *s, const char *const *texts, const size_t *lens, rela_error *err)
{
    const rela_translate_options *o = &s->call.options;
    const size_t sources = s->call.n_sources;
    s->jobs = rela_mem_zalloc(s->n * sizeof *s->jobs);
    rela_status st = s->jobs
                         ? rela_result_create(&s->result, s->call.model, s->n, s->n_workers, err)
                         : rela_fail(err, RELA_NOMEM, "no memory to translate %zu texts", s->n);
    for (size_t i = 0; i < s->n_workers && i < s->n && st == RELA_OK; i++) {
        st = rela_text_scratch_init(&s->session->scratch[i], s->call.model, err);
        st = st ? st : rela_result_arena(s->result, i, err);
    }
    for (size_t i = 0; i < s->n && st == RELA_OK; i++) {
        rela_text_job *j = &s->jobs[i];
        j->call = &s->call;
        j->texts = texts + i * sources;
        j->lens = lens ? lens + i * sources : NULL;
        j->prefix = o->prefix ? o->prefix[i] : NULL;
        j->prefix_len = o->prefix ? rela_text_len(o->prefix, o->prefix_len, i) : 0;
        j->line = o->first_line + i + 1;
        j->ctx = s;
        j->on_end = build;
        j->arena = arena_of;
    }
    return st;
}

static void encode(void *ctx, size_t begin, size_t end, int thread)
{
    set *s = ctx;
    const size_t worker = (size_t)thread;
    rela_callback_enter(&s->callback);
    for (size_t i = begin; i < end && !atomic_load(&s->stopped); i++) {
        rela_error err;
        const rela_status st = rela_text_job_encode(&s->jobs[i], &s->session->scratch[worker],
                                                    s->result->arenas[worker], &err);
        if (st != RELA_OK) {
            fail(&s->jobs[i], st, &err);
            atomic_store(&s->stopped, true);
        }
    }
    rela_callback_leave(&s->callback);
}

static rela_status first_failure(const set *s, rela_error *err)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->jobs[i].status != RELA_OK) {
            if (err)
                *err = s->jobs[i].err;
            return s->jobs[i].status;
        }
    return RELA_OK;
}

/* Warns once if most of the text so far is not of the source language. */
static void check_language(const set *call)
{
    const rela_model *m = call->call.model;
    rela_session *s = call->session;
    for (size_t i = 0; i < call->n; i++)
        for (size_t p = 0; p < call->jobs[i].n_parts; p++) {
            const rela_source_text *text = &call->jobs[i].parts[p].task.source.text[0];
            s->n_tokens += text->n;
            for (size_t k = 0; k < text->n; k++)
                s->n_foreign += !rela_pipeline_is_source(m->pipeline, text->ids[k]);
        }
    if (s->foreign_text || s->n_tokens < FOREIGN_LEAST || 2 * s->n_foreign <= s->n_tokens)
        return;
    const char *language = rela_pipeline_parts_of(m->pipeline)->side[0].language;
    s->foreign_text = true;
    rela_log_line(&m->runtime->log, RELA_LOG_WARNING,
                  "%.0f %% of the tokens of the text are unknown, or not of the source language of "
                  "%s%s%s; is it the right text?",
                  100 * (double)s->n_foreign / (double)s->n_tokens, m->path, *language ? ", " : "",
                  language);
}

/* Longest parts first, so that no thread is still busy with a long one at the end. */
static rela_status submit(set *s, rela_error *err)
{
    size_t n = 0;
    rela_length *order = rela_mem_array(s->n_parts, sizeof *order);
    rela_text_part **parts = rela_mem_array(s->n_parts, sizeof *parts);
    rela_status st = order && parts
                         ? RELA_OK
                         : rela_fail(err, RELA_NOMEM, "no memory to translate %zu texts", s->n);
    for (size_t i = 0; i < s->n && st == RELA_OK; i++)
        for (size_t k = 0; k < s->jobs[i].n_parts && st == RELA_OK; k++) {
            rela_text_part *p = &s->jobs[i].parts[k];
            st = rela_pool_check(s->session->pool, &p->task.source, 1, &s->call.search, err);
            order[n] = (rela_length){ rela_source_longest(&p->task.source), n };
            parts[n++] = p;
        }
    if (st == RELA_OK)
        rela_lengths_sort(order, n);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        rela_pool_submit(s->session->pool, &parts[order[i].at]->task);
    rela_mem_free(order);
    rela_mem_free(parts);
    return st;
}

static rela_status decode(set *s, rela_error *err)
{
    const rela_search_options *o = &s->call.search;
    for (size_t i = 0; i < s->n; i++)
        s->n_parts += s->jobs[i].n_parts;
    const size_t n = s->n_parts, sentences = n < o->batch_sentences ? n : o->batch_sentences;
    const size_t workers = n < 1 ? 1 : n < s->n_workers ? n : s->n_workers;
    const rela_pool_run run = { .limits = { workers, sentences, o->batch_tokens },
                                .closed = true,
                                .callback = &s->callback };
    rela_status st = rela_pool_check(s->session->pool, NULL, 0, o, err);
    for (size_t i = 0; i < workers && st == RELA_OK; i++) {
        st = rela_text_scratch_init(&s->session->scratch[i], s->call.model, err);
        st = st ? st : rela_result_arena(s->result, i, err);
    }
    atomic_store(&s->callback.total, n);
    st = st ? st : submit(s, err);
    return st ? st : rela_pool_work(s->session->pool, &run, err);
}

/* ---- options ---- */

rela_status rela_text_call_init(rela_text_call *c, const rela_session *s,
                                const rela_translate_options *o, rela_error *err)
{
    const rela_model *m = s->models[0];
    rela_translate_options own;
    rela_translate_options_init(&own, sizeof own);
    rela_status st = rela_sized_take(&own, sizeof own, o, "rela_translate_options", err);
    st = st ? st : check_options(&own, m, err);
    for (size_t i = 0; i < s->n_models && st == RELA_OK; i++)
        st = rela_packed_weights_check(&s->models[i]->packed, err);
    st = st ? st : check_shortlist(&own, m, err);
    if (st != RELA_OK)
        return st;
    *c = (rela_text_call){ .model = m,
                           .options = own,
                           .search = search_options(&own),
                           .n_sources = m->net.config.sources,
                           .source = (size_t)own.source,
                           .most = rela_session_most(s) };
    const rela_splitter_options with = { .struct_size = sizeof with, .language = own.src_language };
    if (own.split == RELA_SPLIT_NEVER || c->n_sources > 1)
        return RELA_OK;
    if (own.src_language)
        st = rela_splitter_create(&c->own_splitter, &with, err);
    c->splitter = c->own_splitter ? c->own_splitter : s->splitter;
    return st;
}

void rela_text_call_deinit(rela_text_call *c)
{
    rela_splitter_destroy(c->own_splitter);
    c->own_splitter = NULL;
}

/* What the search does not check itself. */
static rela_status check_options(const rela_translate_options *o, const rela_model *m,
                                 rela_error *err)
{
    const struct {
        const char *name;
        int32_t value, least, most;
    } rows[] = { { "search method", o->method, 0, RELA_SEARCH_SAMPLE },
                 { "length penalty", o->penalty, 0, RELA_PENALTY_NONE },
                 { "treatment of unknown words", o->unk, 0, RELA_UNK_REPLACE },
                 { "treatment of long sentences", o->long_sentence, 0, RELA_LONG_CUT },
                 { "treatment of overflow", o->not_finite, 0, RELA_NOT_FINITE_MARK },
                 { "splitting into sentences", o->split, 0, RELA_SPLIT_ALWAYS },
                 { "beam", o->beam_size, 1, RELA_BEAM_MAX },
                 { "number of best translations", o->n_best, 1, RELA_BEAM_MAX },
                 { "longest translation", o->max_extra, 0, INT32_MAX },
                 { "number of symbols to sample from", o->top_k, 0, INT32_MAX },
                 { "batch of sentences", o->batch_sentences, 1, INT32_MAX },
                 { "batch of tokens", o->batch_tokens, 1, INT32_MAX } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value < rows[i].least || rows[i].value > rows[i].most)
            return rela_fail(err, RELA_ARG, "%s is %d; expected %d..%d", rows[i].name,
                             (int)rows[i].value, (int)rows[i].least, (int)rows[i].most);
    const size_t n = m->net.config.sources;
    if (o->source < 0 || (size_t)o->source >= n)
        return rela_fail(err, RELA_ARG, "no source %lld; the model has %zu source%s",
                         1 + (long long)o->source, n, rela_plural(n));
    if (o->split == RELA_SPLIT_ALWAYS && (o->prefix || m->net.config.sources > 1))
        return rela_fail(err, RELA_ARG, "a text with %s cannot be split into sentences",
                         o->prefix ? "a prefix" : "several sources");
    return RELA_OK;
}

static rela_status check_shortlist(const rela_translate_options *o, const rela_model *m,
                                   rela_error *err)
{
    if (!o->shortlist ||
        strcmp(rela_shortlist_parts_of(o->shortlist)->vocab.hash, m->vocab.hash) == 0)
        return RELA_OK;
    return rela_fail(err, RELA_ARG, "the shortlist was made for a model with other vocabularies");
}

static rela_search_options search_options(const rela_translate_options *o)
{
    rela_search_options s;
    rela_search_options_init(&s);
    s.method = o->method;
    s.beam = (size_t)o->beam_size;
    s.n_best = (size_t)o->n_best;
    s.penalty = o->penalty;
    s.alpha = o->length_penalty;
    s.max_factor = o->max_factor;
    s.max_extra = o->max_extra;
    s.forbid_unk = o->unk == RELA_UNK_FORBID;
    s.shortlist = o->shortlist;
    s.temperature = o->temperature;
    s.top_k = (size_t)o->top_k;
    s.top_p = o->top_p;
    s.seed = o->seed;
    s.attention = o->attention;
    s.source = (size_t)o->source;
    s.heaviest = o->unk == RELA_UNK_REPLACE;
    s.batch_sentences = (size_t)o->batch_sentences;
    s.batch_tokens = (size_t)o->batch_tokens;
    return s;
}

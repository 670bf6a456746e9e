/* SPDX-License-Identifier: MIT */
/* src/session/session.c - runtime, model, session: see rela/translate.h. */
#include "session/session.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/sized.h"
#include "format/model_text.h"
#include "format/packed_load.h"
#include "rela/model.h"
#include "session/text_job.h"
#include "text/language.h"

#include <string.h>

static rela_status reserve_and_start(int n_threads, rela_error *err);
static rela_status load(rela_model **out, rela_runtime *rt, const char *path,
                        const rela_span *memory, const rela_model_options *options,
                        rela_error *err);
static rela_status check_model(const rela_model *m, rela_error *err);
static rela_status make_scratch(rela_session *s, rela_error *err);
static rela_status make_splitter(rela_session *s, rela_error *err);
static rela_status check_together(const rela_model *const *models, size_t n, rela_error *err);

/* ---- runtime ---- */

void rela_runtime_options_init(rela_runtime_options *o, size_t size)
{
    const rela_runtime_options defaults = { .struct_size = size };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

/* The levels of the public interface are those of the log. */
static void on_log(void *ctx, rela_log_level level, const char *line)
{
    const rela_runtime_options *o = ctx;
    o->log(o->log_ctx, (int32_t)level, line);
}

/* The options are kept after the runtime: the log needs them. */
typedef struct runtime_block {
    rela_runtime runtime;
    rela_runtime_options options;
} runtime_block;

rela_status rela_runtime_create(rela_runtime **out, const rela_runtime_options *o, rela_error *err)
{
    *out = NULL;
    rela_runtime_options own = { .struct_size = 0 };
    rela_status st = rela_sized_take(&own, sizeof own, o, "rela_runtime_options", err);
    if (st != RELA_OK)
        return st;
    if (own.n_threads < 0 || own.n_threads > RELA_PAR_MAX)
        return rela_fail(err, RELA_ARG, "%d threads; expected 0..%d", (int)own.n_threads,
                         RELA_PAR_MAX);
    runtime_block *b = rela_mem_zalloc(sizeof *b);
    if (!b)
        return rela_fail(err, RELA_NOMEM, "no memory for a runtime");
    b->options = own;
    b->runtime.n_threads = rela_par_threads(b->options.n_threads);
    if (b->options.log)
        b->runtime.log = (rela_log){ on_log, &b->options, RELA_LOG_INFO };
    st = reserve_and_start(b->runtime.n_threads, err);
    if (st == RELA_OK)
        *out = &b->runtime;
    else
        rela_mem_free(b);
    return st;
}

void rela_runtime_destroy(rela_runtime *rt)
{
    if (rt) {
        rela_par_end();
        rela_mem_unreserve(RELA_MEM_RESERVE);
    }
    rela_mem_free(rt);
}

static rela_status reserve_and_start(int n_threads, rela_error *err)
{
    rela_status st = rela_mem_reserve(RELA_MEM_RESERVE, "a runtime", err);
    if (st != RELA_OK)
        return st;
    st = rela_par_start(n_threads, err);
    if (st != RELA_OK)
        rela_mem_unreserve(RELA_MEM_RESERVE);
    return st;
}

/* ---- model ---- */

void rela_model_options_init(rela_model_options *o, size_t size)
{
    const rela_model_options defaults = { .struct_size = size };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_model_load(rela_model **out, rela_runtime *rt, const char *path, rela_error *err)
{
    return rela_model_load_with(out, rt, path, NULL, err);
}

rela_status rela_model_load_with(rela_model **out, rela_runtime *rt, const char *path,
                                 const rela_model_options *options, rela_error *err)
{
    return load(out, rt, path, NULL, options, err);
}

rela_status rela_model_load_memory(rela_model **out, rela_runtime *rt, const char *name,
                                   const void *bytes, size_t len, const rela_model_options *options,
                                   rela_error *err)
{
    const rela_span memory = { bytes, len };
    return load(out, rt, name, &memory, options, err);
}

/* memory NULL: the file of that path. */
static rela_status load(rela_model **out, rela_runtime *rt, const char *path,
                        const rela_span *memory, const rela_model_options *options, rela_error *err)
{
    rela_extras extras = { 0 };
    rela_model_options with = { .struct_size = 0 };
    *out = NULL;
    rela_status st = rela_sized_take(&with, sizeof with, options, "rela_model_options", err);
    if (st != RELA_OK)
        return st;
    if (with.part < 0 || with.part > 2)
        return rela_fail(err, RELA_ARG, "%s: model %d of a pair; expected 1 or 2", path, with.part);
    rela_model *m = rela_mem_zalloc(sizeof *m);
    if (!m)
        return rela_fail(err, RELA_NOMEM, "%s: no memory", path);
    m->runtime = rt;
    const rela_checkpoint_options o = {
        .n_threads = rt->n_threads, .log = &rt->log, .part = with.part, .memory = memory
    };
    rela_buffer found = RELA_BUFFER_INIT;
    st = memory ? rela_buffer_append_text(&found, path, err) : rela_model_find(&found, path, err);
    if (st == RELA_OK && strcmp(found.data, path) != 0)
        rela_log_line(&rt->log, RELA_LOG_INFO, "the model of %s is %s", path, found.data);
    path = m->path = found.data;
    st = st ? st : rela_packed_weights_load(&m->packed, &m->net, &extras, path, with.int8, &o, err);
    if (st == RELA_OK) {
        st = rela_pipeline_restore(&m->pipeline, &extras, err);
        st = st ? st : check_model(m, err);
        st = st ? st
                : rela_vocab_pair_init(
                      &m->vocab, rela_pipeline_vocab(m->pipeline, 0),
                      rela_pipeline_vocab(m->pipeline, rela_pipeline_target(m->pipeline)), err);
        if (st != RELA_OK)
            st = rela_fail_in(err, st, path);
        const rela_section *record = rela_extras_get(&extras, "record");
        if (st == RELA_OK && record)
            rela_card_summarise(&m->card, (rela_span){ record->text, record->len });
    }
    rela_extras_deinit(&extras);
    if (st == RELA_OK)
        *out = m;
    else
        rela_model_free(m);
    return st;
}

void rela_model_free(rela_model *m)
{
    if (!m)
        return;
    rela_packed_weights_deinit(&m->packed);
    rela_pipeline_destroy(m->pipeline);
    rela_net_deinit(&m->net);
    rela_mem_free(m->path);
    rela_mem_free(m);
}

rela_status rela_model_check_full(const rela_model *m, rela_error *err)
{
    return m->net.params.packed ? rela_fail(err, RELA_FORMAT, "%s: " RELA_TRANSLATES_ONLY, m->path)
                                : RELA_OK;
}

rela_status rela_model_check_translates(const rela_model *m, rela_error *err)
{
    const rela_status st = rela_config_translates(&m->net.config, err);
    return st ? rela_fail_in(err, st, m->path) : RELA_OK;
}

rela_status rela_model_check_texts(const rela_model *m, const char *const *texts, int32_t source,
                                   rela_error *err)
{
    const size_t n = m->net.config.sources;
    const char *const many = n == 1 ? "" : "s";
    for (size_t i = 0; i < RELA_SOURCES_MAX; i++)
        if (!texts[i] != (i >= n))
            return rela_fail(err, RELA_ARG,
                             "%s: the model has %zu source%s; there is %s text of source %zu",
                             m->path, n, many, texts[i] ? "a" : "no", i + 1);
    if (source < 0 || (size_t)source >= n)
        return rela_fail(err, RELA_ARG, "%s: no source %lld; the model has %zu", m->path,
                         1 + (long long)source, n);
    return RELA_OK;
}

rela_status rela_model_check_single(const rela_model *m, const char *what, rela_error *err)
{
    if (m->net.config.sources == 1)
        return RELA_OK;
    return rela_fail(err, RELA_ARG, "%s: the model has %zu sources; %s needs a model with one",
                     m->path, m->net.config.sources, what);
}

static rela_status check_model(const rela_model *m, rela_error *err)
{
    const rela_config *c = &m->net.config;
    const size_t target = rela_pipeline_target(m->pipeline);
    if (target != c->sources)
        return rela_fail(err, RELA_FORMAT, "text is prepared for %zu sources, the model has %zu",
                         target, c->sources);
    for (size_t i = 0; i <= target; i++) {
        const size_t n = rela_vocab_size(rela_pipeline_vocab(m->pipeline, i));
        const size_t own = i < target ? c->vocab_src : c->vocab_tgt;
        if (n != own)
            return rela_fail(err, RELA_FORMAT, "%s vocabulary has %zu tokens, the model %zu",
                             i < target ? "source" : "target", n, own);
    }
    return RELA_OK;
}

rela_status rela_model_shape_get(rela_model_shape *out, const rela_model *m, rela_error *err)
{
    const rela_config *c = &m->net.config;
    rela_model_shape s = { .enc_layers = (int32_t)c->enc_layers,
                           .dec_layers = (int32_t)c->dec_layers,
                           .heads = (int32_t)c->heads,
                           .width = (int32_t)c->d,
                           .ffn = (int32_t)c->ffn,
                           .max_length = (int32_t)c->max_len,
                           .vocab_src = (int32_t)c->vocab_src,
                           .vocab_tgt = (int32_t)c->vocab_tgt,
                           .sources = (int32_t)c->sources,
                           .stacks = (int32_t)m->net.list.n_stacks };
    for (size_t i = 0; i < m->net.list.n_stacks; i++) {
        const size_t t = m->net.list.stacks[i].type;
        rela_format_text(s.attention[t], sizeof s.attention[t], "%s", c->attention[t].text);
    }
    const rela_status st = rela_sized_check(out, sizeof s, "rela_model_shape", err);
    if (st == RELA_OK)
        rela_sized_give(out, &s, sizeof s);
    return st;
}

const char *rela_model_stack_name(const rela_model *m, int32_t stack)
{
    return stack >= 0 && (size_t)stack < m->net.list.n_stacks ? m->net.list.stacks[stack].name
                                                              : NULL;
}

const char *rela_model_language(const rela_model *m, int32_t side)
{
    const rela_pipeline_parts *parts = rela_pipeline_parts_of(m->pipeline);
    if (side < 0 || (size_t)side > m->net.config.sources)
        return NULL;
    return *parts->side[side].language ? parts->side[side].language : NULL;
}

/* ---- session ---- */

rela_status rela_session_create(rela_session **out, const rela_model *m, rela_error *err)
{
    return rela_session_create_ensemble(out, &m, 1, err);
}

rela_status rela_session_create_ensemble(rela_session **out, const rela_model *const *models,
                                         size_t n, rela_error *err)
{
    *out = NULL;
    if (n < 1)
        return rela_fail(err, RELA_ARG, "a session needs a model");
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = rela_model_check_translates(models[i], err);
    st = st ? st : check_together(models, n, err);
    if (st != RELA_OK)
        return st;
    rela_session *s = rela_mem_zalloc(sizeof *s);
    const rela_packed_weights **nets = rela_mem_array(n, sizeof *nets);
    if (s)
        s->models = rela_mem_array(n, sizeof *s->models);
    if (!s || !nets || !s->models) {
        st = rela_fail(err, RELA_NOMEM, "no memory for a session");
    } else {
        s->n_models = n;
        for (size_t i = 0; i < n; i++) {
            s->models[i] = models[i];
            nets[i] = &models[i]->packed;
        }
        st = rela_search_pool_create(&s->pool, nets, n, models[0]->runtime->n_threads, err);
    }
    if (st == RELA_OK)
        st = make_scratch(s, err);
    if (st == RELA_OK)
        st = make_splitter(s, err);
    rela_mem_free(nets);
    if (st == RELA_OK)
        *out = s;
    else
        rela_session_destroy(s);
    return st;
}

void rela_session_destroy(rela_session *s)
{
    if (!s)
        return;
    rela_search_pool_destroy(s->pool);
    for (size_t i = 0; i < s->n_scratch; i++)
        rela_text_scratch_deinit(&s->scratch[i]);
    rela_mem_free(s->scratch);
    rela_splitter_destroy(s->splitter);
    rela_mem_free(s->models);
    rela_mem_free(s);
}

static rela_status make_scratch(rela_session *s, rela_error *err)
{
    const size_t n = rela_pool_workers(s->pool);
    s->scratch = rela_mem_zalloc(n * sizeof *s->scratch);
    if (!s->scratch)
        return rela_fail(err, RELA_NOMEM, "no memory for a session");
    s->n_scratch = n;
    return rela_text_scratch_init(&s->scratch[0], s->models[0], err);
}

static rela_status make_splitter(rela_session *s, rela_error *err)
{
    const rela_pipeline_parts *parts = rela_pipeline_parts_of(s->models[0]->pipeline);
    const rela_splitter_options o = { .struct_size = sizeof o,
                                      .language = rela_language_stored(parts->side[0].language) };
    return rela_splitter_create(&s->splitter, &o, err);
}

size_t rela_session_most(const rela_session *s)
{
    size_t most = SIZE_MAX;
    for (size_t i = 0; i < s->n_models; i++)
        if (s->models[i]->net.config.max_len - 1 < most)
            most = s->models[i]->net.config.max_len - 1;
    return most;
}

/* The models of an ensemble must have the same tokens with the same numbers. */
static rela_status check_together(const rela_model *const *models, size_t n, rela_error *err)
{
    const size_t target = models[0]->net.config.sources;
    for (size_t i = 1; i < n; i++) {
        if (models[i]->net.config.sources != target)
            return rela_fail(err, RELA_ARG, "%s and %s have %zu and %zu sources; expected the same",
                             models[0]->path, models[i]->path, target,
                             models[i]->net.config.sources);
        for (size_t side = 0; side <= target; side += target) {
            const rela_vocab *a = rela_pipeline_vocab(models[0]->pipeline, side);
            const rela_vocab *b = rela_pipeline_vocab(models[i]->pipeline, side);
            bool same = rela_vocab_size(a) == rela_vocab_size(b);
            for (size_t k = 0; same && k < rela_vocab_size(a); k++)
                same =
                    strcmp(rela_vocab_token(a, (int32_t)k), rela_vocab_token(b, (int32_t)k)) == 0;
            if (!same)
                return rela_fail(err, RELA_ARG,
                                 "%s and %s have different %s vocabularies; expected the same",
                                 models[0]->path, models[i]->path, side == 0 ? "source" : "target");
        }
    }
    return RELA_OK;
}

/* ---- texts ---- */

rela_status rela_fail_not_finite(rela_error *err, const char *file, uint64_t line, const char *what)
{
    const rela_status st =
        rela_fail(err, RELA_NOTFINITE, "line %llu: %s not finite: numbers of the model overflow",
                  (unsigned long long)line, what);
    return file ? rela_fail_in(err, st, file) : st;
}

size_t rela_text_len(const char *const *texts, const size_t *lens, size_t i)
{
    return lens ? lens[i] : strlen(texts[i]);
}

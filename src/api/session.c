/* SPDX-License-Identifier: MIT */
/* src/api/session.c - runtime, model, session: see rela/translate.h. */
#include "api/session.h"

#include "api/model_text.h"
#include "base/mem.h"
#include "base/par.h"
#include "model/frozen_file.h"

#include <string.h>

static rela_status check_model(const rela_model *m, rela_error *err);
static rela_status check_together(const rela_model *const *models, size_t n, rela_error *err);

/* ---- runtime ---- */

void rela_runtime_options_init(rela_runtime_options *o, size_t size)
{
    memset(o, 0, size);
    o->struct_size = size;
}

/* The levels of the public interface are those of the log. */
static void tell(void *ctx, rela_log_level level, const char *line)
{
    const rela_runtime_options *o = ctx;
    o->log(o->log_ctx, (int32_t)level, line);
}

/* The options are kept behind the runtime: the log needs them. */
typedef struct runtime_block {
    rela_runtime runtime;
    rela_runtime_options options;
} runtime_block;

rela_status rela_runtime_create(rela_runtime **out, const rela_runtime_options *o, rela_error *err)
{
    *out = NULL;
    if (o && (o->n_threads < 0 || o->n_threads > RELA_PAR_MAX))
        return rela_fail(err, RELA_ARG, "%d threads; expected 0..%d", (int)o->n_threads,
                         RELA_PAR_MAX);
    runtime_block *b = rela_mem_zalloc(sizeof *b);
    if (!b)
        return rela_fail(err, RELA_NOMEM, "no memory for a runtime");
    if (o)
        rela_options_take(&b->options, sizeof b->options, o);
    b->runtime.n_threads = rela_par_threads(b->options.n_threads);
    if (b->options.log)
        b->runtime.log = (rela_log){ tell, &b->options, RELA_LOG_INFO };
    *out = &b->runtime;
    return RELA_OK;
}

void rela_runtime_destroy(rela_runtime *rt)
{
    rela_mem_free(rt);
}

/* ---- model ---- */

void rela_model_options_init(rela_model_options *o, size_t size)
{
    memset(o, 0, size);
    o->struct_size = size;
}

rela_status rela_model_load(rela_model **out, rela_runtime *rt, const char *path, rela_error *err)
{
    return rela_model_load_with(out, rt, path, NULL, err);
}

rela_status rela_model_load_with(rela_model **out, rela_runtime *rt, const char *path,
                                 const rela_model_options *options, rela_error *err)
{
    rela_extras extras = { 0 };
    rela_model_options with;
    rela_model_options_init(&with, sizeof with);
    if (options)
        rela_options_take(&with, sizeof with, options);
    *out = NULL;
    rela_model *m = rela_mem_zalloc(sizeof *m);
    if (!m)
        return rela_fail(err, RELA_NOMEM, "%s: no memory", path);
    m->runtime = rt;
    const rela_checkpoint_options o = { .n_threads = rt->n_threads, .log = &rt->log };
    rela_status st = rela_frozen_load(&m->frozen, &m->net, &extras, path, with.int8, &o, err);
    if (st == RELA_OK) {
        st = rela_pipeline_restore(&m->pipeline, &extras, err);
        st = st ? st : check_model(m, err);
        st = st ? st
                : rela_vocab_pair_init(&m->vocab, rela_pipeline_vocab(m->pipeline, 0),
                                       rela_pipeline_vocab(m->pipeline, 1), err);
        if (st != RELA_OK)
            st = rela_fail_in(err, st, path);
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
    rela_frozen_deinit(&m->frozen);
    rela_pipeline_destroy(m->pipeline);
    rela_net_deinit(&m->net);
    rela_mem_free(m);
}

static rela_status check_model(const rela_model *m, rela_error *err)
{
    const size_t sizes[] = { m->net.config.vocab_src, m->net.config.vocab_tgt };
    for (int i = 0; i < RELA_PIPELINE_SIDES; i++) {
        const size_t n = rela_vocab_size(rela_pipeline_vocab(m->pipeline, i));
        if (n != sizes[i])
            return rela_fail(err, RELA_FORMAT, "%s vocabulary has %zu tokens, the model %zu",
                             i == 0 ? "source" : "target", n, sizes[i]);
    }
    return RELA_OK;
}

void rela_model_shape_get(rela_model_shape *out, const rela_model *m)
{
    const rela_config *c = &m->net.config;
    rela_model_shape s = { .struct_size = out->struct_size,
                           .enc_layers = (int32_t)c->enc_layers,
                           .dec_layers = (int32_t)c->dec_layers,
                           .heads = (int32_t)c->heads,
                           .width = (int32_t)c->d,
                           .ffn = (int32_t)c->ffn,
                           .max_length = (int32_t)c->max_len,
                           .vocab_src = (int32_t)c->vocab_src,
                           .vocab_tgt = (int32_t)c->vocab_tgt };
    for (int i = 0; i < RELA_ATTN_N_TYPES; i++)
        rela_format_text(s.attention[i], sizeof s.attention[i], "%s", c->kind[i]->name);
    memcpy(out, &s, s.struct_size < sizeof s ? s.struct_size : sizeof s);
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
        st = rela_config_translates(&models[i]->net.config, err);
    st = st ? st : check_together(models, n, err);
    if (st != RELA_OK)
        return st;
    rela_session *s = rela_mem_zalloc(sizeof *s);
    const rela_frozen **nets = rela_mem_array(n, sizeof *nets);
    if (s)
        s->models = rela_mem_array(n, sizeof *s->models);
    if (!s || !nets || !s->models) {
        st = rela_fail(err, RELA_NOMEM, "no memory for a session");
    } else {
        s->n_models = n;
        for (size_t i = 0; i < n; i++) {
            s->models[i] = models[i];
            nets[i] = &models[i]->frozen;
        }
        st = rela_search_pool_create(&s->pool, nets, n, models[0]->runtime->n_threads, err);
    }
    if (st == RELA_OK)
        st = rela_pipeline_scratch_create(&s->scratch, models[0]->pipeline, err);
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
    rela_pipeline_scratch_destroy(s->scratch);
    rela_mem_free(s->models);
    rela_mem_free(s);
}

/* Tokens with the same number must be the same tokens. */
static rela_status check_together(const rela_model *const *models, size_t n, rela_error *err)
{
    for (size_t i = 1; i < n; i++)
        for (int side = 0; side < RELA_PIPELINE_SIDES; side++) {
            const rela_vocab *a = rela_pipeline_vocab(models[0]->pipeline, side);
            const rela_vocab *b = rela_pipeline_vocab(models[i]->pipeline, side);
            bool same = rela_vocab_size(a) == rela_vocab_size(b);
            for (size_t k = 0; same && k < rela_vocab_size(a); k++)
                same =
                    strcmp(rela_vocab_token(a, (int32_t)k), rela_vocab_token(b, (int32_t)k)) == 0;
            if (!same)
                return rela_fail(err, RELA_ARG,
                                 "models 1 and %zu have different %s vocabularies; expected the "
                                 "same",
                                 i + 1, side == 0 ? "source" : "target");
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

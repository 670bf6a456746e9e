/* SPDX-License-Identifier: MIT */
/* src/serve/served_model.c - see served_model.h. */
#include "serve/served_model.h"

#include "base/clock.h"
#include "base/mem.h"

#include <string.h>

typedef struct served_model {
    rela_service_model base;
    char name[256], source[32], target[32];
    rela_runtime *runtime;
    rela_model *model;
    rela_async *async;
    rela_splitter *splitter;
    const rela_outcome_sink *sink;
} served_model;

/* A sentence on its way. */
typedef struct errand {
    served_model *model;
    void *call;
    size_t number;
    rela_span text;
    int wants;
    rela_outcome *spare; /* what is handed over if there is no memory for an outcome */
} errand;

static void set_names(served_model *m, const char *path);
static rela_status make_splitter(served_model *m, rela_error *err);
static rela_status warm_up(served_model *m, rela_error *err);
static void on_end(void *ctx, uint64_t id, rela_result *result, const rela_error *err);

rela_status rela_served_model_load(rela_service_model **out, const char *path,
                                   const rela_served_options *o, rela_error *err)
{
    *out = NULL;
    served_model *m = rela_mem_zalloc(sizeof *m);
    if (!m)
        return rela_fail(err, RELA_NOMEM, "%s: no memory", path);
    rela_runtime_options r;
    rela_model_options with;
    rela_async_options async;
    rela_runtime_options_init(&r, sizeof r);
    rela_model_options_init(&with, sizeof with);
    rela_async_options_init(&async, sizeof async);
    r.n_threads = o->n_threads;
    r.log = o->log;
    r.log_ctx = o->log_ctx;
    with.int8 = o->int8;
    m->sink = o->sink;
    m->base.shape.struct_size = sizeof m->base.shape;
    m->base.handle = m;
    m->base.release = rela_served_model_free;
    rela_status st = rela_runtime_create(&m->runtime, &r, err);
    st = st ? st : rela_model_load_with(&m->model, m->runtime, path, &with, err);
    st = st ? st : rela_model_shape_get(&m->base.shape, m->model, err);
    if (st == RELA_OK) {
        const rela_model *models[] = { m->model };
        set_names(m, path);
        st = make_splitter(m, err);
        st = st ? st : rela_async_create(&m->async, models, 1, &async, err);
        st = st ? st : warm_up(m, err);
    }
    if (st == RELA_OK)
        *out = &m->base;
    else
        rela_served_model_free(&m->base);
    return st;
}

void rela_served_model_free(rela_service_model *m)
{
    if (!m)
        return;
    served_model *own = m->handle;
    rela_async_destroy(own->async);
    rela_splitter_destroy(own->splitter);
    rela_model_free(own->model);
    rela_runtime_destroy(own->runtime);
    rela_mem_free(own);
}

rela_status rela_served_model_start(void *ctx, uint64_t *id, rela_service_model *m,
                                    const rela_service_sentence *s, rela_error *err)
{
    (void)ctx;
    served_model *own = m->handle;
    errand *e = rela_mem_zalloc(sizeof *e);
    rela_outcome *spare = rela_mem_zalloc(sizeof *spare);
    if (!e || !spare) {
        rela_mem_free(e);
        rela_mem_free(spare);
        return rela_fail(err, RELA_NOMEM, "no memory for a sentence");
    }
    *e = (errand){ own, s->call, s->number, s->text, s->wants, spare };
    rela_translate_options how = *s->options;
    how.first_line = s->number; /* sampled sentences differ */
    const double left = s->deadline - rela_clock_seconds();
    rela_async_request r;
    rela_async_request_init(&r, sizeof r);
    r.texts = &s->text.text;
    r.lens = &s->text.len;
    r.options = &how;
    r.seconds = left > 1e-3 ? left : 1e-3;
    r.on_end = on_end;
    r.ctx = e;
    const rela_status st = rela_async_submit(own->async, id, &r, err);
    if (st != RELA_OK) {
        rela_mem_free(spare);
        rela_mem_free(e);
    }
    return st;
}

void rela_served_model_cancel(void *ctx, rela_service_model *m, uint64_t id)
{
    (void)ctx;
    const served_model *own = m->handle;
    rela_async_cancel(own->async, id);
}

/* On a thread of the translator. */
static void on_end(void *ctx, uint64_t id, rela_result *result, const rela_error *err)
{
    errand *e = ctx;
    (void)id;
    rela_outcome *o = rela_outcome_create(result, err, e->text, &e->model->base.shape, e->wants);
    if (o) {
        rela_mem_free(e->spare);
    } else {
        o = e->spare;
        o->null_rate = -1;
        o->status = rela_fail(&o->err, RELA_NOMEM, "no memory for the answer");
    }
    o->call = e->call;
    o->sentence = e->number;
    rela_result_free(result);
    e->model->sink->put(e->model->sink->ctx, o);
    rela_mem_free(e);
}

/* The name of a file without its folder and ".rela"; languages as the model knows them. */
static void set_names(served_model *m, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *source = rela_model_language(m->model, 0);
    const char *target = rela_model_language(m->model, m->base.shape.sources);
    size_t len = strlen(name);
    if (len > 5 && strcmp(name + len - 5, ".rela") == 0)
        len -= 5;
    rela_format_text(m->name, sizeof m->name, "%.*s", (int)len, name);
    rela_format_text(m->source, sizeof m->source, "%s", source ? source : "und");
    rela_format_text(m->target, sizeof m->target, "%s", target ? target : "und");
    m->base.name = m->name;
    m->base.source = m->source;
    m->base.target = m->target;
}

static rela_status make_splitter(served_model *m, rela_error *err)
{
    rela_splitter_options o;
    rela_splitter_options_init(&o, sizeof o);
    o.language = rela_model_language(m->model, 0);
    rela_status st = rela_splitter_create(&m->splitter, &o, err);
    if (st == RELA_ARG) { /* a language without rules */
        o.language = NULL;
        st = rela_splitter_create(&m->splitter, &o, err);
    }
    m->base.splitter = m->splitter;
    return st;
}

/* The first sentences are slow, as products are compiled for their sizes: no client should wait
 * for them. */
static rela_status warm_up(served_model *m, rela_error *err)
{
    static const char *const TEXTS[] = { "1 2 3 4 5 6 7 8 9 10 .", "1 2 3 .", "1 , 2 , 3 , 4 , 5 .",
                                         "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 ." };
    enum { ROUNDS = 16 };
    uint64_t ids[ROUNDS] = { 0 };
    rela_async_request r;
    rela_status st = RELA_OK;
    if (m->base.shape.sources > 1)
        return RELA_OK;
    rela_async_request_init(&r, sizeof r);
    r.seconds = 1;
    for (size_t i = 0; i < ROUNDS && st == RELA_OK; i++) {
        r.texts = &TEXTS[i % 4];
        st = rela_async_submit(m->async, &ids[i], &r, err);
    }
    for (size_t i = 0; i < ROUNDS && ids[i]; i++) {
        rela_result *result = NULL;
        bool done = false;
        (void)rela_async_wait(&result, &done, m->async, ids[i], -1, NULL);
        rela_result_free(result);
    }
    return st;
}

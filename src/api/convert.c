/* SPDX-License-Identifier: MIT */
/* src/model/convert.c - rela_model_convert of rela/model.h: a model in another form. */
#include "rela/model.h"

#include "base/file.h"
#include "base/mem.h"
#include "model/forms.h"

#include <string.h>

typedef struct form {
    rela_status (*read)(rela_net *net, rela_extras *extras, const char *path,
                        const rela_checkpoint_options *options, rela_error *err);
    rela_status (*write)(const char *path, const rela_net *net, const rela_extras *extras,
                         rela_error *err);
    bool blocks;  /* also the state of training */
    bool decodes; /* only for models that translate */
} form;

static rela_status write_model(const char *path, const rela_net *net, const rela_extras *extras,
                               rela_error *err);
static rela_status write_bytes(const char *path, const rela_net *net, const rela_extras *extras,
                               rela_error *err);
static rela_status write_panels(const char *path, const rela_net *net, const rela_extras *extras,
                                rela_error *err);
static void pass_notice(void *ctx, rela_log_level level, const char *line);

/* By number. */
static const form FORMS[] = {
    [RELA_MODEL_RELA] = { rela_net_load, write_model, .blocks = true },
    [RELA_MODEL_SAFETENSORS] = { rela_plain_read, rela_plain_write, .blocks = true },
    [RELA_MODEL_CTRANSLATE2] = { NULL, rela_ctranslate2_write, .decodes = true },
    [RELA_MODEL_INT8] = { NULL, write_bytes, .decodes = true },
    [RELA_MODEL_MAPPED] = { NULL, write_panels, .decodes = true },
};

enum { N_FORMS = sizeof FORMS / sizeof FORMS[0] };

void rela_model_convert_options_init(rela_model_convert_options *o, size_t size)
{
    memset(o, 0, size);
    o->struct_size = size;
}

rela_status rela_model_convert(const char *out, const char *in,
                               const rela_model_convert_options *options, rela_error *err)
{
    rela_model_convert_options o;
    rela_net net = { .weights = NULL };
    rela_extras extras = { 0 };
    rela_model_convert_options_init(&o, sizeof o);
    if (options)
        rela_options_take(&o, sizeof o, options);
    if (o.from < 0 || o.from >= N_FORMS || !FORMS[o.from].read)
        return rela_fail(err, RELA_ARG, "%s: models of this form cannot be read", in);
    if (o.to < 0 || o.to >= N_FORMS)
        return rela_fail(err, RELA_ARG, "%s: there is no form %d of a model", out, (int)o.to);
    const rela_log log = { .write = pass_notice, .ctx = &o };
    const rela_checkpoint_options how = { .n_threads = o.n_threads,
                                          .blocks = FORMS[o.to].blocks,
                                          .log = &log };
    rela_status st = FORMS[o.from].read(&net, &extras, in, &how, err);
    if (st == RELA_OK && FORMS[o.to].decodes &&
        (st = rela_config_translates(&net.config, err)) != RELA_OK)
        st = rela_fail_in(err, st, in);
    if (st == RELA_OK && (st = FORMS[o.to].write(out, &net, &extras, err)) == RELA_UNSUP)
        st = rela_fail_in(err, st, in);
    rela_net_deinit(&net);
    rela_extras_deinit(&extras);
    return st;
}

rela_status rela_form_file(const char *dir, const char *name, const char *text, size_t len,
                           rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(&path, err, "%s/%s", dir, name);
    st = st ? st : rela_file_write(path.data, text ? text : "", len, err);
    rela_buffer_free(&path);
    return st;
}

static rela_status write_model(const char *path, const rela_net *net, const rela_extras *extras,
                               rela_error *err)
{
    return rela_net_save(path, net, extras, NULL, err);
}

static rela_status write_packed(const char *path, const rela_net *net, const rela_extras *extras,
                                rela_matrices matrices, rela_error *err)
{
    const rela_checkpoint_options how = { .matrices = matrices };
    return rela_net_save(path, net, extras, &how, err);
}

static rela_status write_bytes(const char *path, const rela_net *net, const rela_extras *extras,
                               rela_error *err)
{
    return write_packed(path, net, extras, RELA_MATRICES_BYTES, err);
}

static rela_status write_panels(const char *path, const rela_net *net, const rela_extras *extras,
                                rela_error *err)
{
    return write_packed(path, net, extras, RELA_MATRICES_PANELS, err);
}

static void pass_notice(void *ctx, rela_log_level level, const char *line)
{
    const rela_model_convert_options *o = ctx;
    (void)level;
    if (o->notice)
        o->notice(o->notice_ctx, line);
}

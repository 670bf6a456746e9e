/* SPDX-License-Identifier: MIT */
/* src/format/convert_files.c - rela_model_convert of rela/model.h: a model in another format. */
#include "rela/model.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/sized.h"
#include "format/export_formats.h"
#include "format/model_text.h"
#include "rela/subword.h"

typedef struct form {
    rela_status (*read)(rela_net *net, rela_extras *extras, const char *path,
                        const rela_checkpoint_options *options, rela_error *err);
    rela_status (*write)(const char *path, const rela_net *net, const rela_extras *extras,
                         rela_error *err);
    bool arrays;  /* has the training state, too */
    bool decodes; /* only for models that translate */
} form;

static rela_status check_texts(const rela_extras *e, rela_error *err);
static rela_status write_model(const char *path, const rela_net *net, const rela_extras *extras,
                               rela_error *err);
static rela_status write_bytes(const char *path, const rela_net *net, const rela_extras *extras,
                               rela_error *err);
static rela_status write_panels(const char *path, const rela_net *net, const rela_extras *extras,
                                rela_error *err);

/* Indexed by RELA_MODEL_... */
static const form FORMS[] = {
    [RELA_MODEL_RELA] = { rela_net_load, write_model, .arrays = true },
    [RELA_MODEL_SAFETENSORS] = { rela_plain_read, rela_plain_write, .arrays = true },
    [RELA_MODEL_CTRANSLATE2] = { NULL, rela_ctranslate2_write, .decodes = true },
    [RELA_MODEL_INT8] = { NULL, write_bytes, .decodes = true },
    [RELA_MODEL_MAPPED] = { NULL, write_panels, .decodes = true },
};

enum { N_FORMS = sizeof FORMS / sizeof FORMS[0] };

void rela_model_convert_options_init(rela_model_convert_options *o, size_t size)
{
    const rela_model_convert_options defaults = { .struct_size = size };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_model_convert(const char *out, const char *in,
                               const rela_model_convert_options *options, rela_error *err)
{
    rela_model_convert_options o;
    rela_net net = { .weights = NULL };
    rela_extras extras = { 0 };
    rela_model_convert_options_init(&o, sizeof o);
    rela_status st = rela_sized_take(&o, sizeof o, options, "rela_model_convert_options", err);
    if (st != RELA_OK)
        return st;
    if (o.from < 0 || o.from >= N_FORMS || !FORMS[o.from].read)
        return rela_fail(err, RELA_ARG, "%s: models of this form cannot be read", in);
    if (o.to < 0 || o.to >= N_FORMS)
        return rela_fail(err, RELA_ARG, "%s: there is no form %d of a model", out, (int)o.to);
    st = o.from == RELA_MODEL_SAFETENSORS ? rela_plain_check_apart(out, in, err)
         : rela_file_same(out, in)
             ? rela_fail(err, RELA_ARG, "%s: an input, which the output would replace", out)
             : RELA_OK;
    rela_notice notice = { o.notice, o.notice_ctx };
    const rela_log log = { .write = rela_notice_write, .ctx = &notice };
    const rela_checkpoint_options how = { .n_threads = o.n_threads,
                                          .arrays = FORMS[o.to].arrays,
                                          .log = &log };
    st = st ? st : FORMS[o.from].read(&net, &extras, in, &how, err);
    if (st == RELA_OK && o.from == RELA_MODEL_SAFETENSORS &&
        (st = check_texts(&extras, err)) == RELA_FORMAT)
        st = rela_fail_in(err, st, in);
    if (st == RELA_OK && FORMS[o.to].decodes &&
        (st = rela_config_translates(&net.config, err)) != RELA_OK)
        st = rela_fail_in(err, st, in);
    if (st == RELA_OK && (st = FORMS[o.to].write(out, &net, &extras, err)) == RELA_UNSUP)
        st = rela_fail_in(err, st, in);
    rela_net_deinit(&net);
    rela_extras_deinit(&extras);
    return st;
}

/* Texts in files beside the weights may have been edited: checks that they can still be parsed. */
static rela_status check_texts(const rela_extras *e, rela_error *err)
{
    static const struct {
        const char *key, *name;
    } VOCABULARIES[] = { { RELA_SECTION_VOCAB_SRC, "source vocabulary" },
                         { RELA_SECTION_VOCAB_TGT, "target vocabulary" } };
    rela_pipeline *p = NULL;
    rela_bpe *bpe = NULL;
    rela_status st = RELA_OK;
    if (rela_extras_get(e, RELA_SECTION_PIPELINE)) {
        st = rela_pipeline_restore(&p, e, err);
        rela_pipeline_destroy(p);
        return st;
    }
    for (int i = 0; i < RELA_PIPELINE_VOCABS && st == RELA_OK; i++) {
        const rela_section *s = rela_extras_get(e, VOCABULARIES[i].key);
        rela_vocab *v = NULL;
        if (s)
            st = rela_vocab_parse(&v, VOCABULARIES[i].name, s->text, s->len, err);
        rela_vocab_free(v);
    }
    const rela_section *codes = rela_extras_get(e, RELA_SECTION_BPE);
    if (st == RELA_OK && codes)
        st = rela_bpe_parse(&bpe, "BPE codes", codes->text, codes->len, NULL, err);
    rela_bpe_free(bpe);
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

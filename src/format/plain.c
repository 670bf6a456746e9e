/* SPDX-License-Identifier: MIT */
/* src/format/plain.c - plain weights: export_formats.h. The tensors of a model file under their own
 * names in model.safetensors, which any reader of that format understands, and every text of the
 * header as a file beside it. */
#include "format/export_formats.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "format/checkpoint_keys.h"

#include <string.h>

#define WEIGHTS      "model.safetensors"
#define PLAIN_FORMAT "rela-weights"

enum { TEXT_MAX = RELA_HEADER_MAX }; /* bytes of a text: more would not fit a model file */

/* File names of texts; a text that is not listed has its key as file name. */
static const struct text_file {
    const char *key, *name;
} FILES[] = {
    { KEY_CONFIG, "config.json" },           { RELA_SECTION_RECORD, "record.json" },
    { RELA_SECTION_STATE, "state.json" },    { RELA_SECTION_PIPELINE, "pipeline.json" },
    { RELA_SECTION_BPE, "bpe.codes" },       { RELA_SECTION_VOCAB_SRC, "vocab.src" },
    { RELA_SECTION_VOCAB_TGT, "vocab.tgt" },
};

enum { N_FILES = sizeof FILES / sizeof FILES[0] };

/* Texts read from a directory. */
typedef struct texts {
    const char *dir;
    rela_extras sections;
    char *config;
    size_t config_len;
} texts;

static rela_status write_texts(rela_file_set *set, const char *dir, const rela_net *net,
                               const rela_extras *extras, rela_error *err);
static rela_status write_weights(rela_file_set *set, const char *path, const rela_net *net,
                                 const rela_extras *extras, rela_error *err);
static rela_status dir_of(rela_buffer *dir, const char *path, rela_error *err);
static rela_status clear_dir(rela_file_set *set, const char *dir, const rela_extras *extras,
                             rela_error *err);
static const char *file_of(const char *key);
static rela_status see_file(void *ctx, const char *name, rela_error *err);
static rela_status read_text(texts *t, const char *key, const char *name, rela_error *err);
static rela_status read_file(char **text, size_t *len, const char *dir, const char *name,
                             rela_error *err);
static rela_status load(rela_net *net, rela_extras *extras, const char *path, const texts *t,
                        const rela_checkpoint_options *options, rela_error *err);

rela_status rela_plain_write(const char *dir, const rela_net *net, const rela_extras *extras,
                             rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_file_set *set = NULL;
    rela_status st = rela_dir_make(dir, err);
    st = st ? st : rela_file_set_create(&set, err);
    st = st ? st : clear_dir(set, dir, extras, err);
    st = st ? st : write_texts(set, dir, net, extras, err);
    st = st ? st : rela_buffer_printf(&path, err, "%s/" WEIGHTS, dir);
    st = st ? st : write_weights(set, path.data, net, extras, err);
    st = rela_file_set_finish(set, st, err);
    rela_buffer_free(&path);
    return st;
}

rela_status rela_plain_read(rela_net *net, rela_extras *extras, const char *path,
                            const rela_checkpoint_options *options, rela_error *err)
{
    rela_buffer dir = RELA_BUFFER_INIT, file = RELA_BUFFER_INIT;
    texts t = { .config = NULL };
    rela_status st = dir_of(&dir, path, err);
    st = st ? st
            : rela_buffer_printf(&file, err, rela_dir_exists(path) ? "%s/" WEIGHTS : "%s", path);
    t.dir = dir.data;
    st = st ? st : read_file(&t.config, &t.config_len, t.dir, file_of(KEY_CONFIG), err);
    st = st ? st : rela_dir_list(t.dir, see_file, &t, err);
    st = st ? st : load(net, extras, file.data, &t, options, err);
    rela_mem_free(t.config);
    rela_extras_deinit(&t.sections);
    rela_buffer_free(&dir);
    rela_buffer_free(&file);
    return st;
}

/* path is the directory, or the weights in it. */
static rela_status dir_of(rela_buffer *dir, const char *path, rela_error *err)
{
    const char *slash = strrchr(path, '/');
    if (rela_dir_exists(path))
        return rela_buffer_append_text(dir, path, err);
    if (slash)
        return rela_buffer_append(dir, path, slash == path ? 1 : (size_t)(slash - path), err);
    return rela_buffer_append_text(dir, ".", err);
}

/* Whether it is one of the files of a model. *key: of its text; NULL: not a text. */
static bool is_file(const char **key, const char *name)
{
    *key = rela_key_text(rela_span_of(name)) ? name : NULL;
    for (size_t i = 1; i < N_FILES; i++)
        *key = strcmp(FILES[i].name, name) == 0 ? FILES[i].key : *key;
    return *key || strcmp(name, WEIGHTS) == 0 || strcmp(name, file_of(KEY_CONFIG)) == 0;
}

/* ---- what would be replaced ---- */

typedef struct apart {
    const char *out, *dir;
} apart;

static rela_status compare_name(void *ctx, const char *name, rela_error *err)
{
    const apart *a = ctx;
    const char *key = NULL;
    rela_buffer own = RELA_BUFFER_INIT, inside = RELA_BUFFER_INIT;
    if (!is_file(&key, name))
        return RELA_OK;
    rela_status st = rela_buffer_printf(&own, err, "%s/%s", a->dir, name);
    st = st ? st : rela_buffer_printf(&inside, err, "%s/%s", a->out, name);
    if (st == RELA_OK &&
        (rela_file_same(a->out, own.data) || rela_file_same(inside.data, own.data)))
        st = rela_fail(err, RELA_ARG, "%s: an input, which the output would replace", own.data);
    rela_buffer_free(&own);
    rela_buffer_free(&inside);
    return st;
}

rela_status rela_plain_check_apart(const char *out, const char *path, rela_error *err)
{
    rela_buffer dir = RELA_BUFFER_INIT;
    rela_status st = dir_of(&dir, path, err);
    apart a = { out, dir.data };
    st = st ? st : rela_dir_list(dir.data, compare_name, &a, err);
    rela_buffer_free(&dir);
    return st;
}

/* ---- writing ---- */

/* Files of a model that was written there before. */
typedef struct leftovers {
    rela_file_set *set;
    const char *dir;
    const rela_extras *extras;
    bool own; /* there was such a model: the files are ours */
} leftovers;

/* Plain weights of ours, or what an interrupted conversion leaves: all but the weights. */
static bool is_own(const char *dir)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_safetensors *f = NULL;
    rela_config c;
    char *text = NULL;
    size_t len = 0;
    bool own = false;
    if (rela_buffer_printf(&path, NULL, "%s/" WEIGHTS, dir) != RELA_OK)
        return false;
    if (rela_file_exists(path.data)) {
        const rela_metadata *m = rela_safetensors_open(&f, path.data, 0, NULL) == RELA_OK
                                     ? rela_header_text(rela_safetensors_header(f), KEY_FORMAT)
                                     : NULL;
        own = m && rela_span_is(m->value, PLAIN_FORMAT);
        rela_safetensors_close(f);
    } else if (read_file(&text, &len, dir, file_of(KEY_CONFIG), NULL) == RELA_OK) {
        own = rela_config_from_json(&c, text, len, NULL) == RELA_OK;
        rela_mem_free(text);
    }
    rela_buffer_free(&path);
    return own;
}

/* A text of the model that was there before would be taken for one of this model. */
static rela_status clear_name(void *ctx, const char *name, rela_error *err)
{
    const leftovers *l = ctx;
    const char *key = NULL;
    if (is_file(&key, name) && !l->own)
        return rela_fail(err, RELA_STATE,
                         "%s/%s is there already, and not from 'rela convert'; choose another "
                         "directory",
                         l->dir, name);
    if (!key || rela_extras_get(l->extras, key))
        return RELA_OK;
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(&path, err, "%s/%s", l->dir, name);
    st = st ? st : rela_file_set_remove(l->set, path.data, err);
    rela_buffer_free(&path);
    return st;
}

static rela_status clear_dir(rela_file_set *set, const char *dir, const rela_extras *extras,
                             rela_error *err)
{
    leftovers l = { set, dir, extras, is_own(dir) };
    return rela_dir_list(dir, clear_name, &l, err);
}

static rela_status write_texts(rela_file_set *set, const char *dir, const rela_net *net,
                               const rela_extras *extras, rela_error *err)
{
    rela_buffer config = RELA_BUFFER_INIT;
    rela_status st = rela_config_to_json(&config, &net->config, err);
    st = st ? st : rela_form_file(set, dir, file_of(KEY_CONFIG), config.data, config.len, err);
    for (size_t i = 0; i < extras->n_sections && st == RELA_OK; i++) {
        const rela_section *s = &extras->sections[i];
        st = rela_form_file(set, dir, file_of(s->name), s->text, s->len, err);
    }
    rela_buffer_free(&config);
    return st;
}

static rela_status write_weights(rela_file_set *set, const char *path, const rela_net *net,
                                 const rela_extras *extras, rela_error *err)
{
    rela_metadata kind = { rela_span_of(KEY_FORMAT), rela_span_of(PLAIN_FORMAT) };
    const rela_params *params = &net->params;
    const size_t n = params->n * (1 + extras->n_arrays);
    rela_tensor *tensors = rela_mem_array(n, sizeof *tensors);
    char(*names)[RELA_FULL_NAME_MAX] = rela_mem_array(n, sizeof *names);
    rela_status st = RELA_OK;
    if (!tensors || !names)
        st = rela_fail(err, RELA_NOMEM, "%s: no memory to list %zu tensors", path, n);
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        const rela_state_array *array = i < params->n ? NULL : &extras->arrays[i / params->n - 1];
        const rela_param *p = &params->items[i % params->n];
        tensors[i] = rela_param_tensor(names[i], array ? array->name : NULL, p);
        tensors[i].data = (array ? array->values : net->weights) + p->offset;
    }
    const rela_header header = { tensors, n, &kind, 1 };
    rela_writer *w = NULL;
    st = st ? st : rela_safetensors_write_open(&w, set, path, &header, 0, err);
    st = rela_writer_finish(w, st, err);
    rela_mem_free(tensors);
    rela_mem_free(names);
    return st;
}

rela_status rela_form_file(rela_file_set *set, const char *dir, const char *name, const char *text,
                           size_t len, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(&path, err, "%s/%s", dir, name);
    st = st ? st : rela_file_write_in(set, path.data, text ? text : "", len, err);
    rela_buffer_free(&path);
    return st;
}

static const char *file_of(const char *key)
{
    for (size_t i = 0; i < N_FILES; i++)
        if (strcmp(FILES[i].key, key) == 0)
            return FILES[i].name;
    return key;
}

/* ---- reading ---- */

/* Files that are not texts of a model are ignored. */
static rela_status see_file(void *ctx, const char *name, rela_error *err)
{
    const char *key = NULL; /* not of the configuration, which is read already */
    return is_file(&key, name) && key ? read_text(ctx, key, name, err) : RELA_OK;
}

static rela_status read_text(texts *t, const char *key, const char *name, rela_error *err)
{
    char *text = NULL;
    size_t len = 0;
    rela_status st = read_file(&text, &len, t->dir, name, err);
    const size_t good = st == RELA_OK ? rela_utf8_valid(text, len) : 0;
    if (st == RELA_OK && good != len)
        st = rela_fail(err, RELA_FORMAT, "%s/%s: not UTF-8 after %zu bytes", t->dir, name, good);
    st = st ? st : rela_extras_set(&t->sections, key, text, len, err);
    rela_mem_free(text);
    return st;
}

static rela_status read_file(char **text, size_t *len, const char *dir, const char *name,
                             rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(&path, err, "%s/%s", dir, name);
    st = st ? st : rela_file_read(text, len, path.data, TEXT_MAX, err);
    rela_buffer_free(&path);
    return st;
}

/* Loads the weights, with the texts in place of those of a header. */
static rela_status load(rela_net *net, rela_extras *extras, const char *path, const texts *t,
                        const rela_checkpoint_options *options, rela_error *err)
{
    const size_t n = t->sections.n_sections;
    rela_checkpoint_options o = options ? *options : (rela_checkpoint_options){ 0 };
    rela_metadata *list = rela_mem_array(n + 1, sizeof *list);
    if (!list)
        return rela_fail(err, RELA_NOMEM, "%s: no memory for %zu texts", path, n + 1);
    list[0] = (rela_metadata){ rela_span_of(KEY_CONFIG), { t->config, t->config_len } };
    for (size_t i = 0; i < n; i++) {
        const rela_section *s = &t->sections.sections[i];
        list[i + 1] = (rela_metadata){ rela_span_of(s->name), { s->text, s->len } };
    }
    o.texts = list;
    o.n_texts = n + 1;
    const rela_status st = rela_net_load(net, extras, path, &o, err);
    rela_mem_free(list);
    return st;
}

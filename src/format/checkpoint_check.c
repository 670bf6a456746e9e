/* SPDX-License-Identifier: MIT */
/* src/format/checkpoint_check.c - checks that the header of a file is that of a model:
 * configuration, the tensors that follow from it, texts. */
#include "base/json.h"
#include "base/mem.h"
#include "format/checkpoint_keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SHAPE_TEXT = 256 };

static rela_status check_keys(rela_checkpoint *c, rela_error *err);
static rela_status read_config(rela_checkpoint *c, rela_error *err);
static rela_status read_hash(rela_checkpoint *c, rela_error *err);
static rela_status find_blocks(rela_checkpoint *c, rela_error *err);
static rela_status check_panel(rela_checkpoint *c, rela_error *err);
static rela_status check_tensors(rela_checkpoint *c, rela_error *err);
static rela_status check_param(rela_checkpoint *c, size_t array, size_t param, rela_error *err);
static rela_status check_tensor(rela_checkpoint *c, rela_tensor want, rela_tensor_role is,
                                rela_error *err);
static void describe(char out[SHAPE_TEXT], const rela_tensor *t);
static rela_status check_vocabulary(const rela_checkpoint *c, const char *key, size_t size,
                                    rela_error *err);
static rela_status check_json(const rela_checkpoint *c, const char *key, rela_error *err);
static rela_status unknown_tensor(const rela_tensor *t, rela_error *err);

rela_status rela_checkpoint_check(rela_checkpoint *c, rela_error *err)
{
    rela_status st = c->plain ? RELA_OK : check_keys(c, err);
    st = st ? st : read_config(c, err);
    st = st ? st : rela_params_of(&c->params, &c->config, c->matrices != RELA_MATRICES_PLAIN, err);
    st = st ? st : find_blocks(c, err);
    st = st ? st : check_panel(c, err);
    st = st ? st : check_tensors(c, err);
    st = st ? st : check_vocabulary(c, RELA_SECTION_VOCAB_SRC, c->config.vocab_src, err);
    st = st ? st : check_vocabulary(c, RELA_SECTION_VOCAB_TGT, c->config.vocab_tgt, err);
    st = st ? st : check_json(c, RELA_SECTION_RECORD, err);
    st = st ? st : check_json(c, RELA_SECTION_STATE, err);
    return st ? st : read_hash(c, err);
}

static rela_status check_keys(rela_checkpoint *c, rela_error *err)
{
    const rela_metadata *format = rela_header_text(&c->header, KEY_FORMAT);
    const rela_metadata *version = rela_header_text(&c->header, KEY_VERSION);
    if (!format || !rela_span_is(format->value, MODEL_FORMAT))
        return rela_fail(err, RELA_FORMAT,
                         "a safetensors file, but not a model of rela: its '" KEY_FORMAT
                         "' is not '" MODEL_FORMAT "'");
    const rela_span have = version ? version->value : (rela_span){ "", 0 };
    size_t form = 0;
    while (form < RELA_N_VERSIONS && !rela_span_is(have, RELA_VERSIONS[form]))
        form++;
    c->matrices = (rela_matrices)form;
    if (form == RELA_N_VERSIONS)
        return rela_fail(err, RELA_FORMAT,
                         "'" KEY_VERSION "' is '%.*s'; this program reads 1, 2 and 3",
                         (int)(have.len < 16 ? have.len : 16), have.text);
    for (size_t i = 0; i < c->header.n_metadata; i++) {
        const rela_span key = c->header.metadata[i].key;
        if (!rela_key_reserved(key) && !rela_key_section(key))
            return rela_fail(err, RELA_FORMAT, "unknown text '%.*s' in the header",
                             (int)(key.len < 64 ? key.len : 64), key.text);
    }
    return RELA_OK;
}

static rela_status read_config(rela_checkpoint *c, rela_error *err)
{
    const rela_metadata *m = rela_header_text(&c->header, KEY_CONFIG);
    if (!m)
        return rela_fail(err, RELA_FORMAT, "no '" KEY_CONFIG "' in the header");
    rela_status st = rela_config_from_json(&c->config, m->value.text, m->value.len, err);
    st = st ? st : rela_config_check(&c->config, err);
    if (st == RELA_OK || st == RELA_NOMEM)
        return st;
    return rela_fail_in(err, RELA_FORMAT, KEY_CONFIG); /* whatever it was: the file is at fault */
}

static rela_status read_hash(rela_checkpoint *c, rela_error *err)
{
    const rela_metadata *m = rela_header_text(&c->header, RELA_HASH_KEY);
    if (!m)
        return RELA_OK;
    if (m->value.len < 1 || m->value.len >= sizeof c->hash ||
        memchr(m->value.text, '\0', m->value.len))
        return rela_fail(err, RELA_FORMAT, "the content hash in the header is malformed");
    memcpy(c->hash, m->value.text, m->value.len);
    return RELA_OK;
}

/* A '/' in the name of a tensor follows the name of its array. */
static rela_status find_blocks(rela_checkpoint *c, rela_error *err)
{
    for (size_t i = 0; i < c->header.n; i++) {
        const rela_span name = c->header.tensors[i].name;
        const char *slash = memchr(name.text, '/', name.len);
        if (!slash)
            continue;
        const rela_span array = { name.text, (size_t)(slash - name.text) };
        if (array.len < 1 || array.len >= RELA_ARRAY_NAME_MAX || !rela_key_plain(array))
            return unknown_tensor(&c->header.tensors[i], err);
        size_t b = 0;
        while (b < c->n_arrays && !rela_span_is(array, c->arrays[b]))
            b++;
        if (b < c->n_arrays)
            continue;
        if (b == RELA_ARRAYS_MAX)
            return rela_fail(err, RELA_FORMAT, "tensor '%.*s': more than %d arrays", (int)name.len,
                             name.text, RELA_ARRAYS_MAX);
        memcpy(c->arrays[c->n_arrays++], array.text, array.len);
    }
    return RELA_OK;
}

/* The first matrix shows the panel size of a file; the others must have the same. */
static rela_status check_panel(rela_checkpoint *c, rela_error *err)
{
    enum { PANEL_MAX = 64 };
    size_t i = 0;
    if (c->matrices == RELA_MATRICES_PLAIN)
        return RELA_OK;
    if (c->config.task != RELA_TASK_TRANSLATE)
        return rela_fail(err, RELA_FORMAT, "packed for decoding, but a model for alignment");
    while (i + 1 < c->params.n && !c->params.items[i].packed)
        i++;
    const rela_tensor *t = rela_header_find(&c->header, c->params.items[i].name);
    const uint64_t panel = t && t->rank == 3 ? t->shape[2] : RELA_BYTE_PANEL;
    c->panel = c->matrices == RELA_MATRICES_BYTES ? RELA_BYTE_PANEL
               : panel >= 1 && panel <= PANEL_MAX ? (size_t)panel
                                                  : RELA_BYTE_PANEL;
    if (c->n_arrays || c->config.d % c->panel != 0)
        return rela_fail(err, RELA_FORMAT,
                         "packed, but with further arrays or a width that is no multiple of %zu",
                         c->panel);
    /* Matrices are used in place where they are mapped; all tensors are reals, so one check of the
     * alignment is enough. */
    const uint64_t begin = rela_safetensors_begin(c->file);
    if (c->matrices == RELA_MATRICES_PANELS && begin % sizeof(real) != 0)
        return rela_fail(err, RELA_FORMAT,
                         "its numbers begin at byte %" PRIu64
                         "; to be mapped they must begin at a multiple of %zu",
                         begin, sizeof(real));
    return RELA_OK;
}

static rela_status check_tensors(rela_checkpoint *c, rela_error *err)
{
    const size_t n = c->header.n;
    c->roles = rela_mem_zalloc(n * sizeof *c->roles);
    if (!c->roles)
        return rela_fail(err, RELA_NOMEM, "no memory for a list of %zu tensors", n);
    rela_status st = RELA_OK;
    for (size_t array = 0; array <= c->n_arrays; array++)
        for (size_t i = 0; i < c->params.n && st == RELA_OK; i++)
            st = check_param(c, array, i, err);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        if (!c->roles[i].known)
            st = unknown_tensor(&c->header.tensors[i], err);
    return st;
}

static rela_status unknown_tensor(const rela_tensor *t, rela_error *err)
{
    return rela_fail(err, RELA_FORMAT, "tensor '%.*s': not a parameter of this configuration",
                     (int)t->name.len, t->name.text);
}

static rela_status check_param(rela_checkpoint *c, size_t array, size_t param, rela_error *err)
{
    char name[RELA_FULL_NAME_MAX];
    const rela_param *p = &c->params.items[param];
    rela_tensor_role is = { .known = true, .array = (uint8_t)array, .param = (uint32_t)param };
    if (!p->packed)
        return check_tensor(c, rela_param_tensor(name, array ? c->arrays[array - 1] : NULL, p), is,
                            err);
    if (c->matrices == RELA_MATRICES_PANELS) {
        is.part = PART_PANELS;
        return check_tensor(c, rela_param_panels(name, p, c->panel), is, err);
    }
    is.part = PART_BYTES;
    const rela_status st = check_tensor(c, rela_param_bytes(name, p), is, err);
    is.part = PART_SCALE;
    return st ? st : check_tensor(c, rela_param_scale(name, p), is, err);
}

static rela_status check_tensor(rela_checkpoint *c, rela_tensor want, rela_tensor_role is,
                                rela_error *err)
{
    char want_text[SHAPE_TEXT], have_text[SHAPE_TEXT];
    const char *name = want.name.text;
    const rela_tensor *have = rela_header_find(&c->header, name);
    describe(want_text, &want);
    if (!have)
        return rela_fail(err, RELA_FORMAT, "tensor '%s' is missing; expected %s", name, want_text);
    describe(have_text, have);
    if (strcmp(want_text, have_text) != 0)
        return rela_fail(err, RELA_FORMAT, "tensor '%s' is %s; expected %s", name, have_text,
                         want_text);
    c->roles[have - c->header.tensors] = is;
    return RELA_OK;
}

/* "F32 [512, 2048]" */
static void describe(char out[SHAPE_TEXT], const rela_tensor *t)
{
    int at = snprintf(out, SHAPE_TEXT, "%s [", rela_dtype_name(t->dtype));
    for (uint32_t i = 0; i < t->rank; i++) /* 8 numbers of 20 digits fit */
        at +=
            snprintf(out + at, (size_t)(SHAPE_TEXT - at), "%s%" PRIu64, i ? ", " : "", t->shape[i]);
    (void)snprintf(out + at, (size_t)(SHAPE_TEXT - at), "]");
}

static rela_status check_vocabulary(const rela_checkpoint *c, const char *key, size_t size,
                                    rela_error *err)
{
    const rela_metadata *m = rela_header_text(&c->header, key);
    if (!m)
        return RELA_OK;
    const size_t n = rela_count_lines(m->value);
    if (n == size)
        return RELA_OK;
    return rela_fail(err, RELA_FORMAT, "'%s' has %zu line%s; expected %zu, as in the configuration",
                     key, n, rela_plural(n), size);
}

static rela_status check_json(const rela_checkpoint *c, const char *key, rela_error *err)
{
    const rela_metadata *m = rela_header_text(&c->header, key);
    if (!m)
        return RELA_OK;
    rela_json j;
    char *copy = rela_str_copy(m->value.text, m->value.len);
    if (!copy)
        return rela_fail(err, RELA_NOMEM, "no memory to check '%s'", key);
    rela_status st = rela_json_start(&j, copy, m->value.len, err);
    st = st ? st : rela_json_skip(&j, err);
    st = st ? st : rela_json_end(&j, err);
    rela_mem_free(copy);
    return st ? rela_fail_in(err, st, key) : RELA_OK;
}

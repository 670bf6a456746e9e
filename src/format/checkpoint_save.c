/* SPDX-License-Identifier: MIT */
/* src/format/checkpoint_save.c - writing half of checkpoint.h, and what both halves share. */
#include "format/checkpoint_keys.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

enum { RESERVED_KEYS = 4 }; /* format, version, configuration, hash */

/* What is passed to the container. */
typedef struct listing {
    rela_header header;
    char (*names)[RELA_FULL_NAME_MAX]; /* of the tensors */
    rela_buffer config;
    char hash[RELA_HASH_TEXT];
    char *packed; /* int8 matrices with their scales, or matrices in panels */
} listing;

const char *const RELA_VERSIONS[RELA_N_VERSIONS] = {
    [RELA_MATRICES_PLAIN] = "1",
    [RELA_MATRICES_BYTES] = "2",
    [RELA_MATRICES_PANELS] = "3",
};

static rela_status list_all(listing *l, const rela_net *net, const rela_extras *extras,
                            rela_matrices matrices, rela_error *err);
static rela_status list_packed(listing *l, const rela_net *net, bool bytes, rela_error *err);
static void list_param(listing *l, const char *array, const rela_param *p, const real *values);
static char *list_bytes(listing *l, const rela_net *net, const rela_param *p, char *to);
static char *list_panels(listing *l, const rela_net *net, const rela_param *p, char *to);
static void list_text(listing *l, const char *key, rela_span text);

rela_status rela_net_save(const char *path, const rela_net *net, const rela_extras *extras,
                          const rela_checkpoint_options *options, rela_error *err)
{
    static const rela_extras NONE = { 0 };
    listing l = { .names = NULL };
    const rela_matrices matrices = options ? options->matrices : RELA_MATRICES_PLAIN;
    rela_status st = list_all(&l, net, extras ? extras : &NONE, matrices, err);
    const rela_content content = { .header = l.header,
                                   .n_threads = options ? options->n_threads : 0,
                                   .path = path };
    if (st == RELA_OK)
        st = rela_content_run(l.hash, &content, err);
    else
        st = rela_fail_in(err, st, path);
    if (st == RELA_OK) {
        list_text(&l, RELA_HASH_KEY, rela_span_of(l.hash));
        const size_t most = options ? options->max_header : 0;
        st = options && options->written
                 ? rela_safetensors_write_open(options->written, NULL, path, &l.header, most, err)
                 : rela_safetensors_write(path, &l.header, most, err);
    }
    rela_buffer_free(&l.config);
    rela_mem_free(l.packed);
    rela_mem_free(l.names);
    rela_header_deinit(&l.header);
    return st;
}

void rela_extras_deinit(rela_extras *e)
{
    for (size_t i = 0; i < e->n_sections; i++) {
        rela_mem_free(e->sections[i].name);
        rela_mem_free(e->sections[i].text);
    }
    rela_mem_free(e->sections);
    for (size_t i = 0; i < e->n_arrays; i++)
        rela_mem_free(e->arrays[i].own);
    *e = (rela_extras){ 0 };
}

rela_status rela_extras_set(rela_extras *e, const char *name, const char *text, size_t len,
                            rela_error *err)
{
    size_t i = 0;
    if (!rela_key_section(rela_span_of(name)))
        return rela_fail(err, RELA_ARG, "'%s' cannot be the name of a text in a model", name);
    while (i < e->n_sections && strcmp(e->sections[i].name, name) != 0)
        i++;
    rela_section *all =
        rela_mem_grow(e->sections, &e->cap_sections, e->n_sections + 1, sizeof *all);
    char *copy = rela_str_copy(text, len);
    char *name_copy = i < e->n_sections ? NULL : rela_str_copy(name, strlen(name));
    e->sections = all ? all : e->sections;
    if (!all || !copy || !(name_copy || i < e->n_sections)) {
        rela_mem_free(copy);
        rela_mem_free(name_copy);
        return rela_fail(err, RELA_NOMEM, "no memory for the text '%s'", name);
    }
    if (i < e->n_sections) {
        rela_mem_free(all[i].text);
        all[i].text = copy;
        all[i].len = len;
        return RELA_OK;
    }
    all[e->n_sections++] = (rela_section){ name_copy, copy, len };
    return RELA_OK;
}

const rela_section *rela_extras_get(const rela_extras *e, const char *name)
{
    for (size_t i = 0; i < e->n_sections; i++)
        if (strcmp(e->sections[i].name, name) == 0)
            return &e->sections[i];
    return NULL;
}

rela_status rela_extras_lend(rela_extras *e, const char *name, const real *values, rela_error *err)
{
    const size_t len = strlen(name);
    bool good = len > 0 && len < RELA_ARRAY_NAME_MAX && rela_key_plain((rela_span){ name, len });
    for (size_t i = 0; i < e->n_arrays; i++)
        good = good && strcmp(e->arrays[i].name, name) != 0;
    if (!good || e->n_arrays == RELA_ARRAYS_MAX)
        return rela_fail(err, RELA_ARG, "'%s' cannot be the name of one more array in a model",
                         name);
    rela_state_array *b = &e->arrays[e->n_arrays++];
    *b = (rela_state_array){ .values = values };
    memcpy(b->name, name, len);
    return RELA_OK;
}

real *rela_extras_take(rela_extras *e, const char *name)
{
    for (size_t i = 0; i < e->n_arrays; i++) {
        if (strcmp(e->arrays[i].name, name) != 0 || !e->arrays[i].own)
            continue;
        real *values = e->arrays[i].own;
        e->arrays[i] = e->arrays[--e->n_arrays];
        return values;
    }
    return NULL;
}

bool rela_key_reserved(rela_span key)
{
    return rela_span_is(key, KEY_FORMAT) || rela_span_is(key, KEY_VERSION) ||
           rela_span_is(key, KEY_CONFIG) || rela_span_is(key, RELA_HASH_KEY);
}

bool rela_key_section(rela_span key)
{
    return rela_span_is(key, RELA_SECTION_RECORD) || rela_span_is(key, RELA_SECTION_STATE) ||
           rela_key_text(key);
}

bool rela_key_text(rela_span key)
{
    static const char PREFIX[] = "text.";
    return key.len > strlen(PREFIX) && key.len < RELA_SECTION_NAME_MAX &&
           memcmp(key.text, PREFIX, strlen(PREFIX)) == 0 && rela_key_plain(key);
}

bool rela_key_plain(rela_span key)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    for (size_t i = 0; i < key.len; i++)
        if (!memchr(PLAIN, key.text[i], sizeof PLAIN - 1))
            return false;
    return true;
}

size_t rela_count_lines(rela_span text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += text.text[i] == '\n';
    return n + (text.len > 0 && text.text[text.len - 1] != '\n');
}

rela_tensor rela_param_tensor(char name[RELA_FULL_NAME_MAX], const char *array, const rela_param *p)
{
    (void)snprintf(name, RELA_FULL_NAME_MAX, "%s%s%s", array ? array : "", array ? "/" : "",
                   p->name);
    return (
        rela_tensor){ .name = rela_span_of(name),
                      .dtype = sizeof(real) == sizeof(float) ? RELA_F32 : RELA_F64,
                      .rank = (uint32_t)p->rank,
                      .shape = { p->rank == 1 ? p->cols : p->rows, p->rank == 1 ? 0 : p->cols } };
}

rela_tensor rela_param_bytes(char name[RELA_FULL_NAME_MAX], const rela_param *p)
{
    rela_tensor t = rela_param_tensor(name, NULL, p);
    t.dtype = RELA_I8;
    t.rank = 4;
    t.shape[0] = rela_byte_rows(p->rows) / RELA_BYTE_PANEL;
    t.shape[1] = (p->cols + 3) / 4;
    t.shape[2] = RELA_BYTE_PANEL;
    t.shape[3] = 4;
    return t;
}

rela_tensor rela_param_scale(char name[RELA_FULL_NAME_MAX], const rela_param *p)
{
    rela_tensor t = rela_param_tensor(name, NULL, p);
    (void)snprintf(name, RELA_FULL_NAME_MAX, "%s.scale", p->name);
    t.name = rela_span_of(name);
    t.rank = 1;
    t.shape[0] = p->rows;
    return t;
}

rela_tensor rela_param_panels(char name[RELA_FULL_NAME_MAX], const rela_param *p, size_t panel)
{
    rela_tensor t = rela_param_tensor(name, NULL, p);
    t.rank = 3;
    t.shape[0] = rela_round_up(p->rows, panel) / panel;
    t.shape[1] = p->cols;
    t.shape[2] = panel;
    return t;
}

/* Bytes that a matrix takes with scales and sums of whole panels. */
static size_t byte_room(const rela_param *p)
{
    return rela_byte_rows(p->rows) * (sizeof(real) + sizeof(int32_t)) +
           rela_bytes_size(p->rows, p->cols);
}

static size_t panel_room(const rela_param *p, size_t panel)
{
    return rela_round_up(p->rows, panel) * p->cols * sizeof(real);
}

/* Sorted, as the hash requires. */
static rela_status list_all(listing *l, const rela_net *net, const rela_extras *extras,
                            rela_matrices matrices, rela_error *err)
{
    const rela_params *params = &net->params;
    const bool plain = matrices == RELA_MATRICES_PLAIN;
    const size_t n_arrays = plain ? extras->n_arrays : 0;
    const size_t n = params->n * (plain ? 1 + n_arrays : 2); /* an int8 matrix is two tensors */
    rela_header *h = &l->header;
    h->tensors = rela_mem_array(n, sizeof *h->tensors);
    l->names = rela_mem_array(n, sizeof *l->names);
    h->metadata = rela_mem_array(extras->n_sections + RESERVED_KEYS, sizeof *h->metadata);
    if (!h->tensors || !l->names || !h->metadata)
        return rela_fail(err, RELA_NOMEM, "no memory to list %zu tensors", n);
    rela_status st = rela_config_to_json(&l->config, &net->config, err);
    if (st == RELA_OK && !plain)
        st = list_packed(l, net, matrices == RELA_MATRICES_BYTES, err);
    if (st != RELA_OK)
        return st;
    for (size_t i = 0; plain && i < n; i++) {
        const rela_state_array *b = i < params->n ? NULL : &extras->arrays[i / params->n - 1];
        list_param(l, b ? b->name : NULL, &params->items[i % params->n],
                   b ? b->values : net->weights);
    }
    list_text(l, KEY_FORMAT, rela_span_of(MODEL_FORMAT));
    list_text(l, KEY_VERSION, rela_span_of(RELA_VERSIONS[matrices]));
    list_text(l, KEY_CONFIG, (rela_span){ l->config.data, l->config.len });
    for (size_t i = 0; i < extras->n_sections; i++) {
        const rela_section *s = &extras->sections[i];
        if (plain || strcmp(s->name, RELA_SECTION_STATE) != 0)
            list_text(l, s->name, (rela_span){ s->text, s->len });
    }
    rela_header_sort(h);
    return RELA_OK;
}

/* Every matrix packed, everything else unchanged. */
static rela_status list_packed(listing *l, const rela_net *net, bool bytes, rela_error *err)
{
    const size_t panel = bytes ? RELA_BYTE_PANEL : net->k->panel;
    size_t size = 0;
    if (net->config.d % panel != 0)
        return rela_fail(err, RELA_UNSUP,
                         "a width of %zu; to be packed it must be a multiple of %zu", net->config.d,
                         panel);
    for (size_t i = 0; i < net->params.n; i++) {
        const rela_param *p = &net->params.items[i];
        if (p->matrix)
            size += bytes ? byte_room(p) : panel_room(p, panel);
    }
    char *at = l->packed = rela_mem_alloc(size);
    if (!at)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu bytes of weights", size);
    for (size_t i = 0; i < net->params.n; i++) {
        const rela_param *p = &net->params.items[i];
        if (!p->matrix)
            list_param(l, NULL, p, net->weights);
        else
            at = bytes ? list_bytes(l, net, p, at) : list_panels(l, net, p, at);
    }
    return RELA_OK;
}

/* Appends a tensor, whose name is in the buffer that next_name returned. */
static void list_tensor(listing *l, rela_tensor t, const void *data)
{
    t.data = data;
    l->header.tensors[l->header.n++] = t;
}

static char *next_name(const listing *l)
{
    return l->names[l->header.n];
}

static void list_param(listing *l, const char *array, const rela_param *p, const real *values)
{
    list_tensor(l, rela_param_tensor(next_name(l), array, p), values + p->offset);
}

/* Scales first: they need alignment, which the bytes of whole panels preserve. Returns the end. */
static char *list_bytes(listing *l, const rela_net *net, const rela_param *p, char *to)
{
    const size_t whole = rela_byte_rows(p->rows);
    real *scale = (real *)(void *)to;
    int32_t *sums = (int32_t *)(void *)(to + whole * sizeof *scale);
    int8_t *bytes = (int8_t *)(sums + whole);
    net->k->pack_bytes(bytes, scale, sums, net->weights + p->offset, p->cols, p->rows, p->cols);
    list_tensor(l, rela_param_bytes(next_name(l), p), bytes);
    list_tensor(l, rela_param_scale(next_name(l), p), scale);
    return to + byte_room(p);
}

static char *list_panels(listing *l, const rela_net *net, const rela_param *p, char *to)
{
    net->k->pack((real *)(void *)to, net->weights + p->offset, p->cols, p->rows, p->cols);
    list_tensor(l, rela_param_panels(next_name(l), p, net->k->panel), to);
    return to + panel_room(p, net->k->panel);
}

static void list_text(listing *l, const char *key, rela_span text)
{
    l->header.metadata[l->header.n_metadata++] = (rela_metadata){ rela_span_of(key), text };
}

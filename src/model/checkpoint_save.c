/* SPDX-License-Identifier: MIT */
/* src/model/checkpoint_save.c - writing half of checkpoint.h, and what both halves share. */
#include "model/checkpoint.h"

#include "base/mem.h"
#include "model/checkpoint_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FULL_NAME_MAX = RELA_BLOCK_NAME_MAX + RELA_PARAM_NAME_MAX,
    RESERVED_KEYS = 4 /* format, version, configuration, hash */
};

/* The lists handed to the container. */
/* A matrix in int8 is two tensors. */
typedef struct listing {
    rela_tensor *tensors;
    char (*names)[FULL_NAME_MAX];
    size_t n;
    rela_metadata *metadata;
    size_t n_metadata;
    rela_buffer config;
    char hash[RELA_HASH_TEXT];
    char *packed; /* matrices in int8 with their scales, or in panels */
} listing;

const char *const RELA_VERSIONS[RELA_N_VERSIONS] = {
    [RELA_MATRICES_PLAIN] = "1",
    [RELA_MATRICES_BYTES] = "2",
    [RELA_MATRICES_PANELS] = "3",
};

static rela_status list_all(listing *l, const rela_net *net, const rela_extras *extras,
                            rela_matrices matrices, rela_error *err);
static rela_status list_packed(listing *l, const rela_net *net, bool bytes, rela_error *err);
static void fill_bytes(listing *l, const rela_net *net);
static void fill_panels(listing *l, const rela_net *net);
static void list_block(listing *l, const rela_params *params, const char *block,
                       const real *values);
static void list_text(listing *l, const char *key, const char *text, size_t len);
static int compare_tensors(const void *a, const void *b);
static int compare_metadata(const void *a, const void *b);
static bool span_is(rela_span s, const char *text);

rela_status rela_net_save(const char *path, const rela_net *net, const rela_extras *extras,
                          const rela_checkpoint_options *options, rela_error *err)
{
    static const rela_extras NONE = { 0 };
    listing l = { .n = 0 };
    const rela_matrices matrices = options ? options->matrices : RELA_MATRICES_PLAIN;
    rela_status st = list_all(&l, net, extras ? extras : &NONE, matrices, err);
    const rela_content content = { .tensors = l.tensors,
                                   .n = l.n,
                                   .metadata = l.metadata,
                                   .n_metadata = l.n_metadata,
                                   .n_threads = options ? options->n_threads : 0,
                                   .path = path };
    if (st == RELA_OK)
        st = rela_content_run(l.hash, &content, err);
    else
        st = rela_fail_in(err, st, path);
    if (st == RELA_OK) {
        list_text(&l, RELA_HASH_KEY, l.hash, strlen(l.hash));
        st = rela_safetensors_write(path, l.tensors, l.n, l.metadata, l.n_metadata,
                                    options ? options->max_header : 0, err);
    }
    rela_buffer_free(&l.config);
    rela_mem_free(l.packed);
    rela_mem_free(l.tensors);
    rela_mem_free(l.names);
    rela_mem_free(l.metadata);
    return st;
}

void rela_extras_deinit(rela_extras *e)
{
    for (size_t i = 0; i < e->n_sections; i++) {
        rela_mem_free(e->sections[i].name);
        rela_mem_free(e->sections[i].text);
    }
    rela_mem_free(e->sections);
    for (size_t i = 0; i < e->n_blocks; i++)
        rela_mem_free(e->blocks[i].own);
    *e = (rela_extras){ 0 };
}

rela_status rela_extras_set(rela_extras *e, const char *name, const char *text, size_t len,
                            rela_error *err)
{
    size_t i = 0;
    if (!rela_key_section((rela_span){ name, strlen(name) }))
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
    bool good = len > 0 && len < RELA_BLOCK_NAME_MAX && rela_key_plain((rela_span){ name, len });
    for (size_t i = 0; i < e->n_blocks; i++)
        good = good && strcmp(e->blocks[i].name, name) != 0;
    if (!good || e->n_blocks == RELA_BLOCKS_MAX)
        return rela_fail(err, RELA_ARG, "'%s' cannot be the name of one more block in a model",
                         name);
    rela_state_block *b = &e->blocks[e->n_blocks++];
    *b = (rela_state_block){ .values = values };
    memcpy(b->name, name, len);
    return RELA_OK;
}

real *rela_extras_take(rela_extras *e, const char *name)
{
    for (size_t i = 0; i < e->n_blocks; i++) {
        if (strcmp(e->blocks[i].name, name) != 0 || !e->blocks[i].own)
            continue;
        real *values = e->blocks[i].own;
        e->blocks[i] = e->blocks[--e->n_blocks];
        return values;
    }
    return NULL;
}

bool rela_key_reserved(rela_span key)
{
    return span_is(key, KEY_FORMAT) || span_is(key, KEY_VERSION) || span_is(key, KEY_CONFIG) ||
           span_is(key, RELA_HASH_KEY);
}

bool rela_key_section(rela_span key)
{
    return span_is(key, RELA_SECTION_RECORD) || span_is(key, RELA_SECTION_STATE) ||
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

rela_tensor rela_param_tensor(char *name, size_t size, const char *block, const rela_param *p)
{
    (void)snprintf(name, size, "%s%s%s", block ? block : "", block ? "/" : "", p->name);
    rela_tensor t = { .name = { name, strlen(name) },
                      .dtype = sizeof(real) == sizeof(float) ? RELA_F32 : RELA_F64,
                      .rank = (uint32_t)p->rank,
                      .shape = { p->rank == 1 ? p->cols : p->rows, p->rank == 1 ? 0 : p->cols } };
    return t;
}

rela_tensor rela_param_bytes(char *name, size_t size, const rela_param *p)
{
    rela_tensor t = rela_param_tensor(name, size, NULL, p);
    t.dtype = RELA_I8;
    t.rank = 4;
    t.shape[0] = rela_byte_rows(p->rows) / RELA_BYTE_PANEL;
    t.shape[1] = (p->cols + 3) / 4;
    t.shape[2] = RELA_BYTE_PANEL;
    t.shape[3] = 4;
    return t;
}

rela_tensor rela_param_scale(char *name, size_t size, const rela_param *p)
{
    (void)snprintf(name, size, "%s.scale", p->name);
    rela_tensor t = { .name = { name, strlen(name) },
                      .dtype = sizeof(real) == sizeof(float) ? RELA_F32 : RELA_F64,
                      .rank = 1,
                      .shape = { p->rows } };
    return t;
}

rela_tensor rela_param_panels(char *name, size_t size, const rela_param *p, size_t panel)
{
    rela_tensor t = rela_param_tensor(name, size, NULL, p);
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

/* Sorted, as hash and container want them. */
static rela_status list_all(listing *l, const rela_net *net, const rela_extras *extras,
                            rela_matrices matrices, rela_error *err)
{
    const rela_params *params = &net->params;
    const bool plain = matrices == RELA_MATRICES_PLAIN;
    const size_t n_blocks = plain ? extras->n_blocks : 0;
    const size_t n = params->n * (plain ? 1 + n_blocks : 2);
    l->tensors = rela_mem_array(n, sizeof *l->tensors);
    l->names = rela_mem_array(n, sizeof *l->names);
    l->metadata = rela_mem_array(extras->n_sections + RESERVED_KEYS, sizeof *l->metadata);
    if (!l->tensors || !l->names || !l->metadata)
        return rela_fail(err, RELA_NOMEM, "no memory to list %zu tensors", n);
    rela_status st = rela_config_to_json(&l->config, &net->config, err);
    if (st == RELA_OK && !plain)
        st = list_packed(l, net, matrices == RELA_MATRICES_BYTES, err);
    if (st != RELA_OK)
        return st;
    if (plain)
        list_block(l, params, NULL, net->weights);
    for (size_t i = 0; i < n_blocks; i++)
        list_block(l, params, extras->blocks[i].name, extras->blocks[i].values);
    qsort(l->tensors, l->n, sizeof *l->tensors, compare_tensors);
    list_text(l, KEY_FORMAT, FORMAT_NAME, strlen(FORMAT_NAME));
    list_text(l, KEY_VERSION, RELA_VERSIONS[matrices], strlen(RELA_VERSIONS[matrices]));
    list_text(l, KEY_CONFIG, l->config.data, l->config.len);
    for (size_t i = 0; i < extras->n_sections; i++) {
        const rela_section *s = &extras->sections[i];
        if (plain || strcmp(s->name, RELA_SECTION_STATE) != 0)
            list_text(l, s->name, s->text, s->len);
    }
    qsort(l->metadata, l->n_metadata, sizeof *l->metadata, compare_metadata);
    return RELA_OK;
}

static void list_block(listing *l, const rela_params *params, const char *block, const real *values)
{
    for (size_t i = 0; i < params->n; i++) {
        const rela_param *p = &params->items[i];
        l->tensors[l->n] = rela_param_tensor(l->names[l->n], sizeof l->names[0], block, p);
        l->tensors[l->n++].data = values + p->offset;
    }
}

/* Every matrix packed, everything else as it is. */
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
    l->packed = rela_mem_alloc(size);
    if (!l->packed)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu bytes of weights", size);
    if (bytes)
        fill_bytes(l, net);
    else
        fill_panels(l, net);
    return RELA_OK;
}

/* Scales first: they want alignment, and the bytes of whole panels keep it. */
static void fill_bytes(listing *l, const rela_net *net)
{
    char *at = l->packed;
    for (size_t i = 0; i < net->params.n; i++) {
        const rela_param *p = &net->params.items[i];
        const real *from = net->weights + p->offset;
        char *name = l->names[l->n];
        if (!p->matrix) {
            l->tensors[l->n] = rela_param_tensor(name, sizeof l->names[0], NULL, p);
            l->tensors[l->n++].data = from;
            continue;
        }
        const size_t whole = rela_byte_rows(p->rows);
        real *scale = (real *)(void *)at;
        int32_t *sums = (int32_t *)(void *)(at + whole * sizeof *scale);
        int8_t *bytes = (int8_t *)(sums + whole);
        net->k->pack_bytes(bytes, scale, sums, from, p->cols, p->rows, p->cols);
        l->tensors[l->n] = rela_param_bytes(name, sizeof l->names[0], p);
        l->tensors[l->n++].data = bytes;
        l->tensors[l->n] = rela_param_scale(l->names[l->n], sizeof l->names[0], p);
        l->tensors[l->n++].data = scale;
        at += byte_room(p);
    }
}

static void fill_panels(listing *l, const rela_net *net)
{
    char *at = l->packed;
    for (size_t i = 0; i < net->params.n; i++) {
        const rela_param *p = &net->params.items[i];
        const real *from = net->weights + p->offset;
        rela_tensor *t = &l->tensors[l->n];
        char *name = l->names[l->n++];
        if (!p->matrix) {
            *t = rela_param_tensor(name, sizeof l->names[0], NULL, p);
            t->data = from;
            continue;
        }
        *t = rela_param_panels(name, sizeof l->names[0], p, net->k->panel);
        t->data = at;
        net->k->pack((real *)(void *)at, from, p->cols, p->rows, p->cols);
        at += panel_room(p, net->k->panel);
    }
}

static void list_text(listing *l, const char *key, const char *text, size_t len)
{
    l->metadata[l->n_metadata++] =
        (rela_metadata){ .key = { key, strlen(key) }, .value = { text, len } };
}

static int compare_tensors(const void *a, const void *b)
{
    return rela_span_compare(((const rela_tensor *)a)->name, ((const rela_tensor *)b)->name);
}

static int compare_metadata(const void *a, const void *b)
{
    return rela_span_compare(((const rela_metadata *)a)->key, ((const rela_metadata *)b)->key);
}

static bool span_is(rela_span s, const char *text)
{
    const size_t n = strlen(text);
    return s.len == n && memcmp(s.text, text, n) == 0;
}

/* SPDX-License-Identifier: MIT */
/* src/format/checkpoint.c - reading half of checkpoint.h; the checks are in checkpoint_check.c. */
#include "format/checkpoint.h"

#include "base/mem.h"
#include "format/checkpoint_keys.h"

#include <string.h>

_Static_assert(sizeof(size_t) >= 8, "models of more than 4 GiB need a 64-bit machine");

static rela_status read_to(const rela_checkpoint *c, void *const *to, const char *mapped,
                           int n_threads, rela_error *err);
static rela_status load_arrays(real **base, rela_extras *extras, const rela_checkpoint *c,
                               rela_error *err);
static real *new_array(const rela_params *p);

rela_status rela_net_load(rela_net *net, rela_extras *extras, const char *path,
                          const rela_checkpoint_options *options, rela_error *err)
{
    const rela_checkpoint_options o = options ? *options : (rela_checkpoint_options){ 0 };
    rela_checkpoint *c = NULL;
    real *base[1 + RELA_ARRAYS_MAX] = { NULL };
    *net = (rela_net){ .weights = NULL };
    if (extras)
        *extras = (rela_extras){ 0 };
    rela_status st = rela_checkpoint_open(&c, path, &o, err);
    if (!c)
        return st;
    if (c->matrices != RELA_MATRICES_PLAIN) {
        rela_checkpoint_close(c);
        return rela_fail(err, RELA_FORMAT, "%s: " RELA_TRANSLATES_ONLY, path);
    }
    base[0] = new_array(&c->params);
    if (!base[0])
        st = rela_fail(err, RELA_NOMEM, "%s: no memory for a model of %zu numbers", path,
                       c->params.total);
    if (st == RELA_OK && o.arrays && extras)
        st = load_arrays(base, extras, c, err);
    st = st ? st : rela_checkpoint_read(c, base, NULL, o.n_threads, err);
    if (st == RELA_OK && extras)
        st = rela_checkpoint_texts(extras, c, err);
    if (st == RELA_OK) {
        st = rela_net_adopt(net, &c->config, &c->params, base[0], err);
        base[0] = NULL; /* given, like the parameters */
    }
    if (st != RELA_OK && extras)
        rela_extras_deinit(extras);
    rela_mem_free(base[0]);
    rela_checkpoint_close(c);
    return st;
}

rela_status rela_checkpoint_open(rela_checkpoint **out, const char *path,
                                 const rela_checkpoint_options *options, rela_error *err)
{
    const rela_checkpoint_options o = options ? *options : (rela_checkpoint_options){ 0 };
    *out = NULL;
    rela_checkpoint *c = rela_mem_zalloc(sizeof *c);
    if (!c)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to open it", path);
    c->path = rela_str_copy(path, strlen(path));
    rela_status st =
        c->path ? RELA_OK : rela_fail(err, RELA_NOMEM, "%s: no memory to open it", path);
    st =
        st ? st : rela_safetensors_open_memory(&c->file, path, o.memory, o.part, o.max_header, err);
    if (st == RELA_OK) {
        c->header = *rela_safetensors_header(c->file);
        c->plain = o.texts != NULL;
    }
    if (c->plain) {
        c->header.metadata = o.texts;
        c->header.n_metadata = o.n_texts;
    }
    if (st == RELA_OK && (st = rela_checkpoint_check(c, err)) != RELA_OK)
        st = rela_fail_in(err, st, path);
    if (st != RELA_OK) {
        rela_checkpoint_close(c);
        return st;
    }
    if (!c->hash[0] && !c->plain)
        rela_log_line(o.log, RELA_LOG_WARNING,
                      "%s: has no content hash, so damage to its numbers would go unnoticed", path);
    *out = c;
    return RELA_OK;
}

void rela_checkpoint_close(rela_checkpoint *c)
{
    if (!c)
        return;
    rela_safetensors_close(c->file);
    rela_params_deinit(&c->params);
    rela_mem_free(c->roles);
    rela_mem_free(c->path);
    rela_mem_free(c);
}

/* Where the numbers of a tensor go; NULL: nowhere. */
static void *place_of(const rela_checkpoint *c, const rela_tensor_role *s, real *const *base,
                      const rela_weight *w)
{
    const rela_bytes *bytes = w ? &w[s->param].bytes : NULL;
    real *array = base ? base[s->array] : NULL;
    switch (s->part) {
    case PART_REALS:
        return array ? array + c->params.items[s->param].offset : NULL;
    case PART_BYTES:
        return bytes ? rela_writable(bytes->p) : NULL;
    case PART_SCALE:
        return bytes ? rela_writable(bytes->scale) : NULL;
    default: /* panels are mapped */
        return NULL;
    }
}

rela_status rela_checkpoint_read(const rela_checkpoint *c, real *const *base, const rela_weight *w,
                                 int n_threads, rela_error *err)
{
    void **to = rela_mem_array(c->header.n, sizeof *to);
    if (!to)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to read it", c->path);
    for (size_t i = 0; i < c->header.n; i++)
        to[i] = place_of(c, &c->roles[i], base, w);
    const rela_status st = read_to(c, to, NULL, n_threads, err);
    rela_mem_free(to);
    return st;
}

rela_status rela_checkpoint_map_panels(rela_checkpoint *c, real *weights, rela_weight *w,
                                       int n_threads, rela_error *err)
{
    const char *data = NULL;
    rela_status st = rela_safetensors_map(c->file, &data, err);
    st = st ? st : read_to(c, NULL, data, n_threads, err);
    for (size_t i = 0; st == RELA_OK && i < c->header.n; i++) {
        const rela_tensor_role *s = &c->roles[i];
        const rela_param *param = &c->params.items[s->param];
        const char *at = data + c->header.tensors[i].begin;
        if (s->part == PART_PANELS)
            w[s->param].reals = (const real *)(const void *)at;
        else
            memcpy(weights + param->offset, at, rela_param_count(param) * sizeof *weights);
    }
    return st;
}

rela_status rela_checkpoint_texts(rela_extras *extras, const rela_checkpoint *c, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < c->header.n_metadata && st == RELA_OK; i++) {
        const rela_metadata *m = &c->header.metadata[i];
        char name[RELA_SECTION_NAME_MAX];
        if (!rela_key_section(m->key))
            continue;
        memcpy(name, m->key.text, m->key.len);
        name[m->key.len] = '\0';
        st = rela_extras_set(extras, name, m->value.text, m->value.len, err);
    }
    return st;
}

/* Reads (or walks the mapped data), checks and compares with the hash of the header. */
static rela_status read_to(const rela_checkpoint *c, void *const *to, const char *mapped,
                           int n_threads, rela_error *err)
{
    char hash[RELA_HASH_TEXT] = "";
    const rela_content content = { .header = c->header,
                                   .file = c->file,
                                   .mapped = mapped,
                                   .to = to,
                                   .n_threads = n_threads,
                                   .path = c->path };
    rela_status st = rela_content_run(hash, &content, err);
    if (st == RELA_OK && c->hash[0] && strcmp(hash, c->hash) != 0)
        st = rela_fail(err, RELA_FORMAT,
                       "%s: damaged; copy it again (contents have the hash %s, expected %s)",
                       c->path, hash, c->hash);
    return st ? st : rela_safetensors_check(c->file, err);
}

static rela_status load_arrays(real **base, rela_extras *extras, const rela_checkpoint *c,
                               rela_error *err)
{
    for (size_t i = 0; i < c->n_arrays; i++) {
        rela_state_array *b = &extras->arrays[i];
        memcpy(b->name, c->arrays[i], sizeof b->name);
        b->values = b->own = base[i + 1] = new_array(&c->params);
        extras->n_arrays = i + 1;
        if (!b->own)
            return rela_fail(err, RELA_NOMEM, "%s: no memory for the array '%s'", c->path, b->name);
    }
    return RELA_OK;
}

/* Zero in the padding between parameters; the rest will be read. */
static real *new_array(const rela_params *p)
{
    real *array = rela_mem_array(p->total, sizeof *array);
    for (size_t i = 0; array && i < p->n; i++) {
        const size_t end = p->items[i].offset + rela_param_count(&p->items[i]);
        const size_t next = i + 1 < p->n ? p->items[i + 1].offset : p->total;
        memset(array + end, 0, (next - end) * sizeof *array);
    }
    return array;
}

/* SPDX-License-Identifier: MIT */
/* src/model/checkpoint.c - reading half of checkpoint.h. */
#include "model/checkpoint.h"

#include "base/json.h"
#include "base/mem.h"
#include "model/checkpoint_keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(size_t) >= 8, "models of more than 4 GiB need a 64-bit machine");

enum { SHAPE_TEXT = 256, FULL_NAME_MAX = RELA_BLOCK_NAME_MAX + RELA_PARAM_NAME_MAX };

/* Which parameter of which block a tensor of the file is. */
typedef enum slot_part { PART_REALS, PART_BYTES, PART_SCALE, PART_PANELS } slot_part;

typedef struct slot {
    bool known;
    uint8_t block; /* 0: the weights */
    uint8_t part;  /* slot_part */
    uint32_t param;
} slot;

struct rela_checkpoint {
    rela_safetensors *file;
    char *path;
    const rela_metadata *texts; /* of the file, or those the caller has given for it */
    size_t n_texts;
    bool plain; /* the latter */
    rela_matrices matrices;
    size_t panel; /* rows of a panel, if they are packed so */
    rela_config config;
    rela_params params;
    char blocks[RELA_BLOCKS_MAX][RELA_BLOCK_NAME_MAX];
    size_t n_blocks;
    slot *slots; /* one per tensor of the file */
    char hash[RELA_HASH_TEXT];
};

static rela_status check_all(rela_checkpoint *c, rela_error *err);
static const rela_metadata *find_text(const rela_checkpoint *c, const char *key);
static rela_status check_keys(rela_checkpoint *c, rela_error *err);
static rela_status check_panel(rela_checkpoint *c, rela_error *err);
static rela_status read_config(rela_checkpoint *c, rela_error *err);
static rela_status read_hash(rela_checkpoint *c, rela_error *err);
static rela_status find_blocks(rela_checkpoint *c, rela_error *err);
static rela_status check_tensors(rela_checkpoint *c, rela_error *err);
static rela_status check_param(rela_checkpoint *c, size_t block, size_t param, rela_error *err);
static rela_status check_tensor(rela_checkpoint *c, const rela_tensor *want, slot is,
                                rela_error *err);
static rela_status read_to(const rela_checkpoint *c, void *const *to, const char *mapped,
                           int n_threads, rela_error *err);
static void describe(char out[SHAPE_TEXT], const rela_tensor *t);
static rela_status check_vocabulary(const rela_checkpoint *c, const char *key, size_t size,
                                    rela_error *err);
static rela_status check_json(const rela_checkpoint *c, const char *key, rela_error *err);
static rela_status load_blocks(real **base, rela_extras *extras, const rela_checkpoint *c,
                               rela_error *err);
static real *new_block(const rela_params *p);

rela_status rela_net_load(rela_net *net, rela_extras *extras, const char *path,
                          const rela_checkpoint_options *options, rela_error *err)
{
    const rela_checkpoint_options o = options ? *options : (rela_checkpoint_options){ 0 };
    rela_checkpoint *c = NULL;
    real *base[1 + RELA_BLOCKS_MAX] = { NULL };
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
    base[0] = new_block(&c->params);
    if (!base[0])
        st = rela_fail(err, RELA_NOMEM, "%s: no memory for a model of %zu numbers", path,
                       c->params.total);
    if (st == RELA_OK && o.blocks && extras)
        st = load_blocks(base, extras, c, err);
    st = st ? st : rela_checkpoint_read(c, base, o.n_threads, err);
    if (st == RELA_OK && extras)
        st = rela_checkpoint_texts(extras, c, err);
    if (st == RELA_OK) {
        st = rela_net_adopt(net, &c->config, &c->params, base[0], err);
        base[0] = NULL; /* given, as the parameters */
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
    st = st ? st : rela_safetensors_open_part(&c->file, path, o.part, o.max_header, err);
    if (st == RELA_OK) {
        c->plain = o.texts != NULL;
        c->texts = c->plain ? o.texts : rela_safetensors_metadata_at(c->file, 0);
        c->n_texts = c->plain ? o.n_texts : rela_safetensors_n_metadata(c->file);
    }
    if (st == RELA_OK && (st = check_all(c, err)) != RELA_OK)
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
    rela_mem_free(c->slots);
    rela_mem_free(c->path);
    rela_mem_free(c);
}

rela_status rela_checkpoint_read(const rela_checkpoint *c, real *const *base, int n_threads,
                                 rela_error *err)
{
    const size_t n = rela_safetensors_count(c->file);
    void **to = rela_mem_array(n, sizeof *to);
    if (!to)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to read it", c->path);
    for (size_t i = 0; i < n; i++) {
        real *block = base && c->matrices == RELA_MATRICES_PLAIN ? base[c->slots[i].block] : NULL;
        to[i] = block ? block + c->params.items[c->slots[i].param].offset : NULL;
    }
    const rela_status st = read_to(c, to, NULL, n_threads, err);
    rela_mem_free(to);
    return st;
}

rela_status rela_checkpoint_read_int8(const rela_checkpoint *c, real *weights, const rela_weight *w,
                                      int n_threads, rela_error *err)
{
    const size_t n = rela_safetensors_count(c->file);
    void **to = rela_mem_array(n, sizeof *to);
    if (!to)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to read it", c->path);
    for (size_t i = 0; i < n; i++) {
        const slot *s = &c->slots[i];
        const rela_bytes *b = &w[s->param].bytes;
        if (s->part == PART_REALS)
            to[i] = weights + c->params.items[s->param].offset;
        else
            to[i] =
                rela_writable(s->part == PART_BYTES ? (const void *)b->p : (const void *)b->scale);
    }
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
    for (size_t i = 0; st == RELA_OK && i < rela_safetensors_count(c->file); i++) {
        const slot *s = &c->slots[i];
        const rela_param *param = &c->params.items[s->param];
        const char *at = data + rela_safetensors_at(c->file, i)->begin;
        if (s->part == PART_PANELS)
            w[s->param].reals = (const real *)(const void *)at;
        else
            memcpy(weights + param->offset, at, rela_param_count(param) * sizeof *weights);
    }
    return st;
}

size_t rela_checkpoint_panel(const rela_checkpoint *c)
{
    return c->panel;
}

rela_matrices rela_checkpoint_matrices(const rela_checkpoint *c)
{
    return c->matrices;
}

const rela_config *rela_checkpoint_config(const rela_checkpoint *c)
{
    return &c->config;
}

const rela_params *rela_checkpoint_params(const rela_checkpoint *c)
{
    return &c->params;
}

const rela_safetensors *rela_checkpoint_file(const rela_checkpoint *c)
{
    return c->file;
}

const char *rela_checkpoint_block(const rela_checkpoint *c, size_t i)
{
    return i < c->n_blocks ? c->blocks[i] : NULL;
}

const char *rela_checkpoint_hash(const rela_checkpoint *c)
{
    return c->hash;
}

/* Reads (or looks at what is mapped), checks and compares with the hash of the header. */
static rela_status read_to(const rela_checkpoint *c, void *const *to, const char *mapped,
                           int n_threads, rela_error *err)
{
    char hash[RELA_HASH_TEXT] = "";
    const rela_content content = { .tensors = rela_safetensors_at(c->file, 0),
                                   .n = rela_safetensors_count(c->file),
                                   .metadata = rela_safetensors_metadata_at(c->file, 0),
                                   .n_metadata = rela_safetensors_n_metadata(c->file),
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

static rela_status check_all(rela_checkpoint *c, rela_error *err)
{
    rela_status st = c->plain ? RELA_OK : check_keys(c, err);
    st = st ? st : read_config(c, err);
    if (st == RELA_OK)
        st = rela_params_of(&c->params, &c->config, c->matrices != RELA_MATRICES_PLAIN, err);
    st = st ? st : find_blocks(c, err);
    st = st ? st : check_panel(c, err);
    st = st ? st : check_tensors(c, err);
    st = st ? st : check_vocabulary(c, RELA_SECTION_VOCAB_SRC, c->config.vocab_src, err);
    st = st ? st : check_vocabulary(c, RELA_SECTION_VOCAB_TGT, c->config.vocab_tgt, err);
    st = st ? st : check_json(c, RELA_SECTION_RECORD, err);
    st = st ? st : check_json(c, RELA_SECTION_STATE, err);
    return st ? st : read_hash(c, err);
}

/* Which panels a file has is seen at its first matrix; the others must have the same. */
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
    const rela_tensor *t = rela_safetensors_find(c->file, c->params.items[i].name);
    const uint64_t panel = t && t->rank == 3 ? t->shape[2] : RELA_BYTE_PANEL;
    c->panel = c->matrices == RELA_MATRICES_BYTES ? RELA_BYTE_PANEL
               : panel >= 1 && panel <= PANEL_MAX ? (size_t)panel
                                                  : RELA_BYTE_PANEL;
    if (c->n_blocks || c->config.d % c->panel != 0)
        return rela_fail(err, RELA_FORMAT,
                         "packed, but with further blocks or a width that is no multiple of %zu",
                         c->panel);
    /* Matrices are used where they are mapped; all tensors are reals, so one check does. */
    const uint64_t begin = rela_safetensors_begin(c->file);
    if (c->matrices == RELA_MATRICES_PANELS && begin % sizeof(real) != 0)
        return rela_fail(err, RELA_FORMAT,
                         "its numbers begin at byte %" PRIu64
                         "; to be mapped they must begin at a multiple of %zu",
                         begin, sizeof(real));
    return RELA_OK;
}

static rela_status check_keys(rela_checkpoint *c, rela_error *err)
{
    const rela_metadata *format = rela_safetensors_metadata_find(c->file, KEY_FORMAT);
    const rela_metadata *version = rela_safetensors_metadata_find(c->file, KEY_VERSION);
    if (!format || format->value.len != strlen(FORMAT_NAME) ||
        memcmp(format->value.text, FORMAT_NAME, format->value.len) != 0)
        return rela_fail(err, RELA_FORMAT,
                         "a safetensors file, but not a model of rela: its '" KEY_FORMAT
                         "' is not '" FORMAT_NAME "'");
    const rela_span have = version ? version->value : (rela_span){ "", 0 };
    size_t form = 0;
    while (form < RELA_N_VERSIONS &&
           rela_span_compare(have, (rela_span){ RELA_VERSIONS[form], 1 }) != 0)
        form++;
    c->matrices = (rela_matrices)form;
    if (form == RELA_N_VERSIONS)
        return rela_fail(err, RELA_FORMAT,
                         "'" KEY_VERSION "' is '%.*s'; this program reads 1, 2 and 3",
                         (int)(have.len < 16 ? have.len : 16), have.text);
    for (size_t i = 0; i < rela_safetensors_n_metadata(c->file); i++) {
        const rela_span key = rela_safetensors_metadata_at(c->file, i)->key;
        if (!rela_key_reserved(key) && !rela_key_section(key))
            return rela_fail(err, RELA_FORMAT, "unknown text '%.*s' in the header",
                             (int)(key.len < 64 ? key.len : 64), key.text);
    }
    return RELA_OK;
}

static const rela_metadata *find_text(const rela_checkpoint *c, const char *key)
{
    for (size_t i = 0; i < c->n_texts; i++)
        if (rela_span_compare(c->texts[i].key, (rela_span){ key, strlen(key) }) == 0)
            return &c->texts[i];
    return NULL;
}

static rela_status read_config(rela_checkpoint *c, rela_error *err)
{
    const rela_metadata *m = find_text(c, KEY_CONFIG);
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
    const rela_metadata *m = find_text(c, RELA_HASH_KEY);
    if (!m)
        return RELA_OK;
    if (m->value.len < 1 || m->value.len >= sizeof c->hash ||
        memchr(m->value.text, '\0', m->value.len))
        return rela_fail(err, RELA_FORMAT, "the content hash in the header is malformed");
    memcpy(c->hash, m->value.text, m->value.len);
    return RELA_OK;
}

/* What stands before a '/' in the name of a tensor is the name of a block. */
static rela_status find_blocks(rela_checkpoint *c, rela_error *err)
{
    for (size_t i = 0; i < rela_safetensors_count(c->file); i++) {
        const rela_span name = rela_safetensors_at(c->file, i)->name;
        const char *slash = memchr(name.text, '/', name.len);
        const size_t len = slash ? (size_t)(slash - name.text) : 0;
        if (!slash)
            continue;
        if (len < 1 || len >= RELA_BLOCK_NAME_MAX || !rela_key_plain((rela_span){ name.text, len }))
            return rela_fail(err, RELA_FORMAT,
                             "tensor '%.*s': not a parameter of this configuration", (int)name.len,
                             name.text);
        size_t b = 0;
        while (b < c->n_blocks &&
               (strlen(c->blocks[b]) != len || memcmp(c->blocks[b], name.text, len) != 0))
            b++;
        if (b < c->n_blocks)
            continue;
        if (b == RELA_BLOCKS_MAX)
            return rela_fail(err, RELA_FORMAT, "tensor '%.*s': more than %d blocks", (int)name.len,
                             name.text, RELA_BLOCKS_MAX);
        memcpy(c->blocks[c->n_blocks++], name.text, len);
    }
    return RELA_OK;
}

static rela_status check_tensors(rela_checkpoint *c, rela_error *err)
{
    const size_t n = rela_safetensors_count(c->file);
    c->slots = rela_mem_zalloc(n * sizeof *c->slots);
    if (!c->slots)
        return rela_fail(err, RELA_NOMEM, "no memory for a list of %zu tensors", n);
    for (size_t block = 0; block <= c->n_blocks; block++)
        for (size_t i = 0; i < c->params.n; i++) {
            const rela_status st = check_param(c, block, i, err);
            if (st != RELA_OK)
                return st;
        }
    for (size_t i = 0; i < n; i++) {
        const rela_span name = rela_safetensors_at(c->file, i)->name;
        if (!c->slots[i].known)
            return rela_fail(err, RELA_FORMAT,
                             "tensor '%.*s': not a parameter of this configuration", (int)name.len,
                             name.text);
    }
    return RELA_OK;
}

static rela_status check_param(rela_checkpoint *c, size_t block, size_t param, rela_error *err)
{
    char name[FULL_NAME_MAX];
    const rela_param *p = &c->params.items[param];
    slot is = { .known = true, .block = (uint8_t)block, .param = (uint32_t)param };
    rela_tensor want = rela_param_tensor(name, sizeof name, block ? c->blocks[block - 1] : NULL, p);
    if (!p->packed)
        return check_tensor(c, &want, is, err);
    if (c->matrices == RELA_MATRICES_PANELS) {
        want = rela_param_panels(name, sizeof name, p, c->panel);
        is.part = PART_PANELS;
        return check_tensor(c, &want, is, err);
    }
    want = rela_param_bytes(name, sizeof name, p);
    is.part = PART_BYTES;
    const rela_status st = check_tensor(c, &want, is, err);
    if (st != RELA_OK)
        return st;
    want = rela_param_scale(name, sizeof name, p);
    is.part = PART_SCALE;
    return check_tensor(c, &want, is, err);
}

static rela_status check_tensor(rela_checkpoint *c, const rela_tensor *want, slot is,
                                rela_error *err)
{
    char want_text[SHAPE_TEXT], have_text[SHAPE_TEXT];
    const char *name = want->name.text;
    const rela_tensor *have = rela_safetensors_find(c->file, name);
    describe(want_text, want);
    if (!have)
        return rela_fail(err, RELA_FORMAT, "tensor '%s' is missing; expected %s", name, want_text);
    describe(have_text, have);
    if (strcmp(want_text, have_text) != 0)
        return rela_fail(err, RELA_FORMAT, "tensor '%s' is %s; expected %s", name, have_text,
                         want_text);
    c->slots[have - rela_safetensors_at(c->file, 0)] = is;
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
    const rela_metadata *m = find_text(c, key);
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
    const rela_metadata *m = find_text(c, key);
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

static rela_status load_blocks(real **base, rela_extras *extras, const rela_checkpoint *c,
                               rela_error *err)
{
    for (size_t i = 0; i < c->n_blocks; i++) {
        rela_state_block *b = &extras->blocks[i];
        memcpy(b->name, c->blocks[i], sizeof b->name);
        b->values = b->own = base[i + 1] = new_block(&c->params);
        extras->n_blocks = i + 1;
        if (!b->own)
            return rela_fail(err, RELA_NOMEM, "%s: no memory for the block '%s'", c->path, b->name);
    }
    return RELA_OK;
}

rela_status rela_checkpoint_texts(rela_extras *extras, const rela_checkpoint *c, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < c->n_texts && st == RELA_OK; i++) {
        const rela_metadata *m = &c->texts[i];
        char name[RELA_SECTION_NAME_MAX];
        if (!rela_key_section(m->key))
            continue;
        memcpy(name, m->key.text, m->key.len);
        name[m->key.len] = '\0';
        st = rela_extras_set(extras, name, m->value.text, m->value.len, err);
    }
    return st;
}

/* With zeros in the gaps between parameters; the rest will be read. */
static real *new_block(const rela_params *p)
{
    real *block = rela_mem_array(p->total, sizeof *block);
    for (size_t i = 0; block && i < p->n; i++) {
        const size_t end = p->items[i].offset + rela_param_count(&p->items[i]);
        const size_t next = i + 1 < p->n ? p->items[i + 1].offset : p->total;
        memset(block + end, 0, (next - end) * sizeof *block);
    }
    return block;
}

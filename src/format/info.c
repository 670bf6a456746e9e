/* SPDX-License-Identifier: MIT */
/* src/format/info.c - rela_model_info of rela/model.h: a model file described as text and as
 * JSON. */
#include "rela/model.h"

#include "base/json.h"
#include "base/sized.h"
#include "base/utf8.h"
#include "format/card.h"
#include "format/checkpoint_keys.h"
#include "format/pair.h"

#include <inttypes.h>
#include <string.h>

enum { GROUP_NAME = 24 };

/* Parameters that belong together: "embed", "enc.0". */
typedef struct group {
    char name[GROUP_NAME];
    size_t tensors, count;
} group;

static rela_status describe(rela_buffer *out, const char *path, int part,
                            const rela_model_info_options *o, rela_error *err);
static rela_status describe_pair(rela_buffer *out, const char *path,
                                 const rela_model_info_options *o, rela_error *err);
static rela_status write_table(rela_buffer *out, const char *path, const rela_checkpoint *c,
                               rela_error *err);
static rela_status write_json(rela_buffer *out, const char *path, const rela_checkpoint *c,
                              rela_error *err);
static rela_status table_config(rela_buffer *out, const rela_checkpoint *c, rela_error *err);
static rela_status table_texts(rela_buffer *out, const rela_checkpoint *c, rela_error *err);
static rela_status json_texts(rela_buffer *out, const rela_checkpoint *c, rela_error *err);
static rela_status json_raw(rela_buffer *out, const rela_checkpoint *c, const char *key,
                            rela_error *err);
static bool next_group(group *g, const rela_params *p, size_t *at);
static rela_status table_text(rela_buffer *out, const char *label, const char *text,
                              rela_error *err);

void rela_model_info_options_init(rela_model_info_options *o, size_t size)
{
    const rela_model_info_options defaults = { .struct_size = size };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_model_info(rela_buffer *out, const char *path,
                            const rela_model_info_options *options, rela_error *err)
{
    rela_model_info_options o;
    rela_model_info_options_init(&o, sizeof o);
    rela_status st = rela_sized_take(&o, sizeof o, options, "rela_model_info_options", err);
    if (st != RELA_OK)
        return st;
    if (o.max_header < 0)
        return rela_fail(err, RELA_ARG, "max_header is negative");
    bool pair = false;
    st = rela_pair_check(&pair, path, err);
    if (st == RELA_OK && pair)
        return describe_pair(out, path, &o, err);
    st = st ? st : describe(out, path, 0, &o, err);
    return st == RELA_OK && o.json ? rela_buffer_append_char(out, '\n', err) : st;
}

/* part: as in rela_checkpoint_options. */
static rela_status describe(rela_buffer *out, const char *path, int part,
                            const rela_model_info_options *o, rela_error *err)
{
    const rela_checkpoint_options how = { .n_threads = o->n_threads,
                                          .part = part,
                                          .max_header = (size_t)o->max_header };
    rela_checkpoint *c = NULL;
    rela_status st = rela_checkpoint_open(&c, path, &how, err);
    st = st ? st : rela_checkpoint_read(c, NULL, NULL, how.n_threads, err);
    if (st == RELA_OK)
        st = o->json ? write_json(out, path, c, err) : write_table(out, path, c, err);
    rela_checkpoint_close(c);
    return st;
}

static rela_status describe_pair(rela_buffer *out, const char *path,
                                 const rela_model_info_options *o, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, o->json ? "{\"file\": " : "", err);
    if (o->json) {
        st = st ? st : rela_json_quote(out, path, strlen(path), err);
        st = st ? st
                : rela_buffer_append_text(out, ", \"format\": \"rela pair\", \"parts\": [", err);
    }
    for (int part = 1; part <= 2 && st == RELA_OK; part++) {
        const char *gap = part == 1 ? "" : o->json ? ", " : "\n";
        st = rela_buffer_append_text(out, gap, err);
        if (st == RELA_OK && !o->json)
            st = rela_buffer_printf(out, err, "model %d of a pair\n", part);
        st = st ? st : describe(out, path, part, o, err);
    }
    return st == RELA_OK && o->json ? rela_buffer_append_text(out, "]}\n", err) : st;
}

static rela_status write_table(rela_buffer *out, const char *path, const rela_checkpoint *c,
                               rela_error *err)
{
    const rela_params *p = &c->params;
    const bool state = rela_header_text(&c->header, RELA_SECTION_STATE) != NULL;
    static const char *const FORMS[] = { "model", "model in int8", "model to be mapped" };
    rela_status st = table_text(out, "file            ", path, err);
    st = st ? st
            : rela_buffer_printf(out, err, "format          " MODEL_FORMAT " %s, %s\n",
                                 RELA_VERSIONS[c->matrices],
                                 state ? "checkpoint" : FORMS[c->matrices]);
    st = st ? st
            : rela_buffer_printf(out, err, "bytes           %" PRIu64 "\nhash            %s\n",
                                 rela_safetensors_size(c->file),
                                 *c->hash ? c->hash : "none: damage would go unnoticed");
    st = st ? st : table_config(out, c, err);
    st = st ? st
            : rela_buffer_printf(out, err, "parameters      %zu in %zu tensors\n", p->count, p->n);
    group g;
    for (size_t at = 0; st == RELA_OK && next_group(&g, p, &at);)
        st = rela_buffer_printf(out, err, "  %-18s  %12zu in %zu\n", g.name, g.count, g.tensors);
    for (size_t i = 0; st == RELA_OK && i < c->n_arrays; i++)
        st = table_text(out, "further array   ", c->arrays[i], err);
    st = st ? st : table_texts(out, c, err);
    const rela_metadata *record = rela_header_text(&c->header, RELA_SECTION_RECORD);
    return st == RELA_OK && record ? rela_card_table(out, record->value, err) : st;
}

/* A line with a text that may hold anything. */
static rela_status table_text(rela_buffer *out, const char *label, const char *text,
                              rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, label, err);
    st = st ? st : rela_utf8_append_printable(out, text, strlen(text), err);
    return st ? st : rela_buffer_append_char(out, '\n', err);
}

/* One line per key, taken from the JSON form, so that the table never lags behind it. */
static rela_status table_config(rela_buffer *out, const rela_checkpoint *c, rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_json j;
    rela_span key;
    bool more = false;
    rela_status st = rela_buffer_append_text(out, "configuration\n", err);
    st = st ? st : rela_config_to_json(&text, &c->config, err);
    st = st ? st : rela_json_start(&j, text.data, text.len, err);
    st = st ? st : rela_json_object(&j, err);
    while (st == RELA_OK && (st = rela_json_key(&j, &key, &more, err)) == RELA_OK && more) {
        const char *value = j.at;
        if ((st = rela_json_skip(&j, err)) != RELA_OK)
            break;
        const size_t quote = *value == '"'; /* names have nothing to unescape */
        st = rela_buffer_printf(out, err, "  %-18.*s  %12.*s\n", (int)key.len, key.text,
                                (int)((size_t)(j.at - value) - 2 * quote), value + quote);
    }
    rela_buffer_free(&text);
    return st;
}

static rela_status table_texts(rela_buffer *out, const rela_checkpoint *c, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, "texts\n", err);
    for (size_t i = 0; i < c->header.n_metadata && st == RELA_OK; i++) {
        const rela_metadata *m = &c->header.metadata[i];
        const size_t lines = rela_count_lines(m->value);
        if (rela_key_text(m->key))
            st = rela_buffer_printf(out, err, "  %-18.*s  %12zu bytes, %zu line%s\n",
                                    (int)m->key.len, m->key.text, m->value.len, lines,
                                    rela_plural(lines));
    }
    return st;
}

static rela_status write_json(rela_buffer *out, const char *path, const rela_checkpoint *c,
                              rela_error *err)
{
    const rela_params *p = &c->params;
    rela_status st = rela_buffer_append_text(out, "{\"file\": ", err);
    st = st ? st : rela_json_quote(out, path, strlen(path), err);
    st = st ? st
            : rela_buffer_printf(out, err,
                                 ", \"format\": \"" MODEL_FORMAT "\", \"version\": %s"
                                 ", \"bytes\": %" PRIu64 ", \"hash\": ",
                                 RELA_VERSIONS[c->matrices], rela_safetensors_size(c->file));
    st = st         ? st
         : *c->hash ? rela_json_quote(out, c->hash, strlen(c->hash), err)
                    : rela_buffer_append_text(out, "null", err);
    st = st ? st : rela_buffer_append_text(out, ", \"config\": ", err);
    st = st ? st : rela_config_to_json(out, &c->config, err);
    st = st ? st
            : rela_buffer_printf(
                  out, err, ", \"parameters\": {\"count\": %zu, \"tensors\": %zu, \"blocks\": {",
                  p->count, p->n);
    group g;
    for (size_t at = 0, i = 0; st == RELA_OK && next_group(&g, p, &at); i++)
        st = rela_buffer_printf(out, err, "%s\"%s\": %zu", i ? ", " : "", g.name, g.count);
    st = st ? st : rela_buffer_append_text(out, "}}, \"further\": [", err);
    for (size_t i = 0; st == RELA_OK && i < c->n_arrays; i++) {
        st = i ? rela_buffer_append_text(out, ", ", err) : RELA_OK;
        st = st ? st : rela_json_quote(out, c->arrays[i], strlen(c->arrays[i]), err);
    }
    st = st ? st : json_texts(out, c, err);
    const rela_metadata *record = rela_header_text(&c->header, RELA_SECTION_RECORD);
    st = st ? st : rela_buffer_append_text(out, ", \"card\": ", err);
    if (st == RELA_OK)
        st = record ? rela_card_json(out, record->value, err)
                    : rela_buffer_append_text(out, "null", err);
    st = st ? st : rela_buffer_append_text(out, ", \"record\": ", err);
    st = st ? st : json_raw(out, c, RELA_SECTION_RECORD, err);
    st = st ? st : rela_buffer_append_text(out, ", \"state\": ", err);
    st = st ? st : json_raw(out, c, RELA_SECTION_STATE, err);
    return st ? st : rela_buffer_append_text(out, "}", err);
}

static rela_status json_texts(rela_buffer *out, const rela_checkpoint *c, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, "], \"texts\": {", err);
    bool first = true;
    for (size_t i = 0; i < c->header.n_metadata && st == RELA_OK; i++) {
        const rela_metadata *m = &c->header.metadata[i];
        if (!rela_key_text(m->key))
            continue;
        st = first ? RELA_OK : rela_buffer_append_text(out, ", ", err);
        st = st ? st : rela_json_quote(out, m->key.text, m->key.len, err);
        st = st ? st
                : rela_buffer_printf(out, err, ": {\"bytes\": %zu, \"lines\": %zu}", m->value.len,
                                     rela_count_lines(m->value));
        first = false;
    }
    return st ? st : rela_buffer_append_char(out, '}', err);
}

/* A text that is JSON itself, which opening the file has checked. */
static rela_status json_raw(rela_buffer *out, const rela_checkpoint *c, const char *key,
                            rela_error *err)
{
    const rela_metadata *m = rela_header_text(&c->header, key);
    return m ? rela_buffer_append(out, m->value.text, m->value.len, err)
             : rela_buffer_append_text(out, "null", err);
}

/* The group that begins at parameter *at: its stack and layer, or the first part of its name. */
static bool next_group(group *g, const rela_params *p, size_t *at)
{
    *g = (group){ .count = 0 };
    for (; *at < p->n; ++*at) {
        const char *name = p->items[*at].name;
        size_t len = strcspn(name, ".");
        if (name[len] == '.' && name[len + 1] >= '0' && name[len + 1] <= '9')
            len += 1 + strcspn(name + len + 1, ".");
        len = len < sizeof g->name ? len : sizeof g->name - 1;
        if (g->tensors == 0)
            memcpy(g->name, name, len);
        else if (strlen(g->name) != len || memcmp(g->name, name, len) != 0)
            break;
        g->tensors++;
        g->count += rela_param_count(&p->items[*at]);
    }
    return g->tensors > 0;
}

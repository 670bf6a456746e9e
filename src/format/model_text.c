/* SPDX-License-Identifier: MIT */
/* src/format/model_text.c - see model_text.h. The settings are a JSON object with one object per
 * side, "src" (further sources "src2", ...) and "tgt":
 * {"src": {"language": "en", "normalise": false, "tokenise": true, "lowercase": false}, ...}. A
 * joint vocabulary may have "source", the tokens that belong to the sources. */
#include "format/model_text.h"

#include "format/json_tree.h"

#include <string.h>

#define SOURCE_TOKENS "source"

static const char *const SOURCES[RELA_SOURCES_MAX] = { "src", "src2", "src3", "src4" };

static rela_status read_side(rela_pipeline_side *s, const json_t *root, const char *name,
                             rela_error *err);
static rela_span section(const rela_extras *e, const char *name);

static const char *side_name(const rela_pipeline_parts *p, size_t i)
{
    return i + 1 < p->n_sides ? SOURCES[i] : "tgt";
}

rela_status rela_pipeline_store(rela_extras *e, const rela_pipeline *p, rela_error *err)
{
    const rela_pipeline_parts *parts = rela_pipeline_parts_of(p);
    json_t *root = json_object();
    for (size_t i = 0; i < parts->n_sides; i++) {
        const rela_pipeline_side *s = &parts->side[i];
        rela_json_tree_put(&root, side_name(parts, i),
                           json_pack("{s:s, s:b, s:b, s:b}", "language", s->language, "normalise",
                                     s->normalise, "tokenise", s->tokenise, "lowercase",
                                     s->lowercase));
    }
    if (parts->source.len)
        rela_json_tree_put(&root, SOURCE_TOKENS,
                           json_stringn(parts->source.text, parts->source.len));
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = rela_json_tree_append(&text, root, JSON_SORT_KEYS, err);
    json_decref(root);
    st = st ? st : rela_extras_set(e, RELA_SECTION_PIPELINE, text.data, text.len, err);
    rela_buffer_free(&text);
    const char *const names[] = { RELA_SECTION_BPE, RELA_SECTION_VOCAB_SRC,
                                  RELA_SECTION_VOCAB_TGT };
    const rela_span spans[] = { parts->codes, parts->vocab[0],
                                parts->vocab[1].text ? parts->vocab[1] : parts->vocab[0] };
    for (int i = 0; i < 3 && st == RELA_OK; i++)
        if (spans[i].len)
            st = rela_extras_set(e, names[i], spans[i].text, spans[i].len, err);
    return st;
}

rela_status rela_pipeline_restore(rela_pipeline **out, const rela_extras *e, rela_error *err)
{
    *out = NULL;
    const rela_span settings = section(e, RELA_SECTION_PIPELINE);
    if (!settings.len)
        return rela_fail(err, RELA_FORMAT, "the model has no text pipeline");
    json_t *root = NULL;
    rela_status st = rela_json_tree_read(&root, settings, err);
    if (st != RELA_OK)
        return rela_fail_in(err, st, "text pipeline");
    rela_pipeline_parts parts = { .codes = section(e, RELA_SECTION_BPE),
                                  .vocab = { section(e, RELA_SECTION_VOCAB_SRC),
                                             section(e, RELA_SECTION_VOCAB_TGT) } };
    parts.n_sides = 2;
    while (parts.n_sides <= RELA_SOURCES_MAX && json_object_get(root, SOURCES[parts.n_sides - 1]))
        parts.n_sides++;
    for (size_t i = 0; i < parts.n_sides && st == RELA_OK; i++)
        st = read_side(&parts.side[i], root, side_name(&parts, i), err);
    const json_t *tokens = json_object_get(root, SOURCE_TOKENS);
    parts.source = (rela_span){ json_string_value(tokens), json_string_length(tokens) };
    if (st == RELA_OK && tokens && !parts.source.len)
        st = rela_fail(err, RELA_FORMAT, "text pipeline: bad tokens of the source text");
    if (st == RELA_OK && (!parts.vocab[0].len || !parts.vocab[1].len))
        st = rela_fail(err, RELA_FORMAT, "the model has no vocabulary");
    st = st ? st : rela_pipeline_create(out, &parts, err);
    json_decref(root);
    return st;
}

/* Without json_unpack, which needs memory. */
static rela_status read_side(rela_pipeline_side *s, const json_t *root, const char *name,
                             rela_error *err)
{
    const json_t *side = json_object_get(root, name);
    const char *language = json_string_value(json_object_get(side, "language"));
    bool good = json_object_size(side) == 4 && language && strlen(language) < sizeof s->language;
    struct {
        const char *key;
        bool *value;
    } flags[] = { { "normalise", &s->normalise },
                  { "tokenise", &s->tokenise },
                  { "lowercase", &s->lowercase } };
    *s = (rela_pipeline_side){ .normalise = false };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        const json_t *value = json_object_get(side, flags[i].key);
        good = good && json_is_boolean(value);
        *flags[i].value = json_is_true(value);
    }
    if (!good)
        return rela_fail(err, RELA_FORMAT, "text pipeline: bad settings of side '%s'", name);
    memcpy(s->language, language, strlen(language));
    return RELA_OK;
}

static rela_span section(const rela_extras *e, const char *name)
{
    const rela_section *s = rela_extras_get(e, name);
    return s ? (rela_span){ s->text, s->len } : (rela_span){ NULL, 0 };
}

/* SPDX-License-Identifier: MIT */
/* src/view/inseq_form.c - see inseq_form.h. A tensor is a safetensors file in base64:
 * half-precision numbers (keys, queries, layers, heads). The target has a start symbol, and the
 * rows of the decoder a last key, the end, that no query sees: NaN, as are keys after a query. */
#include "view/inseq_form.h"

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"

#include <string.h>

enum { NOT_A_NUMBER = 0x7E00, SOURCE = 0, TARGET = 1 };

static rela_status add_tokens(rela_buffer *out, const char *name, const rela_document_text *t,
                              const char *start, rela_error *err);
static rela_status add_tensor(rela_buffer *out, const char *name, const rela_document_stack *s,
                              const rela_document_output *o, const rela_document_rows *rows,
                              rela_error *err);

rela_status rela_inseq_begin(rela_buffer *out, rela_error *err)
{
    return rela_buffer_append_text(
        out,
        "{\"__instance_type__\":[\"inseq.data.attribution\",\"FeatureAttributionOutput\"],"
        "\"attributes\":{\"step_attributions\":null,\"sequence_attributions\":[",
        err);
}

rela_status rela_inseq_end(rela_buffer *out, const char *model, rela_error *err)
{
    rela_status st = rela_buffer_append_text(
        out,
        "],\n\"info\":{\"attribution_method\":\"attention\",\"attribute_target\":true,"
        "\"constrained_decoding\":true,\"step_scores\":[],\"model_name\":",
        err);
    st = st ? st : rela_json_quote(out, model, strlen(model), err);
    return st ? st : rela_buffer_append_text(out, "}}}\n", err);
}

rela_status rela_inseq_add(rela_buffer *out, const rela_document_model *m,
                           const rela_document_output *o, const rela_document_rows *rows,
                           rela_error *err)
{
    static const char *const NAMES[] = { "encoder_self_attentions", "target_attributions",
                                         "source_attributions" };
    rela_status st =
        rela_buffer_printf(out, err,
                           "\n{\"__instance_type__\":[\"inseq.data.attribution\","
                           "\"MultiDimensionalFeatureAttributionSequenceOutput\"],\"attributes\":{"
                           "\"attr_pos_start\":1,\"attr_pos_end\":%zu,\"step_scores\":{}",
                           o->texts[TARGET].n + 1);
    st = st ? st : add_tokens(out, "source", &o->texts[SOURCE], NULL, err);
    st = st ? st : add_tokens(out, "target", &o->texts[TARGET], "<s>", err);
    for (size_t i = 0; i < m->n_stacks && st == RELA_OK; i++) {
        const rela_document_stack *s = &m->stacks[i];
        const int which = s->queries == SOURCE ? 0 : s->keys == TARGET ? 1 : 2;
        st = which == 0 ? rela_buffer_append_text(out, ",\"sequence_scores\":{", err)
                        : rela_buffer_append_char(out, ',', err);
        st = st ? st : add_tensor(out, NAMES[which], s, o, &rows[i], err);
        if (st == RELA_OK && which == 0)
            st = rela_buffer_append_char(out, '}', err);
    }
    return st ? st : rela_buffer_append_text(out, "}}", err);
}

static rela_status add_token(rela_buffer *out, const char *token, size_t id, rela_error *err)
{
    const rela_status st =
        rela_buffer_printf(out, err,
                           "{\"__instance_type__\":[\"inseq.utils.typing\","
                           "\"TokenWithId\"],\"attributes\":{\"id\":%zu,\"token\":",
                           id);
    const rela_status quoted = st ? st : rela_json_quote(out, token, strlen(token), err);
    return quoted ? quoted : rela_buffer_append_text(out, "}}", err);
}

/* Numbers of tokens are their places: the vocabulary is not part of the file. */
static rela_status add_tokens(rela_buffer *out, const char *name, const rela_document_text *t,
                              const char *start, rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, ",\"%s\":[", name);
    if (st == RELA_OK && start)
        st = add_token(out, start, 0, err);
    for (size_t i = 0; i < t->n && st == RELA_OK; i++) {
        st = rela_buffer_append_text(out, i || start ? "," : "", err);
        st = st ? st : add_token(out, t->pieces[i], i + (start != NULL), err);
    }
    return st ? st : rela_buffer_append_char(out, ']', err);
}

/* Puts the rows of a head into place; returns the bytes of its rows. */
static size_t place_head(unsigned char *numbers, const unsigned char *rows,
                         const rela_document_stack *s, size_t n_q, size_t n_k, size_t which)
{
    const size_t heads = s->layers * s->heads;
    size_t at = 0;
    for (size_t q = 0; q < n_q; q++) {
        const size_t seen = s->causal && q + 1 < n_k ? q + 1 : n_k;
        const unsigned char *marks = rows + at;
        at += (seen + 7) / 8;
        for (size_t k = 0; k < n_k + s->causal; k++) {
            unsigned char *to = numbers + 2 * ((k * n_q + q) * heads + which);
            const bool set = k < seen && (marks[k / 8] >> k % 8 & 1);
            to[0] = set ? rows[at] : 0;
            to[1] = set ? rows[at + 1] : k < seen ? 0 : NOT_A_NUMBER >> 8;
            at += set ? 2 : 0;
        }
    }
    return at;
}

static rela_status add_tensor(rela_buffer *out, const char *name, const rela_document_stack *s,
                              const rela_document_output *o, const rela_document_rows *rows,
                              rela_error *err)
{
    const size_t n_q = o->texts[s->queries].n, n_k = o->texts[s->keys].n;
    const size_t heads = s->layers * s->heads, bytes = 2 * (n_k + s->causal) * n_q * heads;
    rela_buffer file = RELA_BUFFER_INIT, header = RELA_BUFFER_INIT;
    rela_status st =
        rela_buffer_printf(&header, err,
                           "{\"attribution\":{\"dtype\":\"F16\",\"shape\":[%zu,%zu,%zu,"
                           "%zu],\"data_offsets\":[0,%zu]}}",
                           n_k + s->causal, n_q, s->layers, s->heads, bytes);
    while (st == RELA_OK && header.len % 8)
        st = rela_buffer_append_char(&header, ' ', err);
    for (int i = 0; i < 8 && st == RELA_OK; i++)
        st = rela_buffer_append_char(&file, (char)((uint64_t)header.len >> (8 * i) & 255), err);
    st = st ? st : rela_buffer_append(&file, header.data, header.len, err);
    st = st ? st : rela_buffer_reserve(&file, bytes, err);
    size_t at = 0;
    for (size_t h = 0; h < heads && st == RELA_OK; h++)
        at += place_head((unsigned char *)file.data + file.len,
                         (const unsigned char *)rows->bytes.data + at, s, n_q, n_k, h);
    file.len += st == RELA_OK ? bytes : 0;
    st = st ? st : rela_buffer_printf(out, err, "\"%s\":\"", name);
    st = st ? st : rela_base64_append(out, file.data, file.len, err);
    rela_buffer_free(&file);
    rela_buffer_free(&header);
    return st ? st : rela_buffer_append_char(out, '"', err);
}

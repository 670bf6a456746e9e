/* SPDX-License-Identifier: MIT */
/* src/view/foreign_inseq.c - what FeatureAttributionOutput.save of inseq (0.6 and later) writes:
 * JSON, in which an object is {"__instance_type__": ..., "attributes": {...}}, or its attributes
 * alone, and a tensor a safetensors file in base64.
 *
 * Tensors are (keys, queries) of a model without layers and heads, (keys, queries, layers, heads)
 * of attention, or (keys, queries, values) of a gradient, whose norm is taken. */
#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "view/foreign.h"

#include <math.h>
#include <string.h>

enum { CROSS, DECODER, ENCODER, N_TENSORS, DIMENSIONS = 4, SOURCE = 0, TARGET = 1 };

static const char *const TENSOR_NAMES[N_TENSORS] = { "source_attributions", "target_attributions",
                                                     "encoder_self_attentions" };

typedef struct tensor {
    rela_span text; /* base64; NULL: none */
    rela_buffer bytes;
    const char *data;
    size_t shape[DIMENSIONS], n; /* n: dimensions */
    bool half;
} tensor;

typedef struct reader {
    rela_json j;
    rela_foreign *f;
    tensor tensors[N_TENSORS];
    uint64_t first; /* of the target tokens that are attributed */
    size_t number;  /* of the sequence, from 1 */
    rela_error *err;
} reader;

typedef rela_status (*on_member)(reader *r, rela_span key);

static rela_status read_members(reader *r, on_member on, bool nested);
static rela_status read_output(reader *r, rela_span key);
static rela_status read_sequence(reader *r, rela_span key);
static rela_status add_sequence(reader *r);

/* NaN and Infinity, which JSON does not have, become 0 and blanks. */
static void clean_numbers(char *text, size_t len)
{
    static const char *const WORDS[] = { "NaN", "-Infinity", "Infinity" };
    bool quoted = false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"')
            quoted = !quoted;
        else if (quoted && text[i] == '\\')
            i++;
        for (int k = 0; k < 3 && !quoted; k++) {
            const size_t n = strlen(WORDS[k]);
            if (len - i >= n && memcmp(text + i, WORDS[k], n) == 0) {
                memset(text + i, ' ', n);
                text[i] = '0';
            }
        }
    }
}

rela_status rela_foreign_inseq(rela_foreign *f, char *text, size_t len, rela_error *err)
{
    rela_error own = { RELA_OK, "" };
    reader r = { .f = f, .err = &own };
    clean_numbers(text, len);
    rela_status st = rela_json_start(&r.j, text, len, &own);
    st = st ? st : read_members(&r, read_output, true);
    if (st == RELA_OK && !rela_foreign_full(f))
        st = rela_json_end(&r.j, &own);
    for (int i = 0; i < N_TENSORS; i++)
        rela_buffer_free(&r.tensors[i].bytes);
    return st ? rela_fail(err, st, "%s: %s", f->name, own.message) : RELA_OK;
}

/* The members of an object, or those of its member "attributes". */
static rela_status read_members(reader *r, on_member on, bool nested)
{
    rela_status st = rela_json_object(&r->j, r->err);
    bool more = true;
    while (st == RELA_OK) {
        rela_span key;
        st = rela_json_key(&r->j, &key, &more, r->err);
        if (st != RELA_OK || !more)
            break;
        if (nested && rela_span_is(key, "attributes"))
            st = read_members(r, on, false);
        else
            st = on(r, key);
    }
    return st;
}

static rela_status read_output(reader *r, rela_span key)
{
    bool more = true;
    if (!rela_span_is(key, "sequence_attributions"))
        return rela_json_skip(&r->j, r->err);
    rela_status st = rela_json_array(&r->j, r->err);
    while (st == RELA_OK) {
        st = rela_json_item(&r->j, &more, r->err);
        if (st != RELA_OK || !more)
            break;
        rela_foreign_clear(r->f);
        for (int i = 0; i < N_TENSORS; i++)
            r->tensors[i].text = (rela_span){ NULL, 0 };
        r->first = 0;
        r->number++;
        st = read_members(r, read_sequence, true);
        if (st == RELA_OK && !rela_foreign_full(r->f))
            st = add_sequence(r);
    }
    return st;
}

/* ---- a sequence ---- */

static rela_status read_token(reader *r, rela_span key, rela_foreign_text *to)
{
    rela_span text;
    if (!rela_span_is(key, "token"))
        return rela_json_skip(&r->j, r->err);
    const rela_status st = rela_json_string(&r->j, &text, r->err);
    return st ? st : rela_foreign_add_piece(to, text, r->err);
}

static rela_status source_token(reader *r, rela_span key)
{
    return read_token(r, key, &r->f->texts[SOURCE]);
}

static rela_status target_token(reader *r, rela_span key)
{
    return read_token(r, key, &r->f->texts[TARGET]);
}

static rela_status read_tokens(reader *r, on_member on)
{
    bool more = true;
    rela_status st = rela_json_array(&r->j, r->err);
    while (st == RELA_OK) {
        st = rela_json_item(&r->j, &more, r->err);
        if (st != RELA_OK || !more)
            break;
        st = read_members(r, on, true);
    }
    return st;
}

/* A string, or null. */
static rela_status read_tensor(reader *r, int which)
{
    while (r->j.at < r->j.end && memchr(" \t\r\n:", *r->j.at, 5))
        r->j.at++;
    if (r->j.at < r->j.end && *r->j.at == 'n')
        return rela_json_skip(&r->j, r->err);
    if (r->j.at < r->j.end && *r->j.at != '"')
        return rela_fail(r->err, RELA_FORMAT,
                         "sequence %zu: %s is no safetensors text; save it with inseq 0.6 or later",
                         r->number, TENSOR_NAMES[which]);
    return rela_json_string(&r->j, &r->tensors[which].text, r->err);
}

static rela_status read_score(reader *r, rela_span key)
{
    return rela_span_is(key, TENSOR_NAMES[ENCODER]) ? read_tensor(r, ENCODER)
                                                    : rela_json_skip(&r->j, r->err);
}

static rela_status read_sequence(reader *r, rela_span key)
{
    if (rela_span_is(key, "source"))
        return read_tokens(r, source_token);
    if (rela_span_is(key, "target"))
        return read_tokens(r, target_token);
    if (rela_span_is(key, TENSOR_NAMES[CROSS]))
        return read_tensor(r, CROSS);
    if (rela_span_is(key, TENSOR_NAMES[DECODER]))
        return read_tensor(r, DECODER);
    if (rela_span_is(key, "sequence_scores"))
        return read_members(r, read_score, false);
    if (rela_span_is(key, "attr_pos_start"))
        return rela_json_u64(&r->j, &r->first, r->err);
    return rela_json_skip(&r->j, r->err);
}

/* ---- tensors ---- */

static rela_status read_shape(rela_json *j, tensor *t, rela_error *err)
{
    bool more = true;
    rela_status st = rela_json_array(j, err);
    t->n = 0;
    while (st == RELA_OK) {
        uint64_t x = 0;
        st = rela_json_item(j, &more, err);
        if (st != RELA_OK || !more)
            break;
        st = rela_json_u64(j, &x, err);
        if (st == RELA_OK && (t->n == DIMENSIONS || x > RELA_FOREIGN_HEADS_MAX))
            return rela_fail(err, RELA_FORMAT, "shape is too large");
        t->shape[t->n++] = (size_t)x;
    }
    return st;
}

static rela_status read_entry(rela_json *j, tensor *t, rela_error *err)
{
    rela_span key, type = { NULL, 0 };
    bool more = true;
    rela_status st = rela_json_object(j, err);
    while (st == RELA_OK) {
        st = rela_json_key(j, &key, &more, err);
        if (st != RELA_OK || !more)
            break;
        if (rela_span_is(key, "dtype"))
            st = rela_json_string(j, &type, err);
        else
            st = rela_span_is(key, "shape") ? read_shape(j, t, err) : rela_json_skip(j, err);
    }
    if (st == RELA_OK && !rela_span_is(type, "F32") && !rela_span_is(type, "F16"))
        st = rela_fail(err, RELA_FORMAT, "numbers are %.*s; expected F32 or F16", (int)type.len,
                       type.text ? type.text : "");
    t->half = st == RELA_OK && rela_span_is(type, "F16");
    return st;
}

/* The one tensor of a safetensors file. */
static rela_status read_header(tensor *t, rela_error *err)
{
    rela_json j;
    rela_span key;
    bool more = true, found = false;
    uint64_t len = 0;
    for (int i = 0; i < 8 && t->bytes.len >= 8; i++)
        len |= (uint64_t)(unsigned char)t->bytes.data[i] << (8 * i);
    if (t->bytes.len < 8 || len > t->bytes.len - 8)
        return rela_fail(err, RELA_FORMAT, "no safetensors file");
    rela_status st = rela_json_start(&j, t->bytes.data + 8, (size_t)len, err);
    st = st ? st : rela_json_object(&j, err);
    while (st == RELA_OK) {
        st = rela_json_key(&j, &key, &more, err);
        if (st != RELA_OK || !more)
            break;
        found = found || rela_span_is(key, "attribution");
        st = rela_span_is(key, "attribution") ? read_entry(&j, t, err) : rela_json_skip(&j, err);
    }
    t->data = t->bytes.data + 8 + len;
    size_t n = t->half ? 2 : 4;
    for (size_t i = 0; i < t->n && n <= t->bytes.len; i++)
        n *= t->shape[i];
    if (st == RELA_OK && (!found || t->n < 2 || n != t->bytes.len - 8 - (size_t)len))
        st = rela_fail(err, RELA_FORMAT, "shape and size of the tensor do not match");
    return st;
}

static rela_status decode(reader *r, int which)
{
    tensor *t = &r->tensors[which];
    rela_error own = { RELA_OK, "" };
    rela_buffer_clear(&t->bytes);
    t->n = 0;
    rela_status st = rela_base64_decode(&t->bytes, t->text.text, t->text.len, &own);
    st = st ? st : read_header(t, &own);
    return st ? rela_fail(r->err, st, "sequence %zu: %s: %s", r->number, TENSOR_NAMES[which],
                          own.message)
              : RELA_OK;
}

static real number_at(const tensor *t, size_t i)
{
    const unsigned char *p = (const unsigned char *)t->data + i * (t->half ? 2 : 4);
    const uint32_t low = (uint32_t)p[0] | (uint32_t)p[1] << 8;
    float x = 0;
    if (t->half) {
        const int exponent = (int)(low >> 10 & 31), fraction = (int)(low & 1023);
        x = exponent == 31 ? 0
                           : ldexpf((float)(exponent ? 1024 + fraction : fraction),
                                    exponent ? exponent - 25 : -24);
        x = low & 0x8000 ? -x : x;
    } else {
        const uint32_t bits = low | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        memcpy(&x, &bits, sizeof x);
    }
    return isfinite(x) ? (real)x : 0;
}

/* A weight that is not a number, of a key that the query does not see, is 0. */
static real weight_of(const tensor *t, size_t key, size_t query, size_t layer, size_t head)
{
    const size_t at = key * t->shape[1] + query;
    if (t->n == 4)
        return number_at(t, (at * t->shape[2] + layer) * t->shape[3] + head);
    if (t->n == 2)
        return number_at(t, at);
    double sum = 0;
    for (size_t i = 0; i < t->shape[2]; i++) {
        const double x = (double)number_at(t, at * t->shape[2] + i);
        sum += x * x;
    }
    return (real)sqrt(sum);
}

/* ---- the document ---- */

static size_t layers_of(const tensor *t)
{
    return t->n == 4 ? t->shape[2] : 1;
}

static size_t heads_of(const tensor *t)
{
    return t->n == 4 ? t->shape[3] : 1;
}

/* The first sequence says which attention there is. */
static rela_status begin(reader *r)
{
    static const rela_document_stack STACKS[N_TENSORS] = {
        { .key = "cross", .label = "cross", .queries = TARGET, .keys = SOURCE },
        { .key = "decoder", .label = "decoder", .queries = TARGET, .keys = TARGET, .causal = true },
        { .key = "encoder", .label = "encoder", .queries = SOURCE, .keys = SOURCE }
    };
    rela_document_model *m = &r->f->model;
    *m = (rela_document_model){ .name = "inseq", .n_texts = 2 };
    for (int i = 0; i < N_TENSORS; i++) {
        if (!r->tensors[i].text.text)
            continue;
        m->stacks[m->n_stacks] = STACKS[i];
        m->stacks[m->n_stacks].layers = layers_of(&r->tensors[i]);
        m->stacks[m->n_stacks++].heads = heads_of(&r->tensors[i]);
    }
    return rela_foreign_begin(r->f, r->err);
}

/* Only the attributed tokens of the target are queries. */
static rela_status cut_target(reader *r)
{
    rela_foreign_text *t = &r->f->texts[TARGET];
    const size_t n = r->tensors[CROSS].shape[1];
    if (r->first > t->n || n > t->n - (size_t)r->first)
        return rela_fail(r->err, RELA_FORMAT,
                         "sequence %zu: %zu target tokens; expected %zu after %llu", r->number,
                         t->n, n, (unsigned long long)r->first);
    if (t->n == 0)
        return RELA_OK;
    const char *from = t->bytes.data, *end = t->bytes.data;
    for (size_t i = 0; i < (size_t)r->first + n; i++) {
        end += strlen(end) + 1;
        from = i < r->first ? end : from;
    }
    memmove(t->bytes.data, from, (size_t)(end - from));
    t->bytes.len = (size_t)(end - from);
    t->n = n;
    return RELA_OK;
}

static rela_status add_stack(reader *r, int which, size_t stack)
{
    const tensor *t = &r->tensors[which];
    const rela_document_stack *s = &r->f->model.stacks[stack];
    const size_t n_q = r->f->texts[s->queries].n, n_k = r->f->texts[s->keys].n;
    /* The first key of the decoder is the token before the first that is attributed. */
    const size_t skip = which == DECODER && r->first ? (size_t)r->first - 1 : 0;
    const size_t shift = which == DECODER && !r->first ? 1 : 0;
    if (layers_of(t) != s->layers || heads_of(t) != s->heads || t->shape[1] != n_q ||
        t->shape[0] + shift < n_k + skip)
        return rela_fail(r->err, RELA_FORMAT, "sequence %zu: %s has another shape", r->number,
                         TENSOR_NAMES[which]);
    rela_status st = rela_foreign_room(r->f, n_q * n_k, r->err);
    for (size_t layer = 0; layer < s->layers; layer++)
        for (size_t head = 0; head < s->heads && st == RELA_OK; head++) {
            for (size_t q = 0; q < n_q; q++)
                for (size_t k = 0; k < n_k; k++) {
                    const bool seen = k >= shift && (!s->causal || k <= q);
                    r->f->weights[q * n_k + k] =
                        seen ? weight_of(t, k + skip - shift, q, layer, head) : 0;
                }
            st = rela_foreign_add_head(r->f, stack, layer, head, r->err);
        }
    return st;
}

static rela_status add_sequence(reader *r)
{
    rela_foreign *f = r->f;
    size_t stack = 0;
    rela_status st = RELA_OK;
    if (!r->tensors[CROSS].text.text)
        return rela_fail(r->err, RELA_FORMAT, "sequence %zu: no attribution to a source",
                         r->number);
    for (int i = 0; i < N_TENSORS && st == RELA_OK; i++)
        if (r->tensors[i].text.text)
            st = decode(r, i);
    st = st ? st : cut_target(r);
    if (st == RELA_OK && r->tensors[CROSS].shape[0] != f->texts[SOURCE].n)
        st = rela_fail(r->err, RELA_FORMAT, "sequence %zu: %zu source tokens; expected %zu",
                       r->number, f->texts[SOURCE].n, r->tensors[CROSS].shape[0]);
    st = st ? st : rela_foreign_end_text(&f->texts[SOURCE], true, r->err);
    st = st ? st : rela_foreign_end_text(&f->texts[TARGET], true, r->err);
    if (st == RELA_OK && r->number == 1)
        st = begin(r);
    st = st ? st : rela_foreign_start_rows(f, false, r->err);
    for (int i = 0; i < N_TENSORS && st == RELA_OK; i++) {
        const bool wanted = stack < f->model.n_stacks && f->model.stacks[stack].key &&
                            (i == CROSS || strcmp(f->model.stacks[stack].key,
                                                  i == DECODER ? "decoder" : "encoder") == 0);
        if (wanted != (r->tensors[i].text.text != NULL))
            return rela_fail(r->err, RELA_FORMAT, "sequence %zu: %s is %s, unlike in the first",
                             r->number, TENSOR_NAMES[i], wanted ? "missing" : "given");
        if (wanted)
            st = add_stack(r, i, stack++);
    }
    return st ? st : rela_foreign_add_sentence(f, r->number, false, false, 0, r->err);
}

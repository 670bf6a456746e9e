/* SPDX-License-Identifier: MIT */
/* src/view/document.c - see document.h. */
#include "view/document.h"

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { DIGITS = 6, HALF_MOST = 0x7BFF };

/* The bits of a finite number, rounded to the nearest, of two equally near ones to the even one. */
uint16_t rela_document_half(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    const int exponent = (int)(bits >> 23 & 255) - 127;
    const uint32_t fraction = (bits & 0x7FFFFF) | (exponent > -127 ? 0x800000 : 0);
    if (exponent >= 16)
        return (uint16_t)(sign | HALF_MOST);
    /* Bits of the fraction that a half has no place for: more for those below 2^-14. */
    const int drop = exponent >= -14 ? 13 : exponent >= -26 ? -1 - exponent : 26;
    if (drop > 25)
        return (uint16_t)(sign | (x != 0));
    const uint32_t kept = fraction >> drop, rest = fraction & (((uint32_t)1 << drop) - 1);
    const uint32_t middle = (uint32_t)1 << (drop - 1);
    uint32_t half = kept + (rest > middle || (rest == middle && (kept & 1)));
    if (exponent >= -14) /* the leading bit is not kept; rounding may carry into the exponent */
        half += (uint32_t)(exponent + 14) << 10;
    if (half > HALF_MOST)
        half = HALF_MOST;
    return (uint16_t)(sign | (half == 0 && x != 0 ? 1 : half));
}

rela_status rela_document_add_row(rela_document_rows *rows, const real *row, size_t n,
                                  rela_error *err)
{
    rela_buffer *b = &rows->bytes;
    const size_t n_marks = (n + 7) / 8, at = b->len;
    const rela_status st = rela_buffer_reserve(b, n_marks + 2 * n, err);
    if (st != RELA_OK)
        return st;
    unsigned char *to = (unsigned char *)b->data + at;
    memset(to, 0, n_marks);
    size_t end = n_marks;
    for (size_t k = 0; k < n; k++) {
        if (row[k] == 0)
            continue;
        const uint16_t half = rela_document_half((float)row[k]);
        to[k / 8] |= (unsigned char)(1u << k % 8);
        to[end++] = (unsigned char)(half & 255);
        to[end++] = (unsigned char)(half >> 8);
    }
    b->len = at + end;
    return RELA_OK;
}

static rela_status add_string(rela_buffer *out, const char *before, const char *text,
                              rela_error *err)
{
    const rela_status st = rela_buffer_append_text(out, before, err);
    return st ? st : rela_json_quote(out, text ? text : "", text ? strlen(text) : 0, err);
}

static rela_status add_number(rela_buffer *out, const char *before, double x, rela_error *err)
{
    const rela_status st = rela_buffer_append_text(out, before, err);
    return st ? st : rela_json_number(out, x, DIGITS, err);
}

static rela_status add_stack(rela_buffer *out, const rela_document_stack *s, rela_error *err)
{
    rela_status st = add_string(out, "{\"key\":", s->key, err);
    st = st ? st : add_string(out, ",\"label\":", s->label, err);
    if (st == RELA_OK && s->kind)
        st = add_string(out, ",\"kind\":", s->kind, err);
    return st ? st
              : rela_buffer_printf(out, err,
                                   ",\"queries\":%zu,\"keys\":%zu,\"layers\":%zu,\"heads\":%zu,"
                                   "\"causal\":%s}",
                                   s->queries, s->keys, s->layers, s->heads,
                                   s->causal ? "true" : "false");
}

static rela_status add_model(rela_buffer *out, const rela_document_model *m, rela_error *err)
{
    rela_status st = add_string(out, "{\"name\":", m->name, err);
    if (st == RELA_OK && m->description && *m->description)
        st = add_string(out, ",\"description\":", m->description, err);
    st = st ? st : rela_buffer_append_text(out, ",\"languages\":[", err);
    for (size_t i = 0; i < m->n_texts && st == RELA_OK; i++)
        st = add_string(out, i ? "," : "", m->languages[i], err);
    st = st ? st : rela_buffer_append_text(out, "],\"stacks\":[", err);
    for (size_t i = 0; i < m->n_stacks && st == RELA_OK; i++) {
        st = rela_buffer_append_text(out, i ? ",\n" : "\n", err);
        st = st ? st : add_stack(out, &m->stacks[i], err);
    }
    return st ? st : rela_buffer_append_text(out, "]}", err);
}

rela_status rela_document_begin(rela_buffer *out, const char *title,
                                const rela_document_model *models, size_t n, rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, "{\"format\":\"rela-attention\",\"version\":%d",
                                        RELA_DOCUMENT_VERSION);
    if (st == RELA_OK && title)
        st = add_string(out, ",\"title\":", title, err);
    st = st ? st : rela_buffer_append_text(out, ",\n\"models\":[", err);
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        st = rela_buffer_append_text(out, i ? ",\n" : "\n", err);
        st = st ? st : add_model(out, &models[i], err);
    }
    return st ? st : rela_buffer_append_text(out, "],\n\"sentences\":[", err);
}

rela_status rela_document_end(rela_buffer *out, rela_error *err)
{
    return rela_buffer_append_text(out, "]}\n", err);
}

rela_status rela_document_sentence(rela_buffer *out, bool first, uint64_t line,
                                   const rela_links *gold, rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, "%s\n{\"line\":%llu", first ? "" : ",",
                                        (unsigned long long)line);
    if (st == RELA_OK && gold) {
        st = rela_buffer_append_text(out, ",\"gold\":[", err);
        for (size_t i = 0; i < gold->n && st == RELA_OK; i++)
            st = rela_buffer_printf(out, err, "%s[%u,%u,%d]", i ? "," : "", gold->items[i].src,
                                    gold->items[i].tgt, gold->items[i].possible ? 0 : 1);
        st = st ? st : rela_buffer_append_char(out, ']', err);
    }
    return st ? st : rela_buffer_append_text(out, ",\"outputs\":[", err);
}

rela_status rela_document_sentence_end(rela_buffer *out, rela_error *err)
{
    return rela_buffer_append_text(out, "]}", err);
}

/* ---- an output ---- */

static rela_status add_text(rela_buffer *out, const rela_document_text *t, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, "{\"pieces\":[", err);
    for (size_t i = 0; i < t->n && st == RELA_OK; i++)
        st = add_string(out, i ? "," : "", t->pieces[i], err);
    st = st ? st : rela_buffer_append_text(out, "],\"words\":[", err);
    for (size_t i = 0; i < t->map.n_pieces && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "%s%u", i ? "," : "", (unsigned)t->map.word_of[i]);
    return st ? st : rela_buffer_append_text(out, "]}", err);
}

static rela_status add_numbers(rela_buffer *out, const char *before, const double *x, size_t n,
                               rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, "%s[", before);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = add_number(out, i ? "," : "", x[i], err);
    return st ? st : rela_buffer_append_char(out, ']', err);
}

static rela_status add_logps(rela_buffer *out, const rela_document_output *o, size_t target,
                             rela_error *err)
{
    double sum = 0;
    for (size_t i = 0; i < o->texts[target].n; i++)
        sum += o->logps[i];
    const rela_status st = add_number(out, ",\"logp\":", sum, err);
    return st ? st : add_numbers(out, ",\"token_logps\":", o->logps, o->texts[target].n, err);
}

/* The words of a text, from its pieces without the marks that a word goes on. */
static rela_status join_words(rela_buffer *text, rela_span **words, const rela_document_text *t,
                              rela_error *err)
{
    size_t *ends = rela_mem_zalloc((t->map.n_words + 1) * sizeof *ends);
    *words = rela_mem_zalloc((t->map.n_words + 1) * sizeof **words);
    rela_status st = ends && *words ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for words");
    for (size_t i = 0; i < t->map.n_pieces && st == RELA_OK; i++) {
        const uint32_t word = t->map.word_of[i];
        const bool more = i + 1 < t->map.n_pieces && t->map.word_of[i + 1] == word;
        size_t len = strlen(t->pieces[i]);
        if (more && len > 2 && strcmp(t->pieces[i] + len - 2, "@@") == 0)
            len -= 2;
        st = rela_buffer_append(text, t->pieces[i], len, err);
        ends[word] = text->len;
    }
    for (size_t i = 0, from = 0; i < t->map.n_words && st == RELA_OK; i++) {
        (*words)[i] = (rela_span){ text->data + from, ends[i] - from };
        from = ends[i];
    }
    rela_mem_free(ends);
    return st;
}

static rela_status add_warning(rela_buffer *out, const rela_document_output *o, size_t target,
                               rela_error *err)
{
    rela_buffer text[3] = { RELA_BUFFER_INIT, RELA_BUFFER_INIT, RELA_BUFFER_INIT };
    rela_span *src = NULL, *tgt = NULL;
    rela_status st = join_words(&text[0], &src, &o->texts[0], err);
    st = st ? st : join_words(&text[1], &tgt, &o->texts[target], err);
    st = st ? st : rela_support_say(&text[2], o->support, src, tgt, err);
    st = st ? st : add_string(out, ",\"warning\":", text[2].len ? text[2].data : "", err);
    for (int i = 0; i < 3; i++)
        rela_buffer_free(&text[i]);
    rela_mem_free(src);
    rela_mem_free(tgt);
    return st;
}

/* The words that a doubt is about. */
static rela_status add_doubted(rela_buffer *out, const char *before, const rela_support *s,
                               bool missing, rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, "%s[", before);
    bool first = true;
    for (size_t i = 0; i < s->n && st == RELA_OK; i++) {
        const rela_doubt *d = &s->doubts[i];
        if (missing ? !d->missing : d->missing && !d->either)
            continue;
        st = rela_buffer_printf(out, err, "%s%u", first ? "" : ",",
                                (unsigned)(missing ? d->src : d->tgt));
        first = false;
    }
    return st ? st : rela_buffer_append_char(out, ']', err);
}

static rela_status add_doubting_heads(rela_buffer *out, const rela_support *s, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, ",\"heads\":[", err);
    for (size_t i = 0; i < s->n && st == RELA_OK; i++) {
        const rela_doubt *d = &s->doubts[i];
        st = rela_buffer_append_text(out, i ? ",[" : "[", err);
        for (size_t k = 0; k < d->n_heads && st == RELA_OK; k++)
            st = rela_buffer_printf(out, err, "%s[%zu,%zu]", k ? "," : "", d->by[k].layer,
                                    d->by[k].head);
        st = st ? st : rela_buffer_append_char(out, ']', err);
    }
    return st ? st : rela_buffer_append_char(out, ']', err);
}

static rela_status add_support(rela_buffer *out, const rela_document_output *o, size_t target,
                               rela_error *err)
{
    rela_status st = add_number(out, ",\"null_rate\":", o->support->null_rate, err);
    st = st ? st : add_doubted(out, ",\"support\":{\"uncovered\":", o->support, true, err);
    st = st ? st : add_doubted(out, ",\"unsupported\":", o->support, false, err);
    st = st ? st : add_doubting_heads(out, o->support, err);
    st = st ? st : add_warning(out, o, target, err);
    return st ? st : rela_buffer_append_char(out, '}', err);
}

static rela_status add_worth(rela_buffer *out, const rela_document_output *o, size_t target,
                             rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, ",\"worth\":{\"drop\":[", err);
    for (size_t i = 0; i < target && st == RELA_OK; i++)
        st = add_numbers(out, i ? "," : "", o->dropped[i], o->texts[i].map.n_words, err);
    st = st ? st : rela_buffer_append_text(out, "],\"silence\":[", err);
    for (size_t i = 0; o->silenced && i < o->silenced_layers && st == RELA_OK; i++)
        st = add_numbers(out, i ? "," : "", o->silenced + i * o->silenced_heads, o->silenced_heads,
                         err);
    return st ? st : rela_buffer_append_text(out, "]}", err);
}

rela_status rela_document_add_output(rela_buffer *out, bool first, const rela_document_model *m,
                                     const rela_document_output *o, const rela_document_rows *rows,
                                     rela_error *err)
{
    const size_t target = m->n_texts - 1;
    rela_status st =
        rela_buffer_printf(out, err, "%s\n {\"model\":%zu", first ? "" : ",", o->model);
    if (st == RELA_OK && o->label && *o->label)
        st = add_string(out, ",\"label\":", o->label, err);
    if (st == RELA_OK && o->scored)
        st = add_number(out, ",\"score\":", o->score, err);
    if (st == RELA_OK && o->logps)
        st = add_logps(out, o, target, err);
    if (st == RELA_OK && o->support)
        st = add_support(out, o, target, err);
    if (st == RELA_OK && o->dropped[0])
        st = add_worth(out, o, target, err);
    st = st ? st : rela_buffer_append_text(out, ",\"texts\":[", err);
    for (size_t i = 0; i <= target && st == RELA_OK; i++) {
        st = rela_buffer_append_text(out, i ? "," : "", err);
        st = st ? st : add_text(out, &o->texts[i], err);
    }
    st = st ? st : rela_buffer_append_text(out, "],\"attention\":[", err);
    for (size_t i = 0; i < m->n_stacks && st == RELA_OK; i++) {
        st = rela_buffer_append_text(out, i ? ",\"" : "\"", err);
        st = st ? st : rela_base64_append(out, rows[i].bytes.data, rows[i].bytes.len, err);
        st = st ? st : rela_buffer_append_char(out, '"', err);
    }
    return st ? st : rela_buffer_append_text(out, "]}", err);
}

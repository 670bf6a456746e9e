/* SPDX-License-Identifier: MIT */
/* src/serve/answers.c - the bodies of answers, as each interface has them. */
#include "serve/service_state.h"

#include "base/json.h"
#include "serve/markup_text.h"

#include <string.h>

enum { DIGITS = 9 };

static rela_status write_libre(rela_buffer *out, const rela_call *c, rela_error *err);
static rela_status write_deepl(rela_buffer *out, const rela_call *c, rela_error *err);
static rela_status write_own(rela_buffer *out, const rela_call *c, rela_error *err);

rela_status rela_answers_write(rela_buffer *out, const rela_service *s, const rela_call *c,
                               rela_error *err)
{
    (void)s;
    if (c->stream) {
        const rela_status st = rela_buffer_append_text(out, "event: done\ndata: ", err);
        return st ? st
                  : rela_buffer_printf(out, err, "{\"sentences\":%zu}\n\n", c->text.n_sentences);
    }
    return c->form == RELA_INTERFACE_LIBRE   ? write_libre(out, c, err)
           : c->form == RELA_INTERFACE_DEEPL ? write_deepl(out, c, err)
                                             : write_own(out, c, err);
}

rela_span rela_call_translation(const rela_call *c, size_t sentence, size_t rank)
{
    const rela_outcome *o = c->outcomes[sentence];
    const rela_outcome_text *t = &o->best[rank < o->n ? rank : o->n - 1];
    return (rela_span){ o->text.data + t->begin, t->end - t->begin };
}

static size_t first_sentence(const rela_call *c, size_t text)
{
    size_t n = 0;
    for (size_t i = 0; i < c->text.first[text]; i++)
        n += c->text.items[i].sentence;
    return n;
}

static size_t sentences_of(const rela_call *c, size_t text)
{
    size_t n = 0;
    for (size_t i = c->text.first[text]; i < c->text.first[text + 1]; i++)
        n += c->text.items[i].sentence;
    return n;
}

/* Translations that a text has: as many as its sentence with the fewest; 1 without sentences. */
size_t rela_call_n_best(const rela_call *c, size_t text)
{
    const size_t first = first_sentence(c, text), n = sentences_of(c, text);
    size_t least = n ? SIZE_MAX : 1;
    for (size_t i = first; i < first + n; i++)
        least = c->outcomes[i]->n < least ? c->outcomes[i]->n : least;
    return least;
}

typedef struct ranked {
    const rela_call *call;
    size_t rank;
    rela_buffer *markup; /* for a sentence with its tags */
    rela_status *status;
    rela_error *err;
} ranked;

static rela_span translation(const void *ctx, size_t sentence)
{
    const ranked *r = ctx;
    const rela_call *c = r->call;
    const rela_span text = rela_call_translation(c, sentence, r->rank);
    if (!c->html)
        return text;
    const rela_outcome *o = c->outcomes[sentence];
    rela_buffer_clear(r->markup);
    *r->status = *r->status
                     ? *r->status
                     : rela_markup_render(r->markup, &c->text, &c->text.items[c->where[sentence]],
                                          text, o->links, r->rank == 0 ? o->n_links : 0, r->err);
    return (rela_span){ r->markup->data, r->markup->len };
}

/* The translation of a text, as a JSON string. */
static rela_status quote_text(rela_buffer *out, const rela_call *c, size_t text, size_t rank,
                              rela_error *err)
{
    rela_buffer b = RELA_BUFFER_INIT, markup = RELA_BUFFER_INIT;
    rela_status rendered = RELA_OK;
    const ranked r = { c, rank, &markup, &rendered, err };
    rela_status st = rela_passages_join(&b, &c->text, text, translation, &r, err);
    st = st ? st : rendered;
    st = st ? st : rela_json_quote(out, b.len ? b.data : "", b.len, err);
    rela_buffer_free(&b);
    rela_buffer_free(&markup);
    return st;
}

/* ---- LibreTranslate ---- */

static bool same_text(const rela_buffer *out, size_t a, size_t a_end, size_t b, size_t b_end)
{
    return a_end - a == b_end - b && memcmp(out->data + a, out->data + b, a_end - a) == 0;
}

/* The other translations of a text, without those that are empty or the same as one before. */
static rela_status write_alternatives(rela_buffer *out, const rela_call *c, size_t text,
                                      rela_error *err)
{
    enum { MOST = 64 };
    rela_buffer all = RELA_BUFFER_INIT;
    size_t begin[MOST], end[MOST], n = 0;
    const size_t n_best = rela_call_n_best(c, text);
    rela_status st = rela_buffer_append_text(out, "[", err);
    for (size_t rank = 0; rank < n_best && rank < MOST && st == RELA_OK; rank++) {
        begin[n] = all.len;
        st = quote_text(&all, c, text, rank, err);
        end[n] = all.len;
        bool known = end[n] - begin[n] <= 2;
        for (size_t k = 0; k < n && st == RELA_OK; k++)
            known = known || same_text(&all, begin[k], end[k], begin[n], end[n]);
        if (known && rank > 0)
            continue;
        if (rank > 0 && st == RELA_OK) {
            st = rela_buffer_append_text(out, n > 1 ? "," : "", err);
            st = st ? st : rela_buffer_append(out, all.data + begin[n], end[n] - begin[n], err);
        }
        n++;
    }
    rela_buffer_free(&all);
    return st ? st : rela_buffer_append_text(out, "]", err);
}

/* One value for one text, a list for a list. */
static rela_status write_each(rela_buffer *out, const rela_call *c,
                              rela_status (*put)(rela_buffer *out, const rela_call *c, size_t text,
                                                 rela_error *err),
                              rela_error *err)
{
    rela_status st = c->listed ? rela_buffer_append_text(out, "[", err) : RELA_OK;
    for (size_t i = 0; i < c->text.n_texts && st == RELA_OK; i++) {
        st = rela_buffer_append_text(out, i ? "," : "", err);
        st = st ? st : put(out, c, i, err);
    }
    return st || !c->listed ? st : rela_buffer_append_text(out, "]", err);
}

static rela_status write_best(rela_buffer *out, const rela_call *c, size_t text, rela_error *err)
{
    return quote_text(out, c, text, 0, err);
}

static rela_status write_detected(rela_buffer *out, const rela_call *c, size_t text,
                                  rela_error *err)
{
    (void)text;
    return rela_buffer_printf(out, err, "{\"confidence\":0,\"language\":\"%s\"}", c->model->source);
}

static rela_status write_libre(rela_buffer *out, const rela_call *c, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, "{\"translatedText\":", err);
    st = st ? st : write_each(out, c, write_best, err);
    if (st == RELA_OK && c->alternatives > 0) {
        st = rela_buffer_append_text(out, ",\"alternatives\":", err);
        st = st ? st : write_each(out, c, write_alternatives, err);
    }
    if (st == RELA_OK && c->detected) {
        st = rela_buffer_append_text(out, ",\"detectedLanguage\":", err);
        st = st ? st : write_each(out, c, write_detected, err);
    }
    return st ? st : rela_buffer_append_text(out, "}", err);
}

/* ---- DeepL ---- */

/* Of a source text. */
static size_t characters(const rela_call *c, size_t text)
{
    size_t n = 0;
    for (size_t i = c->text.first[text]; i < c->text.first[text + 1]; i++)
        for (size_t k = c->text.items[i].begin; k < c->text.items[i].end; k++)
            n += ((unsigned char)c->text.texts.data[k] & 0xC0) != 0x80;
    return n;
}

static rela_status write_deepl(rela_buffer *out, const rela_call *c, rela_error *err)
{
    char code[16];
    rela_format_text(code, sizeof code, "%s", c->model->source);
    for (char *l = code; *l; l++)
        *l = *l >= 'a' && *l <= 'z' ? (char)(*l + 'A' - 'a') : *l;
    rela_status st = rela_buffer_append_text(out, "{\"translations\":[", err);
    for (size_t i = 0; i < c->text.n_texts && st == RELA_OK; i++) {
        st = rela_buffer_printf(
            out, err, "%s{\"detected_source_language\":\"%s\",\"text\":", i ? "," : "", code);
        st = st ? st : quote_text(out, c, i, 0, err);
        st =
            st ? st : rela_buffer_printf(out, err, ",\"billed_characters\":%zu}", characters(c, i));
    }
    return st ? st : rela_buffer_append_text(out, "]}", err);
}

/* ---- our own ---- */

static rela_status write_figures(rela_buffer *out, double score, double logp, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, ",\"score\":", err);
    st = st ? st : rela_json_number(out, score, DIGITS, err);
    st = st ? st : rela_buffer_append_text(out, ",\"logp\":", err);
    return st ? st : rela_json_number(out, logp, DIGITS, err);
}

/* A translation of one sentence, as an object that is left open. */
static rela_status write_sentence(rela_buffer *out, const rela_call *c, size_t sentence,
                                  size_t rank, rela_error *err)
{
    const rela_outcome *o = c->outcomes[sentence];
    const rela_outcome_text *t = &o->best[rank];
    const rela_passage *p = &c->text.items[c->where[sentence]];
    const rela_span text = rela_call_translation(c, sentence, rank);
    rela_status st = rela_buffer_append_text(out, "{\"source\":", err);
    st = st ? st : rela_json_quote(out, c->text.texts.data + p->begin, p->end - p->begin, err);
    st = st ? st : rela_buffer_append_text(out, ",\"text\":", err);
    st = st ? st : rela_json_quote(out, text.len ? text.text : "", text.len, err);
    st = st ? st : write_figures(out, t->score, t->logp, err);
    if (st == RELA_OK && t->ended > t->details)
        st = rela_buffer_append(out, o->text.data + t->details, t->ended - t->details, err);
    return st;
}

/* A translation of a text: the text, its figures, and the sentences it was made of. */
static rela_status write_rank(rela_buffer *out, const rela_call *c, size_t text, size_t rank,
                              rela_error *err)
{
    const size_t first = first_sentence(c, text), n = sentences_of(c, text);
    double score = 0, logp = 0;
    rela_status st = rela_buffer_append_text(out, "{\"text\":", err);
    st = st ? st : quote_text(out, c, text, rank, err);
    for (size_t i = first; i < first + n; i++) {
        score += c->outcomes[i]->best[rank].score;
        logp += c->outcomes[i]->best[rank].logp;
    }
    st = st ? st : write_figures(out, score, logp, err);
    st = st ? st : rela_buffer_append_text(out, ",\"sentences\":[", err);
    for (size_t i = first; i < first + n && st == RELA_OK; i++) {
        st = rela_buffer_append_text(out, i > first ? "," : "", err);
        st = st ? st : write_sentence(out, c, i, rank, err);
        st = st ? st : rela_buffer_append_text(out, "}", err);
    }
    return st ? st : rela_buffer_append_text(out, "]", err);
}

static rela_status write_own(rela_buffer *out, const rela_call *c, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, "{\"model\":", err);
    st = st ? st : rela_json_quote(out, c->model->name, strlen(c->model->name), err);
    st =
        st ? st
           : rela_buffer_printf(out, err, ",\"source\":\"%s\",\"target\":\"%s\",\"translations\":[",
                                c->model->source, c->model->target);
    for (size_t i = 0; i < c->text.n_texts && st == RELA_OK; i++) {
        const size_t n = rela_call_n_best(c, i);
        st = rela_buffer_append_text(out, i ? "," : "", err);
        st = st ? st : write_rank(out, c, i, 0, err);
        if (st == RELA_OK && c->options.n_best > 1) {
            st = rela_buffer_append_text(out, ",\"alternatives\":[", err);
            for (size_t rank = 1; rank < n && st == RELA_OK; rank++) {
                st = rela_buffer_append_text(out, rank > 1 ? "," : "", err);
                st = st ? st : write_rank(out, c, i, rank, err);
                st = st ? st : rela_buffer_append_text(out, "}", err);
            }
            st = st ? st : rela_buffer_append_text(out, "]", err);
        }
        st = st ? st : rela_buffer_append_text(out, "}", err);
    }
    return st ? st : rela_buffer_append_text(out, "]}", err);
}

rela_status rela_answers_event(rela_buffer *out, const rela_call *c, size_t sentence,
                               rela_error *err)
{
    size_t text = 0;
    while (text + 1 < c->text.n_texts && c->where[sentence] >= c->text.first[text + 1])
        text++;
    rela_status st = rela_buffer_printf(out, err,
                                        "event: sentence\ndata: {\"text_number\":%zu,"
                                        "\"sentence\":%zu,\"translations\":[",
                                        text, sentence);
    for (size_t rank = 0; rank < c->outcomes[sentence]->n && st == RELA_OK; rank++) {
        st = rela_buffer_append_text(out, rank ? "," : "", err);
        st = st ? st : write_sentence(out, c, sentence, rank, err);
        st = st ? st : rela_buffer_append_text(out, "}", err);
    }
    return st ? st : rela_buffer_append_text(out, "]}\n\n", err);
}

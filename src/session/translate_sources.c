/* SPDX-License-Identifier: MIT */
/* src/session/translate_sources.c - what is translated: sentences of texts, their ids, parts of
 * those that are longer than the model allows. See translate_job.h. */
#include "session/translate_job.h"

#include "base/mem.h"

#include <string.h>

enum {
    RANK_SHIFT = 40, /* so that sentences of a text have random numbers of their own */
    /* A text of more sentences has no word links, like one translated in parts: memory for
     * attention would grow with its length. */
    LINKED_SENTENCES = 64,
    FOREIGN_LEAST = 10 /* fewer tokens may be names */
};

static rela_status divide(rela_translate_job *j, size_t i, rela_error *err);
static size_t part_end(const rela_translate_job *j, const int32_t *ids, const uint32_t *words,
                       size_t n, size_t most);
static rela_status add_part(rela_translate_job *j, size_t text, size_t first, size_t n,
                            rela_error *err);
static rela_status add_sources(rela_translate_job *j, size_t i, rela_error *err);

rela_status rela_translate_split(rela_translate_job *j, rela_error *err)
{
    const rela_translate_options *o = j->options;
    rela_splitter *own = NULL;
    rela_splitter_options with = { .struct_size = sizeof with, .language = o->src_language };
    if (o->split == RELA_SPLIT_NEVER || j->n_sources > 1)
        return RELA_OK;
    j->sentences.callback = &j->callback;
    rela_status st = o->src_language ? rela_splitter_create(&own, &with, err) : RELA_OK;
    st = st ? st
            : rela_sentences_find(
                  &j->sentences, own ? own : j->session->splitter, j->texts, j->lens, j->n, o,
                  rela_translate_cuts(j) ? rela_text_bytes(j->most) : SIZE_MAX, err);
    rela_splitter_destroy(own);
    j->texts = j->sentences.texts;
    j->lens = j->sentences.lens;
    j->n = j->sentences.n;
    return st;
}

/* Index of a sentence in its text. */
static uint64_t rank_of(const rela_translate_job *j, size_t i)
{
    return j->sentences.n ? i - j->sentences.first[j->sentences.text_of[i]] : 0;
}

static void warn(const rela_translate_job *j, size_t i, const char *what)
{
    rela_log_line(&j->model->runtime->log, RELA_LOG_WARNING,
                  "line %llu: longer than the %zu tokens that the model takes: %s",
                  (unsigned long long)rela_translate_number(j, i), j->most, what);
}

static rela_status encode_sources(rela_translate_job *j, size_t i, rela_error *err)
{
    rela_encode_how how = { .most = rela_translate_cuts(j) ? j->most : 0,
                            .with_end = true,
                            .several = j->n_sources > 1 };
    rela_status st = RELA_OK;
    for (; how.side < j->n_sources && st == RELA_OK; how.side++) {
        const size_t text = i * j->n_sources + how.side;
        bool cut = false;
        st = rela_id_list_add(&j->result->sources, &cut, j->session->scratch, &how, j->texts[text],
                              rela_text_len(j->texts, j->lens, text), err);
        if (cut)
            warn(j, i, "the rest is not translated");
    }
    return st;
}

/* Warns once if most of the text so far is not of the source language. */
static void check_language(const rela_translate_job *j)
{
    const rela_id_list *l = &j->result->sources;
    const rela_model *m = j->model;
    rela_session *s = j->session;
    for (size_t i = 0; i < j->n; i++) {
        const size_t text = i * j->n_sources;
        for (size_t k = l->at[text]; k < l->at[text + 1]; k++) {
            s->n_tokens += l->ids[k] != RELA_VOCAB_EOS;
            s->n_foreign += !rela_pipeline_is_source(m->pipeline, l->ids[k]);
        }
    }
    if (s->foreign_text || s->n_tokens < FOREIGN_LEAST || 2 * s->n_foreign <= s->n_tokens)
        return;
    const char *language = rela_pipeline_parts_of(m->pipeline)->side[0].language;
    s->foreign_text = true;
    rela_log_line(&m->runtime->log, RELA_LOG_WARNING,
                  "%.0f %% of the tokens of the text are unknown, or not of the source language of "
                  "%s%s%s; is it the right text?",
                  100 * (double)s->n_foreign / (double)s->n_tokens, m->path, *language ? ", " : "",
                  language);
}

rela_status rela_translate_encode(rela_translate_job *j, rela_error *err)
{
    const rela_translate_options *o = j->options;
    const rela_encode_how prefix = { .side = j->n_sources, .most = j->most };
    rela_status st = RELA_OK;
    for (size_t i = 0; i < j->n && st == RELA_OK; i++) {
        st = encode_sources(j, i, err);
        st = st ? st : rela_callback_check(&j->callback, 0, err);
        const size_t text = rela_translate_text_of(j, i);
        if (st == RELA_OK && o->prefix)
            st = rela_id_list_add(&j->prefixes, NULL, j->session->scratch, &prefix, o->prefix[text],
                                  rela_text_len(o->prefix, o->prefix_len, text), err);
    }
    if (st == RELA_OK)
        check_language(j);
    j->first_part = rela_mem_array(j->n + 1, sizeof *j->first_part);
    if (st == RELA_OK && !j->first_part)
        st = rela_fail(err, RELA_NOMEM, "no memory to translate %zu texts", j->n);
    for (size_t i = 0; i < j->n && st == RELA_OK; i++) {
        j->first_part[i] = j->n_parts;
        st = divide(j, i, err);
        j->first_part[i + 1] = j->n_parts;
    }
    return st;
}

/* Number of sentences in the text of sentence i. */
static size_t sentences_beside(const rela_translate_job *j, size_t i)
{
    if (!j->sentences.n)
        return 1;
    const size_t text = j->sentences.text_of[i];
    return j->sentences.first[text + 1] - j->sentences.first[text];
}

/* The parts of a text: one, unless it is too long. */
static rela_status divide(rela_translate_job *j, size_t i, rela_error *err)
{
    const rela_id_list *l = &j->result->sources;
    const size_t most = j->most;
    if (j->n_sources > 1)
        return add_sources(j, i, err);
    const size_t n = l->at[i + 1] - l->at[i] - 1;
    rela_status st = RELA_OK;
    if (n <= most) {
        st = add_part(j, i, 0, n, err);
        if (st == RELA_OK)
            j->parts[j->n_parts - 1].part = sentences_beside(j, i) > LINKED_SENTENCES;
        return st;
    }
    warn(j, i, "translated in parts");
    for (size_t first = 0, count = 0; first < n && st == RELA_OK; first += count) {
        count =
            part_end(j, l->ids + l->at[i] + first, l->words + l->at[i] + first, n - first, most);
        st = add_part(j, i, first, count, err);
        if (st == RELA_OK)
            j->parts[j->n_parts - 1].part = true;
    }
    return st;
}

/* How good a place to cut is after token k; 0: inside a word. */
static int cut_rank(const rela_vocab *v, const int32_t *ids, const uint32_t *words, size_t k)
{
    const char *token = rela_vocab_token(v, ids[k]);
    if (words[k + 1] == words[k])
        return 0;
    if (token[0] && !token[1])
        return strchr(".!?", token[0]) ? 4 : strchr(";:", token[0]) ? 3 : token[0] == ',' ? 2 : 1;
    return 1;
}

/* Tokens of the next part: as many as fit, but preferably up to a punctuation mark in their second
 * half. words has an entry after the last of the n tokens, that of the end symbol. */
static size_t part_end(const rela_translate_job *j, const int32_t *ids, const uint32_t *words,
                       size_t n, size_t most)
{
    const rela_vocab *v = rela_pipeline_vocab(j->model->pipeline, 0);
    size_t best = most;
    int rank = 0;
    if (n <= most)
        return n;
    for (size_t k = most; k > most / 2; k--) {
        const int here = cut_rank(v, ids, words, k - 1);
        if (here > rank) {
            rank = here;
            best = k;
        }
    }
    return best;
}

/* All sources of a sentence, as one part. */
static rela_status add_sources(rela_translate_job *j, size_t i, rela_error *err)
{
    const rela_id_list *l = &j->result->sources;
    const size_t first = i * j->n_sources;
    const rela_status st = add_part(j, i, 0, l->at[first + j->n_sources] - l->at[first], err);
    for (size_t k = 0; k < j->n_sources && st == RELA_OK; k++) {
        const size_t at = l->at[first + k], rows = l->at[first + k + 1] - at;
        j->parts[j->n_parts - 1].text[k] = (rela_source_text){ l->ids + at, rows ? rows - 1 : 0 };
    }
    return st;
}

static rela_status add_part(rela_translate_job *j, size_t text, size_t first, size_t n,
                            rela_error *err)
{
    const rela_id_list *l = &j->result->sources, *p = &j->prefixes;
    rela_source *parts = rela_mem_grow(j->parts, &j->cap_parts, j->n_parts + 1, sizeof *parts);
    if (!parts)
        return rela_fail(err, RELA_NOMEM, "no memory to translate %zu texts", j->n);
    j->parts = parts;
    parts[j->n_parts++] = (rela_source){
        .text = { { l->ids + l->at[text] + first, n } },
        .number = rela_translate_number(j, text) + (rank_of(j, text) << RANK_SHIFT),
    };
    if (first == 0 && n && p->n_texts) {
        parts[j->n_parts - 1].prefix = p->ids + p->at[text];
        parts[j->n_parts - 1].n_prefix = p->at[text + 1] - p->at[text];
    }
    return RELA_OK;
}

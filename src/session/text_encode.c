/* SPDX-License-Identifier: MIT */
/* src/session/text_encode.c - what is translated: sentences of a text, their ids, parts of those
 * that are longer than the model allows. See text_job.h. */
#include "session/text_job.h"

#include "base/mem.h"

#include <string.h>

enum {
    RANK_SHIFT = 40, /* so that sentences of a text have random numbers of their own */
    /* A text of more sentences has no word links, like one translated in parts: memory for
     * attention would grow with its length. */
    LINKED_SENTENCES = 64
};

static rela_status split(rela_text_job *j, rela_text_scratch *s, rela_error *err);
static rela_status encode(rela_text_job *j, rela_text_scratch *s, rela_error *err);
static rela_status reserve_parts(rela_text_job *j, rela_error *err);
static rela_status keep_sources(rela_text_job *j, const rela_id_list *l, rela_arena *arena,
                                rela_error *err);
static rela_status divide(rela_text_job *j, size_t i, rela_error *err);
static size_t part_end(const rela_text_job *j, const int32_t *ids, const uint32_t *words, size_t n);
static rela_status add_part(rela_text_job *j, size_t sentence, size_t first, size_t n,
                            rela_error *err);
static rela_status set_prefix(rela_text_job *j, const rela_id_list *l, rela_arena *arena,
                              rela_error *err);
static void end_part(rela_pool_task *t, size_t worker, const rela_search_result *r,
                     const rela_error *why);

rela_status rela_text_scratch_init(rela_text_scratch *s, const rela_model *m, rela_error *err)
{
    return s->pipeline ? RELA_OK : rela_pipeline_scratch_create(&s->pipeline, m->pipeline, err);
}

void rela_text_scratch_deinit(rela_text_scratch *s)
{
    rela_pipeline_scratch_destroy(s->pipeline);
    rela_sentences_free(&s->sentences);
    rela_id_list_free(&s->sources);
    rela_id_list_free(&s->prefix);
    rela_buffer_free(&s->text);
    rela_buffer_free(&s->pieces);
    rela_buffer_free(&s->words);
    rela_mem_free(s->instead);
    rela_mem_free(s->spans);
    *s = (rela_text_scratch){ .pipeline = NULL };
}

void rela_text_job_deinit(rela_text_job *j)
{
    rela_mem_free(j->sentences);
    rela_mem_free(j->parts);
    if (j->sentences)
        (void)pthread_mutex_destroy(&j->lock);
    j->sentences = NULL;
    j->parts = NULL;
}

/* The sources of a sentence cannot be divided at matching places, so they are cut off. */
static bool cuts(const rela_text_job *j)
{
    return j->call->n_sources > 1 || j->call->options.long_sentence == RELA_LONG_CUT;
}

void rela_text_job_warn(const rela_text_job *j)
{
    static const char *const WHAT[] = { "the rest is not translated", "translated in parts" };
    for (int i = 0; i < 2; i++)
        if (i ? j->divided : j->cut)
            rela_log_line(&j->call->model->runtime->log, RELA_LOG_WARNING,
                          "line %llu: longer than the %zu tokens that the model takes: %s",
                          (unsigned long long)j->line, j->call->most, WHAT[i]);
}

rela_status rela_text_job_encode(rela_text_job *j, rela_text_scratch *s, rela_arena *arena,
                                 rela_error *err)
{
    rela_status st = split(j, s, err);
    st = st ? st : encode(j, s, err);
    st = st ? st : reserve_parts(j, err);
    st = st ? st : keep_sources(j, &s->sources, arena, err);
    for (size_t i = 0; i < j->n_sentences && st == RELA_OK; i++)
        st = divide(j, i, err);
    if (st == RELA_OK && j->prefix)
        st = set_prefix(j, &s->prefix, arena, err);
    atomic_store(&j->left, j->n_parts);
    return st;
}

/* The sentences of the text: one, if it is not to be split. */
static rela_status split(rela_text_job *j, rela_text_scratch *s, rela_error *err)
{
    const rela_text_call *c = j->call;
    const size_t len = rela_text_len(j->texts, j->lens, 0);
    const bool whole = !c->splitter || j->prefix_len;
    rela_status st = whole
                         ? RELA_OK
                         : rela_sentences_find(&s->sentences, c->splitter, j->texts[0], len,
                                               cuts(j) ? rela_text_bytes(c->most) : SIZE_MAX, err);
    j->n_sentences = whole ? 1 : s->sentences.n;
    j->sentences = rela_mem_zalloc((j->n_sentences + 1) * sizeof *j->sentences);
    if (!j->sentences)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu sentences", j->n_sentences);
    (void)pthread_mutex_init(&j->lock, NULL);
    for (size_t i = 0; i < j->n_sentences && st == RELA_OK; i++) {
        j->sentences[i].text = whole ? j->texts[c->source] : s->sentences.texts[i];
        j->sentences[i].len =
            whole ? rela_text_len(j->texts, j->lens, c->source) : s->sentences.lens[i];
    }
    return st;
}

size_t rela_text_piece(const rela_text_job *j, const char *text, size_t len)
{
    const size_t most = rela_text_bytes(j->call->model->net.config.max_len);
    size_t word = 0, cut = most;
    if (len <= most || cuts(j))
        return len;
    for (size_t k = most; k > most / 2; k--)
        if (text[k] == ' ') {
            if (strchr(".!?", text[k - 1]) && text[k - 1])
                return k;
            word = word ? word : k;
        }
    while (cut > most / 2 && ((unsigned char)text[cut] & 0xC0) == 0x80) /* inside a character */
        cut--;
    return word ? word : cut;
}

/* Appends the ids of a sentence, encoded in pieces. */
static rela_status add_text(const rela_text_job *j, rela_text_scratch *s, bool *cut,
                            const rela_encode_how *how, rela_span text, rela_error *err)
{
    rela_id_list *l = &s->sources;
    const size_t number = l->n_texts, first = l->n;
    rela_status st = RELA_OK;
    size_t at = 0;
    do {
        const size_t n = rela_text_piece(j, text.text + at, text.len - at), begin = l->n;
        rela_encode_how part = *how;
        part.with_end = how->with_end && at + n == text.len;
        st = rela_id_list_add(l, cut, s->pipeline, &part, text.text + at, n, err);
        const uint32_t words = begin > first && st == RELA_OK ? l->words[begin - 1] + 1 : 0;
        for (size_t k = begin; k < l->n && words && st == RELA_OK; k++)
            l->words[k] += words;
        if (st == RELA_OK) { /* one text, however many pieces */
            l->n_texts = number + 1;
            l->at[number + 1] = l->n;
        }
        at += n;
        st = st ? st : rela_callback_check(j->call->callback, 0, err);
    } while (at < text.len && st == RELA_OK);
    return st;
}

/* All sources of all sentences as ids. */
static rela_status encode(rela_text_job *j, rela_text_scratch *s, rela_error *err)
{
    const rela_text_call *c = j->call;
    const rela_encode_how prefix = { .side = c->n_sources, .most = c->most };
    rela_encode_how how = { .most = cuts(j) ? c->most : 0,
                            .with_end = true,
                            .several = c->n_sources > 1 };
    rela_status st = RELA_OK;
    s->sources.n = s->sources.n_texts = s->prefix.n = s->prefix.n_texts = 0;
    for (size_t i = 0; i < j->n_sentences && st == RELA_OK; i++)
        for (how.side = 0; how.side < c->n_sources && st == RELA_OK; how.side++) {
            const rela_text_sentence *x = &j->sentences[i];
            const size_t k = how.side;
            const rela_span text =
                c->n_sources > 1 ? (rela_span){ j->texts[k], rela_text_len(j->texts, j->lens, k) }
                                 : (rela_span){ x->text, x->len };
            bool cut = false;
            st = add_text(j, s, &cut, &how, text, err);
            j->cut = j->cut || cut;
        }
    if (st == RELA_OK && j->prefix)
        st =
            rela_id_list_add(&s->prefix, NULL, s->pipeline, &prefix, j->prefix, j->prefix_len, err);
    return st;
}

/* As many as there are sentences: growing by doubling would take twice the memory. */
static rela_status reserve_parts(rela_text_job *j, rela_error *err)
{
    j->cap_parts = j->n_sentences;
    j->parts = rela_mem_array(j->n_sentences, sizeof *j->parts);
    return j->parts ? RELA_OK
                    : rela_fail(err, RELA_NOMEM, "no memory for %zu parts", j->n_sentences);
}

static void *copy(rela_arena *arena, const void *from, size_t bytes)
{
    void *to = rela_arena_alloc(arena, bytes);
    if (to && bytes)
        memcpy(to, from, bytes);
    return to;
}

/* Ids and words go to the arena; parts are made of them. */
static rela_status keep_sources(rela_text_job *j, const rela_id_list *l, rela_arena *arena,
                                rela_error *err)
{
    const rela_text_call *c = j->call;
    const int32_t *ids = copy(arena, l->ids, l->n * sizeof *ids);
    const uint32_t *words = copy(arena, l->words, l->n * sizeof *words);
    if (!ids || !words)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu tokens", l->n);
    for (size_t i = 0; i < j->n_sentences; i++) {
        const size_t *at = l->at + i * c->n_sources + c->source;
        j->sentences[i].src = ids + at[0];
        j->sentences[i].words = words + at[0];
        j->sentences[i].n_src = at[1] - at[0];
    }
    if (c->n_sources == 1)
        return RELA_OK;
    const rela_status st = add_part(j, 0, 0, 0, err);
    for (size_t k = 0; k < c->n_sources && st == RELA_OK; k++) {
        const size_t rows = l->at[k + 1] - l->at[k];
        j->parts[0].task.source.text[k] = (rela_source_text){ ids + l->at[k], rows ? rows - 1 : 0 };
    }
    return st;
}

/* The parts of a sentence: one, unless it is too long. */
static rela_status divide(rela_text_job *j, size_t i, rela_error *err)
{
    const rela_text_sentence *x = &j->sentences[i];
    rela_status st = RELA_OK;
    if (j->call->n_sources == 1) {
        const size_t n = x->n_src - 1, begin = j->n_parts;
        j->sentences[i].first_part = begin;
        size_t first = 0;
        do {
            const size_t count = part_end(j, x->src + first, x->words + first, n - first);
            st = add_part(j, i, first, count, err);
            first += count;
        } while (first < n && st == RELA_OK);
        const bool divided = j->n_parts > begin + 1;
        j->divided = j->divided || divided;
        for (size_t k = begin; k < j->n_parts; k++)
            j->parts[k].task.source.part = divided || j->n_sentences > LINKED_SENTENCES;
    }
    j->sentences[i + 1].first_part = j->n_parts;
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
static size_t part_end(const rela_text_job *j, const int32_t *ids, const uint32_t *words, size_t n)
{
    const rela_vocab *v = rela_pipeline_vocab(j->call->model->pipeline, 0);
    const size_t most = j->call->most;
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

static rela_status add_part(rela_text_job *j, size_t sentence, size_t first, size_t n,
                            rela_error *err)
{
    rela_text_part *parts = rela_mem_grow(j->parts, &j->cap_parts, j->n_parts + 1, sizeof *parts);
    if (!parts)
        return rela_fail(err, RELA_NOMEM, "no memory for a text of %zu parts", j->n_parts + 1);
    j->parts = parts;
    rela_text_part *p = &parts[j->n_parts++];
    memset(p, 0, sizeof *p);
    p->job = j;
    p->task.source.text[0] = (rela_source_text){ j->sentences[sentence].src + first, n };
    p->task.source.number = j->line + ((uint64_t)sentence << RANK_SHIFT);
    p->task.options = &j->call->search;
    p->task.deadline = j->call->deadline;
    p->task.on_end = end_part;
    return RELA_OK;
}

/* The prefix is that of the first part, which must not be empty. */
static rela_status set_prefix(rela_text_job *j, const rela_id_list *l, rela_arena *arena,
                              rela_error *err)
{
    rela_source *first = &j->parts[0].task.source;
    const int32_t *ids = copy(arena, l->ids, l->n * sizeof *ids);
    if (!ids)
        return rela_fail(err, RELA_NOMEM, "no memory for a prefix");
    if (j->call->n_sources > 1 ? rela_source_longest(first) > 0 : first->text[0].n > 0) {
        first->prefix = ids;
        first->n_prefix = l->n;
    }
    return RELA_OK;
}

static void end_part(rela_pool_task *t, size_t worker, const rela_search_result *r,
                     const rela_error *why)
{
    rela_text_part *p = (rela_text_part *)t;
    rela_text_job *j = p->job;
    rela_arena *arena = r ? j->arena(j, worker) : NULL;
    rela_error err;
    rela_status st = r ? RELA_NOMEM : why->status;
    if (arena)
        st = rela_search_result_keep(&p->found, arena, r, &t->source, t->options, &err);
    else if (r)
        (void)rela_fail(&err, RELA_NOMEM, "no memory for the translations");
    else
        err = *why;
    if (st != RELA_OK) {
        (void)pthread_mutex_lock(&j->lock);
        if (j->status == RELA_OK) {
            j->status = st;
            j->err = err;
        }
        (void)pthread_mutex_unlock(&j->lock);
    }
    if (atomic_fetch_sub(&j->left, 1) == 1)
        j->on_end(j, worker);
}

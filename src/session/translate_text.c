/* SPDX-License-Identifier: MIT */
/* src/session/translate_text.c - rela_translate: raw text to ids, search, ids to raw text.
 *
 * A text of several sentences is split first, and the results of its sentences are joined at the
 * end; in between each sentence is one source of the search, or several parts if it is longer than
 * the model allows. */
#include "base/mem.h"
#include "base/sized.h"
#include "session/translate_job.h"

#include <math.h>
#include <string.h>

static rela_status check_options(const rela_translate_options *o, const rela_model *m,
                                 rela_error *err);
static rela_status check_shortlist(const rela_translate_options *o, const rela_model *m,
                                   rela_error *err);
static rela_search_options search_options(const rela_translate_options *o);
static rela_status build(rela_translate_job *j, rela_error *err);
static rela_status build_text(rela_translate_job *j, size_t i, rela_error *err);
static rela_status join(rela_translate_job *j, rela_translation *t, size_t i, size_t rank,
                        rela_error *err);
static rela_status replace_unknown(rela_translate_job *j, const rela_translation *t, size_t i,
                                   size_t rank, rela_error *err);

void rela_translate_options_init(rela_translate_options *o, size_t size)
{
    rela_search_options s;
    rela_search_options_init(&s);
    const rela_translate_options defaults = { .struct_size = size,
                                              .method = s.method,
                                              .beam_size = (int32_t)s.beam,
                                              .n_best = (int32_t)s.n_best,
                                              .penalty = s.penalty,
                                              .length_penalty = s.alpha,
                                              .max_factor = s.max_factor,
                                              .max_extra = (int32_t)s.max_extra,
                                              .temperature = s.temperature,
                                              .top_p = s.top_p,
                                              .seed = 1,
                                              .batch_sentences = (int32_t)s.batch_sentences,
                                              .batch_tokens = (int32_t)s.batch_tokens };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_translate(rela_result **out, rela_session *s, const char *const *texts,
                           const size_t *lens, size_t n, const rela_translate_options *o,
                           rela_error *err)
{
    rela_translate_options own;
    rela_translate_options_init(&own, sizeof own);
    *out = NULL;
    rela_status st = rela_sized_take(&own, sizeof own, o, "rela_translate_options", err);
    st = st ? st : check_options(&own, s->models[0], err);
    for (size_t i = 0; i < s->n_models && st == RELA_OK; i++)
        st = rela_packed_weights_check(&s->models[i]->packed, err);
    st = st ? st : check_shortlist(&own, s->models[0], err);
    if (st != RELA_OK)
        return st;
    rela_translate_job j = { .session = s,
                             .model = s->models[0],
                             .texts = texts,
                             .lens = lens,
                             .n = n,
                             .n_sources = s->models[0]->net.config.sources,
                             .source = (size_t)own.source,
                             .most = rela_session_most(s),
                             .options = &own,
                             .result = rela_mem_zalloc(sizeof *j.result) };
    if (!j.result)
        return rela_fail(err, RELA_NOMEM, "no memory for the translations");
    j.result->model = j.model;
    st = rela_callback_start(&j.callback, own.progress, own.progress_ctx, err);
    st = st ? st : rela_translate_split(&j, err);
    st = st ? st : rela_translate_encode(&j, err);
    if (st == RELA_OK) {
        rela_search_options search = search_options(&own);
        search.callback = &j.callback;
        atomic_store(&j.callback.total, j.n_parts);
        st = rela_search_pool_run(&j.result->found, s->pool, j.parts, j.n_parts, &search, err);
    }
    if (st == RELA_OK)
        st = build(&j, err);
    if (st == RELA_OK && j.sentences.n > n)
        st = rela_sentences_join(j.result, &j.sentences, err);
    st = rela_callback_end(&j.callback, st, err);
    rela_sentences_free(&j.sentences);
    rela_id_list_free(&j.prefixes);
    rela_mem_free(j.parts);
    rela_mem_free(j.first_part);
    rela_mem_free(j.instead);
    rela_mem_free(j.spans);
    rela_buffer_free(&j.text);
    rela_buffer_free(&j.pieces);
    rela_buffer_free(&j.words);
    if (st == RELA_OK)
        *out = j.result;
    else
        rela_result_free(j.result);
    return st;
}

/* What the search does not check itself. */
static rela_status check_options(const rela_translate_options *o, const rela_model *m,
                                 rela_error *err)
{
    const struct {
        const char *name;
        int32_t value, least, most;
    } rows[] = { { "search method", o->method, 0, RELA_SEARCH_SAMPLE },
                 { "length penalty", o->penalty, 0, RELA_PENALTY_NONE },
                 { "treatment of unknown words", o->unk, 0, RELA_UNK_REPLACE },
                 { "treatment of long sentences", o->long_sentence, 0, RELA_LONG_CUT },
                 { "treatment of overflow", o->not_finite, 0, RELA_NOT_FINITE_MARK },
                 { "splitting into sentences", o->split, 0, RELA_SPLIT_ALWAYS },
                 { "beam", o->beam_size, 1, RELA_BEAM_MAX },
                 { "number of best translations", o->n_best, 1, RELA_BEAM_MAX },
                 { "longest translation", o->max_extra, 0, INT32_MAX },
                 { "number of symbols to sample from", o->top_k, 0, INT32_MAX },
                 { "batch of sentences", o->batch_sentences, 1, INT32_MAX },
                 { "batch of tokens", o->batch_tokens, 1, INT32_MAX } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value < rows[i].least || rows[i].value > rows[i].most)
            return rela_fail(err, RELA_ARG, "%s is %d; expected %d..%d", rows[i].name,
                             (int)rows[i].value, (int)rows[i].least, (int)rows[i].most);
    const size_t n = m->net.config.sources;
    if (o->source < 0 || (size_t)o->source >= n)
        return rela_fail(err, RELA_ARG, "no source %lld; the model has %zu source%s",
                         1 + (long long)o->source, n, rela_plural(n));
    if (o->split == RELA_SPLIT_ALWAYS && (o->prefix || m->net.config.sources > 1))
        return rela_fail(err, RELA_ARG, "a text with %s cannot be split into sentences",
                         o->prefix ? "a prefix" : "several sources");
    return RELA_OK;
}

static rela_status check_shortlist(const rela_translate_options *o, const rela_model *m,
                                   rela_error *err)
{
    if (!o->shortlist ||
        strcmp(rela_shortlist_parts_of(o->shortlist)->vocab.hash, m->vocab.hash) == 0)
        return RELA_OK;
    return rela_fail(err, RELA_ARG, "the shortlist was made for a model with other vocabularies");
}

static rela_search_options search_options(const rela_translate_options *o)
{
    rela_search_options s;
    rela_search_options_init(&s);
    s.method = o->method;
    s.beam = (size_t)o->beam_size;
    s.n_best = (size_t)o->n_best;
    s.penalty = o->penalty;
    s.alpha = o->length_penalty;
    s.max_factor = o->max_factor;
    s.max_extra = o->max_extra;
    s.forbid_unk = o->unk == RELA_UNK_FORBID;
    s.shortlist = o->shortlist;
    s.temperature = o->temperature;
    s.top_k = (size_t)o->top_k;
    s.top_p = o->top_p;
    s.seed = o->seed;
    s.attention = o->attention;
    s.source = (size_t)o->source;
    s.heaviest = o->unk == RELA_UNK_REPLACE;
    s.batch_sentences = (size_t)o->batch_sentences;
    s.batch_tokens = (size_t)o->batch_tokens;
    return s;
}

/* ---- translations ---- */

static rela_status build(rela_translate_job *j, rela_error *err)
{
    rela_result *r = j->result;
    r->arena = rela_arena_create(0);
    r->items = r->arena ? rela_arena_alloc(r->arena, j->n * sizeof *r->items) : NULL;
    if (!r->items)
        return rela_fail(err, RELA_NOMEM, "no memory for the translations");
    r->n = j->n;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < j->n && st == RELA_OK; i++) {
        st = build_text(j, i, err);
        st = st ? st : rela_callback_check(&j->callback, 0, err);
    }
    return st;
}

static rela_search_result found(const rela_translate_job *j, size_t part)
{
    return rela_search_results_at(j->result->found, part);
}

static const rela_hypothesis *hypothesis(const rela_translate_job *j, size_t part, size_t rank)
{
    const rela_search_result r = found(j, part);
    return r.best + rank;
}

static rela_status build_text(rela_translate_job *j, size_t i, rela_error *err)
{
    rela_result *r = j->result;
    const rela_id_list *l = &r->sources;
    const size_t src = i * j->n_sources + j->source;
    rela_translated *t = &r->items[i];
    size_t n_best = SIZE_MAX;
    bool not_finite = false;
    for (size_t k = j->first_part[i]; k < j->first_part[i + 1]; k++) {
        n_best = found(j, k).n < n_best ? found(j, k).n : n_best;
        not_finite = not_finite || found(j, k).not_finite;
    }
    if (not_finite && j->options->not_finite == RELA_NOT_FINITE_FAIL)
        return rela_fail_not_finite(err, NULL, rela_translate_number(j, i), "logits are");
    n_best = not_finite ? 1 : n_best;
    *t = (rela_translated){ .best = rela_arena_alloc(r->arena, n_best * sizeof *t->best),
                            .n_best = n_best,
                            .src = l->ids + l->at[src],
                            .src_words = l->words + l->at[src],
                            .n_src = l->at[src + 1] - l->at[src],
                            .not_finite = not_finite };
    if (!t->best)
        return rela_fail(err, RELA_NOMEM, "no memory for the translations");
    if (not_finite) {
        t->best[0] =
            (rela_translation){ .text = { "", 0 }, .score = (double)NAN, .logp = (double)NAN };
        return RELA_OK;
    }
    rela_status st = RELA_OK;
    for (size_t rank = 0; rank < n_best && st == RELA_OK; rank++)
        st = join(j, &t->best[rank], i, rank, err);
    return st;
}

static bool has_unknown(const rela_translation *t)
{
    for (size_t k = 0; k < t->n; k++)
        if (t->ids[k] == RELA_UNK)
            return true;
    return false;
}

/* Puts the parts of a text together: ids, log-probabilities, text. */
static rela_status join(rela_translate_job *j, rela_translation *t, size_t i, size_t rank,
                        rela_error *err)
{
    const size_t first = j->first_part[i], end = j->first_part[i + 1];
    rela_arena *arena = j->result->arena;
    size_t n = 0, at = 0;
    for (size_t k = first; k < end; k++)
        n += hypothesis(j, k, rank)->n + 1;
    int32_t *ids = rela_arena_alloc(arena, n * sizeof *ids);
    real *logps = rela_arena_alloc(arena, n * sizeof *logps);
    if (!ids || !logps)
        return rela_fail(err, RELA_NOMEM, "no memory for the translations");
    *t = (rela_translation){ .ids = ids, .logps = logps };
    for (size_t k = first; k < end; k++) {
        const rela_hypothesis *h = hypothesis(j, k, rank);
        const size_t count = h->n + (h->complete && k + 1 == end);
        for (size_t m = 0; m < count; m++) {
            ids[at] = m < h->n ? h->ids[m] : RELA_EOS;
            logps[at++] = h->logps[m];
        }
        t->score += h->score;
        t->logp += h->logp;
        if (first + 1 == end)
            t->attention = h->attention;
    }
    t->n = at;
    rela_status st = RELA_OK;
    const bool replace = j->options->unk == RELA_UNK_REPLACE && has_unknown(t);
    if (replace)
        st = replace_unknown(j, t, i, rank, err);
    rela_buffer_clear(&j->text);
    if (st == RELA_OK)
        st = rela_pipeline_decode(&j->text, j->session->scratch, ids, replace ? j->instead : NULL,
                                  at, err);
    char *text = st == RELA_OK ? rela_arena_alloc(arena, j->text.len + 1) : NULL;
    if (st == RELA_OK && !text)
        st = rela_fail(err, RELA_NOMEM, "no memory for the translations");
    if (text) {
        if (j->text.len)
            memcpy(text, j->text.data, j->text.len);
        text[j->text.len] = '\0';
        t->text = (rela_span){ text, j->text.len };
    }
    return st;
}

/* ---- unknown words ---- */

/* The pieces of the source, which come blank-separated, as spans: j->spans. */
static rela_status index_pieces(rela_translate_job *j, size_t i, rela_error *err)
{
    rela_buffer_clear(&j->pieces);
    const size_t text = i * j->n_sources + j->source, len = rela_text_len(j->texts, j->lens, text);
    const size_t most =
        rela_translate_cuts(j) ? rela_text_bytes(j->model->net.config.max_len - 1) : SIZE_MAX;
    const rela_status st = rela_pipeline_pieces(&j->pieces, j->session->scratch, j->source,
                                                j->texts[text], len < most ? len : most, err);
    const char *at = j->pieces.data, *end = at + j->pieces.len;
    rela_span piece;
    for (size_t n = 0; st == RELA_OK && j->pieces.len && rela_next_word(&piece, &at, end); n++) {
        rela_span *spans = rela_mem_grow(j->spans, &j->cap_spans, n + 1, sizeof *spans);
        if (!spans)
            return rela_fail(err, RELA_NOMEM, "no memory to replace unknown words");
        j->spans = spans;
        spans[n] = piece;
    }
    return st;
}

/* Appends the source word that a piece belongs to, as it was before BPE. */
static rela_status append_word(rela_translate_job *j, const uint32_t *words, size_t piece,
                               rela_error *err)
{
    rela_status st = RELA_OK;
    size_t k = piece;
    while (k > 0 && words[k - 1] == words[piece])
        k--;
    for (; words[k] == words[piece] && st == RELA_OK; k++) {
        const bool more = words[k + 1] == words[piece];
        st = rela_buffer_append(&j->words, j->spans[k].text, j->spans[k].len - (more ? 2 : 0), err);
    }
    return st;
}

static rela_status replace_unknown(rela_translate_job *j, const rela_translation *t, size_t i,
                                   size_t rank, rela_error *err)
{
    const rela_translated *x = &j->result->items[i];
    rela_span *instead = rela_mem_grow(j->instead, &j->cap_instead, t->n, sizeof *instead);
    if (!instead)
        return rela_fail(err, RELA_NOMEM, "no memory to replace unknown words");
    j->instead = instead;
    memset(instead, 0, t->n * sizeof *instead);
    rela_buffer_clear(&j->words);
    rela_status st = index_pieces(j, i, err);
    size_t at = 0;
    for (size_t k = j->first_part[i]; k < j->first_part[i + 1]; k++) {
        const rela_hypothesis *h = hypothesis(j, k, rank);
        const rela_source_text *part = &j->parts[k].text[j->source];
        for (size_t m = 0; m < h->n && st == RELA_OK; m++, at++) {
            if (h->ids[m] != RELA_UNK || part->n == 0)
                continue;
            const size_t start = j->words.len;
            st = append_word(j, x->src_words, (size_t)(part->ids - x->src) + h->heaviest[m], err);
            instead[at].len = j->words.len - start;
        }
    }
    /* Pointers are set only now: the buffer may have moved while it grew. */
    const char *text = j->words.data;
    for (size_t k = 0; k < t->n && st == RELA_OK; k++)
        if (instead[k].len) {
            instead[k].text = text;
            text += instead[k].len;
        }
    return st;
}

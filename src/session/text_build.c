/* SPDX-License-Identifier: MIT */
/* src/session/text_build.c - text of what the search has found: parts and sentences are joined, and
 * unknown words replaced. See text_job.h. */
#include "base/mem.h"
#include "session/text_job.h"

#include <math.h>
#include <string.h>

/* What is being built. */
typedef struct builder {
    const rela_text_job *job;
    rela_text_scratch *scratch;
    rela_arena *arena;
} builder;

static rela_status build_sentence(const builder *b, rela_translated *t, size_t i, rela_error *err);
static rela_status join(const builder *b, rela_translation *t, size_t i, size_t rank,
                        rela_error *err);
static rela_status replace_unknown(const builder *b, const rela_translation *t, size_t i,
                                   size_t rank, rela_error *err);

rela_status rela_text_job_build(rela_translated *out, const rela_text_job *j, rela_text_scratch *s,
                                rela_arena *arena, rela_error *err)
{
    const builder b = { j, s, arena };
    rela_translated *items = rela_arena_alloc(arena, j->n_sentences * sizeof *items);
    rela_status st = items ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for the translations");
    for (size_t i = 0; i < j->n_sentences && st == RELA_OK; i++)
        st = build_sentence(&b, &items[i], i, err);
    if (st == RELA_OK && j->n_sentences == 1)
        *out = items[0];
    else if (st == RELA_OK)
        st = rela_sentences_join(out, arena, items, j->n_sentences, err);
    return st;
}

static const rela_search_result *found(const builder *b, size_t part)
{
    return &b->job->parts[part].found;
}

static const rela_hypothesis *hypothesis(const builder *b, size_t part, size_t rank)
{
    return found(b, part)->best + rank;
}

static rela_status build_sentence(const builder *b, rela_translated *t, size_t i, rela_error *err)
{
    const rela_text_job *j = b->job;
    const rela_text_sentence *x = &j->sentences[i];
    size_t n_best = SIZE_MAX;
    bool not_finite = false;
    for (size_t k = x->first_part; k < x[1].first_part; k++) {
        n_best = found(b, k)->n < n_best ? found(b, k)->n : n_best;
        not_finite = not_finite || found(b, k)->not_finite;
    }
    if (not_finite && j->call->options.not_finite == RELA_NOT_FINITE_FAIL)
        return rela_fail_not_finite(err, NULL, j->line, "logits are");
    n_best = not_finite ? 1 : n_best;
    *t = (rela_translated){ .best = rela_arena_alloc(b->arena, n_best * sizeof *t->best),
                            .n_best = n_best,
                            .src = x->src,
                            .src_words = x->words,
                            .n_src = x->n_src,
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
        st = join(b, &t->best[rank], i, rank, err);
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
static rela_status join(const builder *b, rela_translation *t, size_t i, size_t rank,
                        rela_error *err)
{
    const size_t first = b->job->sentences[i].first_part;
    const size_t end = b->job->sentences[i + 1].first_part;
    rela_text_scratch *s = b->scratch;
    rela_arena *arena = b->arena;
    size_t n = 0, at = 0;
    for (size_t k = first; k < end; k++)
        n += hypothesis(b, k, rank)->n + 1;
    int32_t *ids = rela_arena_alloc(arena, n * sizeof *ids);
    real *logps = rela_arena_alloc(arena, n * sizeof *logps);
    if (!ids || !logps)
        return rela_fail(err, RELA_NOMEM, "no memory for the translations");
    *t = (rela_translation){ .ids = ids, .logps = logps };
    for (size_t k = first; k < end; k++) {
        const rela_hypothesis *h = hypothesis(b, k, rank);
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
    const bool replace = b->job->call->options.unk == RELA_UNK_REPLACE && has_unknown(t);
    if (replace)
        st = replace_unknown(b, t, i, rank, err);
    rela_buffer_clear(&s->text);
    if (st == RELA_OK)
        st = rela_pipeline_decode(&s->text, s->pipeline, ids, replace ? s->instead : NULL, at, err);
    char *text = st == RELA_OK ? rela_arena_alloc(arena, s->text.len + 1) : NULL;
    if (st == RELA_OK && !text)
        st = rela_fail(err, RELA_NOMEM, "no memory for the translations");
    if (text) {
        if (s->text.len)
            memcpy(text, s->text.data, s->text.len);
        text[s->text.len] = '\0';
        t->text = (rela_span){ text, s->text.len };
    }
    return st;
}

/* ---- unknown words ---- */

/* The pieces of the source, which come blank-separated, as spans: s->spans. */
static rela_status index_pieces(const builder *b, size_t i, rela_error *err)
{
    const rela_text_call *c = b->job->call;
    const rela_text_sentence *x = &b->job->sentences[i];
    rela_text_scratch *s = b->scratch;
    const bool cuts = c->n_sources > 1 || c->options.long_sentence == RELA_LONG_CUT;
    const size_t most = cuts ? rela_text_bytes(c->model->net.config.max_len - 1) : SIZE_MAX;
    rela_buffer_clear(&s->pieces);
    const size_t len = x->len < most ? x->len : most;
    rela_status st = RELA_OK;
    for (size_t from = 0, n = 0; from < len && st == RELA_OK; from += n) {
        n = rela_text_piece(b->job, x->text + from, len - from);
        st = from ? rela_buffer_append_char(&s->pieces, ' ', err) : RELA_OK;
        st = st ? st
                : rela_pipeline_pieces(&s->pieces, s->pipeline, c->source, x->text + from, n, err);
    }
    const char *at = s->pieces.data, *end = at + s->pieces.len;
    rela_span piece;
    for (size_t n = 0; st == RELA_OK && s->pieces.len && rela_next_word(&piece, &at, end); n++) {
        rela_span *spans = rela_mem_grow(s->spans, &s->cap_spans, n + 1, sizeof *spans);
        if (!spans)
            return rela_fail(err, RELA_NOMEM, "no memory to replace unknown words");
        s->spans = spans;
        spans[n] = piece;
    }
    return st;
}

/* Appends the source word that a piece belongs to, as it was before BPE. */
static rela_status append_word(rela_text_scratch *s, const uint32_t *words, size_t piece,
                               rela_error *err)
{
    rela_status st = RELA_OK;
    size_t k = piece;
    while (k > 0 && words[k - 1] == words[piece])
        k--;
    for (; words[k] == words[piece] && st == RELA_OK; k++) {
        const bool more = words[k + 1] == words[piece];
        st = rela_buffer_append(&s->words, s->spans[k].text, s->spans[k].len - (more ? 2 : 0), err);
    }
    return st;
}

static rela_status replace_unknown(const builder *b, const rela_translation *t, size_t i,
                                   size_t rank, rela_error *err)
{
    const rela_text_sentence *x = &b->job->sentences[i];
    rela_text_scratch *s = b->scratch;
    rela_span *instead = rela_mem_grow(s->instead, &s->cap_instead, t->n, sizeof *instead);
    if (!instead)
        return rela_fail(err, RELA_NOMEM, "no memory to replace unknown words");
    s->instead = instead;
    memset(instead, 0, t->n * sizeof *instead);
    rela_buffer_clear(&s->words);
    rela_status st = index_pieces(b, i, err);
    size_t at = 0;
    for (size_t k = x->first_part; k < x[1].first_part; k++) {
        const rela_hypothesis *h = hypothesis(b, k, rank);
        const rela_source_text *part = &b->job->parts[k].task.source.text[b->job->call->source];
        for (size_t m = 0; m < h->n && st == RELA_OK; m++, at++) {
            if (h->ids[m] != RELA_UNK || part->n == 0)
                continue;
            const size_t start = s->words.len;
            st = append_word(s, x->words, (size_t)(part->ids - x->src) + h->heaviest[m], err);
            instead[at].len = s->words.len - start;
        }
    }
    /* Pointers are set only now: the buffer may have moved while it grew. */
    const char *text = s->words.data;
    for (size_t k = 0; k < t->n && st == RELA_OK; k++)
        if (instead[k].len) {
            instead[k].text = text;
            text += instead[k].len;
        }
    return st;
}

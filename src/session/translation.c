/* SPDX-License-Identifier: MIT */
/* src/session/translation.c - reading translations: see rela/translate.h. */
#include "session/translation.h"

#include "base/mem.h"
#include "base/sized.h"
#include "session/word_map.h"

#include <string.h>

enum { ARENA_BLOCK = 1 << 14 };

rela_status rela_result_create(rela_result **out, const rela_model *m, size_t n, size_t n_arenas,
                               rela_error *err)
{
    rela_result *r = *out = rela_mem_zalloc(sizeof *r);
    if (!r)
        return rela_fail(err, RELA_NOMEM, "no memory for the translations");
    r->model = m;
    r->n = n;
    r->n_arenas = n_arenas;
    r->items = rela_mem_zalloc(n * sizeof *r->items);
    r->arenas = rela_mem_zalloc(n_arenas * sizeof *r->arenas);
    return r->items && r->arenas ? RELA_OK
                                 : rela_fail(err, RELA_NOMEM, "no memory for the translations");
}

rela_status rela_result_arena(rela_result *r, size_t i, rela_error *err)
{
    if (!r->arenas[i])
        r->arenas[i] = rela_arena_create(ARENA_BLOCK);
    return r->arenas[i] ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for the translations");
}

void rela_result_free(rela_result *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n_arenas && r->arenas; i++)
        rela_arena_destroy(r->arenas[i]);
    rela_mem_free(r->arenas);
    rela_mem_free(r->items);
    rela_mem_free(r);
}

static const rela_translation *at(const rela_result *r, size_t i, size_t rank)
{
    return &r->items[i].best[rank];
}

size_t rela_result_count(const rela_result *r)
{
    return r->n;
}

bool rela_result_finite(const rela_result *r, size_t i)
{
    return !r->items[i].not_finite;
}

size_t rela_result_n_best(const rela_result *r, size_t i)
{
    return r->items[i].n_best;
}

const char *rela_result_text(const rela_result *r, size_t i, size_t rank)
{
    return at(r, i, rank)->text.text;
}

size_t rela_result_text_len(const rela_result *r, size_t i, size_t rank)
{
    return at(r, i, rank)->text.len;
}

double rela_result_score(const rela_result *r, size_t i, size_t rank)
{
    return at(r, i, rank)->score;
}

double rela_result_logp(const rela_result *r, size_t i, size_t rank)
{
    return at(r, i, rank)->logp;
}

static const rela_vocab *target_vocab(const rela_result *r)
{
    const rela_pipeline *p = r->model->pipeline;
    return rela_pipeline_vocab(p, rela_pipeline_target(p));
}

size_t rela_result_n_tokens(const rela_result *r, size_t i, size_t rank)
{
    return at(r, i, rank)->n;
}

const char *rela_result_token(const rela_result *r, size_t i, size_t rank, size_t k)
{
    return rela_vocab_token(target_vocab(r), at(r, i, rank)->ids[k]);
}

double rela_result_token_logp(const rela_result *r, size_t i, size_t rank, size_t k)
{
    return (double)at(r, i, rank)->logps[k];
}

size_t rela_result_n_source(const rela_result *r, size_t i)
{
    return r->items[i].n_src;
}

const char *rela_result_source_token(const rela_result *r, size_t i, size_t k)
{
    return rela_vocab_token(rela_pipeline_vocab(r->model->pipeline, 0), r->items[i].src[k]);
}

const float *rela_result_attention(const rela_result *r, size_t i, size_t rank)
{
    return at(r, i, rank)->attention;
}

/* ---- links ---- */

typedef struct linker {
    size_t src_before, tgt_before; /* words of the sentences before this one */
    rela_word_map src, tgt;
    uint32_t *tgt_words;
    real *mean;   /* (tgt pieces, src pieces + 1) over the chosen heads */
    real *merged; /* (tgt words, src words + 1) */
} linker;

void rela_link_options_init(rela_link_options *o, size_t size)
{
    const rela_link_options defaults = { .struct_size = size, .layer = -1, .head = -1 };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

/* The words of source and translation. */
static rela_status map_words(linker *l, const rela_result *r, const rela_translated *x,
                             const rela_translation *t, rela_error *err)
{
    const size_t pieces = t->n && t->ids[t->n - 1] == RELA_EOS ? t->n - 1 : t->n;
    const size_t src = x->n_src - 1;
    l->src = (rela_word_map){ x->src_words, src, src ? x->src_words[src - 1] + 1 : 0 };
    l->tgt_words = rela_mem_array(pieces + 1, sizeof *l->tgt_words);
    if (!l->tgt_words)
        return rela_fail(err, RELA_NOMEM, "no memory for links");
    uint32_t word = 0;
    for (size_t k = 0; k < pieces; k++) {
        const char *piece = rela_vocab_token(target_vocab(r), t->ids[k]);
        l->tgt_words[k] = word;
        word += !rela_piece_continues(piece, strlen(piece)) || k + 1 == pieces;
    }
    l->tgt = (rela_word_map){ l->tgt_words, pieces, word };
    return RELA_OK;
}

static rela_status start(linker *l, rela_error *err)
{
    l->mean = rela_mem_zalloc((l->tgt.n_pieces + 1) * (l->src.n_pieces + 1) * sizeof *l->mean);
    l->merged = rela_mem_array((l->tgt.n_words + 1) * (l->src.n_words + 1), sizeof *l->merged);
    return l->mean && l->merged ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for links");
}

/* The mean over the chosen heads, row by row. */
static void average(linker *l, const rela_config *c, const real *attention,
                    const rela_link_options *o)
{
    const size_t cols = l->src.n_pieces + 1;
    size_t n = 0;
    for (size_t layer = 0; layer < c->dec_layers; layer++)
        for (size_t head = 0; head < c->heads; head++) {
            if ((o->layer >= 0 && (size_t)o->layer != layer) ||
                (o->head >= 0 && (size_t)o->head != head))
                continue;
            n++;
            for (size_t k = 0; k < l->tgt.n_pieces; k++) {
                const real *row =
                    attention + ((k * c->dec_layers + layer) * c->heads + head) * cols;
                for (size_t m = 0; m < cols; m++)
                    l->mean[k * cols + m] += row[m];
            }
        }
    for (size_t k = 0; k < l->tgt.n_pieces * cols; k++)
        l->mean[k] /= (real)n;
}

static rela_status write_links(rela_buffer *out, const linker *l, bool soft, rela_error *err)
{
    const size_t n = l->src.n_words;
    rela_status st = RELA_OK;
    for (size_t w = 0; w < l->tgt.n_words && st == RELA_OK; w++) {
        const real *row = l->merged + w * (n + 1);
        const uint32_t best = rela_words_link(row, n);
        for (size_t k = 0; k < n && st == RELA_OK; k++) {
            if (soft ? row[k] <= 0 : k != best)
                continue;
            st = rela_buffer_printf(out, err, "%zu-%zu", l->src_before + k, l->tgt_before + w);
            if (st == RELA_OK && soft)
                st = rela_buffer_printf(out, err, ":%.6g", (double)row[k]);
            st = st ? st : rela_buffer_append_char(out, ' ', err);
        }
    }
    return st;
}

/* Appends the links of a sentence, a blank after each. before: words of source and translation in
 * the sentences before it; its own are added. */
static rela_status link_sentence(rela_buffer *out, const rela_result *r, const rela_translated *x,
                                 size_t rank, const rela_link_options *o, size_t before[2],
                                 rela_error *err)
{
    const rela_translation *t = &x->best[rank];
    linker l = { .src_before = before[0], .tgt_before = before[1] };
    rela_status st = map_words(&l, r, x, t, err);
    if (st == RELA_OK && t->attention) {
        st = start(&l, err);
        if (st == RELA_OK) {
            average(&l, &r->model->net.config, t->attention, o);
            rela_words_merge(l.merged, l.mean, l.src.n_pieces + 1, &l.src, &l.tgt);
            st = write_links(out, &l, o->soft != 0, err);
        }
    }
    before[0] += l.src.n_words;
    before[1] += l.tgt.n_words;
    rela_mem_free(l.tgt_words);
    rela_mem_free(l.mean);
    rela_mem_free(l.merged);
    return st;
}

/* Whether attention was kept for any sentence. */
static bool has_attention(const rela_translated *x, size_t n, size_t rank)
{
    for (size_t k = 0; k < n; k++)
        if (x[k].best[rank].attention)
            return true;
    return false;
}

rela_status rela_result_links(rela_buffer *out, const rela_result *r, size_t i, size_t rank,
                              const rela_link_options *o, rela_error *err)
{
    rela_link_options own;
    rela_link_options_init(&own, sizeof own);
    rela_status st = rela_sized_take(&own, sizeof own, o, "rela_link_options", err);
    if (st != RELA_OK)
        return st;
    const rela_config *c = &r->model->net.config;
    const rela_translated *text = &r->items[i];
    const rela_translated *x = text->n_sentences ? text->sentences : text;
    const size_t n = text->n_sentences ? text->n_sentences : 1, start = out->len;
    if (own.layer < -1 || own.layer >= (int32_t)c->dec_layers)
        return rela_fail(err, RELA_ARG, "no layer %lld; the model has %zu",
                         1 + (long long)own.layer, c->dec_layers);
    if (own.head < -1 || own.head >= (int32_t)c->heads)
        return rela_fail(err, RELA_ARG, "no head %lld; the model has %zu", 1 + (long long)own.head,
                         c->heads);
    if (text->n_src < 2)
        return RELA_OK; /* an empty text has no words */
    if (text->not_finite || !has_attention(x, n, rank))
        return rela_fail(err, RELA_STATE,
                         "text %zu: attention was not asked for (options.attention)", i + 1);
    size_t before[2] = { 0, 0 };
    for (size_t k = 0; k < n && st == RELA_OK; k++)
        st = link_sentence(out, r, &x[k], rank, &own, before, err);
    if (out->len > start)
        out->data[--out->len] = '\0'; /* the last blank */
    return st;
}

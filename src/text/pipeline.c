/* SPDX-License-Identifier: MIT */
/* src/text/pipeline.c - see pipeline.h; learning is in pipeline_learn.c. */
#include "text/pipeline.h"

#include "base/mem.h"
#include "rela/text.h"
#include "text/language.h"

#include <string.h>

#define CODES_NAME "BPE codes"
enum { N_TEXTS = 4, BITS = RELA_PIPELINE_BITS };

struct rela_pipeline {
    rela_pipeline_parts parts; /* its spans point into texts */
    char *texts[N_TEXTS];
    rela_normaliser *normaliser[RELA_PIPELINE_SIDES_MAX];
    rela_tokeniser *tokeniser[RELA_PIPELINE_SIDES_MAX];
    rela_detokeniser *detokeniser;
    rela_bpe *bpe;
    rela_vocab *vocab[RELA_PIPELINE_VOCABS]; /* [1] NULL: shared */
};

struct rela_pipeline_scratch {
    const rela_pipeline *p;
    rela_bpe_scratch *bpe;
    uint64_t number; /* of the line, for dropout */
    rela_buffer a, b;
    int32_t *ids;
    uint32_t *words; /* word index of each id */
    size_t n_ids, cap_ids, cap_words;
};

static rela_status make_side(rela_pipeline *p, size_t i, rela_error *err);
static rela_status make_tables(rela_pipeline *p, rela_error *err);
static rela_status check_source(const rela_pipeline *p, rela_error *err);
static bool copy_span(char **copy, rela_span *span);
static rela_status prepare(rela_span *out, rela_pipeline_scratch *s, size_t side, rela_span text,
                           rela_error *err);
static rela_status push_piece(rela_pipeline_scratch *s, const rela_vocab *v, rela_span piece,
                              uint32_t *word, rela_error *err);

rela_status rela_pipeline_create(rela_pipeline **out, const rela_pipeline_parts *parts,
                                 rela_error *err)
{
    *out = NULL;
    rela_pipeline *p = rela_mem_zalloc(sizeof *p);
    if (!p)
        return rela_fail(err, RELA_NOMEM, "no memory for a text pipeline");
    p->parts = *parts;
    p->parts.n_sides = parts->n_sides ? parts->n_sides : 2;
    rela_status st = RELA_OK;
    if (!copy_span(&p->texts[0], &p->parts.codes) || !copy_span(&p->texts[1], &p->parts.vocab[0]) ||
        !copy_span(&p->texts[2], &p->parts.vocab[1]) || !copy_span(&p->texts[3], &p->parts.source))
        st = rela_fail(err, RELA_NOMEM, "no memory for codes and vocabularies");
    for (size_t i = 0; i < p->parts.n_sides && st == RELA_OK; i++)
        st = make_side(p, i, err);
    if (st == RELA_OK)
        st = make_tables(p, err);
    if (st != RELA_OK) {
        rela_pipeline_destroy(p);
        return st;
    }
    *out = p;
    return RELA_OK;
}

void rela_pipeline_destroy(rela_pipeline *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->parts.n_sides; i++) {
        rela_normaliser_destroy(p->normaliser[i]);
        rela_tokeniser_destroy(p->tokeniser[i]);
    }
    for (int i = 0; i < RELA_PIPELINE_VOCABS; i++)
        rela_vocab_free(p->vocab[i]);
    rela_detokeniser_destroy(p->detokeniser);
    rela_bpe_free(p->bpe);
    for (int i = 0; i < N_TEXTS; i++)
        rela_mem_free(p->texts[i]);
    rela_mem_free(p);
}

size_t rela_pipeline_target(const rela_pipeline *p)
{
    return p->parts.n_sides - 1;
}

const rela_vocab *rela_pipeline_vocab(const rela_pipeline *p, size_t side)
{
    return side == rela_pipeline_target(p) && p->vocab[1] ? p->vocab[1] : p->vocab[0];
}

/* -1: not a hexadecimal digit. */
static int digit_value(char c)
{
    static const char DIGITS[] = "0123456789abcdef";
    const char *at = c ? strchr(DIGITS, c) : NULL;
    return at ? (int)(at - DIGITS) : -1;
}

bool rela_pipeline_is_source(const rela_pipeline *p, int32_t id)
{
    const rela_span bits = p->parts.source;
    if (id < RELA_VOCAB_N_SPECIAL || !bits.len)
        return id != RELA_VOCAB_UNK;
    return digit_value(bits.text[id / BITS]) >> id % BITS & 1;
}

const rela_pipeline_parts *rela_pipeline_parts_of(const rela_pipeline *p)
{
    return &p->parts;
}

rela_status rela_pipeline_sampled(rela_bpe **out, const rela_pipeline *p, double dropout,
                                  uint64_t seed, rela_error *err)
{
    rela_bpe_options o;
    rela_bpe_options_init(&o, sizeof o);
    o.dropout = dropout;
    o.seed = seed;
    *out = NULL;
    const rela_span codes = p->parts.codes;
    return codes.len ? rela_bpe_parse(out, CODES_NAME, codes.text, codes.len, &o, err) : RELA_OK;
}

rela_status rela_pipeline_scratch_create(rela_pipeline_scratch **out, const rela_pipeline *p,
                                         rela_error *err)
{
    return rela_pipeline_scratch_create_sampled(out, p, NULL, err);
}

rela_status rela_pipeline_scratch_create_sampled(rela_pipeline_scratch **out,
                                                 const rela_pipeline *p, const rela_bpe *sampled,
                                                 rela_error *err)
{
    const rela_bpe *bpe = sampled ? sampled : p->bpe;
    *out = NULL;
    rela_pipeline_scratch *s = rela_mem_zalloc(sizeof *s);
    if (!s)
        return rela_fail(err, RELA_NOMEM, "no memory to encode text");
    s->p = p;
    const rela_status st = bpe ? rela_bpe_scratch_create(&s->bpe, bpe, err) : RELA_OK;
    if (st != RELA_OK) {
        rela_pipeline_scratch_destroy(s);
        return st;
    }
    *out = s;
    return RELA_OK;
}

void rela_pipeline_scratch_destroy(rela_pipeline_scratch *s)
{
    if (!s)
        return;
    rela_bpe_scratch_destroy(s->bpe);
    rela_buffer_free(&s->a);
    rela_buffer_free(&s->b);
    rela_mem_free(s->ids);
    rela_mem_free(s->words);
    rela_mem_free(s);
}

void rela_pipeline_scratch_number(rela_pipeline_scratch *s, uint64_t number)
{
    s->number = number;
}

rela_status rela_pipeline_encode(const int32_t **ids, size_t *n, rela_pipeline_scratch *s,
                                 size_t side, const char *text, size_t len, rela_error *err)
{
    const rela_vocab *vocab = rela_pipeline_vocab(s->p, side);
    rela_span line = { "", 0 }, piece;
    uint32_t word = 0;
    s->n_ids = 0;
    rela_status st = prepare(&line, s, side, (rela_span){ text, len }, err);
    if (st == RELA_OK && s->bpe) {
        const rela_piece *pieces = NULL;
        size_t n_pieces = 0;
        st = rela_bpe_pieces(&pieces, &n_pieces, s->bpe, line.text, line.len, s->number, err);
        for (size_t i = 0; i < n_pieces && st == RELA_OK; i++)
            st = push_piece(s, vocab, (rela_span){ pieces[i].text, pieces[i].len }, &word, err);
    } else if (st == RELA_OK) {
        const char *at = line.text, *end = line.text + line.len;
        while (st == RELA_OK && rela_next_word(&piece, &at, end))
            st = push_piece(s, vocab, piece, &word, err);
    }
    *ids = s->ids;
    *n = s->n_ids;
    return st;
}

const uint32_t *rela_pipeline_words(const rela_pipeline_scratch *s)
{
    return s->words;
}

bool rela_piece_continues(const char *piece, size_t len)
{
    return len > 2 && memcmp(piece + len - 2, "@@", 2) == 0;
}

rela_status rela_pipeline_decode(rela_buffer *out, rela_pipeline_scratch *s, const int32_t *ids,
                                 const rela_span *instead, size_t n, rela_error *err)
{
    const rela_vocab *vocab = rela_pipeline_vocab(s->p, rela_pipeline_target(s->p));
    rela_status st = RELA_OK;
    rela_buffer_clear(&s->a);
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        if (ids[i] == RELA_VOCAB_PAD || ids[i] == RELA_VOCAB_EOS)
            continue;
        if (s->a.len)
            st = rela_buffer_append_char(&s->a, ' ', err);
        if (st == RELA_OK && instead && instead[i].text)
            st = rela_buffer_append(&s->a, instead[i].text, instead[i].len, err);
        else if (st == RELA_OK)
            st = rela_buffer_append_text(&s->a, rela_vocab_token(vocab, ids[i]), err);
    }
    rela_span line = { s->a.data ? s->a.data : "", s->a.len };
    if (st == RELA_OK && s->p->bpe) {
        rela_buffer_clear(&s->b);
        st = rela_bpe_undo(&s->b, "@@", line.text, line.len, err);
        line = (rela_span){ s->b.data ? s->b.data : "", s->b.len };
    }
    if (st != RELA_OK)
        return st;
    return s->p->detokeniser ? rela_detokenise(out, s->p->detokeniser, line.text, line.len, err)
                             : rela_buffer_append(out, line.text, line.len, err);
}

rela_status rela_pipeline_pieces(rela_buffer *out, rela_pipeline_scratch *s, size_t side,
                                 const char *text, size_t len, rela_error *err)
{
    rela_span line = { "", 0 };
    const rela_status st = prepare(&line, s, side, (rela_span){ text, len }, err);
    if (st != RELA_OK)
        return st;
    return s->bpe ? rela_bpe_apply(out, s->bpe, line.text, line.len, s->number, err)
                  : rela_buffer_append(out, line.text, line.len, err);
}

static rela_status make_side(rela_pipeline *p, size_t i, rela_error *err)
{
    const rela_pipeline_side *side = &p->parts.side[i];
    const char *language = rela_language_stored(side->language);
    rela_status st = RELA_OK;
    /* The normaliser also lower-cases text that is not tokenised. */
    if (side->normalise || (side->lowercase && !side->tokenise)) {
        const rela_normaliser_options o = { .struct_size = sizeof o,
                                            .language = language,
                                            .no_punctuation = !side->normalise,
                                            .lowercase = side->lowercase && !side->tokenise };
        st = rela_normaliser_create(&p->normaliser[i], &o, err);
    }
    if (st == RELA_OK && side->tokenise) {
        const rela_tokeniser_options o = { .struct_size = sizeof o,
                                           .language = language,
                                           .no_escape = true,
                                           .lowercase = side->lowercase };
        st = rela_tokeniser_create(&p->tokeniser[i], &o, err);
    }
    if (st == RELA_OK && side->tokenise && i == rela_pipeline_target(p)) {
        const rela_detokeniser_options o = { .struct_size = sizeof o,
                                             .language = language,
                                             .no_unescape = true };
        st = rela_detokeniser_create(&p->detokeniser, &o, err);
    }
    return st;
}

static rela_status make_tables(rela_pipeline *p, rela_error *err)
{
    static const char *const NAMES[] = { "source vocabulary", "target vocabulary" };
    const rela_pipeline_parts *parts = &p->parts;
    rela_status st = RELA_OK;
    if (parts->codes.len)
        st = rela_bpe_parse(&p->bpe, CODES_NAME, parts->codes.text, parts->codes.len, NULL, err);
    for (int i = 0; i < RELA_PIPELINE_VOCABS && st == RELA_OK; i++)
        if (parts->vocab[i].text)
            st = rela_vocab_parse(&p->vocab[i], NAMES[i], parts->vocab[i].text, parts->vocab[i].len,
                                  err);
    return st ? st : check_source(p, err);
}

static rela_status check_source(const rela_pipeline *p, rela_error *err)
{
    const rela_span bits = p->parts.source;
    bool good = !bits.len || (p->vocab[0] && bits.len * BITS >= rela_vocab_size(p->vocab[0]));
    for (size_t i = 0; i < bits.len && good; i++)
        good = digit_value(bits.text[i]) >= 0;
    return good ? RELA_OK
                : rela_fail(err, RELA_FORMAT,
                            "the tokens of the source text: expected a hexadecimal digit for "
                            "every %d tokens of the vocabulary",
                            BITS);
}

static bool copy_span(char **copy, rela_span *span)
{
    if (!span->text)
        return true;
    *copy = rela_str_copy(span->text, span->len);
    span->text = *copy;
    return *copy != NULL;
}

/* Normalises, tokenises and lower-cases, as BPE sees the text. Lent: a buffer of s, or text. */
static rela_status prepare(rela_span *out, rela_pipeline_scratch *s, size_t side, rela_span text,
                           rela_error *err)
{
    const rela_pipeline *p = s->p;
    rela_status st = RELA_OK;
    *out = text;
    if (p->normaliser[side]) {
        rela_buffer_clear(&s->a);
        st = rela_normalise(&s->a, p->normaliser[side], out->text, out->len, err);
        *out = (rela_span){ s->a.data ? s->a.data : "", s->a.len };
    }
    if (st == RELA_OK && p->tokeniser[side]) {
        rela_buffer_clear(&s->b);
        st = rela_tokenise(&s->b, p->tokeniser[side], out->text, out->len, err);
        *out = (rela_span){ s->b.data ? s->b.data : "", s->b.len };
    }
    return st;
}

static rela_status push_piece(rela_pipeline_scratch *s, const rela_vocab *v, rela_span piece,
                              uint32_t *word, rela_error *err)
{
    int32_t *ids = rela_mem_grow(s->ids, &s->cap_ids, s->n_ids + 1, sizeof *ids);
    s->ids = ids ? ids : s->ids;
    uint32_t *words = rela_mem_grow(s->words, &s->cap_words, s->n_ids + 1, sizeof *words);
    s->words = words ? words : s->words;
    if (!ids || !words)
        return rela_fail(err, RELA_NOMEM, "no memory for a line of %zu tokens", s->n_ids + 1);
    words[s->n_ids] = *word;
    ids[s->n_ids++] = rela_vocab_id(v, piece.text, piece.len);
    if (!s->bpe || !rela_piece_continues(piece.text, piece.len))
        (*word)++;
    return RELA_OK;
}

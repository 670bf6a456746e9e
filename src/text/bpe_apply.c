/* SPDX-License-Identifier: MIT */
/* src/text/bpe_apply.c - segmenting lines; see rela/subword.h. */
#include "base/mem.h"
#include "base/utf8.h"
#include "text/bpe_cache.h"
#include "text/bpe_word.h"
#include "text/word_walk.h"

#include <string.h>

enum { GROUP = 24 };

typedef struct group {
    rela_cache_query words[GROUP];
    rela_span gaps[GROUP]; /* before each word */
    size_t n;
} group;

static const rela_span ONE_BLANK = { " ", 1 };

struct rela_bpe_scratch {
    const rela_bpe *bpe;
    rela_bpe_word word;
    rela_glossary_match *match; /* NULL: no glossaries */
    rela_buffer repaired;
    rela_buffer line; /* for rela_bpe_pieces */
    rela_piece *pieces;
    size_t cap_pieces;
    uint64_t n_replaced;
};

static rela_status append_words(rela_buffer *out, rela_bpe_scratch *s, rela_span line,
                                uint64_t number, rela_error *err);
static rela_status append_sampled(rela_buffer *out, rela_bpe_scratch *s, const group *g,
                                  uint64_t first, rela_rng *rng, rela_error *err);
static rela_status append_known(rela_buffer *out, rela_bpe_scratch *s, group *g, const char *floor,
                                rela_error *err);
static rela_status append_new(rela_buffer *out, rela_bpe_scratch *s, const rela_cache_query *word,
                              rela_error *err);
static rela_status append_gap(rela_buffer *out, rela_span gap, size_t room, rela_error *err);
static rela_status encode(rela_buffer *out, rela_bpe_scratch *s, rela_span word, rela_rng *rng,
                          rela_error *err);
static rela_status encode_segments(rela_bpe_scratch *s, rela_span word, rela_rng *rng,
                                   rela_error *err);

rela_status rela_bpe_scratch_create(rela_bpe_scratch **out, const rela_bpe *b, rela_error *err)
{
    *out = NULL;
    rela_bpe_scratch *s = rela_mem_zalloc(sizeof *s);
    if (!s)
        return rela_fail(err, RELA_NOMEM, "no memory to apply subwords");
    s->bpe = b;
    const rela_status st =
        b->glossary ? rela_glossary_match_create(&s->match, b->glossary, err) : RELA_OK;
    if (st != RELA_OK) {
        rela_bpe_scratch_destroy(s);
        return st;
    }
    *out = s;
    return RELA_OK;
}

void rela_bpe_scratch_destroy(rela_bpe_scratch *s)
{
    if (!s)
        return;
    rela_bpe_word_free(&s->word);
    rela_glossary_match_destroy(s->match);
    rela_buffer_free(&s->repaired);
    rela_buffer_free(&s->line);
    rela_mem_free(s->pieces);
    rela_mem_free(s);
}

rela_status rela_bpe_apply(rela_buffer *out, rela_bpe_scratch *s, const char *line, size_t len,
                           uint64_t number, rela_error *err)
{
    rela_status st = RELA_OK;
    if (rela_utf8_valid(line, len) != len) {
        size_t n_bad = 0;
        rela_buffer_clear(&s->repaired);
        if ((st = rela_utf8_repair(&s->repaired, &n_bad, line, len, err)) != RELA_OK)
            return st;
        s->n_replaced += n_bad;
        line = s->repaired.data;
        len = s->repaired.len;
    }
    return append_words(out, s, (rela_span){ line, len }, number, err);
}

rela_status rela_bpe_pieces(const rela_piece **pieces, size_t *n, rela_bpe_scratch *s,
                            const char *line, size_t len, uint64_t number, rela_error *err)
{
    *pieces = NULL;
    *n = 0;
    rela_buffer_clear(&s->line);
    const rela_status st = rela_bpe_apply(&s->line, s, line, len, number, err);
    if (st != RELA_OK)
        return st;
    rela_word_walk walk = rela_words(s->line.data, s->line.len);
    rela_word w;
    while (rela_words_next(&walk, &w)) {
        rela_piece *p = rela_mem_grow(s->pieces, &s->cap_pieces, *n + 1, sizeof *p);
        if (!p)
            return rela_fail(err, RELA_NOMEM, "no memory for %zu pieces", *n + 1);
        s->pieces = p;
        s->pieces[(*n)++] = (rela_piece){ w.word.text, w.word.len };
    }
    *pieces = s->pieces;
    return RELA_OK;
}

uint64_t rela_bpe_n_replaced(const rela_bpe_scratch *s)
{
    return s->n_replaced;
}

rela_status rela_bpe_undo(rela_buffer *out, const char *separator, const char *line, size_t len,
                          rela_error *err)
{
    const size_t n = strlen(separator);
    const char *end = line + len, *kept = line;
    rela_status st = RELA_OK;
    for (const char *p = line; st == RELA_OK && n && (size_t)(end - p) >= n;) {
        p = memmem(p, (size_t)(end - p), separator, n);
        if (!p)
            break;
        if (p + n < end && p[n] != ' ') {
            p++;
            continue;
        }
        st = rela_buffer_append(out, kept, (size_t)(p - kept), err);
        p += p + n < end ? n + 1 : n;
        kept = p;
    }
    return st == RELA_OK ? rela_buffer_append(out, kept, (size_t)(end - kept), err) : st;
}

/* Words are looked up in groups, see rela_bpe_cache_find. */
static rela_status append_words(rela_buffer *out, rela_bpe_scratch *s, rela_span line,
                                uint64_t number, rela_error *err)
{
    rela_word_walk walk = rela_words(line.text, line.len);
    rela_rng rng = rela_rng_start(s->bpe->seed, number);
    group g; /* valid up to g.n: clearing all of it for every line would cost too much */
    g.n = 0;
    rela_status st = RELA_OK;
    bool more = true;
    for (uint64_t done = 0; st == RELA_OK && more; done += g.n) {
        rela_word w;
        g.n = 0;
        while (g.n < GROUP && (more = rela_words_next(&walk, &w))) {
            g.gaps[g.n] = w.verbatim ? w.gap : ONE_BLANK;
            g.words[g.n++].key = w.word;
        }
        st = s->bpe->dropout > 0 ? append_sampled(out, s, &g, done, &rng, err)
                                 : append_known(out, s, &g, line.text, err);
        if (st == RELA_OK && !more) /* the gap after the last word */
            st = rela_buffer_append(out, w.gap.text, w.gap.len, err);
    }
    return st;
}

static rela_status append_sampled(rela_buffer *out, rela_bpe_scratch *s, const group *g,
                                  uint64_t first, rela_rng *rng, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < g->n && st == RELA_OK; i++) {
        rng->next = (first + i) << 32; /* each word has random numbers of its own */
        st = rela_buffer_append(out, g->gaps[i].text, g->gaps[i].len, err);
        if (st == RELA_OK)
            st = encode(out, s, g->words[i].key, rng, err);
    }
    return st;
}

static rela_status append_known(rela_buffer *out, rela_bpe_scratch *s, group *g, const char *floor,
                                rela_error *err)
{
    rela_status st = RELA_OK;
    rela_bpe_cache_find(s->bpe->cache, g->words, g->n, floor);
    for (size_t i = 0; i < g->n && st == RELA_OK; i++) {
        rela_cache_query *word = &g->words[i];
        if (!word->value.text)
            rela_bpe_cache_find_again(s->bpe->cache, word);
        const rela_span value = word->value;
        st = append_gap(out, g->gaps[i], value.len + RELA_CACHE_PAD, err);
        if (st != RELA_OK)
            return st;
        if (value.text) {
            char *to = out->data + out->len;
            if (value.len <= RELA_CACHE_PAD)
                memcpy(to, value.text, RELA_CACHE_PAD); /* a constant size is inlined */
            else
                memcpy(to, value.text, value.len);
            to[value.len] = '\0';
            out->len += value.len;
            continue;
        }
        st = append_new(out, s, word, err);
    }
    return st;
}

static rela_status append_new(rela_buffer *out, rela_bpe_scratch *s, const rela_cache_query *word,
                              rela_error *err)
{
    const size_t before = out->len;
    const rela_status st = encode(out, s, word->key, NULL, err);
    if (st == RELA_OK)
        rela_bpe_cache_put(s->bpe->cache, word,
                           (rela_span){ out->data + before, out->len - before });
    return st;
}

/* Appends a gap, usually one blank, and reserves room bytes after it. */
static rela_status append_gap(rela_buffer *out, rela_span gap, size_t room, rela_error *err)
{
    if (!out->data || out->cap - out->len <= gap.len + room) {
        const rela_status st = rela_buffer_reserve(out, gap.len + room, err);
        if (st != RELA_OK)
            return st;
    }
    if (gap.len == 1)
        out->data[out->len] = *gap.text;
    else
        memcpy(out->data + out->len, gap.text, gap.len);
    out->len += gap.len;
    return RELA_OK;
}

static rela_status encode(rela_buffer *out, rela_bpe_scratch *s, rela_span word, rela_rng *rng,
                          rela_error *err)
{
    const rela_bpe *b = s->bpe;
    s->word.pieces.n = 0;
    rela_status st = s->match ? encode_segments(s, word, rng, err)
                              : rela_bpe_word_encode(&s->word, b, word, rng, err);
    for (size_t i = 0; i < s->word.pieces.n && st == RELA_OK; i++) {
        const rela_span piece = s->word.pieces.items[i];
        st = rela_buffer_append(out, piece.text, piece.len, err);
        if (st != RELA_OK || i + 1 == s->word.pieces.n)
            break;
        st = rela_buffer_append(out, b->separator, b->separator_len, err);
        if (st == RELA_OK)
            st = rela_buffer_append_char(out, ' ', err);
    }
    return st;
}

static rela_status encode_segments(rela_bpe_scratch *s, rela_span word, rela_rng *rng,
                                   rela_error *err)
{
    const rela_segments *segments = NULL;
    rela_status st = rela_glossary_cut(&segments, s->match, word, err);
    for (size_t i = 0; st == RELA_OK && i < segments->n; i++) {
        bool whole = false;
        st = rela_glossary_whole(&whole, s->match, segments->items[i], err);
        if (st == RELA_OK)
            st = whole ? rela_bpe_word_add(&s->word, segments->items[i], err)
                       : rela_bpe_word_encode(&s->word, s->bpe, segments->items[i], rng, err);
    }
    return st;
}

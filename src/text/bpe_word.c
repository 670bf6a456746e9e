/* SPDX-License-Identifier: MIT */
/* src/text/bpe_word.c - see bpe_word.h. */
#include "text/bpe_word.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <string.h>

static rela_status make_units(rela_bpe_word *w, const rela_bpe *b, rela_span word, rela_error *err);
static rela_status add_checked(rela_bpe_word *w, const rela_bpe *b, rela_span piece, bool final,
                               rela_error *err);
static rela_status accepted(bool *yes, rela_bpe_word *w, const rela_bpe *b, rela_span piece,
                            bool final, rela_error *err);
static rela_status origin(const rela_bpe_merge **out, rela_bpe_word *w, const rela_bpe *b,
                          rela_span piece, bool final, rela_error *err);
static rela_status push(rela_segments *s, rela_span span, rela_error *err);

void rela_bpe_word_free(rela_bpe_word *w)
{
    rela_mem_free(w->pieces.items);
    rela_mem_free(w->units);
    rela_mem_free(w->heap);
    rela_mem_free(w->batch);
    rela_mem_free(w->stack.items);
    rela_buffer_free(&w->text);
}

rela_status rela_bpe_word_encode(rela_bpe_word *w, const rela_bpe *b, rela_span word, rela_rng *rng,
                                 rela_error *err)
{
    uint32_t code = 0;
    if (rela_utf8_next(&code, word.text, word.len) == word.len) /* one character stays as it is */
        return rela_bpe_word_add(w, word, err);
    rela_status st = make_units(w, b, word, err);
    if (st == RELA_OK)
        st = rela_bpe_word_merge(w, b, rng, err);
    for (uint32_t i = 0; st == RELA_OK && i != RELA_UNIT_NONE;) {
        const uint32_t next = w->units[i].after;
        const size_t start = w->units[i].start;
        const size_t end = next == RELA_UNIT_NONE ? word.len : w->units[next].start;
        const bool final = end == word.len; /* only a separate end mark may follow */
        const rela_span piece = { word.text + start, end - start };
        st =
            b->vocabulary ? add_checked(w, b, piece, final, err) : rela_bpe_word_add(w, piece, err);
        i = final ? RELA_UNIT_NONE : next;
    }
    return st;
}

rela_status rela_bpe_word_add(rela_bpe_word *w, rela_span piece, rela_error *err)
{
    return push(&w->pieces, piece, err);
}

/* One unit per character, plus, in version 0.1, one without text for the end mark. */
static rela_status make_units(rela_bpe_word *w, const rela_bpe *b, rela_span word, rela_error *err)
{
    rela_bpe_unit *u = rela_mem_grow(w->units, &w->cap_units, word.len + 1, sizeof *u);
    if (!u)
        return rela_fail(err, RELA_NOMEM, "no memory for a word of %zu bytes", word.len);
    w->units = u;
    size_t n = 0;
    for (size_t i = 0; i < word.len; n++) {
        uint32_t code = (unsigned char)word.text[i];
        u[n].start = (uint32_t)i;
        i += code < 0x80 ? 1 : rela_utf8_next(&code, word.text + i, word.len - i);
        const rela_bpe_letter *l = rela_bpe_letter_of(b, code);
        u[n].symbol = i == word.len && !b->separate_mark ? l->end : l->inner;
    }
    if (b->separate_mark) {
        u[n].start = (uint32_t)word.len;
        u[n++].symbol = b->mark;
    }
    w->n_units = n;
    return RELA_OK;
}

/* Adds a piece as it is if the vocabulary has it; otherwise undoes merges until the parts are in
 * the vocabulary or cannot be split. The last piece of a word is looked up without separator. */
static rela_status add_checked(rela_bpe_word *w, const rela_bpe *b, rela_span piece, bool final,
                               rela_error *err)
{
    /* Only the item at the bottom of the stack can be final. */
    w->stack.n = 0;
    rela_status st = push(&w->stack, piece, err);
    while (st == RELA_OK && w->stack.n) {
        const rela_span part = w->stack.items[--w->stack.n];
        const bool last = final && w->stack.n == 0;
        const rela_bpe_merge *m = NULL;
        bool yes = false;
        st = accepted(&yes, w, b, part, last, err);
        if (st == RELA_OK && !yes)
            st = origin(&m, w, b, part, last, err);
        if (st != RELA_OK)
            break;
        if (!m) {
            st = rela_bpe_word_add(w, part, err);
            continue;
        }
        rela_span right = rela_map_key(b->symbols, m->right);
        if (last)
            right.len = right.len > RELA_END_MARK_LEN ? right.len - RELA_END_MARK_LEN : 0;
        st = push(&w->stack, right, err);
        if (st == RELA_OK)
            st = push(&w->stack, rela_map_key(b->symbols, m->left), err);
    }
    return st;
}

static rela_status accepted(bool *yes, rela_bpe_word *w, const rela_bpe *b, rela_span piece,
                            bool final, rela_error *err)
{
    rela_buffer_clear(&w->text);
    rela_status st = rela_buffer_append(&w->text, piece.text, piece.len, err);
    if (st == RELA_OK && !final)
        st = rela_buffer_append(&w->text, b->separator, b->separator_len, err);
    if (st == RELA_OK)
        *yes = rela_map_find(b->vocabulary, w->text.data, w->text.len) != RELA_MAP_NONE;
    return st;
}

/* The merge that made a piece; NULL if none did. */
static rela_status origin(const rela_bpe_merge **out, rela_bpe_word *w, const rela_bpe *b,
                          rela_span piece, bool final, rela_error *err)
{
    *out = NULL;
    if (piece.len == 0)
        return RELA_OK;
    rela_buffer_clear(&w->text);
    rela_status st = rela_buffer_append(&w->text, piece.text, piece.len, err);
    if (st == RELA_OK && final)
        st = rela_buffer_append(&w->text, RELA_END_MARK, RELA_END_MARK_LEN, err);
    if (st != RELA_OK)
        return st;
    const uint32_t symbol = rela_map_find(b->symbols, w->text.data, w->text.len);
    if (symbol != RELA_MAP_NONE && b->origin[symbol] != RELA_RANK_NONE)
        *out = &b->merges[b->origin[symbol]];
    return RELA_OK;
}

static rela_status push(rela_segments *s, rela_span span, rela_error *err)
{
    rela_span *items = rela_mem_grow(s->items, &s->cap, s->n + 1, sizeof *items);
    if (!items)
        return rela_fail(err, RELA_NOMEM, "no memory for the pieces of a word");
    s->items = items;
    s->items[s->n++] = span;
    return RELA_OK;
}

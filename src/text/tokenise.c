/* SPDX-License-Identifier: MIT */
/* src/text/tokenise.c - the Moses tokeniser without regular expressions. */
#include "base/mem.h"
#include "base/sized.h"
#include "rela/text.h"
#include "text/char_classes.h"
#include "text/moses_chars.h"

#include <string.h>

struct rela_tokeniser {
    const rela_language *language;
    rela_map *abbreviations;
    size_t n_always;
    rela_protect *protect; /* NULL: none */
    bool escape, split_dashes, lowercase;
};

static const char *const ENTITIES[128] = {
    ['&'] = "&amp;",   ['|'] = "&#124;", ['<'] = "&lt;",  ['>'] = "&gt;",
    ['\''] = "&apos;", ['"'] = "&quot;", ['['] = "&#91;", [']'] = "&#93;",
};

static rela_status tokenise_line(const rela_tokeniser *t, rela_buffer *out, rela_char_line *l,
                                 rela_buffer *room, rela_error *err);
static rela_status clean(rela_char_line *l, rela_buffer *room, rela_error *err);
static rela_status write_tokens(const rela_tokeniser *t, rela_buffer *out, const rela_char_line *l,
                                rela_error *err);
static bool keeps_stop(const rela_tokeniser *t, const rela_char_line *l, size_t first, size_t stop);
static rela_status write_token(const rela_tokeniser *t, rela_buffer *out, const rela_char_line *l,
                               size_t first, size_t after, rela_error *err);
static rela_status write_escaped(rela_buffer *out, rela_span s, rela_error *err);
static rela_status lower_from(rela_buffer *out, size_t start, rela_error *err);

void rela_tokeniser_options_init(rela_tokeniser_options *o, size_t size)
{
    const rela_tokeniser_options defaults = { .struct_size = size };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_tokeniser_create(rela_tokeniser **out, const rela_tokeniser_options *options,
                                  rela_error *err)
{
    *out = NULL;
    const rela_language *language = NULL;
    rela_tokeniser_options o = { .language = NULL };
    rela_status st = rela_sized_take(&o, sizeof o, options, "rela_tokeniser_options", err);
    st = st ? st : rela_language_find(&language, o.language, err);
    if (st != RELA_OK)
        return st;
    rela_tokeniser *t = rela_mem_zalloc(sizeof *t);
    if (!t)
        return rela_fail(err, RELA_NOMEM, "no memory for a tokeniser");
    t->language = language;
    t->escape = !o.no_escape;
    t->split_dashes = o.aggressive_dash;
    t->lowercase = o.lowercase;
    st = rela_language_abbreviations(&t->abbreviations, &t->n_always, language, err);
    if (st == RELA_OK && o.n_protect)
        st = rela_protect_create(&t->protect, o.protect, o.n_protect, err);
    if (st == RELA_OK) {
        *out = t;
        t = NULL;
    }
    rela_tokeniser_destroy(t);
    return st;
}

void rela_tokeniser_destroy(rela_tokeniser *t)
{
    if (!t)
        return;
    rela_protect_destroy(t->protect);
    rela_map_destroy(t->abbreviations);
    rela_mem_free(t);
}

rela_status rela_tokenise(rela_buffer *out, const rela_tokeniser *t, const char *text, size_t len,
                          rela_error *err)
{
    const size_t start = out->len;
    rela_buffer repaired = RELA_BUFFER_INIT, room = RELA_BUFFER_INIT;
    rela_char_line l; /* large: only what is needed is initialised */
    rela_char_line_start(&l, text, len);
    rela_status st = rela_text_repair(&l.text, &repaired, err);
    if (st == RELA_OK && l.text.len >= UINT32_MAX)
        st = rela_fail(err, RELA_ARG, "a line of %zu bytes; expected less than 4 GiB", len);
    if (st == RELA_OK)
        st = tokenise_line(t, out, &l, &room, err);
    if (st == RELA_OK && t->lowercase)
        st = lower_from(out, start, err);
    if (st != RELA_OK)
        rela_text_cut(out, start);
    rela_char_line_free(&l);
    rela_buffer_free(&room);
    rela_buffer_free(&repaired);
    return st;
}

static rela_status tokenise_line(const rela_tokeniser *t, rela_buffer *out, rela_char_line *l,
                                 rela_buffer *room, rela_error *err)
{
    const rela_language *language = t->language;
    rela_status st = RELA_OK;
    if (t->protect) { /* patterns see single blanks and no control characters */
        if ((st = clean(l, room, err)) != RELA_OK ||
            (st = rela_protect_find(t->protect, &l->parts, l->text, err)) != RELA_OK)
            return st;
    }
    st = rela_char_line_read(l, language->scripts, err);
    if (st == RELA_OK && l->junk) { /* rare: the bytes of a token must be contiguous */
        st = clean(l, room, err);
        if (st == RELA_OK)
            st = rela_char_line_read(l, language->scripts, err);
    }
    if (st != RELA_OK)
        return st;
    rela_char_line_split(l, language->apostrophe, t->split_dashes);
    return write_tokens(t, out, l, err);
}

/* Leaves single spaces between words, none around them, and no control characters. */
static rela_status clean(rela_char_line *l, rela_buffer *room, rela_error *err)
{
    const char *at = l->text.text, *end = at + l->text.len;
    rela_span word;
    rela_status st = rela_buffer_reserve(room, l->text.len, err);
    while (st == RELA_OK && rela_text_word(&word, &at, end)) {
        if (room->len)
            room->data[room->len++] = ' ';
        for (size_t i = 0; i < word.len; i++)
            if ((unsigned char)word.text[i] >= 0x20)
                room->data[room->len++] = word.text[i];
        if (room->len && room->data[room->len - 1] == ' ') /* the word was all junk */
            room->len--;
    }
    l->text = (rela_span){ room->data, room->len };
    return st;
}

static rela_status write_tokens(const rela_tokeniser *t, rela_buffer *out, const rela_char_line *l,
                                rela_error *err)
{
    rela_status st = rela_buffer_reserve(out, l->text.len + l->text.len / 4, err);
    for (size_t first = 0, after = 0; st == RELA_OK && first < l->n; first = after) {
        for (after = first + 1; after < l->n && l->items[after].gap == 0; after++)
            continue;
        if (first > 0)
            st = rela_buffer_append_char(out, ' ', err);
        if (st != RELA_OK)
            break;
        const size_t stop = after - 1;
        if (stop > first && l->items[stop].kind == RELA_CELL_STOP &&
            !keeps_stop(t, l, first, stop)) {
            st = write_token(t, out, l, first, stop, err);
            if (st == RELA_OK)
                st = rela_buffer_append(out, " .", 2, err);
        } else {
            st = write_token(t, out, l, first, after, err);
        }
    }
    return st;
}

/* Whether the stop belongs to the word before it. */
static bool keeps_stop(const rela_tokeniser *t, const rela_char_line *l, size_t first, size_t stop)
{
    bool inner = false, alpha = false, protected = false;
    for (size_t i = first; i < stop; i++) {
        inner = inner || l->items[i].kind == RELA_CELL_STOP;
        alpha = alpha || (l->items[i].class & RELA_TEXT_ALPHA);
        protected = protected || l->items[i].kind == RELA_CELL_PROTECTED;
    }
    if (inner && alpha)
        return true;
    const rela_char_cell *next = stop + 1 < l->n ? &l->items[stop + 1] : NULL;
    if (next && (next->class & RELA_TEXT_LOWER))
        return true;
    if (protected)
        return false;
    const size_t at = l->items[first].at;
    const uint32_t number =
        rela_map_find(t->abbreviations, l->text.text + at, l->items[stop].at - at);
    if (number < t->n_always)
        return true;
    if (number == RELA_MAP_NONE || !next || next->kind != RELA_CELL_WORD)
        return false;
    const char first_digit = l->text.text[next->at];
    return first_digit >= '0' && first_digit <= '9';
}

static rela_status write_token(const rela_tokeniser *t, rela_buffer *out, const rela_char_line *l,
                               size_t first, size_t after, rela_error *err)
{
    if (l->items[first].kind == RELA_CELL_SPLIT)
        return rela_buffer_append(out, "@-@", 3, err);
    const size_t begin = l->items[first].at;
    const rela_span s = { l->text.text + begin, rela_char_line_end(l, after - 1) - begin };
    /* Inside words only apostrophes and protected parts can need an entity. */
    const bool plain = l->items[first].kind != RELA_CELL_MARK &&
                       !(l->seen & (1u << RELA_CELL_APOSTROPHE | 1u << RELA_CELL_PROTECTED));
    return plain || !t->escape ? rela_buffer_append(out, s.text, s.len, err)
                               : write_escaped(out, s, err);
}

static rela_status write_escaped(rela_buffer *out, rela_span s, rela_error *err)
{
    rela_status st = RELA_OK;
    size_t done = 0;
    for (size_t i = 0; i < s.len && st == RELA_OK; i++) {
        const unsigned char byte = (unsigned char)s.text[i];
        if (byte >= 0x80 || !ENTITIES[byte])
            continue;
        st = rela_buffer_append(out, s.text + done, i - done, err);
        if (st == RELA_OK)
            st = rela_buffer_append_text(out, ENTITIES[byte], err);
        done = i + 1;
    }
    return st == RELA_OK ? rela_buffer_append(out, s.text + done, s.len - done, err) : st;
}

static rela_status lower_from(rela_buffer *out, size_t start, rela_error *err)
{
    rela_buffer lower = RELA_BUFFER_INIT;
    const rela_span s = { out->data + start, out->len - start };
    rela_status st = rela_text_lower(&lower, s, err);
    if (st == RELA_OK) {
        out->len = start;
        st = rela_buffer_append(out, lower.data, lower.len, err);
    }
    rela_buffer_free(&lower);
    return st;
}

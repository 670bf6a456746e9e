/* SPDX-License-Identifier: MIT */
/* src/text/tokenise.c - the Moses tokeniser without regular expressions.
 *
 * Moses applies substitutions to the whole line, one after the other, and all of them only insert
 * blanks. So the line is read once into cells, one per character, each with the number of blanks
 * before it; the rules then look at neighbouring cells and count blanks up. What a substitution
 * has consumed cannot serve the next match of the same rule: that is kept track of, because the
 * number of blanks decides about it. Tokens are what lies between blanks in the end. */
#include "base/mem.h"
#include "base/utf8.h"
#include "rela/text.h"
#include "text/chars.h"
#include "text/language.h"
#include "text/protect.h"

#include <string.h>

enum { CELLS_ON_STACK = 1024, NONE = -1 };

typedef enum kind {
    KIND_WORD,  /* letter, digit, ` */
    KIND_MARK,  /* a token of its own */
    KIND_STOP,  /* . that is alone */
    KIND_STOPS, /* . in a row of several */
    KIND_COMMA,
    KIND_APOSTROPHE,
    KIND_DASH,
    KIND_SPLIT,        /* - that becomes @-@ */
    KIND_PROTECTED,    /* all bytes of a protected part */
    KIND_PROTECTED_END /* no bytes: what the right neighbour of a protected part sees */
} kind;

typedef struct cell {
    uint32_t at; /* offset of its first byte */
    uint8_t class;
    uint8_t kind;
    uint8_t gap; /* blanks before it */
} cell;

typedef struct line {
    rela_span text;
    rela_parts parts;
    cell *cells; /* n of them, and one more for the gap at the end */
    size_t n;
    unsigned seen; /* bits 1 << kind */
    size_t first_apostrophe, last_apostrophe;
    bool junk; /* control characters in the text */
    cell fixed[CELLS_ON_STACK];
} line;

struct rela_tokeniser {
    const rela_language *language;
    rela_map *abbreviations;
    size_t n_always;
    rela_protect *protect; /* NULL: none */
    bool escape, split_dashes, lowercase;
};

/* What must stand left and right of an apostrophe: any of these classes (0: anything, but
 * something), none of those; and where it gets a blank. */
typedef struct apostrophe_rule {
    uint8_t left, not_left, right, not_right;
    char letter; /* the right neighbour, if not 0 */
    bool before, after;
} apostrophe_rule;

#define A RELA_CHAR_ALPHA
#define N RELA_CHAR_NUMBER
static const apostrophe_rule ENGLISH[] = {
    { 0, A, 0, A, 0, true, true },    { 0, A | N, A, 0, 0, true, true },
    { A, 0, 0, A, 0, true, true },    { A, 0, A, 0, 0, true, false },
    { N, 0, 0, 0, 's', true, false },
};
static const apostrophe_rule ELISION[] = {
    { 0, A, 0, A, 0, true, true },
    { 0, A, A, 0, 0, true, true },
    { A, 0, 0, A, 0, true, true },
    { A, 0, A, 0, 0, false, true },
};
#undef A
#undef N

static const char *const ENTITIES[128] = {
    ['&'] = "&amp;",   ['|'] = "&#124;", ['<'] = "&lt;",  ['>'] = "&gt;",
    ['\''] = "&apos;", ['"'] = "&quot;", ['['] = "&#91;", [']'] = "&#93;",
};

static rela_status tokenise_line(const rela_tokeniser *t, rela_buffer *out, line *l,
                                 rela_buffer *room, rela_error *err);
static rela_status clean(line *l, rela_buffer *room, rela_error *err);
static rela_status make_room(line *l, rela_error *err);
static void scan(line *l, unsigned scripts);
static void put_protected(line *l, const rela_part *part, uint8_t gap);
static kind kind_of(uint32_t code, uint8_t class);
static void split_dashes(line *l);
static void join_stops(line *l);
static void split_commas(line *l);
static void split_apostrophes(line *l, rela_apostrophe how);
static void apply_rule(line *l, const apostrophe_rule *rule);
static void split_last_stop(line *l);
static rela_status write_tokens(const rela_tokeniser *t, rela_buffer *out, const line *l,
                                rela_error *err);
static bool keeps_stop(const rela_tokeniser *t, const line *l, size_t first, size_t stop);
static rela_status write_token(const rela_tokeniser *t, rela_buffer *out, const line *l,
                               size_t first, size_t after, rela_error *err);
static rela_status write_escaped(rela_buffer *out, rela_span s, rela_error *err);
static rela_status lower_from(rela_buffer *out, size_t start, rela_error *err);
static size_t end_of(const line *l, size_t i);
static int left_of(const line *l, size_t i);
static int right_of(const line *l, size_t i);

rela_status rela_tokeniser_create(rela_tokeniser **out, const rela_tokeniser_options *options,
                                  rela_error *err)
{
    *out = NULL;
    const rela_language *language = NULL;
    rela_status st = rela_language_find(&language, options->language, err);
    if (st != RELA_OK)
        return st;
    rela_tokeniser *t = rela_mem_zalloc(sizeof *t);
    if (!t)
        return rela_fail(err, RELA_NOMEM, "no memory for a tokeniser");
    t->language = language;
    t->escape = !options->no_escape;
    t->split_dashes = options->aggressive_dash;
    t->lowercase = options->lowercase;
    st = rela_language_abbreviations(&t->abbreviations, &t->n_always, language, err);
    if (st == RELA_OK && options->n_protect)
        st = rela_protect_create(&t->protect, options->protect, options->n_protect, err);
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

rela_status rela_tokenise(const rela_tokeniser *t, rela_buffer *out, const char *text, size_t len,
                          rela_error *err)
{
    if (len >= UINT32_MAX)
        return rela_fail(err, RELA_ARG, "a line of %zu bytes; expected less than 4 GiB", len);
    const size_t start = out->len;
    rela_buffer repaired = RELA_BUFFER_INIT, room = RELA_BUFFER_INIT;
    line l;
    l.text = (rela_span){ text, len };
    l.parts = (rela_parts){ NULL, 0, 0 };
    l.cells = NULL;
    rela_status st = rela_text_repair(&l.text, &repaired, err);
    if (st == RELA_OK)
        st = tokenise_line(t, out, &l, &room, err);
    if (st == RELA_OK && t->lowercase)
        st = lower_from(out, start, err);
    if (st != RELA_OK)
        out->len = start;
    if (l.cells != l.fixed)
        rela_mem_free(l.cells);
    rela_mem_free(l.parts.items);
    rela_buffer_free(&room);
    rela_buffer_free(&repaired);
    return st;
}

static rela_status tokenise_line(const rela_tokeniser *t, rela_buffer *out, line *l,
                                 rela_buffer *room, rela_error *err)
{
    rela_status st = RELA_OK;
    if (t->protect) { /* patterns see single blanks and no control characters */
        if ((st = clean(l, room, err)) != RELA_OK ||
            (st = rela_protect_find(t->protect, &l->parts, l->text, err)) != RELA_OK)
            return st;
    }
    if ((st = make_room(l, err)) != RELA_OK)
        return st;
    scan(l, t->language->scripts);
    if (l->junk) { /* rare: tokens must be bytes in a row */
        if ((st = clean(l, room, err)) != RELA_OK)
            return st;
        scan(l, t->language->scripts);
    }
    if (t->split_dashes && (l->seen & 1u << KIND_DASH))
        split_dashes(l);
    if (l->seen & 1u << KIND_STOP)
        join_stops(l);
    if (l->seen & 1u << KIND_COMMA)
        split_commas(l);
    if (l->seen & 1u << KIND_APOSTROPHE) {
        split_apostrophes(l, t->language->apostrophe);
        split_last_stop(l);
    }
    return write_tokens(t, out, l, err);
}

/* Single spaces between words, none around them, no control characters. */
static rela_status clean(line *l, rela_buffer *room, rela_error *err)
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

static rela_status make_room(line *l, rela_error *err)
{
    const size_t need = l->text.len + l->parts.n + 1;
    l->cells = need <= CELLS_ON_STACK ? l->fixed : rela_mem_array(need, sizeof *l->cells);
    return l->cells ? RELA_OK
                    : rela_fail(err, RELA_NOMEM, "no memory to tokenise %zu bytes", l->text.len);
}

static void scan(line *l, unsigned scripts)
{
    const uint8_t *classes = rela_char_table();
    const char *text = l->text.text;
    const size_t len = l->text.len;
    const rela_part *part = l->parts.items, *parts_end = part ? part + l->parts.n : NULL;
    uint8_t pad = 0; /* the blank after a mark */
    bool blank = false;
    l->n = l->seen = 0;
    l->junk = false;
    l->first_apostrophe = SIZE_MAX;
    for (size_t i = 0, step = 1; i < len; i += step) {
        const uint8_t gap = (uint8_t)(pad + (blank && l->n > 0));
        if (part != parts_end && i == part->begin) {
            put_protected(l, part, gap);
            step = part->end - part->begin;
            part++;
            pad = 0;
            blank = false;
            continue;
        }
        uint32_t code = (unsigned char)text[i];
        step = code < 0x80 ? 1 : rela_utf8_next(&code, text + i, len - i);
        const uint8_t class =
            code < RELA_CHAR_TABLE ? classes[code] : rela_char_class(code, scripts);
        if (class & (RELA_CHAR_SPACE | RELA_CHAR_JUNK)) {
            blank = blank || (class & RELA_CHAR_SPACE);
            l->junk = l->junk || (class & RELA_CHAR_JUNK);
            continue;
        }
        const kind k = class & RELA_CHAR_WORD ? KIND_WORD : kind_of(code, class);
        const uint8_t mark = k == KIND_MARK;
        l->cells[l->n] = (cell){ (uint32_t)i, class, (uint8_t)k, (uint8_t)(gap + mark) };
        l->seen |= 1u << k;
        if (k == KIND_APOSTROPHE) {
            if (l->first_apostrophe == SIZE_MAX)
                l->first_apostrophe = l->n;
            l->last_apostrophe = l->n;
        }
        l->n++;
        pad = mark;
        blank = false;
    }
    l->cells[l->n] = (cell){ (uint32_t)len, 0, KIND_MARK, pad };
}

/* Its neighbours see a word that starts with a letter and ends with a digit, because that is what
 * Moses puts in its place. */
static void put_protected(line *l, const rela_part *part, uint8_t gap)
{
    const uint8_t first = RELA_CHAR_WORD | RELA_CHAR_ALPHA,
                  last = RELA_CHAR_WORD | RELA_CHAR_NUMBER;
    l->cells[l->n++] = (cell){ (uint32_t)part->begin, first, KIND_PROTECTED, gap };
    l->cells[l->n++] = (cell){ (uint32_t)part->end, last, KIND_PROTECTED_END, 0 };
    l->seen |= 1u << KIND_PROTECTED;
}

static kind kind_of(uint32_t code, uint8_t class)
{
    if (!(class & RELA_CHAR_INNER))
        return KIND_MARK;
    switch (code) {
    case '.':
        return KIND_STOP;
    case ',':
        return KIND_COMMA;
    case '\'':
        return KIND_APOSTROPHE;
    case '-':
        return KIND_DASH;
    default:
        return KIND_WORD;
    }
}

static void split_dashes(line *l)
{
    for (size_t i = 1; i + 1 < l->n; i++) {
        cell *c = &l->cells[i];
        if (c->kind != KIND_DASH || !(left_of(l, i) & RELA_CHAR_WORD) ||
            !(right_of(l, i) & RELA_CHAR_WORD))
            continue;
        c->kind = KIND_SPLIT;
        c->gap++;
        c[1].gap++;
    }
}

/* Two stops or more are one token. */
static void join_stops(line *l)
{
    for (size_t i = 0; i + 1 < l->n; i++) {
        cell *c = &l->cells[i];
        if (c->kind != KIND_STOP || c[1].kind != KIND_STOP || c[1].gap)
            continue;
        size_t after = i;
        do
            l->cells[after++].kind = KIND_STOPS;
        while (after < l->n && l->cells[after].kind == KIND_STOP && l->cells[after].gap == 0);
        c->gap++;
        if (after < l->n || l->cells[after].gap)
            l->cells[after].gap++;
        i = after - 1;
    }
}

/* A comma stands apart unless a number follows and a number precedes; three substitutions, of
 * which the first one consumes the left neighbour, so that of several commas in a row it takes
 * every other. */
static void split_commas(line *l)
{
    bool taken = false; /* the comma to the left was split by the first substitution */
    uint8_t added = 0;  /* blanks that splitting it put before this cell */
    for (size_t i = 0; i < l->n; i++) {
        cell *c = &l->cells[i];
        if (c->kind != KIND_COMMA) {
            taken = false;
            added = 0;
            continue;
        }
        const bool beside = i > 0 && c->gap == added;
        const int left = c->gap > added ? RELA_CHAR_SPACE : beside ? c[-1].class : NONE;
        const int right = right_of(l, i);
        const bool first = left != NONE && !(left & RELA_CHAR_NUMBER) && !(beside && taken);
        const bool second = first || (right != NONE && !(right & RELA_CHAR_NUMBER));
        const bool third = right == NONE && left != NONE && (left & RELA_CHAR_NUMBER);
        const uint8_t blanks = (uint8_t)(first + second + third);
        c->gap = (uint8_t)(c->gap + blanks);
        c[1].gap = (uint8_t)(c[1].gap + blanks);
        taken = first;
        added = blanks;
    }
}

static void split_apostrophes(line *l, rela_apostrophe how)
{
    if (how == RELA_APOSTROPHE_APART) {
        for (size_t i = l->first_apostrophe; i <= l->last_apostrophe; i++)
            if (l->cells[i].kind == KIND_APOSTROPHE) {
                l->cells[i].gap++;
                l->cells[i + 1].gap++;
            }
        return;
    }
    const bool english = how == RELA_APOSTROPHE_ENGLISH;
    const apostrophe_rule *rules = english ? ENGLISH : ELISION;
    const size_t n = english ? sizeof ENGLISH / sizeof *ENGLISH : sizeof ELISION / sizeof *ELISION;
    for (size_t i = 0; i < n; i++)
        apply_rule(l, &rules[i]);
}

static void apply_rule(line *l, const apostrophe_rule *rule)
{
    size_t consumed = SIZE_MAX; /* cell that was the right neighbour of a match */
    size_t blocked = SIZE_MAX;  /* cell whose only blank was one */
    for (size_t i = l->first_apostrophe; i <= l->last_apostrophe; i++) {
        cell *c = &l->cells[i];
        if (c->kind != KIND_APOSTROPHE || i == consumed || i == blocked ||
            (c->gap == 0 && i > 0 && i - 1 == consumed))
            continue;
        const int left = left_of(l, i), right = right_of(l, i);
        if (left == NONE || right == NONE || (rule->left && !(left & rule->left)) ||
            (left & rule->not_left) || (rule->right && !(right & rule->right)) ||
            (right & rule->not_right))
            continue;
        if (rule->letter &&
            (c[1].gap || c[1].kind != KIND_WORD || l->text.text[c[1].at] != rule->letter))
            continue;
        if (c[1].gap == 0)
            consumed = i + 1;
        else if (c[1].gap == 1)
            blocked = i + 1;
        c->gap = (uint8_t)(c->gap + rule->before);
        c[1].gap = (uint8_t)(c[1].gap + rule->after);
    }
}

/* .' at the end of the line. */
static void split_last_stop(line *l)
{
    if (l->n < 2)
        return;
    cell *c = &l->cells[l->n - 2];
    if (c->kind == KIND_STOP && c[1].kind == KIND_APOSTROPHE && c[1].gap == 0)
        c->gap = c[1].gap = 1;
}

static rela_status write_tokens(const rela_tokeniser *t, rela_buffer *out, const line *l,
                                rela_error *err)
{
    rela_status st = rela_buffer_reserve(out, l->text.len + l->text.len / 4, err);
    for (size_t first = 0, after = 0; st == RELA_OK && first < l->n; first = after) {
        for (after = first + 1; after < l->n && l->cells[after].gap == 0; after++)
            continue;
        if (first > 0)
            st = rela_buffer_append_char(out, ' ', err);
        if (st != RELA_OK)
            break;
        const size_t stop = after - 1;
        if (stop > first && l->cells[stop].kind == KIND_STOP && !keeps_stop(t, l, first, stop)) {
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
static bool keeps_stop(const rela_tokeniser *t, const line *l, size_t first, size_t stop)
{
    bool inner = false, alpha = false, protected = false;
    for (size_t i = first; i < stop; i++) {
        inner = inner || l->cells[i].kind == KIND_STOP;
        alpha = alpha || (l->cells[i].class & RELA_CHAR_ALPHA);
        protected = protected || l->cells[i].kind == KIND_PROTECTED;
    }
    if (inner && alpha)
        return true;
    const cell *next = stop + 1 < l->n ? &l->cells[stop + 1] : NULL;
    if (next && (next->class & RELA_CHAR_LOWER))
        return true;
    if (protected)
        return false;
    const size_t at = l->cells[first].at;
    const uint32_t number =
        rela_map_find(t->abbreviations, l->text.text + at, l->cells[stop].at - at);
    if (number < t->n_always)
        return true;
    const char digit = next && next->kind == KIND_WORD ? l->text.text[next->at] : ' ';
    return number != RELA_MAP_NONE && digit >= '0' && digit <= '9';
}

static rela_status write_token(const rela_tokeniser *t, rela_buffer *out, const line *l,
                               size_t first, size_t after, rela_error *err)
{
    if (l->cells[first].kind == KIND_SPLIT)
        return rela_buffer_append(out, "@-@", 3, err);
    const size_t begin = l->cells[first].at;
    const rela_span s = { l->text.text + begin, end_of(l, after - 1) - begin };
    /* Inside words only apostrophes and protected parts can need an entity. */
    const bool plain = l->cells[first].kind != KIND_MARK &&
                       !(l->seen & (1u << KIND_APOSTROPHE | 1u << KIND_PROTECTED));
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

static size_t end_of(const line *l, size_t i)
{
    const cell *c = &l->cells[i];
    if (c->kind == KIND_PROTECTED_END)
        return c->at;
    const unsigned char lead = (unsigned char)l->text.text[c->at];
    return c->at + (size_t)(lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4);
}

/* Class of the character to the left of a cell, or NONE. */
static int left_of(const line *l, size_t i)
{
    return l->cells[i].gap ? RELA_CHAR_SPACE : i == 0 ? NONE : l->cells[i - 1].class;
}

static int right_of(const line *l, size_t i)
{
    return l->cells[i + 1].gap ? RELA_CHAR_SPACE : i + 1 == l->n ? NONE : l->cells[i + 1].class;
}

/* SPDX-License-Identifier: MIT */
/* src/text/char_classes.c - see char_classes.h. */
#include "text/char_classes.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "text/moses_chars.h"

enum { NONE = -1 };

/* A rule applies if the left and right neighbours of an apostrophe exist, are of any of these
 * classes (0: all) and of none of the not_ classes. Blanks then go before and after it, as set. */
typedef struct apostrophe_rule {
    uint8_t left, not_left, right, not_right;
    char letter; /* required right neighbour; 0: any */
    bool before, after;
} apostrophe_rule;

#define A RELA_TEXT_ALPHA
#define N RELA_TEXT_NUMBER
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

static rela_status make_room(rela_char_line *l, rela_error *err);
static void scan(rela_char_line *l, unsigned scripts);
static void put_protected(rela_char_line *l, const rela_part *part, uint8_t gap);
static rela_cell_kind kind_of(uint32_t code, uint8_t class);
static void split_dashes(rela_char_line *l);
static void join_stops(rela_char_line *l);
static void split_commas(rela_char_line *l);
static void split_apostrophes(rela_char_line *l, rela_apostrophe how);
static void apply_rule(rela_char_line *l, const apostrophe_rule *rule);
static void split_last_stop(rela_char_line *l);
static int left_of(const rela_char_line *l, size_t i);
static int right_of(const rela_char_line *l, size_t i);

void rela_char_line_start(rela_char_line *l, const char *text, size_t len)
{
    l->text = (rela_span){ text, len };
    l->parts = (rela_parts){ NULL, 0, 0 };
    l->items = NULL;
}

rela_status rela_char_line_read(rela_char_line *l, unsigned scripts, rela_error *err)
{
    const rela_status st = make_room(l, err);
    if (st == RELA_OK)
        scan(l, scripts);
    return st;
}

void rela_char_line_free(rela_char_line *l)
{
    if (l->items != l->fixed)
        rela_mem_free(l->items);
    rela_mem_free(l->parts.items);
}

void rela_char_line_split(rela_char_line *l, rela_apostrophe how, bool dashes)
{
    if (dashes && (l->seen & 1u << RELA_CELL_DASH))
        split_dashes(l);
    if (l->seen & 1u << RELA_CELL_STOP)
        join_stops(l);
    if (l->seen & 1u << RELA_CELL_COMMA)
        split_commas(l);
    if (l->seen & 1u << RELA_CELL_APOSTROPHE) {
        split_apostrophes(l, how);
        split_last_stop(l);
    }
}

size_t rela_char_line_end(const rela_char_line *l, size_t i)
{
    const rela_char_cell *c = &l->items[i];
    if (c->kind == RELA_CELL_PROTECTED_END)
        return c->at;
    const unsigned char lead = (unsigned char)l->text.text[c->at];
    return c->at + (size_t)(lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4);
}

static rela_status make_room(rela_char_line *l, rela_error *err)
{
    const size_t need = l->text.len + l->parts.n + 1;
    if (need <= RELA_CELLS_FIXED) {
        if (l->items != l->fixed)
            rela_mem_free(l->items);
        l->items = l->fixed;
        return RELA_OK;
    }
    rela_char_cell *items = l->items == l->fixed ? NULL : l->items;
    size_t bytes = 0;
    items = rela_size_mul(&bytes, need, sizeof *items) ? rela_mem_resize(items, bytes) : NULL;
    if (!items)
        return rela_fail(err, RELA_NOMEM, "no memory to tokenise %zu bytes", l->text.len);
    l->items = items;
    return RELA_OK;
}

static void scan(rela_char_line *l, unsigned scripts)
{
    const uint8_t *classes = rela_text_classes();
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
            code < RELA_TEXT_TABLE ? classes[code] : rela_text_class(code, scripts);
        if (class & (RELA_TEXT_SPACE | RELA_TEXT_JUNK)) {
            blank = blank || (class & RELA_TEXT_SPACE);
            l->junk = l->junk || (class & RELA_TEXT_JUNK);
            continue;
        }
        const rela_cell_kind k = class & RELA_TEXT_WORD ? RELA_CELL_WORD : kind_of(code, class);
        const uint8_t mark = k == RELA_CELL_MARK;
        l->items[l->n] = (rela_char_cell){ (uint32_t)i, class, (uint8_t)k, (uint8_t)(gap + mark) };
        l->seen |= 1u << k;
        if (k == RELA_CELL_APOSTROPHE) {
            if (l->first_apostrophe == SIZE_MAX)
                l->first_apostrophe = l->n;
            l->last_apostrophe = l->n;
        }
        l->n++;
        pad = mark;
        blank = false;
    }
    l->items[l->n] = (rela_char_cell){ (uint32_t)len, 0, RELA_CELL_MARK, pad };
}

/* Its neighbours see a word that starts with a letter and ends with a digit, like the placeholder
 * that Moses puts in its place. */
static void put_protected(rela_char_line *l, const rela_part *part, uint8_t gap)
{
    const uint8_t first = RELA_TEXT_WORD | RELA_TEXT_ALPHA,
                  last = RELA_TEXT_WORD | RELA_TEXT_NUMBER;
    l->items[l->n++] = (rela_char_cell){ (uint32_t)part->begin, first, RELA_CELL_PROTECTED, gap };
    l->items[l->n++] = (rela_char_cell){ (uint32_t)part->end, last, RELA_CELL_PROTECTED_END, 0 };
    l->seen |= 1u << RELA_CELL_PROTECTED;
}

static rela_cell_kind kind_of(uint32_t code, uint8_t class)
{
    if (!(class & RELA_TEXT_INNER))
        return RELA_CELL_MARK;
    switch (code) {
    case '.':
        return RELA_CELL_STOP;
    case ',':
        return RELA_CELL_COMMA;
    case '\'':
        return RELA_CELL_APOSTROPHE;
    case '-':
        return RELA_CELL_DASH;
    default:
        return RELA_CELL_WORD;
    }
}

static void split_dashes(rela_char_line *l)
{
    for (size_t i = 1; i + 1 < l->n; i++) {
        rela_char_cell *c = &l->items[i];
        if (c->kind != RELA_CELL_DASH || !(left_of(l, i) & RELA_TEXT_WORD) ||
            !(right_of(l, i) & RELA_TEXT_WORD))
            continue;
        c->kind = RELA_CELL_SPLIT;
        c->gap++;
        c[1].gap++;
    }
}

/* Two or more full stops in a row are one token. */
static void join_stops(rela_char_line *l)
{
    for (size_t i = 0; i + 1 < l->n; i++) {
        rela_char_cell *c = &l->items[i];
        if (c->kind != RELA_CELL_STOP || c[1].kind != RELA_CELL_STOP || c[1].gap)
            continue;
        size_t after = i;
        do
            l->items[after++].kind = RELA_CELL_STOPS;
        while (after < l->n && l->items[after].kind == RELA_CELL_STOP && l->items[after].gap == 0);
        c->gap++;
        if (after < l->n || l->items[after].gap)
            l->items[after].gap++;
        i = after - 1;
    }
}

/* A comma is split off unless it stands between numbers. Moses does this in three substitutions;
 * the first one consumes the left neighbour, so in a run of commas it matches every other one. */
static void split_commas(rela_char_line *l)
{
    bool taken = false; /* the comma to the left was split by the first substitution */
    uint8_t added = 0;  /* blanks that splitting it put before this cell */
    for (size_t i = 0; i < l->n; i++) {
        rela_char_cell *c = &l->items[i];
        if (c->kind != RELA_CELL_COMMA) {
            taken = false;
            added = 0;
            continue;
        }
        const bool beside = i > 0 && c->gap == added;
        const int left = c->gap > added ? RELA_TEXT_SPACE : beside ? c[-1].class : NONE;
        const int right = right_of(l, i);
        const bool first = left != NONE && !(left & RELA_TEXT_NUMBER) && !(beside && taken);
        const bool second = first || (right != NONE && !(right & RELA_TEXT_NUMBER));
        const bool third = right == NONE && left != NONE && (left & RELA_TEXT_NUMBER);
        const uint8_t blanks = (uint8_t)(first + second + third);
        c->gap = (uint8_t)(c->gap + blanks);
        c[1].gap = (uint8_t)(c[1].gap + blanks);
        taken = first;
        added = blanks;
    }
}

static void split_apostrophes(rela_char_line *l, rela_apostrophe how)
{
    if (how == RELA_APOSTROPHE_APART) {
        for (size_t i = l->first_apostrophe; i <= l->last_apostrophe; i++)
            if (l->items[i].kind == RELA_CELL_APOSTROPHE) {
                l->items[i].gap++;
                l->items[i + 1].gap++;
            }
        return;
    }
    const bool english = how == RELA_APOSTROPHE_ENGLISH;
    const apostrophe_rule *rules = english ? ENGLISH : ELISION;
    const size_t n = english ? sizeof ENGLISH / sizeof *ENGLISH : sizeof ELISION / sizeof *ELISION;
    for (size_t i = 0; i < n; i++)
        apply_rule(l, &rules[i]);
}

static void apply_rule(rela_char_line *l, const apostrophe_rule *rule)
{
    size_t consumed = SIZE_MAX; /* cell that was the right neighbour of a match */
    size_t blocked = SIZE_MAX;  /* cell whose only preceding blank was that neighbour */
    for (size_t i = l->first_apostrophe; i <= l->last_apostrophe; i++) {
        rela_char_cell *c = &l->items[i];
        if (c->kind != RELA_CELL_APOSTROPHE || i == consumed || i == blocked ||
            (c->gap == 0 && i > 0 && i - 1 == consumed))
            continue;
        const int left = left_of(l, i), right = right_of(l, i);
        if (left == NONE || right == NONE || (rule->left && !(left & rule->left)) ||
            (left & rule->not_left) || (rule->right && !(right & rule->right)) ||
            (right & rule->not_right))
            continue;
        if (rule->letter &&
            (c[1].gap || c[1].kind != RELA_CELL_WORD || l->text.text[c[1].at] != rule->letter))
            continue;
        if (c[1].gap == 0)
            consumed = i + 1;
        else if (c[1].gap == 1)
            blocked = i + 1;
        c->gap = (uint8_t)(c->gap + rule->before);
        c[1].gap = (uint8_t)(c[1].gap + rule->after);
    }
}

/* Splits .' at the end of the line. */
static void split_last_stop(rela_char_line *l)
{
    if (l->n < 2)
        return;
    rela_char_cell *c = &l->items[l->n - 2];
    if (c->kind == RELA_CELL_STOP && c[1].kind == RELA_CELL_APOSTROPHE && c[1].gap == 0)
        c->gap = c[1].gap = 1;
}

/* Class of the character to the left of a cell, or NONE. */
static int left_of(const rela_char_line *l, size_t i)
{
    return l->items[i].gap ? RELA_TEXT_SPACE : i == 0 ? NONE : l->items[i - 1].class;
}

static int right_of(const rela_char_line *l, size_t i)
{
    return l->items[i + 1].gap ? RELA_TEXT_SPACE : i + 1 == l->n ? NONE : l->items[i + 1].class;
}

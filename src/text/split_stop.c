/* SPDX-License-Identifier: MIT */
/* src/text/split_stop.c - does a full stop end a sentence, or belong to an abbreviation, an initial
 * or a number? See split_line.h. */
#include "text/split_line.h"

#include "text/moses_chars.h"

#include <string.h>
#include <utf8proc.h>

enum {
    INITIALS_MAX = 4,   /* looked up with the word after them: "i. d. R." */
    SEGMENT_MAX = 3,    /* letters between the stops of an abbreviation */
    MARKER_DIGITS = 3,  /* of the number of a list item: "12. Salt the water" */
    ORDINAL_DIGITS = 3, /* "im 19. Jahrhundert" */
    DAY_DIGITS = 2,
    APOSTROPHE = 0x2019
};

static size_t offset_of(const rela_split_line *l, rela_span word)
{
    return (size_t)(word.text - l->text);
}

static bool is_apostrophe(rela_glyph g)
{
    return g.code == '\'' || g.code == APOSTROPHE;
}

/* Whether the character that ends at place may be part of an abbreviation or a number. */
static bool is_inner(const rela_split_line *l, rela_glyph g, size_t place)
{
    if (is_apostrophe(g)) /* "isn't", not "'in" */
        return (rela_split_previous(l, place - g.n).kind &
                (RELA_GLYPH_LETTERS | RELA_GLYPH_DIGIT)) &&
               (rela_split_glyph(l, place).kind & RELA_GLYPH_LETTERS);
    return (g.kind & (RELA_GLYPH_LETTERS | RELA_GLYPH_DIGIT | RELA_GLYPH_STOP)) ||
           (g.code < 0x80 && g.code && strchr("-,:", (int)g.code));
}

/* The word that ends at offset end, without brackets and quotes before it. Empty if there is none
 * or it is too long for an abbreviation. */
static rela_span word_before(const rela_split_line *l, size_t end)
{
    size_t place = end;
    for (rela_glyph g = rela_split_previous(l, end); g.n && is_inner(l, g, place);
         g = rela_split_previous(l, place)) {
        place -= g.n;
        if (end - place > RELA_STOP_WORD_MAX)
            return (rela_span){ l->text + end, 0 };
    }
    return (rela_span){ l->text + place, end - place };
}

/* One letter, with its combining marks. */
static bool is_initial(const rela_split_line *l, rela_span word)
{
    size_t n = 0;
    rela_glyph g;
    for (size_t i = 0; i < word.len; i += g.n) {
        g = rela_split_glyph(l, offset_of(l, word) + i);
        const utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)g.code);
        if (!(g.kind & RELA_GLYPH_LETTERS) || rela_text_is_cjk(g.code))
            return false;
        n += c != UTF8PROC_CATEGORY_MN && c != UTF8PROC_CATEGORY_MC;
    }
    return n == 1;
}

/* Letters with stops between them, at least one of them alone: "e.g", "Ph.D", "U.S.A". */
static bool is_dotted(const rela_split_line *l, rela_span word)
{
    size_t n_stops = 0, n_letters = 0;
    bool alone = false;
    rela_glyph g;
    for (size_t i = 0; i < word.len; i += g.n) {
        g = rela_split_glyph(l, offset_of(l, word) + i);
        if (g.kind == RELA_GLYPH_STOP) {
            alone = alone || n_letters == 1;
            n_letters = 0;
            n_stops++;
        } else if ((g.kind & RELA_GLYPH_LETTERS) && n_letters < SEGMENT_MAX) {
            n_letters++;
        } else if (g.code != '-') {
            return false;
        }
    }
    return n_stops && (alone || n_letters == 1);
}

/* How many digits the word has, perhaps with marks between them; 0 if it is not a number. */
static size_t count_digits(const rela_split_line *l, rela_span word)
{
    size_t n = 0;
    rela_glyph g;
    for (size_t i = 0; i < word.len; i += g.n) {
        g = rela_split_glyph(l, offset_of(l, word) + i);
        n += g.kind == RELA_GLYPH_DIGIT;
        if ((g.kind & RELA_GLYPH_LETTERS) || is_apostrophe(g))
            return 0;
    }
    return n;
}

/* Whether nothing is joined to the front of the word that would make it a different one. */
static bool stands_alone(const rela_split_line *l, rela_span word)
{
    const rela_glyph g = rela_split_previous(l, offset_of(l, word));
    return !(g.kind & (RELA_GLYPH_OTHER | RELA_GLYPH_JOINT)) || g.code == '/';
}

/* What follows an elision: "env" of "d'env". */
static rela_span after_apostrophe(const rela_split_line *l, rela_span word)
{
    const size_t end = offset_of(l, word) + word.len;
    size_t place = end;
    while (end - place < word.len && !is_apostrophe(rela_split_previous(l, place)))
        place -= rela_split_previous(l, place).n;
    return (rela_span){ l->text + place, end - place };
}

/* The class of a word, or of it together with the initials before it: "z. B.", "p. ex.". */
static rela_stop_class class_of(const rela_split_line *l, rela_span word)
{
    char key[(INITIALS_MAX + 1) * RELA_STOP_WORD_MAX];
    size_t from = sizeof key - word.len;
    rela_span last = word;
    memcpy(key + from, word.text, word.len);
    for (int i = 0; i < INITIALS_MAX; i++) {
        const rela_glyph blank = rela_split_previous(l, offset_of(l, last));
        const rela_span w = word_before(l, offset_of(l, last) - blank.n);
        const rela_span initial = { w.text, w.len ? w.len - 1 : 0 };
        if (blank.kind != RELA_GLYPH_BLANK || !is_initial(l, initial) || w.text[initial.len] != '.')
            break;
        from -= w.len;
        memcpy(key + from, w.text, w.len);
        last = w;
    }
    const rela_stop_class c = rela_stop_class_of(l->words, key + from, sizeof key - from);
    last = after_apostrophe(l, word);
    return c != RELA_STOP_WORD ? c : rela_stop_class_of(l->words, last.text, last.len);
}

/* Whether a number before a stop ends a sentence; if not, it is an ordinal or part of a date. */
static bool number_ends(const rela_split_line *l, rela_span number, size_t n_digits,
                        const rela_split_ahead *x)
{
    const rela_glyph blank = rela_split_previous(l, offset_of(l, number));
    const rela_span w = word_before(l, offset_of(l, number) - blank.n);
    const char mark = w.len ? w.text[w.len - 1] : '\0';
    const bool date = mark == '.' && count_digits(l, w); /* "3. 5. 2020" */
    if (x->kind == RELA_GLYPH_DIGIT && n_digits <= DAY_DIGITS) {
        const size_t end = rela_split_skip(l, x->at, RELA_GLYPH_DIGIT);
        if (date || (end - x->at <= DAY_DIGITS && rela_split_glyph(l, end).kind == RELA_GLYPH_STOP))
            return false;
    }
    if (!(l->words->bits & RELA_STOP_ORDINALS) || n_digits > ORDINAL_DIGITS ||
        n_digits != number.len)
        return true;
    if (rela_split_has(l->words->counted, x->word.text, x->word.len))
        return false;
    return x->starter ||
           (mark != ',' && !date && !rela_split_has_either(l->words->ordinal, w.text, w.len));
}

bool rela_split_stop_ends(const rela_split_line *l, size_t stop, const rela_split_ahead *x)
{
    const rela_span word = word_before(l, stop);
    const bool first = offset_of(l, word) == l->first, initial = is_initial(l, word);
    const size_t n_digits = count_digits(l, word);
    if (!word.len || !stands_alone(l, word))
        return true;
    if (n_digits)
        return x->kind != RELA_GLYPH_SMALL && !(first && n_digits <= MARKER_DIGITS) &&
               number_ends(l, word, n_digits, x);
    rela_stop_class c = class_of(l, word);
    if (c == RELA_STOP_NUMBER)
        c = x->number ? RELA_STOP_NEVER : initial ? RELA_STOP_MAYBE : RELA_STOP_WORD;
    else if (c == RELA_STOP_WORD &&
             (initial || is_dotted(l, word) ||
              ((l->words->bits & RELA_STOP_ROMAN) && rela_split_is_roman(word))))
        c = RELA_STOP_MAYBE;
    if (c == RELA_STOP_NEVER || (first && initial && c != RELA_STOP_PLAIN))
        return false;
    return c == RELA_STOP_MAYBE ? x->starter : true;
}

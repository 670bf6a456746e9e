/* SPDX-License-Identifier: MIT */
/* src/text/split.c - sentences of running text, by rules.
 *
 * A sentence can end after a run of end marks and what closes with them (quotes, brackets, footnote
 * numbers, emoji), where a blank follows or the script writes none. Whether it does depends on how
 * the text goes on, and for a single full stop also on the word before it. */
#include "base/mem.h"
#include "base/sized.h"
#include "rela/text.h"
#include "text/glyphs.h"
#include "text/moses_chars.h"
#include "text/split_words.h"

#include <string.h>
#include <utf8proc.h>

enum {
    LETTERS = RELA_GLYPH_LETTER | RELA_GLYPH_CAPITAL | RELA_GLYPH_SMALL,
    BLANKS = RELA_GLYPH_BLANK | RELA_GLYPH_BREAK,
    END_MARKS = RELA_GLYPH_STOP | RELA_GLYPH_DOTS | RELA_GLYPH_MARK | RELA_GLYPH_WIDE,
    OPENERS = RELA_GLYPH_OPEN | RELA_GLYPH_CLOSE | RELA_GLYPH_DASH /* before the first word */
};

enum {
    INITIALS_MAX = 4,   /* that belong to the word after them: "i. d. R." */
    WORD_MAX = 32,      /* bytes of a word that is looked up */
    SEGMENT_MAX = 3,    /* letters between the stops of an abbreviation */
    MARKER_DIGITS = 3,  /* of a number that begins an item of a list: "12. Salt the water" */
    ORDINAL_DIGITS = 3, /* "im 19. Jahrhundert" */
    DAY_DIGITS = 2,
    FIRST_HIRAGANA = 0x3041,
    LAST_HIRAGANA = 0x309F,
    JOINER = 0x200D, /* between emoji */
    APOSTROPHE = 0x2019
};

struct rela_splitter {
    rela_split_words words;
};

/* A text, and the sentence whose end is looked for. */
typedef struct line {
    const rela_split_words *words;
    const char *text;
    size_t len;
    size_t begin; /* of the sentence */
    size_t first; /* its first letter, digit or symbol */
    bool small;   /* which is a small letter */
} line;

/* End marks and what closes with them. */
typedef struct ending {
    size_t first, after;
    size_t n_stops;
    unsigned kinds; /* of the marks */
    bool closed;    /* something closes after them */
} ending;

/* How the text goes on after an ending. */
typedef struct next {
    unsigned kind;
    size_t at;
    rela_span word;
    bool starter; /* the word has a capital at the start of a sentence only */
    bool number;  /* digits, or a Roman numeral */
} next;

static rela_glyph glyph(const line *l, size_t place);
static rela_glyph previous(const line *l, size_t place);
static size_t skip(const line *l, size_t place, unsigned kinds);
static void start(line *l);
static size_t find_end(const line *l);
static ending read_ending(const line *l, size_t place);
static bool ends(const line *l, const ending *e);
static bool stop_ends(const line *l, size_t stop, const next *x);

void rela_splitter_options_init(rela_splitter_options *o, size_t size)
{
    const rela_splitter_options defaults = { .struct_size = size };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_splitter_create(rela_splitter **out, const rela_splitter_options *options,
                                 rela_error *err)
{
    *out = NULL;
    rela_splitter_options o = { .language = NULL };
    rela_status st = rela_sized_take(&o, sizeof o, options, "rela_splitter_options", err);
    if (st != RELA_OK)
        return st;
    rela_splitter *s = rela_mem_zalloc(sizeof *s);
    if (!s)
        return rela_fail(err, RELA_NOMEM, "no memory for a splitter");
    st = rela_split_words_init(&s->words, o.language, err);
    if (st == RELA_OK) {
        *out = s;
        s = NULL;
    }
    rela_splitter_destroy(s);
    return st;
}

void rela_splitter_destroy(rela_splitter *s)
{
    if (!s)
        return;
    rela_split_words_deinit(&s->words);
    rela_mem_free(s);
}

bool rela_split_next(rela_sentence *out, size_t *at, const rela_splitter *s, const char *text,
                     size_t len)
{
    line l = { .words = &s->words, .text = text, .len = len };
    l.begin = skip(&l, *at, BLANKS);
    *at = len;
    if (l.begin == len)
        return false;
    start(&l);
    const size_t after = find_end(&l);
    size_t end = after;
    while (previous(&l, end).kind & BLANKS)
        end -= previous(&l, end).n;
    *out = (rela_sentence){ l.begin, end };
    *at = skip(&l, after, BLANKS);
    return true;
}

static rela_glyph glyph(const line *l, size_t place)
{
    return rela_glyph_at(l->text, l->len, place);
}

static rela_glyph previous(const line *l, size_t place)
{
    return rela_glyph_before(l->text, l->begin, place);
}

static size_t skip(const line *l, size_t place, unsigned kinds)
{
    for (rela_glyph g = glyph(l, place); g.kind & kinds; g = glyph(l, place))
        place += g.n;
    return place;
}

static size_t offset_of(const line *l, rela_span word)
{
    return (size_t)(word.text - l->text);
}

/* ---- from one ending to the next ---- */

static void start(line *l)
{
    l->first = skip(l, l->begin, OPENERS | RELA_GLYPH_BLANK);
    while (glyph(l, l->first).code == '-') /* an item of a list */
        l->first = skip(l, l->first + 1, OPENERS | RELA_GLYPH_BLANK);
    l->small = glyph(l, l->first).kind == RELA_GLYPH_SMALL;
}

/* Bytes that neither an end mark nor a separator begins with. */
static bool is_plain(unsigned char byte)
{
    return byte < 0x80 ? byte != '.' && byte != '!' && byte != '?' : byte < 0xCD;
}

static size_t find_end(const line *l)
{
    size_t place = l->begin;
    while (place < l->len) {
        if (is_plain((unsigned char)l->text[place])) {
            place++;
            continue;
        }
        const rela_glyph g = glyph(l, place);
        if (g.kind == RELA_GLYPH_BREAK)
            return place;
        place += g.n;
        if (g.kind & END_MARKS) {
            const ending e = read_ending(l, place - g.n);
            place = e.after;
            if (ends(l, &e))
                break;
        }
    }
    return place;
}

/* The end of a number in brackets, as of a footnote; place if there is none. */
static size_t skip_note(const line *l, size_t place)
{
    if (glyph(l, place).code != '[')
        return place;
    const size_t end = skip(l, place + 1, RELA_GLYPH_DIGIT);
    return end > place + 1 && glyph(l, end).code == ']' ? end + 1 : place;
}

/* The end of what closes after a blank, or of emoji, if nothing is joined to it; else place. */
static size_t skip_detached(const line *l, size_t place)
{
    const rela_glyph blank = glyph(l, place), g = glyph(l, place + blank.n);
    const utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)g.code);
    size_t end = place + blank.n + g.n;
    if (blank.kind != RELA_GLYPH_BLANK)
        return place;
    if (g.kind == RELA_GLYPH_EMOJI)
        while (glyph(l, end).kind == RELA_GLYPH_EMOJI || glyph(l, end).code == JOINER)
            end += glyph(l, end).n;
    else if (g.kind != RELA_GLYPH_CLOSE || c == UTF8PROC_CATEGORY_PI) /* "» « Oui" */
        return place;
    return end == l->len || (glyph(l, end).kind & BLANKS) ? end : place;
}

static ending read_ending(const line *l, size_t place)
{
    ending e = { .first = place, .after = place };
    for (;;) {
        const rela_glyph g = glyph(l, e.after);
        if (g.kind & END_MARKS) {
            e.n_stops += g.kind == RELA_GLYPH_STOP;
            e.kinds |= g.kind;
            e.after += g.n;
            continue;
        }
        size_t end = g.kind == RELA_GLYPH_CLOSE ? e.after + g.n : skip_note(l, e.after);
        end = end > e.after ? end : skip_detached(l, e.after);
        if (end == e.after)
            return e;
        e.after = end;
        e.closed = true;
    }
}

/* ---- the decision ---- */

/* The text goes on without a blank: that ends a sentence in scripts that have none. */
static bool ends_joined(const line *l, const ending *e, rela_glyph after)
{
    const rela_glyph last = previous(l, e->first);
    const bool cjk = rela_text_is_cjk(after.code) &&
                     ((e->kinds & RELA_GLYPH_MARK) || rela_text_is_cjk(last.code));
    if (!(e->kinds & RELA_GLYPH_WIDE) && !cjk)
        return false;
    if (last.kind == RELA_GLYPH_DIGIT && after.kind == RELA_GLYPH_DIGIT)
        return false;
    /* A quotation that a particle makes part of the sentence. */
    const bool particle = after.code >= FIRST_HIRAGANA && after.code <= LAST_HIRAGANA;
    return after.kind != RELA_GLYPH_JOINT && !(e->closed && particle);
}

static next read_next(const line *l, size_t place)
{
    const size_t first = skip(l, place, OPENERS | BLANKS);
    size_t end = first;
    while ((glyph(l, end).kind & LETTERS) && end - first < WORD_MAX)
        end += glyph(l, end).n;
    next x = { .kind = glyph(l, first).kind,
               .at = first,
               .word = { l->text + first, end - first } };
    x.starter = rela_split_has(l->words->starters, x.word.text, x.word.len) ||
                (glyph(l, end).code == '\'' && /* "L'eau" */
                 rela_split_has(l->words->starters, x.word.text, x.word.len + 1));
    x.number = x.kind == RELA_GLYPH_DIGIT || (rela_split_is_roman(x.word) && !x.starter);
    return x;
}

static bool ends(const line *l, const ending *e)
{
    const rela_glyph after = glyph(l, e->after);
    if (!after.n || after.kind == RELA_GLYPH_BREAK)
        return true;
    if (after.kind != RELA_GLYPH_BLANK)
        return ends_joined(l, e, after);
    const rela_glyph last = previous(l, e->first);
    const next x = read_next(l, e->after);
    if (last.kind == RELA_GLYPH_OPEN) /* "the kettle (!) Tom bought" */
        return false;
    if (!x.kind || (x.kind & (RELA_GLYPH_JOINT | END_MARKS)))
        return false;
    if (x.kind == RELA_GLYPH_SMALL && (!l->small || e->closed))
        return false;
    if (e->kinds == RELA_GLYPH_STOP && e->n_stops == 1)
        return stop_ends(l, e->first, &x);
    /* "Er kauft ... Brot": where nouns have capitals, they tell nothing after a pause. */
    const bool pause = !(e->kinds & (RELA_GLYPH_MARK | RELA_GLYPH_WIDE)) && (last.kind & BLANKS);
    return !pause || !(l->words->bits & RELA_STOP_ORDINALS) || x.starter;
}

/* ---- the word before a stop ---- */

static bool is_apostrophe(rela_glyph g)
{
    return g.code == '\'' || g.code == APOSTROPHE;
}

/* May the character that ends at a place be part of an abbreviation or a number? */
static bool is_inner(const line *l, rela_glyph g, size_t place)
{
    if (is_apostrophe(g)) /* "isn't", not "'in" */
        return (previous(l, place - g.n).kind & (LETTERS | RELA_GLYPH_DIGIT)) &&
               (glyph(l, place).kind & LETTERS);
    return (g.kind & (LETTERS | RELA_GLYPH_DIGIT | RELA_GLYPH_STOP)) ||
           (g.code < 0x80 && g.code && strchr("-,:", (int)g.code));
}

/* The word that ends at a place, without brackets and quotes before it. Empty: there is none, or it
 * is too long for an abbreviation. */
static rela_span word_before(const line *l, size_t end)
{
    size_t place = end;
    for (rela_glyph g = previous(l, end); g.n && is_inner(l, g, place); g = previous(l, place)) {
        place -= g.n;
        if (end - place > WORD_MAX)
            return (rela_span){ l->text + end, 0 };
    }
    return (rela_span){ l->text + place, end - place };
}

/* One letter, with its marks. */
static bool is_initial(const line *l, rela_span word)
{
    size_t n = 0;
    rela_glyph g;
    for (size_t i = 0; i < word.len; i += g.n) {
        g = glyph(l, offset_of(l, word) + i);
        const utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)g.code);
        if (!(g.kind & LETTERS) || rela_text_is_cjk(g.code))
            return false;
        n += c != UTF8PROC_CATEGORY_MN && c != UTF8PROC_CATEGORY_MC;
    }
    return n == 1;
}

/* Letters with stops between them, at least one of them alone: "e.g", "Ph.D", "U.S.A". */
static bool is_dotted(const line *l, rela_span word)
{
    size_t n_stops = 0, n_letters = 0;
    bool alone = false;
    rela_glyph g;
    for (size_t i = 0; i < word.len; i += g.n) {
        g = glyph(l, offset_of(l, word) + i);
        if (g.kind == RELA_GLYPH_STOP) {
            alone = alone || n_letters == 1;
            n_letters = 0;
            n_stops++;
        } else if ((g.kind & LETTERS) && n_letters < SEGMENT_MAX) {
            n_letters++;
        } else if (g.code != '-') {
            return false;
        }
    }
    return n_stops && (alone || n_letters == 1);
}

/* Digits, with marks between them; how many, 0 if it is no number. */
static size_t count_digits(const line *l, rela_span word)
{
    size_t n = 0;
    rela_glyph g;
    for (size_t i = 0; i < word.len; i += g.n) {
        g = glyph(l, offset_of(l, word) + i);
        n += g.kind == RELA_GLYPH_DIGIT;
        if ((g.kind & LETTERS) || is_apostrophe(g))
            return 0;
    }
    return n;
}

/* Is nothing joined to a word that makes it another? */
static bool stands_alone(const line *l, rela_span word)
{
    const rela_glyph g = previous(l, offset_of(l, word));
    return !(g.kind & (RELA_GLYPH_OTHER | RELA_GLYPH_JOINT)) || g.code == '/';
}

/* What follows an elision: "env" of "d'env". */
static rela_span after_apostrophe(const line *l, rela_span word)
{
    const size_t end = offset_of(l, word) + word.len;
    size_t place = end;
    while (end - place < word.len && !is_apostrophe(previous(l, place)))
        place -= previous(l, place).n;
    return (rela_span){ l->text + place, end - place };
}

/* The class of a word, or of it together with the initials before it: "z. B.", "p. ex.". */
static rela_stop_class class_of(const line *l, rela_span word)
{
    char key[(INITIALS_MAX + 1) * WORD_MAX];
    size_t from = sizeof key - word.len;
    rela_span last = word;
    memcpy(key + from, word.text, word.len);
    for (int i = 0; i < INITIALS_MAX; i++) {
        const rela_glyph blank = previous(l, offset_of(l, last));
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

/* Does a number before a stop end a sentence? Else it is an ordinal, or part of a date. */
static bool number_ends(const line *l, rela_span number, size_t n_digits, const next *x)
{
    const rela_glyph blank = previous(l, offset_of(l, number));
    const rela_span w = word_before(l, offset_of(l, number) - blank.n);
    const char mark = w.len ? w.text[w.len - 1] : '\0';
    const bool date = mark == '.' && count_digits(l, w); /* "3. 5. 2020" */
    if (x->kind == RELA_GLYPH_DIGIT && n_digits <= DAY_DIGITS) {
        const size_t end = skip(l, x->at, RELA_GLYPH_DIGIT);
        if (date || (end - x->at <= DAY_DIGITS && glyph(l, end).kind == RELA_GLYPH_STOP))
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

/* Does a single stop end a sentence? */
static bool stop_ends(const line *l, size_t stop, const next *x)
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

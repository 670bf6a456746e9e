/* SPDX-License-Identifier: MIT */
/* src/text/split.c - a rule-based sentence splitter.
 *
 * A sentence can end after a run of end marks and closing characters (quotes, brackets, footnote
 * numbers, emoji), if a blank follows or the script is written without blanks. Whether it does
 * depends on what follows, and for a single full stop also on the word before it. */
#include "base/mem.h"
#include "base/sized.h"
#include "rela/text.h"
#include "text/moses_chars.h"
#include "text/split_line.h"

#include <utf8proc.h>

enum {
    FIRST_HIRAGANA = 0x3041,
    LAST_HIRAGANA = 0x309F,
    JOINER = 0x200D /* between emoji */
};

struct rela_splitter {
    rela_split_words words;
};

/* End marks and the closing characters after them. */
typedef struct ending {
    size_t first, after;
    size_t n_stops;
    unsigned kinds; /* of the marks */
    bool closed;    /* closing characters follow */
} ending;

static void start(rela_split_line *l);
static size_t find_end(const rela_split_line *l);
static ending read_ending(const rela_split_line *l, size_t place);
static bool ends(const rela_split_line *l, const ending *e);

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
    rela_split_line l = { .words = &s->words, .text = text, .len = len };
    l.begin = rela_split_skip(&l, *at, RELA_GLYPH_BLANKS);
    *at = len;
    if (l.begin == len)
        return false;
    start(&l);
    const size_t after = find_end(&l);
    size_t end = after;
    while (rela_split_previous(&l, end).kind & RELA_GLYPH_BLANKS)
        end -= rela_split_previous(&l, end).n;
    *out = (rela_sentence){ l.begin, end };
    *at = rela_split_skip(&l, after, RELA_GLYPH_BLANKS);
    return true;
}

/* ---- finding endings ---- */

static void start(rela_split_line *l)
{
    l->first = rela_split_skip(l, l->begin, RELA_GLYPH_OPENERS | RELA_GLYPH_BLANK);
    while (rela_split_glyph(l, l->first).code == '-') /* a list item */
        l->first = rela_split_skip(l, l->first + 1, RELA_GLYPH_OPENERS | RELA_GLYPH_BLANK);
    l->small = rela_split_glyph(l, l->first).kind == RELA_GLYPH_SMALL;
}

/* Whether no end mark or separator begins with this byte. */
static bool is_plain(unsigned char byte)
{
    return byte < 0x80 ? byte != '.' && byte != '!' && byte != '?' : byte < 0xCD;
}

static size_t find_end(const rela_split_line *l)
{
    size_t place = l->begin;
    while (place < l->len) {
        if (is_plain((unsigned char)l->text[place])) {
            place++;
            continue;
        }
        const rela_glyph g = rela_split_glyph(l, place);
        if (g.kind == RELA_GLYPH_BREAK)
            return place;
        place += g.n;
        if (g.kind & RELA_GLYPH_END_MARKS) {
            const ending e = read_ending(l, place - g.n);
            place = e.after;
            if (ends(l, &e))
                break;
        }
    }
    return place;
}

/* The end of a footnote number in brackets at place; place if there is none. */
static size_t skip_note(const rela_split_line *l, size_t place)
{
    if (rela_split_glyph(l, place).code != '[')
        return place;
    const size_t end = rela_split_skip(l, place + 1, RELA_GLYPH_DIGIT);
    return end > place + 1 && rela_split_glyph(l, end).code == ']' ? end + 1 : place;
}

/* The end of a closing character or emoji after a blank if nothing is joined to it; else place. */
static size_t skip_detached(const rela_split_line *l, size_t place)
{
    const rela_glyph blank = rela_split_glyph(l, place), g = rela_split_glyph(l, place + blank.n);
    const utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)g.code);
    size_t end = place + blank.n + g.n;
    if (blank.kind != RELA_GLYPH_BLANK)
        return place;
    if (g.kind == RELA_GLYPH_EMOJI)
        while (rela_split_glyph(l, end).kind == RELA_GLYPH_EMOJI ||
               rela_split_glyph(l, end).code == JOINER)
            end += rela_split_glyph(l, end).n;
    else if (g.kind != RELA_GLYPH_CLOSE || c == UTF8PROC_CATEGORY_PI) /* "» « Oui" */
        return place;
    return end == l->len || (rela_split_glyph(l, end).kind & RELA_GLYPH_BLANKS) ? end : place;
}

static ending read_ending(const rela_split_line *l, size_t place)
{
    ending e = { .first = place, .after = place };
    for (;;) {
        const rela_glyph g = rela_split_glyph(l, e.after);
        if (g.kind & RELA_GLYPH_END_MARKS) {
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

/* No blank follows: this ends a sentence only in scripts written without blanks. */
static bool ends_joined(const rela_split_line *l, const ending *e, rela_glyph after)
{
    const rela_glyph last = rela_split_previous(l, e->first);
    const bool cjk = rela_text_is_cjk(after.code) &&
                     ((e->kinds & RELA_GLYPH_MARK) || rela_text_is_cjk(last.code));
    if (!(e->kinds & RELA_GLYPH_WIDE) && !cjk)
        return false;
    if (last.kind == RELA_GLYPH_DIGIT && after.kind == RELA_GLYPH_DIGIT)
        return false;
    /* A particle after a quotation makes it part of the sentence. */
    const bool particle = after.code >= FIRST_HIRAGANA && after.code <= LAST_HIRAGANA;
    return after.kind != RELA_GLYPH_JOINT && !(e->closed && particle);
}

static rela_split_ahead read_next(const rela_split_line *l, size_t place)
{
    const size_t first = rela_split_skip(l, place, RELA_GLYPH_OPENERS | RELA_GLYPH_BLANKS);
    size_t end = first;
    while ((rela_split_glyph(l, end).kind & RELA_GLYPH_LETTERS) && end - first < RELA_STOP_WORD_MAX)
        end += rela_split_glyph(l, end).n;
    rela_split_ahead x = { .kind = rela_split_glyph(l, first).kind,
                           .at = first,
                           .word = { l->text + first, end - first } };
    x.starter = rela_split_has(l->words->starters, x.word.text, x.word.len) ||
                (rela_split_glyph(l, end).code == '\'' && /* "L'eau" */
                 rela_split_has(l->words->starters, x.word.text, x.word.len + 1));
    x.number = x.kind == RELA_GLYPH_DIGIT || (rela_split_is_roman(x.word) && !x.starter);
    return x;
}

static bool ends(const rela_split_line *l, const ending *e)
{
    const rela_glyph after = rela_split_glyph(l, e->after);
    if (!after.n || after.kind == RELA_GLYPH_BREAK)
        return true;
    if (after.kind != RELA_GLYPH_BLANK)
        return ends_joined(l, e, after);
    const rela_glyph last = rela_split_previous(l, e->first);
    const rela_split_ahead x = read_next(l, e->after);
    if (last.kind == RELA_GLYPH_OPEN) /* "the kettle (!) Tom bought" */
        return false;
    if (!x.kind || (x.kind & (RELA_GLYPH_JOINT | RELA_GLYPH_END_MARKS)))
        return false;
    if (x.kind == RELA_GLYPH_SMALL && (!l->small || e->closed))
        return false;
    if (e->kinds == RELA_GLYPH_STOP && e->n_stops == 1)
        return rela_split_stop_ends(l, e->first, &x);
    /* "Er kauft ... Brot": where nouns are capitalised, a capital after a pause proves nothing. */
    const bool pause =
        !(e->kinds & (RELA_GLYPH_MARK | RELA_GLYPH_WIDE)) && (last.kind & RELA_GLYPH_BLANKS);
    return !pause || !(l->words->bits & RELA_STOP_ORDINALS) || x.starter;
}

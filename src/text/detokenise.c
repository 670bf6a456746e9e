/* SPDX-License-Identifier: MIT */
/* src/text/detokenise.c - the Moses detokeniser: which tokens are joined to a neighbour. */
#include "base/mem.h"
#include "base/sized.h"
#include "base/utf8.h"
#include "rela/text.h"
#include "text/language.h"
#include "text/moses_chars.h"

#include <string.h>
#include <utf8proc.h>

struct rela_detokeniser {
    unsigned bits; /* rela_language_bit */
    bool unescape;
};

/* Quotes alternate between opening and closing; each kind is tracked separately. */
typedef enum quote {
    QUOTE_DOUBLE,
    QUOTE_SINGLE,
    QUOTE_GRAVE,
    QUOTE_SINGLES, /* '' */
    QUOTE_GRAVES,  /* `` */
    QUOTE_MIXED,
    N_QUOTES
} quote;

/* A token with its neighbours; missing ones are empty. */
typedef struct window {
    rela_span before2, before, token, next, next2;
    const char *at, *end; /* the text after next2 */
} window;

typedef struct joiner {
    rela_buffer *out;
    size_t start;        /* of the line in out */
    bool space;          /* the next token gets a blank before it */
    bool open[N_QUOTES]; /* the next one closes */
} joiner;

typedef struct entity {
    const char *name;
    char sign;
} entity;

/* The last three are from older versions of Moses. */
static const entity ENTITIES[] = {
    { "&amp;", '&' },   { "&lt;", '<' },   { "&gt;", '>' },  { "&quot;", '"' },
    { "&apos;", '\'' }, { "&#124;", '|' }, { "&#91;", '[' }, { "&#93;", ']' },
    { "&bar;", '|' },   { "&bra;", '[' },  { "&ket;", ']' },
};

static rela_status join_words(const rela_detokeniser *d, rela_buffer *out, rela_span text,
                              rela_error *err);
static rela_status unescape(rela_buffer *out, rela_span word, rela_error *err);
static rela_status join_tokens(const rela_detokeniser *d, rela_buffer *out, rela_span text,
                               rela_error *err);
static rela_status add_token(const rela_detokeniser *d, joiner *j, window *w, rela_error *err);
static rela_status add_quote(const rela_detokeniser *d, joiner *j, const window *w,
                             rela_error *err);
static rela_status add(joiner *j, bool before, rela_span token, bool after, rela_error *err);
static void slide(window *w);
static bool all_in(rela_span token, const char *set, bool currency);
static bool is(rela_span token, const char *text);
static bool is_number(rela_span token);
static bool ends_like_elision(rela_span token);
static bool joins_dash(rela_span token);
static int class_of_first(rela_span token);
static uint32_t first_char(rela_span token);
static uint32_t last_char(rela_span token);

void rela_detokeniser_options_init(rela_detokeniser_options *o, size_t size)
{
    const rela_detokeniser_options defaults = { .struct_size = size };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_detokeniser_create(rela_detokeniser **out, const rela_detokeniser_options *options,
                                    rela_error *err)
{
    *out = NULL;
    const rela_language *language = NULL;
    rela_detokeniser_options o = { .language = NULL };
    rela_status st = rela_sized_take(&o, sizeof o, options, "rela_detokeniser_options", err);
    st = st ? st : rela_language_find(&language, o.language, err);
    if (st != RELA_OK)
        return st;
    rela_detokeniser *d = rela_mem_zalloc(sizeof *d);
    if (!d)
        return rela_fail(err, RELA_NOMEM, "no memory for a detokeniser");
    d->bits = language->bits;
    d->unescape = !o.no_unescape;
    *out = d;
    return RELA_OK;
}

void rela_detokeniser_destroy(rela_detokeniser *d)
{
    rela_mem_free(d);
}

rela_status rela_detokenise(rela_buffer *out, const rela_detokeniser *d, const char *text,
                            size_t len, rela_error *err)
{
    const size_t start = out->len;
    rela_buffer repaired = RELA_BUFFER_INIT, words = RELA_BUFFER_INIT;
    rela_span s = { text, len };
    rela_status st = rela_text_repair(&s, &repaired, err);
    if (st == RELA_OK)
        st = join_words(d, &words, s, err);
    if (st == RELA_OK)
        st = join_tokens(d, out, (rela_span){ words.data, words.len }, err);
    if (st != RELA_OK)
        rela_text_cut(out, start);
    rela_buffer_free(&words);
    rela_buffer_free(&repaired);
    return st;
}

/* Collapses blanks, undoes @-@ and entities. A second @-@ in a row stays: the first has consumed
 * the blank before it. */
static rela_status join_words(const rela_detokeniser *d, rela_buffer *out, rela_span text,
                              rela_error *err)
{
    const char *at = text.text, *end = at + text.len;
    rela_status st = rela_buffer_reserve(out, text.len, err);
    bool dash = false;
    rela_span word;
    while (st == RELA_OK && rela_text_word(&word, &at, end)) {
        if (!dash && is(word, "@-@")) {
            st = rela_buffer_append_char(out, '-', err);
            dash = true;
            continue;
        }
        if (out->len && !dash)
            st = rela_buffer_append_char(out, ' ', err);
        dash = false;
        if (st == RELA_OK)
            st = d->unescape ? unescape(out, word, err)
                             : rela_buffer_append(out, word.text, word.len, err);
    }
    return st;
}

static rela_status unescape(rela_buffer *out, rela_span word, rela_error *err)
{
    const size_t n_entities = sizeof ENTITIES / sizeof *ENTITIES;
    rela_status st = RELA_OK;
    while (st == RELA_OK && word.len) {
        const char *sign = memchr(word.text, '&', word.len);
        const size_t plain = sign ? (size_t)(sign - word.text) : word.len;
        st = rela_buffer_append(out, word.text, plain, err);
        word = (rela_span){ word.text + plain, word.len - plain };
        if (st != RELA_OK || word.len == 0)
            break;
        size_t i = 0, n = 0;
        for (; i < n_entities; i++) {
            n = strlen(ENTITIES[i].name);
            if (word.len >= n && memcmp(word.text, ENTITIES[i].name, n) == 0)
                break;
        }
        const bool found = i < n_entities;
        st = rela_buffer_append(out, found ? &ENTITIES[i].sign : word.text, 1, err);
        n = found ? n : 1;
        word = (rela_span){ word.text + n, word.len - n };
    }
    return st;
}

static rela_status join_tokens(const rela_detokeniser *d, rela_buffer *out, rela_span text,
                               rela_error *err)
{
    window w = { .at = text.text, .end = text.text + text.len };
    joiner j = { .out = out, .start = out->len, .space = true };
    rela_status st = rela_buffer_reserve(out, text.len, err);
    slide(&w);
    slide(&w);
    for (slide(&w); w.token.len && st == RELA_OK; slide(&w))
        st = add_token(d, &j, &w, err);
    return st;
}

static rela_status add_token(const rela_detokeniser *d, joiner *j, window *w, rela_error *err)
{
    const rela_span token = w->token;
    if (!(d->bits & RELA_LANGUAGE_SPACED_CJK) && rela_text_is_cjk(first_char(token)))
        return add(j, j->space && !(w->before.len && rela_text_is_cjk(last_char(w->before))), token,
                   true, err);
    if (all_in(token, "([{\xC2\xBF\xC2\xA1", true)) /* also inverted ? and ! */
        return add(j, j->space, token, false, err);
    if (all_in(token, ",.?!:;\\%}])", false))
        return add(j,
                   (d->bits & RELA_LANGUAGE_SPACED_MARKS) && token.len == 1 &&
                       strchr("?!:;\\%", token.text[0]),
                   token, true, err);
    const int class = class_of_first((rela_span){ token.text + 1, token.len - 1 });
    if ((d->bits & RELA_LANGUAGE_CLITICS) && w->before.len && token.text[0] == '\'' &&
        (class & RELA_TEXT_ALPHA))
        return add(j, false, token, true, err);
    if ((d->bits & RELA_LANGUAGE_CZECH) && is_number(token) && is_number(w->before2) &&
        (is(w->before, ".") || is(w->before, ",")))
        return add(j, false, token, true, err);
    if ((d->bits & RELA_LANGUAGE_ELISIONS) && ends_like_elision(token) &&
        (class_of_first(w->next) & RELA_TEXT_ALPHA))
        return add(j, j->space, token, false, err);
    if ((d->bits & RELA_LANGUAGE_CZECH) && (is(w->next, "-") || is(w->next, "\xE2\x80\x93")) &&
        joins_dash(w->next2) && (rela_text_class(last_char(token), 0) & RELA_TEXT_ALPHA)) {
        const rela_status st = add(j, j->space, token, false, err);
        slide(w);
        return st == RELA_OK ? add(j, false, w->token, false, err) : st;
    }
    if (all_in(token, "'\"`\xE2\x80\x9E\xE2\x80\x9C", false)) /* also German quotes */
        return add_quote(d, j, w, err);
    return add(j, j->space, token, true, err);
}

static rela_status add_quote(const rela_detokeniser *d, joiner *j, const window *w, rela_error *err)
{
    const rela_span token = w->token;
    quote q = QUOTE_MIXED;
    if (is(token, "\"") || all_in(token, "\xE2\x80\x9E\xE2\x80\x9C", false))
        q = QUOTE_DOUBLE;
    else if (is(token, "'"))
        q = QUOTE_SINGLE;
    else if (is(token, "`"))
        q = QUOTE_GRAVE;
    else if (is(token, "''"))
        q = QUOTE_SINGLES;
    else if (is(token, "``"))
        q = QUOTE_GRAVES;
    if ((d->bits & RELA_LANGUAGE_CZECH) && is(token, "\xE2\x80\x9E"))
        j->open[q] = false;
    if ((d->bits & RELA_LANGUAGE_CZECH) && is(token, "\xE2\x80\x9C"))
        j->open[q] = true;
    /* The plural genitive is no quote: the dogs' house. */
    if (!j->open[q] && (d->bits & RELA_LANGUAGE_CLITICS) && q == QUOTE_SINGLE && w->before.len &&
        w->before.text[w->before.len - 1] == 's')
        return add(j, false, token, true, err);
    j->open[q] = !j->open[q];
    return j->open[q] ? add(j, j->space, token, false, err) : add(j, false, token, true, err);
}

/* before: a blank precedes the token; after: one follows unless the next token suppresses it. */
static rela_status add(joiner *j, bool before, rela_span token, bool after, rela_error *err)
{
    rela_status st = RELA_OK;
    if (before && j->out->len > j->start)
        st = rela_buffer_append_char(j->out, ' ', err);
    j->space = after;
    return st == RELA_OK ? rela_buffer_append(j->out, token.text, token.len, err) : st;
}

static void slide(window *w)
{
    w->before2 = w->before;
    w->before = w->token;
    w->token = w->next;
    w->next = w->next2;
    if (!rela_text_word(&w->next2, &w->at, w->end))
        w->next2 = (rela_span){ "", 0 };
}

/* Whether all characters are in the set or, if currency is true, are currency signs. */
static bool all_in(rela_span token, const char *set, bool currency)
{
    for (size_t i = 0, n = 0; i < token.len; i += n) {
        uint32_t code = 0;
        n = rela_utf8_next(&code, token.text + i, token.len - i);
        char bytes[5] = "";
        memcpy(bytes, token.text + i, n);
        if (!(code && strstr(set, bytes)) &&
            !(currency && utf8proc_category((utf8proc_int32_t)code) == UTF8PROC_CATEGORY_SC))
            return false;
    }
    return true;
}

static bool is(rela_span token, const char *text)
{
    return token.len == strlen(text) && memcmp(token.text, text, token.len) == 0;
}

static bool is_number(rela_span token)
{
    for (size_t i = 0; i < token.len; i++)
        if (token.text[i] < '0' || token.text[i] > '9')
            return false;
    return token.len > 0;
}

/* A letter and an apostrophe at the end, like l' or qu'. */
static bool ends_like_elision(rela_span token)
{
    if (token.len < 2 || token.text[token.len - 1] != '\'')
        return false;
    const uint32_t code = last_char((rela_span){ token.text, token.len - 1 });
    return (rela_text_class(code, 0) & RELA_TEXT_ALPHA) != 0;
}

/* What Czech writes after a hyphen: the particle li and words like mail (e-mail). */
static bool joins_dash(rela_span token)
{
    char lower[4] = "";
    for (size_t i = 0; i < sizeof lower && i < token.len; i++)
        lower[i] = (char)(token.text[i] | 0x20);
    return (token.len == 2 && memcmp(lower, "li", 2) == 0) ||
           (token.len >= 4 && memcmp(lower, "mail", 4) == 0);
}

static int class_of_first(rela_span token)
{
    return token.len ? rela_text_class(first_char(token), 0) : 0;
}

static uint32_t first_char(rela_span token)
{
    uint32_t code = 0;
    (void)rela_utf8_next(&code, token.text, token.len);
    return code;
}

static uint32_t last_char(rela_span token)
{
    uint32_t code = 0;
    size_t i = token.len - 1;
    while (i > 0 && ((unsigned char)token.text[i] & 0xC0) == 0x80)
        i--;
    (void)rela_utf8_next(&code, token.text + i, token.len - i);
    return code;
}

/* SPDX-License-Identifier: MIT */
/* src/metric/bleu_tokens.c - the tokenisers of BLEU.
 *
 * sacrebleu rewrites the whole line with one regular expression after the other. A match consumes
 * its characters, and scores depend on that. Here intl takes the same steps on code points; 13a
 * finds the same token boundaries in one pass. */
#include "base/mem.h"
#include "base/utf8.h"
#include "metric/metric_shared.h"
#include "metric/python_chars.h"

#include <string.h>

/* Writes the rewritten text to out, which has room for GROWTH_MAX times len; returns its length. */
typedef size_t (*code_step)(uint32_t *out, const uint32_t *s, size_t len);

enum { GROWTH_MAX = 3 };

static const uint32_t BLANK = RELA_CHAR_BLANK | ' ';

static rela_status split_13a(rela_symbols *out, rela_tally *t, rela_span s, rela_error *err);
static rela_status split_intl(rela_symbols *out, rela_tally *t, rela_span s, rela_error *err);
static rela_status split_char(rela_symbols *out, rela_tally *t, rela_span s, rela_error *err);
static rela_status split_none(rela_symbols *out, rela_tally *t, rela_span s, rela_error *err);
static rela_status split_blanks(rela_symbols *out, rela_tally *t, rela_span s, rela_error *err);
static rela_status push_word(rela_symbols *out, rela_tally *t, const char *bytes, size_t len,
                             rela_error *err);
static rela_status clean_13a(rela_span *s, rela_tally *t, rela_error *err);
static size_t replace(char *s, size_t len, const char *from, const char *to);
static size_t split_after_non_number(uint32_t *out, const uint32_t *s, size_t len);
static size_t split_before_no_number(uint32_t *out, const uint32_t *s, size_t len);
static size_t pad_symbol_codes(uint32_t *out, const uint32_t *s, size_t len);
static rela_status room(rela_tally *t, int which, size_t n, rela_error *err);
static bool is_letter(char c);
static bool is_symbol(char c);
static bool is_digit(char c);
static bool is_stop(char c);

rela_status rela_bleu_split(rela_symbols *out, rela_tally *t, const char *text, size_t len,
                            rela_error *err)
{
    static rela_status (*const SPLIT[])(rela_symbols *, rela_tally *, rela_span, rela_error *) = {
        [RELA_BLEU_13A] = split_13a,       [RELA_BLEU_INTL] = split_intl,
        [RELA_BLEU_CHAR] = split_char,     [RELA_BLEU_NONE] = split_none,
        [RELA_BLEU_BLANKS] = split_blanks,
    };
    const rela_bleu_options *o = &t->m->bleu;
    rela_span s = { text, len };
    out->n = 0;
    if (o->tokens != RELA_BLEU_BLANKS) {
        const rela_status st = rela_tally_text(&s, t, text, len, o->lowercase, err);
        if (st != RELA_OK)
            return st;
        s.len = rela_segment_end(s.text, s.len);
    }
    return SPLIT[o->tokens](out, t, s, err);
}

/* A symbol is a token. So is a stop (. or ,) after a non-digit or before one; but a stop split off
 * by the first of these rules is consumed and does not count as the non-digit before the next one,
 * so that "a.,5" is "a", ".", ",5". A dash is a token after a digit. */
static rela_status split_13a(rela_symbols *out, rela_tally *t, rela_span s, rela_error *err)
{
    rela_status st = clean_13a(&s, t, err);
    const char *const end = s.text + s.len;
    const char *word = s.text; /* start of the current one */
    char last = ' ';           /* the character before p */
    bool split_off = false;    /* last is a stop, split off by the first rule */
    for (const char *p = s.text; p < end && st == RELA_OK;) {
        const size_t blank = is_letter(*p) ? 0 : rela_blank_size(p, (size_t)(end - p));
        bool alone = false;
        if (blank == 0 && is_stop(*p)) {
            split_off = !is_digit(last) && !split_off;
            alone = split_off || p + 1 == end || !is_digit(p[1]);
        } else {
            split_off = false;
            alone = blank == 0 && (is_symbol(*p) || (*p == '-' && is_digit(last)));
        }
        const size_t size = blank ? blank : 1;
        if ((blank || alone) && p > word)
            st = push_word(out, t, word, (size_t)(p - word), err);
        if (alone && st == RELA_OK)
            st = push_word(out, t, p, 1, err);
        if (blank || alone)
            word = p + size;
        last = blank ? ' ' : *p;
        p += size;
    }
    if (st == RELA_OK && end > word)
        st = push_word(out, t, word, (size_t)(end - word), err);
    return st;
}

static rela_status split_intl(rela_symbols *out, rela_tally *t, rela_span s, rela_error *err)
{
    static const code_step STEPS[] = { split_after_non_number, split_before_no_number,
                                       pad_symbol_codes };
    rela_status st = room(t, 0, s.len, err);
    size_t n = 0;
    for (size_t i = 0, used = 1; st == RELA_OK && i < s.len; i += used) {
        uint32_t code = 0;
        used = rela_utf8_next(&code, s.text + i, s.len - i);
        t->codes[0][n++] = code | rela_char_class(code);
    }
    for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0] && st == RELA_OK; i++) {
        const int from = (int)(i % 2);
        if ((st = room(t, 1 - from, n * GROWTH_MAX, err)) == RELA_OK)
            n = STEPS[i](t->codes[1 - from], t->codes[from], n);
    }
    const uint32_t *c = t->codes[1];
    for (size_t i = 0, start = 0; i <= n && st == RELA_OK; i++) {
        if (i < n && !(c[i] & RELA_CHAR_BLANK))
            continue;
        if (i > start)
            st = push_word(out, t, (const char *)(c + start), (i - start) * sizeof *c, err);
        start = i + 1;
    }
    return st;
}

static rela_status split_char(rela_symbols *out, rela_tally *t, rela_span s, rela_error *err)
{
    (void)t; /* a code point is its own symbol */
    rela_status st = RELA_OK;
    for (size_t i = 0, used = 1; st == RELA_OK && i < s.len; i += used) {
        uint32_t code = 0;
        used = rela_utf8_next(&code, s.text + i, s.len - i);
        if (!rela_char_is_blank(code))
            st = rela_symbols_push(out, code, err);
    }
    return st;
}

static rela_status split_none(rela_symbols *out, rela_tally *t, rela_span s, rela_error *err)
{
    const char *at = s.text;
    rela_status st = RELA_OK;
    rela_span token;
    while (st == RELA_OK && rela_next_token(&token, &at, s.text + s.len))
        st = push_word(out, t, token.text, token.len, err);
    return st;
}

static rela_status split_blanks(rela_symbols *out, rela_tally *t, rela_span s, rela_error *err)
{
    rela_buffer *b = &t->text;
    rela_buffer_clear(b);
    rela_status st = rela_buffer_append(b, s.text, s.len, err);
    for (size_t i = 0; st == RELA_OK && t->m->bleu.lowercase && i < b->len; i++)
        if (b->data[i] >= 'A' && b->data[i] <= 'Z')
            b->data[i] = (char)(b->data[i] + ('a' - 'A'));
    const char *at = b->data;
    rela_span token;
    while (st == RELA_OK && rela_next_word(&token, &at, b->data + b->len))
        st = push_word(out, t, token.text, token.len, err);
    return st;
}

static rela_status push_word(rela_symbols *out, rela_tally *t, const char *bytes, size_t len,
                             rela_error *err)
{
    uint32_t symbol = 0;
    const rela_status st = rela_ngrams_word(&symbol, t->grams, bytes, len, err);
    return st == RELA_OK ? rela_symbols_push(out, symbol, err) : st;
}

/* Removes the markup of the evaluation campaigns, if any. A text that does not come from a file may
 * contain line ends. */
static rela_status clean_13a(rela_span *s, rela_tally *t, rela_error *err)
{
    static const struct {
        const char *from, *to;
    } CHANGES[] = {
        { "<skipped>", "" }, { "-\n", "" },   { "\n", " " },   { "&quot;", "\"" },
        { "&amp;", "&" },    { "&lt;", "<" }, { "&gt;", ">" },
    };
    rela_buffer *b = &t->text;
    if (!memchr(s->text, '<', s->len) && !memchr(s->text, '&', s->len) &&
        !memchr(s->text, '\n', s->len))
        return RELA_OK;
    rela_buffer_clear(b);
    const rela_status st = rela_buffer_append(b, s->text, s->len, err);
    for (size_t i = 0; i < sizeof CHANGES / sizeof CHANGES[0] && st == RELA_OK; i++)
        b->len = replace(b->data, b->len, CHANGES[i].from, CHANGES[i].to);
    *s = (rela_span){ b->data, b->len };
    return st;
}

/* In place, from left to right; to is not longer than from. */
static size_t replace(char *s, size_t len, const char *from, const char *to)
{
    const size_t n_from = strlen(from), n_to = strlen(to);
    char *out = NULL;
    char *p = s;
    char *const end = s + len;
    for (char *hit = NULL; (hit = memmem(p, (size_t)(end - p), from, n_from)) != NULL;) {
        const size_t before = (size_t)(hit - p);
        out = out ? out : p;
        memmove(out, p, before);
        memcpy(out + before, to, n_to);
        out += before + n_to;
        p = hit + n_from;
    }
    if (!out)
        return len;
    memmove(out, p, (size_t)(end - p));
    return (size_t)(out - s) + (size_t)(end - p);
}

static size_t split_after_non_number(uint32_t *out, const uint32_t *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        out[n++] = s[i];
        if (!(s[i] & RELA_CHAR_NUMBER) && i + 1 < len && s[i + 1] & RELA_CHAR_PUNCTUATION) {
            out[n++] = BLANK;
            out[n++] = s[++i];
            out[n++] = BLANK;
        }
    }
    return n;
}

static size_t split_before_no_number(uint32_t *out, const uint32_t *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (s[i] & RELA_CHAR_PUNCTUATION && i + 1 < len && !(s[i + 1] & RELA_CHAR_NUMBER)) {
            out[n++] = BLANK;
            out[n++] = s[i++];
            out[n++] = BLANK;
        }
        out[n++] = s[i];
    }
    return n;
}

static size_t pad_symbol_codes(uint32_t *out, const uint32_t *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        const bool symbol = s[i] & RELA_CHAR_SYMBOL;
        if (symbol)
            out[n++] = BLANK;
        out[n++] = s[i];
        if (symbol)
            out[n++] = BLANK;
    }
    return n;
}

static rela_status room(rela_tally *t, int which, size_t n, rela_error *err)
{
    uint32_t *codes = rela_mem_grow(t->codes[which], &t->cap_codes[which], n, sizeof *codes);
    if (!codes)
        return rela_fail(err, RELA_NOMEM, "no memory for a segment of %zu characters", n);
    t->codes[which] = codes;
    return RELA_OK;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* All ASCII punctuation but ' - and the stops. */
static bool is_symbol(char c)
{
    return (c >= '!' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
           (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_stop(char c)
{
    return c == '.' || c == ',';
}

/* SPDX-License-Identifier: MIT */
/* src/metric/bleu_tokens.c - the tokenisers of BLEU, each a chain of rewriting steps.
 *
 * The steps are those of mteval-v13a and mteval-v14 as sacrebleu applies them: one after the other
 * over the whole line, a match consuming its characters, because the figures depend on it. */
#include "base/mem.h"
#include "base/utf8.h"
#include "metric/chars.h"
#include "metric/metric.h"

#include <string.h>

/* Writes the rewritten text to out, which has room for GROWTH_MAX times len; returns its length. */
typedef size_t (*byte_step)(char *out, const char *s, size_t len);
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
static size_t clean_13a(char *s, size_t len);
static size_t replace(char *s, size_t len, const char *from, const char *to);
static size_t pad_symbols(char *out, const char *s, size_t len);
static size_t split_after_other(char *out, const char *s, size_t len);
static size_t split_before_other(char *out, const char *s, size_t len);
static size_t split_dash(char *out, const char *s, size_t len);
static size_t split_after_no_number(uint32_t *out, const uint32_t *s, size_t len);
static size_t split_before_no_number(uint32_t *out, const uint32_t *s, size_t len);
static size_t pad_symbol_codes(uint32_t *out, const uint32_t *s, size_t len);
static rela_status room(rela_tally *t, int which, size_t n, rela_error *err);
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

static rela_status split_13a(rela_symbols *out, rela_tally *t, rela_span s, rela_error *err)
{
    static const byte_step STEPS[] = { pad_symbols, split_after_other, split_before_other,
                                       split_dash };
    rela_status st = RELA_OK;
    for (int i = 0; i < 2; i++)
        rela_buffer_clear(&t->text[i]);
    /* A blank on both sides, so that a stop at the very end has something after it. */
    if ((st = rela_buffer_append_char(&t->text[0], ' ', err)) == RELA_OK &&
        (st = rela_buffer_append(&t->text[0], s.text, s.len, err)) == RELA_OK)
        st = rela_buffer_append_char(&t->text[0], ' ', err);
    if (st != RELA_OK)
        return st;
    t->text[0].len = clean_13a(t->text[0].data, t->text[0].len);
    for (size_t i = 0; i < sizeof STEPS / sizeof STEPS[0]; i++) {
        const rela_buffer *from = &t->text[i % 2];
        rela_buffer *to = &t->text[(i + 1) % 2];
        rela_buffer_clear(to);
        if ((st = rela_buffer_reserve(to, from->len * GROWTH_MAX, err)) != RELA_OK)
            return st;
        to->len = STEPS[i](to->data, from->data, from->len);
    }
    const rela_buffer *last = &t->text[0];
    return split_none(out, t, (rela_span){ last->data, last->len }, err);
}

static rela_status split_intl(rela_symbols *out, rela_tally *t, rela_span s, rela_error *err)
{
    static const code_step STEPS[] = { split_after_no_number, split_before_no_number,
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
    rela_buffer *b = &t->text[0];
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

/* Markup of the evaluation campaigns; a text may hold line ends when it comes from a program. */
static size_t clean_13a(char *s, size_t len)
{
    static const struct {
        const char *from, *to;
    } ENTITIES[] = {
        { "&quot;", "\"" },
        { "&amp;", "&" },
        { "&lt;", "<" },
        { "&gt;", ">" },
    };
    len = replace(s, len, "<skipped>", "");
    if (memchr(s, '\n', len)) {
        len = replace(s, len, "-\n", "");
        len = replace(s, len, "\n", " ");
    }
    if (memchr(s, '&', len))
        for (size_t i = 0; i < sizeof ENTITIES / sizeof ENTITIES[0]; i++)
            len = replace(s, len, ENTITIES[i].from, ENTITIES[i].to);
    return len;
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

static size_t pad_symbols(char *out, const char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        const char c = s[i];
        const bool symbol = is_symbol(c);
        if (symbol)
            out[n++] = ' ';
        out[n++] = c;
        if (symbol)
            out[n++] = ' ';
    }
    return n;
}

/* A stop after anything but a digit. */
static size_t split_after_other(char *out, const char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        out[n++] = s[i];
        if (!is_digit(s[i]) && i + 1 < len && is_stop(s[i + 1])) {
            out[n++] = ' ';
            out[n++] = s[++i];
            out[n++] = ' ';
        }
    }
    return n;
}

/* A stop before anything but a digit. */
static size_t split_before_other(char *out, const char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (is_stop(s[i]) && i + 1 < len && !is_digit(s[i + 1])) {
            out[n++] = ' ';
            out[n++] = s[i++];
            out[n++] = ' ';
        }
        out[n++] = s[i];
    }
    return n;
}

static size_t split_dash(char *out, const char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        out[n++] = s[i];
        if (is_digit(s[i]) && i + 1 < len && s[i + 1] == '-') {
            out[n++] = ' ';
            out[n++] = s[++i];
            out[n++] = ' ';
        }
    }
    return n;
}

static size_t split_after_no_number(uint32_t *out, const uint32_t *s, size_t len)
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

/* All ASCII punctuation but ' - and the stops. */
static bool is_symbol(char c)
{
    if (c >= 'a' && c <= 'z') /* most of them */
        return false;
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

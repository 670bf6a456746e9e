/* SPDX-License-Identifier: MIT */
/* src/text/normalise.c - the Moses punctuation rules and a few more steps around them.
 *
 * The rules are substitutions, applied one after the other to the whole line. Each is a row of a
 * table. Most rules match nothing in most lines, so a set of the bytes that occur in the line
 * shows quickly which rules can be skipped. */
#include "base/mem.h"
#include "base/sized.h"
#include "base/utf8.h"
#include "rela/text.h"
#include "text/form.h"
#include "text/language.h"
#include "text/moses_chars.h"
#include "text/rules.h"

#include <string.h>
#include <utf8proc.h>

enum { LISTS_MAX = 8 };

struct rela_normaliser {
    const rela_rule *lists[LISTS_MAX]; /* in order; ended by NULL */
    rela_unicode_form form;
    bool map_breaks, remove_control, collapse_blanks, lowercase;
};

/* The line between two steps: text is lent by the caller at first, later it is in room[!next]. */
typedef struct work {
    rela_span text;
    rela_buffer room[2];
    int next; /* room to write to */
    bool present[256];
} work;

static rela_status normalise_line(const rela_normaliser *n, work *w, rela_error *err);
static rela_status apply_list(work *w, const rela_rule *list, rela_error *err);
static rela_status apply_rule(work *w, const rela_rule *r, rela_error *err);
static const char *match(const rela_rule *r, const char *hit, const char *floor, const char *end,
                         const char **rest);
static rela_status replace(rela_buffer *out, const rela_rule *r, const char *hit, const char *rest,
                           rela_error *err);
static const char *skip(const char *at, const char *end, const char *set);
static const char *skip_blanks(const char *at, const char *end);
static bool fits(rela_beside b, const char *at, const char *end);
static const char *step_back(const char *at, const char *floor);
static rela_status map_breaks(work *w, rela_error *err);
static rela_status remove_control(work *w, rela_error *err);
static rela_status collapse_blanks(work *w, rela_error *err);
static rela_status lower(work *w, rela_error *err);
static rela_buffer *room(work *w);
static void done(work *w);

void rela_normaliser_options_init(rela_normaliser_options *o, size_t size)
{
    const rela_normaliser_options defaults = { .struct_size = size };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_normaliser_create(rela_normaliser **out, const rela_normaliser_options *options,
                                   rela_error *err)
{
    *out = NULL;
    const rela_language *language = NULL;
    rela_normaliser_options o = { .language = NULL };
    rela_status st = rela_sized_take(&o, sizeof o, options, "rela_normaliser_options", err);
    st = st ? st : rela_language_find(&language, o.language, err);
    if (st != RELA_OK)
        return st;
    rela_normaliser *n = rela_mem_zalloc(sizeof *n);
    if (!n)
        return rela_fail(err, RELA_NOMEM, "no memory for a normaliser");
    n->form = o.form;
    n->map_breaks = !o.keep_breaks;
    n->remove_control = o.remove_control;
    n->collapse_blanks = o.collapse_blanks;
    n->lowercase = o.lowercase;
    const rela_rule **list = n->lists;
    if (o.wide_punctuation)
        *list++ = RELA_RULES_WIDE;
    if (!o.no_punctuation) {
        *list++ = RELA_RULES_BLANKS;
        if (!o.keep_penn)
            *list++ = RELA_RULES_PENN;
        *list++ = RELA_RULES_QUOTES;
        if (!o.no_quote_commas && (language->bits & RELA_LANGUAGE_COMMA_INSIDE))
            *list++ = RELA_RULES_COMMA_INSIDE;
        if (!o.no_quote_commas && (language->bits & RELA_LANGUAGE_COMMA_OUTSIDE))
            *list++ = RELA_RULES_COMMA_OUTSIDE;
        if (!o.no_numbers)
            *list++ = language->bits & RELA_LANGUAGE_DECIMAL_COMMA ? RELA_RULES_DECIMAL_COMMA
                                                                   : RELA_RULES_DECIMAL_POINT;
    }
    *out = n;
    return RELA_OK;
}

void rela_normaliser_destroy(rela_normaliser *n)
{
    rela_mem_free(n);
}

rela_status rela_normalise(rela_buffer *out, const rela_normaliser *n, const char *text, size_t len,
                           rela_error *err)
{
    const size_t start = out->len;
    work w = { .text = { text, len } };
    rela_status st = rela_text_repair(&w.text, &w.room[0], err);
    w.next = w.room[0].data != NULL;
    if (st == RELA_OK)
        st = normalise_line(n, &w, err);
    if (st == RELA_OK) {
        const rela_span s = rela_text_trim(w.text);
        st = rela_buffer_append(out, s.text, s.len, err);
    }
    if (st != RELA_OK)
        rela_text_cut(out, start);
    rela_buffer_free(&w.room[0]);
    rela_buffer_free(&w.room[1]);
    return st;
}

static rela_status normalise_line(const rela_normaliser *n, work *w, rela_error *err)
{
    rela_status st = RELA_OK;
    if (n->form != RELA_UNICODE_AS_IS) {
        st = rela_text_form(room(w), w->text, n->form == RELA_UNICODE_NFKC, err);
        done(w);
    }
    if (st == RELA_OK && n->map_breaks)
        st = map_breaks(w, err);
    memset(w->present, 0, sizeof w->present);
    for (size_t i = 0; st == RELA_OK && i < w->text.len; i++)
        w->present[(unsigned char)w->text.text[i]] = true;
    for (const rela_rule *const *list = n->lists; st == RELA_OK && *list; list++)
        st = apply_list(w, *list, err);
    if (st == RELA_OK && n->remove_control)
        st = remove_control(w, err);
    if (st == RELA_OK && n->collapse_blanks)
        st = collapse_blanks(w, err);
    return st == RELA_OK && n->lowercase ? lower(w, err) : st;
}

static rela_status apply_list(work *w, const rela_rule *list, rela_error *err)
{
    rela_status st = RELA_OK;
    for (const rela_rule *r = list; st == RELA_OK && r->action != RELA_RULE_END; r++) {
        const unsigned char first = (unsigned char)r->from[0];
        const unsigned char last = (unsigned char)r->from[strlen(r->from) - 1];
        if (w->present[first] && w->present[last])
            st = apply_rule(w, r, err);
    }
    return st;
}

static rela_status apply_rule(work *w, const rela_rule *r, rela_error *err)
{
    const char *end = w->text.text + w->text.len;
    const char *copied = w->text.text; /* everything before it is in the output */
    const char *floor = copied;        /* everything before it is consumed */
    const size_t len = strlen(r->from);
    rela_buffer *out = NULL;
    rela_status st = RELA_OK;
    for (const char *at = copied; st == RELA_OK && (size_t)(end - at) >= len;) {
        const char *hit = memmem(at, (size_t)(end - at), r->from, len);
        if (!hit)
            break;
        const char *rest = NULL; /* end of what is replaced */
        const char *used = match(r, hit, floor, end, &rest);
        if (!used) {
            at = hit + 1;
            continue;
        }
        if (!out && (st = rela_buffer_reserve(out = room(w), w->text.len, err)) != RELA_OK)
            break;
        if (r->action == RELA_RULE_QUOTE_OUTSIDE)
            while (hit > floor && hit[-1] == '.')
                hit--;
        st = rela_buffer_append(out, copied, (size_t)(hit - copied), err);
        if (st == RELA_OK)
            st = replace(out, r, hit, rest, err);
        copied = at = rest;
        floor = used;
        at = at < floor && r->before == RELA_BESIDE_ANY ? floor : at;
    }
    if (st != RELA_OK || !out)
        return st;
    st = rela_buffer_append(out, copied, (size_t)(end - copied), err);
    for (const char *p = r->to; *p; p++)
        w->present[(unsigned char)*p] = true;
    done(w);
    return st;
}

/* NULL if the rule does not apply at hit; otherwise the end of what it consumes. *rest: the end of
 * what it replaces. */
static const char *match(const rela_rule *r, const char *hit, const char *floor, const char *end,
                         const char **rest)
{
    const char *after = hit + strlen(r->from);
    *rest = after;
    switch (r->action) {
    case RELA_RULE_SWALLOW:
        return *rest = skip_blanks(after, end);
    case RELA_RULE_SPACES:
        return *rest = skip(after, end, " ");
    case RELA_RULE_QUOTE_INSIDE:
        *rest = skip(after, end, ",.");
        return *rest > after ? *rest : NULL;
    case RELA_RULE_QUOTE_OUTSIDE: {
        if (hit < floor)
            return NULL;
        const char *next = skip_blanks(after, end);
        if (next < end && *next != '<') {
            uint32_t code = 0;
            return next + rela_utf8_next(&code, next, (size_t)(end - next));
        }
        return next > after ? next : NULL;
    }
    default:
        if (hit < floor ||
            (r->before && (hit == floor || !fits(r->before, step_back(hit, floor), end))))
            return NULL;
        if (!r->after)
            return after;
        if (!fits(r->after, after, end))
            return NULL;
        uint32_t code = 0;
        return after + rela_utf8_next(&code, after, (size_t)(end - after));
    }
}

static rela_status replace(rela_buffer *out, const rela_rule *r, const char *hit, const char *rest,
                           rela_error *err)
{
    /* The two actions that move a quote keep the run of stops or commas beside it. */
    if (r->action == RELA_RULE_QUOTE_INSIDE) {
        const rela_status st = rela_buffer_append(out, hit + 1, (size_t)(rest - hit) - 1, err);
        return st == RELA_OK ? rela_buffer_append_char(out, '"', err) : st;
    }
    if (r->action == RELA_RULE_QUOTE_OUTSIDE) {
        const rela_status st = rela_buffer_append_char(out, '"', err);
        return st == RELA_OK ? rela_buffer_append(out, hit, (size_t)(rest - hit) - 1, err) : st;
    }
    return rela_buffer_append_text(out, r->to, err);
}

static const char *skip(const char *at, const char *end, const char *set)
{
    while (at < end && *at && strchr(set, *at))
        at++;
    return at;
}

static const char *skip_blanks(const char *at, const char *end)
{
    uint32_t code = 0;
    for (size_t n = 0; at < end; at += n) {
        n = rela_utf8_next(&code, at, (size_t)(end - at));
        if (!(rela_text_class(code, 0) & RELA_TEXT_SPACE))
            break;
    }
    return at;
}

static bool fits(rela_beside b, const char *at, const char *end)
{
    uint32_t code = 0;
    if (at >= end || !rela_utf8_next(&code, at, (size_t)(end - at)))
        return false;
    return b == RELA_BESIDE_DIGIT ? (rela_text_class(code, 0) & RELA_TEXT_DIGIT) != 0
                                  : code && code < 0x80 && strchr(".!:?;,", (int)code);
}

static const char *step_back(const char *at, const char *floor)
{
    do
        at--;
    while (at > floor && ((unsigned char)*at & 0xC0) == 0x80);
    return at;
}

/* What to write instead of a character; NULL: keep it. */
typedef const char *(*mapper)(uint32_t code);

static const char *space_for_break(uint32_t code)
{
    const bool is_break =
        code == '\v' || code == '\f' || code == 0x85 || code == 0x2028 || code == 0x2029;
    return is_break ? " " : NULL;
}

static const char *nothing_for_control(uint32_t code)
{
    switch (utf8proc_category((utf8proc_int32_t)code)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
        return "";
    default:
        return NULL;
    }
}

/* Replaces the characters for which f returns a text. */
static rela_status map_chars(work *w, mapper f, rela_error *err)
{
    rela_buffer *out = NULL;
    rela_status st = RELA_OK;
    size_t copied = 0;
    for (size_t i = 0, n = 0; i < w->text.len && st == RELA_OK; i += n) {
        uint32_t code = 0;
        n = rela_utf8_next(&code, w->text.text + i, w->text.len - i);
        const char *instead = code >= 0x20 && code < 0x7F ? NULL : f(code);
        if (!instead)
            continue;
        out = out ? out : room(w);
        st = rela_buffer_append(out, w->text.text + copied, i - copied, err);
        if (st == RELA_OK)
            st = rela_buffer_append_text(out, instead, err);
        copied = i + n;
    }
    if (st != RELA_OK || !out)
        return st;
    st = rela_buffer_append(out, w->text.text + copied, w->text.len - copied, err);
    done(w);
    return st;
}

static rela_status map_breaks(work *w, rela_error *err)
{
    return map_chars(w, space_for_break, err);
}

static rela_status remove_control(work *w, rela_error *err)
{
    return map_chars(w, nothing_for_control, err);
}

static rela_status collapse_blanks(work *w, rela_error *err)
{
    rela_buffer *out = room(w);
    const char *at = w->text.text, *end = at + w->text.len;
    rela_span word;
    rela_status st = rela_buffer_reserve(out, w->text.len, err);
    while (st == RELA_OK && rela_text_word(&word, &at, end)) {
        if (out->len)
            st = rela_buffer_append_char(out, ' ', err);
        if (st == RELA_OK)
            st = rela_buffer_append(out, word.text, word.len, err);
    }
    done(w);
    return st;
}

static rela_status lower(work *w, rela_error *err)
{
    const rela_status st = rela_text_lower(room(w), w->text, err);
    done(w);
    return st;
}

static rela_buffer *room(work *w)
{
    rela_buffer_clear(&w->room[w->next]);
    return &w->room[w->next];
}

/* What was written to the room becomes the text. */
static void done(work *w)
{
    const rela_buffer *b = &w->room[w->next];
    w->text = (rela_span){ b->data ? b->data : "", b->len };
    w->next = !w->next;
}

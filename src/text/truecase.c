/* SPDX-License-Identifier: MIT */
/* src/text/truecase.c - the Moses truecaser: reads a model and applies it. */
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/sized.h"
#include "base/utf8.h"
#include "rela/text.h"
#include "text/casing.h"
#include "text/moses_chars.h"

#include <inttypes.h>
#include <string.h>

enum { MODEL_MAX = 1 << 30, COUNT_MAX = 64 };

typedef struct form {
    double count;
    uint32_t word; /* id of its lower-cased word */
} form;

struct rela_truecaser {
    rela_map *words; /* lower-cased */
    uint32_t *best;  /* [word]: form */
    rela_map *forms; /* as written in the model */
    form *form;      /* [form] */
    size_t cap_best, cap_form;
    bool all_words, lowercase;
};

/* A line of the model, for messages. */
typedef struct place {
    const char *name;
    uint64_t number;
} place;

/* State of a walk over the tokens of a line. */
typedef struct walk {
    const char *at, *end;
    bool no_markup; /* no '>' is left in the line */
} walk;

static rela_truecaser *create(const rela_truecaser_options *options);
static rela_status read_line(rela_truecaser *t, rela_span line, place p, rela_buffer *room,
                             rela_error *err);
static rela_status add_form(rela_truecaser *t, rela_span word, double count, rela_buffer *room,
                            rela_error *err);
static void choose_best(rela_truecaser *t);
static bool parse_count(double *out, rela_span text);
static bool next_token(walk *w, rela_span *token);
static const char *markup_end(walk *w, const char *at);
static rela_status add_token(const rela_truecaser *t, rela_buffer *out, rela_span token,
                             bool *first, rela_buffer *room, rela_error *err);
static rela_span true_form(const rela_truecaser *t, rela_span word, rela_span lower, bool first);
static bool one_of(rela_span token, const char *const *words, size_t n);
static bool headline_small(rela_span token);

void rela_truecaser_options_init(rela_truecaser_options *o, size_t size)
{
    const rela_truecaser_options defaults = { .struct_size = size };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_truecaser_load(rela_truecaser **out, const char *path,
                                const rela_truecaser_options *options, rela_error *err)
{
    *out = NULL;
    char *model = NULL;
    size_t len = 0;
    rela_status st = rela_file_read_lines(&model, &len, path, MODEL_MAX, RELA_LINE_MAX, err);
    if (st == RELA_OK)
        st = rela_truecaser_parse(out, path, model, len, options, err);
    rela_mem_free(model);
    return st;
}

rela_status rela_truecaser_parse(rela_truecaser **out, const char *name, const char *model,
                                 size_t len, const rela_truecaser_options *options, rela_error *err)
{
    *out = NULL;
    rela_buffer room = RELA_BUFFER_INIT;
    rela_truecaser_options o = { .all_words = false };
    rela_status st = rela_sized_take(&o, sizeof o, options, "rela_truecaser_options", err);
    if (st != RELA_OK)
        return st;
    rela_truecaser *t = create(&o);
    if (!t)
        return rela_fail(err, RELA_NOMEM, "%s: no memory for a truecaser", name);
    const char *at = model, *end = model + len;
    for (uint64_t number = 1; st == RELA_OK && at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        const place p = { name, number };
        st = read_line(t, (rela_span){ at, (size_t)(stop - at) }, p, &room, err);
        at = stop < end ? stop + 1 : end;
    }
    if (st == RELA_OK) {
        choose_best(t);
        *out = t;
        t = NULL;
    }
    rela_truecaser_free(t);
    rela_buffer_free(&room);
    return st;
}

void rela_truecaser_free(rela_truecaser *t)
{
    if (!t)
        return;
    rela_mem_free(t->best);
    rela_mem_free(t->form);
    rela_map_destroy(t->words);
    rela_map_destroy(t->forms);
    rela_mem_free(t);
}

rela_status rela_truecase(rela_buffer *out, const rela_truecaser *t, const char *text, size_t len,
                          rela_error *err)
{
    const size_t start = out->len;
    rela_buffer repaired = RELA_BUFFER_INIT, room = RELA_BUFFER_INIT;
    rela_span s = { text, len }, token;
    rela_status st = rela_text_repair(&s, &repaired, err);
    walk w = { s.text, s.text + s.len, false };
    bool first = true;
    while (st == RELA_OK && next_token(&w, &token)) {
        if (out->len > start)
            st = rela_buffer_append_char(out, ' ', err);
        if (st == RELA_OK)
            st = add_token(t, out, token, &first, &room, err);
    }
    if (st != RELA_OK)
        rela_text_cut(out, start);
    rela_buffer_free(&room);
    rela_buffer_free(&repaired);
    return st;
}

rela_status rela_detruecase(rela_buffer *out, const char *text, size_t len, bool headline,
                            rela_error *err)
{
    const size_t start = out->len;
    rela_buffer repaired = RELA_BUFFER_INIT;
    rela_span s = { text, len }, token;
    rela_status st = rela_text_repair(&s, &repaired, err);
    const char *at = s.text, *end = s.text + s.len;
    bool first = true;
    while (st == RELA_OK && rela_text_word(&token, &at, end)) {
        if (out->len > start)
            st = rela_buffer_append_char(out, ' ', err);
        if (st == RELA_OK)
            st = first || (headline && !headline_small(token))
                     ? rela_text_capitalise(out, token, err)
                     : rela_buffer_append(out, token.text, token.len, err);
        if (rela_casing_ends_sentence(token))
            first = true;
        else if (!rela_casing_opens_sentence(token))
            first = false;
    }
    if (st != RELA_OK)
        rela_text_cut(out, start);
    rela_buffer_free(&repaired);
    return st;
}

bool rela_casing_ends_sentence(rela_span token)
{
    return token.len == 1 && token.text[0] && strchr(".:?!", token.text[0]);
}

bool rela_casing_opens_sentence(rela_span token)
{
    static const char *const OPENING[] = {
        "(", "[", "\"", "'", "&apos;", "&quot;", "&#91;", "&#93;"
    };
    return one_of(token, OPENING, sizeof OPENING / sizeof *OPENING);
}

const char *rela_casing_markup(const char *at, const char *end)
{
    rela_span word;
    const char *inner = at + 1;
    if (end - at < 3 || *at != '<' || !rela_text_word(&word, &inner, end) || word.text != at + 1)
        return NULL;
    uint32_t code = 0;
    const size_t n = rela_utf8_next(&code, at + 1, (size_t)(end - at) - 1);
    const char *from = at + 1 + n;
    const char *close = from < end ? memchr(from, '>', (size_t)(end - from)) : NULL;
    return close ? close + 1 : NULL;
}

bool rela_casing_has_markup(rela_span token)
{
    const char *at = token.text, *end = token.text + token.len;
    /* Without a '>' after the first '<' there is none after the others either. */
    at = token.len ? memchr(at, '<', token.len) : NULL;
    return at && rela_casing_markup(at, end);
}

static rela_truecaser *create(const rela_truecaser_options *options)
{
    rela_truecaser *t = rela_mem_zalloc(sizeof *t);
    if (!t)
        return NULL;
    t->words = rela_map_create(0);
    t->forms = rela_map_create(0);
    t->all_words = options->all_words;
    t->lowercase = options->lowercase;
    if (t->words && t->forms)
        return t;
    rela_truecaser_free(t);
    return NULL;
}

static rela_status read_line(rela_truecaser *t, rela_span line, place p, rela_buffer *room,
                             rela_error *err)
{
    if (rela_utf8_valid(line.text, line.len) != line.len)
        return rela_fail(err, RELA_FORMAT, "%s: line %" PRIu64 ": not valid UTF-8", p.name,
                         p.number);
    const char *at = line.text, *end = at + line.len;
    rela_span word, count;
    rela_status st = RELA_OK;
    while (st == RELA_OK && rela_text_word(&word, &at, end)) {
        double value = 0;
        if (!rela_text_word(&count, &at, end))
            return rela_fail(err, RELA_FORMAT,
                             "%s: line %" PRIu64 ": odd number of fields; expected 'word (7/9)'",
                             p.name, p.number);
        if (!parse_count(&value, count))
            return rela_fail(
                err, RELA_FORMAT, "%s: line %" PRIu64 ": '%.*s' is no count; expected (7/9) or (2)",
                p.name, p.number, (int)(count.len < COUNT_MAX ? count.len : COUNT_MAX), count.text);
        st = add_form(t, word, value, room, err);
    }
    return st;
}

static rela_status add_form(rela_truecaser *t, rela_span word, double count, rela_buffer *room,
                            rela_error *err)
{
    rela_buffer_clear(room);
    const rela_status st = rela_text_lower(room, word, err);
    if (st != RELA_OK)
        return st;
    const size_t n_words = rela_map_size(t->words), n_forms = rela_map_size(t->forms);
    uint32_t *best = rela_mem_grow(t->best, &t->cap_best, n_words + 1, sizeof *best);
    t->best = best ? best : t->best;
    form *forms = rela_mem_grow(t->form, &t->cap_form, n_forms + 1, sizeof *forms);
    t->form = forms ? forms : t->form;
    const uint32_t w =
        best && forms ? rela_map_add(t->words, room->data, room->len) : RELA_MAP_NONE;
    const uint32_t f =
        w != RELA_MAP_NONE ? rela_map_add(t->forms, word.text, word.len) : RELA_MAP_NONE;
    if (f == RELA_MAP_NONE)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu words", n_words + 1);
    if (w == n_words)
        best[w] = RELA_MAP_NONE;
    forms[f] = (form){ count, w };
    return RELA_OK;
}

/* The form with the highest count; on a tie, the first. */
static void choose_best(rela_truecaser *t)
{
    const size_t n = rela_map_size(t->forms);
    for (uint32_t f = 0; f < n; f++) {
        uint32_t *best = &t->best[t->form[f].word];
        if (*best == RELA_MAP_NONE || t->form[f].count > t->form[*best].count)
            *best = f;
    }
}

/* (n/total), (n) */
static bool parse_count(double *out, rela_span text)
{
    char digits[COUNT_MAX];
    if (text.len < 3 || text.text[0] != '(' || text.text[text.len - 1] != ')')
        return false;
    const char *slash = memchr(text.text, '/', text.len);
    const size_t len = (slash ? (size_t)(slash - text.text) : text.len - 1) - 1;
    if (len == 0 || len >= sizeof digits)
        return false;
    memcpy(digits, text.text + 1, len);
    digits[len] = '\0';
    return strlen(digits) == len && rela_parse_f64(out, digits) && *out >= 0;
}

/* Words end at blanks and before markup; markup, blanks included, is one token. Markup that
 * follows a '|' is a factor of the word before it. */
static bool next_token(walk *w, rela_span *token)
{
    rela_span word;
    if (!rela_text_word(&word, &w->at, w->end))
        return false;
    const char *start = word.text, *stop = word.text + word.len;
    const char *after = markup_end(w, start);
    if (after) {
        *token = (rela_span){ start, (size_t)(after - start) };
        w->at = after;
        return true;
    }
    if (*start != '<' && *start != '>') {
        const char *p = start;
        while (p < stop && *p != '<' && *p != '>')
            p++;
        stop = p;
        while (stop[-1] == '|' && (after = markup_end(w, stop)) != NULL) {
            stop = after;
            while (stop < w->end && *stop == '|')
                stop++;
        }
    }
    *token = (rela_span){ start, (size_t)(stop - start) };
    w->at = stop;
    return true;
}

/* Remembers when the rest of the line has no '>', so that many '<' do not cost a search each. */
static const char *markup_end(walk *w, const char *at)
{
    if (w->no_markup || at >= w->end || *at != '<')
        return NULL;
    const char *after = rela_casing_markup(at, w->end);
    w->no_markup = !after && !memchr(at, '>', (size_t)(w->end - at));
    return after;
}

static rela_status add_token(const rela_truecaser *t, rela_buffer *out, rela_span token,
                             bool *first, rela_buffer *room, rela_error *err)
{
    if (token.text[0] == '|' || rela_casing_has_markup(token))
        return rela_buffer_append(out, token.text, token.len, err);
    const char *bar = memchr(token.text, '|', token.len);
    const rela_span written = { token.text, bar ? (size_t)(bar - token.text) : token.len };
    rela_buffer_clear(room);
    rela_status st = rela_text_lower(room, written, err);
    if (st != RELA_OK)
        return st;
    const rela_span lower = { room->data, room->len };
    const rela_span word = true_form(t, t->lowercase ? lower : written, lower, *first);
    st = rela_buffer_append(out, word.text, word.len, err);
    if (st == RELA_OK && bar)
        st = rela_buffer_append(out, bar, token.len - written.len, err);
    if (bar || (!rela_casing_ends_sentence(word) && !rela_casing_opens_sentence(word)))
        *first = false;
    else if (rela_casing_ends_sentence(word))
        *first = true;
    return st;
}

static rela_span true_form(const rela_truecaser *t, rela_span word, rela_span lower, bool first)
{
    const uint32_t w = rela_map_find(t->words, lower.text, lower.len);
    if (w == RELA_MAP_NONE)
        return word;
    /* Inside a sentence, a spelling seen in training is kept. */
    if (!first && !t->all_words && !t->lowercase &&
        rela_map_find(t->forms, word.text, word.len) != RELA_MAP_NONE)
        return word;
    return rela_map_key(t->forms, t->best[w]);
}

static bool one_of(rela_span token, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(words[i]) == token.len && memcmp(words[i], token.text, token.len) == 0)
            return true;
    return false;
}

/* English words that stay lower-case in headlines. */
static bool headline_small(rela_span token)
{
    static const char *const SMALL[] = {
        "a",       "after", "against", "and",   "any",  "as",   "at",  "be",    "because",
        "between", "by",    "during",  "for",   "from", "his",  "in",  "is",    "its",
        "last",    "not",   "of",      "off",   "on",   "than", "the", "their", "this",
        "to",      "was",   "were",    "which", "will", "with",
    };
    return one_of(token, SMALL, sizeof SMALL / sizeof *SMALL);
}

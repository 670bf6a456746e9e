/* SPDX-License-Identifier: MIT */
/* src/text/truecase_learn.c - counts spellings and writes them as a truecasing model.
 *
 * Weights are integers, in tenths, and each spelling keeps its first occurrence, so the model does
 * not depend on which thread counted which lines. */
#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "rela/text.h"
#include "text/casing.h"
#include "text/moses_chars.h"

#include <inttypes.h>
#include <stdlib.h>

enum { WHOLE = 10, TENTH = 1 };

typedef struct spelling {
    uint64_t weight; /* tenths */
    uint64_t line;   /* of its first occurrence */
    uint32_t index;  /* token in that line */
} spelling;

struct rela_truecase_counts {
    rela_map *forms;
    spelling *items; /* [form] */
    size_t cap;
    bool first_words;
};

/* One spelling while the model is written. */
typedef struct entry {
    spelling s;
    uint32_t form;
    uint32_t word; /* lower-cased words are numbered by first occurrence */
} entry;

static unsigned weight_of(const rela_truecase_counts *c, rela_span token, bool first, bool only);
static rela_status count(rela_truecase_counts *c, rela_span form, spelling s, rela_error *err);
static bool has_case(rela_span token);
static rela_status number_words(const rela_truecase_counts *c, entry *entries, rela_error *err);
static rela_status write_entries(const rela_truecase_counts *c, rela_buffer *out,
                                 const entry *entries, size_t n, rela_error *err);
static rela_status write_weight(rela_buffer *out, uint64_t weight, rela_error *err);
static bool earlier(const spelling *a, const spelling *b);
static int by_place(const void *a, const void *b);
static int by_word(const void *a, const void *b);

rela_status rela_truecase_counts_create(rela_truecase_counts **out, bool first_words,
                                        rela_error *err)
{
    *out = NULL;
    rela_truecase_counts *c = rela_mem_zalloc(sizeof *c);
    if (c)
        c->forms = rela_map_create(0);
    if (!c || !c->forms) {
        rela_mem_free(c);
        return rela_fail(err, RELA_NOMEM, "no memory for counts");
    }
    c->first_words = first_words;
    *out = c;
    return RELA_OK;
}

void rela_truecase_counts_destroy(rela_truecase_counts *c)
{
    if (!c)
        return;
    rela_map_destroy(c->forms);
    rela_mem_free(c->items);
    rela_mem_free(c);
}

rela_status rela_truecase_counts_add(rela_truecase_counts *c, const char *text, size_t len,
                                     uint64_t number, rela_error *err)
{
    rela_buffer repaired = RELA_BUFFER_INIT;
    rela_span s = { text, len }, token;
    rela_status st = rela_text_repair(&s, &repaired, err);
    const char *at = s.text, *end = s.text + s.len;
    bool first = true;
    for (uint32_t i = 0; st == RELA_OK && rela_text_word(&token, &at, end); i++) {
        if (rela_casing_has_markup(token) || rela_casing_opens_sentence(token))
            continue;
        if (!first && rela_casing_ends_sentence(token)) {
            first = true;
            continue;
        }
        if (has_case(token)) {
            const char *rest = at;
            rela_span next;
            const bool only = i == 0 && !rela_text_word(&next, &rest, end);
            const unsigned weight = weight_of(c, token, first, only);
            if (weight)
                st = count(c, token, (spelling){ weight, number, i }, err);
        }
        first = false;
    }
    rela_buffer_free(&repaired);
    return st;
}

rela_status rela_truecase_counts_merge(rela_truecase_counts *into, const rela_truecase_counts *from,
                                       rela_error *err)
{
    rela_status st = RELA_OK;
    const size_t n = rela_map_size(from->forms);
    for (uint32_t i = 0; i < n && st == RELA_OK; i++)
        st = count(into, rela_map_key(from->forms, i), from->items[i], err);
    return st;
}

rela_status rela_truecase_counts_write(rela_buffer *out, const rela_truecase_counts *c,
                                       rela_error *err)
{
    const size_t start = out->len, n = rela_map_size(c->forms);
    entry *entries = rela_mem_array(n, sizeof *entries);
    if (!entries)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu words", n);
    for (uint32_t i = 0; i < n; i++)
        entries[i] = (entry){ c->items[i], i, 0 };
    qsort(entries, n, sizeof *entries, by_place);
    rela_status st = number_words(c, entries, err);
    if (st == RELA_OK) {
        qsort(entries, n, sizeof *entries, by_word);
        st = write_entries(c, out, entries, n, err);
    }
    if (st != RELA_OK)
        rela_text_cut(out, start);
    rela_mem_free(entries);
    return st;
}

/* The first word of a sentence says little: it is capitalised anyway. */
static unsigned weight_of(const rela_truecase_counts *c, rela_span token, bool first, bool only)
{
    if (!first)
        return WHOLE;
    if (!c->first_words)
        return 0;
    uint32_t code = 0;
    (void)rela_utf8_next(&code, token.text, token.len);
    if (rela_text_class(code, 0) & RELA_TEXT_LOWER)
        return WHOLE;
    return only ? TENTH : 0;
}

static rela_status count(rela_truecase_counts *c, rela_span form, spelling s, rela_error *err)
{
    const size_t n = rela_map_size(c->forms);
    spelling *items = rela_mem_grow(c->items, &c->cap, n + 1, sizeof *items);
    c->items = items ? items : c->items;
    const uint32_t i = items ? rela_map_add(c->forms, form.text, form.len) : RELA_MAP_NONE;
    if (i == RELA_MAP_NONE)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu words", n + 1);
    if (i == n) {
        items[i] = s;
        return RELA_OK;
    }
    s.weight += items[i].weight;
    if (!earlier(&s, &items[i])) {
        s.line = items[i].line;
        s.index = items[i].index;
    }
    items[i] = s;
    return RELA_OK;
}

static bool has_case(rela_span token)
{
    for (size_t i = 0, n = 0; i < token.len; i += n) {
        uint32_t code = 0;
        n = rela_utf8_next(&code, token.text + i, token.len - i);
        if (rela_text_is_cased(code))
            return true;
    }
    return false;
}

static rela_status number_words(const rela_truecase_counts *c, entry *entries, rela_error *err)
{
    const size_t n = rela_map_size(c->forms);
    rela_buffer lower = RELA_BUFFER_INIT;
    rela_map *words = rela_map_create(n);
    rela_status st = words ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for %zu words", n);
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        rela_buffer_clear(&lower);
        st = rela_text_lower(&lower, rela_map_key(c->forms, entries[i].form), err);
        if (st != RELA_OK)
            break;
        entries[i].word = rela_map_add(words, lower.data, lower.len);
        if (entries[i].word == RELA_MAP_NONE)
            st = rela_fail(err, RELA_NOMEM, "no memory for %zu words", n);
    }
    rela_map_destroy(words);
    rela_buffer_free(&lower);
    return st;
}

static rela_status write_entries(const rela_truecase_counts *c, rela_buffer *out,
                                 const entry *entries, size_t n, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0, after = 0; i < n && st == RELA_OK; i = after) {
        uint64_t total = 0;
        for (after = i; after < n && entries[after].word == entries[i].word; after++)
            total += entries[after].s.weight;
        for (size_t k = i; k < after && st == RELA_OK; k++) {
            const rela_span form = rela_map_key(c->forms, entries[k].form);
            if (k > i)
                st = rela_buffer_append_char(out, ' ', err);
            if (st == RELA_OK)
                st = rela_buffer_append(out, form.text, form.len, err);
            if (st == RELA_OK)
                st = rela_buffer_append(out, " (", 2, err);
            if (st == RELA_OK)
                st = write_weight(out, entries[k].s.weight, err);
            if (st == RELA_OK && k == i)
                st = rela_buffer_append_char(out, '/', err);
            if (st == RELA_OK && k == i)
                st = write_weight(out, total, err);
            if (st == RELA_OK)
                st = rela_buffer_append_char(out, ')', err);
        }
        if (st == RELA_OK)
            st = rela_buffer_append_char(out, '\n', err);
    }
    return st;
}

static rela_status write_weight(rela_buffer *out, uint64_t weight, rela_error *err)
{
    return weight % WHOLE == 0 ? rela_buffer_printf(out, err, "%" PRIu64, weight / WHOLE)
                               : rela_buffer_printf(out, err, "%" PRIu64 ".%" PRIu64,
                                                    weight / WHOLE, weight % WHOLE);
}

static bool earlier(const spelling *a, const spelling *b)
{
    return a->line != b->line ? a->line < b->line : a->index < b->index;
}

static int by_place(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return earlier(&y->s, &x->s) - earlier(&x->s, &y->s);
}

/* Heaviest first within a word; on a tie, the one seen first. */
static int by_word(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->word != y->word)
        return x->word < y->word ? -1 : 1;
    if (x->s.weight != y->s.weight)
        return x->s.weight > y->s.weight ? -1 : 1;
    return by_place(a, b);
}

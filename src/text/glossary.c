/* SPDX-License-Identifier: MIT */
/* src/text/glossary.c - see glossary.h. */
#include "text/glossary.h"

#include "base/mem.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

/* The expressions that subword-nmt makes from each entry. As there, an entry is not put in
 * brackets: in ^a|b$ each alternative has only one of the anchors. */
typedef struct entry {
    pcre2_code *whole; /* ^entry$ */
    pcre2_code *find;  /* entry */
    pcre2_code *split; /* (entry) */
} entry;

struct rela_glossary {
    entry *entries;
    size_t n;
    pcre2_code *any; /* ^(entry|entry ...)$ */
    pcre2_general_context *memory;
};

struct rela_glossary_match {
    const rela_glossary *glossary;
    pcre2_match_data *data;
    rela_segments now, next;
};

static rela_status compile(pcre2_code **out, const rela_glossary *g, const char *before,
                           const char *expression, const char *after, rela_error *err);
static rela_status compile_any(rela_glossary *g, const char *const *expressions, size_t n,
                               rela_error *err);
static rela_status run(bool *found, rela_glossary_match *m, const pcre2_code *code, rela_span text,
                       size_t from, uint32_t options, rela_error *err);
static rela_status cut_around(rela_glossary_match *m, const entry *e, rela_span word,
                              rela_error *err);
static rela_status split(rela_glossary_match *m, const entry *e, rela_span word, rela_error *err);
static rela_status add(rela_segments *s, const char *text, size_t len, rela_error *err);
static void *give(PCRE2_SIZE size, void *ctx);
static void take(void *p, void *ctx);

rela_status rela_glossary_create(rela_glossary **out, const char *const *expressions, size_t n,
                                 rela_error *err)
{
    *out = NULL;
    rela_glossary *g = rela_mem_zalloc(sizeof *g);
    if (!g)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu glossaries", n);
    g->entries = rela_mem_zalloc(n * sizeof *g->entries);
    g->memory = pcre2_general_context_create(give, take, NULL);
    if (!g->entries || !g->memory) {
        rela_glossary_destroy(g);
        return rela_fail(err, RELA_NOMEM, "no memory for %zu glossaries", n);
    }
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        entry *e = &g->entries[i];
        g->n = i + 1;
        st = compile(&e->find, g, "", expressions[i], "", err);
        if (st == RELA_OK)
            st = compile(&e->whole, g, "^", expressions[i], "$", err);
        if (st == RELA_OK)
            st = compile(&e->split, g, "(", expressions[i], ")", err);
    }
    if (st == RELA_OK)
        st = compile_any(g, expressions, n, err);
    if (st == RELA_OK) {
        *out = g;
        g = NULL;
    }
    rela_glossary_destroy(g);
    return st;
}

void rela_glossary_destroy(rela_glossary *g)
{
    if (!g)
        return;
    for (size_t i = 0; g->entries && i < g->n; i++) {
        pcre2_code_free(g->entries[i].whole);
        pcre2_code_free(g->entries[i].find);
        pcre2_code_free(g->entries[i].split);
    }
    pcre2_code_free(g->any);
    pcre2_general_context_free(g->memory);
    rela_mem_free(g->entries);
    rela_mem_free(g);
}

rela_status rela_glossary_match_create(rela_glossary_match **out, const rela_glossary *g,
                                       rela_error *err)
{
    uint32_t n_groups = 1;
    *out = NULL;
    for (size_t i = 0; i < g->n; i++) {
        uint32_t n = 0;
        (void)pcre2_pattern_info(g->entries[i].split, PCRE2_INFO_CAPTURECOUNT, &n);
        n_groups = n + 1 > n_groups ? n + 1 : n_groups;
    }
    rela_glossary_match *m = rela_mem_zalloc(sizeof *m);
    if (m)
        m->data = pcre2_match_data_create(n_groups, g->memory);
    if (!m || !m->data) {
        rela_glossary_match_destroy(m);
        return rela_fail(err, RELA_NOMEM, "no memory to match glossaries");
    }
    m->glossary = g;
    *out = m;
    return RELA_OK;
}

void rela_glossary_match_destroy(rela_glossary_match *m)
{
    if (!m)
        return;
    pcre2_match_data_free(m->data);
    rela_mem_free(m->now.items);
    rela_mem_free(m->next.items);
    rela_mem_free(m);
}

rela_status rela_glossary_cut(const rela_segments **out, rela_glossary_match *m, rela_span word,
                              rela_error *err)
{
    *out = &m->now;
    m->now.n = 0;
    rela_status st = add(&m->now, word.text, word.len, err);
    for (size_t i = 0; i < m->glossary->n && st == RELA_OK; i++) {
        m->next.n = 0;
        for (size_t k = 0; k < m->now.n && st == RELA_OK; k++)
            st = cut_around(m, &m->glossary->entries[i], m->now.items[k], err);
        const rela_segments done = m->now;
        m->now = m->next;
        m->next = done;
    }
    return st;
}

rela_status rela_glossary_whole(bool *out, rela_glossary_match *m, rela_span segment,
                                rela_error *err)
{
    return run(out, m, m->glossary->any, segment, 0, PCRE2_ANCHORED, err);
}

static rela_status compile(pcre2_code **out, const rela_glossary *g, const char *before,
                           const char *expression, const char *after, rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(&text, err, "%s%s%s", before, expression, after);
    pcre2_compile_context *context = pcre2_compile_context_create(g->memory);
    if (st == RELA_OK && !context)
        st = rela_fail(err, RELA_NOMEM, "no memory for a glossary");
    if (st == RELA_OK) {
        int code = 0;
        PCRE2_SIZE at = 0;
        *out = pcre2_compile((PCRE2_SPTR)text.data, text.len, PCRE2_UTF | PCRE2_UCP, &code, &at,
                             context);
        if (!*out && code == PCRE2_ERROR_HEAP_FAILED) {
            st = rela_fail(err, RELA_NOMEM, "no memory for a glossary");
        } else if (!*out) {
            char reason[128] = "";
            (void)pcre2_get_error_message(code, (PCRE2_UCHAR *)reason, sizeof reason);
            st = rela_fail(err, RELA_ARG, "glossary '%s': character %zu: %s", expression,
                           (size_t)at + 1 - strlen(before), reason);
        }
    }
    pcre2_compile_context_free(context);
    rela_buffer_free(&text);
    return st;
}

static rela_status compile_any(rela_glossary *g, const char *const *expressions, size_t n,
                               rela_error *err)
{
    rela_buffer all = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = rela_buffer_printf(&all, err, "%s%s", i ? "|" : "", expressions[i]);
    if (st == RELA_OK)
        st = compile(&g->any, g, "^(", n ? all.data : "", ")$", err);
    rela_buffer_free(&all);
    return st;
}

/* text is valid UTF-8, so PCRE2 need not check it. */
static rela_status run(bool *found, rela_glossary_match *m, const pcre2_code *code, rela_span text,
                       size_t from, uint32_t options, rela_error *err)
{
    const int n = pcre2_match(code, (PCRE2_SPTR)text.text, text.len, from,
                              options | PCRE2_NO_UTF_CHECK, m->data, NULL);
    *found = n >= 0;
    if (n >= 0 || n == PCRE2_ERROR_NOMATCH)
        return RELA_OK;
    if (n == PCRE2_ERROR_NOMEMORY)
        return rela_fail(err, RELA_NOMEM, "no memory to match a glossary");
    char reason[128] = "";
    (void)pcre2_get_error_message(n, (PCRE2_UCHAR *)reason, sizeof reason);
    return rela_fail(err, RELA_ARG, "a glossary cannot be matched: %s", reason);
}

static rela_status cut_around(rela_glossary_match *m, const entry *e, rela_span word,
                              rela_error *err)
{
    bool whole = false, found = false;
    rela_status st = run(&whole, m, e->whole, word, 0, PCRE2_ANCHORED, err);
    if (st == RELA_OK && !whole)
        st = run(&found, m, e->find, word, 0, 0, err);
    if (st != RELA_OK)
        return st;
    return found ? split(m, e, word, err) : add(&m->next, word.text, word.len, err);
}

/* Python's re.split: yields the text between matches and all groups of each match. After an empty
 * match, the next one must not be empty at the same place. */
static rela_status split(rela_glossary_match *m, const entry *e, rela_span word, rela_error *err)
{
    const PCRE2_SIZE *v = pcre2_get_ovector_pointer(m->data);
    size_t last = 0;
    uint32_t options = 0, n_groups = 0;
    bool found = true;
    (void)pcre2_pattern_info(e->split, PCRE2_INFO_CAPTURECOUNT, &n_groups);
    for (;;) {
        rela_status st = run(&found, m, e->split, word, last, options, err);
        if (st != RELA_OK || !found)
            return st != RELA_OK ? st : add(&m->next, word.text + last, word.len - last, err);
        if (v[0] > last)
            st = add(&m->next, word.text + last, v[0] - last, err);
        for (size_t i = 1; i <= n_groups && st == RELA_OK; i++) {
            const PCRE2_SIZE start = v[2 * i], end = v[2 * i + 1];
            if (start != PCRE2_UNSET && end > start)
                st = add(&m->next, word.text + start, end - start, err);
        }
        if (st != RELA_OK)
            return st;
        options = v[1] == v[0] ? PCRE2_NOTEMPTY_ATSTART : 0;
        last = v[1];
    }
}

/* Empty segments are left out. */
static rela_status add(rela_segments *s, const char *text, size_t len, rela_error *err)
{
    if (len == 0)
        return RELA_OK;
    rela_span *items = rela_mem_grow(s->items, &s->cap, s->n + 1, sizeof *items);
    if (!items)
        return rela_fail(err, RELA_NOMEM, "no memory to cut a word");
    s->items = items;
    s->items[s->n++] = (rela_span){ text, len };
    return RELA_OK;
}

static void *give(PCRE2_SIZE size, void *ctx)
{
    (void)ctx;
    return rela_mem_alloc(size);
}

static void take(void *p, void *ctx)
{
    (void)ctx;
    rela_mem_free(p);
}

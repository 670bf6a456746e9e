/* SPDX-License-Identifier: MIT */
/* src/text/protect.c - see protect.h. */
#include "text/protect.h"

#include "base/mem.h"
#include "rela/text.h"

#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

enum { MATCH_LIMIT = 1000000, HEAP_LIMIT_KIB = 1 << 16, MESSAGE_MAX = 120 };

struct rela_protect {
    pcre2_general_context *general;
    pcre2_compile_context *compile;
    pcre2_match_context *match;
    pcre2_code **codes;
    size_t n;
};

/* The lookbehind only saves attempts that would fail as the previous one did. */
#define E_MAIL "(?:\\G|(?<![\\w.-]))[\\w.-]++@(?:[\\w-]+\\.)+[a-zA-Z]{2,}"

static const char *const WEB[] = {
    "(?:(?:https?|ftp|rsync)://|www\\.)[^ ]*",
    E_MAIL,
    "@[a-zA-Z0-9_]+",
    "#[a-zA-Z0-9_]+",
};

static const char *const BASIC[] = {
    "</?\\S+/?>",
    "<\\S+(?: [a-zA-Z0-9]+=\"?[^\"]\")+ ?/?>",
    "<\\S+(?: [a-zA-Z0-9]+='?[^']')+ ?/?>",
    E_MAIL,
    "(?:https?|ftp)://[^:/\\s]+(?:/\\w+)*/[\\w.-]+",
};

static void *pcre_alloc(size_t size, void *ctx);
static void pcre_free(void *p, void *ctx);
static rela_status compile_one(rela_protect *p, const char *pattern, rela_error *err);
static rela_status match_all(const rela_protect *p, size_t index, pcre2_match_data *data,
                             rela_parts *parts, rela_span text, rela_error *err);
static rela_status keep_longest(rela_parts *parts, size_t len, rela_error *err);
static int by_length(const void *a, const void *b);
static int by_place(const void *a, const void *b);

const char *const *rela_tokeniser_patterns(size_t *n, const char *name)
{
    if (strcmp(name, "web") == 0) {
        *n = sizeof WEB / sizeof *WEB;
        return WEB;
    }
    const bool basic = strcmp(name, "basic") == 0;
    *n = basic ? sizeof BASIC / sizeof *BASIC : 0;
    return basic ? BASIC : NULL;
}

rela_status rela_protect_create(rela_protect **out, const char *const *patterns, size_t n,
                                rela_error *err)
{
    *out = NULL;
    rela_protect *p = rela_mem_zalloc(sizeof *p);
    if (p) {
        p->codes = rela_mem_zalloc(n * sizeof(void *));
        p->general = pcre2_general_context_create(pcre_alloc, pcre_free, NULL);
        p->compile = p->general ? pcre2_compile_context_create(p->general) : NULL;
        p->match = p->general ? pcre2_match_context_create(p->general) : NULL;
    }
    if (!p || !p->codes || !p->compile || !p->match) {
        rela_protect_destroy(p);
        return rela_fail(err, RELA_NOMEM, "no memory for %zu patterns", n);
    }
    pcre2_set_match_limit(p->match, MATCH_LIMIT);
    pcre2_set_heap_limit(p->match, HEAP_LIMIT_KIB);
    for (size_t i = 0; i < n; i++) {
        const rela_status st = compile_one(p, patterns[i], err);
        if (st != RELA_OK) {
            rela_protect_destroy(p);
            return st;
        }
    }
    *out = p;
    return RELA_OK;
}

void rela_protect_destroy(rela_protect *p)
{
    if (!p)
        return;
    for (size_t i = 0; p->codes && i < p->n; i++)
        pcre2_code_free(p->codes[i]);
    pcre2_match_context_free(p->match);
    pcre2_compile_context_free(p->compile);
    pcre2_general_context_free(p->general);
    rela_mem_free(p->codes);
    rela_mem_free(p);
}

rela_status rela_protect_find(const rela_protect *p, rela_parts *parts, rela_span text,
                              rela_error *err)
{
    pcre2_match_data *data = pcre2_match_data_create(1, p->general);
    if (!data)
        return rela_fail(err, RELA_NOMEM, "no memory to match a pattern");
    rela_status st = RELA_OK;
    for (size_t i = 0; i < p->n && st == RELA_OK; i++)
        st = match_all(p, i, data, parts, text, err);
    pcre2_match_data_free(data);
    return st == RELA_OK && parts->n > 1 ? keep_longest(parts, text.len, err) : st;
}

static void *pcre_alloc(size_t size, void *ctx)
{
    (void)ctx;
    return rela_mem_alloc(size);
}

static void pcre_free(void *p, void *ctx)
{
    (void)ctx;
    rela_mem_free(p);
}

static rela_status compile_one(rela_protect *p, const char *pattern, rela_error *err)
{
    int code = 0;
    PCRE2_SIZE at = 0;
    pcre2_code *compiled =
        pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                      PCRE2_UTF | PCRE2_UCP | PCRE2_CASELESS, &code, &at, p->compile);
    if (compiled) {
        p->codes[p->n++] = compiled;
        return RELA_OK;
    }
    if (code == PCRE2_ERROR_HEAP_FAILED)
        return rela_fail(err, RELA_NOMEM, "no memory for pattern %zu", p->n + 1);
    char why[MESSAGE_MAX] = "";
    (void)pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
    return rela_fail(err, RELA_FORMAT, "pattern %zu: %s at character %zu of '%s'", p->n + 1, why,
                     (size_t)at, pattern);
}

static rela_status match_all(const rela_protect *p, size_t index, pcre2_match_data *data,
                             rela_parts *parts, rela_span text, rela_error *err)
{
    for (size_t at = 0; at < text.len;) {
        const int got = pcre2_match(p->codes[index], (PCRE2_SPTR)text.text, text.len, at,
                                    PCRE2_NO_UTF_CHECK, data, p->match);
        if (got == PCRE2_ERROR_NOMATCH)
            break;
        if (got == PCRE2_ERROR_NOMEMORY)
            return rela_fail(err, RELA_NOMEM, "no memory to match pattern %zu", index + 1);
        if (got < 0)
            return rela_fail(err, RELA_FORMAT, "pattern %zu takes too many steps on this line",
                             index + 1);
        const PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(data);
        const rela_part part = { bounds[0], bounds[1] };
        if (part.end > part.begin) { /* an empty match protects nothing */
            rela_part *items =
                rela_mem_grow(parts->items, &parts->cap, parts->n + 1, sizeof *items);
            if (!items)
                return rela_fail(err, RELA_NOMEM, "no memory for %zu matches", parts->n + 1);
            parts->items = items;
            items[parts->n++] = part;
        }
        at = part.end > at ? part.end : at + 1;
        while (at < text.len && ((unsigned char)text.text[at] & 0xC0) == 0x80)
            at++;
    }
    return RELA_OK;
}

/* Longest first: a match is kept unless some of its bytes are taken. Those taken by an overlapping
 * match, which is at least as long, include one of its ends, so it is enough to test the ends. */
static rela_status keep_longest(rela_parts *parts, size_t len, rela_error *err)
{
    char *taken = rela_mem_zalloc(len);
    if (!taken)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu matches", parts->n);
    qsort(parts->items, parts->n, sizeof *parts->items, by_length);
    size_t n = 0;
    for (size_t i = 0; i < parts->n; i++) {
        const rela_part part = parts->items[i];
        if (taken[part.begin] || taken[part.end - 1])
            continue;
        memset(taken + part.begin, 1, part.end - part.begin);
        parts->items[n++] = part;
    }
    rela_mem_free(taken);
    parts->n = n;
    qsort(parts->items, parts->n, sizeof *parts->items, by_place);
    return RELA_OK;
}

static int by_length(const void *a, const void *b)
{
    const rela_part *x = a, *y = b;
    const size_t m = x->end - x->begin, n = y->end - y->begin;
    return m != n ? (m < n) - (m > n) : by_place(a, b);
}

static int by_place(const void *a, const void *b)
{
    const rela_part *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* SPDX-License-Identifier: MIT */
/* src/metric/links.c - reads and writes word links in Pharaoh format. */
#include "base/mem.h"
#include "base/sized.h"
#include "base/str.h"
#include "rela/metric.h"

#include <stdbool.h>
#include <stdlib.h>

enum { SHOWN_MAX = 40 /* bytes of a bad link in a message */ };

static rela_status parse_link(rela_link *out, rela_span word, const rela_link_format *form,
                              rela_error *err);
static const char *parse_position(uint64_t *out, const char *at, const char *end);
static rela_status check_position(uint64_t position, const char *side, size_t n_words,
                                  rela_span word, const rela_link_format *form, rela_error *err);
static bool is_before(const rela_link *a, const rela_link *b);
static int compare_links(const void *a, const void *b);
static size_t drop_repeated(rela_link *items, size_t n);

void rela_link_format_init(rela_link_format *form, size_t size)
{
    const rela_link_format pharaoh = { .struct_size = size };
    rela_sized_init(form, size, &pharaoh, sizeof pharaoh);
}

void rela_links_free(rela_links *l)
{
    if (!l)
        return;
    rela_mem_free(l->items);
    *l = (rela_links){ NULL, 0, 0 };
}

rela_status rela_links_parse(rela_links *out, const char *line, size_t len,
                             const rela_link_format *form, rela_error *err)
{
    rela_link_format own = { .base = 0 };
    const char *at = line;
    rela_span word;
    bool sorted = true;
    out->n = 0;
    rela_status st = rela_sized_take(&own, sizeof own, form, "rela_link_format", err);
    if (st != RELA_OK)
        return st;
    while (rela_next_word(&word, &at, line + len)) {
        if (out->n == out->cap) {
            rela_link *items = rela_mem_grow(out->items, &out->cap, out->n + 1, sizeof *items);
            if (!items)
                return rela_fail(err, RELA_NOMEM, "no memory for %zu links", out->n + 1);
            out->items = items;
        }
        rela_link *link = &out->items[out->n];
        st = parse_link(link, word, &own, err);
        if (st != RELA_OK)
            return st;
        sorted = sorted && (out->n == 0 || is_before(link - 1, link));
        out->n++;
    }
    if (!sorted) {
        qsort(out->items, out->n, sizeof *out->items, compare_links);
        out->n = drop_repeated(out->items, out->n);
    }
    return RELA_OK;
}

rela_status rela_links_format(rela_buffer *out, const rela_links *l, const rela_link_format *form,
                              rela_error *err)
{
    rela_link_format own = { .base = 0 };
    rela_status st = rela_sized_take(&own, sizeof own, form, "rela_link_format", err);
    const uint32_t base = (uint32_t)own.base;
    const bool reverse = own.reverse != 0;
    for (size_t i = 0; i < l->n && st == RELA_OK; i++) {
        const rela_link *k = &l->items[i];
        st = rela_buffer_printf(out, err, "%s%u%c%u", i ? " " : "",
                                (reverse ? k->tgt : k->src) + base, k->possible ? '?' : '-',
                                (reverse ? k->src : k->tgt) + base);
    }
    return st;
}

static rela_status parse_link(rela_link *out, rela_span word, const rela_link_format *form,
                              rela_error *err)
{
    const char *end = word.text + word.len;
    uint64_t first = 0, second = 0;
    const char *at = parse_position(&first, word.text, end);
    const char mark = at && at < end ? *at : '\0';
    const char *last =
        mark == '-' || mark == '?' || mark == 'p' ? parse_position(&second, at + 1, end) : NULL;
    if (!last || last != end)
        return rela_fail(err, RELA_FORMAT, "'%.*s' is not a link; expected i-j, i?j or ipj",
                         (int)(word.len < SHOWN_MAX ? word.len : SHOWN_MAX), word.text);
    const uint64_t src = form->reverse ? second : first, tgt = form->reverse ? first : second;
    rela_status st = check_position(src, "source", form->n_src, word, form, err);
    if (st == RELA_OK)
        st = check_position(tgt, "target", form->n_tgt, word, form, err);
    *out = (rela_link){ (uint32_t)(src - (uint64_t)form->base),
                        (uint32_t)(tgt - (uint64_t)form->base), mark != '-' };
    return st;
}

/* Digits only; NULL if there are none. A number stops growing above the limit: no overflow. */
static const char *parse_position(uint64_t *out, const char *at, const char *end)
{
    const char *start = at;
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        if (*out <= RELA_LINK_MAX)
            *out = *out * 10 + (uint64_t)(*at - '0');
    return at > start ? at : NULL;
}

static rela_status check_position(uint64_t position, const char *side, size_t n_words,
                                  rela_span word, const rela_link_format *form, rela_error *err)
{
    const int shown = (int)(word.len < SHOWN_MAX ? word.len : SHOWN_MAX);
    const uint64_t base = (uint64_t)form->base;
    if (position < base)
        return rela_fail(err, RELA_FORMAT, "'%.*s': words count from %d here", shown, word.text,
                         (int)form->base);
    if (position - base > RELA_LINK_MAX)
        return rela_fail(err, RELA_FORMAT, "'%.*s': a position is too large; expected at most %d",
                         shown, word.text, RELA_LINK_MAX);
    if (form->check && position - base >= n_words)
        return rela_fail(err, RELA_FORMAT, "'%.*s': the %s sentence has only %zu words", shown,
                         word.text, side, n_words);
    return RELA_OK;
}

static bool is_before(const rela_link *a, const rela_link *b)
{
    return a->src < b->src || (a->src == b->src && a->tgt < b->tgt);
}

/* By source, then target; of equal links the sure one first, so that it is the one kept. */
static int compare_links(const void *a, const void *b)
{
    const rela_link *x = a, *y = b;
    if (is_before(x, y) || is_before(y, x))
        return is_before(x, y) ? -1 : 1;
    return (x->possible > y->possible) - (x->possible < y->possible);
}

static size_t drop_repeated(rela_link *items, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || items[kept - 1].src != items[i].src || items[kept - 1].tgt != items[i].tgt)
            items[kept++] = items[i];
    return kept;
}

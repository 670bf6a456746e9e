/* SPDX-License-Identifier: MIT */
/* fuzz/fuzz_links.c - alignment links: read or refused with a message, sorted and unique, the same
 * when written and read back; symmetrised links lie between intersection and union.
 *
 * The first byte sets the format; two lines follow. */
#include "fuzz.h"

#include "rela/metric.h"

#include <string.h>

static rela_status parse(rela_links *l, const char *line, size_t len, const rela_link_format *form)
{
    rela_error err = { RELA_OK, "" };
    const rela_status st = rela_links_parse(l, line, len, form, &err);
    HOLDS(st == RELA_OK || *err.message);
    for (size_t i = 0; st == RELA_OK && i < l->n; i++) {
        const rela_link *k = &l->items[i];
        HOLDS(k->src <= RELA_LINK_MAX && k->tgt <= RELA_LINK_MAX);
        HOLDS(!form->check || (k->src < form->n_src && k->tgt < form->n_tgt));
        HOLDS(i == 0 || k[-1].src < k->src || (k[-1].src == k->src && k[-1].tgt < k->tgt));
    }
    return st;
}

static void check_round_trip(const rela_links *l, const rela_link_format *form)
{
    rela_links back = { NULL, 0, 0 };
    rela_buffer text = RELA_BUFFER_INIT;
    HOLDS(rela_links_format(&text, l, form, NULL) == RELA_OK);
    HOLDS(parse(&back, text.data, text.len, form) == RELA_OK && back.n == l->n);
    for (size_t i = 0; i < l->n; i++)
        HOLDS(back.items[i].src == l->items[i].src && back.items[i].tgt == l->items[i].tgt &&
              back.items[i].possible == l->items[i].possible);
    rela_links_free(&back);
    rela_buffer_free(&text);
}

static void check_symmetrised(const rela_links *a, const rela_links *b)
{
    rela_links both = { NULL, 0, 0 }, all = both, grown = both;
    HOLDS(rela_links_symmetrise(&both, a, b, RELA_INTERSECT, NULL) == RELA_OK);
    HOLDS(rela_links_symmetrise(&all, a, b, RELA_UNION, NULL) == RELA_OK);
    for (int method = RELA_GROW_DIAG; method <= RELA_GROW_DIAG_FINAL_AND; method++) {
        HOLDS(rela_links_symmetrise(&grown, a, b, (rela_symmetrise)method, NULL) == RELA_OK);
        HOLDS(both.n <= grown.n && grown.n <= all.n);
    }
    HOLDS(all.n + both.n == a->n + b->n);
    rela_links_free(&both);
    rela_links_free(&all);
    rela_links_free(&grown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const rela_link_format form = { .struct_size = sizeof form,
                                    .base = data[0] & 1,
                                    .reverse = data[0] >> 1 & 1,
                                    .check = data[0] >> 2 & 1,
                                    .n_src = data[0] >> 3,
                                    .n_tgt = 9 };
    const char *text = (const char *)data + 1, *end = text + size - 1;
    const char *stop = size > 1 ? memchr(text, '\n', size - 1) : NULL;
    const char *second = stop ? stop + 1 : end;
    rela_links a = { NULL, 0, 0 }, b = a;
    const rela_status st = parse(&a, text, (size_t)((stop ? stop : end) - text), &form);
    const rela_status other = parse(&b, second, (size_t)(end - second), &form);
    if (st == RELA_OK)
        check_round_trip(&a, &form);
    if (st == RELA_OK && other == RELA_OK)
        check_symmetrised(&a, &b);
    rela_links_free(&a);
    rela_links_free(&b);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* src/serve/passages.c - see passages.h. */
#include "serve/passages.h"

#include "base/mem.h"
#include "text/glyphs.h"

#include <string.h>

enum { BYTES_PER_TOKEN = 4, FIRST_WIDE = 0x2E80 };

static rela_status add_line(rela_passages *p, size_t begin, size_t end,
                            const rela_splitter *splitter, rela_error *err);
static bool wants_blank(const rela_buffer *out, size_t from, rela_span next);

rela_status rela_passages_add(rela_passages *p, const char *text, size_t len,
                              const rela_splitter *splitter, bool whole, rela_error *err)
{
    const size_t begin = p->texts.len;
    rela_status st = rela_buffer_append(&p->texts, text, len, err);
    if (st == RELA_OK && whole)
        st = rela_passages_add_passage(p, begin, begin + len, true, err);
    else if (st == RELA_OK)
        st = rela_passages_split(p, begin, begin + len, splitter, err);
    return st ? st : rela_passages_end_text(p, err);
}

void rela_passages_free(rela_passages *p)
{
    rela_buffer_free(&p->texts);
    rela_mem_free(p->items);
    rela_mem_free(p->first);
    rela_mem_free(p->tags);
    *p = (rela_passages){ .n = 0 };
}

rela_status rela_passages_add_passage(rela_passages *p, size_t begin, size_t end, bool sentence,
                                      rela_error *err)
{
    if (begin == end)
        return RELA_OK;
    rela_passage *last =
        p->n > (p->n_texts ? p->first[p->n_texts] : 0) ? &p->items[p->n - 1] : NULL;
    if (last && !sentence && !last->sentence && last->end == begin) {
        last->end = end;
        return RELA_OK;
    }
    rela_passage *items = rela_mem_grow(p->items, &p->cap, p->n + 1, sizeof *items);
    if (!items)
        return rela_fail(err, RELA_NOMEM, "no memory for the sentences");
    p->items = items;
    items[p->n++] = (rela_passage){ begin, end, sentence, 0, 0 };
    p->n_sentences += sentence;
    return RELA_OK;
}

rela_status rela_passages_end_text(rela_passages *p, rela_error *err)
{
    size_t *first = rela_mem_grow(p->first, &p->cap_texts, p->n_texts + 2, sizeof *first);
    if (!first)
        return rela_fail(err, RELA_NOMEM, "no memory for the texts");
    p->first = first;
    if (p->n_texts == 0)
        first[0] = 0;
    first[++p->n_texts] = p->n;
    return RELA_OK;
}

rela_status rela_passages_split(rela_passages *p, size_t begin, size_t end,
                                const rela_splitter *splitter, rela_error *err)
{
    rela_status st = RELA_OK;
    while (begin < end && st == RELA_OK) {
        const char *text = p->texts.data;
        const char *lf = memchr(text + begin, '\n', end - begin);
        size_t stop = lf ? (size_t)(lf - text) : end;
        const size_t after = lf ? stop + 1 : end;
        if (stop > begin && text[stop - 1] == '\r')
            stop--;
        st = add_line(p, begin, stop, splitter, err);
        st = st ? st : rela_passages_add_passage(p, stop, after, false, err);
        begin = after;
    }
    return st;
}

static bool is_blank(const char *text, size_t len)
{
    return rela_trim((rela_span){ text, len }).len == 0;
}

static rela_status add_line(rela_passages *p, size_t begin, size_t end,
                            const rela_splitter *splitter, rela_error *err)
{
    const char *line = p->texts.data + begin;
    const size_t len = end - begin;
    if (is_blank(line, len))
        return rela_passages_add_passage(p, begin, end, false, err);
    if (!splitter)
        return rela_passages_add_passage(p, begin, end, true, err);
    rela_status st = RELA_OK;
    rela_sentence s;
    size_t at = 0, n = 0;
    while (st == RELA_OK && rela_split_next(&s, &at, splitter, line, len)) {
        /* A line of one sentence goes as it is, as rela_translate takes it. */
        const bool only = n++ == 0 && at == len;
        st = rela_passages_add_passage(p, begin + (only ? 0 : s.begin), only ? end : begin + s.end,
                                       true, err);
    }
    return st;
}

rela_status rela_passages_join(rela_buffer *out, const rela_passages *p, size_t text,
                               rela_span (*translation)(const void *ctx, size_t sentence),
                               const void *ctx, rela_error *err)
{
    size_t sentence = 0, from = out->len;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < p->first[text]; i++)
        sentence += p->items[i].sentence;
    for (size_t i = p->first[text]; i < p->first[text + 1] && st == RELA_OK; i++) {
        const rela_passage *piece = &p->items[i];
        rela_span s = { p->texts.data + piece->begin, piece->end - piece->begin };
        if (piece->sentence) {
            s = translation(ctx, sentence++);
            if (wants_blank(out, from, s))
                st = rela_buffer_append_char(out, ' ', err);
        }
        if (st == RELA_OK && s.len)
            st = rela_buffer_append(out, s.text, s.len, err);
        if (!piece->sentence)
            from = out->len;
    }
    return st;
}

/* As between the sentences of rela_translate: East Asian end marks and brackets are as wide as if a
 * blank followed. */
static bool wants_blank(const rela_buffer *out, size_t from, rela_span next)
{
    const size_t len = out->len - from;
    if (len == 0 || next.len == 0)
        return false;
    const rela_glyph g = rela_glyph_before(out->data + from, 0, len);
    return !(g.code >= FIRST_WIDE && (g.kind & (RELA_GLYPH_WIDE | RELA_GLYPH_CLOSE)));
}

uint32_t rela_passages_tokens(const char *text, size_t len)
{
    size_t words = 0;
    for (size_t i = 0; i < len; i++)
        words += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
    const size_t by_bytes = len / BYTES_PER_TOKEN;
    const size_t n = 1 + (words > by_bytes ? words : by_bytes);
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

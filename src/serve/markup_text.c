/* SPDX-License-Identifier: MIT */
/* src/serve/markup_text.c - see markup_text.h: reading. */
#include "serve/markup_text.h"

#include "base/mem.h"
#include "serve/http_head.h"
#include "serve/markup_tags.h"

#include <string.h>

enum { TAGS_MAX = 256, ENTITY_MAX = 12, WASTE_MAX = 8 << 20 };

/* The text of a block, until the tag that ends it. */
typedef struct reader {
    rela_passages *out;
    const rela_splitter *splitter;
    rela_buffer plain;
    rela_passage_tag tags[TAGS_MAX]; /* at: in plain */
    size_t n_tags;
    size_t wasted; /* bytes searched for the end of what was no tag */
    bool open;     /* an element that is kept never ends: do not search again */
} reader;

static rela_status read_tag(reader *r, const char **at, const char *end, rela_error *err);
static rela_status read_text(reader *r, const char **at, const char *end, rela_error *err);
static rela_status end_block(reader *r, rela_error *err);
static rela_status copy_out(reader *r, const char *text, size_t len, rela_error *err);
static rela_status add_tag(reader *r, const char *text, size_t len, int kind, rela_error *err);

/* Text that looks like tags but has no end must not cost the square of its length. */
static bool is_tag(reader *r, const char *at, const char *end)
{
    if (*at != '<' || r->wasted > WASTE_MAX)
        return false;
    const bool yes = rela_markup_is_tag(at, end);
    if (!yes && end - at > 1 && at[1] != ' ')
        r->wasted += (size_t)(end - at);
    return yes;
}

rela_status rela_markup_add(rela_passages *p, const char *text, size_t len,
                            const rela_splitter *splitter, rela_error *err)
{
    reader *r = rela_mem_zalloc(sizeof *r);
    if (!r)
        return rela_fail(err, RELA_NOMEM, "no memory for mark-up");
    r->out = p;
    r->splitter = splitter;
    rela_status st = RELA_OK;
    for (const char *at = text, *end = text + len; at < end && st == RELA_OK;)
        st = is_tag(r, at, end) ? read_tag(r, &at, end, err) : read_text(r, &at, end, err);
    st = st ? st : end_block(r, err);
    rela_buffer_free(&r->plain);
    rela_mem_free(r);
    return st ? st : rela_passages_end_text(p, err);
}

/* ---- tags ---- */

static rela_status read_tag(reader *r, const char **at, const char *end, rela_error *err)
{
    const char *first = *at;
    const rela_markup_tag tag = rela_markup_tag_read(first, end);
    const char *stop = tag.end;
    if (tag.kind == RELA_TAG_OPEN && !r->open && rela_markup_is_kept(&tag)) {
        const char *after = rela_markup_element_end(&tag, end); /* with all that is in it */
        stop = after ? after : stop;
        r->open = !after;
    }
    *at = stop;
    const size_t len = (size_t)(stop - first);
    if (rela_markup_is_block(&tag) || r->n_tags == TAGS_MAX) {
        const rela_status st = end_block(r, err);
        return st ? st : copy_out(r, first, len, err);
    }
    return add_tag(r, first, len, stop != tag.end ? RELA_TAG_POINT : tag.kind, err);
}

/* The raw text goes to the texts at once; the tag refers to it. */
static rela_status add_tag(reader *r, const char *text, size_t len, int kind, rela_error *err)
{
    rela_passage_tag *t = &r->tags[r->n_tags];
    *t = (rela_passage_tag){ .begin = r->out->texts.len, .at = r->plain.len, .kind = kind };
    const rela_status st = rela_buffer_append(&r->out->texts, text, len, err);
    t->end = r->out->texts.len;
    r->n_tags += st == RELA_OK;
    return st;
}

/* To be copied to the answer as it is. */
static rela_status copy_out(reader *r, const char *text, size_t len, rela_error *err)
{
    const size_t begin = r->out->texts.len;
    const rela_status st = rela_buffer_append(&r->out->texts, text, len, err);
    return st ? st : rela_passages_add_passage(r->out, begin, begin + len, false, err);
}

/* ---- text ---- */

/* An entity at `at`: its character in UTF-8, or nothing if it is not known. */
static rela_status read_entity(reader *r, const char **at, const char *end, rela_error *err)
{
    char text[8] = "";
    size_t len = 1;
    while (len < ENTITY_MAX && *at + len < end && (*at)[len] != ';' &&
           (rela_http_is_token((*at)[len]) || (*at)[len] == '#'))
        len++;
    if (*at + len == end || (*at)[len] != ';') { /* no entity: a & by itself */
        const rela_status st = rela_buffer_append_char(&r->plain, '&', err);
        ++*at;
        return st;
    }
    const rela_span name = { *at + 1, len - 1 };
    const size_t n = rela_markup_entity(text, name);
    const char *first = *at;
    *at += len + 1;
    if (n)
        return rela_buffer_append(&r->plain, text, n, err);
    /* Not known here, but to a browser. */
    if (r->n_tags < TAGS_MAX)
        return add_tag(r, first, len + 1, RELA_TAG_POINT, err);
    const rela_status st = end_block(r, err);
    return st ? st : copy_out(r, first, len + 1, err);
}

static rela_status read_text(reader *r, const char **at, const char *end, rela_error *err)
{
    const char *first = *at;
    if (*first == '&')
        return read_entity(r, at, end, err);
    const char *stop = first + 1;
    while (stop < end && *stop != '<' && *stop != '&')
        stop++;
    *at = stop;
    return rela_buffer_append(&r->plain, first, (size_t)(stop - first), err);
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Nothing to translate: blanks and tags in their order. */
static rela_status copy_blanks(reader *r, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0, at = 0; i <= r->n_tags && st == RELA_OK; i++) {
        const size_t stop = i < r->n_tags ? r->tags[i].at : r->plain.len;
        if (stop > at)
            st = copy_out(r, r->plain.data + at, stop - at, err);
        at = stop;
        if (st == RELA_OK && i < r->n_tags)
            st = rela_passages_add_passage(r->out, r->tags[i].begin, r->tags[i].end, false, err);
    }
    return st;
}

/* Does the tag belong to a sentence that ends there, rather than to the next one? */
static bool belongs(const rela_passage_tag *t, size_t end, size_t next)
{
    return t->at < end || (t->at <= next && t->kind == RELA_TAG_CLOSE) ||
           (t->at == end && t->kind == RELA_TAG_POINT);
}

static rela_status add_sentence(reader *r, size_t base, rela_sentence s, size_t next, bool last,
                                size_t *tag, rela_error *err)
{
    rela_passages *p = r->out;
    const size_t first = p->n_tags;
    rela_status st = rela_passages_add_passage(p, base + s.begin, base + s.end, true, err);
    for (; *tag < r->n_tags && st == RELA_OK; ++*tag) {
        rela_passage_tag t = r->tags[*tag];
        if (!last && !belongs(&t, s.end, next))
            break;
        rela_passage_tag *tags = rela_mem_grow(p->tags, &p->cap_tags, p->n_tags + 1, sizeof *tags);
        if (!tags)
            return rela_fail(err, RELA_NOMEM, "no memory for mark-up");
        p->tags = tags;
        t.at = t.at < s.begin ? 0 : t.at > s.end ? s.end - s.begin : t.at - s.begin;
        tags[p->n_tags++] = t;
    }
    if (st == RELA_OK) {
        p->items[p->n - 1].tag = first;
        p->items[p->n - 1].n_tags = p->n_tags - first;
    }
    return st;
}

static rela_status end_block(reader *r, rela_error *err)
{
    rela_passages *p = r->out;
    size_t begin = 0, end = r->plain.len, tag = 0;
    const char *text = r->plain.data;
    while (begin < end && is_blank(text[begin]))
        begin++;
    while (end > begin && is_blank(text[end - 1]))
        end--;
    rela_status st = RELA_OK;
    if (begin == end) {
        st = copy_blanks(r, err);
    } else {
        st = begin ? copy_out(r, text, begin, err) : RELA_OK;
        const size_t base = p->texts.len;
        st = st ? st : rela_buffer_append(&p->texts, text, r->plain.len, err);
        /* Line breaks are blanks in HTML. */
        for (size_t i = base; i < p->texts.len && st == RELA_OK; i++)
            if (is_blank(p->texts.data[i]))
                p->texts.data[i] = ' ';
        rela_sentence s = { begin, end }, next;
        size_t at = begin;
        bool more = st == RELA_OK && (!r->splitter || rela_split_next(&s, &at, r->splitter,
                                                                      p->texts.data + base, end));
        while (more && st == RELA_OK) {
            more =
                r->splitter && rela_split_next(&next, &at, r->splitter, p->texts.data + base, end);
            st = add_sentence(r, base, s, more ? next.begin : end, !more, &tag, err);
            s = more ? next : s;
        }
        if (st == RELA_OK && end < r->plain.len)
            st = copy_out(r, r->plain.data + end, r->plain.len - end, err);
    }
    rela_buffer_clear(&r->plain);
    r->n_tags = 0;
    return st;
}

/* SPDX-License-Identifier: MIT */
/* src/serve/markup_render.c - see markup_text.h: the tags of a sentence in its translation.
 *
 * Tags form a tree of elements over bytes of the source. Each takes the bytes of the translation
 * that are linked to its own, cut to those of its parent and after those of its neighbour, so that
 * elements that were nested stay nested. */
#include "serve/markup_text.h"

#include "base/mem.h"
#include "serve/http_head.h"
#include "serve/markup_tags.h"

#include <string.h>

enum { NONE = -1, DEPTH_MAX = 64 };

typedef struct element {
    int32_t open, close; /* tags; NONE: it has none in this sentence */
    int32_t parent;      /* NONE: the sentence */
    size_t a, b;         /* bytes of the source; the same: a point */
    size_t begin, end;   /* of the translation */
} element;

typedef struct tree {
    const rela_passages *p;
    const rela_passage *sentence;
    rela_span to;
    const rela_outcome_link *links;
    size_t n_links, len; /* of the source */
    element *items;
    size_t n;
    bool *done; /* (n) */
    rela_buffer *out;
} tree;

static void grow_tree(tree *t);
static void place(const tree *t, element *e);
static rela_status write_inside(tree *t, int32_t parent, size_t begin, size_t end, rela_error *err);

rela_status rela_markup_render(rela_buffer *out, const rela_passages *p,
                               const rela_passage *sentence, rela_span translation,
                               const rela_outcome_link *links, size_t n, rela_error *err)
{
    tree t = { .p = p,
               .sentence = sentence,
               .to = translation,
               .links = links,
               .n_links = n,
               .len = sentence->end - sentence->begin,
               .items = rela_mem_zalloc((sentence->n_tags + 1) * sizeof *t.items),
               .done = rela_mem_zalloc((sentence->n_tags + 1) * sizeof *t.done),
               .out = out };
    rela_status st = RELA_OK;
    if (!t.items || !t.done)
        st = rela_fail(err, RELA_NOMEM, "no memory for mark-up");
    if (st == RELA_OK) {
        grow_tree(&t);
        for (size_t i = 0; i < t.n; i++)
            place(&t, &t.items[i]);
        st = write_inside(&t, NONE, 0, translation.len, err);
    }
    rela_mem_free(t.items);
    rela_mem_free(t.done);
    return st;
}

/* ---- the tree ---- */

static const rela_passage_tag *tag_at(const tree *t, int32_t i)
{
    return &t->p->tags[t->sentence->tag + (size_t)i];
}

static rela_span name_of(const tree *t, int32_t i)
{
    const rela_passage_tag *tag = tag_at(t, i);
    const char *text = t->p->texts.data;
    return rela_markup_tag_read(text + tag->begin, text + tag->end).name;
}

static bool same_name(const tree *t, int32_t a, int32_t b)
{
    const rela_span x = name_of(t, a), y = name_of(t, b);
    char name[64] = "";
    if (y.len >= sizeof name)
        return x.len == y.len && memcmp(x.text, y.text, x.len) == 0;
    memcpy(name, y.text, y.len);
    return rela_http_same(x, name);
}

/* A closing tag: of the innermost open element with its name, which ends all inside of it. */
static void close_element(tree *t, int32_t tag, int32_t *open, size_t *depth)
{
    const size_t at = tag_at(t, tag)->at;
    for (size_t d = *depth; d-- > 0;) {
        element *e = &t->items[open[d]];
        if (!same_name(t, e->open, tag))
            continue;
        for (size_t k = d; k < *depth; k++)
            t->items[open[k]].b = at;
        e->close = tag;
        *depth = d;
        return;
    }
    element *e = &t->items[t->n];
    *e = (element){ .open = NONE, .close = tag, .parent = NONE, .a = at, .b = at };
    if (*depth == 0) { /* it was opened in a sentence before: all so far is inside */
        e->a = 0;
        for (size_t i = 0; i < t->n; i++)
            if (t->items[i].parent == NONE)
                t->items[i].parent = (int32_t)t->n;
    } else {
        e->parent = open[*depth - 1];
    }
    t->n++;
}

static void grow_tree(tree *t)
{
    int32_t open[DEPTH_MAX];
    size_t depth = 0;
    for (size_t k = 0; k < t->sentence->n_tags; k++) {
        const int32_t tag = (int32_t)k;
        const rela_passage_tag *g = tag_at(t, tag);
        if (g->kind == RELA_TAG_CLOSE) {
            close_element(t, tag, open, &depth);
            continue;
        }
        const bool opens = g->kind == RELA_TAG_OPEN && depth < DEPTH_MAX;
        t->items[t->n] = (element){ .open = tag,
                                    .close = NONE,
                                    .parent = depth ? open[depth - 1] : NONE,
                                    .a = g->at,
                                    .b = opens ? t->len : g->at };
        if (opens)
            open[depth++] = (int32_t)t->n;
        t->n++;
    }
}

/* ---- places in the translation ---- */

/* The beginning of the word at a share of the translation. */
static size_t in_proportion(const tree *t, size_t at)
{
    size_t i = t->len ? (size_t)((double)at / (double)t->len * (double)t->to.len) : 0;
    if (at == 0 || at >= t->len)
        return at == 0 ? 0 : t->to.len;
    while (i > 0 && i < t->to.len && t->to.text[i - 1] != ' ')
        i++;
    return i < t->to.len ? i : t->to.len;
}

/* A point stands after the word that it stands after in the source. */
static size_t place_point(const tree *t, size_t at)
{
    const rela_outcome_link *before = NULL, *after = NULL;
    if (at == 0 || at >= t->len)
        return at == 0 ? 0 : t->to.len;
    for (size_t i = 0; i < t->n_links; i++) {
        const rela_outcome_link *l = &t->links[i];
        if (l->source == l->source_end || l->target == l->target_end)
            continue;
        if (l->source >= at && (!after || l->source < after->source))
            after = l;
        if (l->source_end <= at && (!before || l->source_end > before->source_end))
            before = l;
    }
    if (after && after->source == at)
        return after->target;
    return before ? before->target_end : after ? after->target : in_proportion(t, at);
}

static void place(const tree *t, element *e)
{
    bool found = false;
    if (e->a == 0 && e->b >= t->len && t->len) {
        e->begin = 0;
        e->end = t->to.len;
        return;
    }
    if (e->a == e->b) {
        e->begin = e->end = place_point(t, e->a);
        return;
    }
    for (size_t i = 0; i < t->n_links; i++) {
        const rela_outcome_link *l = &t->links[i];
        if (l->source >= e->b || l->source_end <= e->a || l->target == l->target_end)
            continue;
        e->begin = !found || l->target < e->begin ? l->target : e->begin;
        e->end = !found || l->target_end > e->end ? l->target_end : e->end;
        found = true;
    }
    if (found)
        return;
    e->begin = in_proportion(t, e->a);
    e->end = in_proportion(t, e->b);
    while (e->end > e->begin && t->to.text[e->end - 1] == ' ')
        e->end--;
}

/* ---- writing ---- */

static rela_status write_text(tree *t, size_t begin, size_t end, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = begin; i < end && st == RELA_OK; i++) {
        const char c = t->to.text[i];
        st = c == '&'   ? rela_buffer_append_text(t->out, "&amp;", err)
             : c == '<' ? rela_buffer_append_text(t->out, "&lt;", err)
             : c == '>' ? rela_buffer_append_text(t->out, "&gt;", err)
                        : rela_buffer_append_char(t->out, c, err);
    }
    return st;
}

static rela_status write_tag(tree *t, int32_t tag, rela_error *err)
{
    if (tag == NONE)
        return RELA_OK;
    const rela_passage_tag *g = tag_at(t, tag);
    return rela_buffer_append(t->out, t->p->texts.data + g->begin, g->end - g->begin, err);
}

/* What was opened in a sentence before comes first, what is closed in one after it last. */
static int rank(const tree *t, const element *e)
{
    if (e->open == NONE && e->a == 0)
        return 0;
    return e->close == NONE && e->b >= t->len && e->a < e->b ? 2 : 1;
}

/* The element of a parent that comes first in the translation, of those that are left. */
static int32_t next_child(const tree *t, int32_t parent)
{
    int32_t best = NONE;
    for (size_t i = 0; i < t->n; i++) {
        const element *e = &t->items[i];
        if (t->done[i] || e->parent != parent)
            continue;
        const element *b = best == NONE ? NULL : &t->items[best];
        if (!b || rank(t, e) < rank(t, b) || (rank(t, e) == rank(t, b) && e->begin < b->begin))
            best = (int32_t)i;
    }
    return best;
}

/* Recurses as deeply as elements are nested: DEPTH_MAX, and once for each that was opened in a
 * sentence before; a sentence has few hundred tags. */
static rela_status write_inside(tree *t, int32_t parent, size_t begin, size_t end, rela_error *err)
{
    size_t at = begin;
    rela_status st = RELA_OK;
    for (int32_t i; st == RELA_OK && (i = next_child(t, parent)) != NONE;) {
        const element *e = &t->items[i];
        const size_t wanted = rank(t, e) == 0 ? at : e->begin;
        const size_t first = wanted < at ? at : wanted > end ? end : wanted;
        const size_t last = rank(t, e) == 2 || e->end > end ? end : e->end < first ? first : e->end;
        t->done[i] = true;
        st = write_text(t, at, first, err);
        st = st ? st : write_tag(t, e->open, err);
        st = st ? st : write_inside(t, i, first, last, err);
        st = st ? st : write_tag(t, e->close, err);
        at = last;
    }
    return st ? st : write_text(t, at, end, err);
}

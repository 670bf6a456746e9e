/* SPDX-License-Identifier: MIT */
/* src/align/lexicon.c - see lexicon.h. */
#include "align/lexicon.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1 << 12 };

/* A token pair and its co-occurrence count; count 0: an empty slot. */
typedef struct entry {
    uint32_t src, tgt;
    uint64_t count;
} entry;

struct rela_lexicon {
    const rela_vocab *src, *tgt;
    uint64_t *seen; /* (target vocabulary) */
    entry *slots;   /* (n_slots) open addressing; a power of two, at most half full */
    size_t n_slots, n;
};

/* Working memory of rela_lexicon_shortlist. */
typedef struct builder {
    const rela_lexicon *l;
    entry *sorted; /* (n) by source token, then by descending count */
    entry *ranked; /* (target vocabulary) by descending count */
    uint8_t *is_frequent;
    int32_t *frequent, *first, *words;
    size_t n_frequent, n_words;
} builder;

static size_t find_slot(const rela_lexicon *l, uint32_t src, uint32_t tgt);
static rela_status grow(rela_lexicon *l, rela_error *err);
static rela_status make_room(builder *m, size_t best, rela_error *err);
static void choose_frequent(builder *m, size_t most);
static void choose_words(builder *m, size_t most);

rela_status rela_lexicon_create(rela_lexicon **out, const rela_vocab *src, const rela_vocab *tgt,
                                rela_error *err)
{
    *out = NULL;
    rela_lexicon *l = rela_mem_zalloc(sizeof *l);
    if (l) {
        *l = (rela_lexicon){ .src = src, .tgt = tgt, .n_slots = FIRST_SLOTS };
        l->seen = rela_mem_zalloc(rela_vocab_size(tgt) * sizeof *l->seen);
        l->slots = rela_mem_zalloc(l->n_slots * sizeof *l->slots);
    }
    if (!l || !l->seen || !l->slots) {
        rela_lexicon_destroy(l);
        return rela_fail(err, RELA_NOMEM, "no memory for a lexicon");
    }
    *out = l;
    return RELA_OK;
}

void rela_lexicon_destroy(rela_lexicon *l)
{
    if (!l)
        return;
    rela_mem_free(l->seen);
    rela_mem_free(l->slots);
    rela_mem_free(l);
}

void rela_lexicon_add(rela_lexicon *l, uint32_t tgt)
{
    l->seen[tgt]++;
}

rela_status rela_lexicon_link(rela_lexicon *l, uint32_t src, uint32_t tgt, rela_error *err)
{
    const rela_status st = 2 * (l->n + 1) > l->n_slots ? grow(l, err) : RELA_OK;
    if (st != RELA_OK)
        return st;
    entry *e = &l->slots[find_slot(l, src, tgt)];
    l->n += e->count == 0;
    *e = (entry){ src, tgt, e->count + 1 };
    return RELA_OK;
}

/* The slot of the pair, or the empty slot where it belongs. */
static size_t find_slot(const rela_lexicon *l, uint32_t src, uint32_t tgt)
{
    uint64_t h = ((uint64_t)src << 32 | tgt) * 0x9E3779B97F4A7C15u;
    h ^= h >> 32;
    size_t at = (size_t)h & (l->n_slots - 1);
    while (l->slots[at].count && (l->slots[at].src != src || l->slots[at].tgt != tgt))
        at = (at + 1) & (l->n_slots - 1);
    return at;
}

static rela_status grow(rela_lexicon *l, rela_error *err)
{
    rela_lexicon more = { .n_slots = 2 * l->n_slots };
    more.slots = rela_mem_zalloc(more.n_slots * sizeof *more.slots);
    if (!more.slots)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu pairs of symbols", l->n);
    for (size_t i = 0; i < l->n_slots; i++)
        if (l->slots[i].count)
            more.slots[find_slot(&more, l->slots[i].src, l->slots[i].tgt)] = l->slots[i];
    rela_mem_free(l->slots);
    l->slots = more.slots;
    l->n_slots = more.n_slots;
    return RELA_OK;
}

/* ---- a shortlist ---- */

rela_status rela_lexicon_shortlist(rela_shortlist **out, const rela_lexicon *l, size_t frequent,
                                   size_t best, rela_error *err)
{
    builder m = { .l = l };
    rela_shortlist_parts parts = { .n_frequent = 0 };
    *out = NULL;
    rela_status st = make_room(&m, best, err);
    st = st ? st : rela_vocab_pair_init(&parts.vocab, l->src, l->tgt, err);
    if (st == RELA_OK) {
        choose_frequent(&m, frequent);
        choose_words(&m, best);
        parts.frequent = m.frequent;
        parts.n_frequent = m.n_frequent;
        parts.first = m.first;
        parts.words = m.words;
        st = rela_shortlist_create(out, &parts, err);
    }
    rela_mem_free(m.sorted);
    rela_mem_free(m.ranked);
    rela_mem_free(m.is_frequent);
    rela_mem_free(m.frequent);
    rela_mem_free(m.first);
    rela_mem_free(m.words);
    return st;
}

static int by_count(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->tgt < y->tgt ? -1 : x->tgt > y->tgt;
}

static rela_status make_room(builder *m, size_t best, rela_error *err)
{
    const rela_lexicon *l = m->l;
    const size_t n_src = rela_vocab_size(l->src), n_tgt = rela_vocab_size(l->tgt);
    size_t words = 0, n = 0;
    m->sorted = rela_mem_array(l->n + 1, sizeof *m->sorted);
    m->ranked = rela_mem_array(n_tgt, sizeof *m->ranked);
    m->is_frequent = rela_mem_zalloc(n_tgt);
    m->frequent = rela_mem_array(n_tgt, sizeof *m->frequent);
    m->first = rela_mem_array(n_src + 1, sizeof *m->first);
    for (size_t i = 0; m->sorted && i < l->n_slots; i++)
        if (l->slots[i].count)
            m->sorted[n++] = l->slots[i];
    if (m->sorted)
        qsort(m->sorted, n, sizeof *m->sorted, by_count);
    for (size_t i = 0, own = 0; m->sorted && i < n; i++) {
        own = i > 0 && m->sorted[i - 1].src == m->sorted[i].src ? own + 1 : 0;
        words += own < best;
    }
    m->words = rela_mem_array(words + n_src + 1, sizeof *m->words); /* + n_src: of the same text */
    if (words + n_src > INT32_MAX)
        return rela_fail(err, RELA_UNSUP, "a shortlist of %zu symbols; expected at most %d", words,
                         (int)INT32_MAX);
    return m->sorted && m->ranked && m->is_frequent && m->frequent && m->first && m->words
               ? RELA_OK
               : rela_fail(err, RELA_NOMEM, "no memory for a shortlist");
}

/* Special symbols count as 0: every list has them anyway. */
static void choose_frequent(builder *m, size_t most)
{
    const size_t n_tgt = rela_vocab_size(m->l->tgt);
    for (size_t i = 0; i < n_tgt; i++)
        m->ranked[i] =
            (entry){ .tgt = (uint32_t)i, .count = i < RELA_SHORTLIST_SPECIAL ? 0 : m->l->seen[i] };
    qsort(m->ranked, n_tgt, sizeof *m->ranked, by_count);
    for (size_t i = 0; i < most && i < n_tgt && m->ranked[i].count; i++)
        m->is_frequent[m->ranked[i].tgt] = 1;
    for (size_t i = 0; i < n_tgt; i++)
        if (m->is_frequent[i])
            m->frequent[m->n_frequent++] = (int32_t)i;
}

static int ascending(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Adds a token to the list that starts at `first`, without duplicates. */
static void add(builder *m, size_t first, int32_t tgt)
{
    if (tgt < RELA_SHORTLIST_SPECIAL || m->is_frequent[tgt])
        return;
    for (size_t i = first; i < m->n_words; i++)
        if (m->words[i] == tgt)
            return;
    m->words[m->n_words++] = tgt;
}

static void choose_words(builder *m, size_t most)
{
    const rela_lexicon *l = m->l;
    size_t at = 0;
    for (size_t s = 0; s < rela_vocab_size(l->src); s++) {
        const size_t first = m->n_words;
        m->first[s] = (int32_t)first;
        for (; at < l->n && m->sorted[at].src == s; at++)
            if (m->n_words - first < most)
                add(m, first, (int32_t)m->sorted[at].tgt);
        const char *text = rela_vocab_token(l->src, (int32_t)s);
        add(m, first, rela_vocab_find(l->tgt, text, strlen(text)));
        qsort(m->words + first, m->n_words - first, sizeof *m->words, ascending);
    }
    m->first[rela_vocab_size(l->src)] = (int32_t)m->n_words;
}

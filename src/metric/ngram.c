/* SPDX-License-Identifier: MIT */
/* src/metric/ngram.c - see ngram.h. */
#include "metric/ngram.h"

#include "base/map.h"
#include "base/mem.h"

#include <stdbool.h>
#include <string.h>

static const uint32_t NONE = UINT32_MAX;

enum {
    SLOTS_MIN = 64,
    SLOTS_START_MAX = 1 << 16 /* grows beyond it only for more distinct n-grams */
};

typedef struct node {
    uint32_t limit; /* largest count in one reference */
    uint32_t count; /* in the reference below */
    uint32_t reference;
    uint32_t used; /* matched by the hypothesis so far */
} node;

typedef struct slot {
    uint64_t key;
    uint32_t number; /* NONE: free */
    uint32_t check;  /* words: length; n-grams: unused */
} slot;

/* Open addressing, at most half full; room for cap slots, of which mask + 1 are in use. */
typedef struct table {
    slot *slots;
    size_t mask, cap;
    size_t n;
} table;

struct rela_ngrams {
    table grams, words;
    node *nodes; /* the roots first */
    size_t n_nodes, cap_nodes;
    rela_buffer text; /* bytes of the words */
    size_t *word_at;  /* offset of a word in text */
    size_t cap_words;
    uint32_t *walk; /* node reached from each position */
    size_t cap_walk;
};

static rela_status clear_table(table *t, size_t expected, rela_error *err);
static bool resize_table(table *t, size_t n_slots);
static bool grow_table(table *t);
static size_t place(const table *t, uint64_t key);
static slot *find_gram(const table *t, uint64_t key);
static slot *find_word(const rela_ngrams *g, uint64_t hash, const char *bytes, size_t len);
static uint32_t add_node(rela_ngrams *g, uint32_t prefix, uint32_t symbol);
static rela_status start_walk(rela_ngrams *g, rela_ngram_root root, size_t n, rela_error *err);

rela_ngrams *rela_ngrams_create(void)
{
    return rela_mem_zalloc(sizeof(rela_ngrams));
}

void rela_ngrams_destroy(rela_ngrams *g)
{
    if (!g)
        return;
    rela_mem_free(g->grams.slots);
    rela_mem_free(g->words.slots);
    rela_mem_free(g->nodes);
    rela_mem_free(g->word_at);
    rela_mem_free(g->walk);
    rela_buffer_free(&g->text);
    rela_mem_free(g);
}

rela_status rela_ngrams_clear(rela_ngrams *g, size_t expected, rela_error *err)
{
    rela_status st = clear_table(&g->grams, expected, err);
    if (st == RELA_OK)
        st = clear_table(&g->words, 0, err);
    if (st != RELA_OK)
        return st;
    node *nodes = rela_mem_grow(g->nodes, &g->cap_nodes, RELA_NGRAM_N_ROOTS, sizeof *nodes);
    if (!nodes)
        return rela_fail(err, RELA_NOMEM, "no memory for n-grams");
    g->nodes = nodes;
    g->n_nodes = RELA_NGRAM_N_ROOTS;
    rela_buffer_clear(&g->text);
    return RELA_OK;
}

rela_status rela_ngrams_word(uint32_t *symbol, rela_ngrams *g, const char *bytes, size_t len,
                             rela_error *err)
{
    const uint64_t hash = rela_map_hash(bytes, len);
    slot *s = find_word(g, hash, bytes, len);
    *symbol = s->number;
    if (s->number != NONE)
        return RELA_OK;
    size_t *at = rela_mem_grow(g->word_at, &g->cap_words, g->words.n + 1, sizeof *at);
    if (at)
        g->word_at = at;
    if (!at || len > UINT32_MAX || !grow_table(&g->words))
        return rela_fail(err, RELA_NOMEM, "no memory for %zu words", g->words.n + 1);
    const size_t offset = g->text.len;
    const rela_status st = rela_buffer_append(&g->text, bytes, len, err);
    if (st != RELA_OK)
        return st;
    *symbol = (uint32_t)g->words.n++;
    g->word_at[*symbol] = offset;
    *find_word(g, hash, bytes, len) = (slot){ hash, *symbol, (uint32_t)len };
    return RELA_OK;
}

rela_status rela_ngrams_learn(rela_ngrams *g, rela_ngram_root root, const uint32_t *symbols,
                              size_t n, size_t max_order, uint32_t reference, rela_error *err)
{
    const rela_status st = start_walk(g, root, n, err);
    if (st != RELA_OK)
        return st;
    for (size_t order = 1; order <= max_order && order <= n; order++)
        for (size_t i = 0; i + order <= n; i++) {
            const uint32_t at = add_node(g, g->walk[i], symbols[i + order - 1]);
            if (at == NONE)
                return rela_fail(err, RELA_NOMEM, "no memory for %zu n-grams", g->n_nodes);
            node *e = &g->nodes[at];
            if (e->reference != reference) {
                e->reference = reference;
                e->count = 0;
            }
            if (++e->count > e->limit)
                e->limit = e->count;
            g->walk[i] = at;
        }
    return RELA_OK;
}

rela_status rela_ngrams_match(uint32_t *match, rela_ngrams *g, rela_ngram_root root,
                              const uint32_t *symbols, size_t n, size_t max_order, rela_error *err)
{
    const rela_status st = start_walk(g, root, n, err);
    if (st != RELA_OK)
        return st;
    memset(match, 0, max_order * sizeof *match);
    for (size_t order = 1; order <= max_order && order <= n; order++)
        for (size_t i = 0; i + order <= n; i++) {
            const uint32_t symbol = symbols[i + order - 1];
            if (g->walk[i] == NONE) /* no reference has its prefix */
                continue;
            const uint32_t at = find_gram(&g->grams, (uint64_t)g->walk[i] << 32 | symbol)->number;
            g->walk[i] = at;
            if (at != NONE && g->nodes[at].used < g->nodes[at].limit) {
                g->nodes[at].used++;
                match[order - 1]++;
            }
        }
    return RELA_OK;
}

static rela_status clear_table(table *t, size_t expected, rela_error *err)
{
    size_t n = SLOTS_MIN;
    while (n / 2 < expected && n < SLOTS_START_MAX)
        n *= 2;
    t->n = 0;
    if (n > t->cap) {
        rela_mem_free(t->slots); /* nothing in it is needed any more */
        t->slots = rela_mem_array(n, sizeof *t->slots);
        t->cap = t->slots ? n : 0;
        if (!t->slots)
            return rela_fail(err, RELA_NOMEM, "no memory for n-grams");
    }
    t->mask = n - 1;
    memset(t->slots, 0xFF, n * sizeof *t->slots); /* number == NONE everywhere */
    return RELA_OK;
}

static bool grow_table(table *t)
{
    return (t->n + 1) * 2 <= t->mask + 1 || resize_table(t, (t->mask + 1) * 2);
}

static bool resize_table(table *t, size_t n_slots)
{
    slot *old = t->slots;
    const size_t n_old = t->mask + 1;
    slot *slots = t->n < NONE / 2 ? rela_mem_array(n_slots, sizeof *slots) : NULL;
    if (!slots)
        return false;
    memset(slots, 0xFF, n_slots * sizeof *slots);
    t->slots = slots;
    t->mask = n_slots - 1;
    t->cap = n_slots;
    for (size_t i = 0; i < n_old; i++) {
        if (old[i].number == NONE)
            continue;
        size_t at = place(t, old[i].key); /* keys differ, unless they are equal hashes of words */
        while (slots[at].number != NONE)
            at = (at + 1) & t->mask;
        slots[at] = old[i];
    }
    rela_mem_free(old);
    return true;
}

/* Keys of similar n-grams differ in few bits, so they are mixed before the low bits are taken. */
static size_t place(const table *t, uint64_t key)
{
    key ^= key >> 32;
    key *= 0xD6E8FEB86659FD93u;
    key ^= key >> 32;
    return (size_t)key & t->mask;
}

/* The slot with the key, or the free one where it belongs. */
static slot *find_gram(const table *t, uint64_t key)
{
    size_t i = place(t, key);
    while (t->slots[i].number != NONE && t->slots[i].key != key)
        i = (i + 1) & t->mask;
    return &t->slots[i];
}

static slot *find_word(const rela_ngrams *g, uint64_t hash, const char *bytes, size_t len)
{
    const table *t = &g->words;
    for (size_t i = place(t, hash);; i = (i + 1) & t->mask) {
        slot *s = &t->slots[i];
        if (s->number == NONE)
            return s;
        if (s->key == hash && s->check == len &&
            memcmp(g->text.data + g->word_at[s->number], bytes, len) == 0)
            return s;
    }
}

/* The node below prefix for the symbol, made if it is new; NONE when out of memory. */
static uint32_t add_node(rela_ngrams *g, uint32_t prefix, uint32_t symbol)
{
    const uint64_t key = (uint64_t)prefix << 32 | symbol;
    slot *s = find_gram(&g->grams, key);
    if (s->number != NONE)
        return s->number;
    if (g->n_nodes == g->cap_nodes) {
        node *nodes = rela_mem_grow(g->nodes, &g->cap_nodes, g->n_nodes + 1, sizeof *nodes);
        if (!nodes)
            return NONE;
        g->nodes = nodes;
    }
    if (!grow_table(&g->grams))
        return NONE;
    g->nodes[g->n_nodes] = (node){ 0, 0, UINT32_MAX, 0 };
    *find_gram(&g->grams, key) = (slot){ key, (uint32_t)g->n_nodes, 0 };
    g->grams.n++;
    return (uint32_t)g->n_nodes++;
}

static rela_status start_walk(rela_ngrams *g, rela_ngram_root root, size_t n, rela_error *err)
{
    uint32_t *walk = rela_mem_grow(g->walk, &g->cap_walk, n, sizeof *walk);
    if (!walk)
        return rela_fail(err, RELA_NOMEM, "no memory for a segment of %zu symbols", n);
    g->walk = walk;
    for (size_t i = 0; i < n; i++)
        g->walk[i] = (uint32_t)root;
    return RELA_OK;
}

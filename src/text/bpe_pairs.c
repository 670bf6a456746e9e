/* SPDX-License-Identifier: MIT */
/* src/text/bpe_pairs.c - see bpe_pairs.h.
 *
 * A heap holds (frequency, pair) for the active pairs at or above the threshold. A pair
 * whose frequency rises is pushed again; a fall is noticed when its entry comes to the top. */
#include "text/bpe_pairs.h"

#include "base/mem.h"
#include "text/bpe.h"

#include <string.h>

enum { SLOTS_MIN = 1 << 12, LIST_CLASSES = 32, PRUNE_SCALE = 10000, FIRST_SHARE = 10 };

typedef struct slot {
    uint32_t tag;
    uint32_t number; /* RELA_PAIR_NONE: free */
} slot;

typedef struct heap_item {
    int64_t freq;
    uint32_t pair;
} heap_item;

typedef struct id_list {
    uint32_t *ids;
    size_t n, cap;
} id_list;

struct rela_bpe_pairs {
    const rela_map *symbols;
    rela_symbol_pair *pairs;
    size_t n, cap;
    slot *slots;
    size_t mask;
    uint32_t *pool; /* all lists of words; blocks of 1 << class entries */
    size_t n_pool, cap_pool;
    uint32_t free_block[LIST_CLASSES]; /* by class; linked through their first entry */
    id_list taken, changed, raised;
    heap_item *heap;
    size_t n_heap, cap_heap;
    double threshold;
};

static bool rehash(rela_bpe_pairs *p, size_t n_slots);
static bool list_grow(rela_bpe_pairs *p, rela_symbol_pair *pair);
static bool append(id_list *list, uint32_t id);
static void prune(rela_symbol_pair *pair);
static bool refill(rela_bpe_pairs *p, uint64_t n_merges);
static bool heap_push(rela_bpe_pairs *p, heap_item item);
static void heap_sink(const rela_bpe_pairs *p, size_t i);
static bool before(const rela_bpe_pairs *p, heap_item a, heap_item b);
static int compare_symbols(const rela_map *symbols, uint32_t a, uint32_t b);

rela_bpe_pairs *rela_bpe_pairs_create(const rela_map *symbols)
{
    rela_bpe_pairs *p = rela_mem_zalloc(sizeof *p);
    if (!p)
        return NULL;
    p->symbols = symbols;
    memset(p->free_block, 0xFF, sizeof p->free_block); /* RELA_PAIR_NONE everywhere */
    if (!rehash(p, SLOTS_MIN)) {
        rela_bpe_pairs_destroy(p);
        return NULL;
    }
    return p;
}

void rela_bpe_pairs_destroy(rela_bpe_pairs *p)
{
    if (!p)
        return;
    rela_mem_free(p->pairs);
    rela_mem_free(p->slots);
    rela_mem_free(p->pool);
    rela_mem_free(p->taken.ids);
    rela_mem_free(p->changed.ids);
    rela_mem_free(p->raised.ids);
    rela_mem_free(p->heap);
    rela_mem_free(p);
}

uint32_t rela_bpe_pairs_add(rela_bpe_pairs *p, uint32_t left, uint32_t right)
{
    const uint64_t hash = rela_pair_hash(left, right);
    const uint32_t tag = (uint32_t)(hash >> 32);
    size_t i = hash & p->mask;
    for (; p->slots[i].number != RELA_PAIR_NONE; i = (i + 1) & p->mask) {
        if (p->slots[i].tag != tag)
            continue;
        const rela_symbol_pair *pair = &p->pairs[p->slots[i].number];
        if (pair->left == left && pair->right == right)
            return p->slots[i].number;
    }
    if (p->n >= RELA_PAIR_NONE - 1u)
        return RELA_PAIR_NONE;
    rela_symbol_pair *pairs = rela_mem_grow(p->pairs, &p->cap, p->n + 1, sizeof *pairs);
    if (!pairs)
        return RELA_PAIR_NONE;
    p->pairs = pairs;
    const uint32_t number = (uint32_t)p->n;
    p->pairs[p->n++] = (rela_symbol_pair){ .left = left, .right = right };
    p->slots[i] = (slot){ tag, number };
    if (p->n * 2 > p->mask && !rehash(p, (p->mask + 1) * 2)) {
        p->slots[i].number = RELA_PAIR_NONE;
        p->n--;
        return RELA_PAIR_NONE;
    }
    return number;
}

rela_symbol_pair *rela_bpe_pairs_at(rela_bpe_pairs *p, uint32_t number)
{
    return &p->pairs[number];
}

bool rela_bpe_pairs_change(rela_bpe_pairs *p, uint32_t number, int64_t by)
{
    rela_symbol_pair *pair = &p->pairs[number];
    if (!pair->active)
        pair->reduced = 0;
    pair->active = 1;
    pair->reduced += by;
    if (!pair->noted) {
        if (!append(&p->changed, number))
            return false;
        pair->noted = 1;
    }
    if (by > 0 && !pair->raised) {
        if (!append(&p->raised, number))
            return false;
        pair->raised = 1;
    }
    return true;
}

bool rela_bpe_pairs_clear(rela_bpe_pairs *p, uint32_t number)
{
    const rela_symbol_pair *pair = &p->pairs[number];
    return rela_bpe_pairs_change(p, number, pair->active ? -pair->reduced : 0);
}

bool rela_bpe_pairs_remember(rela_bpe_pairs *p, uint32_t number, uint32_t word)
{
    rela_symbol_pair *pair = &p->pairs[number];
    if (pair->n_words && p->pool[pair->words + pair->n_words - 1] == word)
        return true;
    if ((pair->cap_log == 0 || pair->n_words == 1u << pair->cap_log) && !list_grow(p, pair))
        return false;
    p->pool[pair->words + pair->n_words++] = word;
    return true;
}

const uint32_t *rela_bpe_pairs_take(rela_bpe_pairs *p, uint32_t number, size_t *n)
{
    rela_symbol_pair *pair = &p->pairs[number];
    *n = pair->n_words;
    uint32_t *ids = rela_mem_grow(p->taken.ids, &p->taken.cap, *n + 1, sizeof *ids);
    if (!ids)
        return NULL;
    p->taken.ids = ids;
    if (pair->cap_log) {
        memcpy(ids, p->pool + pair->words, *n * sizeof *ids);
        p->pool[pair->words] = p->free_block[pair->cap_log];
        p->free_block[pair->cap_log] = pair->words;
    }
    pair->n_words = 0;
    pair->cap_log = 0;
    return ids;
}

bool rela_bpe_pairs_start(rela_bpe_pairs *p)
{
    int64_t most = 0;
    for (size_t i = 0; i < p->n; i++) {
        p->pairs[i].full = p->pairs[i].reduced;
        most = p->pairs[i].full > most ? p->pairs[i].full : most;
    }
    p->threshold = (double)most / FIRST_SHARE;
    return rela_bpe_pairs_settle(p, false);
}

bool rela_bpe_pairs_best(rela_bpe_pairs *p, uint64_t n_merges, uint32_t *best)
{
    for (int round = 0; round < 2; round++) {
        while (p->n_heap) {
            const heap_item top = p->heap[0];
            const rela_symbol_pair *pair = &p->pairs[top.pair];
            if (pair->active && pair->reduced == top.freq) {
                *best = top.pair;
                return true;
            }
            /* Fallen: goes back with its current frequency. Risen, or no longer in the reduced
             * table: the entry is stale and dropped. */
            if (pair->active && pair->reduced < top.freq && (double)pair->reduced >= p->threshold)
                p->heap[0].freq = pair->reduced;
            else
                p->heap[0] = p->heap[--p->n_heap];
            heap_sink(p, 0);
        }
        if (round == 0 && !refill(p, n_merges))
            return false;
    }
    *best = RELA_PAIR_NONE;
    return true;
}

bool rela_bpe_pairs_settle(rela_bpe_pairs *p, bool prune_now)
{
    for (size_t i = 0; i < p->raised.n; i++) {
        rela_symbol_pair *pair = &p->pairs[p->raised.ids[i]];
        pair->raised = 0;
        const heap_item item = { pair->reduced, p->raised.ids[i] };
        if ((double)pair->reduced >= p->threshold && !heap_push(p, item))
            return false;
    }
    p->raised.n = 0;
    if (!prune_now)
        return true;
    for (size_t i = 0; i < p->changed.n; i++) {
        rela_symbol_pair *pair = &p->pairs[p->changed.ids[i]];
        pair->noted = 0;
        if (pair->active && (double)pair->reduced < p->threshold)
            prune(pair);
    }
    p->changed.n = 0;
    return true;
}

static bool rehash(rela_bpe_pairs *p, size_t n_slots)
{
    slot *slots = rela_mem_array(n_slots, sizeof *slots);
    if (!slots)
        return false;
    memset(slots, 0xFF, n_slots * sizeof *slots); /* number == RELA_PAIR_NONE everywhere */
    for (size_t k = 0; k < p->n; k++) {
        const uint64_t hash = rela_pair_hash(p->pairs[k].left, p->pairs[k].right);
        size_t i = hash & (n_slots - 1);
        while (slots[i].number != RELA_PAIR_NONE)
            i = (i + 1) & (n_slots - 1);
        slots[i] = (slot){ (uint32_t)(hash >> 32), (uint32_t)k };
    }
    rela_mem_free(p->slots);
    p->slots = slots;
    p->mask = n_slots - 1;
    return true;
}

/* Moves the list of a pair to a block of twice the size. */
static bool list_grow(rela_bpe_pairs *p, rela_symbol_pair *pair)
{
    const unsigned class = pair->cap_log + 1u;
    const size_t size = (size_t)1 << class;
    uint32_t to = p->free_block[class];
    if (to != RELA_PAIR_NONE) {
        p->free_block[class] = p->pool[to];
    } else {
        if (class >= LIST_CLASSES - 1 || p->n_pool + size >= RELA_PAIR_NONE)
            return false;
        uint32_t *pool = rela_mem_grow(p->pool, &p->cap_pool, p->n_pool + size, sizeof *pool);
        if (!pool)
            return false;
        p->pool = pool;
        to = (uint32_t)p->n_pool;
        p->n_pool += size;
    }
    if (pair->cap_log) {
        memcpy(p->pool + to, p->pool + pair->words, pair->n_words * sizeof *p->pool);
        p->pool[pair->words] = p->free_block[pair->cap_log];
        p->free_block[pair->cap_log] = pair->words;
    }
    pair->words = to;
    pair->cap_log = class & 31u;
    return true;
}

static bool append(id_list *list, uint32_t id)
{
    uint32_t *ids = rela_mem_grow(list->ids, &list->cap, list->n + 1, sizeof *ids);
    if (!ids)
        return false;
    list->ids = ids;
    list->ids[list->n++] = id;
    return true;
}

static void prune(rela_symbol_pair *pair)
{
    pair->active = 0;
    pair->full = pair->reduced < 0 ? pair->full + pair->reduced : pair->reduced;
}

/* Rebuilds the reduced table from the full one, with a new threshold. */
static bool refill(rela_bpe_pairs *p, uint64_t n_merges)
{
    static const int64_t LEAST = INT64_MIN / 4;
    int64_t most = INT64_MIN;
    for (size_t i = 0; i < p->n; i++) {
        rela_symbol_pair *pair = &p->pairs[i];
        if (pair->active)
            prune(pair);
        pair->noted = 0;
        most = pair->full > most ? pair->full : most;
    }
    p->changed.n = 0;
    p->n_heap = 0;
    p->threshold = (double)most * (double)n_merges / ((double)n_merges + PRUNE_SCALE);
    for (size_t i = 0; i < p->n; i++) {
        rela_symbol_pair *pair = &p->pairs[i];
        if ((double)pair->full < p->threshold) {
            /* subword-nmt copies the full table and prunes the copy, which adds a negative
             * frequency to its original. */
            if (pair->full < 0 && pair->full > LEAST)
                pair->full *= 2;
            continue;
        }
        pair->active = 1;
        pair->reduced = pair->full;
        if (!heap_push(p, (heap_item){ pair->reduced, (uint32_t)i }))
            return false;
    }
    return true;
}

static bool heap_push(rela_bpe_pairs *p, heap_item item)
{
    heap_item *heap = rela_mem_grow(p->heap, &p->cap_heap, p->n_heap + 1, sizeof *heap);
    if (!heap)
        return false;
    p->heap = heap;
    size_t i = p->n_heap++;
    for (; i > 0 && before(p, item, heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = item;
    return true;
}

static void heap_sink(const rela_bpe_pairs *p, size_t i)
{
    if (i >= p->n_heap)
        return;
    const heap_item item = p->heap[i];
    for (size_t child = 2 * i + 1; child < p->n_heap; child = 2 * i + 1) {
        if (child + 1 < p->n_heap && before(p, p->heap[child + 1], p->heap[child]))
            child++;
        if (!before(p, p->heap[child], item))
            break;
        p->heap[i] = p->heap[child];
        i = child;
    }
    p->heap[i] = item;
}

/* More frequent first; on a tie, the pair whose texts compare greater. */
static bool before(const rela_bpe_pairs *p, heap_item a, heap_item b)
{
    if (a.freq != b.freq)
        return a.freq > b.freq;
    const rela_symbol_pair *x = &p->pairs[a.pair], *y = &p->pairs[b.pair];
    const int d = compare_symbols(p->symbols, x->left, y->left);
    return d ? d > 0 : compare_symbols(p->symbols, x->right, y->right) > 0;
}

/* By code points, which is the byte order of UTF-8. */
static int compare_symbols(const rela_map *symbols, uint32_t a, uint32_t b)
{
    if (a == b)
        return 0;
    const rela_span x = rela_map_key(symbols, a), y = rela_map_key(symbols, b);
    const size_t n = x.len < y.len ? x.len : y.len;
    const int d = memcmp(x.text, y.text, n);
    return d ? d : x.len < y.len ? -1 : x.len > y.len;
}

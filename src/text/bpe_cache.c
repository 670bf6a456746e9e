/* SPDX-License-Identifier: MIT */
/* src/text/bpe_cache.c - see bpe_cache.h. */
#include "text/bpe_cache.h"

#include "base/map.h"
#include "base/mem.h"

#include <endian.h>
#include <stdatomic.h>
#include <string.h>

enum {
    WORDS_MAX = 1 << 18,
    N_SLOTS = 2 * WORDS_MAX,
    SLOT_MASK = N_SLOTS - 1,
    TEXT_START = 8,     /* offset 0 marks a free slot */
    TEXT_MAX = 1 << 24, /* bytes of keys and values */
    KEY_MAX = 255,      /* longer words are not worth keeping */
    SHORT = 16
};

typedef struct slot {
    _Atomic uint64_t word; /* upper half of the hash, then the entry's offset in text; 0: free */
} slot;

typedef struct head {
    rela_cache_ends ends;
    uint16_t key_len, value_len;
} head;

/* Both tables are allocated at full size, but unused pages are never touched. So nothing ever
 * moves, and an entry never changes once its slot is set: readers need no lock. */
struct rela_bpe_cache {
    slot *slots;
    char *text; /* entries: head, key unless it is short, value, padded */
    _Atomic size_t n, used;
};

static inline rela_span get(const rela_bpe_cache *c, const rela_cache_query *q);
static inline rela_cache_ends read_ends(rela_span key, const char *floor);
static inline uint64_t hash(rela_span key, rela_cache_ends ends);
static size_t make_room(rela_bpe_cache *c, size_t len);

rela_bpe_cache *rela_bpe_cache_create(void)
{
    rela_bpe_cache *c = rela_mem_zalloc(sizeof *c);
    if (!c)
        return NULL;
    atomic_init(&c->used, TEXT_START);
    c->slots = rela_mem_zalloc(N_SLOTS * sizeof *c->slots);
    c->text = rela_mem_alloc(TEXT_MAX);
    if (!c->slots || !c->text) {
        rela_bpe_cache_destroy(c);
        return NULL;
    }
    return c;
}

void rela_bpe_cache_destroy(rela_bpe_cache *c)
{
    if (!c)
        return;
    rela_mem_free(c->slots);
    rela_mem_free(c->text);
    rela_mem_free(c);
}

void rela_bpe_cache_find(const rela_bpe_cache *c, rela_cache_query *queries, size_t n,
                         const char *floor)
{
    for (size_t i = 0; i < n; i++) {
        rela_cache_query *q = &queries[i];
        q->ends = read_ends(q->key, floor);
        q->hash = hash(q->key, q->ends);
        __builtin_prefetch(&c->slots[q->hash & SLOT_MASK]);
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t word =
            atomic_load_explicit(&c->slots[queries[i].hash & SLOT_MASK].word, memory_order_relaxed);
        if (word)
            __builtin_prefetch(c->text + (uint32_t)word);
    }
    for (size_t i = 0; i < n; i++)
        queries[i].value = get(c, &queries[i]);
}

void rela_bpe_cache_find_again(const rela_bpe_cache *c, rela_cache_query *query)
{
    query->value = get(c, query);
}

void rela_bpe_cache_put(rela_bpe_cache *c, const rela_cache_query *query, rela_span value)
{
    const rela_span key = query->key;
    const head h = { query->ends, (uint16_t)key.len, (uint16_t)value.len };
    const size_t rest = key.len > SHORT ? key.len : 0;
    if (key.len > KEY_MAX || value.len > UINT16_MAX)
        return;
    const size_t padded = value.len > RELA_CACHE_PAD ? value.len : RELA_CACHE_PAD;
    const size_t at = make_room(c, sizeof h + rest + padded);
    if (at == 0)
        return;
    char *entry = c->text + at;
    memcpy(entry, &h, sizeof h);
    memcpy(entry + sizeof h, key.text, rest);
    memcpy(entry + sizeof h + rest, value.text, value.len);
    /* Another thread may be adding the same word; a duplicate entry does no harm. */
    const uint64_t word = (query->hash >> 32 << 32) | at;
    uint64_t free_slot = 0;
    size_t i = query->hash & SLOT_MASK;
    while (!atomic_compare_exchange_strong_explicit(&c->slots[i].word, &free_slot, word,
                                                    memory_order_release, memory_order_relaxed)) {
        free_slot = 0;
        i = (i + 1) & SLOT_MASK;
    }
}

static inline rela_span get(const rela_bpe_cache *c, const rela_cache_query *q)
{
    const uint64_t tag = q->hash >> 32;
    for (size_t i = q->hash & SLOT_MASK;; i = (i + 1) & SLOT_MASK) {
        const uint64_t word = atomic_load_explicit(&c->slots[i].word, memory_order_acquire);
        if (word == 0)
            return (rela_span){ NULL, 0 };
        if (word >> 32 != tag)
            continue;
        const char *entry = c->text + (uint32_t)word;
        head h;
        memcpy(&h, entry, sizeof h);
        entry += sizeof h;
        if (h.key_len != q->key.len || h.ends.first != q->ends.first || h.ends.last != q->ends.last)
            continue;
        if (h.key_len <= SHORT)
            return (rela_span){ entry, h.value_len };
        if (memcmp(entry, q->key.text, h.key_len) == 0)
            return (rela_span){ entry + h.key_len, h.value_len };
    }
}

/* The first and last eight bytes, which may overlap; for a shorter key, all bytes in both. */
static inline rela_cache_ends read_ends(rela_span key, const char *floor)
{
    const char *end = key.text + key.len;
    rela_cache_ends e = { 0, 0 };
    if (end - floor < 8) {
        memcpy(&e.last, key.text, key.len);
        e.last = le64toh(e.last);
        e.first = e.last;
        return e;
    }
    /* Branch-free: reads the bytes before a short key as well and shifts them out. */
    const bool brief = key.len < 8;
    const unsigned shift = brief ? 64 - 8 * (unsigned)key.len : 0;
    memcpy(&e.first, brief ? end - 8 : key.text, 8);
    memcpy(&e.last, end - 8, 8);
    e.first = le64toh(e.first) >> shift;
    e.last = le64toh(e.last) >> shift;
    return e;
}

/* Short keys are hashed inline, from their ends. */
static inline uint64_t hash(rela_span key, rela_cache_ends ends)
{
    if (key.len > SHORT)
        return rela_map_hash(key.text, key.len);
    uint64_t h = (ends.first + key.len) * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ h >> 32 ^ ends.last) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ h >> 29) * UINT64_C(0x94D049BB133111EB);
    return h ^ h >> 32;
}

/* The offset of a new entry of len bytes; 0 if the cache is full. At most WORDS_MAX of the slots
 * are ever used, so every probe reaches a free one. */
static size_t make_room(rela_bpe_cache *c, size_t len)
{
    if (atomic_load_explicit(&c->used, memory_order_relaxed) + len > TEXT_MAX ||
        atomic_fetch_add_explicit(&c->n, 1, memory_order_relaxed) >= WORDS_MAX)
        return 0;
    const size_t at = atomic_fetch_add_explicit(&c->used, len, memory_order_relaxed);
    return at + len <= TEXT_MAX ? at : 0;
}

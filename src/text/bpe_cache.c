/* SPDX-License-Identifier: MIT */
/* src/text/bpe_cache.c - see bpe_cache.h. */
#include "text/bpe_cache.h"

#include "base/map.h"
#include "base/mem.h"

#include <endian.h>
#include <string.h>

enum {
    SLOTS_MIN = 1 << 10,
    TEXT_START = 8, /* place 0 stands for a free slot */
    TEXT_MIN = 1 << 16,
    TEXT_MAX = 1 << 24, /* bytes of keys and values */
    WORDS_MAX = 1 << 18,
    KEY_MAX = 255, /* longer words are not worth keeping */
    SHORT = 16
};

typedef struct slot {
    uint32_t tag; /* upper half of the hash */
    uint32_t at;  /* of the entry in text: head, key unless it is short, value; 0: free */
} slot;

typedef struct head {
    rela_cache_ends ends;
    uint16_t key_len, value_len;
} head;

struct rela_bpe_cache {
    slot *slots; /* at most two of three are used: a small table stays near the processor */
    size_t mask;
    size_t n;
    char *text;
    size_t used, cap;
};

static inline rela_span get(const rela_bpe_cache *c, const rela_cache_query *q);
static inline rela_cache_ends read_ends(rela_span key, const char *floor);
static inline uint64_t hash(rela_span key, rela_cache_ends ends);
static bool make_room(rela_bpe_cache *c, size_t len);
static bool grow_slots(rela_bpe_cache *c);

rela_bpe_cache *rela_bpe_cache_create(void)
{
    rela_bpe_cache *c = rela_mem_zalloc(sizeof *c);
    if (!c)
        return NULL;
    c->used = TEXT_START;
    if (!grow_slots(c)) {
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
        __builtin_prefetch(&c->slots[q->hash & c->mask]);
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t at = c->slots[queries[i].hash & c->mask].at;
        if (at)
            __builtin_prefetch(c->text + at);
    }
    for (size_t i = 0; i < n; i++)
        queries[i].value = get(c, &queries[i]);
}

void rela_bpe_cache_find_again(const rela_bpe_cache *c, rela_cache_query *query)
{
    query->value = get(c, query);
}

bool rela_bpe_cache_put(rela_bpe_cache *c, const rela_cache_query *query, rela_span value)
{
    const rela_span key = query->key;
    const head h = { query->ends, (uint16_t)key.len, (uint16_t)value.len };
    const size_t rest = key.len > SHORT ? key.len : 0;
    const char *text = c->text;
    const size_t used = c->used;
    if (key.len > KEY_MAX || value.len > UINT16_MAX || !make_room(c, sizeof h + rest + value.len))
        return false;
    const bool moved = c->text != text || c->used < used;
    size_t i = query->hash & c->mask;
    while (c->slots[i].at)
        i = (i + 1) & c->mask;
    c->slots[i] = (slot){ (uint32_t)(query->hash >> 32), (uint32_t)c->used };
    memcpy(c->text + c->used, &h, sizeof h);
    c->used += sizeof h;
    memcpy(c->text + c->used, key.text, rest);
    c->used += rest;
    memcpy(c->text + c->used, value.text, value.len);
    c->used += value.len;
    c->n++;
    return moved;
}

static inline rela_span get(const rela_bpe_cache *c, const rela_cache_query *q)
{
    const uint32_t tag = (uint32_t)(q->hash >> 32);
    for (size_t i = q->hash & c->mask; c->slots[i].at; i = (i + 1) & c->mask) {
        if (c->slots[i].tag != tag)
            continue;
        const char *entry = c->text + c->slots[i].at;
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
    return (rela_span){ NULL, 0 };
}

/* The first and the last eight bytes, which may overlap; of a shorter key all bytes, twice. */
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
    /* Without a branch, by reading what stands before a short key and shifting it out. */
    const bool brief = key.len < 8;
    const unsigned shift = brief ? 64 - 8 * (unsigned)key.len : 0;
    memcpy(&e.first, brief ? end - 8 : key.text, 8);
    memcpy(&e.last, end - 8, 8);
    e.first = le64toh(e.first) >> shift;
    e.last = le64toh(e.last) >> shift;
    return e;
}

/* Short keys are hashed without a call. */
static inline uint64_t hash(rela_span key, rela_cache_ends ends)
{
    if (key.len > SHORT)
        return rela_map_hash(key.text, key.len);
    uint64_t h = (ends.first + key.len) * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ h >> 32 ^ ends.last) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ h >> 29) * UINT64_C(0x94D049BB133111EB);
    return h ^ h >> 32;
}

/* For one more entry of len bytes; false: leave it out. */
static bool make_room(rela_bpe_cache *c, size_t len)
{
    if (c->n >= WORDS_MAX || c->used + len > TEXT_MAX) {
        memset(c->slots, 0, (c->mask + 1) * sizeof *c->slots);
        c->n = 0;
        c->used = TEXT_START;
    }
    if ((c->n + 1) * 3 > (c->mask + 1) * 2 && !grow_slots(c))
        return false;
    if (c->used + len <= c->cap)
        return true;
    size_t cap = c->cap ? c->cap * 2 : TEXT_MIN;
    while (cap < c->used + len)
        cap *= 2;
    char *text = rela_mem_resize(c->text, cap + RELA_CACHE_PAD);
    if (!text)
        return false;
    c->text = text;
    c->cap = cap;
    return true;
}

/* The lower half of a hash is not kept, so keys are hashed again. */
static bool grow_slots(rela_bpe_cache *c)
{
    const size_t n = c->slots ? (c->mask + 1) * 2 : SLOTS_MIN;
    slot *slots = rela_mem_zalloc(n * sizeof *slots);
    if (!slots)
        return false;
    for (size_t k = 0; c->slots && k <= c->mask; k++) {
        if (c->slots[k].at == 0)
            continue;
        const char *entry = c->text + c->slots[k].at;
        head h;
        memcpy(&h, entry, sizeof h);
        size_t i = hash((rela_span){ entry + sizeof h, h.key_len }, h.ends) & (n - 1);
        while (slots[i].at)
            i = (i + 1) & (n - 1);
        slots[i] = c->slots[k];
    }
    rela_mem_free(c->slots);
    c->slots = slots;
    c->mask = n - 1;
    return true;
}

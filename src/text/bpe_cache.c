/* SPDX-License-Identifier: MIT */
/* src/text/bpe_cache.c - see bpe_cache.h. */
#include "text/bpe_cache.h"

#include "base/map.h"
#include "base/mem.h"

#include <string.h>

enum {
    SLOTS_MIN = 1 << 6,
    TEXT_START = 1, /* place 0 stands for a free slot */
    TEXT_MIN = 1 << 10,
    TEXT_MAX = 1 << 24, /* bytes of keys and values */
    WORDS_MAX = 1 << 18,
    KEY_MAX = 255, /* longer words are not worth keeping */
    SHORT = 16
};

typedef struct slot {
    uint32_t tag; /* upper half of the hash */
    uint32_t at;  /* of the entry in text: lengths, key, value; 0: free */
} slot;

typedef struct lengths {
    uint16_t key, value;
} lengths;

struct rela_bpe_cache {
    slot *slots; /* at most two of three are used: a small table stays near the processor */
    size_t mask;
    size_t n;
    char *text;
    size_t used, cap;
};

static inline rela_span get(const rela_bpe_cache *c, const rela_cache_query *q);
static inline void read_ends(uint64_t *first, uint64_t *last, const char *p, size_t n);
static inline uint64_t hash(rela_span key, uint64_t first, uint64_t last);
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

void rela_bpe_cache_find(const rela_bpe_cache *c, rela_cache_query *queries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        rela_cache_query *q = &queries[i];
        read_ends(&q->first, &q->last, q->key.text, q->key.len);
        q->hash = hash(q->key, q->first, q->last);
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

void rela_bpe_cache_put(rela_bpe_cache *c, const rela_cache_query *query, rela_span value)
{
    const rela_span key = query->key;
    const lengths n = { (uint16_t)key.len, (uint16_t)value.len };
    if (key.len > KEY_MAX || value.len > UINT16_MAX ||
        !make_room(c, sizeof n + key.len + value.len))
        return;
    size_t i = query->hash & c->mask;
    while (c->slots[i].at)
        i = (i + 1) & c->mask;
    c->slots[i] = (slot){ (uint32_t)(query->hash >> 32), (uint32_t)c->used };
    memcpy(c->text + c->used, &n, sizeof n);
    c->used += sizeof n;
    memcpy(c->text + c->used, key.text, key.len);
    c->used += key.len;
    memcpy(c->text + c->used, value.text, value.len);
    c->used += value.len;
    c->n++;
}

static inline rela_span get(const rela_bpe_cache *c, const rela_cache_query *q)
{
    const uint32_t tag = (uint32_t)(q->hash >> 32);
    for (size_t i = q->hash & c->mask; c->slots[i].at; i = (i + 1) & c->mask) {
        if (c->slots[i].tag != tag)
            continue;
        const char *entry = c->text + c->slots[i].at;
        uint64_t first = 0, last = 0;
        lengths n;
        memcpy(&n, entry, sizeof n);
        entry += sizeof n;
        if (n.key != q->key.len)
            continue;
        read_ends(&first, &last, entry, n.key);
        if (first == q->first && last == q->last &&
            (n.key <= SHORT || memcmp(entry, q->key.text, n.key) == 0))
            return (rela_span){ entry + n.key, n.value };
    }
    return (rela_span){ NULL, 0 };
}

/* The first and the last eight bytes, which may overlap: all there is to a short key. */
static inline void read_ends(uint64_t *first, uint64_t *last, const char *p, size_t n)
{
    if (n >= 8) {
        memcpy(first, p, 8);
        memcpy(last, p + n - 8, 8);
    } else if (n >= 4) {
        uint32_t a = 0, b = 0;
        memcpy(&a, p, 4);
        memcpy(&b, p + n - 4, 4);
        *first = a;
        *last = b;
    } else {
        *first = (unsigned char)p[0];
        *last = (uint64_t)(unsigned char)p[n / 2] << 8 | (unsigned char)p[n - 1];
    }
}

/* Short keys are hashed without a call. */
static inline uint64_t hash(rela_span key, uint64_t first, uint64_t last)
{
    if (key.len > SHORT)
        return rela_map_hash(key.text, key.len);
    uint64_t h = (first + key.len) * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ h >> 32 ^ last) * UINT64_C(0xBF58476D1CE4E5B9);
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
        lengths len;
        memcpy(&len, entry, sizeof len);
        const rela_span key = { entry + sizeof len, len.key };
        uint64_t first = 0, last = 0;
        read_ends(&first, &last, key.text, key.len);
        size_t i = hash(key, first, last) & (n - 1);
        while (slots[i].at)
            i = (i + 1) & (n - 1);
        slots[i] = c->slots[k];
    }
    rela_mem_free(c->slots);
    c->slots = slots;
    c->mask = n - 1;
    return true;
}

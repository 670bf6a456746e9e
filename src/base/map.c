/* SPDX-License-Identifier: MIT */
/* src/base/map.c - open addressing with linear probing, at most half full; see map.h. */
#include "base/map.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>
#include <xxhash.h>

enum { SLOTS_MIN = 64, CHUNK = 1 << 16 };

typedef struct slot {
    uint32_t tag;    /* upper half of the hash: avoids most key comparisons */
    uint32_t number; /* RELA_MAP_NONE: free */
} slot;

typedef struct entry {
    const char *text;
    uint32_t len;
    uint32_t hash_low;
} entry;

struct rela_map {
    slot *slots;
    size_t mask; /* slots - 1 */
    entry *entries;
    size_t n, cap;
    char **chunks; /* key bytes */
    size_t n_chunks, cap_chunks;
    size_t chunk_used, chunk_size;
};

static slot *probe(const rela_map *m, const char *key, size_t len, uint64_t hash);
static int rehash(rela_map *m, size_t n_slots);
static char *key_room(rela_map *m, size_t len);

rela_map *rela_map_create(size_t expected)
{
    size_t n = SLOTS_MIN;
    while (n / 2 < expected && n < SIZE_MAX / 4)
        n *= 2;
    rela_map *m = rela_mem_zalloc(sizeof *m);
    if (m && !rehash(m, n)) {
        rela_map_destroy(m);
        m = NULL;
    }
    return m;
}

void rela_map_destroy(rela_map *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n_chunks; i++)
        rela_mem_free(m->chunks[i]);
    rela_mem_free(m->chunks);
    rela_mem_free(m->entries);
    rela_mem_free(m->slots);
    rela_mem_free(m);
}

uint32_t rela_map_add(rela_map *m, const char *key, size_t len)
{
    return rela_map_add_hashed(m, key, len, rela_map_hash(key, len));
}

uint32_t rela_map_find(const rela_map *m, const char *key, size_t len)
{
    return rela_map_find_hashed(m, key, len, rela_map_hash(key, len));
}

uint64_t rela_map_hash(const char *key, size_t len)
{
    return XXH3_64bits(key, len);
}

uint32_t rela_map_add_hashed(rela_map *m, const char *key, size_t len, uint64_t hash)
{
    slot *s = probe(m, key, len, hash);
    if (s->number != RELA_MAP_NONE)
        return s->number;
    if (m->n >= RELA_MAP_NONE - 1u || len > UINT32_MAX)
        return RELA_MAP_NONE;
    if ((m->n + 1) * 2 > m->mask + 1) {
        if (!rehash(m, (m->mask + 1) * 2))
            return RELA_MAP_NONE;
        s = probe(m, key, len, hash);
    }
    entry *entries = rela_mem_grow(m->entries, &m->cap, m->n + 1, sizeof *entries);
    if (!entries)
        return RELA_MAP_NONE;
    m->entries = entries;
    char *copy = key_room(m, len);
    if (!copy)
        return RELA_MAP_NONE;
    if (len)
        memcpy(copy, key, len);
    copy[len] = '\0';
    m->entries[m->n] = (entry){ copy, (uint32_t)len, (uint32_t)hash };
    *s = (slot){ (uint32_t)(hash >> 32), (uint32_t)m->n };
    return (uint32_t)m->n++;
}

uint32_t rela_map_find_hashed(const rela_map *m, const char *key, size_t len, uint64_t hash)
{
    return probe(m, key, len, hash)->number;
}

size_t rela_map_size(const rela_map *m)
{
    return m->n;
}

rela_span rela_map_key(const rela_map *m, uint32_t number)
{
    assert(number < m->n);
    return (rela_span){ m->entries[number].text, m->entries[number].len };
}

/* The slot that holds the key, or the free one where it belongs. */
static slot *probe(const rela_map *m, const char *key, size_t len, uint64_t hash)
{
    const uint32_t tag = (uint32_t)(hash >> 32);
    for (size_t i = (uint32_t)hash & m->mask;; i = (i + 1) & m->mask) {
        slot *s = &m->slots[i];
        if (s->number == RELA_MAP_NONE)
            return s;
        if (s->tag != tag)
            continue;
        const entry *e = &m->entries[s->number];
        if (e->len == len && (len == 0 || memcmp(e->text, key, len) == 0))
            return s;
    }
}

static int rehash(rela_map *m, size_t n_slots)
{
    slot *slots = rela_mem_array(n_slots, sizeof *slots);
    if (!slots)
        return 0;
    memset(slots, 0xFF, n_slots * sizeof *slots); /* number == RELA_MAP_NONE everywhere */
    for (size_t i = 0; m->slots && i <= m->mask; i++) {
        const slot old = m->slots[i];
        if (old.number == RELA_MAP_NONE)
            continue;
        size_t j = m->entries[old.number].hash_low & (n_slots - 1);
        while (slots[j].number != RELA_MAP_NONE)
            j = (j + 1) & (n_slots - 1);
        slots[j] = old;
    }
    rela_mem_free(m->slots);
    m->slots = slots;
    m->mask = n_slots - 1;
    return 1;
}

static char *key_room(rela_map *m, size_t len)
{
    if (m->chunk_size - m->chunk_used < len + 1) {
        char **chunks = rela_mem_grow(m->chunks, &m->cap_chunks, m->n_chunks + 1, sizeof *chunks);
        if (!chunks)
            return NULL;
        m->chunks = chunks;
        const size_t size = len + 1 > CHUNK ? len + 1 : CHUNK;
        char *chunk = rela_mem_alloc(size);
        if (!chunk)
            return NULL;
        m->chunks[m->n_chunks++] = chunk;
        m->chunk_used = 0;
        m->chunk_size = size;
    }
    char *p = m->chunks[m->n_chunks - 1] + m->chunk_used;
    m->chunk_used += len + 1;
    return p;
}

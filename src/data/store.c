/* SPDX-License-Identifier: MIT */
/* src/data/store.c - see store.h. */
#include "data/store.h"

#include "base/file.h"
#include "base/mem.h"

#include <assert.h>
#include <string.h>
#include <xxhash.h>

enum {
    GROUP = 4096,          /* pairs per group of the index */
    WRITE_BYTES = 1 << 20, /* buffered before a write to the scratch file */
    BYTE_BITS = 7,
    VARINT_MAX = 10 /* bytes of a 64-bit number */
};

/* Places are offsets from start. The records of a group stay below 2^32 bytes: token ids take at
 * most 3 bytes (vocabularies end at 2^20), and 4096 * 5 * 65535 * 3 is less. */
typedef struct group {
    uint64_t start;
    uint32_t place[GROUP];
    uint16_t length[]; /* (sides, GROUP) */
} group;

struct rela_store {
    size_t n_sides;
    group **groups;
    size_t n_groups, cap_groups;
    uint32_t n;
    uint64_t tokens[RELA_SIDES_MAX];
    uint64_t digest;
    rela_buffer tail;      /* records from byte flushed on */
    uint64_t flushed;      /* bytes that are in the scratch file */
    uint64_t memory;       /* limit */
    char *dir;             /* NULL: default */
    rela_scratch *scratch; /* NULL while everything fits in memory */
};

static rela_status add_index(rela_store *s, const rela_pair *pair, rela_error *err);
static rela_status put_record(rela_store *s, const rela_pair *pair, rela_error *err);
static rela_status flush(rela_store *s, rela_error *err);
static size_t put_number(unsigned char *out, uint64_t v);
static uint64_t get_number(const unsigned char **at);

rela_status rela_store_create(rela_store **out, size_t n_sides, uint64_t memory, const char *dir,
                              rela_error *err)
{
    *out = NULL;
    rela_store *s = rela_mem_zalloc(sizeof *s);
    if (!s)
        return rela_fail(err, RELA_NOMEM, "no memory for a store of pairs");
    s->n_sides = n_sides;
    s->memory = memory;
    if (dir && !(s->dir = rela_str_copy(dir, strlen(dir)))) {
        rela_store_destroy(s);
        return rela_fail(err, RELA_NOMEM, "no memory for a store of pairs");
    }
    *out = s;
    return RELA_OK;
}

void rela_store_destroy(rela_store *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_groups; i++)
        rela_mem_free(s->groups[i]);
    rela_mem_free(s->groups);
    rela_buffer_free(&s->tail);
    rela_scratch_close(s->scratch);
    rela_mem_free(s->dir);
    rela_mem_free(s);
}

rela_status rela_store_add(void *store, const rela_pair *pair, rela_error *err)
{
    rela_store *s = store;
    rela_status st = add_index(s, pair, err);
    if (st == RELA_OK)
        st = put_record(s, pair, err);
    if (st != RELA_OK)
        return st;
    s->n++;
    for (size_t i = 0; i < s->n_sides; i++)
        s->tokens[i] += pair->n[i];
    if (s->scratch ? s->tail.len >= WRITE_BYTES : s->tail.len > s->memory)
        st = flush(s, err);
    return st;
}

rela_status rela_store_finish(rela_store *s, rela_error *err)
{
    if (!s->scratch)
        return RELA_OK;
    const rela_status st = flush(s, err);
    rela_buffer_free(&s->tail);
    return st;
}

rela_status rela_store_read(rela_store **out, rela_corpus_report *report,
                            const rela_corpus_job *job, uint64_t memory, const char *dir,
                            rela_error *err)
{
    rela_store *s = NULL;
    *out = NULL;
    rela_status st = rela_store_create(&s, job->n_sides, memory, dir, err);
    if (st != RELA_OK)
        return st;
    rela_corpus_job mine = *job;
    mine.take = rela_store_add;
    mine.take_ctx = s;
    st = rela_corpus_read(report, &mine, err);
    if (st == RELA_OK)
        st = rela_store_finish(s, err);
    if (st == RELA_OK) {
        *out = s;
        s = NULL;
    }
    rela_store_destroy(s);
    return st;
}

uint32_t rela_store_size(const rela_store *s)
{
    return s->n;
}

size_t rela_store_sides(const rela_store *s)
{
    return s->n_sides;
}

uint32_t rela_store_length(const rela_store *s, uint32_t pair, size_t side)
{
    assert(pair < s->n && side < s->n_sides);
    return s->groups[pair / GROUP]->length[side * GROUP + pair % GROUP];
}

uint64_t rela_store_tokens(const rela_store *s, size_t side)
{
    return s->tokens[side];
}

uint64_t rela_store_bytes(const rela_store *s)
{
    return s->flushed + s->tail.len;
}

bool rela_store_on_disk(const rela_store *s)
{
    return s->scratch != NULL;
}

uint64_t rela_store_digest(const rela_store *s)
{
    return s->digest;
}

uint64_t rela_store_place(const rela_store *s, uint32_t pair)
{
    assert(pair <= s->n);
    if (pair == s->n)
        return rela_store_bytes(s);
    const group *g = s->groups[pair / GROUP];
    return g->start + g->place[pair % GROUP];
}

const unsigned char *rela_store_view(const rela_store *s, uint64_t from)
{
    return s->scratch ? NULL : (const unsigned char *)s->tail.data + from;
}

rela_status rela_store_load(const rela_store *s, unsigned char *out, uint64_t from, uint64_t to,
                            rela_error *err)
{
    assert(from <= to && to <= rela_store_bytes(s));
    const size_t len = (size_t)(to - from);
    if (s->scratch)
        return rela_scratch_read(s->scratch, out, len, from, err);
    if (len)
        memcpy(out, s->tail.data + from, len);
    return RELA_OK;
}

uint64_t rela_store_decode(const rela_store *s, uint32_t pair, const unsigned char *record,
                           int32_t *const *ids)
{
    const uint64_t line = get_number(&record);
    for (size_t side = 0; side < s->n_sides; side++) {
        const uint32_t n = rela_store_length(s, pair, side);
        for (uint32_t i = 0; i < n; i++)
            ids[side][i] = (int32_t)get_number(&record);
    }
    return line;
}

/* A packed pair is the lengths of its sides, then its record. */
rela_status rela_store_pack(rela_buffer *out, const rela_store *s, uint32_t *at, size_t bytes,
                            rela_error *err)
{
    rela_status st = RELA_OK;
    for (const size_t start = out->len; *at < s->n && st == RELA_OK; ++*at) {
        const uint64_t from = rela_store_place(s, *at), to = rela_store_place(s, *at + 1);
        const size_t most = s->n_sides * VARINT_MAX + (size_t)(to - from);
        if (out->len > start && out->len - start + most > bytes)
            break;
        if ((st = rela_buffer_reserve(out, most, err)) != RELA_OK)
            break;
        for (size_t side = 0; side < s->n_sides; side++)
            out->len +=
                put_number((unsigned char *)out->data + out->len, rela_store_length(s, *at, side));
        st = rela_store_load(s, (unsigned char *)out->data + out->len, from, to, err);
        out->len += (size_t)(to - from);
    }
    return st;
}

rela_status rela_store_unpack(rela_store *s, const char *bytes, size_t len, rela_error *err)
{
    const unsigned char *at = (const unsigned char *)bytes, *end = at + len;
    rela_ids ids = { NULL, 0, 0 };
    rela_status st = RELA_OK;
    while (at < end && st == RELA_OK) {
        rela_pair pair = { .line = 0 };
        ids.len = 0;
        for (size_t side = 0; side < s->n_sides; side++)
            pair.n[side] = (size_t)get_number(&at);
        pair.line = get_number(&at);
        for (size_t side = 0; side < s->n_sides; side++)
            for (size_t i = 0; i < pair.n[side] && st == RELA_OK; i++)
                st = rela_ids_push(&ids, (int32_t)get_number(&at), err);
        for (size_t side = 0, first = 0; side < s->n_sides; first += pair.n[side++])
            pair.ids[side] = ids.data + first;
        st = st ? st : rela_store_add(s, &pair, err);
    }
    rela_ids_free(&ids);
    return st;
}

static rela_status add_index(rela_store *s, const rela_pair *pair, rela_error *err)
{
    if (s->n == UINT32_MAX)
        return rela_fail(err, RELA_UNSUP, "more than %u pairs", UINT32_MAX);
    if (s->n == s->n_groups * (size_t)GROUP) {
        group **p = rela_mem_grow(s->groups, &s->cap_groups, s->n_groups + 1, sizeof(group *));
        if (p)
            s->groups = p;
        const size_t lengths = s->n_sides * GROUP * sizeof(uint16_t);
        group *g = p ? rela_mem_zalloc(sizeof *g + lengths) : NULL;
        if (!g)
            return rela_fail(err, RELA_NOMEM, "no memory for the index of %u pairs", s->n + 1);
        g->start = rela_store_bytes(s);
        s->groups[s->n_groups++] = g;
    }
    group *g = s->groups[s->n / GROUP];
    g->place[s->n % GROUP] = (uint32_t)(rela_store_bytes(s) - g->start);
    for (size_t side = 0; side < s->n_sides; side++) {
        assert(pair->n[side] <= RELA_CORPUS_TOKENS_MAX);
        assert(pair->n[side] >= 1 || (s->n_sides > 2 && side + 1 < s->n_sides));
        g->length[side * GROUP + s->n % GROUP] = (uint16_t)pair->n[side];
    }
    return RELA_OK;
}

static rela_status put_record(rela_store *s, const rela_pair *pair, rela_error *err)
{
    size_t numbers = 1;
    for (size_t side = 0; side < s->n_sides; side++)
        numbers += pair->n[side];
    const rela_status st = rela_buffer_reserve(&s->tail, numbers * VARINT_MAX, err);
    if (st != RELA_OK)
        return st;
    unsigned char *start = (unsigned char *)s->tail.data + s->tail.len, *at = start;
    at += put_number(at, pair->line);
    for (size_t side = 0; side < s->n_sides; side++)
        for (size_t i = 0; i < pair->n[side]; i++)
            at += put_number(at, (uint32_t)pair->ids[side][i]);
    s->tail.len += (size_t)(at - start);
    s->digest = XXH3_64bits_withSeed(start, (size_t)(at - start), s->digest);
    return RELA_OK;
}

static rela_status flush(rela_store *s, rela_error *err)
{
    rela_status st = s->scratch ? RELA_OK : rela_scratch_open(&s->scratch, s->dir, err);
    if (st == RELA_OK)
        st = rela_scratch_write(s->scratch, s->tail.data, s->tail.len, s->flushed, err);
    if (st != RELA_OK)
        return st;
    s->flushed += s->tail.len;
    if (s->tail.cap > 2 * (size_t)WRITE_BYTES) /* it held everything until now */
        rela_buffer_free(&s->tail);
    rela_buffer_clear(&s->tail);
    return RELA_OK;
}

static size_t put_number(unsigned char *out, uint64_t v)
{
    size_t n = 0;
    for (; v >> BYTE_BITS; v >>= BYTE_BITS)
        out[n++] = (unsigned char)(v | 1 << BYTE_BITS);
    out[n++] = (unsigned char)v;
    return n;
}

static uint64_t get_number(const unsigned char **at)
{
    uint64_t v = 0;
    int shift = 0;
    for (; **at >> BYTE_BITS; ++*at, shift += BYTE_BITS)
        v |= (uint64_t)(**at & ((1 << BYTE_BITS) - 1)) << shift;
    return v | (uint64_t) * (*at)++ << shift;
}

/* SPDX-License-Identifier: MIT */
/* src/data/pair_rules.c - see pair_rules.h. */
#include "data/pair_rules.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "text/script.h"

#include <string.h>
#include <xxhash.h>

enum { SEEN_START = 1024, OVERLAP_WORDS = 4, BLOOM_BITS = 4096 };

static size_t count_words(rela_span s);
static double overlap(rela_span src, rela_span tgt, size_t n_tgt);
static size_t sketch_bit(rela_span word);
static bool has_word(rela_span text, rela_span word);
static bool wrong_script(const rela_pair_rules *r, rela_span text, int side);

rela_filter_reason rela_pair_rules_check(const rela_pair_rules *r, rela_span src, rela_span tgt)
{
    if (src.len > r->max_bytes || tgt.len > r->max_bytes)
        return RELA_FILTER_LONG;
    if (rela_utf8_valid(src.text, src.len) != src.len ||
        rela_utf8_valid(tgt.text, tgt.len) != tgt.len)
        return RELA_FILTER_ENCODING;
    src = rela_trim(src);
    tgt = rela_trim(tgt);
    const size_t n = count_words(src), m = count_words(tgt);
    if (n == 0 || m == 0)
        return RELA_FILTER_EMPTY;
    if (n < r->min_words || m < r->min_words)
        return RELA_FILTER_SHORT;
    if (n > r->max_words || m > r->max_words)
        return RELA_FILTER_LONG;
    const double longer = (double)(n > m ? n : m), shorter = (double)(n > m ? m : n);
    if (r->max_ratio > 0 && longer > r->max_ratio * shorter)
        return RELA_FILTER_RATIO;
    if (!r->keep_copies && src.len == tgt.len && memcmp(src.text, tgt.text, src.len) == 0)
        return RELA_FILTER_COPY;
    if (!r->keep_copies && r->max_overlap < 1 && m >= OVERLAP_WORDS &&
        overlap(src, tgt, m) > r->max_overlap)
        return RELA_FILTER_COPY;
    if (r->script_share > 0 && (wrong_script(r, src, 0) || wrong_script(r, tgt, 1)))
        return RELA_FILTER_SCRIPT;
    return RELA_FILTER_KEPT;
}

uint64_t rela_pair_hash(rela_span src, rela_span tgt)
{
    src = rela_trim(src);
    tgt = rela_trim(tgt);
    return XXH3_64bits_withSeed(tgt.text, tgt.len, XXH3_64bits(src.text, src.len));
}

static size_t count_words(rela_span s)
{
    const char *at = s.text;
    size_t n = 0;
    for (rela_span word; rela_next_word(&word, &at, s.text + s.len); n++)
        ;
    return n;
}

/* A Bloom filter of the source words rules out most target words; only the others are searched. */
static double overlap(rela_span src, rela_span tgt, size_t n_tgt)
{
    uint64_t bloom[BLOOM_BITS / 64] = { 0 };
    const char *at = src.text;
    size_t shared = 0;
    for (rela_span word; rela_next_word(&word, &at, src.text + src.len);) {
        const size_t bit = sketch_bit(word);
        bloom[bit / 64] |= UINT64_C(1) << bit % 64;
    }
    at = tgt.text;
    for (rela_span word; rela_next_word(&word, &at, tgt.text + tgt.len);) {
        const size_t bit = sketch_bit(word);
        if (bloom[bit / 64] >> bit % 64 & 1)
            shared += has_word(src, word);
    }
    return (double)shared / (double)n_tgt;
}

static size_t sketch_bit(rela_span word)
{
    return XXH3_64bits(word.text, word.len) % BLOOM_BITS;
}

static bool has_word(rela_span text, rela_span word)
{
    const char *at = text.text;
    for (rela_span other; rela_next_word(&other, &at, text.text + text.len);)
        if (other.len == word.len && memcmp(other.text, word.text, word.len) == 0)
            return true;
    return false;
}

static bool wrong_script(const rela_pair_rules *r, rela_span text, int side)
{
    rela_script_counts c = { .all = 0 };
    rela_scripts_count(&c, text.text, text.len);
    return rela_scripts_share(&c, r->scripts[side]) < r->script_share;
}

/* ---- pairs seen before ---- */

/* Open addressing; 0 marks an empty slot, so a hash of 0 is stored as 1. */
struct rela_seen {
    uint64_t *places;
    size_t n, cap;
};

static void put(uint64_t *places, size_t cap, uint64_t hash)
{
    size_t at = (size_t)(hash & (cap - 1));
    while (places[at])
        at = (at + 1) & (cap - 1);
    places[at] = hash;
}

rela_seen *rela_seen_create(void)
{
    rela_seen *s = rela_mem_zalloc(sizeof *s);
    if (!s)
        return NULL;
    s->cap = SEEN_START;
    s->places = rela_mem_zalloc(s->cap * sizeof *s->places);
    if (!s->places) {
        rela_mem_free(s);
        return NULL;
    }
    return s;
}

void rela_seen_destroy(rela_seen *s)
{
    if (!s)
        return;
    rela_mem_free(s->places);
    rela_mem_free(s);
}

rela_status rela_seen_add(rela_seen *s, uint64_t hash, bool *before, rela_error *err)
{
    hash = hash ? hash : 1;
    size_t at = (size_t)(hash & (s->cap - 1));
    while (s->places[at] && s->places[at] != hash)
        at = (at + 1) & (s->cap - 1);
    *before = s->places[at] == hash;
    if (*before)
        return RELA_OK;
    if (2 * (s->n + 1) > s->cap) {
        uint64_t *more = rela_mem_zalloc(2 * s->cap * sizeof *more);
        if (!more)
            return rela_fail(err, RELA_NOMEM, "no memory to remember %zu pairs", s->n);
        for (size_t i = 0; i < s->cap; i++)
            if (s->places[i])
                put(more, 2 * s->cap, s->places[i]);
        rela_mem_free(s->places);
        s->places = more;
        s->cap *= 2;
    }
    put(s->places, s->cap, hash);
    s->n++;
    return RELA_OK;
}

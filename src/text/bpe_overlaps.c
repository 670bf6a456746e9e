/* SPDX-License-Identifier: MIT */
/* src/text/bpe_overlaps.c - pair counts of words with overlaps; see bpe_learn.h. */
#include "base/mem.h"
#include "base/utf8.h"
#include "text/bpe_learn.h"

#include <string.h>

enum { SLOTS_MIN = 1 << 10 };

static rela_overlap_count *find(const rela_learner *l, uint64_t key);
static bool grow(rela_learner *l);
static bool ends_with(const rela_learner *l, uint32_t unit, uint32_t part, size_t from);
static bool starts_with(const rela_learner *l, uint32_t unit, uint32_t part);
static bool space_before(const char *text, size_t at);

bool rela_bpe_is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
           c == 0x202F || c == 0x205F || c == 0x3000;
}

bool rela_overlap_start(rela_learner *l, uint32_t word)
{
    rela_learn_word *w = &l->words[word];
    const uint32_t *u = l->units + w->units;
    w->overlaps = true;
    for (size_t i = 0; i + 1 < w->n; i++) {
        const uint32_t pair = rela_bpe_pairs_add(l->pairs, u[i], u[i + 1]);
        if (pair == RELA_PAIR_NONE)
            return false;
        if (pair != l->pair && !rela_overlap_change(l, pair, word, 1))
            return false;
    }
    return true;
}

int32_t rela_overlap_get(const rela_learner *l, uint32_t word)
{
    const rela_overlap_count *c = l->overlaps ? find(l, (uint64_t)l->pair << 32 | word) : NULL;
    return c && c->merged == l->merged_before ? c->count : 0;
}

bool rela_overlap_change(rela_learner *l, uint32_t pair, uint32_t word, int by)
{
    if (l->n_overlaps * 2 >= l->n_overlap_slots && !grow(l))
        return false;
    const uint32_t merged = rela_bpe_pairs_at(l->pairs, pair)->merged;
    rela_overlap_count *c = find(l, (uint64_t)pair << 32 | word);
    if (c->key == UINT64_MAX) {
        *c = (rela_overlap_count){ (uint64_t)pair << 32 | word, 0, merged };
        l->n_overlaps++;
    }
    c->count = (c->merged == merged ? c->count : 0) + by;
    c->merged = merged;
    return true;
}

/* subword-nmt's regular expression looks for "left right" with a blank or nothing on either side.
 * So a symbol that merely ends with "blank left", or a next one that merely starts with "right
 * blank", is joined too. */
bool rela_overlap_replace(rela_learner *l, rela_learn_word *w)
{
    uint32_t *u = l->units + w->units;
    const size_t right_len = rela_map_key(l->symbols, l->right).len;
    uint32_t n = 1;
    size_t used = 0; /* bytes of u[n - 1] that belong to the previous match */
    for (uint32_t i = 1; i < w->n; i++) {
        if (ends_with(l, u[n - 1], l->left, used) && starts_with(l, u[i], l->right)) {
            used = rela_map_key(l->symbols, u[n - 1]).len + right_len;
            if ((u[n - 1] = rela_learner_join(l, u[n - 1], u[i])) == RELA_MAP_NONE)
                return false;
        } else {
            u[n++] = u[i];
            used = 0;
        }
    }
    w->n = n;
    return true;
}

void rela_overlap_stop(rela_learner *l)
{
    rela_mem_free(l->overlaps);
}

/* The entry of a key, or the free one where it belongs. */
static rela_overlap_count *find(const rela_learner *l, uint64_t key)
{
    size_t i = (size_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (l->n_overlap_slots - 1);
    while (l->overlaps[i].key != key && l->overlaps[i].key != UINT64_MAX)
        i = (i + 1) & (l->n_overlap_slots - 1);
    return &l->overlaps[i];
}

static bool grow(rela_learner *l)
{
    rela_overlap_count *old = l->overlaps;
    const size_t n_old = l->n_overlap_slots;
    const size_t n = n_old ? n_old * 2 : SLOTS_MIN;
    rela_overlap_count *slots = rela_mem_array(n, sizeof *slots);
    if (!slots)
        return false;
    memset(slots, 0xFF, n * sizeof *slots); /* key UINT64_MAX: free */
    l->overlaps = slots;
    l->n_overlap_slots = n;
    for (size_t i = 0; i < n_old; i++)
        if (old[i].key != UINT64_MAX)
            *find(l, old[i].key) = old[i];
    rela_mem_free(old);
    return true;
}

/* Whether part is the whole unit or its tail after a blank, starting at byte from or later. */
static bool ends_with(const rela_learner *l, uint32_t unit, uint32_t part, size_t from)
{
    const rela_span u = rela_map_key(l->symbols, unit), p = rela_map_key(l->symbols, part);
    if (u.len < p.len || u.len - p.len < from || memcmp(u.text + u.len - p.len, p.text, p.len) != 0)
        return false;
    return u.len == p.len || space_before(u.text, u.len - p.len);
}

/* Whether part is the whole unit or its head before a blank. */
static bool starts_with(const rela_learner *l, uint32_t unit, uint32_t part)
{
    const rela_span u = rela_map_key(l->symbols, unit), p = rela_map_key(l->symbols, part);
    if (u.len < p.len || memcmp(u.text, p.text, p.len) != 0)
        return false;
    uint32_t code = 0;
    return u.len == p.len ||
           (rela_utf8_next(&code, u.text + p.len, u.len - p.len) && rela_bpe_is_space(code));
}

static bool space_before(const char *text, size_t at)
{
    size_t start = at - 1;
    while (start > 0 && ((unsigned char)text[start] & 0xC0u) == 0x80)
        start--;
    uint32_t code = 0;
    return rela_utf8_next(&code, text + start, at - start) && rela_bpe_is_space(code);
}

/* SPDX-License-Identifier: MIT */
/* src/text/bpe_merge.c - applying the merges to a word; see bpe_word.h.
 *
 * The definition: in each round, apply the merge of lowest rank wherever it is possible, from left
 * to right, until no merge is possible. Short words are done that way. For long ones (a line of
 * text without blanks) a heap finds the positions, with the same result. */
#include "base/mem.h"
#include "text/bpe_word.h"

enum {
    LONG_WORD = 100, /* units */
    PLACE_BITS = 8,
    PLACE_UNIT = (1 << PLACE_BITS) - 1,
    PLACE_NONE = UINT32_MAX
};

static void merge_rounds(rela_bpe_unit *u, const rela_bpe *b, size_t n);
static uint32_t place(const rela_bpe_unit *u, size_t i);
static void merge_with_dropout(rela_bpe_unit *u, const rela_bpe *b, size_t n, rela_rng *rng);
static bool merge_with_heap(rela_bpe_word *w, const rela_bpe *b);
static bool take_batch(rela_bpe_word *w, uint32_t *rank, size_t *n);
static void join(rela_bpe_unit *u, const rela_bpe *b, size_t i);
static void rate(rela_bpe_unit *u, const rela_bpe *b, size_t i);
static bool heap_push(rela_bpe_word *w, uint32_t unit);
static uint32_t heap_pop(rela_bpe_word *w);

rela_status rela_bpe_word_merge(rela_bpe_word *w, const rela_bpe *b, rela_rng *rng, rela_error *err)
{
    const size_t n = w->n_units;
    for (size_t i = 0; i < n; i++) {
        w->units[i].before = i > 0 ? (uint32_t)i - 1 : RELA_UNIT_NONE;
        w->units[i].after = i + 1 < n ? (uint32_t)i + 1 : RELA_UNIT_NONE;
        rate(w->units, b, i);
    }
    if (b->dropout > 0)
        merge_with_dropout(w->units, b, n, rng);
    else if (n <= LONG_WORD)
        merge_rounds(w->units, b, n);
    else if (!merge_with_heap(w, b))
        return rela_fail(err, RELA_NOMEM, "no memory for a word of %zu characters", n);
    return RELA_OK;
}

/* Possible merges are kept as rank << 8 | unit, so that the smallest is the leftmost one of the
 * lowest rank. */
static void merge_rounds(rela_bpe_unit *u, const rela_bpe *b, size_t n)
{
    uint32_t places[LONG_WORD];
    for (size_t i = 0; i < n; i++)
        places[i] = place(u, i);
    for (;;) {
        uint32_t least = PLACE_NONE;
        for (size_t i = 0; i < n; i++)
            least = places[i] < least ? places[i] : least;
        if (least == PLACE_NONE)
            return;
        for (size_t i = least & PLACE_UNIT; i < n; i++) {
            if (places[i] >> PLACE_BITS != least >> PLACE_BITS)
                continue;
            places[u[i].after] = PLACE_NONE;
            join(u, b, i);
            places[i] = place(u, i);
            if (u[i].before != RELA_UNIT_NONE)
                places[u[i].before] = place(u, u[i].before);
        }
    }
}

static uint32_t place(const rela_bpe_unit *u, size_t i)
{
    return u[i].rank == RELA_RANK_NONE ? PLACE_NONE : u[i].rank << PLACE_BITS | (uint32_t)i;
}

/* Dropout is sampled anew for every pair in every round. */
static void merge_with_dropout(rela_bpe_unit *u, const rela_bpe *b, size_t n, rela_rng *rng)
{
    for (;;) {
        uint32_t best = RELA_RANK_NONE;
        for (size_t i = 0; i < n; i++) {
            u[i].sampled = u[i].rank;
            if (u[i].rank != RELA_RANK_NONE && !(rela_rng_real(rng) > b->dropout))
                u[i].sampled = RELA_RANK_NONE;
            best = u[i].sampled < best ? u[i].sampled : best;
        }
        if (best == RELA_RANK_NONE)
            return;
        for (size_t i = 0; i < n; i++)
            if (u[i].sampled == best)
                join(u, b, i);
    }
}

static bool merge_with_heap(rela_bpe_word *w, const rela_bpe *b)
{
    rela_bpe_unit *u = w->units;
    bool good = true;
    w->n_heap = 0;
    for (size_t i = 0; i < w->n_units && good; i++)
        good = heap_push(w, (uint32_t)i);
    while (good && w->n_heap) {
        uint32_t rank = 0;
        size_t n_batch = 0;
        /* As in a round, all occurrences of one merge come first: pairs formed on the way have to
         * wait, even if their rank is lower. */
        good = take_batch(w, &rank, &n_batch);
        for (size_t k = 0; k < n_batch && good; k++) {
            const uint32_t i = w->batch[k];
            if (u[i].rank != rank) /* joined or changed since */
                continue;
            join(u, b, i);
            good = heap_push(w, i) && (u[i].before == RELA_UNIT_NONE || heap_push(w, u[i].before));
        }
    }
    return good;
}

/* Pops all entries of the lowest rank, from left to right. False when out of memory. */
static bool take_batch(rela_bpe_word *w, uint32_t *rank, size_t *n)
{
    *rank = (uint32_t)(w->heap[0] >> 32);
    *n = 0;
    while (w->n_heap && w->heap[0] >> 32 == *rank) {
        uint32_t *batch = rela_mem_grow(w->batch, &w->cap_batch, *n + 1, sizeof *batch);
        if (!batch)
            return false;
        w->batch = batch;
        w->batch[(*n)++] = heap_pop(w);
    }
    return true;
}

/* Joins a unit with the next one. The merges then possible with its neighbours never have the same
 * rank as this one, since their result is longer. */
static void join(rela_bpe_unit *u, const rela_bpe *b, size_t i)
{
    const uint32_t gone = u[i].after;
    u[gone].rank = RELA_RANK_NONE;
    u[gone].sampled = RELA_RANK_NONE;
    u[i].symbol = u[i].joint;
    u[i].after = u[gone].after;
    if (u[i].after != RELA_UNIT_NONE)
        u[u[i].after].before = (uint32_t)i;
    rate(u, b, i);
    if (u[i].before != RELA_UNIT_NONE)
        rate(u, b, u[i].before);
}

/* Looks up the merge of a unit with the next one. */
static void rate(rela_bpe_unit *u, const rela_bpe *b, size_t i)
{
    u[i].rank = RELA_RANK_NONE;
    if (u[i].after == RELA_UNIT_NONE)
        return;
    const rela_bpe_slot *pair = rela_bpe_pair(b, u[i].symbol, u[u[i].after].symbol);
    u[i].rank = pair->rank;
    u[i].joint = pair->joint;
}

/* A unit without a merge is not pushed. False when out of memory. */
static bool heap_push(rela_bpe_word *w, uint32_t unit)
{
    const uint64_t item = (uint64_t)w->units[unit].rank << 32 | unit;
    if (w->units[unit].rank == RELA_RANK_NONE)
        return true;
    uint64_t *heap = rela_mem_grow(w->heap, &w->cap_heap, w->n_heap + 1, sizeof *heap);
    if (!heap)
        return false;
    w->heap = heap;
    size_t i = w->n_heap++;
    for (; i > 0 && item < heap[(i - 1) / 2]; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = item;
    return true;
}

static uint32_t heap_pop(rela_bpe_word *w)
{
    uint64_t *heap = w->heap;
    const uint64_t top = heap[0], item = heap[--w->n_heap];
    size_t i = 0;
    for (size_t child = 1; child < w->n_heap; child = 2 * i + 1) {
        if (child + 1 < w->n_heap && heap[child + 1] < heap[child])
            child++;
        if (item <= heap[child])
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = item;
    return (uint32_t)top;
}

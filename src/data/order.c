/* SPDX-License-Identifier: MIT */
/* src/data/order.c - see order.h. */
#include "data/order.h"

#include "base/mem.h"
#include "base/rng.h"

#include <assert.h>
#include <string.h>

enum {
    POOL_TOKENS = 16 << 20,
    POOL_TOKENS_MAX = 256 << 20, /* keeps offsets in a pool below 2^32 bytes */
    POOL_SENTENCES = 1 << 20,
    DIGIT_BITS = 8,
    DIGITS = 1 << DIGIT_BITS
};

/* Keeps the random numbers of the order apart from those of other users of the same seed. */
static const uint64_t DOMAIN = UINT64_C(0x6f72646572) << 24;

static uint32_t find_pool_end(const rela_order *o, uint32_t begin);
static rela_status work_out_pool(rela_order *o, rela_error *err);
static rela_status reserve_pool(rela_order *o, size_t n, rela_error *err);
static void sort_pool(rela_order *o);
static void cut_pool(rela_order *o);
static void shuffle_batches(rela_order *o);
static rela_rng start_rng(const rela_order *o, uint64_t part);
static uint32_t length(const rela_order *o, uint32_t pair, size_t side);
static uint32_t longest_source(const rela_order *o, uint32_t pair);

rela_status rela_order_init(rela_order *o, const rela_order_options *options, rela_error *err)
{
    *o = (rela_order){ .options = *options };
    const rela_budget *b = &options->budget;
    if (b->target_tokens == 0 && b->source_tokens == 0 && b->sentences == 0)
        return rela_fail(err, RELA_ARG, "a batch needs a limit of tokens or sentences");
    if (options->pool_tokens > POOL_TOKENS_MAX)
        return rela_fail(err, RELA_ARG, "a pool of %llu tokens; expected at most %d",
                         (unsigned long long)options->pool_tokens, POOL_TOKENS_MAX);
    if (o->options.pool_tokens == 0)
        o->options.pool_tokens = POOL_TOKENS;
    if (o->options.pool_sentences == 0)
        o->options.pool_sentences = POOL_SENTENCES;
    return RELA_OK;
}

void rela_order_free(rela_order *o)
{
    if (!o)
        return;
    rela_mem_free(o->pair);
    rela_mem_free(o->batch_end);
    rela_mem_free(o->key);
    rela_mem_free(o->spare);
    rela_mem_free(o->cut);
    rela_mem_free(o->turn);
    *o = (rela_order){ .n = 0 };
}

rela_status rela_order_start(rela_order *o, const rela_store *store, uint64_t epoch, uint32_t at,
                             rela_error *err)
{
    const uint32_t n = rela_store_size(store);
    assert(at < n);
    if (n > o->cap) {
        uint32_t *p = rela_mem_array(n, sizeof *p);
        if (!p)
            return rela_fail(err, RELA_NOMEM, "no memory for the order of %u pairs", n);
        rela_mem_free(o->pair);
        o->pair = p;
        o->cap = n;
    }
    o->store = store;
    o->epoch = epoch;
    o->n = n;
    for (uint32_t i = 0; i < n; i++)
        o->pair[i] = i;
    if (!o->options.keep_order) {
        rela_rng r = start_rng(o, 0);
        rela_rng_shuffle(&r, o->pair, n);
    }
    o->pool_begin = 0;
    while ((o->pool_end = find_pool_end(o, o->pool_begin)) <= at)
        o->pool_begin = o->pool_end;
    return work_out_pool(o, err);
}

rela_status rela_order_next_pool(rela_order *o, rela_error *err)
{
    assert(o->pool_end < o->n);
    o->pool_begin = o->pool_end;
    o->pool_end = find_pool_end(o, o->pool_begin);
    return work_out_pool(o, err);
}

void rela_order_sort(uint64_t *key, uint64_t *spare, size_t n)
{
    uint64_t *from = key, *to = spare;
    for (int shift = 32; shift < 64; shift += DIGIT_BITS) {
        size_t place[DIGITS] = { 0 }, sum = 0;
        for (size_t i = 0; i < n; i++)
            place[from[i] >> shift & (DIGITS - 1)]++;
        for (int d = 0; d < DIGITS; d++) {
            const size_t count = place[d];
            place[d] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++)
            to[place[from[i] >> shift & (DIGITS - 1)]++] = from[i];
        uint64_t *t = from;
        from = to;
        to = t;
    }
    /* An even number of passes: the result is back in key. */
}

static uint32_t find_pool_end(const rela_order *o, uint32_t begin)
{
    uint64_t tokens = 0;
    uint32_t i = begin;
    while (i < o->n && i - begin < o->options.pool_sentences && tokens < o->options.pool_tokens) {
        for (size_t side = 0; side < rela_store_sides(o->store); side++)
            tokens += length(o, o->pair[i], side);
        i++;
    }
    return i;
}

static rela_status work_out_pool(rela_order *o, rela_error *err)
{
    const rela_status st = reserve_pool(o, o->pool_end - o->pool_begin, err);
    if (st != RELA_OK)
        return st;
    sort_pool(o);
    cut_pool(o);
    shuffle_batches(o);
    return RELA_OK;
}

static rela_status reserve_pool(rela_order *o, size_t n, rela_error *err)
{
    if (n <= o->pool_cap)
        return RELA_OK;
    o->pool_cap = 0;
    rela_mem_free(o->batch_end);
    rela_mem_free(o->key);
    rela_mem_free(o->spare);
    rela_mem_free(o->cut);
    rela_mem_free(o->turn);
    o->batch_end = rela_mem_array(n, sizeof *o->batch_end);
    o->key = rela_mem_array(n, sizeof *o->key);
    o->spare = rela_mem_array(n, sizeof *o->spare);
    o->cut = rela_mem_array(n + 1, sizeof *o->cut);
    o->turn = rela_mem_array(n, sizeof *o->turn);
    if (!o->batch_end || !o->key || !o->spare || !o->cut || !o->turn)
        return rela_fail(err, RELA_NOMEM, "no memory to sort %zu pairs", n);
    o->pool_cap = n;
    return RELA_OK;
}

/* By target length, then by source length, ascending and descending in turn: where the target
 * length changes inside a batch, the source lengths are still similar. */
static void sort_pool(rela_order *o)
{
    const size_t target = rela_store_sides(o->store) - 1;
    const uint32_t n = o->pool_end - o->pool_begin;
    uint32_t *pair = o->pair + o->pool_begin;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t s = longest_source(o, pair[i]);
        const uint32_t t = rela_store_length(o->store, pair[i], target);
        const uint32_t snake = t % 2 ? s : UINT16_MAX - s;
        o->key[i] = (uint64_t)(t << 16 | snake) << 32 | pair[i];
    }
    rela_order_sort(o->key, o->spare, n);
    for (uint32_t i = 0; i < n; i++)
        pair[i] = (uint32_t)o->key[i];
}

/* cut[0 .. n_batches] are the batch boundaries in the sorted pool, relative to its start. */
static void cut_pool(rela_order *o)
{
    const size_t target = rela_store_sides(o->store) - 1;
    const rela_budget *b = &o->options.budget;
    const uint32_t n = o->pool_end - o->pool_begin;
    const uint32_t *pair = o->pair + o->pool_begin;
    uint64_t src = 0, tgt = 0;
    o->n_batches = 0;
    o->cut[0] = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t first = o->cut[o->n_batches];
        const uint32_t s = longest_source(o, pair[i]) + o->options.extra[0];
        const uint32_t t = length(o, pair[i], target);
        const bool full = (b->source_tokens && src + s > b->source_tokens) ||
                          (b->target_tokens && tgt + t > b->target_tokens) ||
                          (b->sentences && i - first >= b->sentences);
        if (full && i > first) {
            o->cut[++o->n_batches] = i;
            src = tgt = 0;
        }
        src += s;
        tgt += t;
    }
    o->cut[++o->n_batches] = n;
}

static void shuffle_batches(rela_order *o)
{
    const uint32_t n = o->pool_end - o->pool_begin;
    uint32_t *pair = o->pair + o->pool_begin;
    uint32_t *sorted = (uint32_t *)o->spare; /* the keys are no longer needed */
    memcpy(sorted, pair, n * sizeof *pair);
    for (uint32_t i = 0; i < o->n_batches; i++)
        o->turn[i] = i;
    if (!o->options.keep_order) {
        rela_rng r = start_rng(o, (uint64_t)o->pool_begin + 1);
        rela_rng_shuffle(&r, o->turn, o->n_batches);
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < o->n_batches; i++) {
        const uint32_t k = o->turn[i], size = o->cut[k + 1] - o->cut[k];
        memcpy(pair + at, sorted + o->cut[k], size * sizeof *pair);
        at += size;
        o->batch_end[i] = o->pool_begin + at;
    }
}

/* A key per epoch, then one stream per part of it. */
static rela_rng start_rng(const rela_order *o, uint64_t part)
{
    rela_rng r = rela_rng_start(o->options.seed, o->epoch ^ DOMAIN);
    return rela_rng_start(rela_rng_u64(&r), part);
}

/* Without EOS. */
static uint32_t longest_source(const rela_order *o, uint32_t pair)
{
    uint32_t longest = 0;
    for (size_t side = 0; side + 1 < rela_store_sides(o->store); side++) {
        const uint32_t n = rela_store_length(o->store, pair, side);
        longest = n > longest ? n : longest;
    }
    return longest;
}

/* With EOS; an empty side has none. */
static uint32_t length(const rela_order *o, uint32_t pair, size_t side)
{
    const uint32_t n = rela_store_length(o->store, pair, side);
    return n ? n + o->options.extra[side] : 0;
}

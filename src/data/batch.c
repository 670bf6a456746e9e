/* SPDX-License-Identifier: MIT */
/* src/data/batch.c - see batch.h. Records on disk are read a pool at a time in file order, so
 * that the disk sees long sequential reads and not one seek per sentence. */
#include "data/batch.h"

#include "base/mem.h"
#include "base/str.h"

#include <assert.h>
#include <string.h>

enum {
    READ_BYTES = 1 << 20, /* one read of the scratch file */
    GAP_BYTES = 16 << 10, /* reading over such a gap is cheaper than another read */
    END_SYMBOL = 2
};

struct rela_batches {
    rela_batches_options options;
    const rela_store *store;
    rela_order order;
    bool started;  /* the order is that of position.epoch */
    bool loaded;   /* the pool holds the records of the order's pool (stores on disk only) */
    uint32_t turn; /* index in the pool of the batch at the position */
    rela_position position;
    rela_padding padding;
    /* the current batch */
    size_t n_sides;
    int32_t *ids[RELA_SIDES_MAX];
    size_t ids_cap[RELA_SIDES_MAX];
    uint32_t *offsets[RELA_SIDES_MAX];
    uint64_t *line;
    size_t rows_cap;
    /* the records of the current pool */
    rela_buffer pool, chunk;
    uint32_t *place; /* place[i]: where pair pool_begin + i of the order begins in pool */
    size_t place_cap;
};

static rela_status prepare(rela_batches *b, rela_error *err);
static rela_status start_epoch(rela_batches *b, rela_error *err);
static rela_status load_pool(rela_batches *b, rela_error *err);
static size_t run_length(const rela_batches *b, const uint64_t *key, size_t n);
static rela_status load_run(rela_batches *b, const uint64_t *key, size_t n, rela_error *err);
static rela_status reserve(rela_batches *b, uint32_t n, const size_t *tokens, rela_error *err);
static rela_status fill(rela_batches *b, uint32_t begin, uint32_t end, rela_error *err);
static void put_row(rela_batches *b, uint32_t pair, uint32_t row, uint32_t in_pool);
static void count_padding(rela_batches *b, uint32_t n);

void rela_batches_options_init(rela_batches_options *o, uint32_t target_tokens)
{
    *o = (rela_batches_options){ .order = { .seed = 1,
                                            .budget = { .target_tokens = target_tokens } } };
    for (size_t side = 0; side < RELA_SIDES_MAX; side++)
        o->eos[side] = END_SYMBOL;
}

rela_status rela_batches_create(rela_batches **out, const rela_store *store,
                                const rela_batches_options *options, rela_error *err)
{
    *out = NULL;
    if (rela_store_size(store) == 0)
        return rela_fail(err, RELA_FORMAT, "no pair of sentences is left; expected at least one");
    rela_batches *b = rela_mem_zalloc(sizeof *b);
    if (!b)
        return rela_fail(err, RELA_NOMEM, "no memory for batches");
    b->options = *options;
    b->n_sides = rela_store_sides(store);
    for (size_t side = 0; side < b->n_sides; side++)
        b->options.order.extra[side] = options->eos[side] >= 0;
    b->store = store;
    const rela_status st = rela_order_init(&b->order, &b->options.order, err);
    if (st == RELA_OK) {
        *out = b;
        b = NULL;
    }
    rela_batches_destroy(b);
    return st;
}

void rela_batches_destroy(rela_batches *b)
{
    if (!b)
        return;
    rela_order_free(&b->order);
    for (size_t side = 0; side < b->n_sides; side++) {
        rela_mem_free(b->ids[side]);
        rela_mem_free(b->offsets[side]);
    }
    rela_mem_free(b->line);
    rela_mem_free(b->place);
    rela_buffer_free(&b->pool);
    rela_buffer_free(&b->chunk);
    rela_mem_free(b);
}

rela_status rela_batches_next(rela_batches *b, rela_batch *batch, rela_error *err)
{
    rela_status st = prepare(b, err);
    if (st != RELA_OK)
        return st;
    const uint32_t begin = (uint32_t)b->position.sentences;
    const uint32_t end = b->order.batch_end[b->turn];
    if ((st = fill(b, begin, end, err)) != RELA_OK)
        return st;
    count_padding(b, end - begin);
    *batch = (rela_batch){ .n = end - begin,
                           .n_sides = b->n_sides,
                           .line = b->line,
                           .start = b->position,
                           .last = end == b->order.n };
    for (size_t side = 0; side < b->n_sides; side++) {
        batch->ids[side] = b->ids[side];
        batch->offsets[side] = b->offsets[side];
    }
    b->position.sentences = end;
    b->turn++;
    if (batch->last) {
        b->position = (rela_position){ b->position.epoch + 1, 0 };
        b->started = false;
    }
    batch->next = b->position;
    return RELA_OK;
}

rela_status rela_batches_seek(rela_batches *b, rela_position position, rela_error *err)
{
    const rela_position old = b->position;
    b->position = position;
    const rela_status st = start_epoch(b, err);
    if (st != RELA_OK)
        b->position = old;
    return st;
}

rela_position rela_batches_position(const rela_batches *b)
{
    return b->position;
}

rela_padding rela_batches_padding(const rela_batches *b)
{
    return b->padding;
}

double rela_padding_share(rela_padding p)
{
    return p.cells ? 1.0 - (double)p.tokens / (double)p.cells : 0.0;
}

/* Brings the order, the turn and the pool to the position. */
static rela_status prepare(rela_batches *b, rela_error *err)
{
    rela_status st = RELA_OK;
    if (!b->started) {
        st = start_epoch(b, err);
    } else if (b->turn == b->order.n_batches) {
        st = rela_order_next_pool(&b->order, err);
        b->started = st == RELA_OK; /* otherwise the pool is half done: start again */
        b->turn = 0;
        b->loaded = false;
    }
    if (st == RELA_OK && !b->loaded && rela_store_on_disk(b->store))
        st = load_pool(b, err);
    return st;
}

static rela_status start_epoch(rela_batches *b, rela_error *err)
{
    rela_status st = RELA_OK;
    b->started = b->loaded = false;
    for (;;) {
        if (b->options.generation)
            st =
                b->options.generation(b->options.generation_ctx, b->position.epoch, &b->store, err);
        if (st != RELA_OK)
            return st;
        const uint32_t n = rela_store_size(b->store);
        if (n == 0)
            return rela_fail(err, RELA_FORMAT, "no pair of sentences is left in epoch %llu",
                             (unsigned long long)b->position.epoch);
        if (b->position.sentences > n)
            return rela_fail(err, RELA_FORMAT, "position %llu is beyond the %u pairs of the epoch",
                             (unsigned long long)b->position.sentences, n);
        if (b->position.sentences < n)
            break;
        b->position = (rela_position){ b->position.epoch + 1, 0 };
    }
    const uint32_t at = (uint32_t)b->position.sentences;
    if ((st = rela_order_start(&b->order, b->store, b->position.epoch, at, err)) != RELA_OK)
        return st;
    b->turn = 0;
    while (b->order.batch_end[b->turn] <= at)
        b->turn++;
    b->started = true;
    return RELA_OK;
}

/* Sorts the pairs of the pool by index, which is their order on disk, and reads them in runs. */
static rela_status load_pool(rela_batches *b, rela_error *err)
{
    rela_order *o = &b->order;
    const uint32_t n = o->pool_end - o->pool_begin;
    uint32_t *p = rela_mem_grow(b->place, &b->place_cap, n, sizeof *p);
    if (!p)
        return rela_fail(err, RELA_NOMEM, "no memory to load %u pairs", n);
    b->place = p;
    for (uint32_t i = 0; i < n; i++)
        o->key[i] = (uint64_t)o->pair[o->pool_begin + i] << 32 | i;
    rela_order_sort(o->key, o->spare, n);
    rela_buffer_clear(&b->pool);
    rela_status st = RELA_OK;
    for (size_t i = 0, run = 0; i < n && st == RELA_OK; i += run) {
        run = run_length(b, o->key + i, n - i);
        st = load_run(b, o->key + i, run, err);
    }
    b->loaded = st == RELA_OK;
    return st;
}

/* How many of the n pairs, given in file order, one read should fetch. */
static size_t run_length(const rela_batches *b, const uint64_t *key, size_t n)
{
    const uint64_t from = rela_store_place(b->store, (uint32_t)(key[0] >> 32));
    uint64_t end = from;
    size_t i = 0;
    for (; i < n; i++) {
        const uint32_t pair = (uint32_t)(key[i] >> 32);
        const uint64_t next = rela_store_place(b->store, pair + 1);
        if (i > 0 &&
            (rela_store_place(b->store, pair) > end + GAP_BYTES || next > from + READ_BYTES))
            break;
        end = next;
    }
    return i;
}

static rela_status load_run(rela_batches *b, const uint64_t *key, size_t n, rela_error *err)
{
    const rela_store *s = b->store;
    const uint64_t from = rela_store_place(s, (uint32_t)(key[0] >> 32));
    const uint64_t to = rela_store_place(s, (uint32_t)(key[n - 1] >> 32) + 1);
    rela_buffer_clear(&b->chunk);
    rela_status st = rela_buffer_reserve(&b->chunk, (size_t)(to - from), err);
    if (st == RELA_OK)
        st = rela_store_load(s, (unsigned char *)b->chunk.data, from, to, err);
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        const uint32_t pair = (uint32_t)(key[i] >> 32);
        const uint64_t start = rela_store_place(s, pair), end = rela_store_place(s, pair + 1);
        b->place[(uint32_t)key[i]] = (uint32_t)b->pool.len;
        st = rela_buffer_append(&b->pool, b->chunk.data + (start - from), (size_t)(end - start),
                                err);
    }
    return st;
}

static rela_status fill(rela_batches *b, uint32_t begin, uint32_t end, rela_error *err)
{
    const rela_order *o = &b->order;
    size_t tokens[RELA_SIDES_MAX] = { 0 };
    for (uint32_t i = begin; i < end; i++)
        for (size_t side = 0; side < b->n_sides; side++)
            tokens[side] += rela_store_length(b->store, o->pair[i], side) + o->options.extra[side];
    const rela_status st = reserve(b, end - begin, tokens, err);
    if (st != RELA_OK)
        return st;
    for (size_t side = 0; side < b->n_sides; side++)
        b->offsets[side][0] = 0;
    for (uint32_t i = begin; i < end; i++)
        put_row(b, o->pair[i], i - begin, i - o->pool_begin);
    return RELA_OK;
}

/* Writes a pair as a row; in_pool: its index in the pool. */
static void put_row(rela_batches *b, uint32_t pair, uint32_t row, uint32_t in_pool)
{
    const unsigned char *record = b->loaded
                                      ? (unsigned char *)b->pool.data + b->place[in_pool]
                                      : rela_store_view(b->store, rela_store_place(b->store, pair));
    int32_t *ids[RELA_SIDES_MAX];
    for (size_t side = 0; side < b->n_sides; side++)
        ids[side] = b->ids[side] + b->offsets[side][row];
    b->line[row] = rela_store_decode(b->store, pair, record, ids);
    for (size_t side = 0; side < b->n_sides; side++) {
        uint32_t n = rela_store_length(b->store, pair, side);
        if (n && b->order.options.extra[side])
            ids[side][n++] = b->options.eos[side];
        b->offsets[side][row + 1] = b->offsets[side][row] + n;
    }
}

static rela_status reserve(rela_batches *b, uint32_t n, const size_t *tokens, rela_error *err)
{
    if (n + 1 > b->rows_cap) { /* these arrays share one capacity */
        size_t rows = b->rows_cap;
        uint64_t *line = rela_mem_grow(b->line, &rows, n + 1, sizeof *line);
        b->line = line ? line : b->line;
        bool good = line != NULL;
        for (size_t side = 0; side < b->n_sides; side++) {
            size_t cap = b->rows_cap;
            uint32_t *offsets = rela_mem_grow(b->offsets[side], &cap, n + 1, sizeof *offsets);
            b->offsets[side] = offsets ? offsets : b->offsets[side];
            good = good && offsets;
        }
        if (!good)
            return rela_fail(err, RELA_NOMEM, "no memory for a batch of %u rows", n);
        b->rows_cap = rows;
    }
    for (size_t side = 0; side < b->n_sides; side++) {
        int32_t *ids = rela_mem_grow(b->ids[side], &b->ids_cap[side], tokens[side], sizeof *ids);
        if (!ids)
            return rela_fail(err, RELA_NOMEM, "no memory for a batch of %zu tokens", tokens[side]);
        b->ids[side] = ids;
    }
    return RELA_OK;
}

static void count_padding(rela_batches *b, uint32_t n)
{
    b->padding.batches++;
    b->padding.sentences += n;
    for (size_t side = 0; side < b->n_sides; side++) {
        uint32_t longest = 0;
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t len = b->offsets[side][i + 1] - b->offsets[side][i];
            longest = len > longest ? len : longest;
        }
        b->padding.tokens += b->offsets[side][n];
        b->padding.cells += (uint64_t)longest * n;
    }
}

/* SPDX-License-Identifier: MIT */
/* src/data/order.h - the order of an epoch: which pair comes when, and where batches end.
 *
 * A pure function of (lengths of the store, seed, epoch, options). All pairs are shuffled, the
 * result is cut into pools, each pool is sorted by length, cut into batches, and its batches are
 * shuffled. Only one pool is worked out at a time, so memory is 4 bytes per pair plus a pool.
 * One thread at a time. */
#ifndef RELA_DATA_ORDER_H
#define RELA_DATA_ORDER_H

#include "data/store.h"

#include <stdbool.h>
#include <stdint.h>

/* What a batch may hold at most, source tokens in the longest of several; 0: no limit. A pair that
 * is over it alone gets its own batch. */
typedef struct rela_budget {
    uint32_t target_tokens, source_tokens, sentences;
} rela_budget;

typedef struct rela_order_options {
    uint64_t seed;
    rela_budget budget; /* at least one limit */
    bool keep_order;    /* nothing is shuffled: pools follow the file, batches the lengths */
    bool extra[RELA_SIDES_MAX]; /* this side gets an end symbol, which counts as a token */
    uint64_t pool_tokens;       /* all sides; 0: 16 million */
    uint32_t pool_sentences;    /* 0: 1 million */
} rela_order_options;

typedef struct rela_order {
    rela_order_options options;
    const rela_store *store;
    uint64_t epoch;
    uint32_t *pair; /* pair[i] is delivered as number i of the epoch; final for the present pool */
    uint32_t n, cap;
    uint32_t pool_begin, pool_end;
    uint32_t *batch_end; /* of the present pool, in the order of delivery */
    uint32_t n_batches;
    /* scratch for one pool */
    uint64_t *key, *spare;
    uint32_t *cut, *turn;
    size_t pool_cap;
} rela_order;

rela_status rela_order_init(rela_order *o, const rela_order_options *options, rela_error *err);
void rela_order_free(rela_order *o); /* NULL is fine */

/* Shuffles the pairs of the store for this epoch and works out the pool that holds number at. */
rela_status rela_order_start(rela_order *o, const rela_store *store, uint64_t epoch, uint32_t at,
                             rela_error *err);

/* Works out the next pool; only while pool_end < n. */
rela_status rela_order_next_pool(rela_order *o, rela_error *err);

/* Stable sort of n keys by their upper 32 bits; the result is in key, spare is overwritten. */
void rela_order_sort(uint64_t *key, uint64_t *spare, size_t n);

#endif

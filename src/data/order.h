/* SPDX-License-Identifier: MIT */
/* src/data/order.h - the order of an epoch: which pair comes when, and where batches end.
 *
 * A pure function of (lengths of the store, seed, epoch, options). All pairs are shuffled, the
 * result is cut into pools, each pool is sorted by length, cut into batches, and its batches are
 * shuffled. Only one pool is prepared at a time, so memory is 4 bytes per pair plus a pool.
 * One thread at a time. */
#ifndef RELA_DATA_ORDER_H
#define RELA_DATA_ORDER_H

#include "data/store.h"

#include <stdbool.h>
#include <stdint.h>

/* Limits of a batch; 0: no limit. Of several sources, the longest of each pair counts. A pair that
 * exceeds a limit by itself gets its own batch. */
typedef struct rela_budget {
    uint32_t target_tokens, source_tokens, sentences;
} rela_budget;

typedef struct rela_order_options {
    uint64_t seed;
    rela_budget budget;         /* at least one limit */
    bool keep_order;            /* no shuffling: pools in file order, batches by length */
    bool extra[RELA_SIDES_MAX]; /* this side gets EOS, which counts as a token */
    uint64_t pool_tokens;       /* all sides; 0: 16 million */
    uint32_t pool_sentences;    /* 0: 1 million */
} rela_order_options;

typedef struct rela_order {
    rela_order_options options;
    const rela_store *store;
    uint64_t epoch;
    uint32_t *pair; /* pair[i] is the i-th of the epoch, from 0; final for the current pool */
    uint32_t n, cap;
    uint32_t pool_begin, pool_end;
    uint32_t *batch_end; /* of the current pool, in the order of delivery */
    uint32_t n_batches;
    /* scratch for one pool */
    uint64_t *key, *spare;
    uint32_t *cut, *turn;
    size_t pool_cap;
} rela_order;

rela_status rela_order_init(rela_order *o, const rela_order_options *options, rela_error *err);
void rela_order_free(rela_order *o); /* NULL is fine */

/* Shuffles the pairs of the store for this epoch and prepares the pool that has position at. */
rela_status rela_order_start(rela_order *o, const rela_store *store, uint64_t epoch, uint32_t at,
                             rela_error *err);

/* Prepares the next pool; only while pool_end < n. */
rela_status rela_order_next_pool(rela_order *o, rela_error *err);

/* Stable sort of n keys by their upper 32 bits; the result is in key, spare is overwritten. */
void rela_order_sort(uint64_t *key, uint64_t *spare, size_t n);

#endif

/* SPDX-License-Identifier: MIT */
/* src/data/batch.h - batches of packed rows, epoch after epoch, resumable at any sentence.
 *
 * The stream has no end: after the last batch of an epoch the next epoch begins. The same store,
 * options and position always give the same batches from there on, whatever the number of threads
 * that filled the store and wherever its pairs are kept. One thread at a time. */
#ifndef RELA_DATA_BATCH_H
#define RELA_DATA_BATCH_H

#include "data/order.h"

typedef struct rela_batches rela_batches;

/* Where a stream is: the epoch, and how many of its sentences have been delivered. */
typedef struct rela_position {
    uint64_t epoch; /* from 0 */
    uint64_t sentences;
} rela_position;

/* n rows without padding; row i of a side is ids[offsets[i] .. offsets[i + 1] - 1], EOS included;
 * an empty row, possible if there are several sources, has no EOS. All pointers are lent until the
 * next call. */
typedef struct rela_batch {
    uint32_t n;
    size_t n_sides;
    const int32_t *ids[RELA_SIDES_MAX];
    const uint32_t *offsets[RELA_SIDES_MAX]; /* (n + 1) */
    const uint64_t *line;                    /* (n) line numbers in the corpus, from 1 */
    rela_position start, next;               /* before and after this batch */
    bool last;                               /* of its epoch */
} rela_batch;

/* What padding each batch to its longest row would cost. */
typedef struct rela_padding {
    uint64_t batches, sentences;
    uint64_t tokens, cells; /* all sides */
} rela_padding;

typedef struct rela_batches_options {
    rela_order_options order;    /* .extra is set from eos */
    int32_t eos[RELA_SIDES_MAX]; /* appended to each row of the side; -1: nothing */
    /* If not NULL, called when an epoch begins, and again by a seek. It may replace *store, the
     * one in use, from there on, for data that is encoded anew each epoch. A store must outlive
     * its epoch. */
    rela_status (*generation)(void *ctx, uint64_t epoch, const rela_store **store, rela_error *err);
    void *generation_ctx;
} rela_batches_options;

/* A budget of target tokens, EOS 2 on all sides, seed 1. */
void rela_batches_options_init(rela_batches_options *o, uint32_t target_tokens);

/* The store is lent for the life of the stream. RELA_FORMAT if it is empty. */
rela_status rela_batches_create(rela_batches **out, const rela_store *store,
                                const rela_batches_options *options, rela_error *err);
void rela_batches_destroy(rela_batches *b); /* NULL is fine */

/* After a failure the position has not moved: the call may be repeated. */
rela_status rela_batches_next(rela_batches *b, rela_batch *batch, rela_error *err);

/* The next batch begins exactly there, if need be with the rest of a batch. sentences may equal
 * the size of the epoch (the next epoch follows); more is RELA_FORMAT, as positions come from
 * checkpoints. */
rela_status rela_batches_seek(rela_batches *b, rela_position position, rela_error *err);
rela_position rela_batches_position(const rela_batches *b);

rela_padding rela_batches_padding(const rela_batches *b); /* of all batches delivered so far */
double rela_padding_share(rela_padding p);                /* 0 .. 1; 0 if there was no batch */

#endif

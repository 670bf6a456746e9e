/* SPDX-License-Identifier: MIT */
/* src/model/generator.h - incremental generation with one net: read sources once, then one step at
 * a time for any set of hypotheses.
 *
 * A generator is scratch and caches of one thread. Reserving may allocate; reading and stepping
 * never do. A sentence gives the same bits whatever else is in its batch. */
#ifndef RELA_MODEL_GENERATOR_H
#define RELA_MODEL_GENERATOR_H

#include "base/callback.h"
#include "model/packed.h"

typedef struct rela_generator rela_generator;

/* Upper limits until the next reservation. */
typedef struct rela_generator_size {
    size_t sentences;
    size_t src_rows;      /* tokens of one source of all sentences, ends included */
    size_t src_len;       /* of the longest, end included */
    size_t rows;          /* hypotheses of all sentences */
    size_t sentence_rows; /* hypotheses of one sentence */
    size_t steps;         /* positions of a hypothesis */
    size_t chosen;        /* symbols in the lists of all sentences (rela_generator_choose), each
                           * list rounded up to a multiple of RELA_CHOSEN_UNIT; 0: no lists */
    bool tapped;          /* steps may have a tap */
} rela_generator_size;

enum { RELA_CHOSEN_UNIT = 64 }; /* a multiple of every panel size */

/* w is lent and must outlive the generator. */
rela_status rela_generator_create(rela_generator **out, const rela_packed_weights *w,
                                  rela_error *err);
void rela_generator_destroy(rela_generator *g); /* NULL is fine */

/* To be called before reading; discards what was read. Allocates only if something must grow. */
rela_status rela_generator_reserve(rela_generator *g, const rela_generator_size *size,
                                   rela_error *err);
/* May be called at any time; keeps the contents of the slots. */
rela_status rela_generator_reserve_slots(rela_generator *g, size_t n_slots, rela_error *err);

/* Polled between blocks from now on, lent; NULL: none. After it has stopped the work, only a
 * reservation may follow. */
void rela_generator_callback_set(rela_generator *g, rela_callback *callback);

/* Runs the blocks of the source streams; each sentence ends with the end symbol. With several
 * sources a sentence may be empty in some of them. */
void rela_generator_read(rela_generator *g, const rela_tokens *sources);

/* After reading: restricts sentence i to the symbols ids[at[i]] .. ids[at[i + 1] - 1], ascending;
 * an empty list: all symbols. Gathers their rows of the output matrix. */
void rela_generator_choose(rela_generator *g, const uint32_t *ids, const size_t *at);

/* Returns the hidden states (n, d) of the rows, from which logits are computed; lent until the
 * next call. tap: NULL, or receives the cross-attention weights, with the row in place of the
 * sentence. */
const real *rela_generator_step(rela_generator *g, const rela_step_rows *rows,
                                const rela_attn_tap *tap);
/* Logits of the rows of the last step for the symbols [first, first + n): (rows, ld). first is a
 * multiple of the kernels' panel. */
void rela_generator_logits(const rela_generator *g, real *logits, size_t ld, size_t first,
                           size_t n);
/* The same for the rows [row, row + rows), which belong to one sentence, and the symbols of its
 * list: first and n count those. Each logit has the same bits as among all symbols. */
void rela_generator_logits_chosen(const rela_generator *g, real *logits, size_t ld, size_t sentence,
                                  size_t row, size_t rows, size_t first, size_t n);

#endif

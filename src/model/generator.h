/* SPDX-License-Identifier: MIT */
/* src/model/generator.h - incremental generation with one net: read sources once, then one step at
 * a time for any set of hypotheses.
 *
 * A generator is scratch and caches of one thread. Reserving may allocate; reading and stepping
 * never do. A sentence gives the same bits whatever else is in its batch. */
#ifndef RELA_MODEL_GENERATOR_H
#define RELA_MODEL_GENERATOR_H

#include "model/packed.h"

typedef struct rela_generator rela_generator;

/* The most that will be asked for until the next reservation. */
typedef struct rela_generator_size {
    size_t sentences;
    size_t src_rows;      /* tokens of one source of all sentences, ends included */
    size_t src_len;       /* of the longest, end included */
    size_t rows;          /* hypotheses of all sentences */
    size_t sentence_rows; /* hypotheses of one sentence */
    size_t steps;         /* positions of a hypothesis */
    size_t chosen;        /* symbols of all sentences that choose some, each list rounded up to a
                           * multiple of RELA_CHOSEN_UNIT; 0: none does */
} rela_generator_size;

enum { RELA_CHOSEN_UNIT = 64 }; /* a multiple of every panel */

/* w is lent and must outlive the generator. */
rela_status rela_generator_create(rela_generator **out, const rela_packed_weights *w,
                                  rela_error *err);
void rela_generator_destroy(rela_generator *g); /* NULL is fine */

/* Before reading; forgets what was read. Allocates only if something must grow. */
rela_status rela_generator_reserve(rela_generator *g, const rela_generator_size *size,
                                   rela_error *err);
/* At any time; what is in the slots is kept. */
rela_status rela_generator_reserve_slots(rela_generator *g, size_t n_slots, rela_error *err);

/* Runs the blocks of the sources (one or several); each sentence ends with the end symbol, or is
 * empty in some of several sources. */
void rela_generator_read(rela_generator *g, const rela_tokens *sources);

/* After reading: sentence i can produce only the symbols ids[at[i]] .. ids[at[i + 1] - 1], rising;
 * none: all. Their rows of the output matrix are put together. */
void rela_generator_choose(rela_generator *g, const uint32_t *ids, const size_t *at);

/* Features (n, d) of the rows; lent until the next call. tap: NULL, or sees cross weights, with the
 * row in place of the sentence. */
const real *rela_generator_step(rela_generator *g, const rela_step_rows *rows,
                                const rela_attn_tap *tap);
/* Logits of the rows of the last step for the symbols [first, first + n): (rows, ld). first is a
 * multiple of the kernels' panel. */
void rela_generator_logits(const rela_generator *g, real *logits, size_t ld, size_t first,
                           size_t n);
/* The same for the rows [row, row + rows), which belong to one sentence, and the symbols that it
 * has chosen: first and n count those. Each logit has the bits that it has among all. */
void rela_generator_logits_chosen(const rela_generator *g, real *logits, size_t ld, size_t sentence,
                                  size_t row, size_t rows, size_t first, size_t n);

#endif

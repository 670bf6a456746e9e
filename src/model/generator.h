/* SPDX-License-Identifier: MIT */
/* src/model/generator.h - incremental generation with one net: sources are read when they come, and
 * all hypotheses that live make one step at a time.
 *
 * A sentence has a *place*, a small number that the caller gives it: its memory of the source and
 * its list of symbols are kept there until the next sentence at that place. A generator is scratch
 * and caches of one thread. Reserving may allocate; reading and stepping never do. A sentence gives
 * the same bits whatever else lives beside it. */
#ifndef RELA_MODEL_GENERATOR_H
#define RELA_MODEL_GENERATOR_H

#include "base/callback.h"
#include "model/packed.h"

typedef struct rela_generator rela_generator;

/* Upper limits until the next reservation. */
typedef struct rela_generator_size {
    size_t places;
    size_t src_rows;   /* tokens of one source of all sentences read together, ends included */
    size_t src_len;    /* of the longest sentence, end included */
    size_t src_kept;   /* tokens of one source of all sentences that have a place, each rounded up
                        * by rela_memory_ld */
    size_t rows;       /* hypotheses of all sentences */
    size_t place_rows; /* hypotheses of one sentence */
    size_t steps;      /* positions of a hypothesis */
    bool tapped;       /* steps may have a tap */
} rela_generator_size;

enum { RELA_CHOSEN_UNIT = 64 }; /* a multiple of every panel size */

/* w is lent and must outlive the generator. */
rela_status rela_generator_create(rela_generator **out, const rela_packed_weights *w,
                                  rela_error *err);
void rela_generator_destroy(rela_generator *g); /* NULL is fine */

/* May be called between steps; keeps what is at the places. Allocates only if something must grow,
 * frees what is smaller than before only if all sizes are 0. */
rela_status rela_generator_reserve(rela_generator *g, const rela_generator_size *size,
                                   rela_error *err);
/* Room at one place, whose contents are lost: n_src[i] tokens of source i, end included, and a list
 * of n_chosen symbols (rela_generator_choose); 0: all symbols. Allocates only for a longer list. */
rela_status rela_generator_reserve_place(rela_generator *g, size_t number, const size_t *n_src,
                                         size_t n_chosen, rela_error *err);
/* The sentence at a place has ended: its room may be used by others. */
void rela_generator_release_place(rela_generator *g, size_t number);
/* May be called at any time; keeps the contents of the slots. 0 frees all. */
rela_status rela_generator_reserve_slots(rela_generator *g, size_t n_slots, rela_error *err);

/* Polled between blocks from now on, lent; NULL: none. After it has stopped a reading, that must be
 * repeated or its places given up. */
void rela_generator_callback_set(rela_generator *g, rela_callback *callback);

/* Runs the blocks of the source streams over sentences for the given places; each sentence ends
 * with the end symbol. With several sources a sentence may be empty in some of them. */
void rela_generator_read(rela_generator *g, const rela_tokens *sources, const uint32_t *places);

/* Restricts the sentence at a place to n symbols, ascending, as many as were reserved. Gathers
 * their rows of the output matrix. */
void rela_generator_choose(rela_generator *g, size_t number, const uint32_t *ids, size_t n);

/* Returns the hidden states (n, d) of the rows, from which logits are computed; lent until the
 * next call. tap: NULL, or receives the cross-attention weights, with the row in place of the
 * sentence. */
const real *rela_generator_step(rela_generator *g, const rela_step_rows *rows,
                                const rela_attn_tap *tap);
/* Logits of the rows [row, row + rows) of the last step for the symbols [first, first + n), with
 * leading dimension ld. first is a multiple of the kernels' panel. Each logit has the same bits
 * whatever is asked for besides it. */
void rela_generator_logits(const rela_generator *g, real *logits, size_t ld, const size_t rows[2],
                           size_t first, size_t n);
/* The same for rows that belong to the sentence at a place, and the symbols of its list: first and
 * n count those. */
void rela_generator_logits_chosen(const rela_generator *g, real *logits, size_t ld, size_t number,
                                  const size_t rows[2], size_t first, size_t n);

#endif

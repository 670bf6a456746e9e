/* SPDX-License-Identifier: MIT */
/* src/model/decoder.h - incremental decoding with one net: encode sentences once, then one step at
 * a time for any set of hypotheses.
 *
 * A decoder is scratch and caches of one thread. Reserving may allocate; encoding and stepping
 * never do. A sentence gives the same bits whatever else is in its batch. */
#ifndef RELA_MODEL_DECODER_H
#define RELA_MODEL_DECODER_H

#include "model/frozen.h"

typedef struct rela_decoder rela_decoder;

/* The most that will be asked for until the next reservation. */
typedef struct rela_decoder_size {
    size_t sentences;
    size_t src_rows;      /* tokens of all sources, ends included */
    size_t src_len;       /* of the longest source, end included */
    size_t rows;          /* hypotheses of all sentences */
    size_t sentence_rows; /* hypotheses of one sentence */
    size_t steps;         /* positions of a hypothesis */
    size_t chosen;        /* symbols of all sentences that choose some, each list rounded up to a
                           * multiple of RELA_CHOSEN_UNIT; 0: none does */
} rela_decoder_size;

enum { RELA_CHOSEN_UNIT = 64 }; /* a multiple of every panel */

/* f is lent and must outlive the decoder. */
rela_status rela_decoder_create(rela_decoder **out, const rela_frozen *f, rela_error *err);
void rela_decoder_destroy(rela_decoder *d); /* NULL is fine */

/* Before encoding; forgets what was encoded. Allocates only if something must grow. */
rela_status rela_decoder_reserve(rela_decoder *d, const rela_decoder_size *size, rela_error *err);
/* At any time; what is in the slots is kept. */
rela_status rela_decoder_reserve_slots(rela_decoder *d, size_t n_slots, rela_error *err);

/* Runs the encoder; each source ends with the end symbol. */
void rela_decoder_encode(rela_decoder *d, const rela_tokens *src);

/* After encoding: sentence i can produce only the symbols ids[at[i]] .. ids[at[i + 1] - 1], rising;
 * none: all. Their rows of the output matrix are put together. */
void rela_decoder_choose(rela_decoder *d, const uint32_t *ids, const size_t *at);

/* Hypotheses of one step. Those of a sentence are neighbours and at the same position. */
typedef struct rela_decoder_rows {
    size_t n;
    const int32_t *token;     /* the last symbol; not read at position 0 */
    const uint32_t *position; /* of the symbol to be predicted */
    const uint32_t *sentence; /* rising */
    const uint32_t *history;  /* (n, ld) slots of positions 0 .. position; the last is written */
    size_t ld;                /* of history */
    const rela_attn_tap *tap; /* sees cross weights, with the row in place of the sentence */
} rela_decoder_rows;

/* Features (n, d) of the rows; lent until the next call. */
const real *rela_decoder_step(rela_decoder *d, const rela_decoder_rows *rows);
/* Logits of the rows of the last step for the symbols [first, first + n): (rows, ld). first is a
 * multiple of the kernels' panel. */
void rela_decoder_logits(const rela_decoder *d, real *logits, size_t ld, size_t first, size_t n);
/* The same for the rows [row, row + rows), which belong to one sentence, and the symbols that it
 * has chosen: first and n count those. Each logit has the bits that it has among all. */
void rela_decoder_logits_chosen(const rela_decoder *d, real *logits, size_t ld, size_t sentence,
                                size_t row, size_t rows, size_t first, size_t n);

#endif

/* SPDX-License-Identifier: MIT */
/* src/nn/embed.h - token embeddings with a shared bias and sinusoidal positions.
 *
 * x[t] = table[id] * sqrt(d) + bias + position(t). On the decoder side the sequence is shifted
 * right: the row of position 0 is the position alone, row t holds token t - 1. */
#ifndef RELA_NN_EMBED_H
#define RELA_NN_EMBED_H

#include "kern/kern.h"

/* Packed sentences: ids of sentence i at [at[i], at[i + 1]). */
typedef struct rela_tokens {
    const int32_t *ids;
    const uint32_t *at;
    size_t n;
} rela_tokens;

static inline size_t rela_tokens_rows(const rela_tokens *t)
{
    return t->at[t->n];
}

/* positions (length, d): first half sine, second half cosine, time scales 1 .. 1e4. */
void rela_positions_fill(real *positions, size_t length, size_t d);

#endif

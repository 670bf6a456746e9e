/* SPDX-License-Identifier: MIT */
/* src/nn/attention_places.h - where the sequences of an attention operator call lie: at a fixed
 * stride, or packed one after the other. */
#ifndef RELA_NN_ATTENTION_PLACES_H
#define RELA_NN_ATTENTION_PLACES_H

#include "rela/attention.h"

typedef struct rela_place {
    size_t i;          /* number of the sequence */
    size_t q0, k0, w0; /* first rows, first weight */
    size_t n_q, n_k;   /* rows without padding */
    size_t q_rows, k_rows;
} rela_place;

static inline void rela_place_measure(rela_place *p, const rela_attention_input *in)
{
    p->q_rows = in->q_step ? in->q_step : in->q_lens[p->i];
    p->k_rows = in->k_step ? in->k_step : in->k_lens[p->i];
    p->n_q = in->q_lens ? in->q_lens[p->i] : p->q_rows;
    p->n_k = in->k_lens ? in->k_lens[p->i] : p->k_rows;
}

/* May step past the last sequence: no lengths are read there. */
static inline void rela_place_next(rela_place *p, const rela_attention_input *in, size_t heads)
{
    p->i++;
    p->q0 += p->q_rows;
    p->k0 += p->k_rows;
    p->w0 += heads * p->q_rows * p->k_rows;
    if (p->i < in->n)
        rela_place_measure(p, in);
}

static inline rela_place rela_place_first(const rela_attention_input *in, size_t heads, size_t i)
{
    rela_place p = { .i = 0 };
    if (in->q_step && in->k_step) {
        p.i = i;
        p.q0 = i * in->q_step;
        p.k0 = i * in->k_step;
        p.w0 = i * heads * in->q_step * in->k_step;
    }
    rela_place_measure(&p, in);
    while (p.i < i)
        rela_place_next(&p, in, heads);
    return p;
}

#endif

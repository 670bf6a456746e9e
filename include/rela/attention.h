/* SPDX-License-Identifier: MIT */
/* include/rela/attention.h - the kinds of attention of this library, and attention as an operator
 * on plain arrays, for use without any model.
 *
 * A kind is chosen by its name; docs/attention.md has the formulas. The operator is what lies
 * between the input maps and the output map of a multi-head attention layer: scores, weights, mixed
 * values, and the norm of the kinds that have one. It is created once and then called; calls
 * allocate nothing. One operator serves one thread at a time and may itself use several. */
#ifndef RELA_ATTENTION_H
#define RELA_ATTENTION_H

#include "rela/rela.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the kinds; the texts live as long as the library; any thread may ask ---- */

/* Name of kind number i, from 0: "rela-g", "softmax". NULL past the last one. */
RELA_API const char *rela_attention_name(size_t i);

/* One line about it. NULL past the last one. */
RELA_API const char *rela_attention_summary(size_t i);

/* A hyper-parameter of a kind, set as in "topk:k=4" wherever a kind is named. */
typedef struct rela_attention_number {
    size_t struct_size;
    const char *name, *summary; /* lent for ever */
    bool whole;                 /* a whole number */
    double least, most, start;  /* start: if it is not set */
} rela_attention_number;

/* Number k of kind i, both from 0; RELA_ARG past the last one. */
RELA_API rela_status rela_attention_number_get(rela_attention_number *out, size_t i, size_t k,
                                               rela_error *err);

/* ---- the operator ---- */

typedef struct rela_attention rela_attention;

typedef struct rela_attention_options {
    size_t struct_size; /* set by _init; lets the struct grow at its end */
    const char *kind;   /* NULL: "rela-g" */
    int32_t heads;
    int32_t head_width;     /* d_h: a row has d = heads * head_width numbers */
    int32_t max_length;     /* most keys of a sequence */
    int32_t n_threads;      /* at most; 0: every core this process may use */
    bool causal;            /* query i sees the keys 0 .. i, as far as there are any */
    bool norm_per_head;     /* the norm acts on each head alone, not on all d numbers */
    double epsilon;         /* of the norm, inside the root */
    double dropout;         /* share of the weights that is dropped */
    double slope;           /* leaky-g: below zero */
    double alpha;           /* entmax */
    double fuse;            /* fusedmax: weight of the total variation */
    int32_t top;            /* topk: scores that are kept */
    int32_t window, stride; /* local, strided */
} rela_attention_options;

/* heads 8, head_width 64, max_length 1024, no dropout, the kinds' numbers as in training. */
RELA_API void rela_attention_options_init(rela_attention_options *o, size_t size);

RELA_API rela_status rela_attention_create(rela_attention **out, const rela_attention_options *o,
                                           rela_error *err);
RELA_API void rela_attention_destroy(rela_attention *a); /* NULL is fine */

/* What the kind has to learn: how many numbers of each sort (0: none), and where they start. A
 * start marked random is uniform on +-sqrt(3 / d). */
typedef struct rela_attention_learned {
    size_t struct_size;
    size_t gain, gate; /* d each */
    size_t head;       /* heads times the numbers of one head */
    bool random_gain, random_gate;
    double gain_start, head_start; /* where not random */
} rela_attention_learned;

/* out->struct_size: sizeof(rela_attention_learned) of the caller. */
RELA_API rela_status rela_attention_learned_get(rela_attention_learned *out,
                                                const rela_attention *a, rela_error *err);

/* n sequences of queries, and of the keys and values they attend to; heads stand side by side in a
 * row. Either every sequence has the same number of rows, the step, of which the first lens[i]
 * count, or, with step 0, the sequences lie concatenated without gaps. Rows that do not count
 * are never read; in results they are set to 0. */
typedef struct rela_attention_input {
    size_t struct_size;
    size_t n;
    size_t q_step, k_step;           /* rows; 0: packed, then lens must be given */
    const uint32_t *q_lens, *k_lens; /* (n); NULL: all rows count */
    const float *q, *k, *v;          /* (rows, d) */
    size_t ldq, ldk, ldv;            /* floats from one row to the next; 0: d */
    const float *gain, *gate, *head; /* as rela_attention_learned says; others are ignored */
    uint64_t seed;                   /* of dropout: forward and back must get the same one */
    bool training;                   /* dropout acts */
} rela_attention_input;

RELA_API void rela_attention_input_init(rela_attention_input *in, size_t size);

typedef struct rela_attention_output {
    size_t struct_size;
    float *y; /* (query rows, d), must not overlap any input */
    size_t ldy;
    /* May be NULL. The mixed values before the norm, (query rows, d) with leading dimension d:
     * given to the backward pass, they spare it a forward pass. */
    float *mixed;
    /* May be NULL. Weights before dropout, 0 where masked: sequence by sequence (heads, queries,
     * keys), with step the same size for each. */
    float *weights;
} rela_attention_output;

RELA_API void rela_attention_output_init(rela_attention_output *out, size_t size);

RELA_API rela_status rela_attention_forward(const rela_attention_output *out, rela_attention *a,
                                            const rela_attention_input *in, rela_error *err);

/* Gradients of the inputs have their leading dimensions and are written; those of what is learned
 * are added to, or not wanted where NULL. */
typedef struct rela_attention_gradient {
    size_t struct_size;
    const float *dy; /* (query rows, d): of the result */
    size_t lddy;
    const float *mixed;   /* of the forward pass; NULL: computed again */
    float *dq, *dk, *dv;  /* must not overlap any input or each other's columns */
    float *dgain, *dgate; /* (d) */
    float *dhead;
} rela_attention_gradient;

RELA_API void rela_attention_gradient_init(rela_attention_gradient *g, size_t size);

RELA_API rela_status rela_attention_back(const rela_attention_gradient *g, rela_attention *a,
                                         const rela_attention_input *in, rela_error *err);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/* include/rela/attention.h - the kinds of attention in this library, and attention as an operator
 * on plain arrays, for use without a model.
 *
 * A kind is chosen by name; docs/attention.md has the formulas. The operator is what lies between
 * the input projections and the output projection of a multi-head attention layer: scores,
 * weights, weighted sums of values (mixed values), and the norm of the kinds that have one. It is
 * created once and then called; calls allocate nothing. One thread at a time may call an operator,
 * which may itself use several threads. */
#ifndef RELA_ATTENTION_H
#define RELA_ATTENTION_H

#include "rela/rela.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the kinds; returned texts are static; callable from any thread ---- */

/* Name of kind number i, from 0: "rela-g", "softmax". NULL past the last one. */
RELA_API const char *rela_attention_name(size_t i);

/* One line about it. NULL past the last one. */
RELA_API const char *rela_attention_summary(size_t i);

/* A hyper-parameter of a kind; set as in "topk:k=4" wherever a kind is named. */
typedef struct rela_attention_number {
    size_t struct_size;
    const char *name, *summary; /* static */
    bool whole;                 /* an integer */
    double least, most, start;  /* start: the default */
} rela_attention_number;

/* Hyper-parameter k of kind i, both from 0; RELA_ARG past the last one. */
RELA_API rela_status rela_attention_number_get(rela_attention_number *out, size_t i, size_t k,
                                               rela_error *err);

/* ---- the operator ---- */

typedef struct rela_attention rela_attention;

typedef struct rela_attention_options {
    size_t struct_size; /* set by _init; lets the struct grow at its end */
    const char *kind;   /* NULL: "rela-g" */
    int32_t heads;
    int32_t head_width;     /* d_h: a row has d = heads * head_width numbers */
    int32_t max_length;     /* maximum number of keys in a sequence */
    int32_t n_threads;      /* at most; 0: every core this process may use */
    bool causal;            /* query i sees only keys 0 .. i */
    bool norm_per_head;     /* normalise each head separately, not all d numbers together */
    double epsilon;         /* of the norm, inside the square root */
    double dropout;         /* probability of dropping a weight */
    double slope;           /* leaky-g: slope below zero */
    double alpha;           /* entmax */
    double fuse;            /* fusedmax: weight of the total variation */
    int32_t top;            /* topk: number of scores kept */
    int32_t window, stride; /* local, strided */
    char reserved[4];       /* leave it 0 */
} rela_attention_options;

/* heads 8, head_width 64, max_length 1024, no dropout, hyper-parameters of kinds as in training. */
RELA_API void rela_attention_options_init(rela_attention_options *o, size_t size);

RELA_API rela_status rela_attention_create(rela_attention **out, const rela_attention_options *o,
                                           rela_error *err);
RELA_API void rela_attention_destroy(rela_attention *a); /* NULL is fine */

/* Learned parameters of the kind: how many of each sort (0: none), and their initial values. Those
 * marked random start uniform on +-sqrt(3 / d), with norm_per_head by the width d of a head. */
typedef struct rela_attention_learned {
    size_t struct_size;
    size_t gain, gate; /* d each */
    size_t head;       /* numbers of all other learned arrays, one after the other */
    bool random_gain, random_gate;
    double gain_start, head_start; /* initial values, if not random */
} rela_attention_learned;

/* out->struct_size: sizeof(rela_attention_learned) of the caller. */
RELA_API rela_status rela_attention_learned_get(rela_attention_learned *out,
                                                const rela_attention *a, rela_error *err);

/* n sequences of queries, and of the keys and values they attend to; a row holds all heads side by
 * side. Either every sequence is padded to the same number of rows, the step, of which the first
 * lens[i] are used, or, with step 0, the sequences are concatenated without padding. Padding rows
 * are never read; in results they are set to 0. */
typedef struct rela_attention_input {
    size_t struct_size;
    size_t n;
    size_t q_step, k_step;           /* rows; 0: concatenated, lens must be given */
    const uint32_t *q_lens, *k_lens; /* (n); NULL: no padding */
    const float *q, *k, *v;          /* (rows, d) */
    size_t ldq, ldk, ldv;            /* floats from one row to the next; 0: d */
    const float *gain, *gate, *head; /* those rela_attention_learned names; others are ignored */
    uint64_t seed;                   /* of dropout; the same for forward and back */
    bool training;                   /* apply dropout */
    char reserved[7];                /* leave it 0 */
} rela_attention_input;

RELA_API void rela_attention_input_init(rela_attention_input *in, size_t size);

typedef struct rela_attention_output {
    size_t struct_size;
    float *y; /* (query rows, d), must not overlap any input */
    size_t ldy;
    /* May be NULL. The mixed values before the norm, (query rows, d) with leading dimension d.
     * Passed to the backward pass, they save it recomputing them. */
    float *mixed;
    /* May be NULL. Weights before dropout, 0 where masked: (heads, queries, keys) of each sequence
     * in turn; with a step, all sequences have the padded size. */
    float *weights;
} rela_attention_output;

RELA_API void rela_attention_output_init(rela_attention_output *out, size_t size);

RELA_API rela_status rela_attention_forward(const rela_attention_output *out, rela_attention *a,
                                            const rela_attention_input *in, rela_error *err);

/* Gradients of q, k and v are overwritten and have the leading dimensions of q, k and v; those of
 * learned parameters are accumulated, or not computed where NULL. */
typedef struct rela_attention_gradient {
    size_t struct_size;
    const float *dy; /* (query rows, d): gradient of y */
    size_t lddy;
    const float *mixed;   /* from the forward pass; NULL: recomputed */
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

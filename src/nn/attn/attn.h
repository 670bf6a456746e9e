/* SPDX-License-Identifier: MIT */
/* src/nn/attn/attn.h - multi-head attention over packed sentences, for every kind.
 *
 * Rows of all sentences lie concatenated without padding. For one sentence and one head the queries
 * are processed in strips: scores of a strip against all keys, or a block of them, then weights,
 * then mixed values (the weighted sums of values). No more than a strip of scores ever exists, so
 * memory is linear in the length; the backward pass recomputes the scores, unless the forward pass
 * kept what makes that unnecessary. */
#ifndef RELA_NN_ATTN_ATTN_H
#define RELA_NN_ATTN_ATTN_H

#include "nn/attn/kind.h"
#include "tensor/plan.h"

/* Weights of the queries [first, first + rows) of one sentence and head, before dropout. n is 0 if
 * there are no keys: then all queries attend to nothing. */
typedef struct rela_attn_view {
    size_t layer;
    size_t stack; /* which attention it is, as the owner of rela_attn numbers them */
    size_t sentence, head;
    size_t first, rows;
    const real *w; /* (rows, n) with leading dimension ld */
    size_t n, ld;
    bool causal;
} rela_attn_view;

/* Keys that query first + i may attend to. */
static inline size_t rela_attn_view_keys(const rela_attn_view *v, size_t i)
{
    const size_t past = v->first + i + 1;
    return v->causal && past < v->n ? past : v->n;
}

/* An observer; it must not change the weights. */
typedef struct rela_attn_tap {
    void (*on_weights)(void *ctx, const rela_attn_view *v);
    void *ctx;
} rela_attn_tap;

/* How to treat weights that are exactly zero: tests and measurements may force it. */
typedef enum rela_attn_path {
    RELA_ATTN_AUTO,        /* whichever is faster for the weights at hand, unless the environment
                            * variable RELA_ATTENTION_PATH names one of the others */
    RELA_ATTN_DENSE,       /* treat them like any other weight */
    RELA_ATTN_SPARSE,      /* skip them wherever the kind allows it */
    RELA_ATTN_PREFILTERED, /* the same, and the forward pass skips scores known not to be above 0 */
    RELA_ATTN_N_PATHS
} rela_attn_path;

const char *rela_attn_path_name(rela_attn_path p); /* "auto", "dense", "sparse", "prefilter" */

typedef struct rela_attn {
    const rela_kern *k;
    const rela_attn_kind *kind;
    const real *numbers; /* hyper-parameters of the kind; NULL if it has none */
    size_t heads, d_head;
    size_t ldz; /* leading dimension of mixed values and their gradient; 0: heads * d_head */
    size_t first_head, all_heads; /* these heads among those of their layer; 0: all of them */
    bool causal;                  /* query i sees the keys 0 .. i, as far as there are any */
    const real *params[RELA_ATTN_PARAMS_MAX]; /* learned arrays of the kind, of all heads */
    const real *made;                         /* the array that the kind makes, if any */
    rela_drop drop;                           /* of the weights; first is unused */
    rela_attn_path path;
    void *kept; /* rela_attn_kept_words of 8 bytes, from forward to back; NULL: nothing is kept */
    const rela_attn_tap *tap; /* NULL: no tap */
    size_t layer;             /* for the tap */
    size_t stack;
} rela_attn;

/* Queries and keys of n sentences; sentence i has the rows at[i] .. at[i + 1]. */
typedef struct rela_attn_rows {
    size_t n;
    const uint32_t *q_at, *k_at;
    uint32_t first_row; /* of the queries in the whole update: dropout depends on it */
} rela_attn_rows;

/* Queries, keys and values: heads side by side in rows of the given leading dimensions. */
typedef struct rela_attn_in {
    const real *q, *k, *v;
    size_t ldq, ldk, ldv;
} rela_attn_in;

/* Gradients with the same leading dimensions, written; dparams are added to. z: the result of the
 * forward pass; may be NULL, which is slower for softmax. */
typedef struct rela_attn_grad {
    real *dq, *dk, *dv;
    real *dparams[RELA_ATTN_PARAMS_MAX];
    const real *z;
} rela_attn_grad;

enum { RELA_ATTN_OWN_MAX = 16 };

typedef struct rela_attn_scratch {
    size_t ld;                                   /* maximum reals of a row of scores */
    size_t wide;                                 /* d_head rounded up to whole vectors */
    real *keys_p, *values_p;                     /* one head, packed into panels along the keys */
    real *keys, *values;                         /* (max_len, wide): one head */
    real *dkeys, *dvalues;                       /* their gradients */
    real *queries, *dqueries;                    /* (strip, wide), scaled */
    real *mixed;                                 /* (strip, wide): mixed values or their gradient */
    real *queries_p, *mixed_p;                   /* a strip packed into panels */
    real *scores, *weights, *dweights, *dropped; /* (strip, ld) */
    real *row;                                   /* 7 rows, for row functions and patterns */
    uint32_t *visible;                           /* ld */
    real *per_query;                             /* 3 numbers for each query of a strip */
    int8_t *key_bytes, *query_bytes;             /* see prefilter of kern.h; rectified kinds only */
    int32_t *key_bound, *query_bound;
    uint64_t *may;                /* (strip, RELA_PREFILTER_WORDS) */
    real *own[RELA_ATTN_OWN_MAX]; /* arrays of a method of a kind, in its own order */
} rela_attn_scratch;

/* Scratch for sentences of up to max_len keys. */
void rela_attn_scratch_plan(rela_attn_scratch *s, rela_plan *p, const rela_attn_shape *shape,
                            size_t max_len);

/* Size of rela_attn.kept in words of 8 bytes, enough for any sentences of up to max_len keys; 0:
 * nothing is kept. Rectified kinds keep a bit for each weight, whether it is zero; in long
 * sentences for the first keys only, so that the size is linear in the rows. Softmax keeps the
 * largest score and the normaliser of every row. */
size_t rela_attn_kept_words(const rela_attn_shape *shape, size_t q_rows, size_t k_rows,
                            size_t max_len);

static inline rela_attn_shape rela_attn_shape_of(const rela_attn *a)
{
    return (rela_attn_shape){ a->kind, a->numbers, a->heads, a->d_head };
}

/* Learned arrays of one head, from those of all: see rela_attn_row. */
void rela_attn_params_of(const real *out[RELA_ATTN_PARAMS_MAX], const rela_attn *a, size_t head);

/* z (rows of queries, heads * d_head) = mixed values. dz may be dq, if ldz is ldq. */
void rela_attn_forward(const rela_attn *a, const rela_attn_scratch *s, real *z,
                       const rela_attn_in *in, const rela_attn_rows *rows);
void rela_attn_back(const rela_attn *a, const rela_attn_scratch *s, const rela_attn_grad *g,
                    const real *dz, const rela_attn_in *in, const rela_attn_rows *rows);

#endif

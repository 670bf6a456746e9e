/* SPDX-License-Identifier: MIT */
/* src/nn/attn/kind.h - what one kind of attention must provide.
 *
 * A kind answers two questions: how a row of scores becomes weights, and which norm the merged
 * heads pass through. attn.c owns everything kinds share: scores, masks, dropout, mixing of values.
 * A file kind_<family>.c defines `const rela_attn_kind rela_attn_kinds_<family>[]`, ended by an
 * empty row; the build finds it, and options, checkpoints, tests, benchmarks and documentation
 * loop over the table. See docs/howto-attention-kind.md.
 *
 * A row passed to a kind holds the n visible scores only. Masked positions are cut off by attn.c,
 * so no kind ever sees a mask, and n is never 0. */
#ifndef RELA_NN_ATTN_KIND_H
#define RELA_NN_ATTN_KIND_H

#include "tensor/params.h"

#include <stddef.h>
#include <stdint.h>

/* Promises a kind makes; attn.c relies on them, the property tests check them. */
enum {
    ATTN_POINTWISE = 1u << 0, /* a weight depends on its own score only; weigh(0) is 0 */
    ATTN_SPARSE = 1u << 1,    /* exact zeros occur */
    ATTN_SUM_ONE = 1u << 2,   /* every row sums to one */
    ATTN_NULLABLE = 1u << 3,  /* a row may be all zero: attend to nothing */
    ATTN_RECTIFIED = 1u << 5, /* POINTWISE: the weight is max(0, s) */
    ATTN_SOFT = 1u << 6,      /* the weight is exp(s) divided by the sum of those of its row */
    ATTN_ORDERED = 1u << 7,   /* the order of keys matters, as with patterns */
    ATTN_PADDED = 1u << 4     /* rows may be lengthened by RELA_ATTN_PAD, whose weights are not
                               * used (vector code then needs no tail); implied by POINTWISE, where
                               * the added scores are 0 */
};

/* The score of a padded position: below every real one, so that it never counts. */
#define RELA_ATTN_PAD ((real)-3e38)

/* A hyper-parameter of a kind, like the k of topk. Wherever a kind is named it may be set, as in
 * "topk:k=4" (spec.h). */
typedef struct rela_attn_number {
    const char *name, *summary;
    bool whole;         /* a whole number */
    double least, most; /* inclusive */
    double start;       /* default */
    /* Its name in "attention_<alias>" of files and in the option "--attn-<alias>", from before
     * kinds had numbers of their own; NULL: none. */
    const char *alias;
} rela_attn_number;

/* A learned array of a kind. */
typedef struct rela_attn_param {
    const char *name; /* in model files, after those of the block and the group */
    size_t (*size)(size_t d_head, const real *numbers); /* numbers per head; NULL: one */
    bool shared; /* by all heads of a group: there is one array, not one for each head */
    rela_init init;
} rela_attn_param;

enum { RELA_ATTN_NUMBERS_MAX = 2, RELA_ATTN_PARAMS_MAX = 4 };

/* What a row function may use besides its scores. */
typedef struct rela_attn_row {
    const rela_kern *k;
    const real *numbers;                      /* hyper-parameters, in the order of the kind */
    const real *params[RELA_ATTN_PARAMS_MAX]; /* learned arrays of this head, if there are any */
    real *dparams[RELA_ATTN_PARAMS_MAX];      /* their gradients, added to; backward only */
    real *scratch;                            /* 4 * n reals */
} rela_attn_row;

/* What the size of every array of a kind follows from. */
typedef struct rela_attn_shape {
    const struct rela_attn_kind *kind;
    const real *numbers; /* hyper-parameters of the kind; NULL if it has none */
    size_t heads, d_head;
} rela_attn_shape;

/* An array that is made, not learned, for all heads of a group, such as random features. It follows
 * from the place of the group and the number of the draw, so it is saved nowhere. In training the
 * draw depends on the update; everything else has draw 0. */
typedef struct rela_attn_made {
    size_t (*size)(const rela_attn_shape *shape);
    uint64_t (*draw)(const real *numbers, uint64_t update);
    void (*make)(real *out, const rela_attn_shape *shape, uint64_t place, uint64_t draw);
} rela_attn_made;

/* A norm of the merged heads z (rows, d); gain and gate are learned vectors of width d. */
typedef struct rela_attn_norm {
    const char *summary; /* formula for the documentation */
    bool gated;          /* has a gate besides the gain */
    bool center;         /* LayerNorm instead of RMSNorm */
    bool random_gain;    /* gain starts uniform on +-sqrt(3/d), not at 1 */
} rela_attn_norm;

extern const rela_attn_norm rela_attn_norm_rms, rela_attn_norm_rms_random, rela_attn_norm_gated,
    rela_attn_norm_gated_layer;

typedef struct rela_attn_kind {
    const char *name;
    const char *summary; /* one line for --help and the generated docs */
    uint32_t flags;

    void (*weigh)(const rela_attn_row *c, real *w, const real *s, size_t n);
    /* ds is written; it may be dw. */
    void (*weigh_back)(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                       const real *s, size_t n);

    const rela_attn_norm *norm; /* NULL: none */

    /* Optional: hyper-parameters; at most RELA_ATTN_NUMBERS_MAX, ended by an empty row. */
    const rela_attn_number *numbers;

    /* Optional: learned arrays; at most RELA_ATTN_PARAMS_MAX, ended by an empty row. */
    const rela_attn_param *params;

    /* Optional: an array that is made. */
    const rela_attn_made *made;

    /* Optional: which of the n keys a query may see; keys receives their indices, ascending, and
     * the function returns how many. NULL: all that the causal mask leaves. */
    size_t (*pattern)(const real *numbers, uint32_t *keys, size_t query, size_t n);

    /* Optional: a method of its own, in place of weigh, weigh_back and pattern. */
    const struct rela_attn_method *method;
} rela_attn_kind;

/* Whether rows of weights can be shown to taps. */
bool rela_attn_shows(const rela_attn_kind *kind);

/* The length to which a row of n visible scores is padded for a kind, and the padding itself. */
static inline size_t rela_attn_row_length(const rela_attn_kind *kind, const rela_kern *k, size_t n)
{
    const bool whole = kind->flags & (ATTN_PADDED | ATTN_POINTWISE);
    return whole ? rela_round_up(n, k->lanes) : n;
}
static inline void rela_attn_fill_row(const rela_attn_kind *kind, const rela_kern *k, real *scores,
                                      size_t n)
{
    if (rela_attn_row_length(kind, k, n) > n)
        k->cut(scores, n, kind->flags & ATTN_POINTWISE ? 0 : RELA_ATTN_PAD);
}

/* Softmax, for kinds that choose the scores it sees. */
void rela_attn_softmax(const rela_attn_row *c, real *w, const real *s, size_t n);
void rela_attn_softmax_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                            const real *s, size_t n);

/* Learned arrays: how many; the rows of array i, one for each head or one in all, and its numbers
 * per row; where they begin if all lie one after the other, and their numbers together. */
size_t rela_attn_params_n(const rela_attn_kind *kind);
size_t rela_attn_param_rows(const rela_attn_shape *s, size_t i);
size_t rela_attn_param_size(const rela_attn_shape *s, size_t i);
size_t rela_attn_params_at(size_t at[RELA_ATTN_PARAMS_MAX], const rela_attn_shape *s);

const rela_attn_kind *rela_attn_kind_find(const char *name); /* NULL if unknown */
const rela_attn_kind *rela_attn_kind_at(size_t i);           /* NULL past the end */

#endif

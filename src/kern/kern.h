/* SPDX-License-Identifier: MIT */
/* src/kern/kern.h - the table of numeric kernels that no library provides; every hot loop goes
 * through it.
 *
 * The loops are written once (loops.h) and compiled once per instruction set; a table holds the
 * versions of one level. For all entries: pointers may be unaligned, sizes may be 0, nothing is
 * allocated or locked, nothing outside the stated ranges is read or written. Gradients of
 * activations are overwritten, gradients of parameters (dg, db, du ...) are accumulated.
 * Matrices are row-major; (rows, n) beside a parameter is its shape, contiguous unless a leading
 * dimension is given. */
#ifndef RELA_KERN_KERN_H
#define RELA_KERN_KERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef RELA_REAL
#define RELA_REAL float /* the gradient tests build everything with double */
#endif
typedef RELA_REAL real;

/* Dropout mask: a hash of (key, position) is compared with a threshold, so that forward and
 * backward agree without a stored mask, whatever the threads and their order. */
typedef struct rela_drop {
    uint32_t key[2];
    uint32_t threshold; /* dropped if hash < threshold; 0: no dropout */
    real scale;         /* 1 / (1 - p) */
    uint32_t first;     /* position of element 0 of the matrix it is applied to */
} rela_drop;

/* Statistics of one row in residual_norm, kept for the backward pass. */
typedef struct rela_norm_stats {
    real mean, rstd;
} rela_norm_stats;

typedef struct rela_adam {
    real rate;         /* learning rate with both bias corrections folded in */
    real beta1, beta2; /* decay of the moments */
    real epsilon;      /* scaled to match that rate */
    real grad_scale;   /* applied to the gradient first: 1 / tokens, clipping */
    real decay;        /* decoupled weight decay times the learning rate without corrections */
} rela_adam;

/* Running sum of exponentials: exp(base) * sum. Zero-initialise. */
typedef struct rela_exp_sum {
    real base;
    double sum;
} rela_exp_sum;

/* A packed int8 matrix (n, k): row j is scale[j] times integers of magnitude at most
 * RELA_BYTE_MOST. p: panels of RELA_BYTE_PANEL rows; a panel holds the first four numbers of each
 * row, then the next four, and so on, zero-padded to whole panels and fours. The layout is the same
 * at all levels and in files. */
typedef struct rela_bytes {
    const int8_t *p;
    const real *scale;   /* (n rounded up to whole panels) */
    const int32_t *sums; /* the same shape: sum of the integers of each row */
} rela_bytes;

enum { RELA_BYTE_PANEL = 16, RELA_BYTE_MOST = 127 };

/* n rounded up to a multiple of unit. */
static inline size_t rela_round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* n rounded up to whole panels, and the size of p in bytes. */
static inline size_t rela_byte_rows(size_t n)
{
    return rela_round_up(n, RELA_BYTE_PANEL);
}
static inline size_t rela_bytes_size(size_t n, size_t k)
{
    return rela_byte_rows(n) * rela_round_up(k, 4);
}

/* Index of element i of row j in a packed matrix of depth k: see pack. */
static inline size_t rela_panel_at(size_t j, size_t i, size_t k, size_t panel)
{
    return j / panel * panel * k + i * panel + j % panel;
}

enum { RELA_FEW_MOST = 128 /* maximum number of keys of mix_few */ };

/* Backward pass of attention whose weights are max(0, score), for a block of keys and queries:
 * gradients flow only through weights that are not zero. Rows are `wide` reals, a multiple of 16.
 */
typedef struct rela_rectified {
    const real *w;              /* (n, queries); NULL: recomputed where looks has a bit set */
    const uint64_t *looks;      /* (n): see transpose_mask; used if w is NULL */
    size_t n, queries, wide;    /* queries: a multiple of the lanes, at most 64 */
    real scale;                 /* of weights that dropout keeps */
    const real *q, *dz;         /* (queries, wide) */
    const real *keys, *values;  /* (n, wide); values with leading dimension ldv */
    real *dq, *dkeys, *dvalues; /* same shapes, accumulated; dkeys with ldk, dvalues with ldv */
    size_t ldk, ldv;
} rela_rectified;

enum {
    RELA_PREFILTER_QUERIES = 64, /* limits of one call of prefilter and mix_prefiltered */
    RELA_PREFILTER_KEYS = 128,
    RELA_PREFILTER_WORDS = RELA_PREFILTER_KEYS / 64, /* one bit per key */
    RELA_PREFILTER_WIDEST = 1024
};

/* Bit j % 64 of bits[i * WORDS + j / 64] is set if the score of query i and key j may be above 0;
 * all other scores are below. */
typedef struct rela_prefilter {
    uint64_t *bits; /* (m, WORDS) */
    size_t m, n, wide;
    const int8_t *queries, *keys; /* see prefilter_queries and prefilter_keys */
    const int32_t *query_bound, *key_bound;
} rela_prefilter;

/* Attention over the scores that prefilter leaves. */
typedef struct rela_prefiltered {
    uint64_t *bits; /* (m, WORDS), from prefilter; with keeps reduced to the weights above 0 */
    size_t m, wide;
    bool keeps;
    real scale;                    /* of weights */
    const real *q, *keys, *values; /* (m, wide), (n, wide), (n, wide) */
    real *z;                       /* (m, wide), accumulated */
} rela_prefiltered;

/* Options of loss_pairs. */
typedef struct rela_r_drop_pairs {
    real smooth, scale, kl_weight;
} rela_r_drop_pairs;

typedef struct rela_kern {
    const char *name; /* "portable", "avx2", "avxvnni", "avx512", "vnni", "vbmi2", "amx"; "neon",
                       * "dotprod" */
    size_t lanes;     /* reals per vector: a good unit for padding */
    bool prefilters;  /* prefilter is several times as fast as float products */

    /* c (m, n) = sum over k of a[i * a_row + k * a_col] * b (k, n), accumulated if add. For the
     * small products of single heads, where a library call costs more than the work. */
    void (*mm)(real *c, size_t ldc, const real *a, size_t a_row, size_t a_col, const real *b,
               size_t ldb, size_t m, size_t n, size_t k, bool add);
    /* y (n, rows) with leading dimension ldy = transpose of x (rows, n) with ldx. */
    void (*transpose)(real *y, size_t ldy, const real *x, size_t ldx, size_t rows, size_t n);
    /* Copies rows of n numbers, row r times factor[r * step], zero-padded to wide >= n. */
    void (*scale_rows)(real *to, size_t ldt, const real *from, size_t ldf, size_t rows, size_t n,
                       size_t wide, const real *factor, size_t step);
    /* Sets x from element n to the end of its vector to value; nothing if n is a multiple of the
     * lanes. */
    void (*cut)(real *x, size_t n, real value);
    real (*dot)(const real *x, const real *y, size_t n);
    real (*sum_squares)(const real *x, size_t n);
    /* 0, or NaN if an element of x or the sum of squares is not finite. */
    real (*zero_if_finite)(const real *x, size_t n);
    void (*axpy)(real *y, real a, const real *x, size_t n);            /* y += a * x */
    void (*scale)(real *y, real a, size_t n);                          /* y *= a */
    void (*add_bias)(real *y, const real *b, size_t rows, size_t n);   /* y (rows, n) += b */
    void (*sum_rows)(real *db, const real *dy, size_t rows, size_t n); /* db += column sums */

    /* y = dropout(relu(y + b)), in place; and its backward pass, in place on dy, which needs only
     * the result h: the factor is 0 where h is 0, elsewhere the scale of the dropout. */
    void (*bias_relu)(real *y, const real *b, size_t rows, size_t n, const rela_drop *drop);
    void (*bias_relu_back)(real *dy, real *db, const real *h, size_t rows, size_t n, real scale);

    /* y = dropout(y), elementwise over n reals in place; the same call is its backward pass. */
    void (*dropout)(real *y, size_t n, const rela_drop *drop);
    /* The same for y (n, queries), where positions of query i start at first + i * step. */
    void (*dropout_across)(real *y, size_t n, size_t queries, const rela_drop *drop, uint32_t step);

    /* r = x + dropout(a + b); y = gain * (r - mean) * rstd + offset. r may be a; x NULL: zero. */
    void (*residual_norm)(real *y, real *r, rela_norm_stats *stats, const real *x, const real *a,
                          const real *b, const real *gain, const real *offset, size_t rows,
                          size_t d, real eps, const rela_drop *drop);
    /* dr = gradient of the sum r, plus extra (may be NULL); da = gradient through the dropout;
     * dbias += da. da and dbias may be NULL; da may be dy. */
    void (*residual_norm_back)(real *dr, real *da, real *dgain, real *doffset, real *dbias,
                               const real *dy, const real *extra, const real *r,
                               const rela_norm_stats *stats, const real *gain, size_t rows,
                               size_t d, const rela_drop *drop);

    /* Norms of the attention output: y = gain * zhat, times sigmoid(gate * z) if gate is given;
     * zhat = z / rms(z), or the LayerNorm of z if center. groups parts of a row are normalised
     * separately (1: the whole row). */
    void (*gated_norm)(real *y, const real *z, const real *gain, const real *gate, size_t rows,
                       size_t d, size_t groups, real eps, bool center);
    void (*gated_norm_back)(real *dz, real *dgain, real *dgate, const real *dy, const real *z,
                            const real *gain, const real *gate, size_t rows, size_t d,
                            size_t groups, real eps, bool center);

    /* A row of n scores s to weights w, which must not overlap; and the gradient, where ds may be
     * dw. NaN scores give weight 0 in relu and gelu. */
    void (*softmax)(real *w, const real *s, size_t n);
    void (*softmax_back)(real *ds, const real *dw, const real *w, size_t n);
    /* Online softmax, for a part of each row: scores w (rows, n) become exp(s - top). top and sum
     * are the running maximum and sum of each row, sum 0 at the start; z (rows, wide), the values
     * mixed so far, is rescaled when top changes. n is a multiple of the lanes, wide of 16. */
    void (*softmax_part)(real *w, real *top, real *sum, real *z, size_t rows, size_t n,
                         size_t wide);
    /* Softmax with known top and factor = 1 / sum, where each row is a column of w (n, queries):
     * scores become weights w = exp(s - top) * factor in place. Backward: ds = w * (dw - along), in
     * place of dw, where along is the sum of w * dw of the row. queries is a multiple of the lanes.
     */
    void (*softmax_across)(real *w, const real *top, const real *factor, size_t n, size_t queries);
    void (*softmax_across_back)(real *dw, const real *w, const real *along, size_t n,
                                size_t queries);
    void (*relu)(real *w, const real *s, size_t n);
    void (*relu_back)(real *ds, const real *dw, const real *w, size_t n);
    void (*gelu)(real *w, const real *s, size_t n); /* s times the normal distribution function */
    void (*gelu_back)(real *ds, const real *dw, const real *s, size_t n);
    /* Softmax over the scores >= least; exact zeros elsewhere. Backward: softmax_back. */
    void (*softmax_from)(real *w, const real *s, real least, size_t n);
    void (*sparsemax)(real *w, const real *s, size_t n);
    void (*sparsemax_back)(real *ds, const real *dw, const real *w, size_t n);
    void (*entmax15)(real *w, const real *s, size_t n);
    void (*entmax15_back)(real *ds, const real *dw, const real *w, size_t n);
    /* alpha-entmax for b = alpha - 1 > 0; the backward pass returns the gradient of alpha. */
    void (*entmax)(real *w, const real *s, real b, size_t n);
    real (*entmax_back)(real *ds, const real *dw, const real *w, real b, size_t n);

    /* Sparse weights; n is a multiple of the lanes, wide of 16.
     * count_above: the number of elements of x (n) above 0.
     * note_above: the same, and a bit mask of them, padded to whole words.
     * transpose_mask: bit i of looks[j] is bit j of row i of bits (m, step), whose rows follow each
     * other without gaps; m is at most 64, step at most RELA_PREFILTER_KEYS; all
     * RELA_PREFILTER_KEYS looks are written. mix_few: z (rows, wide) += w (rows, n) times values
     * (n, wide), n at most RELA_FEW_MOST; bit for bit the result of mm, but faster if most of w is
     * zero. */
    size_t (*count_above)(const real *x, size_t n);
    size_t (*note_above)(uint64_t *bits, const real *x, size_t n);
    void (*transpose_mask)(uint64_t *looks, const uint64_t *bits, size_t m, size_t step);
    void (*mix_few)(real *z, const real *w, size_t rows, size_t n, const real *values, size_t wide);
    void (*rectified_back)(const rela_rectified *b);

    /* y = elu(x) + 1 and its backward pass; y may be x, dx may be dy. */
    void (*elu1)(real *y, const real *x, size_t n);
    void (*elu1_back)(real *dx, const real *dy, const real *x, size_t n);

    /* Label-smoothed cross entropy of one row of logits z (n), in place: z becomes the gradient
     * times scale. Target: 1 - smooth on gold, smooth / (n - 1) elsewhere. Returns the loss; *nll
     * is the negative log-likelihood of gold. */
    double (*loss_row)(real *z, size_t n, size_t gold, real smooth, real scale, double *nll);
    /* R-Drop: the same for two rows of logits of one target, from two dropout masks: the mean of
     * their losses plus kl_weight / 4 times KL(a, b) + KL(b, a) of their distributions. *nll: the
     * mean of both. */
    double (*loss_pairs)(real *a, real *b, size_t n, size_t gold, const rela_r_drop_pairs *o,
                         double *nll);
    /* y = log-softmax of z (n); y may be z. */
    void (*log_softmax)(real *y, const real *z, size_t n);

    void (*adam)(real *p, real *m, real *v, const real *g, size_t n, const rela_adam *o);

    /* Decoding. A weight w (n, k) is packed once into panels of `panel` rows, n rounded up to whole
     * panels; then c (m, n) = a (m, k) w^T + bias (NULL: none), rectified if relu. A row of c has
     * the same bits whatever m is, which oneDNN does not guarantee. Faster if p is aligned to 64
     * bytes. */
    size_t panel;
    void (*pack)(real *p, const real *w, size_t ldw, size_t n, size_t k);
    void (*unpack)(real *y, const real *p, size_t j, size_t k); /* y (k) = row j of w */
    /* Packs the n rows at[0], at[1] ... of w. */
    void (*pack_at)(real *p, const real *w, size_t ldw, const uint32_t *at, size_t n, size_t k);
    /* The same, where w is a packed matrix. */
    void (*pick)(real *p, const real *w, const uint32_t *at, size_t n, size_t k);
    void (*packed)(real *c, size_t ldc, const real *a, size_t lda, const real *p, const real *bias,
                   size_t m, size_t n, size_t k, bool relu);

    /* The same in int8. pack_bytes quantises and packs w (n, k); unpack_bytes dequantises row j.
     * bytes quantises the activations a (m, k) to q (m, ldq) and scale (m), where ldq >= k is a
     * multiple of 4; the format of q belongs to the table, whose packed_bytes must be used. Sums
     * are exact: all tables give the same bits. A row that is not finite has scale NaN, and so its
     * products are NaN. */
    void (*pack_bytes)(int8_t *p, real *scale, int32_t *sums, const real *w, size_t ldw, size_t n,
                       size_t k);
    void (*unpack_bytes)(real *y, const int8_t *p, const real *scale, size_t j, size_t k);
    /* Packs the n rows at[0], at[1] ... of a packed matrix of depth k. */
    void (*pick_bytes)(int8_t *p, real *scale, int32_t *sums, const rela_bytes *w,
                       const uint32_t *at, size_t n, size_t k);
    void (*bytes)(int8_t *q, size_t ldq, real *scale, const real *a, size_t lda, size_t m,
                  size_t k);
    void (*packed_bytes)(real *c, size_t ldc, const int8_t *q, size_t ldq, const real *rows,
                         const rela_bytes *w, const real *bias, size_t m, size_t n, size_t k,
                         bool relu);

    /* gather_scores: scores s[h * lds + j] of one query q (heads, d_head) and n keys, key j being
     * row at[j] of keys (leading dimension ld). gather_mix: z (heads, d_head) = the values of such
     * rows, weighted by w. */
    void (*gather_scores)(real *s, size_t lds, const real *q, const real *keys, size_t ld,
                          const uint32_t *at, size_t n, size_t heads, size_t d_head);
    void (*gather_mix)(real *z, const real *w, size_t ldw, const real *values, size_t ld,
                       const uint32_t *at, size_t n, size_t heads, size_t d_head);

    /* Adds exp(z) for a part of a row, n >= 1, to the sum; returns the largest z. The sum, or its
     * base, is not finite if any z is NaN or INFINITY, or if all are -INFINITY. */
    real (*exp_sum)(rela_exp_sum *sum, const real *z, size_t n);
    /* Updates the top most values of a row with a part of it, z (n), whose first element has index
     * first. at: their indices, best: their values, largest first, equal ones by ascending index;
     * have: how many there are so far. -INFINITY and NaN are never taken. Returns the new have. */
    size_t (*top)(uint32_t *at, real *best, size_t have, size_t most, const real *z, size_t n,
                  size_t first);

    /* Finds the scores that may be above 0 by an int8 product. prefilter_queries and prefilter_keys
     * quantise x (m, k) or (n, k), k a multiple of 16 and at most RELA_PREFILTER_WIDEST, and bound
     * the error; p and bound of keys are padded to whole panels. drop_bits clears the bits of
     * weights that dropout drops. mix_prefiltered computes the remaining weights and mixes values,
     * and returns how many weights are above 0. The same weights are zero as with float products;
     * others may differ by rounding, as their sums have another order. */
    void (*prefilter_queries)(int8_t *q, int32_t *bound, const real *x, size_t m, size_t k);
    void (*prefilter_keys)(int8_t *p, int32_t *bound, const real *x, size_t n, size_t k);
    void (*prefilter)(const rela_prefilter *s);
    void (*drop_bits)(uint64_t *bits, size_t m, const rela_drop *drop, uint32_t step);
    size_t (*mix_prefiltered)(const rela_prefiltered *b);

    /* Peak throughput: nothing but multiply-adds in registers, n in each of several chains. Returns
     * the number of operations, two per multiply-add; *end is the result of a chain that starts at
     * 1: x = x / 2 + 1, n times. */
    double (*multiply_adds)(real *end, size_t n);
} rela_kern;

/* Best table for this CPU; RELA_ISA in the environment may limit it. */
const rela_kern *rela_kern_get(void);
/* All tables that this CPU can run, slowest first; NULL past the end. */
const rela_kern *rela_kern_at(size_t level);
const rela_kern *rela_kern_find(const char *name); /* NULL: unknown or not usable here */

/* The hash of dropout, for tests and for other users of the same masks. */
uint32_t rela_drop_hash(const uint32_t key[2], uint32_t position);
/* The mask for one use of dropout (site) in one update; p in [0, 1). */
rela_drop rela_drop_make(double p, uint64_t seed, uint64_t update, uint32_t site, uint32_t first);

#endif

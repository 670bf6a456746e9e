/* SPDX-License-Identifier: MIT */
/* src/kern/kern.h - the table of numeric loops that no library has; every hot loop goes through it.
 *
 * The loops are written once (loops.h) and compiled once per instruction set; a table holds the
 * versions of one level. Holds for all entries: pointers may be unaligned, sizes may be 0, nothing
 * is allocated or locked, nothing outside the stated ranges is read or written. Gradients of
 * activations are written, gradients of parameters (dg, db, du ...) are added to.
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

/* Which elements dropout keeps: a hash of (key, position) against a threshold, so that forward and
 * backward agree without storing a mask, whatever the threads and the order. */
typedef struct rela_drop {
    uint32_t key[2];
    uint32_t threshold; /* dropped if hash < threshold; 0: no dropout */
    real scale;         /* 1 / (1 - p) */
    uint32_t first;     /* position of element 0 of the matrix it is applied to */
} rela_drop;

/* LayerNorm after a residual sum, one row at a time (see residual_norm). */
typedef struct rela_norm_stats {
    real mean, rstd;
} rela_norm_stats;

typedef struct rela_adam {
    real rate;         /* learning rate with both bias corrections folded in */
    real beta1, beta2; /* decay of the moments */
    real epsilon;      /* scaled to match the folded rate */
    real grad_scale;   /* applied to the gradient first: 1 / tokens, clipping */
    real decay;        /* decoupled weight decay times the plain learning rate */
} rela_adam;

/* Sum of exponentials so far: exp(base) * sum. Starts as zeros. */
typedef struct rela_exp_sum {
    real base;
    double sum;
} rela_exp_sum;

/* A matrix (n, k) in int8: row j is scale[j] times whole numbers of at most RELA_BYTE_MOST. p:
 * panels of RELA_BYTE_PANEL rows; in a panel four numbers of each row, then the next four, with
 * zeros up to whole panels and fours. The same in all levels and in files. */
typedef struct rela_bytes {
    const int8_t *p;
    const real *scale;   /* (n up to whole panels) */
    const int32_t *sums; /* the same: sum of the whole numbers of each row */
} rela_bytes;

enum { RELA_BYTE_PANEL = 16, RELA_BYTE_MOST = 127 };

/* n up to whole units. */
static inline size_t rela_round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* n up to whole panels, and bytes of p. */
static inline size_t rela_byte_rows(size_t n)
{
    return rela_round_up(n, RELA_BYTE_PANEL);
}
static inline size_t rela_bytes_size(size_t n, size_t k)
{
    return rela_byte_rows(n) * rela_round_up(k, 4);
}

/* The place of number i of row j among those of depth k: see pack. */
static inline size_t rela_panel_at(size_t j, size_t i, size_t k, size_t panel)
{
    return j / panel * panel * k + i * panel + j % panel;
}

enum { RELA_FEW_MOST = 128 /* keys that mix_few takes at once */ };

/* Some keys and queries of attention whose weights are max(0, score): what flows back through the
 * weights that are not zero. Rows are `wide` reals, a multiple of 16. */
typedef struct rela_rectified {
    const real *w;              /* (n, queries); NULL: computed again where looks says so */
    const uint64_t *looks;      /* (n): see transpose_mask; only without w */
    size_t n, queries, wide;    /* queries: a multiple of the lanes, at most 64 */
    real scale;                 /* of weights that dropout left */
    const real *q, *dz;         /* (queries, wide) */
    const real *keys, *values;  /* (n, wide); values with leading dimension ldv */
    real *dq, *dkeys, *dvalues; /* the same, added to; dkeys with ldk, dvalues with ldv */
    size_t ldk, ldv;
} rela_rectified;

enum {
    RELA_SCREEN_QUERIES = 64, /* that prefilter and mix_prefiltered take at once, at most */
    RELA_SCREEN_KEYS = 128,
    RELA_SCREEN_WORDS = RELA_SCREEN_KEYS / 64, /* a bit for each key */
    RELA_SCREEN_WIDEST = 1024
};

/* Queries against keys: bit j % 64 of bits[i * WORDS + j / 64] is set if the score of query i and
 * key j may be above 0; the others are below. */
typedef struct rela_prefilter {
    uint64_t *bits; /* (m, WORDS) */
    size_t m, n, wide;
    const int8_t *queries, *keys; /* see prefilter_queries and prefilter_keys */
    const int32_t *query_bound, *key_bound;
} rela_prefilter;

/* What has weight among such scores. */
typedef struct rela_prefiltered {
    uint64_t *bits; /* of those that may be above 0; left, if keeps: of those that are */
    size_t m, wide;
    bool keeps;
    real scale;                    /* of weights */
    const real *q, *keys, *values; /* (m, wide), (n, wide), (n, wide) */
    real *z;                       /* (m, wide), added to */
} rela_prefiltered;

/* Of kern->loss_pairs. */
typedef struct rela_r_drop_pairs {
    real smooth, scale, kl_weight;
} rela_r_drop_pairs;

typedef struct rela_kern {
    const char *name; /* "portable", "avx2", "avxvnni", "avx512", "vnni", "vbmi2", "amx"; "neon",
                       * "dotprod" */
    size_t lanes;     /* reals per vector: a good unit for padding */
    bool prefilters;  /* prefilter is several times as fast as plain products */

    /* c (m, n) = sum over k of a[i * a_row + k * a_col] * b (k, n), added to c if add. For the
     * small products of single heads, where a library call costs more than the work. */
    void (*mm)(real *c, size_t ldc, const real *a, size_t a_row, size_t a_col, const real *b,
               size_t ldb, size_t m, size_t n, size_t k, bool add);
    /* y (n, rows) with leading dimension ldy = transpose of x (rows, n) with ldx. */
    void (*transpose)(real *y, size_t ldy, const real *x, size_t ldx, size_t rows, size_t n);
    /* Rows of n numbers, row r times factor[r * step], with zeros up to wide >= n. */
    void (*scale_rows)(real *to, size_t ldt, const real *from, size_t ldf, size_t rows, size_t n,
                       size_t wide, const real *factor, size_t step);
    /* From number n to the end of its vector x becomes the value; nothing if n ends a vector. */
    void (*cut)(real *x, size_t n, real value);
    real (*dot)(const real *x, const real *y, size_t n);
    real (*sum_squares)(const real *x, size_t n);
    /* 0, or NaN if a number of x or the sum of their squares is not finite. */
    real (*zero_if_finite)(const real *x, size_t n);
    void (*axpy)(real *y, real a, const real *x, size_t n);            /* y += a * x */
    void (*scale)(real *y, real a, size_t n);                          /* y *= a */
    void (*add_bias)(real *y, const real *b, size_t rows, size_t n);   /* y (rows, n) += b */
    void (*sum_rows)(real *db, const real *dy, size_t rows, size_t n); /* db += column sums */

    /* y = dropout(relu(y + b)), in place; and its backward, in place on dy, which needs only the
     * result h: where h is 0 nothing passes, elsewhere the scale of the dropout. */
    void (*bias_relu)(real *y, const real *b, size_t rows, size_t n, const rela_drop *drop);
    void (*bias_relu_back)(real *dy, real *db, const real *h, size_t rows, size_t n, real scale);

    /* y = dropout(y), elementwise over n reals in place; the same call is its own backward. */
    void (*dropout)(real *y, size_t n, const rela_drop *drop);
    /* The same for y (n, queries), where query i has the positions from first + i * step on. */
    void (*dropout_across)(real *y, size_t n, size_t queries, const rela_drop *drop, uint32_t step);

    /* r = x + dropout(a + b); y = gain * (r - mean) * rstd + offset. r may be a; x NULL: zero. */
    void (*residual_norm)(real *y, real *r, rela_norm_stats *stats, const real *x, const real *a,
                          const real *b, const real *gain, const real *offset, size_t rows,
                          size_t d, real eps, const rela_drop *drop);
    /* dr = gradient of the sum, extra added (may be NULL); da = dropout'(dr); dbias += da. da and
     * dbias may be NULL; da may be dy. */
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

    /* Rows of n scores s to weights w, which must not overlap, and gradients: ds may be dw. NaN
     * scores give weight 0 in relu and gelu. */
    void (*softmax)(real *w, const real *s, size_t n);
    void (*softmax_back)(real *ds, const real *dw, const real *w, size_t n);
    /* The same a part of each row at a time: scores w (rows, n) become exp(s - top), top and sum
     * what rows had up to here, sum 0 at their beginning; n is a multiple of the lanes, wide one
     * of 16. z (rows, wide), what was mixed with earlier parts, is made to fit a new top. */
    void (*softmax_part)(real *w, real *top, real *sum, real *z, size_t rows, size_t n,
                         size_t wide);
    /* The same where rows are columns of w (n, queries): scores become weights in place; ds = w *
     * (dw - along), in place of dw, where along is what softmax_back sums over a row. queries is a
     * multiple of the lanes; w = exp(s - top) * factor. */
    void (*softmax_across)(real *w, const real *top, const real *factor, size_t n, size_t queries);
    void (*softmax_across_back)(real *dw, const real *w, const real *along, size_t n,
                                size_t queries);
    void (*relu)(real *w, const real *s, size_t n);
    void (*relu_back)(real *ds, const real *dw, const real *w, size_t n);
    void (*gelu)(real *w, const real *s, size_t n); /* s times Gauss's distribution function */
    void (*gelu_back)(real *ds, const real *dw, const real *s, size_t n);
    /* softmax over the scores >= least; exact zeros elsewhere. Backward: softmax_back. */
    void (*softmax_from)(real *w, const real *s, real least, size_t n);
    void (*sparsemax)(real *w, const real *s, size_t n);
    void (*sparsemax_back)(real *ds, const real *dw, const real *w, size_t n);
    void (*entmax15)(real *w, const real *s, size_t n);
    void (*entmax15_back)(real *ds, const real *dw, const real *w, size_t n);
    /* alpha-entmax for b = alpha - 1 > 0; the backward pass returns the derivative by alpha. */
    void (*entmax)(real *w, const real *s, real b, size_t n);
    real (*entmax_back)(real *ds, const real *dw, const real *w, real b, size_t n);

    /* Sparse weights; n is a multiple of the lanes, wide one of 16. count_above: how many of x (n)
     * are above 0. note_above: the same, and bits says which, up to a whole word. transpose_mask:
     * bit i of looks[j] is bit j of row i of bits (m, step), which have no gaps between them; m at
     * most 64, step at most RELA_SCREEN_KEYS, as are the looks. mix_few: z (rows, wide) += w (rows,
     * n) times values (n, wide), n at most RELA_FEW_MOST; the bits of mm, faster if most of w is
     * zero.
     */
    size_t (*count_above)(const real *x, size_t n);
    size_t (*note_above)(uint64_t *bits, const real *x, size_t n);
    void (*transpose_mask)(uint64_t *looks, const uint64_t *bits, size_t m, size_t step);
    void (*mix_few)(real *z, const real *w, size_t rows, size_t n, const real *values, size_t wide);
    void (*rectified_back)(const rela_rectified *b);

    /* y = elu(x) + 1 and its gradient; y may be x, dx may be dy. */
    void (*elu1)(real *y, const real *x, size_t n);
    void (*elu1_back)(real *dx, const real *dy, const real *x, size_t n);

    /* Label-smoothed cross entropy of one row of logits z (n), in place: z becomes the gradient
     * times scale. Target: 1 - smooth on gold, smooth / (n - 1) elsewhere. Returns the loss and
     * puts the negative log-likelihood of gold into *nll. */
    double (*loss_row)(real *z, size_t n, size_t gold, real smooth, real scale, double *nll);
    /* The same of two rows of logits that two dropout masks gave for one target: the mean of
     * their losses, plus kl_weight / 4 times the divergences KL(a, b) + KL(b, a) of what they
     * predict. *nll: the mean of both. */
    double (*loss_pairs)(real *a, real *b, size_t n, size_t gold, const rela_r_drop_pairs *o,
                         double *nll);
    /* log-softmax of z (n) into y; y may be z. */
    void (*log_softmax)(real *y, const real *z, size_t n);

    void (*adam)(real *p, real *m, real *v, const real *g, size_t n, const rela_adam *o);

    /* Decoding. A weight w (n, k) is packed once into panels of `panel` columns, n rounded up to
     * whole panels; then c (m, n) = a (m, k) w^T + bias (NULL: none), rectified if relu. A row of
     * c has the same bits whatever m is, which oneDNN does not promise. p aligned to 64 bytes is
     * faster. */
    size_t panel;
    void (*pack)(real *p, const real *w, size_t ldw, size_t n, size_t k);
    void (*unpack)(real *y, const real *p, size_t j, size_t k); /* row j again */
    /* The same of the n rows at[0], at[1] ... of w. */
    void (*pack_at)(real *p, const real *w, size_t ldw, const uint32_t *at, size_t n, size_t k);
    /* The same of rows of a packed matrix. */
    void (*pick)(real *p, const real *w, const uint32_t *at, size_t n, size_t k);
    void (*packed)(real *c, size_t ldc, const real *a, size_t lda, const real *p, const real *bias,
                   size_t m, size_t n, size_t k, bool relu);

    /* The same in int8. pack_bytes rounds w (n, k); unpack_bytes is row j of it again. bytes
     * rounds the rows of a product: q (m, ldq) with ldq >= k a multiple of 4, scale (m), in a
     * form that packed_bytes of the same table understands. Sums are exact: all tables give the
     * same bits. The scale of a row that is not finite is NaN, and so are its products. */
    void (*pack_bytes)(int8_t *p, real *scale, int32_t *sums, const real *w, size_t ldw, size_t n,
                       size_t k);
    void (*unpack_bytes)(real *y, const int8_t *p, const real *scale, size_t j, size_t k);
    /* A packed matrix of n rows of another one, whose depth is k: those at[0], at[1] ... */
    void (*pick_bytes)(int8_t *p, real *scale, int32_t *sums, const rela_bytes *w,
                       const uint32_t *at, size_t n, size_t k);
    void (*bytes)(int8_t *q, size_t ldq, real *scale, const real *a, size_t lda, size_t m,
                  size_t k);
    void (*packed_bytes)(real *c, size_t ldc, const int8_t *q, size_t ldq, const real *rows,
                         const rela_bytes *w, const real *bias, size_t m, size_t n, size_t k,
                         bool relu);

    /* One query q (heads, d_head) against n keys, row at[j] of keys (leading dimension ld):
     * s[h * lds + j]. And the values of such rows mixed: z (heads, d_head). */
    void (*gather_scores)(real *s, size_t lds, const real *q, const real *keys, size_t ld,
                          const uint32_t *at, size_t n, size_t heads, size_t d_head);
    void (*gather_mix)(real *z, const real *w, size_t ldw, const real *values, size_t ld,
                       const uint32_t *at, size_t n, size_t heads, size_t d_head);

    /* Adds exp(z) of a part of a row, n >= 1, to the sum; returns the largest z. The sum, or its
     * base, is not finite if one of z is NaN or INFINITY, or all of them are -INFINITY. */
    real (*exp_sum)(rela_exp_sum *sum, const real *z, size_t n);
    /* Extends the list of the largest values of a row, best first and equal ones in rising order:
     * at their numbers, best the values, have of them at most most. z (n) is the part of the row
     * that begins with number first. -INFINITY and NaN are never taken. Returns the new have. */
    size_t (*top)(uint32_t *at, real *best, size_t have, size_t most, const real *z, size_t n,
                  size_t first);

    /* Which scores may be above 0: x (m, k) or (n, k) in int8, k a multiple of 16 and at most
     * RELA_SCREEN_WIDEST, and what must be added to be sure; p and bound of keys up to whole
     * panels. drop_bits clears those of weights that dropout drops. mix_prefiltered computes the
     * others, weights and mixed values, and returns how many are above 0: the weights that are zero
     * are those of plain products, the others have sums in another order. */
    void (*prefilter_queries)(int8_t *q, int32_t *bound, const real *x, size_t m, size_t k);
    void (*prefilter_keys)(int8_t *p, int32_t *bound, const real *x, size_t n, size_t k);
    void (*prefilter)(const rela_prefilter *s);
    void (*drop_bits)(uint64_t *bits, size_t m, const rela_drop *drop, uint32_t step);
    size_t (*mix_prefiltered)(const rela_prefiltered *b);

    /* Nothing but multiply-adds in registers, n in each of many chains: what the machine can do at
     * most. Returns the number of operations, two for a multiply-add, and puts into *end what a
     * chain that starts at 1 has become: n times x = x / 2 + 1. */
    double (*multiply_adds)(real *end, size_t n);
} rela_kern;

/* Best table for this CPU; RELA_ISA in the environment may lower it. */
const rela_kern *rela_kern_get(void);
/* All that this CPU can run, slowest first; NULL past the end. */
const rela_kern *rela_kern_at(size_t level);
const rela_kern *rela_kern_find(const char *name); /* NULL: unknown or not usable here */

/* The hash behind dropout, for tests and for other users of the same masks. */
uint32_t rela_drop_hash(const uint32_t key[2], uint32_t position);
/* p in [0, 1): the drop of the given site. */
rela_drop rela_drop_make(double p, uint64_t seed, uint64_t update, uint32_t site, uint32_t first);

#endif

/* SPDX-License-Identifier: MIT */
/* src/nn/weight.h - a parameter matrix with its storage type, and the product with it.
 *
 * Training uses unpacked rows and the GEMM of a library (kern/gemm.h). Decoding uses packed
 * weights, fp32 or int8, whose products are fast for few rows and give a row the same bits whatever
 * the other rows are (kern.h: packed). */
#ifndef RELA_NN_WEIGHT_H
#define RELA_NN_WEIGHT_H

#include "kern/kern.h"
#include "tensor/params.h"
#include "tensor/plan.h"

#include <string.h>

typedef enum rela_storage {
    RELA_STORE_F32,    /* fp32, unpacked rows */
    RELA_STORE_PANELS, /* fp32, packed */
    RELA_STORE_INT8,   /* int8 panels with a scale per row */
    RELA_N_STORAGES
} rela_storage;

/* W (n, k): n outputs, k inputs. Pointers are lent. */
typedef struct rela_weight {
    rela_storage storage;
    size_t n, k;
    const real *reals; /* RELA_STORE_F32 and RELA_STORE_PANELS */
    rela_bytes bytes;  /* RELA_STORE_INT8 */
} rela_weight;

/* The output of a product, and what is fused with it. */
typedef struct rela_linear_out {
    real *y; /* (rows, n) with leading dimension ld */
    size_t ld;
    const real *bias;      /* (n), or NULL */
    const rela_drop *relu; /* NULL, or ReLU and then this dropout; RELA_STORE_F32 needs ld == n for
                            * it and for a bias */
} rela_linear_out;

/* y = x W^T + bias for x (rows, k) with leading dimension ldx. scratch: see rela_linear_plan. */
void rela_linear(const rela_kern *kern, const rela_weight *w, const rela_linear_out *out,
                 const real *x, size_t ldx, size_t rows, rela_plan scratch);
/* The scratch of products with weights of the given storage and depth. */
void rela_linear_plan(rela_plan *scratch, rela_storage storage, size_t k, size_t rows);

/* Casts away const, for code that fills weights: for all other code they are const. */
static inline void *rela_writable(const void *p)
{
    void *q = NULL;
    memcpy(&q, &p, sizeof q);
    return q;
}

/* Rows quantised to int8 once for several products: q (rows, rela_int8_ld(k)), scale (rows). */
typedef struct rela_int8_rows {
    int8_t *q;
    real *scale;
} rela_int8_rows;
static inline size_t rela_int8_ld(size_t k)
{
    return rela_round_up(k, 4);
}
/* Both NULL, and nothing taken, if the storage is not int8. */
static inline rela_int8_rows rela_int8_rows_plan(rela_plan *p, rela_storage storage, size_t k,
                                                 size_t rows)
{
    if (storage != RELA_STORE_INT8)
        return (rela_int8_rows){ NULL, NULL };
    const rela_int8_rows r = { rela_plan_take(p, rows, rela_int8_ld(k)), rela_plan_reals(p, rows) };
    return r;
}
/* As rela_linear for contiguous x (rows, k); int8 reads `rounded` instead of x. */
void rela_linear_rounded(const rela_kern *kern, const rela_weight *w, const rela_linear_out *out,
                         const real *x, const rela_int8_rows *rounded, size_t rows);

/* Gradients of y = x W^T for unpacked W: of x (rows, k), accumulated if add, and of W,
 * accumulated. */
void rela_linear_back_input(real *dx, const real *dy, const rela_weight *w, size_t rows, bool add);
void rela_linear_back_weight(real *dw, const real *dy, const real *x, const rela_weight *w,
                             size_t rows);

/* Row j: lent by w if its rows are unpacked, otherwise unpacked into buffer (k reals). */
const real *rela_weight_row(const rela_kern *kern, const rela_weight *w, size_t j, real *buffer);
/* Rows [first, first + n) of packed weights; first is a multiple of every panel size. */
rela_weight rela_weight_rows(const rela_weight *w, size_t first, size_t n);

/* Takes the memory of packed weights: (n, k), with n rounded up to whole panels. */
rela_weight rela_weight_plan(rela_plan *p, rela_storage storage, size_t panel, size_t n, size_t k);
/* Rows of a panel; 1 if the storage is not packed. */
size_t rela_weight_panel(const rela_kern *kern, rela_storage storage);
/* Packs panel number i of the rows (n, k) into w, which rela_weight_plan gave. */
void rela_weight_pack_panel(const rela_kern *kern, const rela_weight *w, const real *rows,
                            size_t i);
/* Packs the n rows at[0], at[1] ... of `from` into w, which rela_weight_plan gave. */
void rela_weight_pick(const rela_kern *kern, const rela_weight *w, const rela_weight *from,
                      const uint32_t *at, size_t n);

#endif

/* SPDX-License-Identifier: MIT */
/* src/nn/weight.c - see weight.h. */
#include "nn/weight.h"

#include "kern/gemm.h"

#include <assert.h>

void rela_linear(const rela_kern *kern, const rela_weight *w, const rela_linear_out *out,
                 const real *x, size_t ldx, size_t rows, rela_plan scratch)
{
    if (w->storage == RELA_STORE_INT8) {
        const rela_int8_rows r = rela_int8_rows_plan(&scratch, w->storage, w->k, rows);
        kern->bytes(r.q, rela_int8_ld(w->k), r.scale, x, ldx, rows, w->k);
        rela_linear_rounded(kern, w, out, NULL, &r, rows);
        return;
    }
    if (w->storage == RELA_STORE_PANELS) {
        kern->packed(out->y, out->ld, x, ldx, w->reals, out->bias, rows, w->n, w->k,
                     out->relu != NULL);
        return;
    }
    rela_gemm_nt(out->y, out->ld, x, ldx, w->reals, w->k, rows, w->n, w->k, false);
    assert(out->ld == w->n || (!out->relu && !out->bias));
    if (out->relu)
        kern->bias_relu(out->y, out->bias, rows, w->n, out->relu);
    else if (out->bias)
        kern->add_bias(out->y, out->bias, rows, w->n);
}

void rela_linear_plan(rela_plan *scratch, rela_storage storage, size_t k, size_t rows)
{
    (void)rela_int8_rows_plan(scratch, storage, k, rows);
}

void rela_linear_rounded(const rela_kern *kern, const rela_weight *w, const rela_linear_out *out,
                         const real *x, const rela_int8_rows *rounded, size_t rows)
{
    if (w->storage == RELA_STORE_INT8)
        kern->packed_bytes(out->y, out->ld, rounded->q, rela_int8_ld(w->k), rounded->scale,
                           &w->bytes, out->bias, rows, w->n, w->k, out->relu != NULL);
    else
        rela_linear(kern, w, out, x, w->k, rows, (rela_plan){ NULL, 0 });
}

void rela_linear_back_input(real *dx, const real *dy, const rela_weight *w, size_t rows, bool add)
{
    assert(w->storage == RELA_STORE_F32);
    rela_gemm_nn(dx, w->k, dy, w->n, w->reals, w->k, rows, w->k, w->n, add);
}

void rela_linear_back_weight(real *dw, const real *dy, const real *x, const rela_weight *w,
                             size_t rows)
{
    rela_gemm_tn(dw, w->k, dy, w->n, x, w->k, w->n, w->k, rows, true);
}

const real *rela_weight_row(const rela_kern *kern, const rela_weight *w, size_t j, real *buffer)
{
    if (w->storage == RELA_STORE_F32)
        return w->reals + j * w->k;
    if (w->storage == RELA_STORE_PANELS)
        kern->unpack(buffer, w->reals, j, w->k);
    else
        kern->unpack_bytes(buffer, w->bytes.p, w->bytes.scale, j, w->k);
    return buffer;
}

rela_weight rela_weight_rows(const rela_weight *w, size_t first, size_t n)
{
    rela_weight part = *w;
    assert(first + n <= w->n);
    part.n = n;
    if (w->storage == RELA_STORE_INT8)
        part.bytes = (rela_bytes){ w->bytes.p + rela_bytes_size(first, w->k),
                                   w->bytes.scale + first, w->bytes.sums + first };
    else
        part.reals = w->reals + first * w->k;
    return part;
}

size_t rela_weight_panel(const rela_kern *kern, rela_storage storage)
{
    return storage == RELA_STORE_INT8     ? RELA_BYTE_PANEL
           : storage == RELA_STORE_PANELS ? kern->panel
                                          : 1;
}

rela_weight rela_weight_plan(rela_plan *p, rela_storage storage, size_t panel, size_t n, size_t k)
{
    const size_t whole = rela_round_up(n, panel);
    rela_weight w = { .storage = storage, .n = n, .k = k };
    if (storage == RELA_STORE_INT8) {
        w.bytes.p = rela_plan_take(p, rela_bytes_size(n, k), 1);
        w.bytes.scale = rela_plan_reals(p, whole);
        w.bytes.sums = rela_plan_take(p, whole, sizeof *w.bytes.sums);
    } else {
        w.reals = rela_plan_reals(p, whole * k);
    }
    return w;
}

static int8_t *bytes_of(const rela_weight *w)
{
    return rela_writable(w->bytes.p);
}
static real *scale_of(const rela_weight *w)
{
    return rela_writable(w->bytes.scale);
}
static int32_t *sums_of(const rela_weight *w)
{
    return rela_writable(w->bytes.sums);
}
static real *reals_of(const rela_weight *w)
{
    return rela_writable(w->reals);
}

void rela_weight_pack_panel(const rela_kern *kern, const rela_weight *w, const real *rows, size_t i)
{
    const size_t panel = rela_weight_panel(kern, w->storage), row = i * panel;
    const size_t n = w->n - row < panel ? w->n - row : panel;
    const real *from = rows + row * w->k;
    if (w->storage == RELA_STORE_INT8)
        kern->pack_bytes(bytes_of(w) + rela_bytes_size(row, w->k), scale_of(w) + row,
                         sums_of(w) + row, from, w->k, n, w->k);
    else
        kern->pack(reals_of(w) + row * w->k, from, w->k, n, w->k);
}

void rela_weight_pick(const rela_kern *kern, const rela_weight *w, const rela_weight *from,
                      const uint32_t *at, size_t n)
{
    if (from->storage == RELA_STORE_INT8)
        kern->pick_bytes(bytes_of(w), scale_of(w), sums_of(w), &from->bytes, at, n, from->k);
    else if (from->storage == RELA_STORE_PANELS)
        kern->pick(reals_of(w), from->reals, at, n, from->k);
    else /* unpacked rows are contiguous: faster */
        kern->pack_at(reals_of(w), from->reals, from->k, at, n, from->k);
}

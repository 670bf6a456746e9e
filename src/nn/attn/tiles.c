/* SPDX-License-Identifier: MIT */
/* src/nn/attn/tiles.c - the method of tiles: see tiles.h and method.h. */
#include "nn/attn/tiles.h"

#include "nn/attn/method.h"

enum { SOFT_WORDS = sizeof(rela_soft) / sizeof(uint64_t) };

static bool soft(const rela_attn_head *h)
{
    return h->a->kind->flags & ATTN_SOFT;
}

/* A tap gets whole rows from strips, and must not change a bit of the result. */
static void forward(const rela_attn_head *h, real *out, size_t ldz)
{
    if (h->a->tap)
        rela_attn_strips.forward(h, out, ldz);
    if (!h->a->tap || soft(h) || rela_attn_may_prefilter(h))
        rela_attn_tiles_forward(h, out, ldz);
}

static void back(const rela_attn_head *h, const rela_attn_head_grad *g)
{
    if (soft(h) && !(h->kept && g->z))
        rela_attn_strips.back(h, g);
    else
        rela_attn_tiles_back(h, g);
}

static size_t kept(const rela_attn_head *h)
{
    if (soft(h))
        return h->n_q * SOFT_WORDS;
    return h->n_q / RELA_ATTN_STRIP * rela_attn_kept_strip(RELA_ATTN_STRIP, h->n_k) +
           rela_attn_kept_strip(h->n_q % RELA_ATTN_STRIP, h->n_k);
}

/* A sentence has at most q_rows / STRIP whole strips, and one of m < STRIP queries. The latter has
 * at most n_k / BLOCK + 1 blocks of 2 m + 1 words, less than n_k + n_k / BLOCK + 2 m + 1 together;
 * and there are no more sentences than queries. */
static size_t kept_most(const rela_attn_shape *shape, size_t q_rows, size_t k_rows, size_t max_len)
{
    if (shape->kind->flags & ATTN_SOFT)
        return shape->heads * q_rows * SOFT_WORDS;
    if (!(shape->kind->flags & ATTN_RECTIFIED))
        return 0;
    const size_t whole = q_rows / RELA_ATTN_STRIP * rela_attn_kept_strip(RELA_ATTN_STRIP, max_len);
    return shape->heads * (whole + k_rows + k_rows / RELA_ATTN_BLOCK + 3 * q_rows);
}

const rela_attn_method rela_attn_tiles = { .plan = rela_attn_rows_plan,
                                           .forward = forward,
                                           .back = back,
                                           .kept = kept,
                                           .kept_most = kept_most };

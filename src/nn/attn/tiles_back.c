/* SPDX-License-Identifier: MIT */
/* src/nn/attn/tiles_back.c - the backward pass over tiles: see tiles.h. */
#include "nn/attn/tiles.h"

#include <string.h>

/* Rows of values, and of the gradients of keys and values, which each strip touches once. They are
 * used in place if there are not too many, otherwise copied to contiguous rows. */
typedef struct ends {
    const real *values;
    real *dkeys, *dvalues;
    size_t ldk, ldv; /* of dkeys; of values and dvalues */
    bool empty;      /* the gradients are uninitialised: the first strip overwrites them */
} ends;

enum { STAY_MOST = 256 }; /* rows used in place; more would need too many pages at once */

static ends take_ends(const rela_attn_head *h, const rela_attn_head_grad *g);
static void put_ends(const rela_attn_head *h, const rela_attn_head_grad *g, const ends *e);
static void tile_back(const rela_attn_head *h, const ends *e, const rela_tile *t, bool known);
static void tile_back_few(const rela_attn_head *h, const ends *e, const rela_tile *t,
                          const real *used, const uint64_t *looks);
static void weigh_tile_back(const rela_attn_head *h, const rela_tile *t);
static void take_soft(const rela_attn_head *h, const rela_attn_head_grad *g, const rela_tile *t);
static void drop_back(const rela_attn_head *h, const rela_tile *t, real *x);
static void hide_back(const rela_attn_head *h, const rela_tile *t, real *x);

void rela_attn_tiles_back(const rela_attn_head *h, const rela_attn_head_grad *g)
{
    const rela_attn_scratch *s = h->s;
    ends e = take_ends(h, g);
    rela_attn_take_rows(h, s->keys, h->k, h->ldk, h->n_k);
    for (size_t i = 0; i < h->n_q; i += RELA_ATTN_STRIP) {
        rela_tile t = rela_tile_at(h, i, 0);
        rela_attn_take_queries(h, i, t.m);
        rela_attn_take_rows(h, s->mixed, g->dz + i * g->ldz, g->ldz, t.m);
        bool packed = false;
        memset(s->dqueries, 0, t.m * s->wide * sizeof *s->dqueries);
        if (h->a->kind->flags & ATTN_SOFT)
            take_soft(h, g, &t);
        for (; t.n > 0; t = rela_tile_at(h, i, t.key + t.n)) {
            t.rows = t.n;
            t.across = rela_round_up(t.m, h->a->k->lanes);
            const uint64_t *kept = rela_tile_kept(h, &t);
            if (kept && kept[0]) {
                uint64_t looks[RELA_ATTN_BLOCK];
                h->a->k->transpose_mask(looks, kept + 1, t.m, kept[0]);
                tile_back_few(h, &e, &t, NULL, looks);
                continue;
            }
            if (!packed) {
                h->a->k->pack(s->queries_p, s->queries, s->wide, t.m, h->a->d_head);
                h->a->k->pack(s->mixed_p, s->mixed, s->wide, t.m, h->a->d_head);
                packed = true;
            }
            tile_back(h, &e, &t, kept != NULL);
        }
        e.empty = false;
        rela_attn_put_dqueries(h, g->dq, i, t.m);
    }
    put_ends(h, g, &e);
}

static ends take_ends(const rela_attn_head *h, const rela_attn_head_grad *g)
{
    const rela_attn_scratch *s = h->s;
    const size_t n = h->n_k, wide = s->wide;
    /* With softmax every tile is dense, and without a mask the first strip covers all keys. */
    const bool empty = (h->a->kind->flags & ATTN_SOFT) && !h->a->causal && h->n_q > 0;
    const bool stay = h->a->d_head == wide && n <= STAY_MOST;
    const ends e = stay ? (ends){ h->v, g->dk, g->dv, h->ldk, h->ldv, empty }
                        : (ends){ s->values, s->dkeys, s->dvalues, wide, wide, empty };
    if (!stay)
        rela_attn_take_rows(h, s->values, h->v, h->ldv, n);
    if (!empty) {
        rela_attn_clear_rows(e.dkeys, e.ldk, n, wide);
        rela_attn_clear_rows(e.dvalues, e.ldv, n, wide);
    }
    return e;
}

static void put_ends(const rela_attn_head *h, const rela_attn_head_grad *g, const ends *e)
{
    if (e->dkeys == g->dk)
        return;
    rela_attn_put_rows(h, g->dk, h->ldk, e->dkeys, h->n_k, NULL, 0);
    rela_attn_put_rows(h, g->dv, h->ldv, e->dvalues, h->n_k, NULL, 0);
}

/* dV += W^T dO, dW = dO V^T, dS, dQ += dS K, dK += dS^T Q. known: the forward pass found that too
 * few weights are zero to pick out the others. */
static void tile_back(const rela_attn_head *h, const ends *e, const rela_tile *t, bool known)
{
    const rela_attn *a = h->a;
    const rela_attn_scratch *s = h->s;
    const size_t wide = s->wide, at = t->key * wide, numbers = t->n * t->across;
    real *used = s->weights;
    rela_tile_weigh(h, t, s->keys + at, s->queries_p, NULL);
    if (a->kind->flags & ATTN_SOFT)
        a->k->softmax_across(s->weights, rela_soft_top(h), rela_soft_sum(h), t->rows, t->across);
    hide_back(h, t, s->weights);
    if (a->drop.threshold != 0) {
        used = s->dropped;
        memcpy(used, s->weights, numbers * sizeof *used);
        drop_back(h, t, used);
    }
    if ((a->kind->flags & ATTN_RECTIFIED) && !known &&
        rela_tile_few(h, rela_tile_share(h, t), rela_tile_few_back(h))) {
        tile_back_few(h, e, t, used, NULL);
        return;
    }
    a->k->mm(e->dvalues + t->key * e->ldv, e->ldv, used, t->across, 1, s->mixed, wide, t->n, wide,
             t->m, !e->empty);
    a->k->packed(s->dweights, t->across, e->values + t->key * e->ldv, e->ldv, s->mixed_p, NULL,
                 t->n, t->across, a->d_head, false);
    drop_back(h, t, s->dweights);
    weigh_tile_back(h, t);
    hide_back(h, t, s->dweights);
    a->k->mm(s->dqueries, wide, s->dweights, 1, t->across, s->keys + at, wide, t->m, wide, t->n,
             true);
    a->k->mm(e->dkeys + t->key * e->ldk, e->ldk, s->dweights, t->across, 1, s->queries, wide, t->n,
             wide, t->m, !e->empty);
}

/* From the weights `used` or, if NULL, from the transposed mask `looks`. */
static void tile_back_few(const rela_attn_head *h, const ends *e, const rela_tile *t,
                          const real *used, const uint64_t *looks)
{
    const rela_attn_scratch *s = h->s;
    const rela_rectified b = { .w = used,
                               .looks = looks,
                               .n = t->n,
                               .queries = t->across,
                               .wide = s->wide,
                               .scale = h->a->drop.threshold != 0 ? h->a->drop.scale : 1,
                               .q = s->queries,
                               .dz = s->mixed,
                               .keys = s->keys + t->key * s->wide,
                               .values = e->values + t->key * e->ldv,
                               .dq = s->dqueries,
                               .dkeys = e->dkeys + t->key * e->ldk,
                               .dvalues = e->dvalues + t->key * e->ldv,
                               .ldk = e->ldk,
                               .ldv = e->ldv };
    h->a->k->rectified_back(&b);
}

/* dweights become gradients of the scores, in place. */
static void weigh_tile_back(const rela_attn_head *h, const rela_tile *t)
{
    const rela_attn_scratch *s = h->s;
    if (h->a->kind->flags & ATTN_SOFT)
        h->a->k->softmax_across_back(s->dweights, s->weights, rela_soft_along(h), t->n, t->across);
    else
        h->a->kind->weigh_back(&h->row, s->dweights, s->dweights, s->weights, s->scores,
                               t->n * t->across);
}

/* Entries after the last query are zero, which makes their weights zero. The sum of all weights
 * times their gradients is the dot product of the result and its gradient. */
static void take_soft(const rela_attn_head *h, const rela_attn_head_grad *g, const rela_tile *t)
{
    const rela_soft *kept = (const rela_soft *)h->kept + t->first;
    memset(h->s->per_query, 0, sizeof(real) * 3 * RELA_ATTN_STRIP);
    for (size_t i = 0; i < t->m; i++) {
        const size_t at = (t->first + i) * g->ldz;
        rela_soft_top(h)[i] = kept[i].top;
        rela_soft_sum(h)[i] = kept[i].factor;
        rela_soft_along(h)[i] = h->a->k->dot(h->s->mixed + i * h->s->wide, g->z + at, h->a->d_head);
    }
}

static void drop_back(const rela_attn_head *h, const rela_tile *t, real *x)
{
    if (h->a->drop.threshold == 0)
        return;
    rela_drop drop = rela_attn_drop_at(h, t->first);
    drop.first += (uint32_t)t->key;
    h->a->k->dropout_across(x, t->n, t->across, &drop, rela_attn_drop_step(h->a));
}

/* Zeroes what the causal mask hides: key j is visible to the queries from number j on. After the
 * last query everything is zero anyway. */
static void hide_back(const rela_attn_head *h, const rela_tile *t, real *x)
{
    for (size_t j = 0; rela_tile_hides(h, t) && j < t->n; j++) {
        const size_t key = t->key + j, before = key > t->first ? key - t->first : 0;
        memset(x + j * t->across, 0, (before < t->across ? before : t->across) * sizeof *x);
    }
}

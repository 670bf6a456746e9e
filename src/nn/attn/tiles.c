/* SPDX-License-Identifier: MIT */
/* src/nn/attn/tiles.c - attention of kinds whose weights depend on one score only, and softmax,
 * whose rows can be joined from parts: strips of queries against blocks of keys; see head.h.
 *
 * A tile of scores stays in the nearest cache, whatever the length of the sentence. Where most of
 * its weights are zero, only the others are worked on. Forward a tile has queries as rows, backward
 * keys, so that all that flows to a key is added up in registers. */
#include "nn/attn/head.h"

#include <string.h>

/* The share of weights that are not zero, below which it is faster to pick them out, forward and
 * backward (measured). Forward it costs about the same for heads of few and of many vectors, and
 * saves more for the latter. */
static double few_forward(const rela_kern *k, size_t wide)
{
    const size_t vectors = wide / k->lanes;
    const double share = 0.112 * (double)vectors - 0.1;
    return share < 0.4 ? share : 0.4;
}

static double few_back(const rela_attn_head *h)
{
    return h->s->wide / h->a->k->lanes < 8 ? 0.5 : 0.4;
}

/* The share below which scores are prefiltered first; 0: never, there is no fast code. */
static double few_prefiltered(const rela_kern *k, size_t wide)
{
    switch (wide / k->lanes) {
    case 1:
        return 0.1;
    case 2:
    case 4:
        return 0.25;
    case 8:
        return 0.08;
    default:
        return 0;
    }
}

/* Queries [first, first + m) against the keys [key, key + n). */
typedef struct tile {
    size_t first, m, key, n;
    size_t rows, across; /* of the tile; across in whole vectors, with weights 0 after the last */
} tile;

/* Backward: rows of values, and of the gradients of keys and values, which a strip touches once.
 * They stay where they are if there are not too many, otherwise they are put side by side. */
typedef struct ends {
    const real *values;
    real *dkeys, *dvalues;
    size_t ldk, ldv; /* of dkeys; of values and dvalues */
    bool empty;      /* the gradients have no numbers yet */
} ends;

enum { STAY_MOST = 256 }; /* rows; more would need too many pages at once */

/* How many keys are there packed, and in int8; and whether the queries are. */
typedef struct prepared {
    size_t packed, prefiltered; /* whole tiles, but for the last */
    bool queries;
} prepared;

static tile tile_at(const rela_attn_head *h, size_t first, size_t key);
static double tile_forward(const rela_attn_head *h, const tile *t, bool notes);
static size_t weigh_and_note(const rela_attn_head *h, const tile *t, uint64_t *bits);
static double tile_prefiltered(const rela_attn_head *h, const tile *t);
static bool prefilters(const rela_attn_head *h, double share);
static void prepare(const rela_attn_head *h, prepared *ready, const tile *t, bool prefiltered);
static void hide_bits(const rela_attn_head *h, const tile *t, uint64_t *bits);
static ends take_ends(const rela_attn_head *h, const rela_attn_head_grad *g);
static void put_ends(const rela_attn_head *h, const rela_attn_head_grad *g, const ends *e);
static void tile_back(const rela_attn_head *h, const ends *e, const tile *t, bool known);
static void tile_back_few(const rela_attn_head *h, const ends *e, const tile *t, const real *used,
                          const uint64_t *looks);
static uint64_t *kept_at(const rela_attn_head *h, const tile *t);
static void weigh_tile(const rela_attn_head *h, const tile *t, const real *rows, const real *panels,
                       const real *bias);
static void weigh_tile_back(const rela_attn_head *h, const tile *t);
static real *soft_top(const rela_attn_head *h);
static real *soft_sum(const rela_attn_head *h);
static real *soft_along(const rela_attn_head *h);
static const real *soft_bias(const rela_attn_head *h, const tile *t);
static void finish_soft(const rela_attn_head *h, const tile *t);
static void take_soft(const rela_attn_head *h, const rela_attn_head_grad *g, const tile *t);
static bool few(const rela_attn_head *h, double share, double most);
static double share_of(const rela_attn_head *h, const tile *t);
static void drop_back(const rela_attn_head *h, const tile *t, real *x);
static bool hides(const rela_attn_head *h, const tile *t);
static void hide_keys(const rela_attn_head *h, const tile *t, real *x, real value);
static void hide_back(const rela_attn_head *h, const tile *t, real *x);

void rela_attn_tiles_forward(const rela_attn_head *h, real *out, size_t ldz)
{
    const rela_attn_scratch *s = h->s;
    prepared ready = { 0 };
    double share = 1; /* of weights that are not zero, in the tile before */
    bool notes = true;
    rela_attn_take_rows(h, s->values, h->v, h->ldv, h->n_k);
    for (size_t i = 0; i < h->n_q; i += RELA_ATTN_STRIP) {
        tile t = tile_at(h, i, 0);
        rela_attn_take_queries(h, i, t.m);
        ready.queries = false;
        memset(s->mixed, 0, t.m * s->wide * sizeof *s->mixed);
        memset(soft_sum(h), 0, t.m * sizeof *s->per_query);
        for (; t.n > 0; t = tile_at(h, i, t.key + t.n)) {
            t.rows = t.m;
            t.across = rela_round_up(t.n, h->a->k->lanes);
            const bool prefiltered = prefilters(h, share);
            prepare(h, &ready, &t, prefiltered);
            share = prefiltered ? tile_prefiltered(h, &t) : tile_forward(h, &t, notes);
            notes = few(h, share, few_back(h));
        }
        const bool soft = h->a->kind->flags & ATTN_SOFT;
        if (soft)
            finish_soft(h, &t);
        rela_attn_put_rows(h, out + i * ldz, ldz, s->mixed, t.m, soft ? soft_sum(h) : NULL, soft);
    }
}

/* Keys up to the end of the tile, and queries, in the form that it needs. */
static void prepare(const rela_attn_head *h, prepared *ready, const tile *t, bool prefiltered)
{
    const rela_kern *k = h->a->k;
    const rela_attn_scratch *s = h->s;
    const size_t end = t->key + t->n, d = h->a->d_head;
    size_t *const from = prefiltered ? &ready->prefiltered : &ready->packed;
    const real *keys = h->k + *from * h->ldk;
    if (*from < end && !prefiltered)
        k->pack(s->keys_p + *from * d, keys, h->ldk, end - *from, d);
    if (*from < end && prefiltered) {
        rela_attn_take_rows(h, s->keys + *from * s->wide, keys, h->ldk, end - *from);
        k->prefilter_keys(s->key_bytes + *from * s->wide, s->key_bound + *from,
                          s->keys + *from * s->wide, end - *from, s->wide);
    }
    *from = *from < end ? end : *from;
    if (prefiltered && !ready->queries) {
        k->prefilter_queries(s->query_bytes, s->query_bound, s->queries, t->m, s->wide);
        ready->queries = true;
    }
}

void rela_attn_tiles_back(const rela_attn_head *h, const rela_attn_head_grad *g)
{
    const rela_attn_scratch *s = h->s;
    ends e = take_ends(h, g);
    rela_attn_take_rows(h, s->keys, h->k, h->ldk, h->n_k);
    for (size_t i = 0; i < h->n_q; i += RELA_ATTN_STRIP) {
        tile t = tile_at(h, i, 0);
        rela_attn_take_queries(h, i, t.m);
        rela_attn_take_rows(h, s->mixed, g->dz + i * g->ldz, g->ldz, t.m);
        bool packed = false;
        memset(s->dqueries, 0, t.m * s->wide * sizeof *s->dqueries);
        if (h->a->kind->flags & ATTN_SOFT)
            take_soft(h, g, &t);
        for (; t.n > 0; t = tile_at(h, i, t.key + t.n)) {
            t.rows = t.n;
            t.across = rela_round_up(t.m, h->a->k->lanes);
            const uint64_t *kept = kept_at(h, &t);
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
    /* Every tile of the first strip of softmax is dense, and without a mask it has all keys. */
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

/* The tile of some queries that starts with a key; without keys after the last that they see. */
static tile tile_at(const rela_attn_head *h, size_t first, size_t key)
{
    const size_t rest = h->n_q - first, m = rest < RELA_ATTN_STRIP ? rest : RELA_ATTN_STRIP;
    const size_t n = rela_attn_reach(h, first, m) - key;
    return (
        tile){ .first = first, .m = m, .key = key, .n = n < RELA_ATTN_BLOCK ? n : RELA_ATTN_BLOCK };
}

/* Scores of rows (, wide) against packed panels, and their weights; of softmax the scores. bias:
 * NULL, or what is added to the scores across. */
static void weigh_tile(const rela_attn_head *h, const tile *t, const real *rows, const real *panels,
                       const real *bias)
{
    const rela_attn *a = h->a;
    const rela_attn_scratch *s = h->s;
    const bool rectified = a->kind->flags & ATTN_RECTIFIED, soft = a->kind->flags & ATTN_SOFT;
    a->k->packed(rectified || soft ? s->weights : s->scores, t->across, rows, s->wide, panels, bias,
                 t->rows, t->across, a->d_head, rectified);
    if (!rectified && !soft)
        a->kind->weigh(&h->row, s->weights, s->scores, t->rows * t->across);
}

/* dweights become gradients of the scores, in place. */
static void weigh_tile_back(const rela_attn_head *h, const tile *t)
{
    const rela_attn_scratch *s = h->s;
    if (h->a->kind->flags & ATTN_SOFT)
        h->a->k->softmax_across_back(s->dweights, s->weights, soft_along(h), t->n, t->across);
    else
        h->a->kind->weigh_back(&h->row, s->dweights, s->dweights, s->weights, s->scores,
                               t->n * t->across);
}

/* Numbers of softmax for each query of a strip: the largest score so far; the sum of exponentials
 * so far, and in the end and backward one divided by it; and backward the sum of all weights times
 * their gradients. */
static real *soft_top(const rela_attn_head *h)
{
    return h->s->per_query;
}

static real *soft_sum(const rela_attn_head *h)
{
    return h->s->per_query + RELA_ATTN_STRIP;
}

static real *soft_along(const rela_attn_head *h)
{
    return h->s->per_query + 2 * RELA_ATTN_STRIP;
}

/* Makes scores after the last key of a tile RELA_ATTN_PAD; NULL if there are none. */
static const real *soft_bias(const rela_attn_head *h, const tile *t)
{
    real *bias = h->row.scratch;
    if (t->n == t->across)
        return NULL;
    memset(bias, 0, t->n * sizeof *bias);
    for (size_t i = t->n; i < t->across; i++)
        bias[i] = RELA_ATTN_PAD;
    return bias;
}

/* Sums become factors, which are kept. */
static void finish_soft(const rela_attn_head *h, const tile *t)
{
    rela_soft *const kept = h->kept ? (rela_soft *)h->kept + t->first : NULL;
    for (size_t i = 0; i < t->m; i++)
        soft_sum(h)[i] = 1 / soft_sum(h)[i];
    for (size_t i = 0; kept && i < t->m; i++)
        kept[i] = (rela_soft){ soft_top(h)[i], soft_sum(h)[i] };
}

/* Behind the queries zeros, which make weights zero. The sum of all weights times their gradients
 * is that of the result times its gradient. */
static void take_soft(const rela_attn_head *h, const rela_attn_head_grad *g, const tile *t)
{
    const rela_soft *kept = (const rela_soft *)h->kept + t->first;
    memset(h->s->per_query, 0, sizeof(real) * 3 * RELA_ATTN_STRIP);
    for (size_t i = 0; i < t->m; i++) {
        const size_t at = (t->first + i) * g->ldz;
        soft_top(h)[i] = kept[i].top;
        soft_sum(h)[i] = kept[i].factor;
        soft_along(h)[i] = h->a->k->dot(h->s->mixed + i * h->s->wide, g->z + at, h->a->d_head);
    }
}

/* Returns the share of weights that are not zero, sampled. notes: which they are will probably be
 * kept. */
static double tile_forward(const rela_attn_head *h, const tile *t, bool notes)
{
    const rela_attn *a = h->a;
    const rela_attn_scratch *s = h->s;
    const real *values = s->values + t->key * s->wide;
    const bool soft = a->kind->flags & ATTN_SOFT;
    uint64_t *const kept = kept_at(h, t);
    const bool noted = kept && notes && !hides(h, t) && a->drop.threshold == 0;
    size_t some = 0;
    if (noted)
        some = weigh_and_note(h, t, kept + 1);
    else
        weigh_tile(h, t, s->queries, s->keys_p + t->key * a->d_head, soft ? soft_bias(h, t) : NULL);
    const bool zero = soft || (a->kind->flags & ATTN_RECTIFIED); /* after the last key */
    if (hides(h, t) || (!zero && t->n < t->across))
        hide_keys(h, t, s->weights, soft ? RELA_ATTN_PAD : 0);
    if (soft) /* what is hidden becomes 0 */
        a->k->softmax_part(s->weights, soft_top(h), soft_sum(h), s->mixed, t->m, t->across,
                           s->wide);
    for (size_t i = 0; a->drop.threshold != 0 && i < t->m; i++) {
        rela_drop drop = rela_attn_drop_at(h, t->first + i);
        drop.first += (uint32_t)t->key;
        a->k->dropout(s->weights + i * t->across, t->n, &drop);
    }
    /* What comes next depends on the sampled share only, so that keeping bits changes no result. */
    const double share = share_of(h, t);
    const double known = noted ? (double)some / (double)(t->m * t->n) : share;
    if (kept)
        kept[0] = few(h, known, few_back(h)) ? t->across : 0;
    if (kept && kept[0] && !noted)
        a->k->note_above(kept + 1, s->weights, t->m * t->across);
    if (few(h, share, few_forward(h->a->k, s->wide)))
        a->k->mix_few(s->mixed, s->weights, t->m, t->across, values, s->wide);
    else
        a->k->mm(s->mixed, s->wide, s->weights, t->across, 1, values, s->wide, t->m, s->wide, t->n,
                 true);
    return share;
}

/* Weights of a rectified kind, and which of them are not zero: few rows at a time, which are still
 * in the nearest cache then. Returns how many. */
static size_t weigh_and_note(const rela_attn_head *h, const tile *t, uint64_t *bits)
{
    enum { AT_ONCE = 16, WORD = 64 };
    const rela_attn *a = h->a;
    const size_t at_once = a->k->lanes * AT_ONCE < WORD ? WORD / a->k->lanes : AT_ONCE;
    const rela_attn_scratch *s = h->s;
    size_t some = 0;
    for (size_t i = 0; i < t->m; i += at_once) { /* whole words of bits each time */
        const size_t rows = t->m - i < at_once ? t->m - i : at_once;
        real *const w = s->weights + i * t->across;
        a->k->packed(w, t->across, s->queries + i * s->wide, s->wide,
                     s->keys_p + t->key * a->d_head, NULL, rows, t->across, a->d_head, true);
        some += a->k->note_above(bits + i * t->across / WORD, w, rows * t->across);
    }
    return some;
}

/* ---- prefiltered tiles ---- */

_Static_assert((int)RELA_ATTN_STRIP == RELA_SCREEN_QUERIES &&
                   (int)RELA_ATTN_BLOCK == RELA_SCREEN_KEYS,
               "a tile is what a prefilter takes at once");

bool rela_attn_may_prefilter(const rela_attn_head *h)
{
    if (!(h->a->kind->flags & ATTN_RECTIFIED) || h->s->wide > RELA_SCREEN_WIDEST)
        return false;
    if (h->path != RELA_ATTN_AUTO)
        return h->path == RELA_ATTN_SCREENED;
    return h->a->k->prefilters && h->n_q >= 2 * RELA_ATTN_STRIP; /* less does not pay */
}

/* Whether to prefilter a tile, if the one before it had the given share. */
static bool prefilters(const rela_attn_head *h, double share)
{
    if (!rela_attn_may_prefilter(h))
        return false;
    return h->path == RELA_ATTN_SCREENED || share < few_prefiltered(h->a->k, h->s->wide);
}

/* Returns the share of weights that are not zero. */
static double tile_prefiltered(const rela_attn_head *h, const tile *t)
{
    const rela_attn *a = h->a;
    const rela_attn_scratch *s = h->s;
    const size_t at = t->key * s->wide;
    uint64_t *const kept = kept_at(h, t), *const bits = kept ? kept + 1 : s->may;
    const rela_prefilter prefilter = { .bits = bits,
                                       .m = t->m,
                                       .n = t->n,
                                       .wide = s->wide,
                                       .queries = s->query_bytes,
                                       .keys = s->key_bytes + at,
                                       .query_bound = s->query_bound,
                                       .key_bound = s->key_bound + t->key };
    a->k->prefilter(&prefilter);
    hide_bits(h, t, bits);
    if (a->drop.threshold != 0) {
        rela_drop drop = rela_attn_drop_at(h, t->first);
        drop.first += (uint32_t)t->key;
        a->k->drop_bits(bits, t->m, &drop, rela_attn_drop_step(a));
    }
    const rela_prefiltered left = { .bits = bits,
                                    .m = t->m,
                                    .wide = s->wide,
                                    .keeps = kept != NULL,
                                    .scale = a->drop.threshold != 0 ? a->drop.scale : 1,
                                    .q = s->queries,
                                    .keys = s->keys + at,
                                    .values = s->values + at,
                                    .z = s->mixed };
    const size_t some = a->k->mix_prefiltered(&left);
    if (kept)
        kept[0] = RELA_SCREEN_KEYS;
    return (double)some / (double)(t->m * t->n);
}

/* Clears what a query may not see. */
static void hide_bits(const rela_attn_head *h, const tile *t, uint64_t *bits)
{
    for (size_t i = 0; hides(h, t) && i < t->m; i++) {
        const size_t last = t->first + i + 1, past = last > t->key ? last - t->key : 0;
        for (size_t w = 0; w < RELA_SCREEN_WORDS; w++) {
            const size_t seen = past > 64 * w ? past - 64 * w : 0;
            bits[i * RELA_SCREEN_WORDS + w] &= seen < 64 ? (UINT64_C(1) << seen) - 1 : ~UINT64_C(0);
        }
    }
}

/* ---- backward, and what both passes share ---- */

/* dV += W^T dO, dW = dO V^T, dS, dQ += dS K, dK += dS^T Q. known: that too few of the weights are
 * zero. */
static void tile_back(const rela_attn_head *h, const ends *e, const tile *t, bool known)
{
    const rela_attn *a = h->a;
    const rela_attn_scratch *s = h->s;
    const size_t wide = s->wide, at = t->key * wide, numbers = t->n * t->across;
    real *used = s->weights;
    weigh_tile(h, t, s->keys + at, s->queries_p, NULL);
    if (a->kind->flags & ATTN_SOFT)
        a->k->softmax_across(s->weights, soft_top(h), soft_sum(h), t->rows, t->across);
    hide_back(h, t, s->weights);
    if (a->drop.threshold != 0) {
        used = s->dropped;
        memcpy(used, s->weights, numbers * sizeof *used);
        drop_back(h, t, used);
    }
    if ((a->kind->flags & ATTN_RECTIFIED) && !known && few(h, share_of(h, t), few_back(h))) {
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

/* With the weights, or the transposed mask. */
static void tile_back_few(const rela_attn_head *h, const ends *e, const tile *t, const real *used,
                          const uint64_t *looks)
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

/* Share of the weights of a tile that are not zero, by every eighth of its rows. */
static double share_of(const rela_attn_head *h, const tile *t)
{
    if (!(h->a->kind->flags & ATTN_SPARSE) || h->path != RELA_ATTN_AUTO)
        return 1;
    size_t some = 0, looked = 0;
    for (size_t i = 0; i < t->rows; i += 8, looked++)
        some += h->a->k->count_above(h->s->weights + i * t->across, t->across);
    return (double)(some * t->rows) / (double)(looked * t->m * t->n);
}

static bool few(const rela_attn_head *h, double share, double most)
{
    if (h->path != RELA_ATTN_AUTO)
        return h->path != RELA_ATTN_DENSE && (h->a->kind->flags & ATTN_SPARSE);
    return share < most;
}

/* What is kept of a tile: first 0, or how many bits those of a query are; then the bits of all
 * queries, set where a weight is not zero. NULL: there is no room. */
static uint64_t *kept_at(const rela_attn_head *h, const tile *t)
{
    const size_t strips = t->first / RELA_ATTN_STRIP, blocks = t->key / RELA_ATTN_BLOCK;
    if (!h->kept || !(h->a->kind->flags & ATTN_RECTIFIED) || t->key >= RELA_ATTN_KEPT)
        return NULL;
    return (uint64_t *)h->kept + strips * rela_attn_kept_strip(RELA_ATTN_STRIP, h->n_k) +
           blocks * rela_attn_kept_block(t->m);
}

static void drop_back(const rela_attn_head *h, const tile *t, real *x)
{
    if (h->a->drop.threshold == 0)
        return;
    rela_drop drop = rela_attn_drop_at(h, t->first);
    drop.first += (uint32_t)t->key;
    h->a->k->dropout_across(x, t->n, t->across, &drop, rela_attn_drop_step(h->a));
}

/* Whether some query of the tile may not see some key of it. */
static bool hides(const rela_attn_head *h, const tile *t)
{
    return h->a->causal && t->key + t->n > t->first + 1;
}

/* A value for what a query may not see, and after the keys. */
static void hide_keys(const rela_attn_head *h, const tile *t, real *x, real value)
{
    const bool hidden = hides(h, t);
    for (size_t i = 0; i < t->m; i++) {
        const size_t last = t->first + i + 1, past = last > t->key ? last - t->key : 0;
        const size_t seen = hidden && past < t->n ? past : t->n;
        for (size_t j = seen; j < t->across; j++)
            x[i * t->across + j] = value;
    }
}

/* Zeros for the same where keys are rows: key j is seen by the queries from number j on. Behind the
 * last query all is zero anyway. */
static void hide_back(const rela_attn_head *h, const tile *t, real *x)
{
    for (size_t j = 0; hides(h, t) && j < t->n; j++) {
        const size_t key = t->key + j, before = key > t->first ? key - t->first : 0;
        memset(x + j * t->across, 0, (before < t->across ? before : t->across) * sizeof *x);
    }
}

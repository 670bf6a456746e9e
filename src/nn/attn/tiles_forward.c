/* SPDX-License-Identifier: MIT */
/* src/nn/attn/tiles_forward.c - the forward pass over tiles: see tiles.h. Each tile is computed
 * densely, from its non-zero weights only, or prefiltered, depending on the share of non-zero
 * weights in the tile before. */
#include "nn/attn/tiles.h"

#include <string.h>

/* The share of non-zero weights below which it is faster to pick them out (measured). Picking costs
 * about the same for heads of few and of many vectors, and saves more for the latter. */
static double few_forward(const rela_kern *k, size_t wide)
{
    const size_t vectors = wide / k->lanes;
    const double share = 0.112 * (double)vectors - 0.1;
    return share < 0.4 ? share : 0.4;
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

/* How many keys are ready, packed and in int8; and whether the queries are ready in int8. */
typedef struct prepared {
    size_t packed, prefiltered; /* whole tiles, but for the last */
    bool queries;
} prepared;

static double tile_forward(const rela_attn_head *h, const rela_tile *t, bool notes);
static size_t weigh_and_note(const rela_attn_head *h, const rela_tile *t, uint64_t *bits);
static double tile_prefiltered(const rela_attn_head *h, const rela_tile *t);
static bool prefilters(const rela_attn_head *h, double share);
static void prepare(const rela_attn_head *h, prepared *ready, const rela_tile *t, bool prefiltered);
static void hide_bits(const rela_attn_head *h, const rela_tile *t, uint64_t *bits);
static const real *soft_bias(const rela_attn_head *h, const rela_tile *t);
static void finish_soft(const rela_attn_head *h, const rela_tile *t);
static void hide_keys(const rela_attn_head *h, const rela_tile *t, real *x, real value);

void rela_attn_tiles_forward(const rela_attn_head *h, real *out, size_t ldz)
{
    const rela_attn_scratch *s = h->s;
    prepared ready = { 0 };
    double share = 1; /* of non-zero weights in the tile before */
    bool notes = true;
    rela_attn_take_rows(h, s->values, h->v, h->ldv, h->n_k);
    for (size_t i = 0; i < h->n_q; i += RELA_ATTN_STRIP) {
        rela_tile t = rela_tile_at(h, i, 0);
        rela_attn_take_queries(h, i, t.m);
        ready.queries = false;
        memset(s->mixed, 0, t.m * s->wide * sizeof *s->mixed);
        memset(rela_soft_sum(h), 0, t.m * sizeof *s->per_query);
        for (; t.n > 0; t = rela_tile_at(h, i, t.key + t.n)) {
            t.rows = t.m;
            t.across = rela_round_up(t.n, h->a->k->lanes);
            const bool prefiltered = prefilters(h, share);
            prepare(h, &ready, &t, prefiltered);
            share = prefiltered ? tile_prefiltered(h, &t) : tile_forward(h, &t, notes);
            notes = rela_tile_few(h, share, rela_tile_few_back(h));
        }
        const bool soft = h->a->kind->flags & ATTN_SOFT;
        if (soft)
            finish_soft(h, &t);
        rela_attn_put_rows(h, out + i * ldz, ldz, s->mixed, t.m, soft ? rela_soft_sum(h) : NULL,
                           soft);
    }
}

/* Prepares keys up to the end of the tile, and queries, in the form that it needs. */
static void prepare(const rela_attn_head *h, prepared *ready, const rela_tile *t, bool prefiltered)
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

/* A bias that makes scores after the last key of a tile RELA_ATTN_PAD; NULL if there are none. */
static const real *soft_bias(const rela_attn_head *h, const rela_tile *t)
{
    real *bias = h->row.scratch;
    if (t->n == t->across)
        return NULL;
    memset(bias, 0, t->n * sizeof *bias);
    for (size_t i = t->n; i < t->across; i++)
        bias[i] = RELA_ATTN_PAD;
    return bias;
}

/* Turns sums into their reciprocals, and keeps these for the backward pass. */
static void finish_soft(const rela_attn_head *h, const rela_tile *t)
{
    rela_soft *const kept = h->kept ? (rela_soft *)h->kept + t->first : NULL;
    for (size_t i = 0; i < t->m; i++)
        rela_soft_sum(h)[i] = 1 / rela_soft_sum(h)[i];
    for (size_t i = 0; kept && i < t->m; i++)
        kept[i] = (rela_soft){ rela_soft_top(h)[i], rela_soft_sum(h)[i] };
}

/* Returns the share of non-zero weights, sampled. notes: the bits of these weights will probably be
 * kept. */
static double tile_forward(const rela_attn_head *h, const rela_tile *t, bool notes)
{
    const rela_attn *a = h->a;
    const rela_attn_scratch *s = h->s;
    const real *values = s->values + t->key * s->wide;
    const bool soft = a->kind->flags & ATTN_SOFT;
    uint64_t *const kept = rela_tile_kept(h, t);
    const bool noted = kept && notes && !rela_tile_hides(h, t) && a->drop.threshold == 0;
    size_t some = 0;
    if (noted)
        some = weigh_and_note(h, t, kept + 1);
    else
        rela_tile_weigh(h, t, s->queries, s->keys_p + t->key * a->d_head,
                        soft ? soft_bias(h, t) : NULL);
    const bool zero = soft || (a->kind->flags & ATTN_RECTIFIED); /* after the last key */
    if (rela_tile_hides(h, t) || (!zero && t->n < t->across))
        hide_keys(h, t, s->weights, soft ? RELA_ATTN_PAD : 0);
    if (soft) /* masked scores become weights of 0 */
        a->k->softmax_part(s->weights, rela_soft_top(h), rela_soft_sum(h), s->mixed, t->m,
                           t->across, s->wide);
    for (size_t i = 0; a->drop.threshold != 0 && i < t->m; i++) {
        rela_drop drop = rela_attn_drop_at(h, t->first + i);
        drop.first += (uint32_t)t->key;
        a->k->dropout(s->weights + i * t->across, t->n, &drop);
    }
    /* The path taken depends on the sampled share only, so that keeping bits changes no result. */
    const double share = rela_tile_share(h, t);
    const double known = noted ? (double)some / (double)(t->m * t->n) : share;
    if (kept)
        kept[0] = rela_tile_few(h, known, rela_tile_few_back(h)) ? t->across : 0;
    if (kept && kept[0] && !noted)
        a->k->note_above(kept + 1, s->weights, t->m * t->across);
    if (rela_tile_few(h, share, few_forward(h->a->k, s->wide)))
        a->k->mix_few(s->mixed, s->weights, t->m, t->across, values, s->wide);
    else
        a->k->mm(s->mixed, s->wide, s->weights, t->across, 1, values, s->wide, t->m, s->wide, t->n,
                 true);
    return share;
}

/* Weights of a rectified kind, and the bits of those that are not zero: a few rows at a time, while
 * they are still in the nearest cache. Returns how many are not zero. */
static size_t weigh_and_note(const rela_attn_head *h, const rela_tile *t, uint64_t *bits)
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

/* Writes the value where the causal mask hides a key, and after the last key. */
static void hide_keys(const rela_attn_head *h, const rela_tile *t, real *x, real value)
{
    const bool hidden = rela_tile_hides(h, t);
    for (size_t i = 0; i < t->m; i++) {
        const size_t last = t->first + i + 1, past = last > t->key ? last - t->key : 0;
        const size_t seen = hidden && past < t->n ? past : t->n;
        for (size_t j = seen; j < t->across; j++)
            x[i * t->across + j] = value;
    }
}

/* ---- prefiltered tiles ---- */

_Static_assert((int)RELA_ATTN_STRIP == RELA_PREFILTER_QUERIES &&
                   (int)RELA_ATTN_BLOCK == RELA_PREFILTER_KEYS,
               "a tile is what a prefilter takes at once");

bool rela_attn_may_prefilter(const rela_attn_head *h)
{
    if (!(h->a->kind->flags & ATTN_RECTIFIED) || h->s->wide > RELA_PREFILTER_WIDEST)
        return false;
    if (h->path != RELA_ATTN_AUTO)
        return h->path == RELA_ATTN_PREFILTERED;
    return h->a->k->prefilters && h->n_q >= 2 * RELA_ATTN_STRIP; /* less does not pay */
}

/* Whether to prefilter a tile, if the one before it had the given share. */
static bool prefilters(const rela_attn_head *h, double share)
{
    if (!rela_attn_may_prefilter(h))
        return false;
    return h->path == RELA_ATTN_PREFILTERED || share < few_prefiltered(h->a->k, h->s->wide);
}

/* Returns the share of non-zero weights. */
static double tile_prefiltered(const rela_attn_head *h, const rela_tile *t)
{
    const rela_attn *a = h->a;
    const rela_attn_scratch *s = h->s;
    const size_t at = t->key * s->wide;
    uint64_t *const kept = rela_tile_kept(h, t), *const bits = kept ? kept + 1 : s->may;
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
        kept[0] = RELA_PREFILTER_KEYS;
    return (double)some / (double)(t->m * t->n);
}

/* Clears the bits of keys that the causal mask hides. */
static void hide_bits(const rela_attn_head *h, const rela_tile *t, uint64_t *bits)
{
    for (size_t i = 0; rela_tile_hides(h, t) && i < t->m; i++) {
        const size_t last = t->first + i + 1, past = last > t->key ? last - t->key : 0;
        for (size_t w = 0; w < RELA_PREFILTER_WORDS; w++) {
            const size_t seen = past > 64 * w ? past - 64 * w : 0;
            bits[i * RELA_PREFILTER_WORDS + w] &=
                seen < 64 ? (UINT64_C(1) << seen) - 1 : ~UINT64_C(0);
        }
    }
}

/* SPDX-License-Identifier: MIT */
/* src/nn/attn/sums.c - see sums.h.
 *
 * A value has d + 1 columns, the last of which is 1; so have the gradients of unscaled results.
 * With a causal mask the queries that have a key of their own number are the *square* part, which
 * is computed chunk by chunk; all other queries see all keys. */
#include "nn/attn/sums.h"

#include <string.h>

enum { LANES_MAX = 16, PANEL_MAX = 2 * LANES_MAX, CHUNK = RELA_ATTN_STRIP, STATS = 3 };

/* Products below this are rounding errors only, and their inverse would overflow. */
#define LEAST ((real)1e-30)

/* Arrays of the scratch. */
enum {
    STATE, /* (features + 1, ld): S */
    DSTATE,
    QUERIES, /* (CHUNK, ldf) features of a chunk, and their gradients */
    KEYS,
    DQUERIES,
    DKEYS,
    VALUES, /* (CHUNK, ld) values with a last column of 1; unscaled results; gradients of both */
    OUT,
    DOUT,
    DVALUES,
    SCORES, /* (CHUNK, CHUNK) products of features, and their gradients */
    DSCORES,
    PANELS,    /* keys, values or states, packed */
    PER_QUERY, /* (STATS, max_len) of the square part: see keep_stats */
    N_ARRAYS
};

_Static_assert((int)N_ARRAYS <= (int)RELA_ATTN_OWN_MAX, "arrays of a method");

typedef struct sums {
    const rela_attn_head *h;
    const rela_kern *k;
    const rela_attn_features *features;
    real *const *own;
    size_t n, ldf;  /* features */
    size_t d, ld;   /* columns of values without the last; of all arrays of values */
    size_t square;  /* queries in the square part */
    size_t max_len; /* leading dimension of PER_QUERY */
} sums;

static const rela_attn_features *features_of(const rela_attn_kind *kind)
{
    return kind->method->features;
}

static size_t state_ld(size_t d_head)
{
    return rela_round_up(d_head + 1, LANES_MAX);
}

void rela_attn_sums_plan(rela_attn_scratch *s, rela_plan *p, const rela_attn_shape *shape,
                         size_t max_len)
{
    const size_t n = features_of(shape->kind)->n(shape), ldf = rela_round_up(n + 1, LANES_MAX);
    const size_t ld = state_ld(shape->d_head), state = (n + 1) * ld;
    const size_t panels = rela_round_up(n > CHUNK ? n : CHUNK, PANEL_MAX) * (n > ld ? n : ld);
    const size_t sizes[N_ARRAYS] = {
        [STATE] = state,        [DSTATE] = state,           [QUERIES] = CHUNK * ldf,
        [KEYS] = CHUNK * ldf,   [DQUERIES] = CHUNK * ldf,   [DKEYS] = CHUNK * ldf,
        [VALUES] = CHUNK * ld,  [OUT] = CHUNK * ld,         [DOUT] = CHUNK * ld,
        [DVALUES] = CHUNK * ld, [SCORES] = CHUNK * CHUNK,   [DSCORES] = CHUNK * CHUNK,
        [PANELS] = panels,      [PER_QUERY] = STATS * s->ld
    };
    (void)max_len;
    for (size_t i = 0; i < N_ARRAYS; i++)
        s->own[i] = rela_plan_reals(p, sizes[i]);
}

static sums sums_of(const rela_attn_head *h)
{
    const rela_attn_shape shape = rela_attn_shape_of(h->a);
    const size_t n = features_of(h->a->kind)->n(&shape);
    const size_t least = h->n_q < h->n_k ? h->n_q : h->n_k;
    return (sums){ .h = h,
                   .k = h->a->k,
                   .features = features_of(h->a->kind),
                   .own = h->s->own,
                   .n = n,
                   .ldf = rela_round_up(n + 1, LANES_MAX),
                   .d = h->a->d_head,
                   .ld = state_ld(h->a->d_head),
                   .square = h->a->causal ? least : 0,
                   .max_len = h->s->ld };
}

static size_t chunk_at(size_t first, size_t end)
{
    return end - first < CHUNK ? end - first : CHUNK;
}

/* ---- a chunk ---- */

static rela_attn_map map_of(const sums *w, bool queries, size_t first, size_t m)
{
    const rela_attn_head *h = w->h;
    const size_t ldx = queries ? h->ldq : h->ldk;
    return (rela_attn_map){ .a = h->a,
                            .row = &h->row,
                            .queries = queries,
                            .rows = m,
                            .x = (queries ? h->q : h->k) + first * ldx,
                            .ldx = ldx,
                            .y = w->own[queries ? QUERIES : KEYS],
                            .ldy = w->ldf };
}

/* Features of queries; the last is for rows whose products underflow. */
static void take_queries(const sums *w, size_t first, size_t m)
{
    const rela_attn_map map = map_of(w, true, first, m);
    w->features->map(&map);
    for (size_t i = 0; i < m; i++)
        w->own[QUERIES][i * w->ldf + w->n] = 0;
}

static void take_keys(const sums *w, size_t first, size_t m)
{
    static const real one = 1;
    const rela_attn_head *h = w->h;
    const rela_attn_map map = map_of(w, false, first, m);
    w->features->map(&map);
    w->k->scale_rows(w->own[VALUES], w->ld, h->v + first * h->ldv, h->ldv, m, w->d, w->ld, &one, 0);
    for (size_t i = 0; i < m; i++) {
        w->own[KEYS][i * w->ldf + w->n] = 1;
        w->own[VALUES][i * w->ld + w->d] = 1;
    }
}

/* c (m, rows) = a (m, k) b^T for b (rows, k), with leading dimension ldb. */
static void times_transposed(const sums *w, real *c, size_t ldc, const real *a, size_t lda,
                             const real *b, size_t rows, size_t m)
{
    const bool features = a == w->own[QUERIES];
    const size_t k = features ? w->n : w->d + 1;
    w->k->pack(w->own[PANELS], b, features ? w->ldf : w->ld, rows, k);
    w->k->packed(c, ldc, a, lda, w->own[PANELS], NULL, m, rows, k, false);
}

static void hide(real *x, size_t m)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = i + 1; j < m; j++)
            x[i * CHUNK + j] = 0;
}

/* Products of the queries and keys of a chunk of the square part. */
static void score(const sums *w, size_t m)
{
    times_transposed(w, w->own[SCORES], CHUNK, w->own[QUERIES], w->ldf, w->own[KEYS], m, m);
    hide(w->own[SCORES], m);
}

/* Makes row i one whose keys all count the same. */
static void even_row(const sums *w, size_t i, bool square)
{
    real *q = w->own[QUERIES] + i * w->ldf, *scores = w->own[SCORES] + i * CHUNK;
    memset(q, 0, w->n * sizeof *q);
    q[w->n] = 1;
    for (size_t j = 0; square && j <= i; j++)
        scores[j] = 1;
}

/* OUT of a chunk of queries: of the chunk's keys, if they are in the square part, and those before.
 * Rows that underflow are made even. */
static void mix(const sums *w, size_t m, bool square)
{
    real *out = w->own[OUT];
    if (square)
        w->k->mm(out, w->ld, w->own[SCORES], CHUNK, 1, w->own[VALUES], w->ld, m, w->ld, m, false);
    w->k->mm(out, w->ld, w->own[QUERIES], w->ldf, 1, w->own[STATE], w->ld, m, w->ld, w->n, square);
    for (size_t i = 0; i < m; i++) {
        real *row = out + i * w->ld;
        if (!(row[w->d] <= LEAST)) /* NaN stays */
            continue;
        even_row(w, i, square);
        memcpy(row, w->own[STATE] + w->n * w->ld, w->ld * sizeof *row);
        for (size_t j = 0; square && j <= i; j++)
            w->k->axpy(row, 1, w->own[VALUES] + j * w->ld, w->ld);
    }
}

/* S += keys^T values, or its gradient with queries and their gradients. */
static void add_to_state(const sums *w, real *state, const real *features, const real *values,
                         size_t m)
{
    w->k->mm(state, w->ld, features, 1, w->ldf, values, w->ld, w->n + 1, w->ld, m, true);
}

static void add_keys(const sums *w, size_t first, size_t m)
{
    take_keys(w, first, m);
    add_to_state(w, w->own[STATE], w->own[KEYS], w->own[VALUES], m);
}

static void clear_state(const sums *w, int which)
{
    memset(w->own[which], 0, (w->n + 1) * w->ld * sizeof(real));
}

/* ---- forward ---- */

static void put_out(const sums *w, real *out, size_t ldz, size_t m)
{
    real factor[CHUNK];
    for (size_t i = 0; i < m; i++)
        factor[i] = 1 / w->own[OUT][i * w->ld + w->d];
    w->k->scale_rows(out, ldz, w->own[OUT], w->ld, m, w->d, w->d, factor, 1);
}

void rela_attn_sums_forward(const rela_attn_head *h, real *out, size_t ldz)
{
    const sums w = sums_of(h);
    clear_state(&w, STATE);
    for (size_t i = 0; i < w.square; i += CHUNK) {
        const size_t m = chunk_at(i, w.square);
        take_queries(&w, i, m);
        take_keys(&w, i, m);
        score(&w, m);
        mix(&w, m, true);
        put_out(&w, out + i * ldz, ldz, m);
        add_to_state(&w, w.own[STATE], w.own[KEYS], w.own[VALUES], m);
    }
    for (size_t j = w.square; j < h->n_k && h->n_q > w.square; j += CHUNK)
        add_keys(&w, j, chunk_at(j, h->n_k));
    for (size_t i = w.square; i < h->n_q; i += CHUNK) {
        const size_t m = chunk_at(i, h->n_q);
        take_queries(&w, i, m);
        mix(&w, m, false);
        put_out(&w, out + i * ldz, ldz, m);
    }
}

/* ---- backward ---- */

/* DOUT: the gradient of OUT, whose last column is the divisor of the others. */
static void take_dout(const sums *w, const rela_attn_head_grad *g, size_t first, size_t m)
{
    for (size_t i = 0; i < m; i++) {
        const real *dz = g->dz + (first + i) * g->ldz, *row = w->own[OUT] + i * w->ld;
        real *d = w->own[DOUT] + i * w->ld;
        const real factor = 1 / row[w->d];
        memset(d, 0, w->ld * sizeof *d);
        w->k->axpy(d, factor, dz, w->d);
        d[w->d] = -w->k->dot(d, row, w->d) * factor;
    }
}

/* What the second pass over the square part needs of each query: the factor of its result, the
 * gradient of the divisor, whether it is even. */
static void keep_stats(const sums *w, size_t first, size_t m)
{
    real *const stats = w->own[PER_QUERY] + first;
    for (size_t i = 0; i < m; i++) {
        stats[i] = 1 / w->own[OUT][i * w->ld + w->d];
        stats[w->max_len + i] = w->own[DOUT][i * w->ld + w->d];
        stats[2 * w->max_len + i] = w->own[QUERIES][i * w->ldf + w->n];
    }
}

static void recall_stats(const sums *w, const rela_attn_head_grad *g, size_t first, size_t m)
{
    const real *const stats = w->own[PER_QUERY] + first;
    for (size_t i = 0; i < m; i++) {
        real *d = w->own[DOUT] + i * w->ld;
        memset(d, 0, w->ld * sizeof *d);
        w->k->axpy(d, stats[i], g->dz + (first + i) * g->ldz, w->d);
        d[w->d] = stats[w->max_len + i];
        if (stats[2 * w->max_len + i] != 0)
            even_row(w, i, true);
    }
}

/* Gradients of the products of a chunk of the square part. */
static void score_back(const sums *w, size_t m)
{
    times_transposed(w, w->own[DSCORES], CHUNK, w->own[DOUT], w->ld, w->own[VALUES], m, m);
    hide(w->own[DSCORES], m);
}

/* Of a chunk, from DOUT. Even rows pass nothing on. */
static void queries_back(const sums *w, const rela_attn_head_grad *g, size_t first, size_t m,
                         bool square)
{
    rela_attn_map map = map_of(w, true, first, m);
    real *dq = w->own[DQUERIES];
    times_transposed(w, dq, w->ldf, w->own[DOUT], w->ld, w->own[STATE], w->n, m);
    if (square)
        w->k->mm(dq, w->ldf, w->own[DSCORES], CHUNK, 1, w->own[KEYS], w->ldf, m, w->n, m, true);
    for (size_t i = 0; i < m; i++)
        if (w->own[QUERIES][i * w->ldf + w->n] != 0)
            memset(dq + i * w->ldf, 0, w->n * sizeof *dq);
    map.dy = dq;
    map.dx = g->dq + first * w->h->ldq;
    w->features->map_back(&map);
}

/* Of a chunk, from DSTATE and, in the square part, the queries of the chunk. */
static void keys_back(const sums *w, const rela_attn_head_grad *g, size_t first, size_t m,
                      bool square)
{
    static const real one = 1;
    const rela_attn_head *h = w->h;
    rela_attn_map map = map_of(w, false, first, m);
    real *dk = w->own[DKEYS], *dv = w->own[DVALUES];
    times_transposed(w, dk, w->ldf, w->own[VALUES], w->ld, w->own[DSTATE], w->n, m);
    w->k->mm(dv, w->ld, w->own[KEYS], w->ldf, 1, w->own[DSTATE], w->ld, m, w->ld, w->n + 1, false);
    if (square) {
        w->k->mm(dk, w->ldf, w->own[DSCORES], 1, CHUNK, w->own[QUERIES], w->ldf, m, w->n, m, true);
        w->k->mm(dv, w->ld, w->own[SCORES], 1, CHUNK, w->own[DOUT], w->ld, m, w->ld, m, true);
    }
    map.dy = dk;
    map.dx = g->dk + first * h->ldk;
    w->features->map_back(&map);
    w->k->scale_rows(g->dv + first * h->ldv, h->ldv, dv, w->ld, m, w->d, w->d, &one, 0);
}

/* The forward pass again, and the gradients of queries. */
static void back_to_queries(const sums *w, const rela_attn_head_grad *g)
{
    const rela_attn_head *h = w->h;
    for (size_t i = 0; i < w->square; i += CHUNK) {
        const size_t m = chunk_at(i, w->square);
        take_queries(w, i, m);
        take_keys(w, i, m);
        score(w, m);
        mix(w, m, true);
        take_dout(w, g, i, m);
        keep_stats(w, i, m);
        score_back(w, m);
        queries_back(w, g, i, m, true);
        add_to_state(w, w->own[STATE], w->own[KEYS], w->own[VALUES], m);
    }
    for (size_t j = w->square; j < h->n_k && h->n_q > w->square; j += CHUNK)
        add_keys(w, j, chunk_at(j, h->n_k));
    for (size_t i = w->square; i < h->n_q; i += CHUNK) {
        const size_t m = chunk_at(i, h->n_q);
        take_queries(w, i, m);
        mix(w, m, false);
        take_dout(w, g, i, m);
        queries_back(w, g, i, m, false);
        add_to_state(w, w->own[DSTATE], w->own[QUERIES], w->own[DOUT], m);
    }
}

void rela_attn_sums_back(const rela_attn_head *h, const rela_attn_head_grad *g)
{
    const sums w = sums_of(h);
    clear_state(&w, STATE);
    clear_state(&w, DSTATE);
    back_to_queries(&w, g);
    for (size_t j = w.square; j < h->n_k; j += CHUNK) {
        const size_t m = chunk_at(j, h->n_k);
        take_keys(&w, j, m);
        keys_back(&w, g, j, m, false);
    }
    for (size_t end = w.square; end > 0;) { /* from the last chunk on */
        const size_t i = (end - 1) / CHUNK * CHUNK, m = end - i;
        take_queries(&w, i, m);
        take_keys(&w, i, m);
        score(&w, m);
        recall_stats(&w, g, i, m);
        score_back(&w, m);
        keys_back(&w, g, i, m, true);
        add_to_state(&w, w.own[DSTATE], w.own[QUERIES], w.own[DOUT], m);
        end = i;
    }
}

/* ---- rows of weights ---- */

void rela_attn_sums_weights(const rela_attn_head *h, real *w, size_t ld, size_t first, size_t m)
{
    const sums s = sums_of(h);
    take_queries(&s, first, m);
    for (size_t j = 0; j < h->n_k; j += CHUNK) {
        const size_t n = chunk_at(j, h->n_k);
        const rela_attn_map map = map_of(&s, false, j, n);
        s.features->map(&map);
        times_transposed(&s, w + j, ld, s.own[QUERIES], s.ldf, s.own[KEYS], n, m);
    }
    for (size_t i = 0; i < m; i++) {
        const size_t seen = rela_attn_reach(h, first + i, 1);
        real *row = w + i * ld, sum = 0;
        for (size_t j = 0; j < seen; j++)
            sum += row[j];
        for (size_t j = 0; j < h->n_k; j++)
            row[j] = j >= seen ? 0 : sum <= LEAST ? 1 / (real)seen : row[j] / sum;
    }
}

/* ---- decoding: the state is S, without padding ---- */

size_t rela_attn_sums_state(const rela_attn_shape *shape)
{
    return (features_of(shape->kind)->n(shape) + 1) * (shape->d_head + 1);
}

/* Features of one row, in the scratch; returns how many. */
static size_t map_row(const rela_attn *a, const rela_attn_row *c, const real *x, bool queries)
{
    const rela_attn_shape shape = rela_attn_shape_of(a);
    const size_t n = features_of(a->kind)->n(&shape);
    const rela_attn_map map = { .a = a,
                                .row = c,
                                .queries = queries,
                                .rows = 1,
                                .x = x,
                                .ldx = a->d_head,
                                .y = c->scratch,
                                .ldy = n };
    features_of(a->kind)->map(&map);
    return n;
}

void rela_attn_sums_put(const rela_attn *a, const rela_attn_row *c, real *state, const real *before,
                        const real *key, const real *value)
{
    const size_t d = a->d_head, n = map_row(a, c, key, false);
    c->scratch[n] = 1;
    if (!before)
        memset(state, 0, (n + 1) * (d + 1) * sizeof *state);
    else if (before != state)
        memcpy(state, before, (n + 1) * (d + 1) * sizeof *state);
    for (size_t i = 0; i <= n; i++) {
        real *row = state + i * (d + 1);
        a->k->axpy(row, c->scratch[i], value, d);
        row[d] += c->scratch[i];
    }
}

void rela_attn_sums_attend(const rela_attn *a, const rela_attn_row *c, real *z, const real *q,
                           const real *state)
{
    const size_t d = a->d_head, n = map_row(a, c, q, true);
    real *out = c->scratch + n;
    a->k->mm(out, d + 1, c->scratch, n, 1, state, d + 1, 1, d + 1, n, false);
    if (out[d] <= LEAST)
        memcpy(out, state + n * (d + 1), (d + 1) * sizeof *out);
    memset(z, 0, d * sizeof *z);
    a->k->axpy(z, 1 / out[d], out, d);
}

/* SPDX-License-Identifier: MIT */
/* src/train/step.c - see step.h. */
#include "train/step.h"

#include "base/mem.h"
#include "base/par.h"
#include "kern/tiny.h"

#include <math.h>
#include <string.h>

/* Some 512 rows do for full speed. With a little more room a share of an update that is just above
 * a multiple of 512, as halves of 4096 tokens are, needs no piece more. */
enum { PIECE_ROWS = 576, SLICE = 1 << 14 };

/* Sentences [first, last) of the update for one thread, and what it made of them. */
typedef struct lane {
    rela_worker *worker;
    size_t max_src, max_tgt; /* rows the worker has room for */
    real *grads;
    size_t first, last;
    uint32_t *at[RELA_STREAMS_MAX]; /* offsets of a piece, from 0 */
    int32_t *ids;                   /* its tokens where sentences are there twice, by stream */
    real *row_weight;
    size_t cap_at[RELA_STREAMS_MAX], cap_ids, cap_weight;
    double loss, nll;
    double squares; /* of the slice of the gradient this thread has summed */
} lane;

struct rela_stepper {
    rela_net *net;
    rela_step_options o;
    lane *lanes;
    real *moments[2];
    uint64_t count;
    const rela_param *culprit;
    /* the step under way */
    const rela_packed *update;
    uint64_t number;
    bool training;
    rela_adam adam;
};

/* One piece: sentences [first, last). */
typedef struct piece {
    size_t first, last;
} piece;

static rela_status make_room(rela_stepper *s, const rela_packed *u, rela_error *err);
static rela_status lane_room(rela_stepper *s, lane *l, const rela_packed *u, rela_error *err);
static void split(rela_stepper *s, const rela_packed *u);
static void run_lanes(void *ctx, size_t begin, size_t end, int thread);
static void run_lane(rela_stepper *s, lane *l);
static piece next_piece(const rela_stepper *s, const lane *l, size_t from, size_t rows);
static void run_piece(rela_stepper *s, lane *l, piece p);
static rela_tokens piece_tokens(const rela_tokens *all, piece p, size_t copies, uint32_t *at,
                                int32_t *ids);
static void sum_gradients(void *ctx, size_t begin, size_t end, int thread);
static void apply_adam(void *ctx, size_t begin, size_t end, int thread);
static void clear_gradients(rela_stepper *s);
static void find_culprit(rela_stepper *s);
static void totals(const rela_stepper *s, rela_step_result *out, const rela_packed *u);

static size_t n_streams(const rela_stepper *s)
{
    return s->net->list.n_streams;
}

static size_t sentences_of(const rela_packed *u)
{
    return u->streams[0].n;
}

static size_t length_of(const rela_tokens *t, size_t i)
{
    return t->at[i + 1] - t->at[i];
}

/* Rows of the sentences [first, last) in all streams, and in the one with most. */
typedef struct row_count {
    size_t all, most;
} row_count;

static row_count count_rows(const rela_stepper *s, size_t first, size_t last)
{
    row_count c = { 0, 0 };
    for (size_t i = 0; i < n_streams(s); i++) {
        const uint32_t *at = s->update->streams[i].at;
        const size_t rows = at[last] - at[first];
        c.all += rows;
        c.most = rows > c.most ? rows : c.most;
    }
    return c;
}

static size_t piece_rows(const rela_step_options *o)
{
    return o->piece_rows ? o->piece_rows : PIECE_ROWS;
}

/* How often a sentence is in a piece of training. */
static size_t copies_of(const rela_step_options *o)
{
    return o->r_drop > 0 ? 2 : 1;
}

/* Rows of the sentences of a piece, each counted once; a piece has at least one sentence. */
static size_t room_of(const rela_step_options *o)
{
    const size_t room = piece_rows(o) / copies_of(o);
    return room > 0 ? room : 1;
}

size_t rela_stepper_bytes(const rela_net *n, const rela_step_options *o)
{
    const size_t threads = (size_t)rela_par_threads(o->n_threads);
    const size_t longest = copies_of(o) * n->config.max_len;
    const size_t rows = piece_rows(o) > longest ? piece_rows(o) : longest;
    return (threads + 2) * n->params.total * sizeof(real) +
           threads * rela_worker_bytes(n, rows, rows, true);
}

rela_status rela_stepper_create(rela_stepper **out, rela_net *n, const rela_step_options *o,
                                rela_error *err)
{
    *out = NULL;
    rela_stepper *s = rela_mem_zalloc(sizeof *s);
    if (!s)
        return rela_fail(err, RELA_NOMEM, "no memory for training");
    s->net = n;
    s->o = *o;
    s->o.n_threads = rela_par_threads(o->n_threads);
    const size_t bytes = n->params.total * sizeof(real);
    s->lanes = rela_mem_zalloc((size_t)s->o.n_threads * sizeof *s->lanes);
    bool good = s->lanes != NULL;
    for (int i = 0; i < 2 && good; i++)
        good = (s->moments[i] = rela_mem_zalloc(bytes)) != NULL;
    for (int i = 0; i < s->o.n_threads && good; i++)
        good = (s->lanes[i].grads = rela_mem_zalloc(bytes)) != NULL;
    if (!good) {
        rela_stepper_destroy(s);
        return rela_fail(err, RELA_NOMEM, "no memory for gradients: %zu bytes",
                         (size_t)(o->n_threads + 2) * bytes);
    }
    *out = s;
    return RELA_OK;
}

void rela_stepper_destroy(rela_stepper *s)
{
    if (!s)
        return;
    for (int i = 0; s->lanes && i < s->o.n_threads; i++) {
        lane *l = &s->lanes[i];
        rela_worker_destroy(l->worker);
        rela_mem_free(l->grads);
        for (size_t k = 0; k < RELA_STREAMS_MAX; k++)
            rela_mem_free(l->at[k]);
        rela_mem_free(l->ids);
        rela_mem_free(l->row_weight);
    }
    rela_mem_free(s->lanes);
    rela_mem_free(s->moments[0]);
    rela_mem_free(s->moments[1]);
    rela_mem_free(s);
}

rela_status rela_stepper_run(rela_stepper *s, rela_step_result *out, const rela_packed *u,
                             uint64_t number, double rate, rela_error *err)
{
    const rela_status st = make_room(s, u, err);
    if (st != RELA_OK)
        return st;
    const size_t n = (size_t)s->o.n_threads, slices = (s->net->params.total + SLICE - 1) / SLICE;
    s->update = u;
    s->number = number;
    s->training = true;
    split(s, u);
    rela_par_rows(n, (int)n, run_lanes, s);
    totals(s, out, u);
    rela_par_rows(slices, (int)n, sum_gradients, s);
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += s->lanes[i].squares;
    const double unit = 1 / (double)out->n_loss;
    out->grad_norm = sqrt(squares) * unit;
    out->skipped = !isfinite(out->loss) || !isfinite(out->grad_norm);
    if (out->skipped) {
        find_culprit(s);
        clear_gradients(s);
        return RELA_OK;
    }
    s->count++;
    const double clip =
        s->o.clip > 0 && out->grad_norm > s->o.clip ? s->o.clip / out->grad_norm : 1;
    const double fix1 = 1 - pow(s->o.beta1, (double)s->count);
    const double fix2 = sqrt(1 - pow(s->o.beta2, (double)s->count));
    s->adam = (rela_adam){ .rate = (real)(rate * fix2 / fix1),
                           .beta1 = (real)s->o.beta1,
                           .beta2 = (real)s->o.beta2,
                           .epsilon = (real)(s->o.epsilon * fix2),
                           .grad_scale = (real)(unit * clip),
                           .decay = (real)(s->o.weight_decay * rate) };
    rela_par_rows(slices, (int)n, apply_adam, s);
    return RELA_OK;
}

rela_status rela_stepper_score(rela_stepper *s, rela_step_result *out, const rela_packed *u,
                               rela_error *err)
{
    const rela_status st = make_room(s, u, err);
    if (st != RELA_OK)
        return st;
    s->update = u;
    s->training = false;
    split(s, u);
    rela_par_rows((size_t)s->o.n_threads, s->o.n_threads, run_lanes, s);
    totals(s, out, u);
    return RELA_OK;
}

real *rela_stepper_moment(rela_stepper *s, int which)
{
    return s->moments[which];
}

uint64_t rela_stepper_count(const rela_stepper *s)
{
    return s->count;
}

void rela_stepper_set_count(rela_stepper *s, uint64_t n)
{
    s->count = n;
}

const char *rela_stepper_culprit(const rela_stepper *s)
{
    return s->culprit ? s->culprit->name : "the loss";
}

/* Grows workers and offset arrays to what the update needs; nothing to do after the first few. */
static rela_status make_room(rela_stepper *s, const rela_packed *u, rela_error *err)
{
    for (int i = 0; i < s->o.n_threads; i++) {
        const rela_status st = lane_room(s, &s->lanes[i], u, err);
        if (st != RELA_OK)
            return st;
    }
    return RELA_OK;
}

/* The most rows of a piece of a stream, which may be a single long sentence. */
static size_t rows_needed(const rela_stepper *s, const rela_tokens *t)
{
    size_t rows = piece_rows(&s->o);
    for (size_t i = 0; i < t->n; i++) {
        const size_t len = copies_of(&s->o) * length_of(t, i);
        rows = len > rows ? len : rows;
    }
    return rows;
}

static rela_status lane_room(rela_stepper *s, lane *l, const rela_packed *u, rela_error *err)
{
    const size_t target = n_streams(s) - 1, tgt = rows_needed(s, &u->streams[target]);
    size_t src = 0;
    bool good = true;
    for (size_t i = 0; i < target; i++) {
        const size_t rows = rows_needed(s, &u->streams[i]);
        src = rows > src ? rows : src;
    }
    for (size_t i = 0; i <= target; i++) { /* a sentence has at least one token in the target */
        uint32_t *at = rela_mem_grow(l->at[i], &l->cap_at[i], tgt + 1, sizeof *at);
        l->at[i] = at ? at : l->at[i];
        good = good && at;
    }
    const size_t n_ids = copies_of(&s->o) > 1 ? target * src + tgt : 1;
    int32_t *ids = rela_mem_grow(l->ids, &l->cap_ids, n_ids, sizeof *ids);
    l->ids = ids ? ids : l->ids;
    real *weight = rela_mem_grow(l->row_weight, &l->cap_weight, tgt, sizeof *weight);
    l->row_weight = weight ? weight : l->row_weight;
    if (!good || !ids || !weight)
        return rela_fail(err, RELA_NOMEM, "no memory for a batch of %zu rows", tgt);
    if (l->worker && src <= l->max_src && tgt <= l->max_tgt)
        return RELA_OK;
    rela_worker_destroy(l->worker);
    l->worker = NULL;
    l->max_src = src > l->max_src ? src : l->max_src;
    l->max_tgt = tgt > l->max_tgt ? tgt : l->max_tgt;
    return rela_worker_create(&l->worker, s->net, l->max_src, l->max_tgt, true, err);
}

/* Gives each thread neighbouring sentences of about the same number of tokens. */
static void split(rela_stepper *s, const rela_packed *u)
{
    const size_t n = sentences_of(u), threads = (size_t)s->o.n_threads;
    const size_t all = count_rows(s, 0, n).all;
    size_t at = 0;
    for (size_t i = 0; i < threads; i++) {
        lane *l = &s->lanes[i];
        const size_t limit = all * (i + 1) / threads;
        l->first = at;
        while (at < n && (i + 1 == threads || count_rows(s, 0, at + 1).all <= limit))
            at++;
        l->last = at;
        l->loss = l->nll = l->squares = 0;
    }
}

static void run_lanes(void *ctx, size_t begin, size_t end, int thread)
{
    rela_stepper *s = ctx;
    (void)thread;
    for (size_t i = begin; i < end; i++)
        run_lane(s, &s->lanes[i]);
}

static void run_lane(rela_stepper *s, lane *l)
{
    if (l->first == l->last)
        return;
    /* Pieces of equal size: a small last one would waste the products. */
    const size_t most = count_rows(s, l->first, l->last).most, room = room_of(&s->o);
    const size_t n_pieces = (most + room - 1) / room, rows = (most + n_pieces - 1) / n_pieces;
    for (size_t at = l->first; at < l->last;) {
        const piece p = next_piece(s, l, at, rows);
        run_piece(s, l, p);
        at = p.last;
    }
}

/* About the given number of rows on the longer side, never more than there is room for, at least
 * one sentence. */
static piece next_piece(const rela_stepper *s, const lane *l, size_t from, size_t rows)
{
    const size_t room = room_of(&s->o);
    size_t to = from + 1;
    while (to < l->last && count_rows(s, from, to).most < rows &&
           count_rows(s, from, to + 1).most <= room)
        to++;
    return (piece){ from, to };
}

static void run_piece(rela_stepper *s, lane *l, piece p)
{
    const rela_packed *u = s->update;
    const size_t copies = s->training ? copies_of(&s->o) : 1, target = n_streams(s) - 1;
    rela_packed b = { .first = { 0 } };
    size_t n_ids = 0;
    for (size_t i = 0; i <= target; i++) {
        b.streams[i] = piece_tokens(&u->streams[i], p, copies, l->at[i], l->ids + n_ids);
        b.first[i] = (uint32_t)copies * u->streams[i].at[p.first];
        n_ids += copies > 1 ? rela_tokens_rows(&b.streams[i]) : 0;
    }
    const rela_tokens *tgt = &b.streams[target];
    for (size_t i = 0; s->o.sentence_mean && i < tgt->n; i++)
        for (size_t t = tgt->at[i]; t < tgt->at[i + 1]; t++)
            l->row_weight[t] = 1 / (real)length_of(tgt, i);
    const rela_pass_options pass = { .training = s->training,
                                     .seed = s->o.seed,
                                     .update = s->number,
                                     .loss = { .smooth = (real)s->o.smooth,
                                               .agree = s->training ? (real)s->o.r_drop : 0,
                                               .row_weight =
                                                   s->o.sentence_mean ? l->row_weight : NULL } };
    const rela_loss_sums sums =
        rela_worker_train(l->worker, s->training ? l->grads : NULL, &b, &pass);
    l->loss += sums.loss;
    l->nll += sums.nll;
}

/* One stream of a piece, each sentence behind its copies: so the rows of a sentence in the update,
 * on which dropout depends, are the same however the update is divided. */
static rela_tokens piece_tokens(const rela_tokens *all, piece p, size_t copies, uint32_t *at,
                                int32_t *ids)
{
    const uint32_t first = all->at[p.first];
    size_t n = 0;
    at[0] = 0;
    for (size_t i = p.first; i < p.last; i++)
        for (size_t c = 0; c < copies; c++, n++) {
            const size_t len = length_of(all, i);
            at[n + 1] = at[n] + (uint32_t)len;
            if (copies > 1)
                memcpy(ids + at[n], all->ids + all->at[i], len * sizeof *ids);
        }
    return (rela_tokens){ copies > 1 ? ids : all->ids + first, at, n };
}

/* Slices [begin, end): adds the gradients of all threads into those of the first. */
static void sum_gradients(void *ctx, size_t begin, size_t end, int thread)
{
    rela_stepper *s = ctx;
    const size_t total = s->net->params.total;
    const rela_kern *k = s->net->k;
    const uint64_t tiny = rela_tiny_flush();
    double squares = 0;
    for (size_t i = begin; i < end; i++) {
        const size_t at = i * SLICE, n = total - at < SLICE ? total - at : SLICE;
        real *sum = s->lanes[0].grads + at;
        for (int t = 1; t < s->o.n_threads; t++) {
            k->axpy(sum, 1, s->lanes[t].grads + at, n);
            memset(s->lanes[t].grads + at, 0, n * sizeof *sum);
        }
        squares += (double)k->sum_squares(sum, n);
    }
    rela_tiny_restore(tiny);
    s->lanes[thread].squares = squares;
}

static void apply_adam(void *ctx, size_t begin, size_t end, int thread)
{
    rela_stepper *s = ctx;
    const size_t total = s->net->params.total;
    const uint64_t tiny = rela_tiny_flush();
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        const size_t at = i * SLICE, n = total - at < SLICE ? total - at : SLICE;
        real *g = s->lanes[0].grads + at;
        s->net->k->adam(s->net->weights + at, s->moments[0] + at, s->moments[1] + at, g, n,
                        &s->adam);
        memset(g, 0, n * sizeof *g);
    }
    rela_tiny_restore(tiny);
}

static void clear_gradients(rela_stepper *s)
{
    for (int i = 0; i < s->o.n_threads; i++)
        memset(s->lanes[i].grads, 0, s->net->params.total * sizeof *s->lanes[i].grads);
}

static void find_culprit(rela_stepper *s)
{
    s->culprit = NULL;
    for (size_t i = 0; i < s->net->params.n && !s->culprit; i++) {
        const rela_param *p = &s->net->params.items[i];
        const real *g = s->lanes[0].grads + p->offset;
        for (size_t j = 0; j < rela_param_count(p) && !s->culprit; j++)
            if (!isfinite((double)g[j]))
                s->culprit = p;
    }
}

static void totals(const rela_stepper *s, rela_step_result *out, const rela_packed *u)
{
    const size_t tgt = rela_tokens_rows(&u->streams[n_streams(s) - 1]);
    *out = (rela_step_result){ .src_tokens = count_rows(s, 0, sentences_of(u)).all - tgt,
                               .tgt_tokens = tgt,
                               .sentences = sentences_of(u) };
    out->n_loss = s->o.sentence_mean ? out->sentences : out->tgt_tokens;
    for (int i = 0; i < s->o.n_threads; i++) {
        out->loss += s->lanes[i].loss;
        out->nll += s->lanes[i].nll;
    }
}

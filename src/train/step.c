/* SPDX-License-Identifier: MIT */
/* src/train/step.c - see step.h. */
#include "train/step.h"

#include "base/fault.h"
#include "base/mem.h"
#include "base/par.h"
#include "kern/flush_to_zero.h"
#include "train/rank_sum.h"

#include <math.h>
#include <string.h>

/* Some 512 rows do for full speed. With a little more room a share of an update that is just above
 * a multiple of 512, as quarters of 4096 tokens are, needs no micro-batch more. */
enum { MICRO_BATCH_ROWS = 576, SLICE = 1 << 14 };

/* What is summed of the sentences [first, last) of an update. */
typedef struct slot {
    size_t first, last;
    double loss, nll;
} slot;

/* What a thread needs to run micro-batches. */
typedef struct runner {
    rela_worker *worker;
    size_t max_src, max_tgt;        /* rows the worker has room for */
    uint32_t *at[RELA_STREAMS_MAX]; /* offsets of a micro-batch, from 0 */
    int32_t *ids;                   /* its tokens where sentences are there twice, by stream */
    real *row_weight;
    size_t cap_at[RELA_STREAMS_MAX], cap_ids, cap_weight;
} runner;

struct rela_stepper {
    rela_net *net;
    rela_step_options o;
    runner *runners; /* (threads) */
    slot *slots;     /* (o.slots) */
    /* Gradients: of the slots that are computed at a time, and the sum of those before. All are 0
     * between two steps. */
    real **grads; /* (n_grads) */
    size_t n_grads;
    real *sum;        /* one of them */
    double *squares;  /* of each slice of the sum */
    real *moments[2]; /* of the own parameters; on rank 0 there is room for all */
    /* Several ranks: the sum is there, not in one of the arrays above. */
    rela_rank_sum ranks;
    uint64_t count;
    const rela_param *culprit;
    /* the step under way */
    const rela_packed *update;
    uint64_t number;
    bool training;
    size_t first_slot; /* of those that are computed at a time */
    bool last_round;
    rela_adam adam;
};

/* Sentences [first, last) of a slot. */
typedef struct micro_batch {
    size_t first, last;
} micro_batch;

static rela_status make_room(rela_stepper *s, const rela_packed *u, rela_error *err);
static rela_status runner_room(rela_stepper *s, runner *r, const rela_packed *u, rela_error *err);
static void cut(rela_stepper *s, const rela_packed *u);
static void run_slots(rela_stepper *s);
static void run_round(void *ctx, size_t begin, size_t end, int thread);
static void run_slot(rela_stepper *s, runner *r, slot *part, real *grads);
static micro_batch next_micro_batch(const rela_stepper *s, const slot *part, size_t from,
                                    size_t rows);
static void run_micro_batch(rela_stepper *s, runner *r, slot *part, micro_batch m, real *grads);
static rela_tokens micro_batch_tokens(const rela_tokens *all, micro_batch m, size_t copies,
                                      uint32_t *at, int32_t *ids);
static void add_round(void *ctx, size_t begin, size_t end, int thread);
static void apply_adam(void *ctx, size_t begin, size_t end, int thread);
static void clear_sum(rela_stepper *s);
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

static size_t micro_batch_rows(const rela_step_options *o)
{
    return o->micro_batch_rows ? o->micro_batch_rows : MICRO_BATCH_ROWS;
}

/* How often a sentence is in a micro-batch of training. */
static size_t copies_of(const rela_step_options *o)
{
    return o->r_drop > 0 ? 2 : 1;
}

/* Rows of the sentences of a micro-batch, each counted once; it has at least one sentence. */
static size_t room_of(const rela_step_options *o)
{
    const size_t room = micro_batch_rows(o) / copies_of(o);
    return room > 0 ? room : 1;
}

static bool has_ranks(const rela_step_options *o)
{
    return rela_world_size(o->world) > 1;
}

/* Slots that a rank computes at a time. */
static size_t round_of(const rela_step_options *o)
{
    const size_t threads = (size_t)rela_par_threads(o->n_threads), n = rela_world_size(o->world);
    const size_t share = (o->slots + n - 1) / n;
    return threads < share ? threads : share;
}

/* While the slots of a further round are computed, the sum of those before is kept. */
static size_t count_grads(const rela_step_options *o)
{
    return round_of(o) + (!has_ranks(o) && round_of(o) < o->slots);
}

static rela_rank_sum_options sum_options(const rela_net *n, const rela_step_options *o)
{
    return (rela_rank_sum_options){ .k = n->k,
                                    .total = n->params.total,
                                    .slice = SLICE,
                                    .per = round_of(o),
                                    .slots = o->slots,
                                    .note = sizeof(slot),
                                    .n_threads = o->n_threads };
}

size_t rela_stepper_bytes(const rela_net *n, const rela_step_options *o)
{
    rela_step_options own = *o;
    own.slots = o->slots ? o->slots : RELA_STEP_SLOTS;
    const size_t longest = copies_of(o) * n->config.max_len;
    const size_t rows = micro_batch_rows(o) > longest ? micro_batch_rows(o) : longest;
    const size_t total = n->params.total, ranks = rela_world_size(o->world);
    const size_t moments = rela_world_rank(o->world) ? 2 * (total / ranks + SLICE) : 2 * total;
    const rela_rank_sum_options so = sum_options(n, &own);
    return (count_grads(&own) * total + moments) * sizeof(real) +
           (ranks > 1 ? rela_rank_sum_bytes(o->world, &so) : 0) +
           round_of(&own) * rela_worker_bytes(n, rows, rows, true);
}

static size_t count_slices(const rela_stepper *s)
{
    return (s->net->params.total + SLICE - 1) / SLICE;
}

/* Arrays of the ranks, and moments of the own parameters. */
static rela_status make_ranks(rela_stepper *s, rela_error *err)
{
    const rela_rank_sum_options so = sum_options(s->net, &s->o);
    size_t n = s->net->params.total;
    rela_status st =
        has_ranks(&s->o) ? rela_rank_sum_init(&s->ranks, s->o.world, &so, err) : RELA_OK;
    if (st == RELA_OK && rela_world_rank(s->o.world))
        n = rela_rank_sum_end(&s->ranks) - rela_rank_sum_begin(&s->ranks);
    for (int i = 0; i < 2 && st == RELA_OK; i++)
        if (!(s->moments[i] = rela_mem_zalloc((n + 1) * sizeof(real))))
            st = rela_fail(err, RELA_NOMEM, "no memory for the state of the optimiser: %zu bytes",
                           2 * n * sizeof(real));
    return st;
}

static rela_status make_arrays(rela_stepper *s, rela_error *err)
{
    const size_t bytes = s->net->params.total * sizeof(real), n_grads = count_grads(&s->o);
    s->runners = rela_mem_zalloc(round_of(&s->o) * sizeof *s->runners);
    s->slots = rela_mem_zalloc(s->o.slots * sizeof *s->slots);
    s->squares = rela_mem_array(count_slices(s), sizeof *s->squares);
    s->grads = rela_mem_zalloc(n_grads * sizeof *s->grads);
    bool good = s->runners && s->slots && s->squares && s->grads;
    for (; s->n_grads < n_grads && good; s->n_grads++)
        good = (s->grads[s->n_grads] = rela_mem_zalloc(bytes)) != NULL;
    return good ? make_ranks(s, err)
                : rela_fail(err, RELA_NOMEM, "no memory for gradients: %zu bytes", n_grads * bytes);
}

rela_status rela_stepper_create(rela_stepper **out, rela_net *n, const rela_step_options *o,
                                rela_error *err)
{
    *out = NULL;
    /* Every rank computes as many slots at a time as the one with fewest threads. */
    const int threads = (int)rela_world_min(o->world, rela_par_threads(o->n_threads));
    rela_stepper *s = rela_mem_zalloc(sizeof *s);
    rela_status st = s ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for training");
    if (s) {
        s->net = n;
        s->o = *o;
        s->o.slots = o->slots ? o->slots : RELA_STEP_SLOTS;
        s->o.n_threads = threads;
        st = make_arrays(s, err);
    }
    st = rela_world_agree(o->world, st, err);
    if (st != RELA_OK) {
        rela_stepper_destroy(s);
        return st;
    }
    *out = s;
    return RELA_OK;
}

void rela_stepper_destroy(rela_stepper *s)
{
    if (!s)
        return;
    for (size_t i = 0; s->runners && i < round_of(&s->o); i++) {
        runner *r = &s->runners[i];
        rela_worker_destroy(r->worker);
        for (size_t k = 0; k < RELA_STREAMS_MAX; k++)
            rela_mem_free(r->at[k]);
        rela_mem_free(r->ids);
        rela_mem_free(r->row_weight);
    }
    for (size_t i = 0; i < s->n_grads; i++)
        rela_mem_free(s->grads[i]);
    rela_mem_free((void *)s->grads);
    rela_mem_free(s->runners);
    rela_mem_free(s->slots);
    rela_mem_free(s->squares);
    rela_mem_free(s->moments[0]);
    rela_mem_free(s->moments[1]);
    rela_rank_sum_deinit(&s->ranks);
    rela_mem_free(s);
}

/* Slices have a fixed size and are added in order, whoever computed them. */
static double sum_squares(const rela_stepper *s)
{
    double sum = 0;
    for (size_t i = 0; i < count_slices(s); i++)
        sum += s->squares[i];
    return sum;
}

/* The first parameter whose moments are here, and the one behind the last. */
static size_t own_begin(const rela_stepper *s)
{
    return has_ranks(&s->o) ? rela_rank_sum_begin(&s->ranks) : 0;
}

static size_t own_end(const rela_stepper *s)
{
    return has_ranks(&s->o) ? rela_rank_sum_end(&s->ranks) : s->net->params.total;
}

static void update_weights(rela_stepper *s)
{
    const size_t n = own_end(s) - own_begin(s);
    rela_par_rows((n + SLICE - 1) / SLICE, s->o.n_threads, apply_adam, s);
    rela_fault_reach(RELA_FAULT_OPTIMISER);
    if (has_ranks(&s->o))
        rela_world_share(s->o.world, s->net->weights, sizeof(real), s->ranks.reals);
}

rela_status rela_stepper_run(rela_stepper *s, rela_step_result *out, const rela_packed *u,
                             uint64_t number, double rate, rela_error *err)
{
    const rela_status st = rela_world_agree(s->o.world, make_room(s, u, err), err);
    if (st != RELA_OK)
        return st;
    s->update = u;
    s->number = number;
    s->training = true;
    run_slots(s);
    totals(s, out, u);
    const double unit = 1 / (double)out->n_loss;
    out->grad_norm = sqrt(sum_squares(s)) * unit;
    out->skipped = !isfinite(out->loss) || !isfinite(out->grad_norm);
    if (out->skipped) {
        find_culprit(s);
        clear_sum(s);
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
    update_weights(s);
    return RELA_OK;
}

rela_status rela_stepper_score(rela_stepper *s, rela_step_result *out, const rela_packed *u,
                               rela_error *err)
{
    const rela_status st = rela_world_agree(s->o.world, make_room(s, u, err), err);
    if (st != RELA_OK)
        return st;
    s->update = u;
    s->training = false;
    run_slots(s);
    totals(s, out, u);
    return RELA_OK;
}

const real *rela_stepper_moment(rela_stepper *s, int which)
{
    const bool is_first = rela_world_rank(s->o.world) == 0;
    real *own = s->moments[which];
    if (has_ranks(&s->o))
        rela_world_gather(s->o.world, is_first ? own : NULL, own, sizeof *own, s->ranks.reals);
    return is_first ? own : NULL;
}

void rela_stepper_set_moment(rela_stepper *s, int which, const real *all)
{
    const size_t begin = own_begin(s);
    memcpy(s->moments[which], all + begin, (own_end(s) - begin) * sizeof *all);
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
    for (size_t i = 0; i < round_of(&s->o); i++) {
        const rela_status st = runner_room(s, &s->runners[i], u, err);
        if (st != RELA_OK)
            return st;
    }
    return RELA_OK;
}

/* The most rows of a micro-batch of a stream, which may be a single long sentence. */
static size_t rows_needed(const rela_stepper *s, const rela_tokens *t)
{
    size_t rows = micro_batch_rows(&s->o);
    for (size_t i = 0; i < t->n; i++) {
        const size_t len = copies_of(&s->o) * length_of(t, i);
        rows = len > rows ? len : rows;
    }
    return rows;
}

static rela_status runner_room(rela_stepper *s, runner *r, const rela_packed *u, rela_error *err)
{
    const size_t target = n_streams(s) - 1, tgt = rows_needed(s, &u->streams[target]);
    size_t src = 0;
    bool good = true;
    for (size_t i = 0; i < target; i++) {
        const size_t rows = rows_needed(s, &u->streams[i]);
        src = rows > src ? rows : src;
    }
    for (size_t i = 0; i <= target; i++) { /* a sentence has at least one token in the target */
        uint32_t *at = rela_mem_grow(r->at[i], &r->cap_at[i], tgt + 1, sizeof *at);
        r->at[i] = at ? at : r->at[i];
        good = good && at;
    }
    const size_t n_ids = copies_of(&s->o) > 1 ? target * src + tgt : 1;
    int32_t *ids = rela_mem_grow(r->ids, &r->cap_ids, n_ids, sizeof *ids);
    r->ids = ids ? ids : r->ids;
    real *weight = rela_mem_grow(r->row_weight, &r->cap_weight, tgt, sizeof *weight);
    r->row_weight = weight ? weight : r->row_weight;
    if (!good || !ids || !weight)
        return rela_fail(err, RELA_NOMEM, "no memory for a batch of %zu rows", tgt);
    if (r->worker && src <= r->max_src && tgt <= r->max_tgt)
        return RELA_OK;
    rela_worker_destroy(r->worker);
    r->worker = NULL;
    r->max_src = src > r->max_src ? src : r->max_src;
    r->max_tgt = tgt > r->max_tgt ? tgt : r->max_tgt;
    return rela_worker_create(&r->worker, s->net, r->max_src, r->max_tgt, true, err);
}

/* Gives each slot neighbouring sentences of about the same number of tokens: a pure function of the
 * update. */
static void cut(rela_stepper *s, const rela_packed *u)
{
    const size_t n = sentences_of(u), all = count_rows(s, 0, n).all;
    size_t at = 0;
    for (size_t i = 0; i < s->o.slots; i++) {
        slot *part = &s->slots[i];
        const size_t limit = all * (i + 1) / s->o.slots;
        *part = (slot){ .first = at };
        while (at < n && (i + 1 == s->o.slots || count_rows(s, 0, at + 1).all <= limit))
            at++;
        part->last = at;
    }
}

/* The first slot is the sum so far; if there is another round, the spare array takes its place. */
static void start_sum(rela_stepper *s)
{
    real **spare = &s->grads[s->n_grads - 1];
    s->sum = s->grads[0];
    if (s->n_grads > round_of(&s->o)) {
        s->grads[0] = *spare;
        *spare = s->sum;
    }
}

/* All slots, as many at a time as there are threads. Gradients are added in the order of the slots:
 * ((0 + 1) + 2) + 3 and so on, whatever the number of threads. */
static void run_slots(rela_stepper *s)
{
    const size_t n = s->o.slots, round = round_of(&s->o), all = round * rela_world_size(s->o.world);
    cut(s, s->update);
    for (s->first_slot = 0; s->first_slot < n; s->first_slot += all) {
        s->last_round = s->first_slot + all >= n;
        if (s->training)
            rela_fault_reach(RELA_FAULT_GRADIENTS);
        rela_par_rows(round, (int)round, run_round, s);
        if (s->training && has_ranks(&s->o)) {
            rela_rank_sum_add(&s->ranks, s->grads, s->first_slot);
        } else if (s->training) {
            if (s->first_slot == 0)
                start_sum(s);
            rela_par_rows(count_slices(s), s->o.n_threads, add_round, s);
        }
    }
    if (has_ranks(&s->o)) {
        rela_rank_sum_notes(&s->ranks, s->slots);
        if (s->training)
            rela_rank_sum_squares(&s->ranks, s->squares);
    }
}

static void run_round(void *ctx, size_t begin, size_t end, int thread)
{
    rela_stepper *s = ctx;
    const size_t first = s->first_slot + rela_world_rank(s->o.world) * round_of(&s->o);
    (void)thread;
    for (size_t i = begin; i < end && first + i < s->o.slots; i++)
        run_slot(s, &s->runners[i], &s->slots[first + i], s->grads[i]);
}

static void run_slot(rela_stepper *s, runner *r, slot *part, real *grads)
{
    if (part->first == part->last)
        return;
    /* Micro-batches of equal size: a small last one would waste the products. */
    const size_t most = count_rows(s, part->first, part->last).most, room = room_of(&s->o);
    const size_t n = most > room ? (most + room - 1) / room : 1, rows = (most + n - 1) / n;
    for (size_t at = part->first; at < part->last;) {
        const micro_batch m = next_micro_batch(s, part, at, rows);
        run_micro_batch(s, r, part, m, grads);
        at = m.last;
    }
}

/* About the given number of rows on the longer side, never more than there is room for, at least
 * one sentence. */
static micro_batch next_micro_batch(const rela_stepper *s, const slot *part, size_t from,
                                    size_t rows)
{
    const size_t room = room_of(&s->o);
    size_t to = from + 1;
    while (to < part->last && count_rows(s, from, to).most < rows &&
           count_rows(s, from, to + 1).most <= room)
        to++;
    return (micro_batch){ from, to };
}

static void run_micro_batch(rela_stepper *s, runner *r, slot *part, micro_batch m, real *grads)
{
    const rela_packed *u = s->update;
    const size_t copies = s->training ? copies_of(&s->o) : 1, target = n_streams(s) - 1;
    rela_packed b = { .first = { 0 } };
    size_t n_ids = 0;
    for (size_t i = 0; i <= target; i++) {
        b.streams[i] = micro_batch_tokens(&u->streams[i], m, copies, r->at[i], r->ids + n_ids);
        b.first[i] = (uint32_t)copies * u->streams[i].at[m.first];
        n_ids += copies > 1 ? rela_tokens_rows(&b.streams[i]) : 0;
    }
    const rela_tokens *tgt = &b.streams[target];
    for (size_t i = 0; s->o.sentence_mean && i < tgt->n; i++)
        for (size_t t = tgt->at[i]; t < tgt->at[i + 1]; t++)
            r->row_weight[t] = 1 / (real)length_of(tgt, i);
    const rela_pass_options pass = { .training = s->training,
                                     .seed = s->o.seed,
                                     .update = s->number,
                                     .loss = { .smooth = (real)s->o.smooth,
                                               .kl_weight = s->training ? (real)s->o.r_drop : 0,
                                               .row_weight =
                                                   s->o.sentence_mean ? r->row_weight : NULL } };
    const rela_loss_sums sums = rela_worker_train(r->worker, s->training ? grads : NULL, &b, &pass);
    part->loss += sums.loss;
    part->nll += sums.nll;
}

/* One stream of a micro-batch, each sentence followed by its copies: so the rows of a sentence in
 * the update, on which dropout depends, are the same however the update is divided. */
static rela_tokens micro_batch_tokens(const rela_tokens *all, micro_batch m, size_t copies,
                                      uint32_t *at, int32_t *ids)
{
    const uint32_t first = all->at[m.first];
    size_t n = 0;
    at[0] = 0;
    for (size_t i = m.first; i < m.last; i++)
        for (size_t c = 0; c < copies; c++, n++) {
            const size_t len = length_of(all, i);
            at[n + 1] = at[n] + (uint32_t)len;
            if (copies > 1)
                memcpy(ids + at[n], all->ids + all->at[i], len * sizeof *ids);
        }
    return (rela_tokens){ copies > 1 ? ids : all->ids + first, at, n };
}

/* Slices [begin, end): adds the slots of the round to the sum, and clears them. */
static void add_round(void *ctx, size_t begin, size_t end, int thread)
{
    rela_stepper *s = ctx;
    const size_t total = s->net->params.total, round = round_of(&s->o);
    const rela_kern *k = s->net->k;
    const uint64_t mode = rela_flush_to_zero();
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        const size_t at = i * SLICE, n = total - at < SLICE ? total - at : SLICE;
        real *sum = s->sum + at;
        for (size_t t = s->first_slot == 0; t < round && s->first_slot + t < s->o.slots; t++) {
            k->axpy(sum, 1, s->grads[t] + at, n);
            memset(s->grads[t] + at, 0, n * sizeof *sum);
        }
        if (s->last_round)
            s->squares[i] = (double)k->sum_squares(sum, n);
    }
    rela_flush_to_zero_end(mode);
}

static void apply_adam(void *ctx, size_t begin, size_t end, int thread)
{
    rela_stepper *s = ctx;
    const size_t first = own_begin(s), total = own_end(s) - first;
    const uint64_t mode = rela_flush_to_zero();
    real *sum = has_ranks(&s->o) ? s->ranks.sum : s->sum;
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        const size_t at = i * SLICE, n = total - at < SLICE ? total - at : SLICE;
        real *g = sum + at;
        s->net->k->adam(s->net->weights + first + at, s->moments[0] + at, s->moments[1] + at, g, n,
                        &s->adam);
        memset(g, 0, n * sizeof *g);
    }
    rela_flush_to_zero_end(mode);
}

static void clear_sum(rela_stepper *s)
{
    if (!has_ranks(&s->o)) /* theirs is written anew */
        memset(s->sum, 0, s->net->params.total * sizeof *s->sum);
}

static void find_culprit(rela_stepper *s)
{
    const size_t n = s->net->params.n, begin = own_begin(s), end = own_end(s);
    const real *sum = has_ranks(&s->o) ? s->ranks.sum : s->sum;
    size_t found = n;
    for (size_t i = 0; i < n && found == n; i++) {
        const rela_param *p = &s->net->params.items[i];
        for (size_t j = p->offset; j < p->offset + rela_param_count(p) && found == n; j++)
            if (j >= begin && j < end && !isfinite((double)sum[j - begin]))
                found = i;
    }
    found = (size_t)rela_world_min(s->o.world, (int64_t)found);
    s->culprit = found < n ? &s->net->params.items[found] : NULL;
}

static void totals(const rela_stepper *s, rela_step_result *out, const rela_packed *u)
{
    const size_t tgt = rela_tokens_rows(&u->streams[n_streams(s) - 1]);
    *out = (rela_step_result){ .src_tokens = count_rows(s, 0, sentences_of(u)).all - tgt,
                               .tgt_tokens = tgt,
                               .sentences = sentences_of(u) };
    out->n_loss = s->o.sentence_mean ? out->sentences : out->tgt_tokens;
    for (size_t i = 0; i < s->o.slots; i++) {
        out->loss += s->slots[i].loss;
        out->nll += s->slots[i].nll;
    }
}

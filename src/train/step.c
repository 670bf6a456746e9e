/* SPDX-License-Identifier: MIT */
/* src/train/step.c - see step.h. */
#include "train/step.h"

#include "base/fault.h"
#include "base/mem.h"
#include "base/par.h"
#include "kern/flush_to_zero.h"
#include "train/rank_sum.h"
#include "train/slot_runner.h"

#include <math.h>
#include <string.h>

enum { SLICE = 1 << 14 };

struct rela_stepper {
    rela_net *net;
    rela_step_options o;
    rela_slot_runner *runners; /* (threads) */
    rela_slot *slots;          /* (o.slots) */
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
    const rela_param *not_finite;
    /* the step under way */
    rela_slot_job job;
    size_t first_slot; /* of those that are computed at a time */
    bool last_round;
    rela_adam adam;
};

static rela_status make_room(rela_stepper *s, rela_error *err);
static void cut(rela_stepper *s, const rela_packed *u);
static void run_slots(rela_stepper *s);
static void run_round(void *ctx, size_t begin, size_t end, int thread);
static void add_round(void *ctx, size_t begin, size_t end, int thread);
static void apply_adam(void *ctx, size_t begin, size_t end, int thread);
static void clear_sum(rela_stepper *s);
static void find_not_finite(rela_stepper *s);
static void totals(const rela_stepper *s, rela_step_result *out, const rela_packed *u);

static size_t sentences_of(const rela_packed *u)
{
    return u->streams[0].n;
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
                                    .note = sizeof(rela_slot),
                                    .n_threads = o->n_threads };
}

size_t rela_stepper_bytes(const rela_net *n, const rela_step_options *o)
{
    rela_step_options own = *o;
    own.slots = o->slots ? o->slots : RELA_STEP_SLOTS;
    const size_t longest = rela_sentence_copies(o) * n->config.max_len;
    const size_t rows = rela_micro_batch_rows(o) > longest ? rela_micro_batch_rows(o) : longest;
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
    for (size_t i = 0; s->runners && i < round_of(&s->o); i++)
        rela_slot_runner_deinit(&s->runners[i]);
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
    s->job = (rela_slot_job){ s->net, &s->o, u, number, true };
    const rela_status st = rela_world_agree(s->o.world, make_room(s, err), err);
    if (st != RELA_OK)
        return st;
    run_slots(s);
    totals(s, out, u);
    const double unit = 1 / (double)out->n_loss;
    out->grad_norm = sqrt(sum_squares(s)) * unit;
    out->skipped = !isfinite(out->loss) || !isfinite(out->grad_norm);
    if (out->skipped) {
        find_not_finite(s);
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
    s->job = (rela_slot_job){ s->net, &s->o, u, 0, false };
    const rela_status st = rela_world_agree(s->o.world, make_room(s, err), err);
    if (st != RELA_OK)
        return st;
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

const char *rela_stepper_not_finite(const rela_stepper *s)
{
    return s->not_finite ? s->not_finite->name : "the loss";
}

/* Grows workers and offset arrays to what the update needs; nothing to do after the first few. */
static rela_status make_room(rela_stepper *s, rela_error *err)
{
    for (size_t i = 0; i < round_of(&s->o); i++) {
        const rela_status st = rela_slot_runner_grow(&s->runners[i], &s->job, err);
        if (st != RELA_OK)
            return st;
    }
    return RELA_OK;
}

/* Gives each slot neighbouring sentences of about the same number of tokens: a pure function of the
 * update. */
static void cut(rela_stepper *s, const rela_packed *u)
{
    const size_t n = sentences_of(u), all = rela_count_rows(&s->job, 0, n).all;
    size_t at = 0;
    for (size_t i = 0; i < s->o.slots; i++) {
        rela_slot *part = &s->slots[i];
        const size_t limit = all * (i + 1) / s->o.slots;
        *part = (rela_slot){ .first = at };
        while (at < n && (i + 1 == s->o.slots || rela_count_rows(&s->job, 0, at + 1).all <= limit))
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
    cut(s, s->job.update);
    for (s->first_slot = 0; s->first_slot < n; s->first_slot += all) {
        s->last_round = s->first_slot + all >= n;
        if (s->job.training)
            rela_fault_reach(RELA_FAULT_GRADIENTS);
        rela_par_rows(round, (int)round, run_round, s);
        if (s->job.training && has_ranks(&s->o)) {
            rela_rank_sum_add(&s->ranks, s->grads, s->first_slot);
        } else if (s->job.training) {
            if (s->first_slot == 0)
                start_sum(s);
            rela_par_rows(count_slices(s), s->o.n_threads, add_round, s);
        }
    }
    if (has_ranks(&s->o)) {
        rela_rank_sum_notes(&s->ranks, s->slots);
        if (s->job.training)
            rela_rank_sum_squares(&s->ranks, s->squares);
    }
}

static void run_round(void *ctx, size_t begin, size_t end, int thread)
{
    rela_stepper *s = ctx;
    const size_t first = s->first_slot + rela_world_rank(s->o.world) * round_of(&s->o);
    (void)thread;
    for (size_t i = begin; i < end && first + i < s->o.slots; i++)
        rela_slot_run(&s->runners[i], &s->slots[first + i], &s->job, s->grads[i]);
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

static void find_not_finite(rela_stepper *s)
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
    s->not_finite = found < n ? &s->net->params.items[found] : NULL;
}

static void totals(const rela_stepper *s, rela_step_result *out, const rela_packed *u)
{
    const size_t tgt = rela_tokens_rows(&u->streams[s->net->list.n_streams - 1]);
    *out = (rela_step_result){ .src_tokens = rela_count_rows(&s->job, 0, sentences_of(u)).all - tgt,
                               .tgt_tokens = tgt,
                               .sentences = sentences_of(u) };
    out->n_loss = s->o.sentence_mean ? out->sentences : out->tgt_tokens;
    for (size_t i = 0; i < s->o.slots; i++) {
        out->loss += s->slots[i].loss;
        out->nll += s->slots[i].nll;
    }
}

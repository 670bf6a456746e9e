/* SPDX-License-Identifier: MIT */
/* src/train/update.c - see update.h. */
#include "train/update.h"

#include "base/fault.h"
#include "base/mem.h"
#include "base/par.h"
#include "kern/flush_to_zero.h"
#include "train/gradients.h"

#include <math.h>
#include <string.h>

struct rela_updater {
    rela_net *net;
    rela_update_options o;
    rela_gradients gradients;
    real *moments[2]; /* of the slices that this rank owns */
    uint64_t count;
    const rela_param *not_finite;
    rela_adam adam; /* of the current step */
};

static void apply_adam(void *ctx, size_t begin, size_t end, int thread);
static void find_not_finite(rela_updater *s);
static void totals(const rela_updater *s, rela_update_result *out, const rela_model_batch *u);

static bool has_ranks(const rela_updater *s)
{
    return rela_world_size(s->o.world) > 1;
}

static rela_update_options with_defaults(const rela_update_options *o)
{
    rela_update_options own = *o;
    own.slots = o->slots ? o->slots : RELA_SLOTS;
    own.groups = o->groups ? o->groups : 1;
    return own;
}

size_t rela_updater_bytes(const rela_net *n, const rela_update_options *o)
{
    const rela_update_options own = with_defaults(o);
    return 2 * rela_gradients_own_max(n, &own) * sizeof(real) + rela_gradients_bytes(n, &own);
}

static rela_status make_moments(rela_updater *s, rela_error *err)
{
    const size_t n = rela_gradients_own(&s->gradients) * RELA_PARAM_SLICE;
    for (int i = 0; i < 2; i++)
        if (!(s->moments[i] = rela_mem_zalloc((n + 1) * sizeof(real))))
            return rela_fail(err, RELA_NOMEM, "no memory for the state of the optimiser: %zu bytes",
                             2 * n * sizeof(real));
    return RELA_OK;
}

rela_status rela_updater_create(rela_updater **out, rela_net *n, const rela_update_options *o,
                                rela_error *err)
{
    *out = NULL;
    /* All ranks must compute equally many slots at a time: as the one with the fewest threads. */
    const int threads = (int)rela_world_min(o->world, rela_par_threads(o->n_threads));
    rela_updater *s = rela_mem_zalloc(sizeof *s);
    rela_status st = s ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for training");
    if (s) {
        s->net = n;
        s->o = with_defaults(o);
        s->o.n_threads = threads;
        st = rela_gradients_init(&s->gradients, n, &s->o, err);
        st = st ? st : make_moments(s, err);
    }
    st = rela_world_agree(o->world, st, err);
    if (st != RELA_OK) {
        rela_updater_destroy(s);
        return st;
    }
    *out = s;
    return RELA_OK;
}

void rela_updater_destroy(rela_updater *s)
{
    if (!s)
        return;
    rela_gradients_deinit(&s->gradients);
    rela_mem_free(s->moments[0]);
    rela_mem_free(s->moments[1]);
    rela_mem_free(s);
}

static void update_weights(rela_updater *s)
{
    rela_par_rows(rela_gradients_own(&s->gradients), s->o.n_threads, apply_adam, s);
    rela_fault_reach(RELA_FAULT_OPTIMISER);
    if (has_ranks(s))
        rela_rank_sum_share(&s->gradients.ranks, s->net->weights, RELA_PARAM_SLICE * sizeof(real),
                            s->net->params.total * sizeof(real));
}

rela_status rela_updater_run(rela_updater *s, rela_update_result *out, const rela_model_batch *u,
                             uint64_t number, double rate, rela_error *err)
{
    s->gradients.job = (rela_slot_job){ s->net, &s->o, u, number, true };
    const rela_status st =
        rela_world_agree(s->o.world, rela_gradients_grow(&s->gradients, err), err);
    if (st != RELA_OK)
        return st;
    if (!rela_gradients_run(&s->gradients)) {
        rela_gradients_clear(&s->gradients);
        return rela_fail(err, RELA_CANCEL, "update %llu was stopped", (unsigned long long)number);
    }
    totals(s, out, u);
    const double unit = 1 / (double)out->n_loss;
    out->grad_norm = sqrt(rela_gradients_squares(&s->gradients)) * unit;
    out->skipped = !isfinite(out->loss) || !isfinite(out->grad_norm);
    if (out->skipped) {
        find_not_finite(s);
        rela_gradients_clear(&s->gradients);
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

rela_status rela_updater_score(rela_updater *s, rela_update_result *out, const rela_model_batch *u,
                               rela_error *err)
{
    s->gradients.job = (rela_slot_job){ s->net, &s->o, u, 0, false };
    const rela_status st =
        rela_world_agree(s->o.world, rela_gradients_grow(&s->gradients, err), err);
    if (st != RELA_OK)
        return st;
    if (!rela_gradients_run(&s->gradients))
        return rela_fail(err, RELA_CANCEL, "validation was stopped");
    totals(s, out, u);
    return RELA_OK;
}

/* Reals of own slice i; *at is their offset in the parameters. */
static size_t own_slice(const rela_updater *s, size_t i, size_t *at)
{
    *at = rela_gradients_slice(&s->gradients, i) * RELA_PARAM_SLICE;
    const size_t rest = s->net->params.total - *at;
    return rest < RELA_PARAM_SLICE ? rest : RELA_PARAM_SLICE;
}

/* Between steps the gradient arrays are unused: rank 0 gathers moments there. */
const real *rela_updater_moment(rela_updater *s, int which)
{
    if (!has_ranks(s))
        return s->moments[which];
    real *all = rela_world_rank(s->o.world) == 0 ? s->gradients.grads[which] : NULL;
    rela_rank_sum_gather(&s->gradients.ranks, all, s->moments[which]);
    return all;
}

void rela_updater_end_moments(rela_updater *s)
{
    if (has_ranks(s) && rela_world_rank(s->o.world) == 0)
        for (int i = 0; i < 2; i++)
            memset(s->gradients.grads[i], 0, s->net->params.total * sizeof(real));
}

void rela_updater_set_moment(rela_updater *s, int which, const real *all)
{
    for (size_t i = 0; i < rela_gradients_own(&s->gradients); i++) {
        size_t at = 0;
        const size_t n = own_slice(s, i, &at);
        memcpy(s->moments[which] + i * RELA_PARAM_SLICE, all + at, n * sizeof *all);
    }
}

uint64_t rela_updater_count(const rela_updater *s)
{
    return s->count;
}

void rela_updater_set_count(rela_updater *s, uint64_t n)
{
    s->count = n;
}

const char *rela_updater_not_finite(const rela_updater *s)
{
    return s->not_finite ? s->not_finite->name : "the loss";
}

static void apply_adam(void *ctx, size_t begin, size_t end, int thread)
{
    rela_updater *s = ctx;
    const uint64_t mode = rela_flush_to_zero();
    real *sum = rela_gradients_sum(&s->gradients);
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        size_t at = 0;
        const size_t n = own_slice(s, i, &at), own = i * RELA_PARAM_SLICE;
        s->net->k->adam(s->net->weights + at, s->moments[0] + own, s->moments[1] + own, sum + own,
                        n, &s->adam);
        memset(sum + own, 0, n * sizeof *sum);
    }
    rela_flush_to_zero_end(mode);
}

/* The parameter at an offset. */
static size_t find_param(const rela_params *p, size_t at)
{
    size_t i = 0;
    while (i + 1 < p->n && p->items[i + 1].offset <= at)
        i++;
    return i;
}

static void find_not_finite(rela_updater *s)
{
    const rela_params *p = &s->net->params;
    const real *sum = rela_gradients_sum(&s->gradients);
    size_t found = p->n;
    for (size_t i = 0; i < rela_gradients_own(&s->gradients) && found == p->n; i++) {
        size_t at = 0, j = 0;
        const size_t n = own_slice(s, i, &at);
        while (j < n && isfinite((double)sum[i * RELA_PARAM_SLICE + j]))
            j++;
        found = j < n ? find_param(p, at + j) : found;
    }
    found = (size_t)rela_world_min(s->o.world, (int64_t)found);
    s->not_finite = found < p->n ? &p->items[found] : NULL;
}

static void totals(const rela_updater *s, rela_update_result *out, const rela_model_batch *u)
{
    const size_t tgt = rela_tokens_rows(&u->streams[s->net->list.n_streams - 1]);
    *out =
        (rela_update_result){ .src_tokens =
                                  rela_count_rows(&s->gradients.job, 0, u->streams[0].n).all - tgt,
                              .tgt_tokens = tgt,
                              .sentences = u->streams[0].n };
    out->n_loss = s->o.sentence_mean ? out->sentences : out->tgt_tokens;
    for (size_t i = 0; i < s->o.slots; i++) {
        out->loss += s->gradients.slots[i].loss;
        out->nll += s->gradients.slots[i].nll;
    }
}

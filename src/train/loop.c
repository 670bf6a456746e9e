/* SPDX-License-Identifier: MIT */
/* src/train/loop.c - see loop.h. */
#include "train/loop.h"

#include "base/clock.h"
#include "base/fault.h"

#include <math.h>

/* What a report needs besides the sums in the state. Not saved: starts afresh on resume. */
typedef struct interval {
    uint64_t tokens;
    double rate;
    double started;
    rela_padding padding;
    double per_update; /* seconds, recent; 0: no update yet */
} interval;

/* Of the last update in the mean of their times. */
static const double RECENT = 0.05;
/* What the end of a run takes: so many validations, or if none was measured a share of the time. */
static const double END_VALIDATIONS = 5, END_SHARE = 0.01, UNKNOWN_END_SHARE = 0.05;

static rela_status update_and_report(rela_loop *l, interval *v, rela_step_result *r, bool *cools,
                                     rela_error *err);
static rela_status save(rela_loop *l, bool regular, rela_error *err);
static rela_status run_update(rela_loop *l, interval *v, rela_step_result *r, rela_error *err);
static rela_status report(rela_loop *l, interval *v, rela_error *err);
static rela_status validate(rela_loop *l, rela_error *err);
static bool rank(rela_loop *l, rela_loop_score *score);
static bool is_done(const rela_loop *l, rela_loop_end *end);
static bool due(uint64_t update, uint64_t every);
static bool update_plan(rela_loop *l, const interval *v);
static rela_status check_skipped(rela_loop *l, const rela_step_result *r, rela_error *err);

rela_status rela_loop_run(rela_loop *l, rela_loop_end *end, rela_error *err)
{
    rela_status st = rela_batches_seek(l->train, l->state.position, err);
    interval v = { .started = rela_clock_seconds(), .padding = rela_batches_padding(l->train) };
    bool saved = !l->interim;
    uint64_t last_saved = l->state.update;
    *end = RELA_END_DONE;
    l->used = l->state.plan.used;
    rela_time_plan_start(&l->state.plan, l->o.max_time);
    while (st == RELA_OK && (l->state.unvalidated || !is_done(l, end))) {
        rela_step_result r = { .loss = 0 };
        bool cools = false;
        st = l->state.unvalidated ? RELA_OK : update_and_report(l, &v, &r, &cools, err);
        /* How long the end will take must be known when time is limited. */
        const bool first = l->state.unvalidated || (cools && l->valid_seconds <= 0);
        if (st == RELA_OK && l->valid && (first || due(l->state.update, l->o.valid_every))) {
            const double before = rela_clock_seconds();
            st = validate(l, err);
            l->valid_seconds = rela_clock_seconds() - before;
            v.started += l->valid_seconds; /* the speed is that of training */
        }
        if (st == RELA_CANCEL) { /* what had begun is dropped, to be repeated on resume */
            *end = RELA_END_STOPPED;
            return l->state.update == last_saved ? RELA_OK : save(l, false, err);
        }
        l->state.unvalidated = false;
        const rela_loop_action action = st == RELA_OK && l->hooks.action
                                            ? l->hooks.action(l->hooks.ctx, &l->state, &r)
                                            : RELA_GO_ON;
        saved = due(l->state.update, l->o.save_every) || is_done(l, end);
        if (st == RELA_OK && (action != RELA_GO_ON || saved)) {
            st = save(l, saved, err);
            last_saved = l->state.update;
        }
        if (action == RELA_STOP_NOW) {
            *end = RELA_END_STOPPED;
            return st;
        }
    }
    if (st == RELA_OK && !saved)
        st = save(l, true, err);
    return st;
}

static rela_status save(rela_loop *l, bool regular, rela_error *err)
{
    if (l->o.max_time > 0)
        l->state.plan.used = rela_loop_used(l);
    return l->hooks.save(l->hooks.ctx, &l->state, regular, err);
}

rela_packed rela_packed_batch(const rela_batch *b)
{
    rela_packed p = { .first = { 0 } };
    for (size_t i = 0; i < b->n_sides; i++)
        p.streams[i] = (rela_tokens){ b->ids[i], b->at[i], b->n };
    return p;
}

rela_status rela_loop_measure(rela_loop *l, rela_loop_score *score, const rela_store *text,
                              rela_error *err)
{
    rela_batches_options o;
    rela_batches *b = NULL;
    rela_batches_options_init(&o, l->valid_tokens);
    *score = (rela_loop_score){ .bleu = -1 };
    rela_status st = rela_batches_create(&b, text, &o, err);
    double loss = 0, nll = 0;
    uint64_t n_loss = 0, tokens = 0;
    rela_batch batch = { .last = false };
    while (st == RELA_OK && !batch.last) {
        rela_step_result r;
        st = rela_batches_next(b, &batch, err);
        if (st != RELA_OK)
            break;
        const rela_packed u = rela_packed_batch(&batch);
        st = rela_stepper_score(l->stepper, &r, &u, err);
        if (st != RELA_OK)
            break;
        rela_fault_reach(RELA_FAULT_VALIDATION);
        loss += r.loss;
        n_loss += r.n_loss;
        nll += r.nll;
        tokens += r.tgt_tokens;
    }
    rela_batches_destroy(b);
    if (st == RELA_OK) {
        score->loss = loss / (double)n_loss;
        score->nll = nll / (double)tokens;
        score->perplexity = exp(score->nll);
        score->score = -score->nll;
    }
    return st;
}

/* *cools: the fall of the learning rate has begun, in a run of limited time. */
static rela_status update_and_report(rela_loop *l, interval *v, rela_step_result *r, bool *cools,
                                     rela_error *err)
{
    const rela_status st = run_update(l, v, r, err);
    *cools = st == RELA_OK && l->o.max_time > 0 && update_plan(l, v);
    return st == RELA_OK && due(l->state.update, l->o.report_every) ? report(l, v, err) : st;
}

static rela_status run_update(rela_loop *l, interval *v, rela_step_result *r, rela_error *err)
{
    rela_batch b;
    rela_status st = rela_batches_next(l->train, &b, err);
    if (st != RELA_OK)
        return st;
    const rela_packed u = rela_packed_batch(&b);
    const uint64_t number = l->state.update + 1;
    const double before = rela_clock_seconds();
    v->rate = rela_time_plan_rate(&l->state.plan, &l->o.schedule, number);
    st = rela_stepper_run(l->stepper, r, &u, number, v->rate, err);
    if (st != RELA_OK)
        return st;
    l->state.update = number;
    l->state.position = b.next;
    l->state.tokens += r->tgt_tokens;
    if (!r->skipped) {
        l->state.part_loss += r->loss;
        l->state.part_n_loss += r->n_loss;
        l->state.part_nll += r->nll;
        l->state.part_tokens += r->tgt_tokens;
        l->state.part_norm = r->grad_norm;
        v->tokens += r->tgt_tokens;
    }
    const double took = rela_clock_seconds() - before;
    v->per_update += (took - v->per_update) * (v->per_update > 0 ? RECENT : 1);
    return check_skipped(l, r, err);
}

double rela_loop_used(const rela_loop *l)
{
    return l->used + rela_clock_seconds() - l->started;
}

/* True if the last part of the run, in which the rate falls, begins now. */
static bool update_plan(rela_loop *l, const interval *v)
{
    rela_time_plan *p = &l->state.plan;
    const bool validates = l->valid && l->o.valid_every;
    const double share = validates ? l->valid_seconds / (double)l->o.valid_every : 0;
    const double known = END_VALIDATIONS * l->valid_seconds + END_SHARE * p->limit;
    const rela_time_figures f = { .update = l->state.update,
                                  .used = rela_loop_used(l),
                                  .per_update = v->per_update + share,
                                  .reserve = validates && l->valid_seconds <= 0
                                                 ? UNKNOWN_END_SHARE * p->limit
                                                 : known };
    const bool cooled = p->cool_to > 0;
    rela_time_plan_update(p, &f, &l->o.schedule);
    if (l->hooks.share_plan)
        l->hooks.share_plan(l->hooks.ctx, p);
    return !cooled && p->cool_to > 0;
}

/* A bad update is skipped; max_skipped in a row are an error that names the parameter. */
static rela_status check_skipped(rela_loop *l, const rela_step_result *r, rela_error *err)
{
    if (!r->skipped) {
        l->state.n_skipped_row = 0;
        return RELA_OK;
    }
    l->state.n_skipped++;
    l->state.n_skipped_row++;
    if (l->state.n_skipped_row < l->o.max_skipped)
        return RELA_OK;
    return rela_fail(err, RELA_STATE,
                     "update %llu: %s is not finite, %llu times in a row; a smaller learning rate "
                     "or clipped gradients may help",
                     (unsigned long long)l->state.update, rela_stepper_not_finite(l->stepper),
                     (unsigned long long)l->state.n_skipped_row);
}

static rela_status report(rela_loop *l, interval *v, rela_error *err)
{
    const double now = rela_clock_seconds();
    const rela_padding all = rela_batches_padding(l->train);
    const rela_padding part = { .tokens = all.tokens - v->padding.tokens,
                                .cells = all.cells - v->padding.cells };
    rela_loop_state *s = &l->state;
    const bool some = s->part_n_loss > 0;
    const double nothing = (double)NAN;
    const rela_loop_report r = { .update = l->state.update,
                                 .epoch = s->position.epoch,
                                 .nth_epoch = s->position.epoch + (s->position.sentences > 0),
                                 .loss = some ? s->part_loss / (double)s->part_n_loss : nothing,
                                 .nll = some ? s->part_nll / (double)s->part_tokens : nothing,
                                 .rate = v->rate,
                                 .grad_norm = some ? s->part_norm : nothing,
                                 .tokens_per_second = (double)v->tokens / (now - v->started),
                                 .padding = rela_padding_share(part),
                                 .n_skipped = l->state.n_skipped };
    *v = (interval){ .started = now, .padding = all, .per_update = v->per_update };
    s->part_loss = s->part_nll = 0;
    s->part_n_loss = s->part_tokens = 0;
    return l->hooks.report(l->hooks.ctx, &r, err);
}

static rela_status validate(rela_loop *l, rela_error *err)
{
    rela_loop_score score;
    const rela_loop_state before = l->state;
    rela_status st = rela_loop_measure(l, &score, l->valid, err);
    if (st == RELA_OK && l->hooks.validate)
        st = l->hooks.validate(l->hooks.ctx, &l->state, &score, err);
    l->state.unvalidated = false;
    if (st == RELA_OK) {
        const bool is_best = rank(l, &score);
        st = l->hooks.validated(l->hooks.ctx, &l->state, &score, is_best, err);
    }
    if (st == RELA_CANCEL) {
        l->state = before;
        l->state.unvalidated = true;
    }
    return st;
}

/* Whether this validation is the best so far; one that is not finite never is. An earlier best in
 * the other measure, from before --best-by or --valid-beam changed, cannot be compared: it is
 * replaced. */
static bool rank(rela_loop *l, rela_loop_score *score)
{
    rela_loop_state *s = &l->state;
    const bool by_bleu = l->o.by_bleu && score->bleu >= 0;
    if (by_bleu)
        score->score = score->bleu;
    const bool finite = isfinite(score->nll) && isfinite(score->score);
    const bool none = s->best_update == 0 || s->best_is_bleu != by_bleu;
    if (!finite || (!none && score->score <= s->best)) {
        s->n_stale++;
        return false;
    }
    s->best = score->score;
    s->best_is_bleu = by_bleu;
    s->best_update = s->update;
    s->n_stale = 0;
    return true;
}

static bool is_done(const rela_loop *l, rela_loop_end *end)
{
    if (l->o.patience && l->state.n_stale >= l->o.patience) {
        *end = RELA_END_PATIENCE;
        return true;
    }
    const rela_time_plan *p = &l->state.plan;
    return l->state.update >= l->o.updates || (p->cool_to && l->state.update >= p->cool_to) ||
           (l->o.epochs && l->state.position.epoch >= l->o.epochs);
}

static bool due(uint64_t update, uint64_t every)
{
    return every && update % every == 0;
}

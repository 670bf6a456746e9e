/* SPDX-License-Identifier: MIT */
/* src/train/loop.c - the training loop: batches, learning rate, reports, validation, checkpoints,
 * stopping. */
#include "train/loop.h"

#include "base/clock.h"
#include "base/fault.h"
#include "train/ranks.h"
#include "train/trainer.h"
#include "train/training_text.h"

#include <math.h>

enum { VALID_TOKENS = 4096 };

/* Of the answers of all ranks the highest counts. */
typedef enum loop_action { GO_ON, SAVE_NOW, STOP_NOW } loop_action;

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

static rela_status prepare(rela_trainer *t, rela_error *err);
static rela_status update_and_report(rela_trainer *t, interval *v, rela_update_result *r,
                                     bool *cools, rela_error *err);
static rela_status run_update(rela_trainer *t, interval *v, rela_update_result *r, rela_error *err);
static rela_status report(rela_trainer *t, interval *v, rela_error *err);
static rela_status validate(rela_trainer *t, rela_error *err);
static bool rank(rela_trainer *t, rela_loop_score *score);
static bool is_done(const rela_trainer *t, rela_loop_end *end);
static bool due(uint64_t update, uint64_t every);
static bool update_plan(rela_trainer *t, const interval *v);
static loop_action after_update(rela_trainer *t, const rela_update_result *r);
static rela_status check_skipped(rela_trainer *t, const rela_update_result *r, rela_error *err);

rela_status rela_trainer_loop(rela_trainer *t, rela_error *err)
{
    rela_loop_end end = RELA_END_DONE;
    rela_status st = prepare(t, err);
    if (st == RELA_OK && t->state.loop.update >= t->loop.updates)
        rela_trainer_log(t, "already done: the run has %llu updates; %llu are wanted",
                         (unsigned long long)t->state.loop.update,
                         (unsigned long long)t->loop.updates);
    t->loop_started = rela_clock_seconds();
    t->first_update = t->state.loop.update;
    t->first_tokens = t->state.loop.tokens;
    if (st == RELA_OK)
        st = rela_trainer_run(t, &end, err);
    if (st != RELA_OK)
        return st;
    st = rela_trainer_is_first(t) ? rela_trainer_save_wait(t, err) : RELA_OK;
    st = rela_world_agree(t->world, st, err);
    if (st != RELA_OK)
        return st;
    if (end == RELA_END_STOPPED)
        return rela_fail(err, RELA_CANCEL, "stopped after update %llu%s",
                         (unsigned long long)t->state.loop.update,
                         t->state.loop.update ? "; the run can be resumed" : "");
    if (end == RELA_END_PATIENCE)
        rela_trainer_log(t, "no improvement in %lld validations: stopping early",
                         (long long)t->o.patience);
    return rela_trainer_finish(t, err);
}

double rela_trainer_used(const rela_trainer *t)
{
    return t->used + rela_clock_seconds() - t->started;
}

/* With BPE dropout each epoch is segmented anew; the store of the last one is freed. */
static rela_status sample_epoch(void *ctx, uint64_t epoch, const rela_store **store,
                                rela_error *err)
{
    rela_trainer *t = ctx;
    rela_store *sampled = NULL;
    rela_status st = RELA_OK;
    if (rela_trainer_is_first(t))
        st = rela_train_read_sampled(&sampled, &t->o, t->pipeline, epoch, err);
    st = rela_ranks_share_store(&sampled, t->world, &t->o, st, err);
    if (st != RELA_OK) {
        rela_store_destroy(sampled);
        return st;
    }
    rela_store_destroy(t->train);
    t->train = sampled;
    *store = sampled;
    return RELA_OK;
}

static rela_status prepare(rela_trainer *t, rela_error *err)
{
    rela_batches_options bo;
    rela_batches_options_init(&bo, (uint32_t)t->o.batch_tokens);
    bo.order.seed = (uint64_t)t->o.seed;
    if (t->o.bpe_dropout > 0) {
        bo.generation = sample_epoch;
        bo.generation_ctx = t;
    }
    const rela_update_options so = rela_trainer_update_options(t);
    t->valid_tokens = VALID_TOKENS;
    rela_status st = rela_batches_create(&t->batches, t->train, &bo, err);
    if (st == RELA_OK && rela_trainer_is_first(t))
        st = rela_committer_create(&t->committer, err);
    st = rela_world_agree(t->world, st, err);
    if (st == RELA_OK)
        st = rela_updater_create(&t->updater, &t->net, &so, err);
    if (st == RELA_OK)
        st = rela_train_loop_options(&t->loop, &t->o, err);
    if (st != RELA_OK || t->state.loop.update == 0)
        return st;
    rela_train_restore_moments(t->updater, &t->loaded, t->state.adam_count);
    return RELA_OK;
}

rela_status rela_trainer_run(rela_trainer *t, rela_loop_end *end, rela_error *err)
{
    rela_loop_state *s = &t->state.loop;
    rela_status st = rela_batches_seek(t->batches, s->position, err);
    interval v = { .started = rela_clock_seconds(), .padding = rela_batches_padding(t->batches) };
    bool saved = !t->interim;
    uint64_t last_saved = s->update;
    *end = RELA_END_DONE;
    t->used = s->plan.used;
    rela_time_plan_start(&s->plan, t->loop.max_time);
    while (st == RELA_OK && (s->unvalidated || !is_done(t, end))) {
        rela_update_result r = { .loss = 0 };
        bool cools = false;
        st = s->unvalidated ? RELA_OK : update_and_report(t, &v, &r, &cools, err);
        /* How long the end will take must be known when time is limited. */
        const bool first = s->unvalidated || (cools && t->valid_seconds <= 0);
        if (st == RELA_OK && t->valid && (first || due(s->update, t->loop.valid_every))) {
            const double before = rela_clock_seconds();
            st = validate(t, err);
            t->valid_seconds = rela_clock_seconds() - before;
            t->all_valid_seconds += t->valid_seconds;
            v.started += t->valid_seconds; /* the speed is that of training */
        }
        if (st == RELA_CANCEL) { /* what had begun is dropped, to be repeated on resume */
            *end = RELA_END_STOPPED;
            return s->update == last_saved ? RELA_OK : rela_trainer_save(t, false, err);
        }
        s->unvalidated = false;
        const loop_action action = st == RELA_OK ? after_update(t, &r) : GO_ON;
        saved = due(s->update, t->loop.save_every) || is_done(t, end);
        if (st == RELA_OK && (action != GO_ON || saved)) {
            st = rela_trainer_save(t, saved, err);
            last_saved = s->update;
        }
        if (action == STOP_NOW) {
            *end = RELA_END_STOPPED;
            return st;
        }
    }
    if (st == RELA_OK && !saved)
        st = rela_trainer_save(t, true, err);
    return st;
}

rela_model_batch rela_model_batch_of(const rela_batch *b)
{
    rela_model_batch p = { .first = { 0 } };
    for (size_t i = 0; i < b->n_sides; i++)
        p.streams[i] = (rela_tokens){ b->ids[i], b->offsets[i], b->n };
    return p;
}

rela_status rela_trainer_measure(rela_trainer *t, rela_loop_score *score, const rela_store *text,
                                 rela_error *err)
{
    rela_batches_options o;
    rela_batches *b = NULL;
    rela_batches_options_init(&o, t->valid_tokens);
    *score = (rela_loop_score){ .bleu = -1 };
    rela_status st = rela_batches_create(&b, text, &o, err);
    double loss = 0, nll = 0;
    uint64_t n_loss = 0, tokens = 0;
    rela_batch batch = { .last = false };
    while (st == RELA_OK && !batch.last) {
        rela_update_result r;
        st = rela_batches_next(b, &batch, err);
        if (st != RELA_OK)
            break;
        const rela_model_batch u = rela_model_batch_of(&batch);
        st = rela_updater_score(t->updater, &r, &u, err);
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
static rela_status update_and_report(rela_trainer *t, interval *v, rela_update_result *r,
                                     bool *cools, rela_error *err)
{
    const rela_status st = run_update(t, v, r, err);
    *cools = st == RELA_OK && t->loop.max_time > 0 && update_plan(t, v);
    return st == RELA_OK && due(t->state.loop.update, t->loop.report_every) ? report(t, v, err)
                                                                            : st;
}

static rela_status run_update(rela_trainer *t, interval *v, rela_update_result *r, rela_error *err)
{
    rela_loop_state *s = &t->state.loop;
    rela_batch b;
    rela_status st = rela_batches_next(t->batches, &b, err);
    if (st != RELA_OK)
        return st;
    const rela_model_batch u = rela_model_batch_of(&b);
    const uint64_t number = s->update + 1;
    const double before = rela_clock_seconds();
    v->rate = rela_time_plan_rate(&s->plan, &t->loop.schedule, number);
    st = rela_updater_run(t->updater, r, &u, number, v->rate, err);
    if (st != RELA_OK)
        return st;
    s->update = number;
    s->position = b.next;
    s->tokens += r->tgt_tokens;
    if (!r->skipped) {
        s->part_loss += r->loss;
        s->part_n_loss += r->n_loss;
        s->part_nll += r->nll;
        s->part_tokens += r->tgt_tokens;
        s->part_norm = r->grad_norm;
        v->tokens += r->tgt_tokens;
    }
    const double took = rela_clock_seconds() - before;
    v->per_update += (took - v->per_update) * (v->per_update > 0 ? RECENT : 1);
    return check_skipped(t, r, err);
}

/* True if the last part of the run, in which the rate falls, begins now. */
static bool update_plan(rela_trainer *t, const interval *v)
{
    rela_time_plan *p = &t->state.loop.plan;
    const bool validates = t->valid && t->loop.valid_every;
    const double share = validates ? t->valid_seconds / (double)t->loop.valid_every : 0;
    const double known = END_VALIDATIONS * t->valid_seconds + END_SHARE * p->limit;
    const rela_time_figures f = { .update = t->state.loop.update,
                                  .used = rela_trainer_used(t),
                                  .per_update = v->per_update + share,
                                  .reserve = validates && t->valid_seconds <= 0
                                                 ? UNKNOWN_END_SHARE * p->limit
                                                 : known };
    const bool cooled = p->cool_to > 0;
    rela_time_plan_update(p, &f, &t->loop.schedule);
    rela_world_broadcast(t->world, p, sizeof *p); /* all ranks have the plan of the first */
    return !cooled && p->cool_to > 0;
}

/* A bad update is skipped; max_skipped in a row are an error that names the parameter. */
static rela_status check_skipped(rela_trainer *t, const rela_update_result *r, rela_error *err)
{
    rela_loop_state *s = &t->state.loop;
    if (!r->skipped) {
        s->n_skipped_row = 0;
        return RELA_OK;
    }
    s->n_skipped++;
    s->n_skipped_row++;
    if (s->n_skipped_row < t->loop.max_skipped)
        return RELA_OK;
    return rela_fail(err, RELA_STATE,
                     "update %llu: %s is not finite, %llu times in a row; a smaller learning rate "
                     "or clipped gradients may help",
                     (unsigned long long)s->update, rela_updater_not_finite(t->updater),
                     (unsigned long long)s->n_skipped_row);
}

static rela_status report(rela_trainer *t, interval *v, rela_error *err)
{
    const double now = rela_clock_seconds();
    const rela_padding all = rela_batches_padding(t->batches);
    const rela_padding part = { .tokens = all.tokens - v->padding.tokens,
                                .cells = all.cells - v->padding.cells };
    rela_loop_state *s = &t->state.loop;
    const bool some = s->part_n_loss > 0;
    const double nothing = (double)NAN;
    const rela_loop_report r = { .update = s->update,
                                 .epoch = s->position.epoch,
                                 .nth_epoch = s->position.epoch + (s->position.sentences > 0),
                                 .loss = some ? s->part_loss / (double)s->part_n_loss : nothing,
                                 .nll = some ? s->part_nll / (double)s->part_tokens : nothing,
                                 .rate = v->rate,
                                 .grad_norm = some ? s->part_norm : nothing,
                                 .tokens_per_second = (double)v->tokens / (now - v->started),
                                 .padding = rela_padding_share(part),
                                 .n_skipped = s->n_skipped };
    *v = (interval){ .started = now, .padding = all, .per_update = v->per_update };
    s->part_loss = s->part_nll = 0;
    s->part_n_loss = s->part_tokens = 0;
    return rela_trainer_report(t, &r, err);
}

static rela_status validate(rela_trainer *t, rela_error *err)
{
    rela_loop_score score;
    rela_loop_state *s = &t->state.loop;
    const rela_loop_state before = *s;
    rela_status st = rela_trainer_measure(t, &score, t->valid, err);
    st = st ? st : rela_trainer_bleu(t, &score, err);
    s->unvalidated = false;
    if (st == RELA_OK) {
        const bool is_best = rank(t, &score);
        st = rela_trainer_validated(t, &score, is_best, err);
    }
    if (st == RELA_CANCEL) {
        *s = before;
        s->unvalidated = true;
    }
    return st;
}

/* Whether this validation is the best so far; one that is not finite never is. An earlier best in
 * the other measure, from before --best-by or --valid-beam changed, cannot be compared: it is
 * replaced. */
static bool rank(rela_trainer *t, rela_loop_score *score)
{
    rela_loop_state *s = &t->state.loop;
    const bool by_bleu = t->loop.by_bleu && score->bleu >= 0;
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

static loop_action after_update(rela_trainer *t, const rela_update_result *r)
{
    const rela_loop_state *s = &t->state.loop;
    const int answer = rela_trainer_notify(t, (rela_train_event){ .kind = RELA_TRAIN_UPDATE,
                                                                  .update = s->update,
                                                                  .updates = rela_trainer_total(t),
                                                                  .epoch = s->position.epoch,
                                                                  .grad_norm = r->grad_norm });
    rela_trainer_save_check(t);
    rela_trainer_forecast(t);
    /* If one rank is asked to save or stop, all do; stopping implies saving. */
    const rela_stop stop = rela_train_stop(&t->o);
    const bool stops = answer == RELA_TRAIN_STOP || rela_stop_asked(&stop);
    const bool saves = answer == RELA_TRAIN_SAVE || t->save_error.status != RELA_OK;
    return (loop_action)rela_world_max(t->world, stops ? STOP_NOW : saves ? SAVE_NOW : GO_ON);
}

static bool is_done(const rela_trainer *t, rela_loop_end *end)
{
    const rela_loop_state *s = &t->state.loop;
    if (t->loop.patience && s->n_stale >= t->loop.patience) {
        *end = RELA_END_PATIENCE;
        return true;
    }
    const rela_time_plan *p = &s->plan;
    return s->update >= t->loop.updates || (p->cool_to && s->update >= p->cool_to) ||
           (t->loop.epochs && s->position.epoch >= t->loop.epochs);
}

static bool due(uint64_t update, uint64_t every)
{
    return every && update % every == 0;
}

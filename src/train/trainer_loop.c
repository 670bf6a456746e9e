/* SPDX-License-Identifier: MIT */
/* src/train/trainer_loop.c - the loop of a training run and its callbacks: reports, validation,
 * checkpoints. */
#include "base/clock.h"
#include "base/fault.h"
#include "base/mem.h"
#include "model/model_text.h"
#include "train/curves.h"
#include "train/ranks.h"
#include "train/trainer.h"
#include "train/training_log.h"
#include "train/training_text.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { LINE_MAX_BYTES = 512, VALID_TOKENS = 4096 };

static rela_status finish_save(rela_trainer *t, rela_error *err);
static rela_status on_report(void *ctx, const rela_loop_report *r, rela_error *err);
static rela_status on_validate(void *ctx, const rela_loop_state *s, rela_loop_score *score,
                               rela_error *err);
static rela_status on_validated(void *ctx, const rela_loop_state *s, const rela_loop_score *score,
                                bool is_best, rela_error *err);
static rela_status on_save(void *ctx, const rela_loop_state *s, bool regular, rela_error *err);
static void share_plan(void *ctx, rela_time_plan *plan);
static rela_loop_action on_update(void *ctx, const rela_loop_state *s, const rela_step_result *r);

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

static rela_status make_loop(rela_trainer *t, rela_error *err)
{
    rela_batches_options bo;
    rela_batches_options_init(&bo, (uint32_t)t->o.batch_tokens);
    bo.order.seed = (uint64_t)t->o.seed;
    if (t->o.bpe_dropout > 0) {
        bo.generation = sample_epoch;
        bo.generation_ctx = t;
    }
    const rela_step_options so = rela_trainer_step_options(t);
    rela_status st = rela_batches_create(&t->batches, t->train, &bo, err);
    if (st == RELA_OK && rela_trainer_is_first(t))
        st = rela_committer_create(&t->committer, err);
    st = rela_world_agree(t->world, st, err);
    if (st == RELA_OK)
        st = rela_stepper_create(&t->stepper, &t->net, &so, err);
    t->loop = (rela_loop){ .stepper = t->stepper,
                           .train = t->batches,
                           .valid = t->valid,
                           .valid_tokens = VALID_TOKENS,
                           .hooks = { t, on_report, t->translator ? on_validate : NULL,
                                      on_validated, on_save, on_update, share_plan },
                           .started = t->started,
                           .state = t->state.loop,
                           .interim = t->interim };
    if (st == RELA_OK)
        st = rela_train_loop_options(&t->loop.o, &t->o, err);
    if (st != RELA_OK || t->state.loop.update == 0)
        return st;
    rela_train_restore_moments(t->stepper, &t->loaded, t->state.adam_count);
    return RELA_OK;
}

rela_status rela_trainer_loop(rela_trainer *t, rela_error *err)
{
    rela_loop_end end = RELA_END_DONE;
    rela_status st = make_loop(t, err);
    if (st == RELA_OK && t->loop.state.update >= t->loop.o.updates)
        rela_trainer_log(t, "already done: the run has %llu updates; %llu are wanted",
                         (unsigned long long)t->loop.state.update,
                         (unsigned long long)t->loop.o.updates);
    t->loop_started = rela_clock_seconds();
    t->first_update = t->loop.state.update;
    t->first_tokens = t->loop.state.tokens;
    if (st == RELA_OK)
        st = rela_loop_run(&t->loop, &end, err);
    if (st != RELA_OK)
        return st;
    st = rela_trainer_is_first(t) ? finish_save(t, err) : RELA_OK;
    st = rela_world_agree(t->world, st, err);
    if (st != RELA_OK)
        return st;
    if (end == RELA_END_STOPPED)
        return rela_fail(err, RELA_CANCEL, "stopped after update %llu%s",
                         (unsigned long long)t->loop.state.update,
                         t->loop.state.update ? "; the run can be resumed" : "");
    if (end == RELA_END_PATIENCE)
        rela_trainer_log(t, "no improvement in %lld validations: stopping early",
                         (long long)t->o.patience);
    return rela_trainer_finish(t, err);
}

rela_status rela_trainer_write(rela_writer **out, rela_trainer *t, const char *path,
                               const rela_loop_state *s, const real *const *moments,
                               rela_error *err)
{
    rela_extras e = { 0 };
    const rela_checkpoint_options options = { .n_threads = (int)t->o.threads, .written = out };
    t->state.loop = *s;
    if (!moments) /* a model does not tell how long it took */
        t->state.loop.plan = (rela_time_plan){ .limit = 0 };
    t->state.adam_count = rela_stepper_count(t->stepper);
    t->state.at_interval = s->update % (uint64_t)t->o.save_every == 0;
    rela_status st = rela_pipeline_store(&e, t->pipeline, err);
    if (st == RELA_OK)
        st = rela_train_state_store(&e, &t->state, &t->o, err);
    if (st == RELA_OK && moments)
        st = rela_extras_lend(&e, "adam.m", moments[0], err);
    if (st == RELA_OK && moments)
        st = rela_extras_lend(&e, "adam.v", moments[1], err);
    if (st == RELA_OK)
        st = rela_net_save(path, &t->net, &e, &options, err);
    rela_extras_deinit(&e);
    return st;
}

/* The committer makes the file durable while training goes on. */
static rela_status save_to(rela_trainer *t, const char *path, const rela_loop_state *s,
                           const real *const *moments, rela_error *err)
{
    rela_writer *w = NULL;
    const rela_status st = rela_trainer_write(&w, t, path, s, moments, err);
    if (st == RELA_OK) {
        rela_committer_add(t->committer, w);
        t->committing = true;
    }
    return st;
}

/* Waits until the saved files are durable, then prunes old checkpoints and reports the new one.
 * Returns an earlier failure too. */
static rela_status finish_save(rela_trainer *t, rela_error *err)
{
    rela_status st = t->save_error.status;
    if (st != RELA_OK)
        return rela_fail(err, st, "%s", t->save_error.message);
    if (!t->committing)
        return RELA_OK;
    t->committing = false;
    st = rela_committer_wait(t->committer, err);
    if (st == RELA_OK && t->saving.len) {
        st = rela_run_prune(&t->run, (size_t)t->o.keep, err);
        (void)rela_trainer_notify(
            t, (rela_train_event){ .kind = RELA_TRAIN_SAVED, .text = t->saving.data });
    }
    rela_buffer_clear(&t->saving);
    return st;
}

/* Called between updates, does not wait. A failure makes on_update ask for a save, which returns
 * it. */
static void check_saved(rela_trainer *t)
{
    if (t->committing && rela_committer_done(t->committer))
        t->save_error.status = finish_save(t, &t->save_error);
}

static rela_status save(rela_trainer *t, const rela_loop_state *s, const real *const *moments,
                        bool regular, rela_error *err)
{
    rela_status st = t->saving.len || t->save_error.status ? finish_save(t, err) : RELA_OK;
    if (st == RELA_OK && t->ended)
        st = rela_run_demote(&t->run, t->ended, err);
    t->ended = 0;
    if (st == RELA_OK)
        st = rela_run_checkpoint_path(&t->saving, &t->run, s->update, regular, err);
    if (st == RELA_OK)
        st = save_to(t, t->saving.data, s, moments, err);
    return st;
}

static rela_status on_save(void *ctx, const rela_loop_state *s, bool regular, rela_error *err)
{
    rela_trainer *t = ctx;
    const real *const moments[] = { rela_stepper_moment(t->stepper, 0),
                                    rela_stepper_moment(t->stepper, 1) };
    const bool is_first = rela_trainer_is_first(t);
    if (!is_first) { /* rank 0 reaches these faults while it writes */
        rela_fault_reach(RELA_FAULT_SAVE);
        rela_fault_reach(RELA_FAULT_COMMIT);
    }
    const rela_status st = is_first ? save(t, s, moments, regular, err) : RELA_OK;
    rela_stepper_end_moments(t->stepper);
    return rela_world_agree(t->world, st, err);
}

static rela_status on_report(void *ctx, const rela_loop_report *r, rela_error *err)
{
    rela_trainer *t = ctx;
    rela_buffer line = RELA_BUFFER_INIT;
    char text[RELA_REPORT_MAX];
    if (!rela_trainer_is_first(t))
        return rela_world_agree(t->world, RELA_OK, err);
    rela_status st = rela_report_record(&line, r, err);
    if (st == RELA_OK)
        st = rela_appender_write(t->run.records, line.data, line.len, err);
    rela_buffer_free(&line);
    rela_report_text(text, r);
    rela_trainer_log(t, "%s", text);
    (void)rela_trainer_notify(t, (rela_train_event){ .kind = RELA_TRAIN_REPORT,
                                                     .update = r->update,
                                                     .updates = rela_trainer_total(t),
                                                     .epoch = r->epoch,
                                                     .loss = r->loss,
                                                     .nll = r->nll,
                                                     .rate = r->rate,
                                                     .grad_norm = r->grad_norm,
                                                     .tokens_per_second = r->tokens_per_second,
                                                     .padding = r->padding });
    return rela_world_agree(t->world, st, err);
}

static rela_status on_validate(void *ctx, const rela_loop_state *s, rela_loop_score *score,
                               rela_error *err)
{
    rela_trainer *t = ctx;
    (void)s;
    return isfinite(score->nll) ? rela_valid_bleu(&score->bleu, t->translator, err) : RELA_OK;
}

static void show_samples(rela_trainer *t)
{
    const rela_span samples = rela_valid_samples(t->translator);
    const char *at = samples.text, *end = at + samples.len;
    for (rela_span line; samples.len && rela_next_line(&line, &at, end);)
        rela_trainer_log(t, "  %.*s", (int)line.len, line.text);
}

static rela_status on_validated(void *ctx, const rela_loop_state *s, const rela_loop_score *score,
                                bool is_best, rela_error *err)
{
    rela_trainer *t = ctx;
    rela_buffer text = RELA_BUFFER_INIT;
    rela_valid_zeros z = { .list = &t->net.list };
    char line[RELA_REPORT_MAX];
    t->last = *score;
    t->n_last = s->update;
    if (!rela_trainer_is_first(t))
        return rela_world_agree(t->world, RELA_OK, err);
    rela_status st = rela_valid_sparsity(&z, &t->net, t->valid, err);
    if (st == RELA_OK)
        st = rela_report_row(&text, s->update, score, &z, is_best, err);
    if (st == RELA_OK)
        st = rela_appender_write(t->run.valid, text.data, text.len, err);
    if (st == RELA_OK && is_best)
        st = rela_run_path(&text, &t->run, "best.rela", err);
    if (st == RELA_OK && is_best)
        st = save_to(t, text.data, s, NULL, err);
    rela_buffer_free(&text);
    rela_report_valid_text(line, s->update, score, &z, is_best);
    rela_trainer_log(t, "%s", line);
    if (t->translator)
        show_samples(t);
    (void)rela_trainer_notify(t, (rela_train_event){ .kind = RELA_TRAIN_VALIDATED,
                                                     .update = s->update,
                                                     .updates = rela_trainer_total(t),
                                                     .loss = score->loss,
                                                     .nll = score->nll,
                                                     .perplexity = score->perplexity,
                                                     .bleu = score->bleu,
                                                     .is_best = is_best });
    return rela_world_agree(t->world, st, err);
}

static void share_plan(void *ctx, rela_time_plan *plan)
{
    rela_world_broadcast(((rela_trainer *)ctx)->world, plan, sizeof *plan);
}

static rela_loop_action on_update(void *ctx, const rela_loop_state *s, const rela_step_result *r)
{
    rela_trainer *t = ctx;
    const int answer = rela_trainer_notify(t, (rela_train_event){ .kind = RELA_TRAIN_UPDATE,
                                                                  .update = s->update,
                                                                  .updates = rela_trainer_total(t),
                                                                  .epoch = s->position.epoch,
                                                                  .grad_norm = r->grad_norm });
    check_saved(t);
    rela_trainer_forecast(t);
    /* If one rank is asked to save or stop, all do; stopping implies saving. */
    enum { GO_ON, SAVE, STOP };
    const rela_stop stop = rela_train_stop(&t->o);
    const bool stops = answer == RELA_TRAIN_STOP || rela_stop_asked(&stop);
    const bool saves = answer == RELA_TRAIN_SAVE || t->save_error.status != RELA_OK;
    const int64_t all = rela_world_max(t->world, stops ? STOP : saves ? SAVE : GO_ON);
    return all == STOP ? RELA_STOP_NOW : all == SAVE ? RELA_SAVE_NOW : RELA_GO_ON;
}

int rela_trainer_notify(rela_trainer *t, rela_train_event e)
{
    e.rank = (uint32_t)rela_world_rank(t->world);
    e.ranks = (uint32_t)rela_world_size(t->world);
    return t->on_event ? t->on_event(t->ctx, &e) : RELA_TRAIN_GO_ON;
}

void rela_trainer_log(rela_trainer *t, const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list args;
    if (!rela_trainer_is_first(t))
        return;
    va_start(args, format);
    rela_format(line, sizeof line - 1, format, args);
    va_end(args);
    (void)rela_trainer_notify(t, (rela_train_event){ .kind = RELA_TRAIN_LOG, .text = line });
    char now[32];
    rela_clock_text(now);
    (void)rela_buffer_printf(&t->unlogged, NULL, "%s %s\n", now, line);
    if (!t->run.log) /* not open until the run is known to be ours */
        return;
    (void)rela_appender_write(t->run.log, t->unlogged.data, t->unlogged.len, NULL);
    rela_buffer_clear(&t->unlogged); /* even if the write failed: a log is no reason to stop */
}

/* SPDX-License-Identifier: MIT */
/* src/train/trainer_forecast.c - says in the first minute when the run will end and what it needs,
 * and again when that has changed; the total of updates that the progress shows. */
#include "base/clock.h"
#include "base/duration.h"
#include "train/trainer.h"

enum { FIRST_SECONDS = 20, FIRST_UPDATES = 3, AGAIN_SECONDS = 60 };
/* By which part of a run a forecast may be wrong before there is another. */
static const double WRONG_SHARE = 0.15;

/* Time of a validation in that of training on as many tokens: the loss, and for each hypothesis of
 * the beam. */
static const double LOSS_SHARE = 0.35, BEAM_SHARE = 0.45;

static double validation_seconds(const rela_trainer *t, double tokens_per_second);

uint64_t rela_trainer_total(const rela_trainer *t)
{
    const uint64_t planned = t->state.loop.plan.limit > 0 ? t->state.loop.plan.updates : 0;
    return planned ? planned : t->o.updates == RELA_UPDATES_ANY ? 0 : (uint64_t)t->o.updates;
}

bool rela_forecast_due(rela_trainer_forecasts *f, double spent, double rest)
{
    const double end = spent + rest, off = end > f->end ? end - f->end : f->end - end;
    if (f->any && (spent < f->at + AGAIN_SECONDS || off <= WRONG_SHARE * f->end))
        return false;
    *f = (rela_trainer_forecasts){ .any = true, .at = spent, .end = end };
    return true;
}

void rela_trainer_forecast(rela_trainer *t)
{
    const rela_loop_state *s = &t->state.loop;
    const double now = rela_clock_seconds(), spent = now - t->loop_started;
    const uint64_t n = s->update - t->first_update, total = rela_trainer_total(t);
    if (spent < FIRST_SECONDS || n < FIRST_UPDATES || total <= s->update)
        return;
    const double training = spent - t->all_valid_seconds, each = training / (double)n;
    const double speed = (double)(s->tokens - t->first_tokens) / training;
    const uint64_t left = total - s->update, every = (uint64_t)t->o.valid_every;
    const double validation = validation_seconds(t, speed);
    const uint64_t validations = t->valid ? total / every - s->update / every : 0;
    const double end = t->valid ? validation * (t->o.average > 1 ? 2 : total % every != 0) : 0;
    double rest = (double)left * each + (double)validations * validation + end;
    if (t->o.max_time && rest > (double)t->o.max_time - rela_trainer_used(t))
        rest = (double)t->o.max_time - rela_trainer_used(t);
    if (!rela_forecast_due(&t->forecast, spent, rest))
        return;
    char length[RELA_DURATION_SIZE], until[32], count[RELA_GROUPED_SIZE];
    rela_duration_text(length, rest);
    rela_clock_text_after(until, rest);
    rela_trainer_log(t,
                     "forecast: %s updates, done in %s, at %s; %.1f MB of memory, up to %.1f MB "
                     "on disk",
                     rela_grouped(count, total), length, until, (double)t->memory / 1e6,
                     (double)t->disk / 1e6);
}

/* As measured; before the first, as long as it takes on other models. */
static double validation_seconds(const rela_trainer *t, double tokens_per_second)
{
    if (t->valid_seconds > 0 || !t->valid || tokens_per_second <= 0)
        return t->valid_seconds;
    const double beam = t->translator ? (double)t->o.valid_beam : 0;
    const double tokens = (double)rela_store_tokens(t->valid, rela_store_sides(t->valid) - 1);
    return tokens * (LOSS_SHARE + BEAM_SHARE * beam) / tokens_per_second;
}

/* SPDX-License-Identifier: MIT */
/* src/train/trainer_report.c - what a training run tells: lines of its logs, and events. */
#include "base/clock.h"
#include "train/trainer.h"
#include "train/training_log.h"

#include <math.h>
#include <stdarg.h>

enum { LINE_MAX_BYTES = 512 };

rela_status rela_trainer_report(rela_trainer *t, const rela_loop_report *r, rela_error *err)
{
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

rela_status rela_trainer_bleu(rela_trainer *t, rela_loop_score *score, rela_error *err)
{
    const bool wanted = t->translator && isfinite(score->nll);
    return wanted ? rela_valid_bleu(&score->bleu, t->translator, err) : RELA_OK;
}

static void show_samples(rela_trainer *t)
{
    const rela_span samples = rela_valid_samples(t->translator);
    const char *at = samples.text, *end = at + samples.len;
    for (rela_span line; samples.len && rela_next_line(&line, &at, end);)
        rela_trainer_log(t, "  %.*s", (int)line.len, line.text);
}

rela_status rela_trainer_validated(rela_trainer *t, const rela_loop_score *score, bool is_best,
                                   rela_error *err)
{
    const rela_loop_state *s = &t->state.loop;
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
        st = rela_trainer_save_to(t, text.data, NULL, err);
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

/* SPDX-License-Identifier: MIT */
/* src/train/trainer.h - a training run: trainer.c and trainer_start.c prepare it, loop.c runs it,
 * trainer_save.c saves it, trainer_report.c reports it, trainer_result.c chooses its model. */
#ifndef RELA_TRAIN_TRAINER_H
#define RELA_TRAIN_TRAINER_H

#include "base/committer.h"
#include "rela/train.h"
#include "train/ranks.h"
#include "train/resume_state.h"
#include "train/run_checkpoints.h"
#include "train/run_dir.h"
#include "train/train_options.h"
#include "train/validation.h"

#include <stdatomic.h>

/* The last forecast that was logged: when, and of which end, in seconds since the first update. */
typedef struct rela_trainer_forecasts {
    bool any;
    double at, end;
} rela_trainer_forecasts;

enum { RELA_ATTENTION_TEXT = 384 }; /* room for the kinds of a model */

typedef struct rela_trainer {
    rela_train_options o;
    rela_train_own own;                                    /* texts of o */
    int (*on_event)(void *ctx, const rela_train_event *e); /* may be NULL */
    void *ctx;
    rela_stop own_stop;   /* of the caller; o.stop also asks the other ranks */
    atomic_bool stopping; /* the answer was yes */
    rela_world *world;    /* NULL: one process */
    rela_run run;         /* locked by rank 0, which alone writes there */
    rela_pipeline *pipeline;
    rela_net net;
    bool net_ready;
    rela_extras loaded; /* of the checkpoint that is resumed */
    rela_store *train, *valid;
    rela_batches *batches;
    rela_updater *updater;
    rela_valid *translator; /* NULL: no BLEU */
    rela_loop_options loop;
    uint32_t valid_tokens; /* of the target, per batch of a validation */
    rela_loop_score last;  /* of the validation after update n_last; 0: none by this process */
    uint64_t n_last;
    double started, loop_started;        /* by rela_clock_seconds: the process, its first update */
    double used;                         /* seconds by processes before it */
    double valid_seconds;                /* of the last validation; 0: none yet */
    double all_valid_seconds;            /* of all by this process */
    uint64_t first_update, first_tokens; /* when it started */
    size_t memory;
    uint64_t disk; /* bytes needed */
    rela_trainer_forecasts forecast;
    rela_train_state state;
    bool holds_threads;   /* rela_par_end is due */
    bool interim;         /* the resumed checkpoint is interim, see run_dir.h */
    rela_buffer unlogged; /* lines logged before train.log was open */
    uint64_t ended;       /* where a finished run had ended, if off the save interval; else 0 */
    /* Checkpoints and best.rela are made durable in the background; rank 0 only. */
    rela_committer *committer;
    bool committing;
    rela_buffer saving;    /* path of the checkpoint being committed; empty: none */
    rela_error save_error; /* of a background commit; returned by the next save */
} rela_trainer;

static inline bool rela_trainer_is_first(const rela_trainer *t)
{
    return rela_world_rank(t->world) == 0;
}

static inline rela_train_run rela_trainer_run_of(const rela_trainer *t)
{
    return (rela_train_run){ &t->run, &t->o, &t->net, t->pipeline, t->state.data_digest };
}

rela_update_options rela_trainer_update_options(const rela_trainer *t);

/* Makes text pipeline and net, or loads those of the last checkpoint. Collective. */
rela_status rela_trainer_start(rela_trainer *t, rela_error *err);
/* "rela-g", or "rela-g (encoder), rela-g (decoder), topk:k=4 (cross)" if they differ. */
void rela_trainer_name_attention(char *out, size_t size, const rela_config *c);
/* Notes the memory that the run needs; fails if that is more than there is. */
rela_status rela_trainer_check_memory(rela_trainer *t, const rela_config *c, rela_error *err);

/* Trains from the loaded state to the end and writes the model of the run. Saves at the end too,
 * unless nothing has happened since the last regular save. Which updates are saved regularly
 * depends on the options alone, not on stops and resumes. Collective. */
rela_status rela_trainer_loop(rela_trainer *t, rela_error *err);
/* The loop alone, over t->batches. */
rela_status rela_trainer_run(rela_trainer *t, rela_loop_end *end, rela_error *err);
/* Seconds since the run began, of all processes. */
double rela_trainer_used(const rela_trainer *t);
/* Cross entropy on encoded pairs, with the current weights. Collective. */
rela_status rela_trainer_measure(rela_trainer *t, rela_loop_score *score, const rela_store *text,
                                 rela_error *err);

/* Chooses the model of the run when the loop has ended, and writes it. The weights of the net are
 * then those of that model. Collective. */
rela_status rela_trainer_finish(rela_trainer *t, rela_error *err);

/* moments NULL: a model, not a checkpoint. *out: the file, still to be committed. */
rela_status rela_trainer_write(rela_writer **out, rela_trainer *t, const char *path,
                               const real *const *moments, rela_error *err);
/* The same, made durable by the committer while training goes on. */
rela_status rela_trainer_save_to(rela_trainer *t, const char *path, const real *const *moments,
                                 rela_error *err);
/* Saves a checkpoint. regular: every save_every updates and at the end; otherwise on request.
 * Collective. */
rela_status rela_trainer_save(rela_trainer *t, bool regular, rela_error *err);
/* Waits until the saved files are durable, then prunes old checkpoints and reports the new one.
 * Returns an earlier failure too. */
rela_status rela_trainer_save_wait(rela_trainer *t, rela_error *err);
/* Called between updates, does not wait. After a failure the next save is due, which returns it. */
void rela_trainer_save_check(rela_trainer *t);

/* To the logs and the callback; score: of the weights at this update, best so far. Collective. */
rela_status rela_trainer_report(rela_trainer *t, const rela_loop_report *r, rela_error *err);
/* Adds BLEU to a score that is finite, if it is wanted. */
rela_status rela_trainer_bleu(rela_trainer *t, rela_loop_score *score, rela_error *err);
rela_status rela_trainer_validated(rela_trainer *t, const rela_loop_score *score, bool is_best,
                                   rela_error *err);

/* The number of updates in all, as far as it is known; 0: it depends on the time they take. */
uint64_t rela_trainer_total(const rela_trainer *t);
/* Whether to log a forecast, spent and rest being seconds of the run: the first, or one that
 * differs from the last; *f is then what was logged. */
bool rela_forecast_due(rela_trainer_forecasts *f, double spent, double rest);
/* Logs when the run will end, once there is something to tell it by, and when that has changed. */
void rela_trainer_forecast(rela_trainer *t);

/* Returns the answer of the callback. */
int rela_trainer_notify(rela_trainer *t, rela_train_event e);
/* To the callback and to train.log; rank 0 only, a no-op on the others. */
void rela_trainer_log(rela_trainer *t, const char *format, ...) RELA_PRINTF(2, 3);

#endif

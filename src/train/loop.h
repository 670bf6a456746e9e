/* SPDX-License-Identifier: MIT */
/* src/train/loop.h - what the training loop is asked for, keeps and reports. Its state is a small
 * plain struct; with the weights and moments it is all that an exact resume needs. */
#ifndef RELA_TRAIN_LOOP_H
#define RELA_TRAIN_LOOP_H

#include "data/batch.h"
#include "train/schedule.h"
#include "train/time_plan.h"
#include "train/update.h"

/* Saved in checkpoints. Initialise to zero. */
typedef struct rela_loop_state {
    uint64_t update;        /* done so far */
    rela_position position; /* in the data */
    uint64_t tokens;        /* target tokens seen */
    uint64_t n_skipped;     /* updates skipped because loss or gradient was not finite */
    uint64_t n_skipped_row; /* consecutive ones up to now */
    double best;            /* best validation score so far */
    bool best_is_bleu;      /* that score is BLEU, not log-likelihood */
    uint64_t best_update;   /* 0: none yet */
    uint64_t n_stale;       /* validations since the best */
    /* Since the last report, without skipped updates: sums, and the last gradient norm. */
    double part_loss, part_nll, part_norm;
    uint64_t part_n_loss, part_tokens; /* terms of part_loss and part_nll */
    rela_time_plan plan;
    bool unvalidated; /* the validation of the last update was stopped: it comes first on resume */
} rela_loop_state;

/* Figures of the updates since the last report; rate is that of the last one, grad_norm that of the
 * last one not skipped. loss, nll and grad_norm are NaN if all were skipped. */
typedef struct rela_loop_report {
    uint64_t update, epoch;
    uint64_t nth_epoch; /* for people: that of the last sentence, from 1 */
    double loss;        /* the objective: mean over tokens, or over sentences if sentence_mean */
    double nll;         /* mean of target tokens */
    double rate, grad_norm;
    double tokens_per_second; /* target */
    double padding;           /* share that padded batches would waste */
    uint64_t n_skipped;
} rela_loop_report;

typedef struct rela_loop_score {
    double loss;       /* as in a report, but without dropout */
    double nll;        /* mean of target tokens */
    double perplexity; /* exp(nll) */
    double bleu;       /* negative: not measured */
    double score;      /* what best and patience go by: higher is better */
} rela_loop_score;

typedef struct rela_loop_options {
    uint64_t updates;                               /* total */
    uint64_t epochs;                                /* 0: no limit */
    uint64_t report_every, valid_every, save_every; /* updates; 0: never */
    uint64_t patience;    /* validations without a new best; 0: no early stopping */
    uint64_t max_skipped; /* in a row, at which the run fails */
    bool by_bleu;         /* best and patience by BLEU instead of the cross entropy */
    double max_time;      /* seconds, of all processes that work on the run; 0: no limit */
    rela_schedule schedule;
} rela_loop_options;

typedef enum rela_loop_end {
    RELA_END_DONE, /* all updates or epochs */
    RELA_END_PATIENCE,
    RELA_END_STOPPED /* asked to stop: after an update, or in the middle of one or of a validation
                      */
} rela_loop_end;

/* A batch as the model reads it; lent as the batch is. */
rela_model_batch rela_model_batch_of(const rela_batch *b);

#endif

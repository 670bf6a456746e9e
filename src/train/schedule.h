/* SPDX-License-Identifier: MIT */
/* src/train/schedule.h - the learning rate of an update; updates count from 1. */
#ifndef RELA_TRAIN_SCHEDULE_H
#define RELA_TRAIN_SCHEDULE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of the values of the setting 'schedule'. */
typedef enum rela_schedule_kind {
    RELA_SCHEDULE_NOAM,         /* rate * d^-0.5 * min(s^-0.5, s * w^-1.5); s: update, w: warmup */
    RELA_SCHEDULE_INVERSE_SQRT, /* linear to rate over w updates, then rate * sqrt(w/s) */
    RELA_SCHEDULE_CONSTANT,     /* this and the others: the same warm-up, then as named */
    RELA_SCHEDULE_COSINE,
    RELA_SCHEDULE_LINEAR
} rela_schedule_kind;

typedef struct rela_schedule {
    rela_schedule_kind kind;
    double rate;      /* peak; the scale of noam */
    double start;     /* rate before the first update of the warm-up */
    double least;     /* floor of cosine and linear decay, and of the cool-down */
    uint64_t warmup;  /* updates */
    uint64_t updates; /* length of the run: where cosine, linear and the cool-down end */
    uint64_t cool;    /* last updates, over which the rate falls linearly to the floor; 0: none */
    size_t d;         /* width of the model, for noam */
} rela_schedule;

double rela_schedule_rate(const rela_schedule *s, uint64_t update);

#endif

/* SPDX-License-Identifier: MIT */
/* src/train/time_plan.h - a run of limited time: how many updates fit, when the learning rate
 * falls.
 *
 * What is decided is kept and saved with the run: a resumed one goes on as it would have. Reads no
 * clock. */
#ifndef RELA_TRAIN_TIME_PLAN_H
#define RELA_TRAIN_TIME_PLAN_H

#include "train/schedule.h"

/* Initialise to zero. */
typedef struct rela_time_plan {
    double limit;       /* seconds; 0: none, and the rest has no meaning */
    double used;        /* seconds by all processes until the state was saved */
    uint64_t updates;   /* expected in all; 0: not known yet */
    uint64_t warmup;    /* shortened to what fits; 0: not decided yet */
    uint64_t cool_from; /* the rate falls after this update */
    uint64_t cool_to;   /* to the least at this one, the last; 0: not decided yet */
    double cool_rate;   /* that it falls from */
} rela_time_plan;

typedef struct rela_time_figures {
    uint64_t update;   /* done so far */
    double used;       /* seconds since the run began */
    double per_update; /* seconds, with its share of validations */
    double reserve;    /* seconds to keep for the end */
} rela_time_figures;

/* For a run that starts or resumes: with another limit the rate rises again, unless the run is over
 * anyway. */
void rela_time_plan_start(rela_time_plan *p, double limit);

/* Decides after an update. The time left, not the number of updates, says when the rate falls; if
 * the machine becomes slower then, it falls faster. s: as set for the run; s->updates may end it
 * earlier. */
void rela_time_plan_update(rela_time_plan *p, const rela_time_figures *f, const rela_schedule *s);

/* The learning rate of an update. */
double rela_time_plan_rate(const rela_time_plan *p, const rela_schedule *s, uint64_t update);

#endif

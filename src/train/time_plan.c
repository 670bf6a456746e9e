/* SPDX-License-Identifier: MIT */
/* src/train/time_plan.c - see time_plan.h. */
#include "train/time_plan.h"

#include <math.h>

enum {
    FIRST_UPDATES = 5, /* show how fast they are */
    WARMUP_SHARE = 4   /* the rate rises in a fourth of the updates at most, as in the presets */
};

/* Of the time, in which the rate falls. */
static const double COOL_SHARE = 0.25;
/* The rate falls faster if the time for this share of the rest is missing. */
static const double LATE_SHARE = 0.05;

void rela_time_plan_start(rela_time_plan *p, double limit)
{
    if (limit != p->limit)
        *p = (rela_time_plan){ .limit = limit, .used = p->used, .warmup = p->warmup };
    if (limit <= 0)
        *p = (rela_time_plan){ .limit = 0 };
}

void rela_time_plan_update(rela_time_plan *p, const rela_time_figures *f, const rela_schedule *s)
{
    const double left = p->limit - f->used - f->reserve;
    const uint64_t fit = left > 0 ? (uint64_t)(left / f->per_update) : 0, total = f->update + fit;
    const bool limited = total < s->updates;
    const bool late = p->cool_to > total &&
                      (double)(p->cool_to - total) > LATE_SHARE * (double)(p->cool_to - f->update);
    if (p->cool_to == 0 && !p->warmup && f->update >= FIRST_UPDATES && s->warmup)
        p->warmup = s->warmup < total / WARMUP_SHARE ? s->warmup : total / WARMUP_SHARE + 1;
    const bool cools = s->cool ? fit <= s->cool : left <= COOL_SHARE * (p->limit - f->reserve);
    if (p->cool_to ? late || fit == 0 : limited && cools) {
        p->cool_rate = rela_time_plan_rate(p, s, f->update ? f->update : 1);
        p->cool_from = f->update;
        p->cool_to = total;
    }
    p->updates = p->cool_to ? p->cool_to : limited ? total : s->updates;
}

double rela_time_plan_rate(const rela_time_plan *p, const rela_schedule *s, uint64_t update)
{
    rela_schedule fit = *s;
    if (p->limit <= 0)
        return rela_schedule_rate(s, update);
    if (p->cool_to) {
        const double rest = p->cool_to > update ? (double)(p->cool_to - update) : 0;
        const double all = (double)(p->cool_to - p->cool_from);
        return s->least + (p->cool_rate - s->least) * (all > 0 ? rest / all : 0);
    }
    if (p->warmup && p->warmup < s->warmup) {
        fit.warmup = p->warmup;
        if (s->kind == RELA_SCHEDULE_NOAM) /* the same peak */
            fit.rate *= sqrt((double)p->warmup / (double)s->warmup);
    }
    if (p->updates && p->updates < s->updates) {
        fit.updates = p->updates;
        fit.cool = 0; /* decided by the time left */
    }
    return rela_schedule_rate(&fit, update);
}

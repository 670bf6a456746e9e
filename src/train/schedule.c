/* SPDX-License-Identifier: MIT */
/* src/train/schedule.c - see schedule.h. */
#include "train/schedule.h"

#include <math.h>
#include <string.h>

static double plain_rate(const rela_schedule *s, uint64_t update);
static double share_done(const rela_schedule *s, double update);

double rela_schedule_rate(const rela_schedule *s, uint64_t update)
{
    const double rate = plain_rate(s, update);
    if (s->cool == 0 || update + s->cool <= s->updates)
        return rate;
    const uint64_t left = update < s->updates ? s->updates - update : 0;
    return s->least + (rate - s->least) * (double)left / (double)s->cool;
}

static double plain_rate(const rela_schedule *s, uint64_t update)
{
    const double t = (double)update, w = (double)s->warmup;
    if (s->kind == RELA_SCHEDULE_NOAM) {
        const double decay = 1 / sqrt(t), rise = s->warmup ? t * pow(w, -1.5) : decay;
        return s->rate / sqrt((double)s->d) * (decay < rise ? decay : rise);
    }
    if (update < s->warmup)
        return s->start + (s->rate - s->start) * t / w;
    switch (s->kind) {
    case RELA_SCHEDULE_INVERSE_SQRT:
        return s->rate * sqrt((s->warmup ? w : 1) / t);
    case RELA_SCHEDULE_COSINE:
        return s->least +
               (s->rate - s->least) * 0.5 * (1 + cos(3.14159265358979323846 * share_done(s, t)));
    case RELA_SCHEDULE_LINEAR:
        return s->least + (s->rate - s->least) * (1 - share_done(s, t));
    default:
        return s->rate;
    }
}

/* How much of the run after the warm-up is over, 0..1. */
static double share_done(const rela_schedule *s, double update)
{
    const double rest = (double)s->updates - (double)s->warmup;
    const double share = rest > 0 ? (update - (double)s->warmup) / rest : 1;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* SPDX-License-Identifier: MIT */
/* src/nn/attn/kind_fusedmax.c - fusedmax (Niculae and Blondel 2017): sparsemax of scores smoothed
 * by total variation, so that neighbouring keys share one weight. */
#include "nn/attn/kind.h"

/* State of the direct algorithm (Condat 2013, "A direct algorithm for 1D total variation
 * denoising"). The segment that starts at `from` will get a value in [low, high]; slack_low and
 * slack_high are the dual variables at `at` if it gets the one or the other, last_low and
 * last_high the places where they last touched their bounds: there a segment can end. */
typedef struct walk {
    const real *s;
    size_t n;
    real *y;
    real fuse;
    size_t at, from, last_low, last_high;
    real low, high, slack_low, slack_high;
} walk;

/* The current segment ends at last with the given value; the next one starts after it. */
static void cut(walk *t, size_t last, real value)
{
    for (size_t i = t->from; i <= last; i++)
        t->y[i] = value;
    t->at = t->from = last + 1;
}

/* A downward jump ends a low segment: the next one starts from its lower bound; upward mirrored. */
static void jump_down(walk *t)
{
    cut(t, t->last_low, t->low);
    t->last_low = t->last_high = t->at;
    t->low = t->s[t->at];
    t->high = t->s[t->at] + 2 * t->fuse;
    t->slack_low = t->fuse;
    t->slack_high = -t->fuse;
}

static void jump_up(walk *t)
{
    cut(t, t->last_high, t->high);
    t->last_low = t->last_high = t->at;
    t->low = t->s[t->at] - 2 * t->fuse;
    t->high = t->s[t->at];
    t->slack_low = t->fuse;
    t->slack_high = -t->fuse;
}

/* Takes the next score into the segment and narrows its bounds. */
static void extend(walk *t)
{
    t->at++;
    const real length = (real)(t->at - t->from + 1);
    t->slack_low += t->s[t->at] - t->low;
    t->slack_high += t->s[t->at] - t->high;
    if (t->slack_low >= t->fuse) {
        t->low += (t->slack_low - t->fuse) / length;
        t->slack_low = t->fuse;
        t->last_low = t->at;
    }
    if (t->slack_high <= -t->fuse) {
        t->high += (t->slack_high + t->fuse) / length;
        t->slack_high = -t->fuse;
        t->last_high = t->at;
    }
}

/* At the end of the row the dual variable must be 0. False: the row is finished. */
static bool close_row(walk *t)
{
    if (t->slack_low < 0) {
        cut(t, t->last_low, t->low);
        t->last_low = t->at;
        t->low = t->s[t->at];
        t->slack_low = t->fuse;
        t->slack_high = t->s[t->at] + t->fuse - t->high;
        return true;
    }
    if (t->slack_high > 0) {
        cut(t, t->last_high, t->high);
        t->last_high = t->at;
        t->high = t->s[t->at];
        t->slack_high = -t->fuse;
        t->slack_low = t->s[t->at] - t->fuse - t->low;
        return true;
    }
    cut(t, t->n - 1, t->low + t->slack_low / (real)(t->at - t->from + 1));
    return false;
}

/* y = argmin of |y - s|^2 / 2 + fuse * sum of |y[i + 1] - y[i]|; the walk is at its start. */
static void smooth(walk *t)
{
    const real *s = t->s;
    const real fuse = t->fuse;
    t->low = s[0] - fuse;
    t->high = s[0] + fuse;
    t->slack_low = fuse;
    t->slack_high = -fuse;
    bool more = true;
    while (more) {
        if (t->at + 1 == t->n)
            more = close_row(t);
        else if (s[t->at + 1] + t->slack_low < t->low - fuse)
            jump_down(t);
        else if (s[t->at + 1] + t->slack_high > t->high + fuse)
            jump_up(t);
        else
            extend(t);
    }
}

static void weigh(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    walk t = { .s = s, .n = n, .y = c->scratch, .fuse = c->numbers[0] };
    smooth(&t);
    c->k->sparsemax(w, c->scratch, n);
}

/* The derivative of the smoothing is the mean over each fused segment; segments are the runs of
 * equal weights, and where the weight is 0 no gradient passes anyway. */
static void weigh_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                       const real *s, size_t n)
{
    (void)s;
    c->k->sparsemax_back(ds, dw, w, n);
    for (size_t i = 0, end = 0; i < n && c->numbers[0] > 0; i = end) {
        real sum = 0;
        for (end = i; end < n && w[end] == w[i]; end++)
            sum += ds[end];
        for (size_t j = i; j < end; j++)
            ds[j] = sum / (real)(end - i);
        end += end == i; /* NaN equals nothing */
    }
}

static const rela_attn_number NUMBERS[] = {
    { "fuse", "weight of the total variation", false, 0, 100, 0.1, "fuse" },
    { .name = NULL },
};

const rela_attn_kind rela_attn_kinds_fusedmax[] = {
    {
        .name = "fusedmax",
        .summary = "sparsemax of scores smoothed by total variation: neighbours share weights",
        .flags = ATTN_SPARSE | ATTN_SUM_ONE | ATTN_ORDERED,
        .weigh = weigh,
        .weigh_back = weigh_back,
        .numbers = NUMBERS,
    },
    { .name = NULL },
};

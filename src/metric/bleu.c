/* SPDX-License-Identifier: MIT */
/* src/metric/bleu.c - BLEU (Papineni et al. 2002): counts per segment, score of their sum. */
#include "metric/metric_shared.h"

#include <math.h>
#include <string.h>

/* Stands for log(0): exp of a mean that contains it is zero. */
static const double LOG_ZERO = -9999999999.0;

static size_t closest(size_t best, size_t hyp, size_t ref);
static double brevity(uint64_t hyp_len, uint64_t ref_len);
static void compute_precisions(rela_bleu_figures *f, const rela_bleu_options *o, int *effective);
static double smoothed(const rela_bleu_options *o, double total, double *half);

rela_status rela_bleu_count(uint32_t *stats, rela_tally *t, const rela_segment *s, rela_error *err)
{
    const size_t order = (size_t)t->m->bleu.max_order;
    const rela_ngram_root root =
        t->m->bleu.tokens == RELA_BLEU_CHAR ? RELA_NGRAM_CHARS : RELA_NGRAM_WORDS;
    size_t ref_len = SIZE_MAX;
    rela_status st = rela_ngrams_clear(t->grams, s->hyp_len, err);
    if (st == RELA_OK)
        st = rela_bleu_split(&t->hyp, t, s->hyp, s->hyp_len, err);
    for (size_t i = 0; i < s->n_refs && st == RELA_OK; i++) {
        if (!s->refs[i])
            continue;
        if ((st = rela_bleu_split(&t->ref, t, s->refs[i], s->ref_lens[i], err)) != RELA_OK)
            break;
        ref_len = closest(ref_len, t->hyp.n, t->ref.n);
        st = rela_ngrams_learn(t->grams, root, t->ref.items, t->ref.n, order, (uint32_t)i, err);
    }
    if (st == RELA_OK && ref_len == SIZE_MAX)
        st = rela_fail(err, RELA_ARG, "a segment has no reference");
    if (st == RELA_OK)
        st = rela_ngrams_match(stats + 2, t->grams, root, t->hyp.items, t->hyp.n, order, err);
    if (st != RELA_OK)
        return st;
    stats[0] = (uint32_t)t->hyp.n;
    stats[1] = (uint32_t)ref_len;
    for (size_t i = 0; i < order; i++)
        stats[2 + order + i] = t->hyp.n > i ? (uint32_t)(t->hyp.n - i) : 0;
    return RELA_OK;
}

void rela_bleu_compute(rela_bleu_figures *out, const rela_bleu_options *o, const uint64_t *sums)
{
    const int order = o->max_order;
    bool any = false;
    *out = (rela_bleu_figures){ .hyp_len = sums[0],
                                .ref_len = sums[1],
                                .max_order = order,
                                .brevity = brevity(sums[0], sums[1]),
                                .ratio = sums[1] ? (double)sums[0] / (double)sums[1] : 0 };
    for (int i = 0; i < order; i++) {
        out->correct[i] = (double)sums[2 + i];
        out->total[i] = (double)sums[2 + order + i];
        any = any || sums[2 + i] > 0;
    }
    if (!any) /* without any match the score is 0, even with smoothing */
        return;
    int effective = order;
    compute_precisions(out, o, &effective);
    double sum = 0;
    for (int i = 0; i < effective; i++)
        sum += out->precision[i] > 0 ? log(out->precision[i]) : LOG_ZERO;
    out->score = out->brevity * exp(sum / effective);
}

/* The reference length nearest to that of the hypothesis; of two equally near, the shorter. */
static size_t closest(size_t best, size_t hyp, size_t ref)
{
    if (best == SIZE_MAX)
        return ref;
    const size_t old = best > hyp ? best - hyp : hyp - best;
    const size_t now = ref > hyp ? ref - hyp : hyp - ref;
    return now < old || (now == old && ref < best) ? ref : best;
}

static double brevity(uint64_t hyp_len, uint64_t ref_len)
{
    if (hyp_len >= ref_len)
        return 1;
    return hyp_len ? exp(1 - (double)ref_len / (double)hyp_len) : 0;
}

static void compute_precisions(rela_bleu_figures *f, const rela_bleu_options *o, int *effective)
{
    double half = 1; /* exponential smoothing: precision halves with every zero */
    for (int i = 0; i < o->max_order; i++) {
        if (o->smoothing == RELA_SMOOTH_ADD_K && i > 0) {
            f->correct[i] += o->smooth_value;
            f->total[i] += o->smooth_value;
        }
        if (f->total[i] == 0) /* no hypothesis is that long */
            return;
        if (o->effective_order)
            *effective = i + 1;
        f->precision[i] =
            f->correct[i] > 0 ? 100 * f->correct[i] / f->total[i] : smoothed(o, f->total[i], &half);
    }
}

static double smoothed(const rela_bleu_options *o, double total, double *half)
{
    switch (o->smoothing) {
    case RELA_SMOOTH_EXP:
        *half *= 2;
        return 100 / (*half * total);
    case RELA_SMOOTH_FLOOR:
        return 100 * o->smooth_value / total;
    default:
        return 0;
    }
}

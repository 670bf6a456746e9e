/* SPDX-License-Identifier: MIT */
/* src/decode/sample.c - samples tokens: temperature, top-k, top-p (nucleus).
 *
 * The random number of a symbol is a function of seed, sentence number, sample and position, so
 * neither batches nor threads change what is sampled. */
#include "base/rng.h"
#include "decode/engine_state.h"

#include <math.h>

enum { FIRST_GUESS = 64, GROWTH = 4 };

static void choose(rela_engine *e, rela_live *x);
static double uniform(const rela_engine *e, const rela_live *x, size_t row);
static size_t sample_all(const rela_engine *e, const rela_search_options *o, const real *logits,
                         size_t v, double u);
static size_t sample_top(const rela_engine *e, const rela_search_options *o, const real *logits,
                         size_t v, double u);

const rela_strategy rela_strategy_sample = { choose };

static void choose(rela_engine *e, rela_live *x)
{
    const rela_search_options *o = x->options;
    const size_t v = x->n_words;
    const bool all = (o->top_k == 0 || o->top_k >= v) && o->top_p >= 1;
    for (size_t row = x->first; row < x->first + x->n; row++) {
        const real *logits = e->whole + e->whole_at[row] * e->most_words;
        const double u = uniform(e, x, row);
        const size_t sampled =
            all ? sample_all(e, o, logits, v, u) : sample_top(e, o, logits, v, u);
        if (sampled >= v)
            continue;
        const uint32_t token = rela_live_word(x, sampled);
        const double logp = e->rows.logp[row] + ((double)logits[sampled] - e->lse[row]);
        if (token == RELA_EOS)
            rela_engine_end(e, x, row, logp);
        else
            rela_engine_extend(e, row, (int32_t)token, logp);
    }
}

/* On [0, 1). */
static double uniform(const rela_engine *e, const rela_live *x, size_t row)
{
    const uint64_t number = x->source.number, seed = x->options->seed;
    const uint32_t counter[4] = { (uint32_t)number, (uint32_t)(number >> 32), e->rows.position[row],
                                  e->rows.sample[row] };
    const uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    uint32_t words[4];
    rela_rng_block(words, counter, key);
    const uint64_t bits = (uint64_t)words[0] << 32 | words[1];
    return (double)(bits >> 11) / 9007199254740992.0;
}

/* Samples the place of one among all v symbols of a sentence; v if none is possible. Forbidden ones
 * are recognised by their logit: the vectorised exponential is never quite zero. */
static size_t sample_all(const rela_engine *e, const rela_search_options *o, const real *logits,
                         size_t v, double u)
{
    const real factor = (real)(1 / o->temperature);
    real *p = e->sorted;
    for (size_t i = 0; i < v; i++)
        p[i] = logits[i] * factor;
    e->k->softmax(p, p, v);
    double total = 0;
    for (size_t i = 0; i < v; i++)
        total += logits[i] > (real)-INFINITY ? (double)p[i] : 0;
    size_t last = v;
    double rest = u * total;
    for (size_t i = 0; i < v && rest >= 0; i++)
        if (logits[i] > (real)-INFINITY) {
            rest -= (double)p[i];
            last = i;
        }
    return last;
}

/* Sum over all allowed symbols of exp((z - best) / temperature). */
static double sum_exp(const rela_search_options *o, const real *logits, size_t v, double best)
{
    double sum = 0;
    for (size_t i = 0; i < v; i++)
        if (logits[i] > (real)-INFINITY)
            sum += exp(((double)logits[i] - best) / o->temperature);
    return sum;
}

/* The same among the best symbols only (top-k, top-p). */
static size_t sample_top(const rela_engine *e, const rela_search_options *o, const real *logits,
                         size_t v, double u)
{
    const size_t most = o->top_k && o->top_k < v ? o->top_k : v;
    size_t guess = o->top_p < 1 && most > FIRST_GUESS ? FIRST_GUESS : most;
    double all = 0, sum = 0;
    size_t n = 0, kept = 0;
    while (1) {
        n = e->k->top(e->order, e->sorted, 0, guess, logits, v, 0);
        if (n == 0)
            return v;
        const double best = (double)e->sorted[0];
        if (all <= 0 && o->top_p < 1)
            all = sum_exp(o, logits, v, best);
        sum = 0;
        for (kept = 0; kept < n && (kept == 0 || sum < o->top_p * all || o->top_p >= 1); kept++)
            sum += exp(((double)e->sorted[kept] - best) / o->temperature);
        if (kept < n || n < guess || guess == most || sum >= o->top_p * all)
            break;
        guess = guess * GROWTH < most ? guess * GROWTH : most;
    }
    const double best = (double)e->sorted[0];
    double rest = u * sum;
    size_t i = 0;
    for (; i + 1 < kept; i++) {
        rest -= exp(((double)e->sorted[i] - best) / o->temperature);
        if (rest < 0)
            break;
    }
    return e->order[i];
}

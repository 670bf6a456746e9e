/* SPDX-License-Identifier: MIT */
/* src/decode/beam.c - beam search with a pool of live and a pool of finished hypotheses, each of
 * the size of the beam (the algorithm of tensor2tensor).
 *
 * Each step considers the 2 * beam best extensions of all live hypotheses: those with the end
 * symbol enter the finished pool, the best others are the next live ones. So finished hypotheses
 * never displace live ones, and since at most one extension of a hypothesis ends, enough live ones
 * remain. */
#include "decode/engine_state.h"

static void choose(rela_engine *e, rela_live *x);
static size_t collect(rela_engine *e, const rela_live *x);
static bool can_improve(const rela_engine *e, const rela_live *x, double logp);

const rela_strategy rela_strategy_beam = { choose };

static void choose(rela_engine *e, rela_live *x)
{
    const size_t n = collect(e, x);
    const rela_candidate *live[RELA_BEAM_MAX];
    size_t n_live = 0;
    for (size_t i = 0; i < n; i++) {
        const rela_candidate *c = &e->pool[i];
        if (c->token == RELA_EOS)
            rela_engine_end(e, x, c->row, c->logp);
        else if (n_live < x->width)
            live[n_live++] = c;
    }
    if (n_live == 0 || !can_improve(e, x, live[0]->logp))
        return;
    for (size_t i = 0; i < n_live; i++)
        rela_engine_extend(e, live[i]->row, live[i]->token, live[i]->logp);
}

/* The 2 * beam best extensions, best first; returns their number. The lists of the rows are sorted:
 * they only have to be merged. Ties go to the earlier row and the smaller symbol. */
static size_t collect(rela_engine *e, const rela_live *x)
{
    size_t next[RELA_BEAM_MAX] = { 0 }, n = 0;
    for (; n < x->list; n++) {
        rela_candidate best = { .token = RELA_PAD };
        for (size_t i = 0; i < x->n; i++) {
            const size_t row = x->first + i, at = row * e->list + next[i];
            if (next[i] == e->n_best[row])
                continue;
            const double logp = e->rows.logp[row] + ((double)e->best[at] - e->lse[row]);
            if (best.token == RELA_PAD || logp > best.logp)
                best = (rela_candidate){ (uint32_t)row, (int32_t)e->best_at[at], logp };
        }
        if (best.token == RELA_PAD)
            break;
        next[best.row - x->first]++;
        e->pool[n] = best;
    }
    return n;
}

/* Whether a live hypothesis of this log-probability, which can only fall, may still enter the
 * finished pool. The penalty is monotone in the length, so the best case is the shortest or the
 * longest possible length. */
static bool can_improve(const rela_engine *e, const rela_live *x, double logp)
{
    if (x->n_ended < x->width)
        return true;
    const double worst = x->ended[x->width - 1].score;
    const size_t now = e->rows.position[x->first] + 2; /* the symbol of this step and an end */
    return logp / rela_penalty(x->options, now) > worst ||
           logp / rela_penalty(x->options, x->limit) > worst;
}

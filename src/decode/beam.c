/* SPDX-License-Identifier: MIT */
/* src/decode/beam.c - beam search with a pool of live and a pool of finished hypotheses, each of
 * the size of the beam (the algorithm of tensor2tensor).
 *
 * In each step the 2 * beam best extensions of all live hypotheses are looked at: those with the
 * end symbol enter the finished pool, the best others are the next live ones. So the finished
 * never displace the live, and as at most one extension of a hypothesis ends, enough of them live
 * on. */
#include "decode/session.h"

static void choose(rela_session *s, rela_sentence *x);
static size_t collect(rela_session *s, const rela_sentence *x);
static size_t best_of(const rela_candidate *lists, const size_t *next, const size_t *end, size_t n);
static bool can_improve(const rela_session *s, const rela_sentence *x, double logp);

const rela_strategy rela_strategy_beam = { choose };

static void choose(rela_session *s, rela_sentence *x)
{
    const size_t n = collect(s, x);
    const rela_candidate *live[RELA_BEAM_MAX];
    size_t n_live = 0;
    for (size_t i = 0; i < n; i++) {
        const rela_candidate *c = &s->pool[i];
        if (c->token == RELA_EOS)
            rela_session_end(s, x, c->row, c->logp);
        else if (n_live < s->width)
            live[n_live++] = c;
    }
    if (n_live == 0 || !can_improve(s, x, live[0]->logp))
        return;
    for (size_t i = 0; i < n_live; i++)
        rela_session_extend(s, live[i]->row, live[i]->token, live[i]->logp);
}

/* The 2 * beam best extensions, best first, to the front of the pool; returns their number. Of
 * equal ones the earlier row and the smaller symbol come first. */
static size_t collect(rela_session *s, const rela_sentence *x)
{
    const size_t most = 2 * s->width;
    rela_candidate *lists = s->pool + most; /* one sorted list per row */
    size_t next[RELA_BEAM_MAX], end[RELA_BEAM_MAX];
    for (size_t i = 0; i < x->n; i++) {
        const size_t row = x->first + i;
        const size_t n = s->k->top(s->top, s->logits + row * s->vocabulary, s->vocabulary, most);
        next[i] = i * most;
        end[i] = next[i] + n;
        for (size_t j = 0; j < n; j++)
            lists[next[i] + j] =
                (rela_candidate){ (uint32_t)row, (int32_t)s->top[j],
                                  s->rows.logp[row] + rela_row_logp(s, row, s->top[j]) };
    }
    size_t n = 0;
    for (; n < most; n++) {
        const size_t i = best_of(lists, next, end, x->n);
        if (i == x->n)
            break;
        s->pool[n] = lists[next[i]++];
    }
    return n;
}

static size_t best_of(const rela_candidate *lists, const size_t *next, const size_t *end, size_t n)
{
    size_t best = n;
    for (size_t i = 0; i < n; i++)
        if (next[i] < end[i] && (best == n || lists[next[i]].logp > lists[next[best]].logp))
            best = i;
    return best;
}

/* Whether a live hypothesis of this log-probability, which can only fall, may still enter the
 * finished ones. The penalty is monotone in the length, so one of its ends is the best case. */
static bool can_improve(const rela_session *s, const rela_sentence *x, double logp)
{
    if (x->n_ended < s->width)
        return true;
    const double worst = x->ended[s->width - 1].score;
    const size_t now = s->rows.position[x->first] + 2; /* the symbol of this step and an end */
    return logp / rela_penalty(s->options, now) > worst ||
           logp / rela_penalty(s->options, x->limit) > worst;
}

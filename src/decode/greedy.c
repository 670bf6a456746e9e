/* SPDX-License-Identifier: MIT */
/* src/decode/greedy.c - always the most probable symbol. */
#include "decode/session.h"

static void choose(rela_session *s, rela_sentence *x);

const rela_strategy rela_strategy_greedy = { choose };

static void choose(rela_session *s, rela_sentence *x)
{
    for (size_t row = x->first; row < x->first + x->n; row++) {
        uint32_t best = 0;
        if (s->k->top(&best, s->logits + row * s->vocabulary, s->vocabulary, 1) == 0)
            continue;
        const double logp = s->rows.logp[row] + rela_row_logp(s, row, best);
        if (best == RELA_EOS)
            rela_session_end(s, x, row, logp);
        else
            rela_session_extend(s, row, (int32_t)best, logp);
    }
}

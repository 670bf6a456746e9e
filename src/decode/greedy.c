/* SPDX-License-Identifier: MIT */
/* src/decode/greedy.c - always the most probable symbol. */
#include "decode/searcher.h"

static void choose(rela_searcher *s, rela_sentence *x);

const rela_strategy rela_strategy_greedy = { choose };

static void choose(rela_searcher *s, rela_sentence *x)
{
    for (size_t row = x->first; row < x->first + x->n; row++) {
        if (s->n_best[row] == 0)
            continue;
        const uint32_t best = s->best_at[row * s->list];
        const double logp = s->rows.logp[row] + ((double)s->best[row * s->list] - s->lse[row]);
        if (best == RELA_EOS)
            rela_searcher_end(s, x, row, logp);
        else
            rela_searcher_extend(s, row, (int32_t)best, logp);
    }
}

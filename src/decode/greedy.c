/* SPDX-License-Identifier: MIT */
/* src/decode/greedy.c - always the most probable symbol. */
#include "decode/engine_state.h"

static void choose(rela_engine *e, rela_live *x);

const rela_strategy rela_strategy_greedy = { choose };

static void choose(rela_engine *e, rela_live *x)
{
    for (size_t row = x->first; row < x->first + x->n; row++) {
        if (e->n_best[row] == 0)
            continue;
        const uint32_t best = e->best_at[row * e->list];
        const double logp = e->rows.logp[row] + ((double)e->best[row * e->list] - e->lse[row]);
        if (best == RELA_EOS)
            rela_engine_end(e, x, row, logp);
        else
            rela_engine_extend(e, row, (int32_t)best, logp);
    }
}

/* SPDX-License-Identifier: MIT */
/* src/decode/hypotheses.c - turns chains of nodes into arrays of ids. */
#include "decode/engine_state.h"

#include <string.h>

static rela_status fill(const rela_live *x, rela_hypothesis *h, const rela_ended *ended,
                        rela_arena *arena, rela_error *err);

/* The translation of an empty source, or where logits were not finite. */
static const int32_t NO_IDS[1] = { RELA_EOS };
static const real NO_LOGPS[1] = { 0 };
static const rela_hypothesis EMPTY = { .ids = NO_IDS, .complete = true, .logps = NO_LOGPS };

rela_status rela_live_result(const rela_live *x, rela_search_result *out, rela_arena *arena,
                             rela_error *err)
{
    *out = (rela_search_result){ .best = &EMPTY, .n = 1, .not_finite = x->not_finite };
    if (x->not_finite || rela_source_longest(&x->source) == 0)
        return RELA_OK;
    const size_t kept = x->n_ended < x->options->n_best ? x->n_ended : x->options->n_best;
    rela_hypothesis *best = rela_arena_alloc(arena, kept * sizeof *best);
    rela_status st = best ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for the results");
    for (size_t i = 0; i < kept && st == RELA_OK; i++)
        st = fill(x, &best[i], &x->ended[i], arena, err);
    out->best = best;
    out->n = kept;
    out->n_heads = x->n_heads;
    return st;
}

static rela_status fill(const rela_live *x, rela_hypothesis *h, const rela_ended *ended,
                        rela_arena *arena, rela_error *err)
{
    const size_t n = ended->length, source = rela_source_rows(&x->source.text[x->options->source]);
    const size_t step = x->n_heads * source;
    int32_t *ids = rela_arena_alloc(arena, n * sizeof *ids);
    real *logps = rela_arena_alloc(arena, n * sizeof *logps);
    real *attention = x->n_heads ? rela_arena_alloc(arena, n * step * sizeof *attention) : NULL;
    if (!ids || !logps || (x->n_heads && !attention))
        return rela_fail(err, RELA_NOMEM, "no memory for the results");
    *h = (rela_hypothesis){ .ids = ids,
                            .n = n - ended->complete,
                            .complete = ended->complete,
                            .logp = ended->logp,
                            .score = ended->score,
                            .logps = logps,
                            .attention = attention };
    uint32_t at = ended->node;
    for (size_t t = n; t-- > 0; at = x->nodes[at].parent) {
        const rela_node *node = &x->nodes[at];
        ids[t] = node->token;
        logps[t] = node->logp;
        const real *record =
            x->n_heads ? x->records + node->record * x->n_heads * x->ld_record : NULL;
        for (size_t i = 0; record && i < x->n_heads; i++)
            memcpy(attention + t * step + i * source, record + i * x->ld_record,
                   source * sizeof *attention);
    }
    return RELA_OK;
}

/* SPDX-License-Identifier: MIT */
/* src/decode/hypotheses.c - turns chains of nodes into arrays of ids. */
#include "decode/searcher.h"

#include <string.h>

static rela_status fill(rela_searcher *s, rela_hypothesis *h, const rela_ended *e, size_t source,
                        rela_error *err);
static void *take(rela_searcher *s, size_t n, size_t size);

/* The translation of an empty source. */
static const int32_t NO_IDS[1] = { RELA_EOS };
static const real NO_LOGPS[1] = { 0 };
static const rela_hypothesis EMPTY = { .ids = NO_IDS, .complete = true, .logps = NO_LOGPS };

rela_status rela_searcher_results(rela_searcher *s, rela_search_result *results, size_t n,
                                  rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n; i++)
        results[i] = (rela_search_result){ .best = &EMPTY, .n = 1 };
    for (size_t i = 0; i < s->n_sentences && st == RELA_OK; i++) {
        const rela_sentence *x = &s->sentences[i];
        if (x->not_finite) {
            results[x->result].not_finite = true;
            continue;
        }
        const size_t kept = x->n_ended < s->options->n_best ? x->n_ended : s->options->n_best;
        rela_hypothesis *best = take(s, kept, sizeof *best);
        if (!best)
            return rela_fail(err, RELA_NOMEM, "no memory for the results");
        for (size_t j = 0; j < kept && st == RELA_OK; j++)
            st = fill(s, &best[j], &x->ended[j],
                      rela_source_rows(&x->source->text[s->options->source]), err);
        results[x->result] = (rela_search_result){ .best = best, .n = kept };
    }
    return st;
}

static void *take(rela_searcher *s, size_t n, size_t size)
{
    return rela_arena_alloc(s->arena, n * size);
}

static rela_status fill(rela_searcher *s, rela_hypothesis *h, const rela_ended *e, size_t source,
                        rela_error *err)
{
    int32_t *ids = take(s, e->length, sizeof *ids);
    real *logps = take(s, e->length, sizeof *logps);
    const size_t step = s->n_heads * source;
    real *attention = s->n_heads ? take(s, e->length * step, sizeof *attention) : NULL;
    if (!ids || !logps || (s->n_heads && !attention))
        return rela_fail(err, RELA_NOMEM, "no memory for the results");
    *h = (rela_hypothesis){ .ids = ids,
                            .n = e->length - e->complete,
                            .complete = e->complete,
                            .logp = e->logp,
                            .score = e->score,
                            .logps = logps,
                            .attention = attention };
    uint32_t at = e->node;
    for (size_t t = e->length; t-- > 0; at = s->nodes[at].parent) {
        const rela_node *node = &s->nodes[at];
        ids[t] = node->token;
        logps[t] = node->logp;
        const real *record =
            s->records ? s->records + node->record * s->n_heads * s->ld_record : NULL;
        for (size_t i = 0; record && i < s->n_heads; i++)
            memcpy(attention + t * step + i * source, record + i * s->ld_record,
                   source * sizeof *attention);
    }
    return RELA_OK;
}

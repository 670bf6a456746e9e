/* SPDX-License-Identifier: MIT */
/* src/decode/result_keep.c - copies of results, and what is kept of their attention. */
#include "decode/pool.h"

#include <string.h>

static void *copy(rela_arena *arena, const void *from, size_t n, size_t size)
{
    void *to = rela_arena_alloc(arena, n * size);
    if (to && n)
        memcpy(to, from, n * size);
    return to;
}

/* For each of n emitted symbols, the position of the source symbol with the largest weight summed
 * over the heads. */
static uint32_t *largest(rela_arena *arena, const real *attention, size_t n, size_t heads,
                         size_t source)
{
    uint32_t *places = rela_arena_alloc(arena, n * sizeof *places);
    for (size_t i = 0; places && i < n; i++) {
        double most = -1;
        places[i] = 0;
        for (size_t k = 0; k < source; k++) {
            double sum = 0;
            for (size_t h = 0; h < heads; h++)
                sum += (double)attention[(i * heads + h) * (source + 1) + k];
            if (sum > most) {
                most = sum;
                places[i] = (uint32_t)k;
            }
        }
    }
    return places;
}

/* The size of attention is source times target length: it is kept only on request. */
static bool keep_attention(rela_arena *arena, rela_hypothesis *h, const rela_source *source,
                           const rela_search_options *o, size_t heads)
{
    const size_t n = h->n + h->complete;
    const rela_source_text *text = &source->text[o->source];
    const real *attention = h->attention;
    h->attention = NULL;
    if (attention && text->n && o->heaviest &&
        !(h->heaviest = largest(arena, attention, n, heads, text->n)))
        return false;
    if (!attention || !o->attention || source->part)
        return true;
    h->attention = copy(arena, attention, n * heads * rela_source_rows(text), sizeof *attention);
    return h->attention != NULL;
}

rela_status rela_search_result_keep(rela_search_result *to, rela_arena *arena,
                                    const rela_search_result *from, const rela_source *source,
                                    const rela_search_options *o, rela_error *err)
{
    rela_hypothesis *best = copy(arena, from->best, from->n, sizeof *best);
    bool ok = best != NULL;
    for (size_t i = 0; ok && i < from->n; i++) {
        rela_hypothesis *h = &best[i];
        const size_t n = h->n + h->complete;
        h->ids = copy(arena, h->ids, h->n, sizeof *h->ids);
        h->logps = copy(arena, h->logps, n, sizeof *h->logps);
        ok = h->ids && h->logps && keep_attention(arena, h, source, o, from->n_heads);
    }
    *to = (rela_search_result){ best, from->n, from->not_finite, from->n_heads };
    return ok ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for the results");
}

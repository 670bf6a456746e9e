/* SPDX-License-Identifier: MIT */
/* src/metric/aer.c - alignment error rate (Och and Ney 2003): 1 - (|A&S| + |A&P|) / (|A| + |S|),
 * where the possible links P include the sure links S. */
#include "base/sized.h"
#include "rela/metric.h"

enum { LINKS, SURE, LINKS_SURE, LINKS_GOLD, GOLD };

static void compute(rela_aer_figures *out, const uint64_t *sums);
static double share(uint64_t part, uint64_t whole);

void rela_aer_count(uint32_t *stats, const rela_links *gold, const rela_links *found)
{
    for (int i = 0; i < RELA_AER_STATS; i++)
        stats[i] = 0;
    stats[LINKS] = (uint32_t)found->n;
    stats[GOLD] = (uint32_t)gold->n;
    for (size_t i = 0, j = 0; i < gold->n; i++) {
        const rela_link *g = &gold->items[i];
        stats[SURE] += !g->possible;
        while (j < found->n && (found->items[j].src < g->src ||
                                (found->items[j].src == g->src && found->items[j].tgt < g->tgt)))
            j++;
        if (j < found->n && found->items[j].src == g->src && found->items[j].tgt == g->tgt) {
            stats[LINKS_GOLD]++;
            stats[LINKS_SURE] += !g->possible;
        }
    }
}

rela_status rela_aer_figures_get(rela_aer_figures *out, const uint64_t *sums, rela_error *err)
{
    rela_aer_figures found;
    const rela_status st = rela_sized_check(out, sizeof *out, "rela_aer_figures", err);
    if (st != RELA_OK)
        return st;
    compute(&found, sums);
    rela_sized_give(out, &found, sizeof found);
    return RELA_OK;
}

double rela_aer_score_fn(const void *ctx, const uint64_t *sums)
{
    (void)ctx;
    rela_aer_figures f;
    compute(&f, sums);
    return 100 * f.aer;
}

static void compute(rela_aer_figures *out, const uint64_t *sums)
{
    const double precision = share(sums[LINKS_GOLD], sums[LINKS]);
    const double recall = share(sums[LINKS_SURE], sums[SURE]);
    const uint64_t both = sums[LINKS] + sums[SURE];
    *out = (rela_aer_figures){
        .aer = both ? 1 - share(sums[LINKS_SURE] + sums[LINKS_GOLD], both) : 0,
        .precision = precision,
        .recall = recall,
        .f1 = precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0,
        .n_links = sums[LINKS],
        .n_sure = sums[SURE],
        .n_gold = sums[GOLD],
    };
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

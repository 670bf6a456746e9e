/* SPDX-License-Identifier: MIT */
/* src/align/align_heads.c - chooses the heads with the lowest alignment error on lines with gold
 * links. */
#include "align/align_job.h"

static rela_status parse_gold(const rela_align_job *j, rela_align_worker *l, int d, size_t i,
                              uint64_t line, rela_error *err)
{
    const rela_watched *p = rela_align_pair(l, d, i);
    const rela_link_format form = { .struct_size = sizeof form,
                                    .base = j->o.gold_base,
                                    .reverse = (j->o.gold_reverse != 0) != (d == 1),
                                    .check = 1,
                                    .n_src = p->src[rela_align_source(j, d)].map.n_words,
                                    .n_tgt = p->tgt.map.n_words };
    const rela_span text = j->gold.items[line - 1];
    return rela_fail_at(err, rela_links_parse(&l->gold[d][i], text.text, text.len, &form, err),
                        j->o.best_on, line);
}

static rela_status score_heads(void *ctx, const rela_heads *h, rela_error *err)
{
    const rela_align_callback *e = ctx;
    rela_align_worker *l = e->l;
    return rela_head_aer_layer(&l->aer[e->direction], h, rela_align_pair(l, e->direction, h->pair),
                               &l->gold[e->direction][h->pair], err);
}

static rela_status score_all_heads(void *ctx, size_t pair, rela_error *err)
{
    const rela_align_callback *e = ctx;
    rela_align_worker *l = e->l;
    return rela_head_aer_ran(&l->aer[e->direction], pair, &l->gold[e->direction][pair], err);
}

static rela_status score_block(void *ctx, rela_rows *rows, int thread, rela_error *err)
{
    rela_align_job *j = ctx;
    rela_align_worker *l = &j->workers[thread];
    rela_status st = RELA_OK;
    for (int d = 0; d < j->n_directions && st == RELA_OK; d++) {
        rela_align_callback e = { j, l, d };
        const rela_watch watch = { .stacks = rela_align_stack(j, d),
                                   .on_heads = score_heads,
                                   .on_pair_end = score_all_heads,
                                   .ctx = &e };
        st = rela_align_load(j, l, d, rows, err);
        for (size_t i = 0; i < rows->n && st == RELA_OK; i++) {
            st = parse_gold(j, l, d, i, rows->first + i, err);
            if (st == RELA_OK && rela_align_pair(l, d, i)->state != RELA_WATCHED)
                rela_head_aer_missed(&l->aer[d], &l->gold[d][i]);
        }
        if (st == RELA_OK)
            st = rela_align_watch(j, l, d, rows, &watch, err);
    }
    return st;
}

static rela_status nothing(void *ctx, rela_rows *rows, rela_error *err)
{
    (void)ctx;
    (void)rows;
    (void)err;
    return RELA_OK;
}

static void log_choice(const rela_align_job *j, int d, double aer)
{
    const rela_head_choice *c = &j->choice[d];
    const rela_log *log = &j->models[0]->runtime->log;
    const char *const way = c->shift ? "shifted" : "normal", *side = d ? "reverse: " : "";
    char heads[64];
    if (c->layer < 0)
        rela_format_text(heads, sizeof heads, "mean of all layers and heads");
    else if (c->head < 0)
        rela_format_text(heads, sizeof heads, "layer %d, mean of its heads", c->layer + 1);
    else
        rela_format_text(heads, sizeof heads, "layer %d, head %d", c->layer + 1, c->head + 1);
    rela_log_line(log, RELA_LOG_INFO, "%sbest on %s: %s, %s attention (AER %.1f on %zu pair%s)",
                  side, j->o.best_on, heads, way, 100 * aer, j->gold.n, rela_plural(j->gold.n));
}

rela_status rela_align_choose(rela_align_job *j, rela_error *err)
{
    uint64_t n = 0;
    rela_status st = rela_text_lines_read(&j->gold, j->o.best_on, err);
    if (st == RELA_OK && j->gold.n == 0)
        st = rela_fail(err, RELA_FORMAT, "%s: no lines", j->o.best_on);
    const rela_steps steps = { .files = j->files,
                               .n_files = j->n_files,
                               .n_threads = j->n_workers,
                               .block_rows = RELA_ALIGN_ROWS,
                               .max_line = RELA_ALIGN_LINE,
                               .limit = j->gold.n,
                               .work = score_block,
                               .done = nothing,
                               .ctx = j };
    if (st == RELA_OK)
        st = rela_steps_run(&n, &steps, err);
    if (st == RELA_OK && n < j->gold.n)
        st = rela_fail(err, RELA_FORMAT, "%s has %zu line%s but %s has %llu", j->o.best_on,
                       j->gold.n, rela_plural(j->gold.n), j->o.src, (unsigned long long)n);
    for (int d = 0; d < j->n_directions && st == RELA_OK; d++) {
        rela_head_aer *sum = &j->workers[0].aer[d];
        for (int i = 1; i < j->n_workers; i++)
            rela_head_aer_add(sum, &j->workers[i].aer[d]);
        j->choice[d] = rela_head_aer_best(sum);
        *(d ? &j->report.reverse_aer : &j->report.aer) = rela_head_aer_get(sum, j->choice[d]);
        log_choice(j, d, rela_head_aer_get(sum, j->choice[d]));
    }
    j->report.dev_pairs = j->gold.n;
    return st;
}

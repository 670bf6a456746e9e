/* SPDX-License-Identifier: MIT */
/* src/analyse/analyse_examples.c - the attention maps of an example line, for figures. */
#include "analyse/analyse_job.h"
#include "base/mem.h"

#include <string.h>

enum { EXAMPLE_LEAST = 6, EXAMPLE_MOST = 18 };

static rela_status keep_layer(void *ctx, const rela_heads *h, rela_error *err)
{
    rela_example *e = ctx;
    if (h->layer != e->layer || h->n_k == 0)
        return RELA_OK;
    const size_t n = h->heads * h->n_q * h->n_k;
    e->w = rela_mem_array(n, sizeof *e->w);
    if (!e->w)
        return rela_fail(err, RELA_NOMEM, "no memory for an example");
    for (size_t i = 0; i < n; i++)
        e->w[i] = (double)h->w[i];
    e->heads = h->heads;
    e->n_q = h->n_q;
    e->n_k = h->n_k;
    return RELA_OK;
}

static const char **tokens_of(const rela_watched_text *t, const rela_vocab *v)
{
    const char **list = rela_mem_array(t->n, sizeof *list);
    for (size_t i = 0; list && i < t->n; i++)
        list[i] = rela_vocab_token(v, t->ids[i]);
    return list;
}

static rela_status fill_example(const rela_analyse_job *j, rela_example *e, size_t line,
                                size_t target, rela_error *err)
{
    rela_watcher *w = j->blocks[0].watcher;
    const rela_text_pair pair = rela_analyse_pair(j, line, target);
    const size_t stack = rela_block_list_cross(&j->model->net.list, j->source);
    const rela_watch watch = { .stacks = rela_watch_stack(stack),
                               .on_heads = keep_layer,
                               .ctx = e };
    rela_status st = rela_watcher_load(w, &pair, 1, err);
    if (st == RELA_OK)
        st = rela_watcher_run(w, &watch, err);
    if (st == RELA_OK && rela_watcher_not_finite(w, 1) < 1)
        st = rela_fail_not_finite(err, j->o.src, line + 1, "attention is");
    if (st != RELA_OK || !e->w)
        return st;
    const rela_watched *p = rela_watcher_pair(w, 0);
    e->rows = tokens_of(&p->tgt, rela_pipeline_vocab(j->model->pipeline, j->n_sources));
    e->columns = tokens_of(&p->src[j->source], rela_pipeline_vocab(j->model->pipeline, j->source));
    if (!e->rows || !e->columns)
        return rela_fail(err, RELA_NOMEM, "no memory for an example");
    e->line = line + 1;
    return RELA_OK;
}

static bool is_medium(const rela_analyse_job *j, size_t line)
{
    rela_watcher *w = j->blocks[0].watcher;
    const rela_text_pair pair = rela_analyse_pair(j, line, line);
    if (rela_watcher_load(w, &pair, 1, NULL) != RELA_OK)
        return false;
    const rela_watched *p = rela_watcher_pair(w, 0);
    const size_t src = p->src[j->source].n, tgt = p->tgt.n;
    return p->state == RELA_WATCHED && src >= EXAMPLE_LEAST && src <= EXAMPLE_MOST &&
           tgt >= EXAMPLE_LEAST && tgt <= EXAMPLE_MOST;
}

rela_status rela_analyse_examples(const rela_analyse_job *j, rela_error *err)
{
    rela_findings *f = j->found;
    size_t line = 0, layer = 0;
    while (!j->o.example && line + 1 < j->n && !is_medium(j, line))
        line++;
    if (j->o.example)
        line = (size_t)j->o.example - 1;
    const size_t cross = rela_block_list_cross(&f->net->list, j->source);
    for (size_t i = 1; i < f->text.stacks[cross].layers; i++)
        if (rela_spread_over_heads(&f->text, cross, i, rela_null_micro).mean >
            rela_spread_over_heads(&f->text, cross, layer, rela_null_micro).mean)
            layer = i;
    layer = j->o.layer >= 0 ? (size_t)j->o.layer : layer;
    f->example.layer = f->example_permuted.layer = layer;
    rela_status st = fill_example(j, &f->example, line, line, err);
    return st == RELA_OK ? fill_example(j, &f->example_permuted, line, j->order[line], err) : st;
}

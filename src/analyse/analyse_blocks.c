/* SPDX-License-Identifier: MIT */
/* src/analyse/analyse_blocks.c - runs the model on a block of pairs, measures and adds up. */
#include "analyse/analyse_job.h"
#include "base/line_rows.h"
#include "base/mem.h"

#include <string.h>

rela_status rela_analyse_block_start(rela_analyse_block *b, const rela_analyse_job *j, bool runs,
                                     rela_error *err)
{
    const rela_config *c = &j->model->net.config;
    rela_status st = RELA_OK;
    if (runs)
        st = rela_watcher_create(&b->watcher, &j->model->net, j->model->pipeline, err);
    if (st == RELA_OK)
        st = rela_measures_init(&b->measures, &j->model->net, err);
    if (st == RELA_OK)
        st = rela_head_aer_init(&b->aer, rela_config_layers(c, RELA_ATTN_CROSS), c->heads, 0, err);
    if (st == RELA_OK && j->tag_names)
        st = rela_tag_null_init(&b->tags, rela_config_layers(c, RELA_ATTN_CROSS), c->heads,
                                rela_map_size(j->tag_names), err);
    b->tag_of = rela_mem_array(BLOCK_PAIRS * RELA_WATCH_TOKENS_MAX, sizeof *b->tag_of);
    b->null = rela_mem_array(rela_analyse_nulls(j), sizeof *b->null);
    if (st == RELA_OK && !(b->tag_of && b->null))
        st = rela_fail(err, RELA_NOMEM, "no memory for a block of pairs");
    return st;
}

size_t rela_analyse_nulls(const rela_analyse_job *j)
{
    return j->n_sources * rela_config_layers(&j->model->net.config, RELA_ATTN_CROSS) * BLOCK_PAIRS;
}

/* The null rates of a layer for each pair of the block. */
static double *nulls_of(const rela_analyse_job *j, const rela_analyse_block *b, size_t source,
                        size_t layer)
{
    return b->null + (source * rela_config_layers(&j->model->net.config, RELA_ATTN_CROSS) + layer) *
                         BLOCK_PAIRS;
}

void rela_analyse_block_end(rela_analyse_block *b)
{
    rela_watcher_destroy(b->watcher);
    rela_measures_deinit(&b->measures);
    rela_head_aer_deinit(&b->aer);
    rela_tag_null_deinit(&b->tags);
    rela_dump_block_free(&b->dump);
    for (int i = 0; i < BLOCK_PAIRS; i++)
        rela_links_free(&b->gold[i]);
    rela_mem_free(b->tag_of);
    rela_mem_free(b->null);
    *b = (rela_analyse_block){ 0 };
}

/* Each block has its own sums, which are added up in order, so that results do not depend on the
 * number of threads, down to the last bit. */
static void block_clear(rela_analyse_block *b)
{
    rela_measures_clear(&b->measures);
    memset(b->aer.sums, 0, 2 * (b->aer.layers * (b->aer.heads + 1) + 1) * sizeof *b->aer.sums);
    b->aer.pairs = 0;
    if (b->tags.cells)
        memset(b->tags.cells, 0,
               b->tags.layers * b->tags.heads * b->tags.n_tags * sizeof *b->tags.cells);
    rela_dump_block_clear(&b->dump);
}

rela_text_pair rela_analyse_pair(const rela_analyse_job *j, size_t line, size_t target)
{
    rela_text_pair pair = { .tgt = j->files[TGT].items[target] };
    for (size_t i = 0; i < j->n_sources; i++)
        pair.src[i] = j->files[SRC + i].items[line];
    return pair;
}

rela_status rela_analyse_range_read(void *ctx, void *range, uint64_t want, uint64_t *n,
                                    rela_error *err)
{
    rela_analyse_job *j = ctx;
    rela_analyse_range *r = range;
    const size_t rest = j->n - j->next, most = want && want < BLOCK_PAIRS ? want : BLOCK_PAIRS;
    (void)err;
    *r = (rela_analyse_range){ j->next, rest < most ? rest : most };
    j->next += r->n;
    *n = r->n;
    return RELA_OK;
}

static void take_pairs(const rela_analyse_job *j, rela_analyse_block *b,
                       const rela_analyse_range *r)
{
    b->first = r->first;
    b->n = r->n;
    for (size_t i = 0; i < b->n; i++) {
        const size_t s = b->first + i, t = j->permuted ? j->order[s] : s;
        b->pairs[i] = rela_analyse_pair(j, s, t);
    }
}

typedef struct reader {
    const rela_analyse_job *j;
    rela_analyse_block *b;
} reader;

static rela_status on_heads(void *ctx, const rela_heads *h, rela_error *err)
{
    const reader *e = ctx;
    const rela_analyse_job *j = e->j;
    rela_analyse_block *b = e->b;
    const size_t number = b->first + h->pair;
    const rela_watched *p = rela_watcher_pair(b->watcher, h->pair);
    const bool cross = rela_attn_stack_cross(h->of), chosen = cross && h->of->keys == j->source;
    rela_status st = rela_measures_count(&b->measures, h, err);
    for (size_t k = 0; cross && k < h->heads; k++)
        nulls_of(j, b, h->of->keys, h->layer)[h->pair] += rela_head_null(h, k, j->o.skip_end != 0);
    if (j->permuted)
        return st;
    if (st == RELA_OK && chosen && number < j->files[GOLD].n)
        st = rela_head_aer_layer(&b->aer, h, p, &b->gold[h->pair], err);
    if (st == RELA_OK && chosen && b->notes[h->pair].tagged)
        rela_tag_null_count(&b->tags, h, p, b->tag_of + h->pair * RELA_WATCH_TOKENS_MAX);
    if (st == RELA_OK && j->dumps)
        st = rela_dump_add(&b->dump, h, number, err);
    return st;
}

static rela_status on_pair_end(void *ctx, size_t pair, rela_error *err)
{
    const reader *e = ctx;
    rela_analyse_block *b = e->b;
    if (e->j->permuted || b->first + pair >= e->j->files[GOLD].n)
        return RELA_OK;
    return rela_head_aer_ran(&b->aer, pair, &b->gold[pair], err);
}

rela_status rela_analyse_gold(rela_links *out, const rela_analyse_job *j, size_t line,
                              const rela_watched *p, rela_error *err)
{
    const rela_link_format form = { .struct_size = sizeof form,
                                    .base = j->o.gold_base,
                                    .reverse = j->o.gold_reverse,
                                    .check = 1,
                                    .n_src = p->src[j->source].map.n_words,
                                    .n_tgt = p->tgt.map.n_words };
    const rela_span text = j->files[GOLD].items[line];
    return rela_fail_at(err, rela_links_parse(out, text.text, text.len, &form, err), j->o.gold,
                        line + 1);
}

/* Gold links, tags and, for a dump, tokens of the pairs of a block. */
static rela_status load_notes(const rela_analyse_job *j, rela_analyse_block *b, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < b->n && st == RELA_OK; i++) {
        const rela_watched *p = rela_watcher_pair(b->watcher, i);
        const size_t line = b->first + i;
        if (j->tag_names && p->state == RELA_WATCHED)
            b->notes[i].tagged =
                rela_tags_find(b->tag_of + i * RELA_WATCH_TOKENS_MAX, RELA_WATCH_TOKENS_MAX,
                               j->tag_names, j->files[TAGS].items[line]) == p->tgt.map.n_words;
        if (line < j->files[GOLD].n) {
            st = rela_analyse_gold(&b->gold[i], j, line, p, err);
            if (st == RELA_OK && p->state != RELA_WATCHED)
                rela_head_aer_missed(&b->aer, &b->gold[i]);
        }
        if (st == RELA_OK && j->dumps)
            st = rela_dump_tokens(&b->dump, p, j->model->pipeline, err);
    }
    return st;
}

static void note_states(const rela_analyse_job *j, rela_analyse_block *b)
{
    for (size_t i = 0; i < b->n; i++) {
        const rela_watched *p = rela_watcher_pair(b->watcher, i);
        b->notes[i] = (rela_analyse_note){ .state = (uint8_t)p->state };
        for (size_t k = 0; k < j->n_sources; k++)
            b->notes[i].empty[k] = p->src[k].n == 0;
    }
}

rela_status rela_analyse_range_run(void *ctx, void *range, rela_buffer *result, int thread,
                                   rela_error *err)
{
    const rela_analyse_job *j = ctx;
    rela_analyse_block *b = &j->blocks[thread];
    reader e = { j, b };
    const rela_watch watch = {
        .stacks = RELA_WATCH_ALL, .on_heads = on_heads, .on_pair_end = on_pair_end, .ctx = &e
    };
    take_pairs(j, b, range);
    block_clear(b);
    b->measures.diversity = !j->permuted;
    b->measures.skip_end = j->o.skip_end != 0;
    memset(b->null, 0, rela_analyse_nulls(j) * sizeof *b->null);
    rela_status st = rela_watcher_load(b->watcher, b->pairs, b->n, err);
    if (st == RELA_OK)
        note_states(j, b);
    if (st == RELA_OK && !j->permuted)
        st = load_notes(j, b, err);
    if (st == RELA_OK)
        st = rela_watcher_run(b->watcher, &watch, err);
    const size_t odd = st == RELA_OK ? rela_watcher_not_finite(b->watcher, b->n) : b->n;
    if (odd < b->n)
        st = rela_fail_not_finite(err, j->o.src, b->first + odd + 1, "attention is");
    return st ? st : rela_analyse_block_pack(result, j, b, err);
}

static void count_pair(rela_analyse_job *j, const rela_analyse_block *b, size_t i)
{
    rela_findings *f = j->found;
    const rela_analyse_note *p = &b->notes[i];
    const rela_config *c = &f->net->config;
    const bool good = p->state == RELA_WATCHED;
    for (size_t k = 0; k < j->n_sources; k++) {
        double *to = f->pair_null[j->permuted] +
                     (k * j->n + b->first + i) * rela_config_layers(c, RELA_ATTN_CROSS);
        for (size_t layer = 0; layer < rela_config_layers(c, RELA_ATTN_CROSS); layer++)
            to[layer] = good ? nulls_of(j, b, k, layer)[i] / (double)c->heads : -1;
        f->source_empty[k] += good && !j->permuted && p->empty[k];
    }
    if (j->permuted)
        return;
    f->pairs += good;
    f->empty += p->state == RELA_WATCHED_EMPTY;
    f->untagged += good && j->tag_names && !p->tagged;
    f->too_long += p->state == RELA_WATCHED_LONG;
    if (p->state == RELA_WATCHED_LONG)
        rela_log_line(&j->model->runtime->log, RELA_LOG_WARNING,
                      "%s: line %zu: longer than %zu tokens: left out",
                      strcmp(j->o.src, "-") == 0 ? "standard input" : j->o.src, b->first + i + 1,
                      rela_watcher_limit(j->blocks[0].watcher) - 1);
}

rela_status rela_analyse_range_finish(void *ctx, void *range, const rela_buffer *result,
                                      rela_error *err)
{
    rela_analyse_job *j = ctx;
    const rela_analyse_range *r = range;
    rela_analyse_block *b = &j->sum;
    rela_findings *f = j->found;
    b->first = r->first;
    b->n = r->n;
    const rela_status st = rela_analyse_block_unpack(b, j, result, err);
    if (st != RELA_OK)
        return st;
    rela_measures_add(j->permuted ? &f->permuted : &f->text, &b->measures);
    for (size_t i = 0; i < b->n; i++)
        count_pair(j, b, i);
    if (!j->permuted && f->aer.sums)
        rela_head_aer_add(&f->aer, &b->aer);
    if (!j->permuted && f->tags.cells)
        rela_tag_null_add(&f->tags, &b->tags);
    j->done += b->n;
    if (j->o.progress && j->o.progress(j->o.progress_ctx, j->done, j->total))
        return rela_fail(err, RELA_CANCEL, "cancelled");
    return j->dump && !j->permuted ? rela_dump_write(j->dump, &b->dump, err) : RELA_OK;
}

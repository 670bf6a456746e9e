/* SPDX-License-Identifier: MIT */
/* src/decode/search_start.c - before the first step of a search: lengths, memory, the sources and
 * the first rows. */
#include "decode/searcher.h"

#include "base/mem.h"

#include <string.h>

static void set_limits(const rela_searcher *s, rela_sentence *x);
static rela_status reserve(rela_searcher *s, const rela_generator_size *size, rela_error *err);
static void plan(rela_searcher *s, rela_plan *p, const rela_generator_size *size);
static void load(rela_searcher *s, const rela_source *sources, size_t n);

rela_status rela_searcher_start(rela_searcher *s, const rela_source *sources, size_t n,
                                rela_error *err)
{
    rela_generator_size size = { .sentence_rows = s->width,
                                 .tapped = s->options->attention || s->options->heaviest };
    size_t rows[RELA_SOURCES_MAX] = { 0 };
    rela_arena_reset(s->arena);
    for (size_t i = 0; i < n; i++) {
        rela_sentence x = { .source = &sources[i] };
        const size_t longest = rela_source_longest(&sources[i]);
        if (longest == 0)
            continue;
        set_limits(s, &x);
        size.sentences++;
        size.src_len = longest + 1 > size.src_len ? longest + 1 : size.src_len;
        size.steps = x.limit > size.steps ? x.limit : size.steps;
        for (size_t k = 0; k < s->n_sources; k++)
            rows[k] += rela_source_rows(&sources[i].text[k]);
    }
    for (size_t k = 0; k < s->n_sources; k++)
        size.src_rows = rows[k] > size.src_rows ? rows[k] : size.src_rows;
    size.rows = size.sentences * s->width;
    rela_status st = rela_searcher_list_words(s, sources, n, err);
    size.chosen = s->chosen;
    st = st ? st : reserve(s, &size, err);
    if (st == RELA_OK)
        load(s, sources, n);
    return st;
}

/* Symbols of the longest and the shortest translation. */
static void set_limits(const rela_searcher *s, rela_sentence *x)
{
    const rela_search_options *o = s->options;
    const double n = (double)rela_source_longest(x->source);
    size_t most = SIZE_MAX;
    for (size_t i = 0; i < s->n_nets; i++)
        if (s->nets[i]->net->config.max_len < most)
            most = s->nets[i]->net->config.max_len;
    const double longest = o->max_factor * n + (double)o->max_extra;
    size_t limit = longest < 1 ? 1 : longest > (double)most ? most : (size_t)longest;
    limit = limit <= x->source->n_prefix ? x->source->n_prefix + 1 : limit;
    x->limit = limit < most ? limit : most;
    const double least = o->min_factor * n + (double)o->min_extra;
    x->least = least < 1 ? 1 : least > (double)x->limit ? x->limit : (size_t)least;
}

static rela_status reserve(rela_searcher *s, const rela_generator_size *size, rela_error *err)
{
    const rela_config *c = &s->nets[0]->net->config;
    const bool watched = s->options->attention || s->options->heaviest;
    s->n_heads = !watched ? 0 : s->options->heads ? s->options->n_heads : c->dec_layers * c->heads;
    s->ld_record = size->src_len;
    s->ld_history = size->steps;
    rela_plan p = { NULL, 0 };
    plan(s, &p, size);
    const size_t bytes = p.used + RELA_PLAN_ALIGN;
    if (bytes > s->block_bytes) {
        rela_mem_free(s->block);
        s->block = rela_mem_alloc(bytes);
        s->block_bytes = s->block ? bytes : 0;
        if (!s->block)
            return rela_fail(err, RELA_NOMEM, "no memory for %zu bytes of search state", bytes);
    }
    p = rela_plan_in(s->block);
    plan(s, &p, size);
    rela_status st = RELA_OK;
    for (size_t i = 0; i < s->n_nets && st == RELA_OK; i++)
        st = rela_generator_reserve(s->decoders[i], size, err);
    return st;
}

static void plan_rows(rela_live_rows *r, rela_plan *p, size_t n, size_t ld)
{
    r->token = rela_plan_take(p, n, sizeof *r->token);
    r->position = rela_plan_take(p, n, sizeof *r->position);
    r->sentence = rela_plan_take(p, n, sizeof *r->sentence);
    r->node = rela_plan_take(p, n, sizeof *r->node);
    r->sample = rela_plan_take(p, n, sizeof *r->sample);
    r->logp = rela_plan_take(p, n, sizeof *r->logp);
    r->history = rela_plan_take(p, n * ld, sizeof *r->history);
}

static void plan(rela_searcher *s, rela_plan *p, const rela_generator_size *size)
{
    const bool samples = s->strategy == &rela_strategy_sample;
    const size_t n = size->sentences;
    rela_ended *ended = rela_plan_take(p, n * 2 * s->width, sizeof *ended);
    s->sentences = rela_plan_take(p, n, sizeof *s->sentences);
    for (size_t i = 0; ended && i < n; i++)
        s->sentences[i].ended = ended + i * 2 * s->width;
    plan_rows(&s->rows, p, size->rows, s->ld_history);
    plan_rows(&s->next, p, size->rows, s->ld_history);
    s->logits = rela_plan_reals(p, size->rows * (s->whole ? s->most_words : RELA_SLICE));
    s->other = rela_plan_reals(p, s->n_nets > 1 ? size->rows * s->most_words : 0);
    s->lse = rela_plan_take(p, size->rows, sizeof *s->lse);
    s->sums = rela_plan_take(p, size->rows, sizeof *s->sums);
    s->best_at = rela_plan_take(p, size->rows * s->list, sizeof *s->best_at);
    s->best = rela_plan_reals(p, size->rows * s->list);
    s->n_best = rela_plan_take(p, size->rows, sizeof *s->n_best);
    s->forced = rela_plan_take(p, size->rows, sizeof *s->forced);
    s->pool = rela_plan_take(p, 2 * s->width, sizeof *s->pool);
    s->order = rela_plan_take(p, samples ? s->most_words : 0, sizeof *s->order);
    s->sorted = rela_plan_reals(p, samples ? s->most_words : 0);
    for (size_t k = 0; k < s->n_sources; k++) {
        s->src_ids[k] = rela_plan_take(p, size->src_rows, sizeof *s->src_ids[k]);
        s->src_at[k] = rela_plan_take(p, n + 1, sizeof *s->src_at[k]);
    }
}

/* Appends the text of the next sentence and its end symbol. */
static void load_text(rela_searcher *s, size_t k, const rela_source_text *t)
{
    size_t at = s->src_at[k][s->n_sentences];
    if (t->n) {
        memcpy(s->src_ids[k] + at, t->ids, t->n * sizeof *t->ids);
        at += t->n;
        s->src_ids[k][at++] = RELA_EOS;
    }
    s->src_at[k][s->n_sentences + 1] = (uint32_t)at;
}

/* Concatenates the sources; starts one row per sentence (or sample) at position 0. */
static void load(rela_searcher *s, const rela_source *sources, size_t n)
{
    const size_t start_rows = s->strategy == &rela_strategy_sample ? s->width : 1;
    s->n_sentences = s->rows.n = s->n_nodes = s->n_records = 0;
    for (size_t k = 0; k < s->n_sources; k++)
        s->src_at[k][0] = 0;
    for (size_t i = 0; i < n; i++) {
        if (rela_source_longest(&sources[i]) == 0)
            continue;
        rela_sentence *x = &s->sentences[s->n_sentences];
        *x = (rela_sentence){
            .source = &sources[i], .result = i, .ended = x->ended, .n_words = s->vocabulary
        };
        const size_t *own = s->chosen ? s->words_at + s->n_sentences : NULL;
        if (own && own[1] > own[0]) {
            x->words = s->words + own[0];
            x->n_words = own[1] - own[0];
        }
        set_limits(s, x);
        for (size_t k = 0; k < s->n_sources; k++)
            load_text(s, k, &sources[i].text[k]);
        for (size_t j = 0; j < start_rows; j++) {
            const size_t row = s->rows.n++;
            s->rows.token[row] = RELA_PAD;
            s->rows.position[row] = 0;
            s->rows.sentence[row] = (uint32_t)s->n_sentences;
            s->rows.node[row] = RELA_NO_NODE;
            s->rows.sample[row] = (uint32_t)j;
            s->rows.logp[row] = 0;
        }
        s->n_sentences++;
    }
    s->n_free = s->n_slots;
    for (size_t i = 0; i < s->n_slots; i++)
        s->free_slots[i] = (uint32_t)(s->n_slots - 1 - i);
}

/* SPDX-License-Identifier: MIT */
/* src/analyse/analyse_models.c - rela_analyse: runs every model over the text and over its permuted
 * permuted, and has the findings written. */
#include "analyse/dump.h"
#include "analyse/findings.h"
#include "base/file.h"
#include "base/line_rows.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/rng.h"
#include "base/sized.h"
#include "base/textlines.h"
#include "rela/analyse.h"
#include "session/session.h"

#include <string.h>

enum { BLOCK_PAIRS = 16, NAME_MAX_LEN = 64, EXAMPLE_LEAST = 6, EXAMPLE_MOST = 18, LONG_SHOWN = 5 };
enum { SRC, TGT = SRC + RELA_SOURCES_MAX, GOLD, TAGS, N_FILES };

/* Some pairs and what was found on them; one per thread. */
typedef struct block {
    size_t first, n;
    rela_watcher *watcher;
    rela_text_pair pairs[BLOCK_PAIRS];
    rela_measures measures;
    rela_head_aer aer;
    rela_tag_null tags;
    rela_dump_block dump;
    rela_links gold[BLOCK_PAIRS];
    uint32_t *tag_of; /* (BLOCK_PAIRS, RELA_WATCH_TOKENS_MAX) */
    bool tagged[BLOCK_PAIRS];
    double null[RELA_SOURCES_MAX]
               [BLOCK_PAIRS]; /* sum of null shares of the heads that attend to it */
} block;

typedef struct job {
    rela_analyse_options o;
    const rela_model *model;
    rela_findings *found;
    rela_text_lines files[N_FILES];
    size_t n_sources, source;
    size_t n;        /* pairs */
    uint32_t *order; /* of the targets in the permuted */
    rela_map *tag_names;
    bool permuted;
    size_t next;
    uint64_t done, total;
    block *blocks;
    int n_blocks;
    rela_dump *dump;
} job;

static rela_status check(const rela_analyse_options *o, const rela_model *const *models, size_t n,
                         rela_error *err);
static rela_status read_texts(job *j, rela_error *err);
static rela_status run_and_dump(job *j, const char *path, rela_error *err);
static rela_status run_model(job *j, rela_error *err);
static rela_status write_all(rela_buffer *table, rela_buffer *json, const rela_analysis *a,
                             const rela_analyse_options *o, rela_error *err);

void rela_analyse_options_init(rela_analyse_options *o, size_t size)
{
    const rela_analyse_options defaults = { .struct_size = size, .seed = 1, .layer = -1 };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_analyse(rela_buffer *table, rela_buffer *json, const rela_model *const *models,
                         size_t n, const rela_analyse_options *o, rela_error *err)
{
    job j = { .n = 0 };
    rela_analyse_options_init(&j.o, sizeof j.o);
    rela_status st = rela_sized_take(&j.o, sizeof j.o, o, "rela_analyse_options", err);
    if (st != RELA_OK)
        return st;
    char(*names)[NAME_MAX_LEN] = rela_mem_zalloc((n + 1) * sizeof *names);
    rela_findings *found = rela_mem_zalloc((n + 1) * sizeof *found);
    if (!names || !found)
        st = rela_fail(err, RELA_NOMEM, "no memory for %zu models", n);
    st = st ? st : check(&j.o, models, n, err);
    if (st == RELA_OK) {
        j.n_sources = models[0]->net.config.sources;
        j.source = (size_t)j.o.source;
        st = read_texts(&j, err);
    }
    if (st == RELA_OK)
        st = rela_dir_make(j.o.out, err);
    j.total = 2 * (uint64_t)n * j.n;
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        rela_format_text(names[i], sizeof names[i], "model %zu", i + 1);
        found[i].name = j.o.names ? j.o.names[i] : names[i];
        found[i].net = &models[i]->net;
        j.model = models[i];
        j.found = &found[i];
        st = run_and_dump(&j, i == 0 ? j.o.dump : NULL, err);
    }
    const rela_analysis a = { .models = found,
                              .n = n,
                              .n_sources = j.n_sources,
                              .source = j.source,
                              .tag_names = j.tag_names,
                              .src = j.o.src,
                              .tgt = j.o.tgt,
                              .seed = j.o.seed,
                              .lines = j.n,
                              .skip_end = j.o.skip_end != 0 };
    if (st == RELA_OK)
        st = write_all(table, json, &a, &j.o, err);
    for (size_t i = 0; found && i < n; i++)
        rela_findings_deinit(&found[i]);
    rela_mem_free(found);
    rela_mem_free(names);
    for (int i = 0; i < N_FILES; i++)
        rela_text_lines_free(&j.files[i]);
    rela_mem_free(j.order);
    rela_map_destroy(j.tag_names);
    return st;
}

static rela_status check(const rela_analyse_options *o, const rela_model *const *models, size_t n,
                         rela_error *err)
{
    const char *const texts[RELA_SOURCES_MAX] = { o->src, o->src_2, o->src_3, o->src_4 };
    rela_status st = RELA_OK;
    if (n == 0 || !o->src || !o->tgt || !o->out)
        return rela_fail(err, RELA_ARG, "a model, source, target and a directory are needed");
    if (o->gold_base < 0 || o->gold_base > 1)
        return rela_fail(err, RELA_ARG, "gold links count words from %d; expected 0 or 1",
                         o->gold_base);
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        st = rela_model_check_translates(models[i], err);
        st = st ? st : rela_model_check_full(models[i], err);
        st = st ? st : rela_model_check_texts(models[i], texts, o->source, err);
    }
    return st;
}

/* path NULL: attention is not dumped. */
static rela_status run_and_dump(job *j, const char *path, rela_error *err)
{
    rela_status st = path ? rela_dump_open(&j->dump, path, &j->model->net.list, err) : RELA_OK;
    if (st == RELA_OK)
        st = run_model(j, err);
    if (st == RELA_OK && j->dump)
        st = rela_dump_commit(j->dump, err);
    else
        rela_dump_abort(j->dump);
    j->dump = NULL;
    return st;
}

static rela_status write_all(rela_buffer *table, rela_buffer *json, const rela_analysis *a,
                             const rela_analyse_options *o, rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT, path = RELA_BUFFER_INIT;
    size_t n = 0;
    rela_figure *figures = rela_mem_array(RELA_FIGURES_MAX, sizeof *figures);
    rela_status st = figures ? rela_analysis_json(&text, a, err)
                             : rela_fail(err, RELA_NOMEM, "no memory for figures");
    if (st == RELA_OK)
        st = rela_buffer_printf(&path, err, "%s/analysis.json", o->out);
    if (st == RELA_OK)
        st = rela_file_write(path.data, text.data, text.len, err);
    if (st == RELA_OK)
        st = rela_analysis_tsv(o->out, a, err);
    if (st == RELA_OK)
        st = rela_analysis_figures(figures, &n, o->out, a, err);
    if (st == RELA_OK)
        st = rela_analysis_html(o->out, a, figures, n, err);
    if (st == RELA_OK && json)
        st = rela_buffer_append(json, text.data, text.len, err);
    if (st == RELA_OK && table)
        st = rela_analysis_table(table, a, err);
    rela_mem_free(figures);
    rela_buffer_free(&text);
    rela_buffer_free(&path);
    return st;
}

/* ---- text ---- */

/* Every pair gets the target of another: one cycle through all of them (Sattolo). */
static rela_status permute(job *j, rela_error *err)
{
    rela_rng r = rela_rng_start(j->o.seed, 0);
    j->order = rela_mem_array(j->n + 1, sizeof *j->order);
    if (!j->order)
        return rela_fail(err, RELA_NOMEM, "no memory to permute %zu lines", j->n);
    for (size_t i = 0; i < j->n; i++)
        j->order[i] = (uint32_t)i;
    for (size_t i = j->n; i > 1; i--) {
        const size_t k = (size_t)rela_rng_below(&r, i - 1);
        const uint32_t other = j->order[k];
        j->order[k] = j->order[i - 1];
        j->order[i - 1] = other;
    }
    return RELA_OK;
}

static rela_status name_tags(job *j, rela_error *err)
{
    static const char START[] = "(start)";
    j->tag_names = rela_map_create(0);
    if (!j->tag_names || rela_map_add(j->tag_names, START, sizeof START - 1) != 0)
        return rela_fail(err, RELA_NOMEM, "no memory for tags");
    for (size_t i = 0; i < j->n; i++) {
        const rela_span line = j->files[TAGS].items[i];
        const char *at = line.text;
        for (rela_span tag; rela_next_word(&tag, &at, line.text + line.len);) {
            const uint32_t number = rela_map_add(j->tag_names, tag.text, tag.len);
            if (number == RELA_MAP_NONE)
                return rela_fail(err, RELA_NOMEM, "no memory for tags");
            if (number >= RELA_TAGS_MAX)
                return rela_fail(err, RELA_FORMAT,
                                 "%s: line %zu: more than %d different tags; is it a tag file?",
                                 j->o.tags, i + 1, RELA_TAGS_MAX);
        }
    }
    return RELA_OK;
}

static rela_status read_texts(job *j, rela_error *err)
{
    const char *const paths[] = { j->o.src, j->o.src_2, j->o.src_3, j->o.src_4,
                                  j->o.tgt, j->o.gold,  j->o.tags };
    const rela_text_lines *f = j->files;
    rela_status st = RELA_OK;
    for (int i = 0; i < N_FILES && st == RELA_OK; i++)
        if (paths[i])
            st = rela_text_lines_read(&j->files[i], paths[i], err);
    if (st != RELA_OK)
        return st;
    for (int i = 1; i < N_FILES; i++) {
        const bool wrong = i == GOLD ? f[i].n > f[SRC].n : f[i].n != f[SRC].n;
        if (paths[i] && wrong)
            return rela_fail(err, RELA_FORMAT, "%s has %zu lines but %s has %zu", paths[SRC],
                             f[SRC].n, paths[i], f[i].n);
    }
    if (f[SRC].n == 0)
        return rela_fail(err, RELA_FORMAT, "%s: no lines", paths[SRC]);
    if (f[SRC].n > UINT32_MAX)
        return rela_fail(err, RELA_FORMAT, "%s: more than 2^32 lines", paths[SRC]);
    j->n = j->o.limit && j->o.limit < f[SRC].n ? (size_t)j->o.limit : f[SRC].n;
    if (j->o.example > j->n)
        return rela_fail(err, RELA_ARG, "%s: no line %llu; %zu are analysed", paths[SRC],
                         (unsigned long long)j->o.example, j->n);
    st = permute(j, err);
    return st == RELA_OK && paths[TAGS] ? name_tags(j, err) : st;
}

/* ---- blocks ---- */

static rela_status block_start(block *b, const job *j, rela_error *err)
{
    const rela_config *c = &j->model->net.config;
    rela_status st = rela_watcher_create(&b->watcher, &j->model->net, j->model->pipeline, err);
    if (st == RELA_OK)
        st = rela_measures_init(&b->measures, &j->model->net, err);
    if (st == RELA_OK)
        st = rela_head_aer_init(&b->aer, c->dec_layers, c->heads, 0, err);
    if (st == RELA_OK && j->tag_names)
        st =
            rela_tag_null_init(&b->tags, c->dec_layers, c->heads, rela_map_size(j->tag_names), err);
    b->tag_of = rela_mem_array(BLOCK_PAIRS * RELA_WATCH_TOKENS_MAX, sizeof *b->tag_of);
    if (st == RELA_OK && !b->tag_of)
        st = rela_fail(err, RELA_NOMEM, "no memory for tags");
    return st;
}

static void block_end(block *b)
{
    rela_watcher_destroy(b->watcher);
    rela_measures_deinit(&b->measures);
    rela_head_aer_deinit(&b->aer);
    rela_tag_null_deinit(&b->tags);
    rela_dump_block_free(&b->dump);
    for (int i = 0; i < BLOCK_PAIRS; i++)
        rela_links_free(&b->gold[i]);
    rela_mem_free(b->tag_of);
}

/* Sums of a block are its own, and are added up in order: then no bit depends on the threads. */
static void block_clear(block *b)
{
    rela_measures_clear(&b->measures);
    memset(b->aer.sums, 0, 2 * (b->aer.layers * (b->aer.heads + 1) + 1) * sizeof *b->aer.sums);
    b->aer.pairs = 0;
    if (b->tags.cells)
        memset(b->tags.cells, 0,
               b->tags.layers * b->tags.heads * b->tags.n_tags * sizeof *b->tags.cells);
    rela_dump_block_clear(&b->dump);
}

/* A line of the sources with one of the targets. */
static rela_text_pair pair_at(const job *j, size_t line, size_t target)
{
    rela_text_pair pair = { .tgt = j->files[TGT].items[target] };
    for (size_t i = 0; i < j->n_sources; i++)
        pair.src[i] = j->files[SRC + i].items[line];
    return pair;
}

static rela_status read_block(void *ctx, void *item, bool *more, rela_error *err)
{
    job *j = ctx;
    block *b = item;
    (void)err;
    const size_t rest = j->n - j->next;
    b->first = j->next;
    b->n = rest < BLOCK_PAIRS ? rest : BLOCK_PAIRS;
    j->next += b->n;
    *more = b->n > 0;
    for (size_t i = 0; i < b->n; i++) {
        const size_t s = b->first + i, t = j->permuted ? j->order[s] : s;
        b->pairs[i] = pair_at(j, s, t);
    }
    return RELA_OK;
}

typedef struct ear {
    const job *j;
    block *b;
} ear;

static rela_status see(void *ctx, const rela_heads *h, rela_error *err)
{
    const ear *e = ctx;
    const job *j = e->j;
    block *b = e->b;
    const size_t number = b->first + h->pair;
    const rela_watched *p = rela_watcher_pair(b->watcher, h->pair);
    const bool cross = rela_attn_stack_cross(h->of), chosen = cross && h->of->keys == j->source;
    rela_status st = rela_measures_see(&b->measures, h, err);
    for (size_t k = 0; cross && k < h->heads; k++)
        b->null[h->of->keys][h->pair] += rela_head_null(h, k, j->o.skip_end != 0);
    if (j->permuted)
        return st;
    if (st == RELA_OK && chosen && number < j->files[GOLD].n)
        st = rela_head_aer_layer(&b->aer, h, p, &b->gold[h->pair], err);
    if (st == RELA_OK && chosen && b->tagged[h->pair])
        rela_tag_null_see(&b->tags, h, p, b->tag_of + h->pair * RELA_WATCH_TOKENS_MAX);
    if (st == RELA_OK && j->dump)
        st = rela_dump_see(&b->dump, h, number, err);
    return st;
}

static rela_status ran(void *ctx, size_t pair, rela_error *err)
{
    const ear *e = ctx;
    block *b = e->b;
    if (e->j->permuted || b->first + pair >= e->j->files[GOLD].n)
        return RELA_OK;
    return rela_head_aer_ran(&b->aer, pair, &b->gold[pair], err);
}

/* Gold links and tags of the pairs of a block. */
static rela_status load_notes(const job *j, block *b, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < b->n && st == RELA_OK; i++) {
        const rela_watched *p = rela_watcher_pair(b->watcher, i);
        const size_t line = b->first + i;
        b->tagged[i] = false;
        if (j->tag_names && p->state == RELA_WATCHED)
            b->tagged[i] =
                rela_tags_find(b->tag_of + i * RELA_WATCH_TOKENS_MAX, RELA_WATCH_TOKENS_MAX,
                               j->tag_names, j->files[TAGS].items[line]) == p->tgt.map.n_words;
        if (line < j->files[GOLD].n) {
            const rela_link_format form = { .struct_size = sizeof form,
                                            .base = j->o.gold_base,
                                            .reverse = j->o.gold_reverse,
                                            .check = 1,
                                            .n_src = p->src[j->source].map.n_words,
                                            .n_tgt = p->tgt.map.n_words };
            const rela_span text = j->files[GOLD].items[line];
            st = rela_fail_at(err, rela_links_parse(&b->gold[i], text.text, text.len, &form, err),
                              j->o.gold, line + 1);
            if (st == RELA_OK && p->state != RELA_WATCHED)
                rela_head_aer_missed(&b->aer, &b->gold[i]);
        }
        if (st == RELA_OK && j->dump)
            st = rela_dump_tokens(&b->dump, p, j->model->pipeline, err);
    }
    return st;
}

static rela_status work_block(void *ctx, void *item, int thread, rela_error *err)
{
    const job *j = ctx;
    block *b = item;
    ear e = { j, b };
    const rela_watch watch = {
        .stacks = RELA_WATCH_ALL, .on_heads = see, .on_pair_end = ran, .ctx = &e
    };
    (void)thread;
    block_clear(b);
    b->measures.diversity = !j->permuted;
    b->measures.skip_end = j->o.skip_end != 0;
    memset(b->null, 0, sizeof b->null);
    rela_status st = rela_watcher_load(b->watcher, b->pairs, b->n, err);
    if (st == RELA_OK && !j->permuted)
        st = load_notes(j, b, err);
    if (st == RELA_OK)
        st = rela_watcher_run(b->watcher, &watch, err);
    const size_t odd = st == RELA_OK ? rela_watcher_not_finite(b->watcher, b->n) : b->n;
    return odd < b->n ? rela_fail_not_finite(err, j->o.src, b->first + odd + 1, "attention is")
                      : st;
}

static void count_pair(job *j, const block *b, size_t i)
{
    rela_findings *f = j->found;
    const rela_watched *p = rela_watcher_pair(b->watcher, i);
    const rela_config *c = &f->net->config;
    const bool good = p->state == RELA_WATCHED;
    for (size_t k = 0; k < j->n_sources; k++) {
        f->pair_null[j->permuted][k * j->n + b->first + i] =
            good ? b->null[k][i] / (double)(c->dec_layers * c->heads) : -1;
        f->source_empty[k] += good && !j->permuted && p->src[k].n == 0;
    }
    if (j->permuted)
        return;
    f->pairs += good;
    f->empty += p->state == RELA_WATCHED_EMPTY;
    f->untagged += good && j->tag_names && !b->tagged[i];
    if (p->state == RELA_WATCHED_LONG && f->too_long++ < LONG_SHOWN)
        rela_log_line(&j->model->runtime->log, RELA_LOG_WARNING,
                      "line %zu: longer than %zu tokens: left out", b->first + i + 1,
                      rela_watcher_limit(b->watcher) - 1);
}

static rela_status finish_block(void *ctx, void *item, rela_error *err)
{
    job *j = ctx;
    block *b = item;
    rela_findings *f = j->found;
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

/* ---- examples ---- */

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

static rela_status draw_example(const job *j, rela_example *e, size_t line, size_t target,
                                rela_error *err)
{
    rela_watcher *w = j->blocks[0].watcher;
    const rela_text_pair pair = pair_at(j, line, target);
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

static bool is_medium(const job *j, size_t line)
{
    rela_watcher *w = j->blocks[0].watcher;
    const rela_text_pair pair = pair_at(j, line, line);
    if (rela_watcher_load(w, &pair, 1, NULL) != RELA_OK)
        return false;
    const rela_watched *p = rela_watcher_pair(w, 0);
    const size_t src = p->src[j->source].n, tgt = p->tgt.n;
    return p->state == RELA_WATCHED && src >= EXAMPLE_LEAST && src <= EXAMPLE_MOST &&
           tgt >= EXAMPLE_LEAST && tgt <= EXAMPLE_MOST;
}

static rela_status find_examples(const job *j, rela_error *err)
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
    rela_status st = draw_example(j, &f->example, line, line, err);
    return st == RELA_OK ? draw_example(j, &f->example_permuted, line, j->order[line], err) : st;
}

/* ---- a model ---- */

static rela_status start_findings(const job *j, rela_error *err)
{
    rela_findings *f = j->found;
    const rela_config *c = &f->net->config;
    rela_status st = rela_measures_init(&f->text, f->net, err);
    if (st == RELA_OK)
        st = rela_measures_init(&f->permuted, f->net, err);
    if (st == RELA_OK && j->o.gold)
        st = rela_head_aer_init(&f->aer, c->dec_layers, c->heads, 0, err);
    if (st == RELA_OK && j->tag_names)
        st =
            rela_tag_null_init(&f->tags, c->dec_layers, c->heads, rela_map_size(j->tag_names), err);
    for (int i = 0; i < 2 && st == RELA_OK; i++)
        if (!(f->pair_null[i] = rela_mem_array(j->n_sources * j->n, sizeof(double))))
            st = rela_fail(err, RELA_NOMEM, "no memory for %zu pairs", j->n);
    if (st == RELA_OK && (j->o.layer < -1 || j->o.layer >= (int32_t)c->dec_layers))
        st = rela_fail(err, RELA_ARG, "no layer %lld; %s has %zu", 1 + (long long)j->o.layer,
                       f->name, c->dec_layers);
    return st;
}

static void log_left_out(const job *j)
{
    const rela_findings *f = j->found;
    const rela_log *log = &j->model->runtime->log;
    if (f->too_long > LONG_SHOWN)
        rela_log_line(log, RELA_LOG_WARNING, "%s: %llu pairs were too long in all", f->name,
                      (unsigned long long)f->too_long);
    if (f->untagged)
        rela_log_line(log, RELA_LOG_WARNING,
                      "%s: %llu lines have another number of tags than of words and do not count "
                      "for tags",
                      f->name, (unsigned long long)f->untagged);
}

/* By the mean over the sources, then by each. */
static rela_status find_auc(const job *j, rela_error *err)
{
    rela_findings *f = j->found;
    double *means = rela_mem_zalloc(2 * j->n * sizeof *means);
    if (!means)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu pairs", j->n);
    for (size_t i = 0; i < 2 * j->n; i++)
        for (size_t k = 0; k < j->n_sources; k++)
            means[i] += f->pair_null[i / j->n][k * j->n + i % j->n] / (double)j->n_sources;
    f->auc = rela_auc(means, j->n, means + j->n, j->n);
    for (size_t k = 0; k < j->n_sources; k++)
        f->source_auc[k] =
            rela_auc(f->pair_null[0] + k * j->n, j->n, f->pair_null[1] + k * j->n, j->n);
    rela_mem_free(means);
    return RELA_OK;
}

static rela_status run_model(job *j, rela_error *err)
{
    const int n = j->model->runtime->n_threads;
    void **blocks = rela_mem_zalloc((size_t)n * sizeof *blocks);
    j->blocks = rela_mem_zalloc((size_t)n * sizeof *j->blocks);
    rela_status st = blocks && j->blocks
                         ? start_findings(j, err)
                         : rela_fail(err, RELA_NOMEM, "no memory for %d threads", n);
    for (int i = 0; i < n && st == RELA_OK; i++) {
        blocks[i] = &j->blocks[i];
        st = block_start(&j->blocks[i], j, err);
    }
    const rela_pipe pipe = { .read = read_block,
                             .work = work_block,
                             .write = finish_block,
                             .ctx = j,
                             .blocks = blocks,
                             .n_threads = n };
    for (int permuted = 0; permuted < 2 && st == RELA_OK; permuted++) {
        j->permuted = permuted == 1;
        j->next = 0;
        st = rela_pipe_run(&pipe, err);
    }
    if (st == RELA_OK && j->found->pairs == 0)
        st = rela_fail(err, RELA_FORMAT, "%s: no pair could be run", j->o.src);
    if (st == RELA_OK)
        st = find_examples(j, err);
    if (st == RELA_OK)
        st = find_auc(j, err);
    if (st == RELA_OK)
        log_left_out(j);
    for (int i = 0; j->blocks && i < n; i++)
        block_end(&j->blocks[i]);
    rela_mem_free(j->blocks);
    rela_mem_free(blocks);
    return st;
}

/* SPDX-License-Identifier: MIT */
/* src/analyse/analyse_examples.c - the attention maps of an example line, for figures. */
#include "analyse/analyse_job.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <string.h>

enum { EXAMPLE_LEAST = 6, EXAMPLE_MOST = 18 };

/* Context of keep_layer: the example to fill and its pair. */
typedef struct filler {
    const rela_analyse_job *j;
    rela_example *e;
    const rela_watched *pair;
} filler;

static const rela_watched_text *source_of(const filler *f)
{
    return &f->pair->src[f->j->source];
}

/* Adds <eos> as a word of its own. */
static rela_word_map with_end(const rela_word_map *m)
{
    return (rela_word_map){ m->word_of, m->n_pieces + 1, m->n_words + 1 };
}

static rela_status keep_layer(void *ctx, const rela_heads *h, rela_error *err)
{
    const filler *f = ctx;
    rela_example *e = f->e;
    if (h->layer != e->layer || h->n_k == 0)
        return RELA_OK;
    const rela_word_map rows = with_end(&f->pair->tgt.map);
    const size_t n = e->n_q * e->n_k, pieces = h->n_q * h->n_k;
    real *merged = rela_mem_array(n, sizeof *merged);
    e->w = rela_mem_array(h->heads * n, sizeof *e->w);
    e->heads = h->heads;
    for (size_t k = 0; merged && e->w && k < h->heads; k++) {
        const real *w = h->w + k * pieces;
        if (e->words)
            rela_words_merge(merged, w, h->n_k, &source_of(f)->map, &rows);
        for (size_t i = 0; i < n; i++)
            e->w[k * n + i] = (double)(e->words ? merged : w)[i];
    }
    rela_mem_free(merged);
    return merged && e->w ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for an example");
}

/* ---- labels of rows and columns ---- */

static rela_status add_label(rela_buffer *out, rela_span text, rela_error *err)
{
    char label[RELA_LABEL_SIZE];
    rela_label_make(label, text);
    const rela_status st = rela_buffer_append_text(out, label, err);
    return st == RELA_OK ? rela_buffer_append_char(out, '\0', err) : st;
}

static rela_status add_piece(rela_buffer *out, const filler *f, size_t side, int32_t id,
                             rela_error *err)
{
    const char *text = rela_vocab_token(rela_pipeline_vocab(f->j->model->pipeline, side), id);
    return add_label(out, (rela_span){ text, strlen(text) }, err);
}

static rela_status add_words(rela_buffer *out, size_t *n, const filler *f, size_t side,
                             rela_span line, rela_error *err)
{
    rela_buffer words = RELA_BUFFER_INIT;
    rela_status st = rela_watcher_words(&words, f->j->sum.watcher, side, line, err);
    const char *at = words.data, *end = at + words.len;
    *n = 0;
    for (rela_span word; st == RELA_OK && words.len && rela_next_word(&word, &at, end); ++*n)
        st = add_label(out, word, err);
    rela_buffer_free(&words);
    return st;
}

/* Labels of the words or subwords of a text, including <eos>. The list is given, its items point
 * into texts. */
static rela_status name_text(const char ***list, rela_buffer *texts, const filler *f, size_t side,
                             const rela_watched_text *t, rela_error *err)
{
    const size_t n = f->e->words ? t->map.n_words + 1 : t->n;
    rela_status st = RELA_OK;
    for (size_t i = f->e->words ? t->n - 1 : 0; i < t->n && st == RELA_OK; i++)
        st = add_piece(texts, f, side, t->ids[i], err);
    *list = rela_mem_array(n, sizeof **list);
    if (st == RELA_OK && !*list)
        st = rela_fail(err, RELA_NOMEM, "no memory for an example");
    const char *at = texts->data;
    for (size_t i = 0; i < n && st == RELA_OK; i++, at += strlen(at) + 1)
        (*list)[i] = at;
    return st;
}

static rela_status name_example(const filler *f, const rela_text_pair *lines, rela_error *err)
{
    rela_example *e = f->e;
    const rela_watched_text *src = source_of(f), *tgt = &f->pair->tgt;
    const size_t source = f->j->source, target = f->j->n_sources;
    size_t n_src = 0, n_tgt = 0;
    rela_status st = RELA_OK;
    if (!f->j->o.pieces)
        st = add_words(&e->texts[0], &n_tgt, f, target, lines->tgt, err);
    if (st == RELA_OK && !f->j->o.pieces)
        st = add_words(&e->texts[1], &n_src, f, source, lines->src[source], err);
    /* A word with unusual white space in it gives several labels; then use subwords instead. */
    e->words = !f->j->o.pieces && n_src == src->map.n_words && n_tgt == tgt->map.n_words;
    for (int i = 0; i < 2 && !e->words; i++)
        rela_buffer_clear(&e->texts[i]);
    e->n_q = e->words ? n_tgt + 1 : tgt->n;
    e->n_k = e->words ? n_src + 1 : src->n;
    if (st == RELA_OK)
        st = name_text(&e->rows, &e->texts[0], f, target, tgt, err);
    return st == RELA_OK ? name_text(&e->columns, &e->texts[1], f, source, src, err) : st;
}

/* ---- gold links ---- */

/* The rows or columns that belong to a word. */
static void span_of(size_t *first, size_t *n, const filler *f, const rela_word_map *m, size_t word)
{
    size_t i = 0, end = 0;
    while (i < m->n_pieces && m->word_of[i] < word)
        i++;
    for (end = i; end < m->n_pieces && m->word_of[end] == word;)
        end++;
    *first = f->e->words ? word : i;
    *n = f->e->words ? 1 : end - i;
}

static rela_status outline_gold(const filler *f, size_t line, rela_error *err)
{
    rela_example *e = f->e;
    rela_links links = { NULL, 0, 0 };
    const rela_word_map *src = &source_of(f)->map, *tgt = &f->pair->tgt.map;
    rela_status st = rela_analyse_gold(&links, f->j, line, f->pair, err);
    e->gold = rela_mem_array(links.n + 1, sizeof *e->gold);
    if (st == RELA_OK && !e->gold)
        st = rela_fail(err, RELA_NOMEM, "no memory for %zu links", links.n);
    for (size_t i = 0; i < links.n && st == RELA_OK; i++) {
        rela_outline *o = &e->gold[e->n_gold++];
        span_of(&o->row, &o->n_rows, f, tgt, links.items[i].tgt);
        span_of(&o->column, &o->n_columns, f, src, links.items[i].src);
        o->dashed = links.items[i].possible != 0;
    }
    rela_links_free(&links);
    return st;
}

static rela_status fill_example(const rela_analyse_job *j, rela_example *e, size_t line,
                                size_t target, rela_error *err)
{
    rela_watcher *w = j->sum.watcher;
    const rela_text_pair pair = rela_analyse_pair(j, line, target);
    const size_t stack = rela_block_list_cross(&j->model->net.list, j->source);
    filler f = { j, e, NULL };
    const rela_watch watch = { .stacks = rela_watch_stack(stack),
                               .on_heads = keep_layer,
                               .ctx = &f };
    rela_status st = rela_watcher_load(w, &pair, 1, err);
    if (st != RELA_OK)
        return st;
    f.pair = rela_watcher_pair(w, 0);
    if (f.pair->state != RELA_WATCHED || source_of(&f)->n == 0)
        return RELA_OK;
    st = name_example(&f, &pair, err);
    const rela_span both[] = { pair.src[j->source], pair.tgt };
    for (int i = 0; i < 2 && st == RELA_OK; i++) {
        st = rela_buffer_append(&e->sentence[i], both[i].text, both[i].len, err);
        st = st ? st : rela_buffer_append_char(&e->sentence[i], '\0', err);
        if (st == RELA_OK)
            rela_utf8_make_printable(e->sentence[i].data);
    }
    if (st == RELA_OK && line == target && line < j->files[GOLD].n)
        st = outline_gold(&f, line, err);
    if (st == RELA_OK)
        st = rela_watcher_run(w, &watch, err);
    if (st == RELA_OK && rela_watcher_not_finite(w, 1) < 1)
        st = rela_fail_not_finite(err, j->o.src, line + 1, "attention is");
    e->line = line + 1;
    e->target = target + 1;
    return st;
}

static bool is_medium(const rela_analyse_job *j, size_t line)
{
    rela_watcher *w = j->sum.watcher;
    const rela_text_pair pair = rela_analyse_pair(j, line, line);
    if (rela_watcher_load(w, &pair, 1, NULL) != RELA_OK)
        return false;
    const rela_watched *p = rela_watcher_pair(w, 0);
    const size_t src = p->src[j->source].n, tgt = p->tgt.n;
    return p->state == RELA_WATCHED && src >= EXAMPLE_LEAST && src <= EXAMPLE_MOST &&
           tgt >= EXAMPLE_LEAST && tgt <= EXAMPLE_MOST;
}

/* The first line of medium length in the subwords of the current model. */
static size_t choose_line(const rela_analyse_job *j)
{
    size_t line = 0;
    if (j->o.example >= 0)
        return (size_t)j->o.example;
    while (line + 1 < j->n && !is_medium(j, line))
        line++;
    return line;
}

static double null_rate(const rela_analyse_job *j, const rela_findings *f, size_t layer)
{
    const size_t cross = rela_block_list_cross(&f->net->list, j->source);
    return rela_spread_over_heads(&f->text, cross, layer, rela_null_micro).mean;
}

/* The layer with the highest null rate of any model, among those that all models have; the last of
 * these if there is no null attention. */
static size_t choose_layer(const rela_analyse_job *j, const rela_findings *found, size_t n)
{
    size_t layers = SIZE_MAX;
    double high = 0;
    if (j->o.layer >= 0)
        return (size_t)j->o.layer;
    for (size_t i = 0; i < n; i++) {
        const size_t has = rela_config_layers(&found[i].net->config, RELA_ATTN_CROSS);
        layers = has < layers ? has : layers;
    }
    size_t best = layers - 1;
    for (size_t k = 0; k < layers; k++)
        for (size_t i = 0; i < n; i++)
            if (null_rate(j, &found[i], k) > high) {
                high = null_rate(j, &found[i], k);
                best = k;
            }
    return best;
}

rela_status rela_analyse_examples(rela_analyse_job *j, rela_findings *found,
                                  const rela_model *const *models, size_t n, rela_error *err)
{
    const size_t layer = choose_layer(j, found, n);
    size_t line = 0;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        rela_findings *f = j->found = &found[i];
        j->model = models[i];
        st = rela_analyse_block_start(&j->sum, j, true, err);
        if (st == RELA_OK && i == 0)
            line = choose_line(j);
        f->example.layer = f->example_permuted.layer = layer;
        if (st == RELA_OK)
            st = fill_example(j, &f->example, line, line, err);
        if (st == RELA_OK)
            st = fill_example(j, &f->example_permuted, line, j->order[line], err);
        rela_analyse_block_end(&j->sum);
    }
    return st;
}

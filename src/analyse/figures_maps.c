/* SPDX-License-Identifier: MIT */
/* src/analyse/figures_maps.c - heatmaps of an analysis: null rates by head, null rates by part of
 * speech, attention on an example. */
#include "analyse/figures.h"

#include "base/mem.h"
#include "figure/heatmap.h"

#include <math.h>

enum { LABEL_MAX = 96, TITLE_MAX = 320 };

/* Values and labels of several heatmaps with the same rows and columns. */
typedef struct grid {
    char (*texts)[LABEL_MAX]; /* rows, then columns */
    const char **names;       /* pointers to texts */
    double *values;
    size_t n_rows, n_columns;
} grid;

static rela_status grid_make(grid *m, size_t n_rows, size_t n_columns, size_t n_maps,
                             rela_error *err)
{
    *m = (grid){ .n_rows = n_rows, .n_columns = n_columns };
    m->texts = rela_mem_zalloc((n_rows + n_columns + 1) * sizeof *m->texts);
    m->names = rela_mem_array(n_rows + n_columns + 1, sizeof *m->names);
    m->values = rela_mem_array(n_maps * n_rows * n_columns, sizeof *m->values);
    if (!m->texts || !m->names || !m->values)
        return rela_fail(err, RELA_NOMEM, "no memory for a figure");
    for (size_t i = 0; i < n_rows + n_columns; i++)
        m->names[i] = m->texts[i];
    return RELA_OK;
}

static void grid_free(grid *m)
{
    rela_mem_free(m->texts);
    rela_mem_free((void *)m->names);
    rela_mem_free(m->values);
}

/* Heatmap k. */
static rela_heatmap grid_map(const grid *m, size_t k, const char *title)
{
    return (rela_heatmap){ .title = title,
                           .rows = m->names,
                           .columns = m->names + m->n_rows,
                           .n_rows = m->n_rows,
                           .n_columns = m->n_columns,
                           .values = m->values + k * m->n_rows * m->n_columns,
                           .high = 1,
                           .numbers = true };
}

/* A page of heatmaps. */
typedef struct page {
    const rela_heatmap *maps;
    size_t n;
    const char *caption;
} page;

static rela_status save_page(const void *drawing, double width, rela_file_set *set,
                             const char *path, rela_error *err)
{
    const page *p = drawing;
    return rela_heatmaps_save(p->maps, p->n, width, p->caption, set, path, err);
}

static void name_heads(const grid *m)
{
    for (size_t i = 0; i < m->n_rows; i++)
        rela_format_text(m->texts[i], LABEL_MAX, "layer %zu", i + 1);
    for (size_t i = 0; i < m->n_columns; i++)
        rela_format_text(m->texts[m->n_rows + i], LABEL_MAX, "head %zu", i + 1);
}

/* Null rates of the cross attention to a source: map 2 * source for the text, the next one for
 * permuted targets. */
static void fill_source(const grid *m, rela_heatmap *maps, char titles[][LABEL_MAX],
                        const rela_findings *f, size_t source)
{
    static const char *const TEXTS[] = { "text", "targets permuted" };
    const bool several = f->net->config.sources > 1;
    const size_t stack = rela_block_list_cross(&f->net->list, source), n = m->n_rows * m->n_columns;
    for (size_t permuted = 0; permuted < 2; permuted++) {
        const size_t k = 2 * source + permuted;
        const rela_head_sums *sums = (permuted ? &f->permuted : &f->text)->head[stack];
        for (size_t i = 0; i < n; i++)
            m->values[k * n + i] = rela_null_micro(&sums[i]);
        rela_format_text(titles[k], LABEL_MAX, several ? "source %zu%s" : "", source + 1,
                         permuted ? ", permuted" : "");
        maps[k] = grid_map(m, k, several ? titles[k] : TEXTS[permuted]);
    }
}

rela_status rela_draw_null_heads(const rela_gallery *g, size_t model, rela_error *err)
{
    const rela_findings *f = &g->a->models[model];
    const size_t sources = f->net->config.sources;
    const size_t layers = f->text.stacks[rela_block_list_cross(&f->net->list, 0)].layers;
    rela_heatmap maps[2 * RELA_SOURCES_MAX];
    char caption[TITLE_MAX], titles[2 * RELA_SOURCES_MAX][LABEL_MAX];
    grid m;
    rela_status st = grid_make(&m, layers, f->text.heads, 2 * sources, err);
    if (st == RELA_OK)
        name_heads(&m);
    for (size_t i = 0; i < sources && st == RELA_OK; i++)
        fill_source(&m, maps, titles, f, i);
    rela_format_text(caption, sizeof caption, "%s: null rate of cross attention (%%)", f->name);
    const page all = { maps, 2 * sources, caption };
    if (st == RELA_OK) {
        rela_figure *figure = rela_gallery_enter(g, "null-heads", model, "Null rate of each head");
        rela_caption_null_heads(figure, g->a, f);
        st = rela_gallery_save(g, figure, save_page, &all, all.n, err);
    }
    grid_free(&m);
    return st;
}

rela_status rela_draw_tags(const rela_gallery *g, size_t model, rela_error *err)
{
    const rela_findings *f = &g->a->models[model];
    const rela_tag_null *t = &f->tags;
    const size_t heads = t->layers * t->heads;
    char caption[TITLE_MAX];
    grid m;
    rela_status st = grid_make(&m, heads, t->n_tags, 1, err);
    for (size_t i = 0; i < heads && st == RELA_OK; i++)
        rela_format_text(m.texts[i], LABEL_MAX, "%zu.%zu", i / t->heads + 1, i % t->heads + 1);
    for (size_t k = 0; k < t->n_tags && st == RELA_OK; k++) {
        const rela_span name = rela_map_key(g->a->tag_names, (uint32_t)k);
        char label[RELA_LABEL_SIZE];
        rela_label_make(label, name);
        rela_format_text(m.texts[heads + k], LABEL_MAX, "%s (%llu)", label,
                         (unsigned long long)t->cells[k].rows);
        for (size_t i = 0; i < heads; i++) {
            const rela_tag_sums *c = &t->cells[i * t->n_tags + k];
            m.values[i * t->n_tags + k] =
                c->rows ? (double)c->null_rows / (double)c->rows : (double)NAN;
        }
    }
    rela_format_text(caption, sizeof caption, "%s: null rate (%%) after a word with this tag",
                     f->name);
    if (st == RELA_OK) {
        const rela_heatmap map = grid_map(&m, 0, "rows: layer.head; in brackets: queries");
        const page one = { &map, 1, caption };
        rela_figure *figure = rela_gallery_enter(g, "tags", model, "Null rate by part of speech");
        rela_caption_tags(figure, g->a, f);
        st = rela_gallery_save(g, figure, save_page, &one, 1, err);
    }
    grid_free(&m);
    return st;
}

static void example_caption(char out[TITLE_MAX], const rela_analysis *a, const rela_findings *f,
                            const rela_example *e, bool permuted)
{
    char to[LABEL_MAX] = "", target[LABEL_MAX] = "";
    if (a->n_sources > 1)
        rela_format_text(to, sizeof to, " to source %zu", a->source + 1);
    if (permuted)
        rela_format_text(target, sizeof target, ", with the target of line %llu",
                         (unsigned long long)e->target);
    rela_format_text(out, TITLE_MAX, "%s: cross attention of layer %zu%s on line %llu%s", f->name,
                     e->layer + 1, to, (unsigned long long)e->line, target);
}

/* The number of the head and, if it may have null attention, of its null rows. */
static void name_head(char out[LABEL_MAX], const rela_analysis *a, const rela_example *e,
                      size_t head, bool null_rows)
{
    const size_t rows = rela_example_rows(a, e);
    size_t n = 0;
    for (size_t q = 0; q < rows; q++)
        n += rela_example_null(e, head, q);
    if (null_rows)
        rela_format_text(out, LABEL_MAX, "head %zu: %zu of %zu row%s empty", head + 1, n, rows,
                         rela_plural(rows));
    else
        rela_format_text(out, LABEL_MAX, "head %zu", head + 1);
}

rela_status rela_draw_example(const rela_gallery *g, size_t model, bool permuted, rela_error *err)
{
    const rela_findings *f = &g->a->models[model];
    const rela_example *e = permuted ? &f->example_permuted : &f->example;
    char caption[TITLE_MAX];
    if (!e->line)
        return RELA_OK;
    const bool null_rows = !f->text.sum_one[rela_block_list_cross(&f->net->list, g->a->source)];
    rela_heatmap *maps = rela_mem_array(e->heads, sizeof *maps);
    char(*titles)[LABEL_MAX] = rela_mem_array(e->heads, sizeof *titles);
    rela_status st =
        maps && titles ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for a figure");
    for (size_t k = 0; k < e->heads && st == RELA_OK; k++) {
        const double *w = e->w + k * e->n_q * e->n_k;
        name_head(titles[k], g->a, e, k, null_rows);
        maps[k] = (rela_heatmap){ .title = titles[k],
                                  .rows = e->rows,
                                  .columns = e->columns,
                                  .n_rows = e->n_q,
                                  .n_columns = e->n_k,
                                  .values = w,
                                  .null_rows = null_rows,
                                  .outlines = e->gold,
                                  .n_outlines = e->n_gold };
    }
    example_caption(caption, g->a, f, e, permuted);
    const page all = { maps, e->heads, caption };
    if (st == RELA_OK) {
        rela_figure *figure =
            rela_gallery_enter(g, permuted ? "maps-permuted" : "maps", model,
                               permuted ? "Attention on a wrong target" : "Attention of each head");
        figure->example = e;
        figure->card = f->card;
        rela_caption_example(figure, g->a, f, permuted);
        st = rela_gallery_save(g, figure, save_page, &all, all.n, err);
    }
    rela_mem_free(maps);
    rela_mem_free(titles);
    return st;
}

/* SPDX-License-Identifier: MIT */
/* src/analyse/figures.c - the figures of an analysis: curves over layers, bars of means, maps of
 * heads. */
#include "analyse/bars.h"
#include "analyse/findings.h"
#include "analyse/heatmap.h"
#include "analyse/plot.h"
#include "base/mem.h"

#include <math.h>

enum { PANELS_MAX = 3, VARIANTS_MAX = 2, LABEL_MAX = 96, PATH_SIZE = 4096, MAPS_PER_LINE = 4 };

static const char *const ENDINGS[] = { "svg", "png", "pdf" };
enum { N_ENDINGS = sizeof ENDINGS / sizeof ENDINGS[0] };

/* A page of curves: a panel per place, a colour per model, a dash per variant. */
typedef struct chart {
    const char *stem, *title, *text, *y_label;
    size_t n_panels, n_variants;
    const char *panels[PANELS_MAX];
    const char *variants[VARIANTS_MAX]; /* added to the name of the model; NULL: nothing */
    double y_low, y_high;               /* shown in any case; both 0: what the data need */
    bool gold;                          /* only with gold links */
    double (*value)(const rela_findings *f, size_t panel, size_t variant, size_t layer);
} chart;

/* Where figures go and the list of those that are there. */
typedef struct gallery {
    const char *dir;
    rela_figure *figures;
    size_t *n;
    const rela_analysis *a;
} gallery;

static double sparsity_at(const rela_findings *f, size_t panel, size_t variant, size_t layer);
static double null_at(const rela_findings *f, size_t panel, size_t variant, size_t layer);
static double aer_at(const rela_findings *f, size_t panel, size_t variant, size_t layer);
static double diversity_at(const rela_findings *f, size_t panel, size_t variant, size_t layer);
static rela_status draw_chart(const gallery *g, const chart *c, rela_error *err);
static rela_status draw_means(const gallery *g, rela_error *err);
static rela_status draw_null_heads(const gallery *g, size_t model, rela_error *err);
static rela_status draw_tags(const gallery *g, size_t model, rela_error *err);
static rela_status draw_maps(const gallery *g, size_t model, bool twin, rela_error *err);

static const chart CHARTS[] = {
    { .stem = "sparsity",
      .title = "Sparsity",
      .text =
          "Share of attention weights that are exactly zero, mean over the heads of a layer: the "
          "higher, the fewer positions a query looks at.",
      .y_label = "zero weights",
      .n_panels = 3,
      .n_variants = 1,
      .panels = { "encoder", "decoder", "cross" },
      .y_high = 1,
      .value = sparsity_at },
    { .stem = "null-rate",
      .title = "Null rate",
      .text = "Share of queries that a head leaves without any weight, mean over the heads of a "
              "layer; dashed on the same sources with permuted targets, where a model that uses "
              "null attention to tell what has no counterpart is higher in the cross attention.",
      .y_label = "null queries",
      .n_panels = 3,
      .n_variants = 2,
      .panels = { "encoder", "decoder", "cross" },
      .variants = { NULL, "permuted" },
      .y_high = 0.1,
      .value = null_at },
    { .stem = "aer",
      .title = "Alignment error",
      .text =
          "Alignment error rate of links taken from the cross attention of each layer: solid of "
          "its best head, dashed of the mean of its heads; lower is better.",
      .y_label = "AER (%)",
      .n_panels = 2,
      .n_variants = 2,
      .panels = { "normal", "shifted" },
      .variants = { "best head", "layer" },
      .gold = true,
      .value = aer_at },
    { .stem = "diversity",
      .title = "Head diversity",
      .text = "Jensen-Shannon divergence between the heads of a layer (natural logarithm, "
              "temperature 1): 0 if all heads look at the same, ln(heads) if no two do.",
      .y_label = "JS divergence",
      .n_panels = 3,
      .n_variants = 1,
      .panels = { "encoder", "decoder", "cross" },
      .y_high = 0.1,
      .value = diversity_at },
};
enum { N_CHARTS = sizeof CHARTS / sizeof CHARTS[0] };

rela_status rela_analysis_figures(rela_figure *figures, size_t *n, const char *dir,
                                  const rela_analysis *a, rela_error *err)
{
    const gallery g = { dir, figures, n, a };
    const bool gold = a->models[0].aer.sums != NULL, tags = a->tag_names != NULL;
    rela_status st = RELA_OK;
    *n = 0;
    if (!rela_plot_available())
        return RELA_OK;
    for (size_t i = 0; i < N_CHARTS && st == RELA_OK; i++)
        if (!CHARTS[i].gold || gold)
            st = draw_chart(&g, &CHARTS[i], err);
    if (st == RELA_OK && gold)
        st = draw_means(&g, err);
    for (size_t i = 0; i < a->n && st == RELA_OK && *n + 4 < RELA_FIGURES_MAX; i++) {
        st = draw_null_heads(&g, i, err);
        if (st == RELA_OK && tags)
            st = draw_tags(&g, i, err);
        for (int twin = 0; twin < 2 && st == RELA_OK; twin++)
            st = draw_maps(&g, i, twin == 1, err);
    }
    return st;
}

/* Enters a figure into the list and gives its path with an ending. */
static void path_of(char *path, const gallery *g, const rela_figure *f, size_t ending)
{
    rela_format_text(path, PATH_SIZE, "%s/%s.%s", g->dir, f->stem, ENDINGS[ending]);
}

static rela_figure *enter(const gallery *g, const char *stem, size_t model, const char *title,
                          const char *text)
{
    rela_figure *f = &g->figures[(*g->n)++];
    if (model == SIZE_MAX)
        rela_format_text(f->stem, sizeof f->stem, "%s", stem);
    else
        rela_format_text(f->stem, sizeof f->stem, "%s-%zu", stem, model + 1);
    f->title = title;
    f->text = text;
    return f;
}

/* ---- curves ---- */

static rela_attn_type type_of(size_t panel)
{
    return (rela_attn_type)panel;
}

static double sparsity_at(const rela_findings *f, size_t panel, size_t variant, size_t layer)
{
    (void)variant;
    return rela_spread_over_heads(&f->text, type_of(panel), layer, rela_sparsity_micro).mean;
}

static double null_at(const rela_findings *f, size_t panel, size_t variant, size_t layer)
{
    return rela_spread_over_heads(variant ? &f->twin : &f->text, type_of(panel), layer,
                                  rela_null_micro)
        .mean;
}

static double aer_at(const rela_findings *f, size_t panel, size_t variant, size_t layer)
{
    const rela_head_choice mean = { (int32_t)layer, RELA_HEAD_MEAN, panel == 1 };
    return 100 * rela_head_aer_get(
                     &f->aer, variant ? mean : rela_head_aer_best_of(&f->aer, layer, panel == 1));
}

static double diversity_at(const rela_findings *f, size_t panel, size_t variant, size_t layer)
{
    (void)variant;
    return rela_layer_js(&f->text.layer[panel][layer], 0);
}

/* Memory of a chart. */
typedef struct ink {
    rela_series *series; /* (panels, models, variants) */
    rela_style *styles;  /* (models, variants) */
    char (*labels)[LABEL_MAX];
    double *x, *y;
} ink;

static size_t layers_of(const rela_findings *f, const chart *c, size_t panel)
{
    return c->n_panels == PANELS_MAX ? f->text.layers[panel] : f->aer.layers;
}

static void fill_series(ink *k, const chart *c, const rela_findings *f, size_t panel, size_t number,
                        size_t n_series, size_t most)
{
    const size_t variant = number % c->n_variants, at = panel * n_series + number;
    double *y = k->y + at * most;
    const size_t n = layers_of(f, c, panel);
    for (size_t i = 0; i < n; i++)
        y[i] = c->value(f, panel, variant, i);
    if (c->variants[variant])
        rela_format_text(k->labels[number], LABEL_MAX, "%s, %s", f->name, c->variants[variant]);
    else
        rela_format_text(k->labels[number], LABEL_MAX, "%s", f->name);
    k->series[at] = (rela_series){ k->labels[number], k->x, y, n };
    k->styles[number] = (rela_style){ (int)(number / c->n_variants), (int)variant };
}

/* The same vertical axis for all panels, so that they can be compared. */
static void share_range(rela_plot *plots, const chart *c)
{
    double low = c->y_low < c->y_high ? c->y_low : (double)INFINITY;
    double high = c->y_low < c->y_high ? c->y_high : (double)-INFINITY;
    for (size_t p = 0; p < c->n_panels; p++)
        for (size_t i = 0; i < plots[p].n_series; i++)
            for (size_t k = 0; k < plots[p].series[i].n; k++) {
                low = fmin(low, plots[p].series[i].y[k]);
                high = fmax(high, plots[p].series[i].y[k]);
            }
    const double air = 0.04 * (high > low ? high - low : 1);
    for (size_t p = 0; p < c->n_panels; p++) {
        plots[p].y_low = low - air;
        plots[p].y_high = high + air;
    }
}

static rela_status save_chart(const gallery *g, const chart *c, ink *k, size_t n_series,
                              size_t most, rela_error *err)
{
    rela_plot plots[PANELS_MAX];
    char path[PATH_SIZE];
    rela_status st = RELA_OK;
    for (size_t i = 0; i < most; i++)
        k->x[i] = (double)(i + 1);
    for (size_t p = 0; p < c->n_panels; p++) {
        for (size_t i = 0; i < n_series; i++)
            fill_series(k, c, &g->a->models[i / c->n_variants], p, i, n_series, most);
        plots[p] = (rela_plot){ .title = c->panels[p],
                                .x_label = "layer",
                                .y_label = c->y_label,
                                .series = k->series + p * n_series,
                                .styles = k->styles,
                                .n_series = n_series,
                                .markers = true,
                                .whole_x = true,
                                .width = 280,
                                .height = 250 };
    }
    share_range(plots, c);
    const rela_figure *f = enter(g, c->stem, SIZE_MAX, c->title, c->text);
    for (size_t e = 0; e < N_ENDINGS && st == RELA_OK; e++) {
        path_of(path, g, f, e);
        st = rela_plots_save(plots, c->n_panels, path, err);
    }
    return st;
}

static rela_status draw_chart(const gallery *g, const chart *c, rela_error *err)
{
    const size_t n_series = g->a->n * c->n_variants;
    size_t most = 1;
    for (size_t i = 0; i < g->a->n; i++)
        for (size_t p = 0; p < c->n_panels; p++) {
            const size_t layers = layers_of(&g->a->models[i], c, p);
            most = layers > most ? layers : most;
        }
    ink k = { .series = rela_mem_array(n_series * c->n_panels, sizeof *k.series),
              .styles = rela_mem_array(n_series, sizeof *k.styles),
              .labels = rela_mem_array(n_series, sizeof *k.labels),
              .x = rela_mem_array(most, sizeof *k.x),
              .y = rela_mem_array(n_series * c->n_panels * most, sizeof *k.y) };
    const rela_status st = k.series && k.styles && k.labels && k.x && k.y
                               ? save_chart(g, c, &k, n_series, most, err)
                               : rela_fail(err, RELA_NOMEM, "no memory for a figure");
    rela_mem_free(k.series);
    rela_mem_free(k.styles);
    rela_mem_free(k.labels);
    rela_mem_free(k.x);
    rela_mem_free(k.y);
    return st;
}

/* ---- bars ---- */

static rela_status draw_means(const gallery *g, rela_error *err)
{
    static const char *const SERIES[] = { "layer attention (AoL), normal",
                                          "best head (AoH), normal",
                                          "layer attention (AoL), shifted",
                                          "best head (AoH), shifted" };
    const size_t n = g->a->n;
    const char **names = rela_mem_array(n, sizeof *names);
    double *values = rela_mem_array(4 * n, sizeof *values);
    char path[PATH_SIZE];
    rela_status st =
        names && values ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for a figure");
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        names[i] = g->a->models[i].name;
        for (size_t k = 0; k < 4; k++)
            values[4 * i + k] = 100 * rela_mean_aer(&g->a->models[i].aer, k % 2 == 1, k > 1);
    }
    const rela_bars bars = { .title = "alignment error, mean over layers",
                             .y_label = "AER (%)",
                             .groups = names,
                             .series = SERIES,
                             .n_groups = n,
                             .n_series = 4,
                             .values = values,
                             .digits = 1 };
    const rela_figure *f = enter(
        g, "aer-means", SIZE_MAX, "Alignment error, means",
        "Alignment error rate, mean over layers: of the layer attention (AoL) and of the best "
        "head of each layer (AoH).");
    for (size_t e = 0; e < N_ENDINGS && st == RELA_OK; e++) {
        path_of(path, g, f, e);
        st = rela_bars_save(&bars, path, err);
    }
    rela_mem_free((void *)names);
    rela_mem_free(values);
    return st;
}

/* ---- maps ---- */

/* Values of rows and columns with names: room for several maps of them, one after the other. */
typedef struct grid {
    char (*texts)[LABEL_MAX]; /* of the rows, then of the columns */
    const char **names;       /* the same */
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

/* Map number k. */
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

static rela_status save_maps(const gallery *g, const rela_figure *f, const rela_heatmap *maps,
                             size_t n, const char *caption, rela_error *err)
{
    char path[PATH_SIZE];
    rela_status st = RELA_OK;
    for (size_t e = 0; e < N_ENDINGS && st == RELA_OK; e++) {
        path_of(path, g, f, e);
        st = rela_heatmaps_save(maps, n, MAPS_PER_LINE, caption, path, err);
    }
    return st;
}

static rela_status draw_null_heads(const gallery *g, size_t model, rela_error *err)
{
    const rela_findings *f = &g->a->models[model];
    const size_t layers = f->text.layers[RELA_ATTN_CROSS], heads = f->text.heads;
    char caption[LABEL_MAX];
    grid m;
    rela_status st = grid_make(&m, layers, heads, 2, err);
    for (size_t i = 0; i < layers + heads && st == RELA_OK; i++)
        rela_format_text(m.texts[i], LABEL_MAX, i < layers ? "layer %zu" : "head %zu",
                         (i < layers ? i : i - layers) + 1);
    for (size_t i = 0; i < layers * heads && st == RELA_OK; i++) {
        m.values[i] = rela_null_micro(&f->text.head[RELA_ATTN_CROSS][i]);
        m.values[layers * heads + i] = rela_null_micro(&f->twin.head[RELA_ATTN_CROSS][i]);
    }
    rela_format_text(caption, sizeof caption, "%s: null rate of cross attention (%%)", f->name);
    if (st == RELA_OK) {
        const rela_heatmap maps[] = { grid_map(&m, 0, "text"),
                                      grid_map(&m, 1, "targets permuted") };
        st = save_maps(g,
                       enter(g, "null-heads", model, "Null rate of each head",
                             "Null rate of every cross-attention head in percent, on the text and "
                             "with permuted targets: heads differ much, and those that rise tell "
                             "good pairs from bad ones."),
                       maps, 2, caption, err);
    }
    grid_free(&m);
    return st;
}

static rela_status draw_tags(const gallery *g, size_t model, rela_error *err)
{
    const rela_findings *f = &g->a->models[model];
    const rela_tag_null *t = &f->tags;
    const size_t heads = t->layers * t->heads;
    char caption[LABEL_MAX];
    grid m;
    rela_status st = grid_make(&m, heads, t->n_tags, 1, err);
    for (size_t i = 0; i < heads && st == RELA_OK; i++)
        rela_format_text(m.texts[i], LABEL_MAX, "%zu.%zu", i / t->heads + 1, i % t->heads + 1);
    for (size_t k = 0; k < t->n_tags && st == RELA_OK; k++) {
        const rela_span name = rela_map_key(g->a->tag_names, (uint32_t)k);
        rela_format_text(m.texts[heads + k], LABEL_MAX, "%.*s (%llu)",
                         (int)(name.len < 40 ? name.len : 40), name.text,
                         (unsigned long long)t->cells[k].rows);
        for (size_t i = 0; i < heads; i++) {
            const rela_tag_sums *c = &t->cells[i * t->n_tags + k];
            m.values[i * t->n_tags + k] =
                c->rows ? (double)c->null_rows / (double)c->rows : (double)NAN;
        }
    }
    rela_format_text(caption, sizeof caption, "%s: null rate (%%) after a word of", f->name);
    if (st == RELA_OK) {
        const rela_heatmap map = grid_map(&m, 0, "layer.head; number of queries in brackets");
        st = save_maps(g,
                       enter(g, "tags", model, "Null rate by part of speech",
                             "Null rate of every cross-attention head in percent, by the part of "
                             "speech of the target word before: light cells in a dark row show "
                             "after what a specialised head fires."),
                       &map, 1, caption, err);
    }
    grid_free(&m);
    return st;
}

static rela_status draw_maps(const gallery *g, size_t model, bool twin, rela_error *err)
{
    const rela_findings *f = &g->a->models[model];
    const rela_example *e = twin ? &f->example_twin : &f->example;
    char caption[2 * LABEL_MAX];
    if (!e->line)
        return RELA_OK;
    rela_heatmap *maps = rela_mem_array(e->heads, sizeof *maps);
    char(*titles)[LABEL_MAX] = rela_mem_array(e->heads, sizeof *titles);
    rela_status st =
        maps && titles ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for a figure");
    for (size_t k = 0; k < e->heads && st == RELA_OK; k++) {
        const double *w = e->w + k * e->n_q * e->n_k;
        size_t null = 0;
        for (size_t q = 0; q < e->n_q; q++) {
            size_t i = 0;
            while (i < e->n_k && w[q * e->n_k + i] == 0)
                i++;
            null += i == e->n_k;
        }
        rela_format_text(titles[k], LABEL_MAX, "head %zu: %.0f %% null", k + 1,
                         100 * (double)null / (double)e->n_q);
        maps[k] = (rela_heatmap){ .title = titles[k],
                                  .rows = e->rows,
                                  .columns = e->columns,
                                  .n_rows = e->n_q,
                                  .n_columns = e->n_k,
                                  .values = w,
                                  .null_rows = true };
    }
    rela_format_text(caption, sizeof caption, "%s: cross attention of layer %zu on line %llu%s",
                     f->name, e->layer + 1, (unsigned long long)e->line,
                     twin ? ", with the target of another line" : "");
    if (st == RELA_OK)
        st = save_maps(g,
                       enter(g, twin ? "maps-permuted" : "maps", model,
                             twin ? "Attention on a wrong target" : "Attention of each head",
                             twin ? "The same source with the target of another line: words "
                                    "without a counterpart get null rows (hatched)."
                                  : "Cross attention of one layer, head by head: a row is the "
                                    "target token that is predicted, a column a source token; "
                                    "hatched rows attend to nothing."),
                       maps, e->heads, caption, err);
    rela_mem_free(maps);
    rela_mem_free(titles);
    return st;
}

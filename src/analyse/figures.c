/* SPDX-License-Identifier: MIT */
/* src/analyse/figures.c - the figures of an analysis: curves over layers and bars of means; maps of
 * heads are in figures_maps.c. */
#include "analyse/figures.h"

#include "base/mem.h"
#include "figure/bars.h"
#include "figure/plot.h"

#include <math.h>
#include <string.h>

enum { VARIANTS_MAX = 2, LABEL_MAX = 96, PATH_SIZE = 4096, SHORT_LABEL = 16 };
/* Points. The report is 1080 pixels wide, which is 810 points, or three panels. */
enum { PAGE_WIDTH = 810, NARROW_WIDTH = 270, PANEL_WIDTH = 265, PANEL_HEIGHT = 245 };

/* A page of curves: a panel per stack, a colour per model, a dash per variant. */
typedef struct chart {
    const char *stem, *title, *y_label;
    void (*caption)(rela_figure *f, const rela_analysis *a);
    size_t n_variants;
    const char *variants[VARIANTS_MAX]; /* added to the name of the model; NULL: nothing */
    double y_low, y_high;               /* always included; both 0: fitted to the data */
    bool gold;                          /* only with gold links; panels: normal and shifted */
    bool null;                          /* only if there is null attention */
    double (*value)(const rela_findings *f, size_t panel, size_t variant, size_t layer);
} chart;

static double sparsity_at(const rela_findings *f, size_t panel, size_t variant, size_t layer);
static double null_at(const rela_findings *f, size_t panel, size_t variant, size_t layer);
static double aer_at(const rela_findings *f, size_t panel, size_t variant, size_t layer);
static double diversity_at(const rela_findings *f, size_t panel, size_t variant, size_t layer);
static rela_status draw_chart(const rela_gallery *g, const chart *c, rela_error *err);
static rela_status draw_means(const rela_gallery *g, rela_error *err);
static rela_status draw_sources(const rela_gallery *g, size_t model, rela_error *err);

static const chart CHARTS[] = {
    { .stem = "sparsity",
      .title = "Sparsity",
      .caption = rela_caption_sparsity,
      .y_label = "sparsity",
      .n_variants = 1,
      .y_high = 1,
      .value = sparsity_at },
    { .stem = "null-rate",
      .title = "Null rate",
      .caption = rela_caption_null_rate,
      .y_label = "null rate",
      .n_variants = 2,
      .variants = { NULL, "permuted" },
      .y_high = 0.1,
      .null = true,
      .value = null_at },
    { .stem = "aer",
      .title = "Alignment error",
      .caption = rela_caption_aer,
      .y_label = "AER (%)",
      .n_variants = 2,
      .variants = { "best head", "mean of heads" },
      .gold = true,
      .value = aer_at },
    { .stem = "diversity",
      .title = "Head diversity",
      .caption = rela_caption_diversity,
      .y_label = "JS divergence",
      .n_variants = 1,
      .y_high = 0.1,
      .value = diversity_at },
};
enum { N_CHARTS = sizeof CHARTS / sizeof CHARTS[0] };

rela_status rela_analysis_figures(rela_figure *figures, size_t *n, rela_file_set *set,
                                  const char *dir, const rela_analysis *a, rela_error *err)
{
    const rela_gallery g = { set, dir, figures, n, a };
    const bool gold = a->models[0].aer.sums != NULL, tags = a->tag_names != NULL;
    rela_status st = RELA_OK;
    bool null = false;
    *n = 0;
    if (!rela_plot_available())
        return RELA_OK;
    for (size_t i = 0; i < a->n; i++)
        null = null || rela_findings_null(&a->models[i], false);
    for (size_t i = 0; i < N_CHARTS && st == RELA_OK; i++)
        if ((!CHARTS[i].gold || gold) && (!CHARTS[i].null || null))
            st = draw_chart(&g, &CHARTS[i], err);
    if (st == RELA_OK && gold)
        st = draw_means(&g, err);
    for (size_t i = 0; i < a->n && st == RELA_OK && *n + 5 < RELA_FIGURES_MAX; i++) {
        if (a->n_sources > 1)
            st = draw_sources(&g, i, err);
        const bool maps = rela_findings_null(&a->models[i], true);
        if (st == RELA_OK && maps)
            st = rela_draw_null_heads(&g, i, err);
        if (st == RELA_OK && maps && tags)
            st = rela_draw_tags(&g, i, err);
        for (int permuted = 0; permuted < 2 && st == RELA_OK; permuted++)
            st = rela_draw_example(&g, i, permuted == 1, err);
    }
    return st;
}

rela_figure *rela_gallery_enter(const rela_gallery *g, const char *stem, size_t model,
                                const char *title)
{
    rela_figure *f = &g->figures[(*g->n)++];
    if (model == SIZE_MAX)
        rela_format_text(f->stem, sizeof f->stem, "%s", stem);
    else
        rela_format_text(f->stem, sizeof f->stem, "%s-%zu", stem, model + 1);
    if (model == SIZE_MAX)
        rela_format_text(f->title, sizeof f->title, "%s", title);
    else
        rela_format_text(f->title, sizeof f->title, "%s: %s", title, g->a->models[model].name);
    f->text = "";
    f->narrow = false;
    f->example = NULL;
    f->card = NULL;
    return f;
}

rela_status rela_gallery_save(const rela_gallery *g, rela_figure *f, rela_drawing_save *save,
                              const void *drawing, size_t n_panels, rela_error *err)
{
    static const char *const ENDINGS[] = { "svg", "png", "pdf" };
    char path[PATH_SIZE];
    rela_status st = RELA_OK;
    for (size_t i = 0; i < sizeof ENDINGS / sizeof ENDINGS[0] && st == RELA_OK; i++) {
        rela_format_text(path, sizeof path, "%s/%s.%s", g->dir, f->stem, ENDINGS[i]);
        st = save(drawing, PAGE_WIDTH, g->set, path, err);
    }
    f->narrow = n_panels > 1;
    rela_format_text(path, sizeof path, "%s/%s-narrow.svg", g->dir, f->stem);
    return st == RELA_OK && f->narrow ? save(drawing, NARROW_WIDTH, g->set, path, err) : st;
}

/* ---- curves ---- */

static double sparsity_at(const rela_findings *f, size_t panel, size_t variant, size_t layer)
{
    (void)variant;
    return rela_spread_over_heads(&f->text, panel, layer, rela_sparsity_micro).mean;
}

static double null_at(const rela_findings *f, size_t panel, size_t variant, size_t layer)
{
    return rela_spread_over_heads(variant ? &f->permuted : &f->text, panel, layer, rela_null_micro)
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

/* Buffers of a chart. */
typedef struct ink {
    rela_series *series; /* (panels, models, variants) */
    rela_style *styles;  /* (models, variants) */
    char (*labels)[LABEL_MAX];
    double *x, *y;
} ink;

static size_t panels_of(const rela_gallery *g, const chart *c)
{
    return c->gold ? 2 : g->a->models[0].text.n_stacks;
}

static const char *panel_title(const rela_gallery *g, const chart *c, size_t panel)
{
    return !c->gold ? g->a->models[0].text.stacks[panel].label : panel ? "shifted" : "normal";
}

static size_t layers_of(const rela_findings *f, const chart *c, size_t panel)
{
    return c->gold ? f->aer.layers : f->text.stacks[panel].layers;
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
    k->styles[number] =
        (rela_style){ .colour = (int)(number / c->n_variants), .dash = (int)variant };
}

/* The same vertical axis for all panels, so that they can be compared. */
static void share_range(rela_plot *plots, size_t n_panels, const chart *c)
{
    double low = c->y_low < c->y_high ? c->y_low : (double)INFINITY;
    double high = c->y_low < c->y_high ? c->y_high : (double)-INFINITY;
    for (size_t p = 0; p < n_panels; p++)
        for (size_t i = 0; i < plots[p].n_series; i++)
            for (size_t k = 0; k < plots[p].series[i].n; k++) {
                low = fmin(low, plots[p].series[i].y[k]);
                high = fmax(high, plots[p].series[i].y[k]);
            }
    const double air = 0.04 * (high > low ? high - low : 1);
    for (size_t p = 0; p < n_panels; p++) {
        plots[p].y_low = low - air;
        plots[p].y_high = high + air;
    }
}

typedef struct panels {
    rela_plot plots[RELA_STACKS_MAX];
    size_t n;
} panels;

static rela_status save_panels(const void *drawing, double width, rela_file_set *set,
                               const char *path, rela_error *err)
{
    const panels *p = drawing;
    return rela_plots_save(p->plots, p->n, (size_t)(width / PANEL_WIDTH), set, path, err);
}

static rela_status save_chart(const rela_gallery *g, const chart *c, ink *k, size_t n_series,
                              size_t most, rela_error *err)
{
    panels page = { .n = panels_of(g, c) };
    for (size_t i = 0; i < most; i++)
        k->x[i] = (double)(i + 1);
    for (size_t p = 0; p < page.n; p++) {
        for (size_t i = 0; i < n_series; i++)
            fill_series(k, c, &g->a->models[i / c->n_variants], p, i, n_series, most);
        page.plots[p] = (rela_plot){ .title = panel_title(g, c, p),
                                     .x_label = "layer",
                                     .y_label = c->y_label,
                                     .series = k->series + p * n_series,
                                     .styles = k->styles,
                                     .n_series = n_series,
                                     .markers = true,
                                     .whole_x = true,
                                     .width = PANEL_WIDTH,
                                     .height = PANEL_HEIGHT };
    }
    share_range(page.plots, page.n, c);
    rela_figure *f = rela_gallery_enter(g, c->stem, SIZE_MAX, c->title);
    c->caption(f, g->a);
    return rela_gallery_save(g, f, save_panels, &page, page.n, err);
}

static rela_status draw_chart(const rela_gallery *g, const chart *c, rela_error *err)
{
    const size_t n_series = g->a->n * c->n_variants, n_panels = panels_of(g, c);
    size_t most = 1;
    for (size_t i = 0; i < g->a->n; i++)
        for (size_t p = 0; p < n_panels; p++) {
            const size_t layers = layers_of(&g->a->models[i], c, p);
            most = layers > most ? layers : most;
        }
    ink k = { .series = rela_mem_array(n_series * n_panels, sizeof *k.series),
              .styles = rela_mem_array(n_series, sizeof *k.styles),
              .labels = rela_mem_array(n_series, sizeof *k.labels),
              .x = rela_mem_array(most, sizeof *k.x),
              .y = rela_mem_array(n_series * n_panels * most, sizeof *k.y) };
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

static rela_status save_bars(const void *drawing, double width, rela_file_set *set,
                             const char *path, rela_error *err)
{
    return rela_bars_save(drawing, width, set, path, err);
}

static rela_status draw_means(const rela_gallery *g, rela_error *err)
{
    static const char *const SERIES[] = { "layer attention (AoL), normal",
                                          "best head (AoH), normal",
                                          "layer attention (AoL), shifted",
                                          "best head (AoH), shifted" };
    const size_t n = g->a->n;
    const char **names = rela_mem_array(n, sizeof *names);
    double *values = rela_mem_array(4 * n, sizeof *values);
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
    rela_figure *f = rela_gallery_enter(g, "aer-means", SIZE_MAX, "Alignment error, means");
    rela_caption_add(f, "Alignment error rate, mean over layers: of the layer attention (AoL) and "
                        "of the best head of each layer (AoH).");
    rela_caption_source(f, g->a);
    if (st == RELA_OK)
        st = rela_gallery_save(g, f, save_bars, &bars, bars.n_groups, err);
    rela_mem_free((void *)names);
    rela_mem_free(values);
    return st;
}

/* Null rate of the cross attention to a source; layer SIZE_MAX: of all layers. */
static double source_null(const rela_findings *f, size_t source, size_t layer)
{
    const size_t stack = rela_block_list_cross(&f->net->list, source);
    return layer == SIZE_MAX ? rela_mean_over_heads(&f->text, stack, rela_null_micro)
                             : rela_spread_over_heads(&f->text, stack, layer, rela_null_micro).mean;
}

static void describe_sources(rela_figure *to, const rela_findings *f)
{
    const size_t n = f->net->config.sources;
    size_t most = 0, least = 0;
    for (size_t k = 1; k < n; k++) {
        most = source_null(f, k, SIZE_MAX) > source_null(f, most, SIZE_MAX) ? k : most;
        least = source_null(f, k, SIZE_MAX) < source_null(f, least, SIZE_MAX) ? k : least;
    }
    rela_caption_add(to,
                     "Null rate of the cross attention to each source, mean over the heads of a "
                     "layer: over all layers it is highest for "
                     "source %zu (%.1f %%) and lowest for source %zu (%.1f %%).",
                     most + 1, 100 * source_null(f, most, SIZE_MAX), least + 1,
                     100 * source_null(f, least, SIZE_MAX));
    for (size_t k = 0; k < n; k++)
        if (f->source_empty[k])
            rela_caption_add(
                to,
                " Source %zu is empty in %llu of %llu pairs; their queries have null attention.",
                k + 1, (unsigned long long)f->source_empty[k], (unsigned long long)f->pairs);
}

static rela_status draw_sources(const rela_gallery *g, size_t model, rela_error *err)
{
    const rela_findings *f = &g->a->models[model];
    const size_t n = g->a->n_sources, layers = rela_config_layers(&f->net->config, RELA_ATTN_CROSS);
    char groups[RELA_LAYERS_MAX + 1][SHORT_LABEL], series[RELA_SOURCES_MAX][SHORT_LABEL];
    char title[LABEL_MAX];
    const char *group_names[RELA_LAYERS_MAX + 1], *series_names[RELA_SOURCES_MAX];
    double values[(RELA_LAYERS_MAX + 1) * RELA_SOURCES_MAX];
    for (size_t i = 0; i <= layers; i++) {
        rela_format_text(groups[i], SHORT_LABEL, i < layers ? "layer %zu" : "all layers", i + 1);
        group_names[i] = groups[i];
        for (size_t k = 0; k < n; k++)
            values[i * n + k] = 100 * source_null(f, k, i < layers ? i : SIZE_MAX);
    }
    for (size_t k = 0; k < n; k++) {
        rela_format_text(series[k], SHORT_LABEL, "source %zu", k + 1);
        series_names[k] = series[k];
    }
    rela_format_text(title, sizeof title, "%s: null rate of cross attention", f->name);
    const rela_bars bars = { .title = title,
                             .y_label = "null rate (%)",
                             .groups = group_names,
                             .series = series_names,
                             .n_groups = layers + 1,
                             .n_series = n,
                             .values = values,
                             .digits = 1 };
    rela_figure *figure = rela_gallery_enter(g, "null-sources", model, "Null rate of each source");
    describe_sources(figure, f);
    return rela_gallery_save(g, figure, save_bars, &bars, bars.n_groups, err);
}

/* SPDX-License-Identifier: MIT */
/* src/study/report_measures.c - measures of attention: means over layers, curves over layers. */
#include "study/study_report.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <string.h>

enum { LAYERS_MAX = 64, SERIES_MAX = 32, NAME_SIZE = 96 };

static rela_fact_key part_key(const rela_exhibit *e, const rela_exhibit_part *p, const char *model)
{
    rela_fact_key key = rela_fact_any(p->measure);
    key.data = e->data;
    key.model = model;
    key.place = p->place;
    key.head = RELA_FACT_NONE;
    return key;
}

/* ---- tables ---- */

static rela_fact_key mean_key(char name[NAME_SIZE], const rela_exhibit *e, size_t model, size_t row,
                              size_t column)
{
    rela_fact_key key = part_key(e, &e->parts[column], e->models.items[model]);
    rela_format_text(name, NAME_SIZE, "%s%s", e->parts[column].measure,
                     row < e->measures.n ? e->measures.items[row] : "");
    key.measure = name;
    key.layer = RELA_FACT_NONE;
    return key;
}

static double value_of(const rela_study_report *r, const rela_exhibit *e, size_t model, size_t row,
                       size_t column)
{
    char name[NAME_SIZE];
    const rela_fact_key key = mean_key(name, e, model, row, column);
    return e->parts[column].factor * rela_facts_mean(r->facts, &key, NULL);
}

static void mean_cell(rela_study_report *r, const rela_exhibit *e, size_t number, size_t row,
                      size_t column, double best)
{
    const rela_exhibit_part *p = &e->parts[column];
    const char *model = e->models.items[number];
    char name[NAME_SIZE];
    const rela_fact_key key = mean_key(name, e, number, row, column);
    const char *state = rela_report_state(r, e->data, model);
    const double value = value_of(r, e, number, row, column);
    const double published = rela_report_published(e, model, row * e->n_parts + column);
    rela_cell cell = rela_report_empty(e, model, p->title);
    if (e->measures.n) {
        rela_format_text(name, sizeof name, "%s%s", p->title, e->measures.items[row]);
        cell.column = rela_facts_text(r->facts, name, strlen(name));
        rela_format_text(name, sizeof name, "%s%s", p->measure, e->measures.items[row]);
    }
    cell.value = value;
    cell.published = published;
    cell.state = isfinite(value) ? "done" : state;
    cell.jobs = rela_report_jobs(r, &key);
    rela_report_cell(r, &cell);
    if (isfinite(value) && value == best)
        rela_compose(&r->t, "<td class=\"best\">%.2f", value);
    else if (isfinite(value))
        rela_compose(&r->t, "<td>%.2f", value);
    else
        rela_compose(&r->t, "<td class=\"none\">%s", state);
    if (isfinite(published))
        rela_compose(&r->t, " <small class=\"paper\">%.2f</small>", published);
    rela_compose(&r->t, "</td>");
}

/* The lowest error; of other measures nothing is best. */
static double best_of(const rela_study_report *r, const rela_exhibit *e, size_t column)
{
    double best = INFINITY;
    for (size_t i = 0; i < e->models.n; i++) {
        const double value = value_of(r, e, i, 0, column);
        best = value < best ? value : best;
    }
    return e->parts[column].measure[0] == 'A' ? best : (double)NAN;
}

/* Whether a model has the same values as with the first suffix: its weights sum to one, so that
 * temperatures change nothing. */
static bool unchanged(const rela_study_report *r, const rela_exhibit *e, size_t model, size_t row)
{
    for (size_t k = 0; k < e->n_parts; k++) {
        const double a = value_of(r, e, model, 0, k), b = value_of(r, e, model, row, k);
        if (isfinite(a) && (a < b || a > b))
            return false;
    }
    return true;
}

/* `measures:` are suffixes of the measures of the columns, each a row: temperatures in Table 6. */
void rela_report_means(rela_study_report *r, const rela_exhibit *e)
{
    rela_report_table_head(r, e->title);
    rela_compose(&r->t, "<thead><tr><th scope=\"col\" class=\"text\">model</th>");
    for (size_t i = 0; i < e->n_parts; i++) {
        rela_compose(&r->t, "<th scope=\"col\">");
        rela_chart_text(&r->t, e->parts[i].title);
        rela_compose(&r->t, "</th>");
    }
    rela_compose(&r->t, "</tr></thead><tbody>\n");
    const size_t n_rows = e->measures.n ? e->measures.n : 1;
    for (size_t i = 0; i < e->models.n * n_rows; i++) {
        const size_t model = i / n_rows, row = i % n_rows;
        if (row && unchanged(r, e, model, row))
            continue;
        rela_compose(&r->t, "<tr><th scope=\"row\">");
        rela_chart_text(&r->t, e->models.items[model]);
        if (e->measures.n && !unchanged(r, e, model, n_rows - 1)) {
            rela_compose(&r->t, " <small>");
            rela_chart_text(&r->t, row < e->published_columns.n ? e->published_columns.items[row]
                                                                : e->measures.items[row]);
            rela_compose(&r->t, "</small>");
        }
        rela_compose(&r->t, "</th>");
        for (size_t k = 0; k < e->n_parts; k++)
            mean_cell(r, e, model, row, k, best_of(r, e, k));
        rela_compose(&r->t, "</tr>\n");
    }
    rela_compose(&r->t, "</tbody></table></div>\n");
}

/* ---- curves ---- */

typedef struct curves {
    rela_chart_series series[SERIES_MAX];
    rela_chart_level levels[SERIES_MAX];
    double x[SERIES_MAX][LAYERS_MAX], y[SERIES_MAX][LAYERS_MAX];
    char names[SERIES_MAX][96];
    size_t n, n_levels;
} curves;

static void add_curve(rela_study_report *r, curves *c, const rela_exhibit *e,
                      const rela_exhibit_part *p, size_t model, bool second)
{
    rela_fact_key key = part_key(e, p, e->models.items[model]);
    double sums[LAYERS_MAX] = { 0 }, counts[LAYERS_MAX] = { 0 };
    size_t at = 0, n = 0;
    key.layer = RELA_FACT_EACH;
    key.measure = second ? p->second : p->measure;
    for (const rela_fact *f; (f = rela_facts_next(r->facts, &key, &at));)
        if (f->key.layer < LAYERS_MAX) {
            sums[f->key.layer] += p->factor * f->value;
            counts[f->key.layer]++;
        }
    if (c->n == SERIES_MAX)
        return;
    for (size_t i = 0; i < LAYERS_MAX; i++)
        if (counts[i] > 0) {
            c->x[c->n][n] = (double)i + 1;
            c->y[c->n][n++] = sums[i] / counts[i];
        }
    for (size_t i = 0; i < n; i++) {
        char column[96];
        rela_format_text(column, sizeof column, "%s%s, layer %.0f", p->title,
                         second ? ", dashed" : "", c->x[c->n][i]);
        rela_cell cell = rela_report_empty(e, e->models.items[model], "");
        cell.column = rela_facts_text(r->facts, column, strlen(column));
        cell.value = c->y[c->n][i];
        cell.state = "done";
        cell.jobs = rela_report_jobs(r, &key);
        rela_report_cell(r, &cell);
    }
    rela_format_text(c->names[c->n], sizeof c->names[0], "%s%s", e->models.items[model],
                     second ? " (hallucinated pairs)" : "");
    c->series[c->n] = (rela_chart_series){ .name = c->names[c->n],
                                           .x = c->x[c->n],
                                           .y = c->y[c->n],
                                           .n = n,
                                           .colour = (int)(model % RELA_CHART_COLOURS),
                                           .dashed = second };
    c->n++;
}

/* All panels have the same scale, so that they can be compared. */
static void range_of(double *low, double *high, const rela_study_report *r, const rela_exhibit *e)
{
    for (size_t i = 0; i < e->n_parts; i++)
        for (size_t m = 0; m < e->models.n; m++)
            for (int second = 0; second < 2; second++) {
                rela_fact_key key = part_key(e, &e->parts[i], e->models.items[m]);
                size_t at = 0;
                key.layer = RELA_FACT_EACH;
                key.measure = second ? e->parts[i].second : e->parts[i].measure;
                for (const rela_fact *f;
                     key.measure && (f = rela_facts_next(r->facts, &key, &at));) {
                    const double y = e->parts[i].factor * f->value;
                    *low = y < *low ? y : *low;
                    *high = y > *high ? y : *high;
                }
                const double level = rela_report_published(e, e->models.items[m], i);
                *low = level < *low ? level : *low;
                *high = level > *high ? level : *high;
            }
}

static void add_level(curves *c, const rela_exhibit *e, size_t model, size_t part)
{
    const double y = rela_report_published(e, e->models.items[model], part);
    if (!isfinite(y) || c->n_levels == SERIES_MAX)
        return;
    c->levels[c->n_levels] = (rela_chart_level){ c->n_levels ? NULL : "published mean over layers",
                                                 y, (int)(model % RELA_CHART_COLOURS) };
    c->n_levels++;
}

/* A panel for each part; without facts it says so. */
void rela_report_layers(rela_study_report *r, const rela_exhibit *e)
{
    curves *c = rela_mem_zalloc(sizeof *c);
    rela_chart legend = { .n_series = 0 };
    if (!c) {
        r->t.status = rela_fail(r->t.err, RELA_NOMEM, "no memory for a figure");
        return;
    }
    double low = INFINITY, high = -INFINITY;
    range_of(&low, &high, r, e);
    rela_compose(&r->t, "<div class=\"panels%s\">\n", e->n_parts % 3 == 1 ? " four" : "");
    bool any = false;
    for (size_t i = 0; i < e->n_parts; i++) {
        const rela_exhibit_part *p = &e->parts[i];
        c->n = c->n_levels = 0;
        size_t points = 0;
        for (size_t m = 0; m < e->models.n; m++) {
            add_curve(r, c, e, p, m, false);
            if (p->second)
                add_curve(r, c, e, p, m, true);
            add_level(c, e, m, i);
        }
        for (size_t k = 0; k < c->n; k++)
            points += c->series[k].n;
        legend = (rela_chart){ .title = p->title,
                               .x_label = "layer",
                               .y_label = p->unit,
                               .series = c->series,
                               .n_series = c->n,
                               .levels = c->levels,
                               .n_levels = c->n_levels,
                               .whole_x = true,
                               .y_low = low,
                               .y_high = high };
        if (points)
            rela_chart_draw(&r->t, &legend);
        any = any || points;
    }
    rela_compose(&r->t, "</div>\n");
    if (any)
        rela_chart_legend(&r->t, &legend);
    else
        rela_compose(&r->t, "<p class=\"missing\">Not run.</p>\n");
    rela_mem_free(c);
}

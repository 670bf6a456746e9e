/* SPDX-License-Identifier: MIT */
/* src/study/report_speed.c - what `rela bench` has measured: speed relative to a baseline, by
 * length, and operations. */
#include "study/study_report.h"

#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTHS_MAX = 64, KINDS_MAX = 8 };

static void speed_cell(rela_study_report *r, const rela_exhibit *e, const char *model,
                       size_t column);

static rela_fact_key speed_key(const char *measure, const char *model)
{
    rela_fact_key key = rela_fact_any(measure);
    key.model = model;
    return key;
}

/* Columns: measures of the exhibit; published numbers in the same order. */
void rela_report_speed(rela_study_report *r, const rela_exhibit *e)
{
    rela_report_table_head(r, e->title);
    rela_compose(&r->t, "<thead><tr><th scope=\"col\" class=\"text\">model</th>");
    for (size_t i = 0; i < e->n_parts; i++) {
        rela_compose(&r->t, "<th scope=\"col\">");
        rela_chart_text(&r->t, e->parts[i].title);
        rela_compose(&r->t, "</th>");
    }
    for (size_t i = 0; i < e->published_columns.n; i++) {
        rela_compose(&r->t, "<th scope=\"col\" class=\"paper\">");
        rela_chart_text(&r->t, e->published_columns.items[i]);
        rela_compose(&r->t, ", published</th>");
    }
    rela_compose(&r->t, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < e->models.n; i++) {
        const char *model = e->models.items[i];
        rela_compose(&r->t, "<tr><th scope=\"row\">");
        rela_chart_text(&r->t, model);
        rela_compose(&r->t, "</th>");
        for (size_t k = 0; k < e->n_parts; k++)
            speed_cell(r, e, model, k);
        for (size_t k = 0; k < e->published_columns.n; k++) {
            const double published = rela_report_published(e, model, k);
            if (isfinite(published))
                rela_compose(&r->t, "<td class=\"paper\">%.2f</td>", published);
            else
                rela_compose(&r->t, "<td class=\"paper\">&ndash;</td>");
        }
        rela_compose(&r->t, "</tr>\n");
    }
    rela_compose(&r->t, "</tbody></table></div>\n");
}

static void speed_cell(rela_study_report *r, const rela_exhibit *e, const char *model,
                       size_t column)
{
    const rela_exhibit_part *p = &e->parts[column];
    const rela_fact_key key = speed_key(p->measure, model);
    double low = INFINITY, high = -INFINITY, middle = (double)NAN;
    size_t at = 0, n = 0;
    bool timing = false;
    for (const rela_fact *f; (f = rela_facts_next(r->facts, &key, &at)); n++) {
        low = f->value < low ? f->value : low;
        high = f->value > high ? f->value : high;
        timing = f->timing;
        if (n == 0)
            middle = f->value;
    }
    rela_cell cell = rela_report_empty(e, model, p->title);
    cell.value = p->factor * middle;
    cell.timing = timing;
    cell.state = n ? "done" : "not run";
    cell.jobs = rela_report_jobs(r, &key);
    cell.published = rela_report_published(e, model, column);
    if (n > 1) {
        cell.low = low;
        cell.high = high;
    }
    rela_report_cell(r, &cell);
    if (n == 0)
        rela_compose(&r->t, "<td class=\"none\">not run</td>");
    else if (n > 1 && timing)
        rela_compose(&r->t, "<td>%.2f%s <small>%.2f to %.2f</small></td>", middle, p->unit, low,
                     high);
    else
        rela_compose(&r->t, "<td>%.2f%s</td>", p->factor * middle, p->unit);
}

/* ---- by length ---- */

typedef struct point {
    double x, y, low, high;
} point;

static int compare_points(const void *a, const void *b)
{
    const point *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

/* The length is the tag; the seed numbers the rounds, with the median first. */
static size_t points_of(point *points, const rela_study_report *r, const rela_fact_key *key)
{
    size_t n = 0, at = 0;
    for (const rela_fact *f; (f = rela_facts_next(r->facts, key, &at));) {
        double x = 0;
        size_t k = 0;
        if (!rela_parse_f64(&x, f->key.tag))
            continue;
        while (k < n && points[k].x != x)
            k++;
        if (k == n && n < LENGTHS_MAX)
            points[n++] = (point){ x, f->value, f->value, f->value };
        if (k < LENGTHS_MAX && f->value < points[k].low)
            points[k].low = f->value;
        if (k < LENGTHS_MAX && f->value > points[k].high)
            points[k].high = f->value;
    }
    qsort(points, n, sizeof *points, compare_points);
    return n;
}

static void note_points(rela_study_report *r, const rela_exhibit *e, const char *model,
                        const rela_fact_key *key, const point *points, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char column[64];
        rela_format_text(column, sizeof column, "length %.4g", points[i].x);
        rela_cell cell = rela_report_empty(e, model, "");
        cell.column = rela_facts_text(r->facts, column, strlen(column));
        cell.value = points[i].y;
        cell.low = points[i].low;
        cell.high = points[i].high;
        cell.timing = true;
        cell.state = "done";
        cell.jobs = rela_report_jobs(r, key);
        rela_report_cell(r, &cell);
    }
}

void rela_report_lengths(rela_study_report *r, const rela_exhibit *e)
{
    double x[KINDS_MAX][LENGTHS_MAX], y[KINDS_MAX][LENGTHS_MAX], low[KINDS_MAX][LENGTHS_MAX],
        high[KINDS_MAX][LENGTHS_MAX];
    rela_chart_series series[KINDS_MAX];
    rela_chart c = { .x_label = "source length in tokens", .y_low = 0, .y_high = 1.1 };
    size_t total = 0;
    for (size_t m = 0; m < e->models.n && m < KINDS_MAX; m++) {
        point points[LENGTHS_MAX] = { { 0 } };
        const rela_fact_key key = speed_key(e->measures.items[0], e->models.items[m]);
        const size_t n = points_of(points, r, &key);
        for (size_t i = 0; i < n; i++) {
            x[m][i] = points[i].x;
            y[m][i] = points[i].y;
            low[m][i] = points[i].low;
            high[m][i] = points[i].high;
        }
        note_points(r, e, e->models.items[m], &key, points, n);
        series[m] = (rela_chart_series){ .name = e->models.items[m],
                                         .x = x[m],
                                         .y = y[m],
                                         .low = low[m],
                                         .high = high[m],
                                         .n = n,
                                         .colour = (int)m };
        total += n;
        c.n_series = m + 1;
    }
    c.series = series;
    c.title = "Translation speed relative to softmax";
    c.y_label = "speed / speed of softmax";
    if (total == 0) {
        rela_compose(&r->t, "<p class=\"missing\">Not run.</p>\n");
        return;
    }
    rela_compose(&r->t, "<div class=\"panels wide\">\n");
    rela_chart_draw(&r->t, &c);
    rela_compose(&r->t, "</div>\n");
    rela_chart_legend(&r->t, &c);
}

/* ---- operations ---- */

static void operation_cell(rela_study_report *r, const rela_exhibit *e, const char *measure,
                           const char *length, const char *title, int digits)
{
    rela_fact_key key = rela_fact_any(measure);
    key.tag = length;
    size_t at = 0;
    const rela_fact *f = rela_facts_next(r->facts, &key, &at);
    rela_cell cell = rela_report_empty(e, length, title);
    if (f && !(f->timing && r->options.no_timings)) {
        char grouped[RELA_GROUPED_SIZE];
        cell.value = f->value;
        cell.timing = f->timing;
        cell.state = "done";
        cell.jobs = f->job;
        if (digits)
            rela_compose(&r->t, "<td>%.*f</td>", digits, f->value);
        else
            rela_compose(&r->t, "<td>%s</td>", rela_grouped(grouped, (uint64_t)f->value));
    } else {
        rela_compose(&r->t, "<td class=\"none\">&ndash;</td>");
    }
    rela_report_cell(r, &cell);
}

void rela_report_operations(rela_study_report *r, const rela_exhibit *e)
{
    static const char *const MEASURES[] = { "softmax-flops", "rela-flops", "flops-ratio",
                                            "softmax-us",    "rela-us",    "time-ratio" };
    static const char *const TITLES[] = { "softmax, operations", "ReLA-g, operations",
                                          "softmax / ReLA-g",    "softmax, \xC2\xB5s",
                                          "ReLA-g, \xC2\xB5s",   "softmax / ReLA-g in time" };
    static const int DIGITS[] = { 0, 0, 2, 2, 2, 2 };
    const size_t n = r->options.no_timings ? 3 : 6;
    rela_report_table_head(r, e->title);
    rela_compose(&r->t, "<thead><tr><th scope=\"col\" class=\"text\">length T</th>");
    for (size_t i = 0; i < n; i++)
        rela_compose(&r->t, "<th scope=\"col\">%s</th>", TITLES[i]);
    rela_compose(&r->t, "</tr></thead><tbody>\n");
    const rela_fact_key key = rela_fact_any(MEASURES[0]);
    size_t at = 0, found = 0;
    for (const rela_fact *f; (f = rela_facts_next(r->facts, &key, &at)); found++) {
        rela_compose(&r->t, "<tr><th scope=\"row\">%s</th>", f->key.tag);
        for (size_t i = 0; i < n; i++)
            operation_cell(r, e, MEASURES[i], f->key.tag, TITLES[i], DIGITS[i]);
        rela_compose(&r->t, "</tr>\n");
    }
    if (found == 0)
        rela_compose(&r->t, "<tr><td class=\"none\" colspan=\"%zu\">not run</td></tr>\n", n + 1);
    rela_compose(&r->t, "</tbody></table></div>\n");
}

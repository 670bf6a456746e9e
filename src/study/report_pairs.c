/* SPDX-License-Identifier: MIT */
/* src/study/report_pairs.c - what null attention tells about words and sentence pairs: null rates
 * by part of speech, a ranked corpus, maps of example sentences. */
#include "study/study_report.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TAGS_MAX = 64,
    HEADS_MAX = 256,
    LABELS_MAX = 32,
    SHADES = 9,
    ENDS = 8,
    LAYERS_MAX = 64,
    SENTENCES_MAX = 16
};

/* ---- parts of speech ---- */

typedef struct tag_table {
    const char *tags[TAGS_MAX];
    size_t n_tags;
    int64_t layers[HEADS_MAX], heads[HEADS_MAX];
    size_t n_heads;
} tag_table;

static void find_tags(tag_table *t, const rela_study_report *r, const rela_fact_key *key)
{
    size_t at = 0;
    for (const rela_fact *f; (f = rela_facts_next(r->facts, key, &at));) {
        size_t i = 0, k = 0;
        while (i < t->n_tags && strcmp(t->tags[i], f->key.tag) != 0)
            i++;
        if (i == t->n_tags && i < TAGS_MAX)
            t->tags[t->n_tags++] = f->key.tag;
        while (k < t->n_heads && (t->layers[k] != f->key.layer || t->heads[k] != f->key.head))
            k++;
        if (k == t->n_heads && k < HEADS_MAX) {
            t->layers[k] = f->key.layer;
            t->heads[t->n_heads++] = f->key.head;
        }
    }
}

static void tag_cell(rela_study_report *r, const rela_exhibit *e, rela_fact_key key, bool note)
{
    const double value = rela_facts_mean(r->facts, &key, NULL);
    if (isfinite(value))
        rela_compose(&r->t, "<td class=\"h%d\">%.0f</td>", (int)(value * SHADES + 0.5),
                     100 * value);
    else
        rela_compose(&r->t, "<td class=\"none\">&ndash;</td>");
    if (!note)
        return;
    char column[64];
    rela_format_text(column, sizeof column, "layer %lld, head %lld", (long long)key.layer + 1,
                     (long long)key.head + 1);
    rela_cell cell = rela_report_empty(e, key.tag, "");
    cell.column = rela_facts_text(r->facts, column, strlen(column));
    cell.value = value;
    cell.state = isfinite(value) ? "done" : "not run";
    cell.jobs = rela_report_jobs(r, &key);
    rela_report_cell(r, &cell);
}

void rela_report_tags(rela_study_report *r, const rela_exhibit *e)
{
    tag_table *t = rela_mem_zalloc(sizeof *t);
    rela_fact_key key = rela_fact_any("tag-null");
    if (!t) {
        r->t.status = rela_fail(r->t.err, RELA_NOMEM, "no memory for a table");
        return;
    }
    key.data = e->data;
    key.model = e->models.n ? e->models.items[0] : NULL;
    find_tags(t, r, &key);
    if (t->n_tags == 0) {
        rela_compose(&r->t, "<p class=\"missing\">Not run.</p>\n");
        goto out;
    }
    rela_report_table_head(r, e->title);
    rela_compose(&r->t, "<thead><tr><th scope=\"col\" class=\"text\">after</th>");
    for (size_t k = 0; k < t->n_heads; k++)
        rela_compose(&r->t, "<th scope=\"col\">%lld.%lld</th>", (long long)t->layers[k] + 1,
                     (long long)t->heads[k] + 1);
    rela_compose(&r->t, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < t->n_tags; i++) {
        rela_compose(&r->t, "<tr><th scope=\"row\">");
        rela_chart_text(&r->t, t->tags[i]);
        rela_compose(&r->t, "</th>");
        for (size_t k = 0; k < t->n_heads; k++) {
            key.tag = t->tags[i];
            key.layer = t->layers[k];
            key.head = t->heads[k];
            tag_cell(r, e, key, true);
        }
        rela_compose(&r->t, "</tr>\n");
    }
    rela_compose(&r->t, "</tbody></table></div>\n");
out:
    rela_mem_free(t);
}

/* ---- ranking ---- */

typedef struct ranked_pair {
    double value;
    size_t line;
    const char *label, *src, *tgt;
} ranked_pair;

static int compare_pairs(const void *a, const void *b)
{
    const ranked_pair *p = a, *q = b;
    if (p->value != q->value)
        return p->value < q->value ? -1 : 1;
    return (p->line > q->line) - (p->line < q->line);
}

static const rela_fact_column *column_of(const rela_study_report *r, const rela_exhibit *e)
{
    rela_fact_key key = rela_fact_any("rank-null");
    key.data = e->data;
    key.model = e->models.n ? e->models.items[0] : NULL;
    for (size_t i = 0; i < r->facts->n_columns; i++)
        if (rela_fact_matches(&r->facts->columns[i].key, &key))
            return &r->facts->columns[i];
    return NULL;
}

static size_t label_number(const char **labels, size_t *n, const char *label)
{
    size_t i = 0;
    while (i < *n && strcmp(labels[i], label) != 0)
        i++;
    if (i == *n && i < LABELS_MAX)
        labels[(*n)++] = label;
    return i < LABELS_MAX ? i : LABELS_MAX - 1;
}

/* How many pairs of each label stand in each tenth of the ranking. */
static void tenths_table(rela_study_report *r, const rela_exhibit *e, const ranked_pair *pairs,
                         size_t n, const char *job)
{
    const char *labels[LABELS_MAX];
    size_t n_labels = 0, counts[LABELS_MAX][10] = { { 0 } }, totals[LABELS_MAX] = { 0 };
    for (size_t i = 0; i < n; i++) {
        const size_t label = label_number(labels, &n_labels, pairs[i].label);
        counts[label][i * 10 / n]++;
        totals[label]++;
    }
    rela_report_table_head(r, "Share of each kind of pair in the tenths of the ranking, in %");
    rela_compose(&r->t, "<thead><tr><th scope=\"col\" class=\"text\">pairs</th>");
    for (int i = 1; i <= 10; i++)
        rela_compose(&r->t, "<th scope=\"col\">%s%d%s</th>", i == 1 ? "lowest null rate " : "", i,
                     i == 10 ? " highest" : "");
    rela_compose(&r->t, "</tr></thead><tbody>\n");
    for (size_t k = 0; k < n_labels; k++) {
        rela_compose(&r->t, "<tr><th scope=\"row\">");
        rela_chart_text(&r->t, labels[k]);
        rela_compose(&r->t, " (%zu)</th>", totals[k]);
        for (int i = 0; i < 10; i++) {
            char column[32];
            const double share = (double)counts[k][i] / (double)totals[k];
            const int shade = (int)(share * 3 * SHADES + 0.5);
            rela_compose(&r->t, "<td class=\"h%d\">%.0f</td>", shade > SHADES ? SHADES : shade,
                         100 * share);
            rela_format_text(column, sizeof column, "tenth %d", i + 1);
            rela_cell cell = rela_report_empty(e, labels[k], "");
            cell.column = rela_facts_text(r->facts, column, strlen(column));
            cell.value = share;
            cell.state = "done";
            cell.jobs = job;
            rela_report_cell(r, &cell);
        }
        rela_compose(&r->t, "</tr>\n");
    }
    rela_compose(&r->t, "</tbody></table></div>\n");
}

static void sample_rows(rela_study_report *r, const ranked_pair *pairs, size_t first, size_t n,
                        const char *title)
{
    rela_compose(&r->t, "<tr><th scope=\"rowgroup\" colspan=\"4\" class=\"group\">%s</th></tr>\n",
                 title);
    for (size_t i = first; i < first + n; i++) {
        rela_compose(&r->t, "<tr><td>%.3f</td><td class=\"text\">", pairs[i].value);
        rela_chart_text(&r->t, pairs[i].label);
        rela_compose(&r->t, "</td>");
        if (!r->options.without_text && pairs[i].src) {
            rela_compose(&r->t, "<td class=\"text long\">");
            rela_chart_text(&r->t, pairs[i].src);
            rela_compose(&r->t, "<br>");
            rela_chart_text(&r->t, pairs[i].tgt);
        } else {
            rela_compose(&r->t, "<td class=\"text\">line %zu", pairs[i].line + 1);
        }
        rela_compose(&r->t, "</td></tr>\n");
    }
}

void rela_report_ranking(rela_study_report *r, const rela_exhibit *e)
{
    const rela_fact_column *c = column_of(r, e);
    if (!c || c->n < 10) {
        rela_compose(&r->t, "<p class=\"missing\">Not run.</p>\n");
        return;
    }
    ranked_pair *pairs = rela_mem_array(c->n, sizeof *pairs);
    if (!pairs) {
        r->t.status = rela_fail(r->t.err, RELA_NOMEM, "no memory for %zu pairs", c->n);
        return;
    }
    for (size_t i = 0; i < c->n; i++)
        pairs[i] = (ranked_pair){ c->values[i], i, c->labels ? c->labels[i] : "pair",
                                  c->src ? c->src[i] : NULL, c->tgt ? c->tgt[i] : NULL };
    qsort(pairs, c->n, sizeof *pairs, compare_pairs);
    tenths_table(r, e, pairs, c->n, c->job);
    const size_t ends = c->n < 2 * ENDS ? c->n / 2 : ENDS;
    rela_report_table_head(r, "Samples of both ends");
    rela_compose(&r->t, "<thead><tr><th scope=\"col\">null rate</th><th scope=\"col\" "
                        "class=\"text\">kind</th><th scope=\"col\" class=\"text\">pair</th></tr>"
                        "</thead><tbody>\n");
    sample_rows(r, pairs, 0, ends, "lowest null rate");
    sample_rows(r, pairs, c->n - ends, ends, "highest null rate");
    rela_compose(&r->t, "</tbody></table></div>\n");
    rela_mem_free(pairs);
}

/* ---- maps ---- */

/* The layer with the highest null rate; one that is silent altogether shows nothing. */
static int64_t layer_shown(const rela_study_report *r, const rela_exhibit *e, const char *model)
{
    static const double SILENT = 0.98;
    double best = -1;
    int64_t layer = 0;
    for (int64_t i = 0; i < LAYERS_MAX; i++) {
        rela_fact_key key = rela_fact_any("null_rate");
        key.data = e->data;
        key.model = model;
        key.place = "cross";
        key.layer = i;
        key.head = RELA_FACT_NONE;
        const double rate = rela_facts_mean(r->facts, &key, NULL);
        if (rate > best && rate < SILENT) {
            best = rate;
            layer = i;
        }
    }
    return layer;
}

/* All heads of that layer on one sentence. */
static size_t sentence_maps(rela_study_report *r, const rela_fact_key *key, size_t sentence)
{
    size_t shown = 0;
    for (size_t i = 0; i < r->facts->n_maps; i++) {
        const rela_fact_map *m = &r->facts->maps[i];
        char title[96];
        if (m->sentence != sentence || !rela_fact_matches(&m->key, key) ||
            (m->of_corpus && r->options.without_text))
            continue;
        rela_compose(&r->t, "%s", shown ? "" : "<div class=\"maps\">\n");
        rela_format_text(title, sizeof title, "Sentence %zu, layer %lld, head %lld", sentence + 1,
                         (long long)m->key.layer + 1, (long long)m->key.head + 1);
        const rela_chart_map map = { title,        m->rows,    m->columns, m->n_rows,
                                     m->n_columns, m->weights, 0 };
        rela_chart_draw_map(&r->t, &map);
        shown++;
    }
    rela_compose(&r->t, "%s", shown ? "</div>\n" : "");
    return shown;
}

void rela_report_maps(rela_study_report *r, const rela_exhibit *e)
{
    rela_fact_key key = rela_fact_any("map");
    size_t shown = 0;
    key.data = e->data;
    key.model = e->models.n ? e->models.items[0] : NULL;
    key.layer = layer_shown(r, e, key.model);
    for (size_t i = 0; i < SENTENCES_MAX; i++)
        shown += sentence_maps(r, &key, i);
    if (shown == 0)
        rela_compose(&r->t, "<p class=\"missing\">Not run.</p>\n");
}

/* SPDX-License-Identifier: MIT */
/* src/study/report_scores.c - tables of scores: models against a baseline, models by corpora. */
#include "study/study_report.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { SEEDS_MAX = 64 };

/* Scores of one model: mean and spread over its seeds. */
typedef struct seeded {
    double mean, spread;
    size_t n;
} seeded;

static seeded scores_of(const rela_study_report *r, const rela_fact_key *key);
static void head_row(rela_study_report *r, const rela_exhibit *e);
static void score_row(rela_study_report *r, const rela_exhibit *e, size_t row, double p_holm,
                      const rela_study_effect *effect);
static rela_status effects_of(rela_study_effect *effects, double *holm, rela_study_report *r,
                              const rela_exhibit *e);

static rela_fact_key key_of(const char *measure, const char *data, const char *model)
{
    rela_fact_key key = rela_fact_any(measure);
    key.data = data;
    key.model = model;
    return key;
}

void rela_report_scores(rela_study_report *r, const rela_exhibit *e)
{
    rela_study_effect *effects = rela_mem_array(e->models.n + 1, sizeof *effects);
    double *holm = rela_mem_array(e->models.n + 1, sizeof *holm);
    if (!effects || !holm) {
        r->t.status = rela_fail(r->t.err, RELA_NOMEM, "no memory for a table");
        goto out;
    }
    const rela_status st = effects_of(effects, holm, r, e);
    if (st != RELA_OK) {
        r->t.status = st;
        goto out;
    }
    rela_compose(&r->t, "<div class=\"scores\">");
    rela_report_table_head(r, e->title);
    head_row(r, e);
    for (size_t i = 0; i < e->models.n; i++)
        score_row(r, e, i, holm[i], &effects[i]);
    rela_compose(&r->t, "</tbody></table></div></div>\n");
out:
    rela_mem_free(effects);
    rela_mem_free(holm);
}

/* Differences from the baseline in the first measure; p-values of all of them by Holm. */
static rela_status effects_of(rela_study_effect *effects, double *holm, rela_study_report *r,
                              const rela_exhibit *e)
{
    size_t places[256] = { 0 }, n = 0;
    double p[256];
    rela_status st = RELA_OK;
    for (size_t i = 0; i < e->models.n; i++)
        holm[i] = (double)NAN;
    for (size_t i = 0; i < e->models.n && n < 256 && st == RELA_OK; i++) {
        const rela_fact_key a = key_of(e->measures.items[0], e->data, e->models.items[i]);
        const rela_fact_key b = key_of(e->measures.items[0], e->data, e->against);
        effects[i] = (rela_study_effect){ .n = 0 };
        if (!e->against || strcmp(e->models.items[i], e->against) == 0)
            continue;
        st = rela_scores_compare(&effects[i], r->facts, &a, &b, &r->how, r->t.err);
        if (effects[i].n) {
            places[n] = i;
            p[n++] = effects[i].p;
        }
    }
    st = st ? st : rela_study_holm(p, n, r->t.err);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        holm[places[i]] = p[i];
    return st;
}

const char *rela_report_measure_title(const char *measure)
{
    static const char *const TITLES[][2] = { { "bleu", "BLEU" },
                                             { "bleu-tokenised", "tokenised BLEU" },
                                             { "chrf", "chrF" } };
    for (size_t i = 0; i < 3; i++)
        if (strcmp(TITLES[i][0], measure) == 0)
            return TITLES[i][1];
    return measure;
}

static void head_row(rela_study_report *r, const rela_exhibit *e)
{
    const size_t n_published = e->published_columns.n;
    rela_compose(&r->t,
                 "<thead><tr><th></th><th></th><th class=\"own\" colspan=\"%zu\">measured "
                 "here</th>",
                 e->measures.n + 2 + 2 * (e->against != NULL));
    if (n_published)
        rela_compose(&r->t, "<th class=\"paper\" colspan=\"%zu\">published</th>", n_published);
    rela_compose(&r->t, "</tr><tr><th scope=\"col\">row</th><th scope=\"col\" class=\"text\">model"
                        "</th>");
    for (size_t i = 0; i < e->measures.n; i++)
        rela_compose(&r->t, "<th scope=\"col\">%s</th>",
                     rela_report_measure_title(e->measures.items[i]));
    rela_compose(&r->t, "<th scope=\"col\">seeds</th><th scope=\"col\">validation loss</th>");
    if (e->against)
        rela_compose(&r->t, "<th scope=\"col\">difference, 95 %% interval</th>"
                            "<th scope=\"col\">p (Holm)</th>");
    for (size_t i = 0; i < n_published; i++) {
        rela_compose(&r->t, "<th scope=\"col\" class=\"paper\">");
        rela_chart_text(&r->t, e->published_columns.items[i]);
        rela_compose(&r->t, "</th>");
    }
    rela_compose(&r->t, "</tr></thead><tbody>\n");
}

static seeded scores_of(const rela_study_report *r, const rela_fact_key *key)
{
    int64_t seeds[SEEDS_MAX];
    double values[SEEDS_MAX] = { 0 }, sum = 0;
    seeded s = { (double)NAN, (double)NAN, rela_scores_seeds(seeds, SEEDS_MAX, r->facts, key) };
    for (size_t i = 0; i < s.n; i++)
        values[i] = rela_scores_of_seed(r->facts, key, seeds[i], &r->how);
    if (s.n)
        s.mean = rela_study_average(values, s.n);
    for (size_t i = 0; i < s.n; i++)
        sum += (values[i] - s.mean) * (values[i] - s.mean);
    if (s.n > 1)
        s.spread = sqrt(sum / (double)(s.n - 1));
    return s;
}

static void interval(rela_study_report *r, const rela_study_effect *effect)
{
    if (effect->n)
        rela_compose(&r->t, "<td>%+.2f <small>%+.2f to %+.2f</small></td>", effect->value,
                     effect->low, effect->high);
    else
        rela_compose(&r->t, "<td class=\"none\">&ndash;</td>");
}

static void p_value(rela_study_report *r, double p, double level)
{
    if (!isfinite(p))
        rela_compose(&r->t, "<td class=\"none\">&ndash;</td>");
    else if (p < 0.0005)
        rela_compose(&r->t, "<td class=\"sure\">&lt; 0.001</td>");
    else
        rela_compose(&r->t, "<td%s>%.3f</td>", p < level ? " class=\"sure\"" : "", p);
}

static void score_row(rela_study_report *r, const rela_exhibit *e, size_t row, double p_holm,
                      const rela_study_effect *effect)
{
    const char *model = e->models.items[row];
    const char *state = rela_report_state(r, e->data, model);
    rela_compose(&r->t, "<tr><td class=\"text\">%zu</td><th scope=\"row\">", row + 1);
    rela_chart_text(&r->t, rela_report_model_title(r, model));
    rela_compose(&r->t, "</th>");
    seeded first = { (double)NAN, (double)NAN, 0 };
    for (size_t i = 0; i < e->measures.n; i++) {
        const rela_fact_key key = key_of(e->measures.items[i], e->data, model);
        const seeded s = scores_of(r, &key);
        rela_cell cell = rela_report_empty(e, model, e->measures.items[i]);
        first = i == 0 ? s : first;
        if (i == 0 && isfinite(s.spread))
            rela_compose(&r->t, "<td>%.1f <small>&plusmn; %.1f</small></td>", s.mean, s.spread);
        else
            rela_report_number(r, s.mean, 1, state);
        cell.value = s.mean;
        cell.spread = s.spread;
        cell.n_seeds = s.n;
        cell.published = rela_report_published(e, model, i);
        cell.state = s.n ? "done" : state;
        cell.jobs = rela_report_jobs(r, &key);
        cell.planned = i == 0 && rela_report_planned(r, model, e->against, e->measures.items[i]);
        if (i == 0 && effect->n) {
            cell.n = effect->n;
            cell.low = s.mean + effect->low - effect->value;
            cell.high = s.mean + effect->high - effect->value;
            cell.p = p_holm;
        }
        rela_report_cell(r, &cell);
    }
    rela_fact_key nll = key_of("valid-nll", e->data, model);
    const double loss = rela_facts_mean(r->facts, &nll, NULL);
    rela_compose(&r->t, "<td>%zu</td>", first.n);
    rela_report_number(r, loss, 3, state);
    rela_cell cell = rela_report_empty(e, model, "validation loss");
    cell.value = loss;
    cell.state = isfinite(loss) ? "done" : state;
    cell.jobs = rela_report_jobs(r, &nll);
    rela_report_cell(r, &cell);
    if (e->against) {
        interval(r, effect);
        p_value(r, p_holm, r->study->plan.level);
    }
    for (size_t i = 0; i < e->published_columns.n; i++) {
        const double published = rela_report_published(e, model, i);
        if (isfinite(published))
            rela_compose(&r->t, "<td class=\"paper\">%.*f</td>", i ? 2 : 1, published);
        else
            rela_compose(&r->t, "<td class=\"paper\">&ndash;</td>");
    }
    rela_compose(&r->t, "</tr>\n");
}

/* ---- models by corpora ---- */

static bool shown(const rela_study_report *r, size_t data)
{
    for (size_t i = 0; i < r->study->n_rows; i++)
        if (strcmp(r->study->rows[i].data, r->study->data[data].name) == 0)
            return true;
    return false;
}

static void pair_cell(rela_study_report *r, const rela_exhibit *e, size_t data, const char *model,
                      double best)
{
    const char *name = r->study->data[data].name;
    const rela_fact_key key = key_of(e->measures.items[0], name, model);
    const seeded s = scores_of(r, &key);
    const char *state = rela_report_state(r, name, model);
    rela_cell cell = rela_report_empty(e, model, name);
    cell.value = s.mean;
    cell.spread = s.spread;
    cell.n_seeds = s.n;
    cell.state = s.n ? "done" : state;
    cell.jobs = rela_report_jobs(r, &key);
    cell.planned = rela_report_planned(r, model, "softmax", e->measures.items[0]);
    rela_report_cell(r, &cell);
    if (s.n && s.mean >= best)
        rela_compose(&r->t, "<td class=\"best\">%.1f</td>", s.mean);
    else
        rela_report_number(r, s.mean, 1, state);
}

static double best_on(const rela_study_report *r, const rela_exhibit *e, const char *data)
{
    double best = -1;
    for (size_t i = 0; i < e->models.n; i++) {
        const rela_fact_key key = key_of(e->measures.items[0], data, e->models.items[i]);
        const seeded s = scores_of(r, &key);
        best = s.n && s.mean > best ? s.mean : best;
    }
    return best;
}

void rela_report_pairs(rela_study_report *r, const rela_exhibit *e)
{
    size_t n = 0;
    for (size_t d = 0; d < r->study->n_data; d++)
        n += shown(r, d);
    rela_report_table_head(r, e->title);
    rela_compose(&r->t, "<thead><tr><th></th><th class=\"own\" colspan=\"%zu\">measured here</th>",
                 n);
    if (e->published_columns.n)
        rela_compose(&r->t, "<th class=\"paper\" colspan=\"%zu\">published</th>",
                     e->published_columns.n);
    rela_compose(&r->t, "</tr><tr><th scope=\"col\" class=\"text\">model</th>");
    for (size_t d = 0; d < r->study->n_data; d++)
        if (shown(r, d)) {
            rela_compose(&r->t, "<th scope=\"col\">");
            rela_chart_text(&r->t, rela_layout_data_title(r->layout, r->study->data[d].name));
            rela_compose(&r->t, "</th>");
        }
    for (size_t i = 0; i < e->published_columns.n; i++) {
        rela_compose(&r->t, "<th scope=\"col\" class=\"paper\">");
        rela_chart_text(&r->t, e->published_columns.items[i]);
        rela_compose(&r->t, "</th>");
    }
    rela_compose(&r->t, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < e->models.n; i++) {
        rela_compose(&r->t, "<tr><th scope=\"row\">");
        rela_chart_text(&r->t, e->models.items[i]);
        rela_compose(&r->t, "</th>");
        for (size_t d = 0; d < r->study->n_data; d++)
            if (shown(r, d))
                pair_cell(r, e, d, e->models.items[i], best_on(r, e, r->study->data[d].name));
        for (size_t k = 0; k < e->published_columns.n; k++)
            rela_compose(&r->t, "<td class=\"paper\">%.1f</td>",
                         rela_report_published(e, e->models.items[i], k));
        rela_compose(&r->t, "</tr>\n");
    }
    rela_compose(&r->t, "</tbody></table></div>\n");
}

/* SPDX-License-Identifier: MIT */
/* src/study/study_report.c - see study_report.h: the page from its parts. */
#include "study/study_report.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "page/web_page.h"
#include "study/report_files.h"
#include "study/results.h"

#include <math.h>
#include <string.h>

enum { JOBS_NAMED = 6 };

static void page(rela_study_report *r);
static void answer(rela_study_report *r);
static void contents(rela_study_report *r);
static void exhibit(rela_study_report *r, const rela_exhibit *e);
static bool is_timing(rela_exhibit_kind kind);
static rela_status decide_all(rela_study_report *r, rela_error *err);
static rela_status make_metrics(rela_metric *out[3], rela_error *err);

/* ---- all of it ---- */

rela_status rela_study_report_write(const char *dir, const rela_study *study,
                                    const rela_study_jobs *jobs,
                                    const rela_study_report_options *options, rela_error *err)
{
    static const char *const NAMES[] = { "report.html", "report.tsv", "report.json" };
    rela_buffer files[3] = { RELA_BUFFER_INIT, RELA_BUFFER_INIT, RELA_BUFFER_INIT };
    rela_buffer path = RELA_BUFFER_INIT;
    rela_facts facts = { .arena = NULL };
    rela_layout layout;
    rela_claims claims;
    rela_status st = rela_facts_init(&facts, err);
    st = st ? st : rela_layout_read(&layout, study, err);
    st = st ? st : rela_claims_read(&claims, study->arena, study->claims, err);
    st = st ? st : rela_study_results_load(&facts, jobs, options->results, options->dir, err);
    rela_study_report r = { .study = study,
                            .jobs = jobs,
                            .facts = &facts,
                            .layout = &layout,
                            .claims = &claims,
                            .options = *options };
    st = st ? st : rela_study_report_make(&files[0], &files[1], &files[2], &r, err);
    st = st ? st : rela_dir_make(dir, err);
    for (size_t i = 0; i < 3 && st == RELA_OK; i++) {
        rela_buffer_clear(&path);
        st = rela_buffer_printf(&path, err, "%s/%s", dir, NAMES[i]);
        st = st ? st : rela_file_write(path.data, files[i].data, files[i].len, err);
    }
    for (size_t i = 0; i < 3; i++)
        rela_buffer_free(&files[i]);
    rela_buffer_free(&path);
    rela_facts_deinit(&facts);
    return st;
}

rela_status rela_study_report_make(rela_buffer *html, rela_buffer *tsv, rela_buffer *json,
                                   rela_study_report *r, rela_error *err)
{
    rela_metric *metrics[3] = { NULL, NULL, NULL };
    rela_status st = make_metrics(metrics, err);
    const int64_t samples = r->study->plan.samples;
    r->how =
        (rela_claim_means){ samples > 0 ? samples : 1000, 1, metrics[0], metrics[1], metrics[2] };
    r->t = (rela_composer){ html, err, RELA_OK };
    st = st ? st : decide_all(r, err);
    if (st == RELA_OK)
        page(r);
    st = st ? st : r->t.status;
    st = st ? st : rela_report_tsv(tsv, r, err);
    st = st ? st : rela_report_json(json, r, err);
    for (size_t i = 0; i < 3; i++)
        rela_metric_destroy(metrics[i]);
    rela_mem_free(r->cells);
    r->cells = NULL;
    return st;
}

static rela_status make_metrics(rela_metric *out[3], rela_error *err)
{
    rela_bleu_options blanks;
    rela_bleu_options_init(&blanks, sizeof blanks);
    blanks.tokens = RELA_BLEU_NONE;
    rela_status st = rela_metric_create_bleu(&out[0], NULL, err);
    st = st ? st : rela_metric_create_bleu(&out[1], &blanks, err);
    return st ? st : rela_metric_create_chrf(&out[2], NULL, err);
}

static rela_status decide_all(rela_study_report *r, rela_error *err)
{
    r->verdicts = rela_arena_alloc(r->facts->arena, (r->claims->n + 1) * sizeof *r->verdicts);
    rela_status st = r->verdicts ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for claims");
    for (size_t i = 0; i < r->claims->n && st == RELA_OK; i++)
        st = rela_claim_decide(&r->verdicts[i], &r->claims->items[i], r->facts, &r->how, err);
    return st;
}

static void page(rela_study_report *r)
{
    rela_compose(&r->t, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
                        "<title>");
    rela_chart_text(&r->t, r->layout->title);
    rela_compose(&r->t, "</title><style>");
    if (r->t.status == RELA_OK)
        r->t.status = rela_page_add_style(r->t.out, RELA_PAGE_STUDY, r->t.err);
    rela_compose(&r->t, "</style></head><body>\n<header><h1>");
    rela_chart_text(&r->t, r->layout->title);
    rela_compose(&r->t, "</h1><p>");
    rela_chart_text(&r->t, r->layout->question);
    rela_compose(&r->t, "</p></header>\n<main>\n");
    answer(r);
    contents(r);
    rela_report_claims(r);
    for (size_t i = 0; i < r->layout->n; i++)
        if (!is_timing(r->layout->items[i].kind))
            exhibit(r, &r->layout->items[i]);
    for (size_t i = 0; i < r->layout->n; i++)
        if (is_timing(r->layout->items[i].kind) &&
            !(r->options.no_timings && r->layout->items[i].kind != RELA_EXHIBIT_OPERATIONS))
            exhibit(r, &r->layout->items[i]);
    rela_report_runs(r);
    rela_compose(&r->t, "</main>\n<footer><p>Study <code>");
    rela_chart_text(&r->t, r->study->name);
    rela_compose(&r->t,
                 "</code>%s%s. rela " RELA_VERSION_TEXT ". The same numbers are in "
                 "report.tsv and report.json.</p></footer></body></html>\n",
                 *r->study->scale ? ", scale " : "", r->study->scale);
}

static bool is_timing(rela_exhibit_kind kind)
{
    return kind == RELA_EXHIBIT_SPEED || kind == RELA_EXHIBIT_LENGTHS ||
           kind == RELA_EXHIBIT_OPERATIONS;
}

static void contents(rela_study_report *r)
{
    rela_compose(&r->t, "<nav aria-label=\"Contents\"><ul>");
    if (r->claims->n)
        rela_compose(&r->t, "<li><a href=\"#claims\">Claims</a></li>");
    for (size_t i = 0; i < r->layout->n; i++) {
        const rela_exhibit *e = &r->layout->items[i];
        if (r->options.no_timings && is_timing(e->kind) && e->kind != RELA_EXHIBIT_OPERATIONS)
            continue;
        rela_compose(&r->t, "<li><a href=\"#%s\">", e->id);
        rela_chart_text(&r->t, *e->name ? e->name : e->title);
        rela_compose(&r->t, "</a></li>");
    }
    rela_compose(&r->t, "<li><a href=\"#runs\">How it was made</a></li></ul></nav>\n");
}

static void exhibit(rela_study_report *r, const rela_exhibit *e)
{
    static void (*const PARTS[])(rela_study_report *, const rela_exhibit *) = {
        rela_report_scores,  rela_report_pairs,   rela_report_means,      rela_report_layers,
        rela_report_speed,   rela_report_lengths, rela_report_operations, rela_report_tags,
        rela_report_ranking, rela_report_maps
    };
    const bool planned =
        e->kind == RELA_EXHIBIT_SCORES && e->against && e->measures.n && e->models.n > 1 &&
        rela_report_planned(r, e->models.items[1], e->against, e->measures.items[0]);
    rela_report_open(r, e, planned);
    if (r->t.status == RELA_OK)
        PARTS[e->kind](r, e);
    rela_report_close(r, e);
}

/* ---- the answer, first of all ---- */

static void model_score(rela_study_report *r, const rela_fact_key *key, const char *model)
{
    int64_t seeds[64];
    const size_t n = rela_scores_seeds(seeds, 64, r->facts, key);
    double values[64], sum = 0;
    for (size_t i = 0; i < n; i++)
        values[i] = rela_scores_of_seed(r->facts, key, seeds[i], &r->how);
    const double mean = rela_study_average(values, n);
    for (size_t i = 0; i < n; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    rela_compose(&r->t, "<b>");
    rela_chart_text(&r->t, model);
    rela_compose(&r->t, " %.1f</b>", mean);
    if (n > 1)
        rela_compose(&r->t, " &plusmn; %.1f", sqrt(sum / (double)(n - 1)));
}

static void p_text(rela_study_report *r, double p)
{
    if (p < 0.0005)
        rela_compose(&r->t, "p&nbsp;&lt;&nbsp;0.001");
    else
        rela_compose(&r->t, "p&nbsp;=&nbsp;%.3f", p);
}

static void validation_line(rela_study_report *r)
{
    double values[2][64];
    size_t n[2] = { 0, 0 };
    const char *const models[] = { r->layout->a, r->layout->b };
    rela_study_effect e;
    for (size_t m = 0; m < 2; m++) {
        rela_fact_key key = rela_fact_any("valid-nll");
        key.data = r->layout->data;
        key.model = models[m];
        size_t at = 0;
        for (const rela_fact *f; n[m] < 64 && (f = rela_facts_next(r->facts, &key, &at));)
            values[m][n[m]++] = f->value;
    }
    if (n[0] == 0 || n[1] == 0)
        return;
    rela_study_means(&e, values[0], n[0], values[1], n[1]);
    rela_compose(&r->t, "<p>Validation loss per token: %.3f against %.3f, difference %+.3f",
                 rela_study_average(values[0], n[0]), rela_study_average(values[1], n[1]), e.value);
    if (isfinite(e.low)) {
        rela_compose(&r->t, " (95&nbsp;%% interval %+.3f to %+.3f over seeds, ", e.low, e.high);
        p_text(r, e.p);
        rela_compose(&r->t, ")");
    }
    rela_compose(&r->t, ".</p>\n");
}

static bool is_tuned(const rela_study_report *r, const char *model)
{
    const rela_study_model *m = rela_study_find_model(r->study, model);
    return m && m->tuned_as;
}

static void answer(rela_study_report *r)
{
    if (!r->layout->a)
        return;
    rela_fact_key a = rela_fact_any(r->study->plan.primary ? r->study->plan.primary : "bleu");
    rela_study_effect e = { 0 };
    a.data = r->layout->data;
    rela_fact_key b = a;
    a.model = r->layout->a;
    b.model = r->layout->b;
    if (r->t.status == RELA_OK)
        r->t.status = rela_scores_compare(&e, r->facts, &a, &b, &r->how, r->t.err);
    rela_compose(&r->t, "<section class=\"answer\" aria-label=\"Answer\">\n");
    if (r->t.status == RELA_OK && e.n == 0) {
        rela_compose(&r->t, "<p class=\"big\">Not run yet: ");
        rela_chart_text(&r->t, r->layout->a);
        rela_compose(&r->t, " against ");
        rela_chart_text(&r->t, r->layout->b);
        rela_compose(&r->t, ".</p></section>\n");
        return;
    }
    rela_compose(&r->t, "<p class=\"big\">");
    model_score(r, &a, r->layout->a);
    rela_compose(&r->t, " against ");
    model_score(r, &b, r->layout->b);
    rela_compose(&r->t, " %s on ", rela_report_measure_title(a.measure));
    rela_chart_text(&r->t, rela_layout_data_title(r->layout, r->layout->data));
    rela_compose(&r->t, ": a difference of <b>%+.2f</b> (95&nbsp;%% interval %+.2f to %+.2f, ",
                 e.value, e.low, e.high);
    p_text(r, e.p);
    rela_compose(&r->t, ").</p>\n<p>");
    rela_compose(&r->t,
                 "%s; %zu seed%s of each, %zu test sentences; paired bootstrap over %s.</p>\n",
                 is_tuned(r, r->layout->a) && is_tuned(r, r->layout->b)
                     ? "Each kind with its own tuned settings"
                     : "Settings as given, without tuning of both",
                 e.n_seeds, e.n_seeds == 1 ? "" : "s", e.n,
                 e.n_seeds > 1 ? "sentences and seeds" : "sentences only, as there is one seed");
    validation_line(r);
    rela_compose(&r->t, "</section>\n");
}

/* ---- helpers of the parts ---- */

void rela_report_cell(rela_study_report *r, const rela_cell *cell)
{
    rela_cell *grown = r->n_cells < r->cap_cells
                           ? r->cells
                           : rela_mem_grow(r->cells, &r->cap_cells, r->n_cells + 1, sizeof *grown);
    if (!grown) {
        if (r->t.status == RELA_OK)
            r->t.status = rela_fail(r->t.err, RELA_NOMEM, "no memory for a report");
        return;
    }
    r->cells = grown;
    grown[r->n_cells++] = *cell;
}

rela_cell rela_report_empty(const rela_exhibit *e, const char *row, const char *column)
{
    const double none = (double)NAN;
    return (rela_cell){ .exhibit = e->id,
                        .row = row,
                        .column = column,
                        .value = none,
                        .low = none,
                        .high = none,
                        .p = none,
                        .spread = none,
                        .published = none,
                        .state = "not run",
                        .jobs = "" };
}

const char *rela_report_state(const rela_study_report *r, const char *data, const char *model)
{
    bool failed = false, done = true, any = false;
    for (size_t i = 0; i < r->jobs->n; i++) {
        const rela_study_job *j = &r->jobs->items[i];
        if (j->kind != RELA_STUDY_TRAIN || !j->model || strcmp(j->model, model) != 0 ||
            (data && strcmp(j->data, data) != 0))
            continue;
        any = true;
        failed = failed || j->state == RELA_STUDY_FAILED;
        done = done && j->state == RELA_STUDY_DONE;
    }
    return failed ? "failed" : any && done ? "done" : "not run";
}

static size_t note(const char **jobs, size_t n, const char *job)
{
    for (size_t i = 0; i < n; i++)
        if (!job || strcmp(jobs[i], job) == 0)
            return n;
    if (!job)
        return n;
    if (n < JOBS_NAMED)
        jobs[n] = job;
    return n + 1;
}

const char *rela_report_jobs(rela_study_report *r, const rela_fact_key *query)
{
    const char *jobs[JOBS_NAMED];
    size_t n = 0, at = 0;
    char text[JOBS_NAMED * 16 + 1] = "";
    for (const rela_fact *f; n < JOBS_NAMED && (f = rela_facts_next(r->facts, query, &at));)
        n = note(jobs, n, f->job);
    for (size_t i = 0; i < r->facts->n_scores && n < JOBS_NAMED; i++)
        if (rela_fact_matches(&r->facts->scores[i].key, query))
            n = note(jobs, n, r->facts->scores[i].job);
    for (size_t i = 0; i < n && i < JOBS_NAMED; i++)
        rela_format_text(text + strlen(text), sizeof text - strlen(text), "%s%.12s", i ? " " : "",
                         jobs[i]);
    const char *copy = rela_facts_text(r->facts, text, strlen(text));
    return copy ? copy : "";
}

const char *rela_report_model_title(const rela_study_report *r, const char *model)
{
    const rela_study_model *m = rela_study_find_model(r->study, model);
    return m && m->title ? m->title : model;
}

double rela_report_published(const rela_exhibit *e, const char *model, size_t column)
{
    const rela_tree *at = rela_tree_get(e->published, model);
    double value = 0;
    if (!at || (at->kind == RELA_TREE_LIST && column >= at->n) ||
        (at->kind == RELA_TREE_TEXT && column))
        return (double)NAN;
    const char *text = at->kind == RELA_TREE_LIST ? at->items[column]->text : at->text;
    return rela_parse_f64(&value, text) ? value : (double)NAN;
}

bool rela_report_planned(const rela_study_report *r, const char *a, const char *b,
                         const char *measure)
{
    const rela_study_plan *p = &r->study->plan;
    if (!b || !p->primary || strcmp(p->primary, measure) != 0)
        return false;
    for (size_t i = 0; i < p->n_comparisons; i++)
        if (strcmp(p->comparisons[i].a, a) == 0 && strcmp(p->comparisons[i].b, b) == 0)
            return true;
    return false;
}

void rela_report_open(rela_study_report *r, const rela_exhibit *e, bool planned)
{
    rela_compose(&r->t, "<section id=\"%s\"><h2>", e->id);
    rela_chart_text(&r->t, e->name);
    rela_compose(&r->t, "%s", *e->name && *e->title ? ". " : "");
    rela_chart_text(&r->t, e->title);
    rela_compose(&r->t, "<span class=\"tag %s\">%s</span></h2>\n", planned ? "planned" : "explored",
                 planned ? "planned" : "explored");
    if (*e->note) {
        rela_compose(&r->t, "<p>");
        rela_chart_text(&r->t, e->note);
        rela_compose(&r->t, "</p>\n");
    }
    if (*e->says) {
        rela_compose(&r->t, "<p class=\"says\">The paper: ");
        rela_chart_text(&r->t, e->says);
        rela_compose(&r->t, "</p>\n");
    }
}

/* The keys of the jobs that all cells of the exhibit came from. */
void rela_report_close(rela_study_report *r, const rela_exhibit *e)
{
    const char *keys[128];
    size_t n = 0;
    for (size_t i = 0; i < r->n_cells; i++) {
        if (strcmp(r->cells[i].exhibit, e->id) != 0)
            continue;
        const char *at = r->cells[i].jobs, *end = at + strlen(at);
        for (rela_span word; rela_next_word(&word, &at, end);) {
            size_t k = 0;
            while (k < n && strncmp(keys[k], word.text, 12) != 0)
                k++;
            if (k == n && n < 128)
                keys[n++] = word.text;
        }
    }
    if (n)
        rela_compose(&r->t, "<details class=\"keys\"><summary>from %zu job%s</summary><p>", n,
                     n == 1 ? "" : "s");
    for (size_t i = 0; i < n; i++)
        rela_compose(&r->t, "<code>%.12s</code> ", keys[i]);
    rela_compose(&r->t, "%s</section>\n", n ? "</p></details>" : "");
}

void rela_report_table_head(rela_study_report *r, const char *caption)
{
    rela_compose(&r->t, "<div class=\"table\" tabindex=\"0\"><table><caption>");
    rela_chart_text(&r->t, caption);
    rela_compose(&r->t, "</caption>\n");
}

void rela_report_number(rela_study_report *r, double value, int digits, const char *state)
{
    if (isfinite(value))
        rela_compose(&r->t, "<td>%.*f</td>", digits, value);
    else
        rela_compose(&r->t, "<td class=\"none\">%s</td>",
                     strcmp(state, "done") == 0 ? "&ndash;" : state);
}

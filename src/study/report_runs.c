/* SPDX-License-Identifier: MIT */
/* src/study/report_runs.c - how the figures came about: tuning, the ledger of test texts, jobs. */
#include "study/study_report.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void tuning_table(rela_study_report *r);
static void ledger_table(rela_study_report *r);
static void jobs_table(rela_study_report *r);

void rela_report_runs(rela_study_report *r)
{
    rela_compose(&r->t, "<section id=\"runs\"><h2>How it was made</h2>\n");
    tuning_table(r);
    ledger_table(r);
    jobs_table(r);
    rela_compose(&r->t, "</section>\n");
}

static double tuned(const rela_study_report *r, const char *model, size_t setting)
{
    rela_fact_key key = rela_fact_any("tune-nll");
    key.model = model;
    key.layer = (int64_t)setting;
    return rela_facts_mean(r->facts, &key, NULL);
}

/* Every setting that was tried, the best one marked. */
static void tuning_table(rela_study_report *r)
{
    const rela_study_tuning *t = &r->study->tuning;
    if (!t->data || t->models.n == 0)
        return;
    rela_compose(&r->t, "<h3>Tuning</h3>\n<p>The same number of settings for every kind, chosen by "
                        "the loss on validation text before any row was trained.</p>\n");
    rela_report_table_head(r, "Validation loss of each setting");
    rela_compose(&r->t, "<tbody>\n");
    for (size_t m = 0; m < t->models.n; m++) {
        double best = INFINITY;
        for (size_t i = 0; i < t->n_settings; i++)
            best = tuned(r, t->models.items[m], i) < best ? tuned(r, t->models.items[m], i) : best;
        rela_compose(&r->t, "<tr><th scope=\"row\">");
        rela_chart_text(&r->t, t->models.items[m]);
        rela_compose(&r->t, "</th>");
        for (size_t i = 0; i < t->n_settings; i++) {
            const rela_study_settings s = t->settings[m][i];
            const double nll = tuned(r, t->models.items[m], i);
            rela_compose(&r->t, "<td class=\"text%s\">", nll == best ? " best" : "");
            if (isfinite(nll))
                rela_compose(&r->t, "%.3f", nll);
            else
                rela_compose(&r->t, "&ndash;");
            for (size_t k = 0; k < s.n; k++) {
                rela_compose(&r->t, "<br><small>");
                rela_chart_text(&r->t, s.items[k].name);
                rela_compose(&r->t, " ");
                rela_chart_text(&r->t, s.items[k].value);
                rela_compose(&r->t, "</small>");
            }
            rela_compose(&r->t, "</td>");
        }
        rela_compose(&r->t, "</tr>\n");
    }
    rela_compose(&r->t, "</tbody></table></div>\n");
}

static int compare_lines(const void *a, const void *b)
{
    return rela_span_compare(*(const rela_span *)a, *(const rela_span *)b);
}

static void ledger_row(rela_study_report *r, rela_span line)
{
    const char *cell = line.text, *stop = line.text + line.len;
    rela_compose(&r->t, "<tr>");
    while (cell <= stop) {
        const char *tab = memchr(cell, '\t', (size_t)(stop - cell));
        const char *cell_end = tab ? tab : stop;
        char shown[256];
        rela_format_text(shown, sizeof shown, "%.*s", (int)(cell_end - cell), cell);
        rela_compose(&r->t, "<td class=\"text\">");
        rela_chart_text(&r->t, shown);
        rela_compose(&r->t, "</td>");
        cell = cell_end + 1;
    }
    rela_compose(&r->t, "</tr>\n");
}

/* Lines of the ledger; without timings, without the first column and in an order that does not
 * depend on which job ran first. */
static void ledger_rows(rela_study_report *r, const char *text, size_t len)
{
    const char *at = text, *end = text + len;
    rela_span line, *lines = rela_mem_array(len + 1, sizeof *lines);
    size_t n = 0;
    if (!lines) {
        r->t.status = rela_fail(r->t.err, RELA_NOMEM, "no memory for the ledger");
        return;
    }
    while (rela_next_line(&line, &at, end)) {
        const char *tab = memchr(line.text, '\t', line.len);
        if (r->options.no_timings && tab) {
            line.len -= (size_t)(tab + 1 - line.text);
            line.text = tab + 1;
        }
        lines[n++] = line;
    }
    if (r->options.no_timings && n > 1)
        qsort(lines + 1, n - 1, sizeof *lines, compare_lines);
    for (size_t i = 0; i < n; i++)
        ledger_row(r, lines[i]);
    rela_mem_free(lines);
}

/* What was planned, and which test text was read under it. */
static void ledger_table(rela_study_report *r)
{
    const rela_study_plan *plan = &r->study->plan;
    char *text = NULL;
    size_t len = 0;
    rela_error quiet = { RELA_OK, "" };
    rela_buffer path = RELA_BUFFER_INIT;
    rela_compose(&r->t, "<h3>Plan and ledger</h3>\n<p>Primary measure: ");
    rela_chart_text(&r->t, plan->primary ? plan->primary : "bleu");
    rela_compose(&r->t,
                 "; level %g; %zu comparison%s; hash of the plan <code>%.12s</code>. It is "
                 "fixed before the first output on test text.</p>\n",
                 plan->level, plan->n_comparisons, rela_plural(plan->n_comparisons), plan->hash);
    if (r->options.results && r->t.status == RELA_OK &&
        rela_buffer_printf(&path, r->t.err, "%s/ledger.tsv", r->options.results) == RELA_OK &&
        rela_file_read(&text, &len, path.data, 1 << 24, &quiet) == RELA_OK && len) {
        rela_report_table_head(r, "Ledger of test texts");
        rela_compose(&r->t, "<tbody>\n");
        ledger_rows(r, text, len);
        rela_compose(&r->t, "</tbody></table></div>\n");
    }
    rela_mem_free(text);
    rela_buffer_free(&path);
}

static void jobs_table(rela_study_report *r)
{
    size_t done = 0, failed = 0;
    for (size_t i = 0; i < r->jobs->n; i++) {
        done += r->jobs->items[i].state == RELA_STUDY_DONE;
        failed += r->jobs->items[i].state == RELA_STUDY_FAILED;
    }
    rela_compose(&r->t,
                 "<h3>Jobs</h3>\n<p>%zu of %zu done, %zu failed. The key of a job is a hash "
                 "of its options and of the contents of its inputs; <code>rela study "
                 "verify</code> recomputes it.</p>\n<details><summary>All jobs</summary>\n",
                 done, r->jobs->n, failed);
    rela_report_table_head(r, "Jobs");
    rela_compose(&r->t, "<thead><tr><th scope=\"col\" class=\"text\">job</th><th scope=\"col\" "
                        "class=\"text\">stage</th><th scope=\"col\" class=\"text\">key</th><th "
                        "scope=\"col\" class=\"text\">state</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < r->jobs->n; i++) {
        const rela_study_job *j = &r->jobs->items[i];
        const bool ended = j->state == RELA_STUDY_DONE || j->state == RELA_STUDY_FAILED;
        rela_compose(&r->t, "<tr><td class=\"text\">");
        rela_chart_text(&r->t, j->name);
        rela_compose(&r->t, "</td><td class=\"text\">");
        rela_chart_text(&r->t, j->stage);
        rela_compose(&r->t,
                     "</td><td class=\"text\"><code>%.12s</code></td><td class=\"text\">%s"
                     "</td></tr>\n",
                     ended ? j->key : "", ended ? rela_study_state_name(j->state) : "not run");
    }
    rela_compose(&r->t, "</tbody></table></div></details>\n");
}

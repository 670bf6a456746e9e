/* SPDX-License-Identifier: MIT */
/* src/study/study_report.h - the report of a study: report.html, self-contained, and the same
 * numbers as report.tsv and report.json.
 *
 * The same results give the same bytes; what differs from run to run stands in sections that can be
 * left out. */
#ifndef RELA_STUDY_STUDY_REPORT_H
#define RELA_STUDY_STUDY_REPORT_H

#include "base/compose.h"
#include "study/chart.h"
#include "study/claims.h"
#include "study/layout.h"
#include "study/study_job.h"

/* A number of an exhibit. */
typedef struct rela_cell {
    const char *exhibit, *row, *column;
    double value, low, high, p; /* NAN: there is none */
    double spread;              /* standard deviation over seeds */
    size_t n, n_seeds;
    double published;
    const char *state; /* "done", "not run" or "failed" */
    const char *jobs;  /* keys, separated by blanks */
    bool timing, planned;
} rela_cell;

typedef struct rela_study_report_options {
    bool no_timings;   /* leave out what differs from run to run */
    bool without_text; /* leave out all text of corpora */
    const char *results;
    const char *dir; /* work folder, for texts of ranked pairs; NULL: there is none */
} rela_study_report_options;

typedef struct rela_study_report {
    const rela_study *study;
    const rela_study_jobs *jobs;
    rela_facts *facts;
    const rela_layout *layout;
    const rela_claims *claims;
    rela_claim_result *verdicts; /* of every claim */
    rela_claim_means how;
    rela_study_report_options options;
    rela_composer t; /* the page */
    rela_cell *cells;
    size_t n_cells, cap_cells;
} rela_study_report;

/* Writes DIR/report.html, report.tsv, report.json. jobs: located in options->results. */
rela_status rela_study_report_write(const char *dir, const rela_study *study,
                                    const rela_study_jobs *jobs,
                                    const rela_study_report_options *options, rela_error *err);
/* The same from facts, for tests. */
rela_status rela_study_report_make(rela_buffer *html, rela_buffer *tsv, rela_buffer *json,
                                   rela_study_report *r, rela_error *err);

/* ---- parts of the page, for the files of the report ---- */

void rela_report_cell(rela_study_report *r, const rela_cell *cell);
rela_cell rela_report_empty(const rela_exhibit *e, const char *row, const char *column);
/* "not run", "failed" or "done": of the trainings of a model on a corpus; data NULL: any. */
const char *rela_report_state(const rela_study_report *r, const char *data, const char *model);
/* The keys of jobs that gave facts or scores; at most a few are named. */
const char *rela_report_jobs(rela_study_report *r, const rela_fact_key *query);
const char *rela_report_measure_title(const char *measure);
const char *rela_report_model_title(const rela_study_report *r, const char *model);
/* A published number: of a model, in a column; NAN: none. */
double rela_report_published(const rela_exhibit *e, const char *model, size_t column);
/* Whether the plan names this comparison, on its primary measure. */
bool rela_report_planned(const rela_study_report *r, const char *a, const char *b,
                         const char *measure);
void rela_report_open(rela_study_report *r, const rela_exhibit *e, bool planned);
void rela_report_close(rela_study_report *r, const rela_exhibit *e);
void rela_report_table_head(rela_study_report *r, const char *caption);
/* A number in a cell of a table, or a dash; classes NULL: none. */
void rela_report_number(rela_study_report *r, double value, int digits, const char *state);

void rela_report_scores(rela_study_report *r, const rela_exhibit *e);
void rela_report_pairs(rela_study_report *r, const rela_exhibit *e);
void rela_report_means(rela_study_report *r, const rela_exhibit *e);
void rela_report_layers(rela_study_report *r, const rela_exhibit *e);
void rela_report_speed(rela_study_report *r, const rela_exhibit *e);
void rela_report_lengths(rela_study_report *r, const rela_exhibit *e);
void rela_report_operations(rela_study_report *r, const rela_exhibit *e);
void rela_report_tags(rela_study_report *r, const rela_exhibit *e);
void rela_report_ranking(rela_study_report *r, const rela_exhibit *e);
void rela_report_maps(rela_study_report *r, const rela_exhibit *e);
void rela_report_claims(rela_study_report *r);
void rela_report_runs(rela_study_report *r);

#endif

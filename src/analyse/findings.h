/* SPDX-License-Identifier: MIT */
/* src/analyse/findings.h - all that an analysis of some models on one text has found, and the forms
 * in which it is written: JSON, tables, figures, one page for the browser. */
#ifndef RELA_ANALYSE_FINDINGS_H
#define RELA_ANALYSE_FINDINGS_H

#include "align/head_aer.h"
#include "analyse/measures.h"
#include "analyse/tag_null.h"
#include "figure/heatmap.h"

/* Cross attention of one layer on one pair, for a figure. */
typedef struct rela_example {
    uint64_t line, target; /* of the source, of the target; line 0: there is none */
    size_t layer, heads, n_q, n_k;
    double *w;                    /* (heads, n_q, n_k) */
    bool words;                   /* rows and columns are words, else subword pieces */
    const char **rows, **columns; /* (n_q), (n_k) */
    rela_buffer texts[2];         /* of the rows, of the columns */
    rela_outline *gold;           /* links of the line; NULL without */
    size_t n_gold;
} rela_example;

void rela_example_free(rela_example *e);

typedef struct rela_findings {
    const char *name;
    const rela_net *net;
    rela_measures text, permuted; /* permuted: the same sources, targets permuted */
    rela_head_aer aer;            /* sums NULL: no gold links */
    rela_tag_null tags;           /* cells NULL: no tags */
    rela_example example, example_permuted;
    double *pair_null[2]; /* (sources, lines) mean null rate of the attention to it; -1: not run */
    double auc;           /* of telling text from permuted by their mean; 0.5: at random */
    double source_auc[RELA_SOURCES_MAX];     /* by one source alone */
    uint64_t source_empty[RELA_SOURCES_MAX]; /* pairs that were run in which it is empty */
    uint64_t pairs;                          /* that were run */
    uint64_t empty, too_long, untagged;
} rela_findings;

typedef struct rela_analysis {
    rela_findings *models;
    size_t n;
    size_t n_sources; /* of every model */
    size_t source;    /* from 0: what links, tags and examples are about */
    const rela_map *tag_names;
    const char *src, *tgt;
    uint64_t seed, lines;
    bool skip_end;
} rela_analysis;

void rela_findings_deinit(rela_findings *f);

/* Area under the ROC curve: how often a value of b is above one of a, halves for equals. Negative
 * values are left out; both arrays are sorted. */
double rela_auc(double *a, size_t n_a, double *b, size_t n_b);

/* Mean over all heads of a stack. */
double rela_mean_over_heads(const rela_measures *m, size_t stack,
                            double (*figure)(const rela_head_sums *s));
double rela_mean_js(const rela_measures *m, size_t stack, size_t tau);
/* Means over layers: of the layer attention (AoL), of the best head of each (AoH); 0..1. */
double rela_mean_aer(const rela_head_aer *a, bool best_head, bool shift);
/* Whether there are alignment errors of a stack: of one of the cross attentions, with gold links.
 */
bool rela_findings_aligned(const rela_analysis *a, const rela_findings *f, size_t stack);

rela_status rela_analysis_json(rela_buffer *out, const rela_analysis *a, rela_error *err);
rela_status rela_analysis_table(rela_buffer *out, const rela_analysis *a, rela_error *err);
/* heads.tsv, layers.tsv, models.tsv and, with tags, tags.tsv */
rela_status rela_analysis_tsv(const char *dir, const rela_analysis *a, rela_error *err);

/* A figure that was written: dir/stem.svg, .png, .pdf. */
typedef struct rela_figure {
    char stem[64];
    const char *title, *text; /* lent */
    char own[1024];           /* a text that was made for it */
} rela_figure;

enum { RELA_FIGURES_MAX = 256 };

rela_status rela_analysis_figures(rela_figure *figures, size_t *n, const char *dir,
                                  const rela_analysis *a, rela_error *err);
/* dir/report.html with the figures inside. */
rela_status rela_analysis_html(const char *dir, const rela_analysis *a, const rela_figure *figures,
                               size_t n, rela_error *err);

#endif

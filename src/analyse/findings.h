/* SPDX-License-Identifier: MIT */
/* src/analyse/findings.h - all results of an analysis of some models on one text, and their output
 * as JSON, tables, figures and one HTML page. */
#ifndef RELA_ANALYSE_FINDINGS_H
#define RELA_ANALYSE_FINDINGS_H

#include "align/head_aer.h"
#include "analyse/auc.h"
#include "analyse/measures.h"
#include "analyse/tag_null.h"
#include "figure/heatmap.h"
#include "format/card.h"

/* Cross attention of one layer on one pair, for a figure. */
typedef struct rela_example {
    uint64_t line, target; /* line numbers of source and target; line 0: no example */
    size_t layer, heads, n_q, n_k;
    double *w;                    /* (heads, n_q, n_k) */
    bool words;                   /* rows and columns are words, otherwise subwords */
    const char **rows, **columns; /* (n_q), (n_k) */
    rela_buffer texts[2];         /* memory of rows and of columns */
    rela_buffer sentence[2];      /* the lines of source and target, printable */
    rela_outline *gold;           /* links of the line, or NULL */
    size_t n_gold;
} rela_example;

void rela_example_free(rela_example *e);

typedef struct rela_findings {
    const char *name;
    const rela_net *net;
    const rela_card_summary *card;
    rela_measures text, permuted; /* permuted: the same sources, targets permuted */
    rela_head_aer aer;            /* sums NULL: no gold links */
    rela_tag_null tags;           /* cells NULL: no tags */
    rela_example example, example_permuted;
    /* (sources, lines, layers) mean null rate of the heads of the cross attention, on the text and
     * with permuted targets; -1: not run */
    double *pair_null[2];
    rela_auc auc;                            /* of telling text from permuted by mean null rate */
    rela_auc source_auc[RELA_SOURCES_MAX];   /* by one source only */
    uint64_t source_empty[RELA_SOURCES_MAX]; /* pairs run with this source empty */
    uint64_t pairs;                          /* run */
    uint64_t empty, too_long, untagged;
} rela_findings;

typedef struct rela_analysis {
    rela_findings *models;
    size_t n;
    size_t n_sources; /* of every model */
    size_t source;    /* from 0: what links, tags and examples are about */
    const rela_map *tag_names;
    const char *src, *tgt;
    const char *more_src[RELA_SOURCES_MAX - 1], *gold, *tags; /* NULL: none */
    uint64_t seed, lines;
    bool skip_end;
} rela_analysis;

/* A label of a drawing: input text, which may be long or unprintable. */
enum { RELA_LABEL_CHARS = 18, RELA_LABEL_SIZE = 4 * RELA_LABEL_CHARS + 1 };
void rela_label_make(char out[RELA_LABEL_SIZE], rela_span text);

void rela_findings_deinit(rela_findings *f);

/* Mean null rate of the cross attention to a source over the heads of all layers; -1: the pair was
 * not run. lines: of the analysis. */
double rela_pair_null_mean(const rela_findings *f, bool permuted, size_t source, size_t line,
                           size_t lines);

/* Mean over all heads of a stack. */
double rela_mean_over_heads(const rela_measures *m, size_t stack,
                            double (*figure)(const rela_head_sums *s));
double rela_mean_js(const rela_measures *m, size_t stack, size_t tau);
/* AER averaged over layers: of the mean attention of each layer (AoL) or of the best head of each
 * (AoH); 0..1. */
double rela_mean_aer(const rela_head_aer *a, bool best_head, bool shift);
/* Whether a stack has alignment errors: only the cross attention to the chosen source, with gold
 * links. */
bool rela_findings_aligned(const rela_analysis *a, const rela_findings *f, size_t stack);

rela_status rela_analysis_json(rela_buffer *out, const rela_analysis *a, rela_error *err);
rela_status rela_analysis_table(rela_buffer *out, const rela_analysis *a, rela_error *err);
/* heads.tsv, layers.tsv, models.tsv, pairs.tsv and, with tags, tags.tsv; set: of all files of the
 * analysis, for the functions below, too */
rela_status rela_analysis_tsv(rela_file_set *set, const char *dir, const rela_analysis *a,
                              rela_error *err);

/* A written figure: dir/stem.svg, .png and .pdf. */
typedef struct rela_figure {
    char stem[64];
    char title[160];
    const char *text;              /* lent */
    char own[2048];                /* memory of a text made for it */
    bool narrow;                   /* also dir/stem-narrow.svg, its panels one below the other */
    const rela_example *example;   /* whose sentences stand above it, or NULL */
    const rela_card_summary *card; /* its languages */
} rela_figure;

enum { RELA_FIGURES_MAX = 256 };

rela_status rela_analysis_figures(rela_figure *figures, size_t *n, rela_file_set *set,
                                  const char *dir, const rela_analysis *a, rela_error *err);
/* Writes dir/report.html with the figures embedded. */
rela_status rela_analysis_html(rela_file_set *set, const char *dir, const rela_analysis *a,
                               const rela_figure *figures, size_t n, rela_error *err);

#endif

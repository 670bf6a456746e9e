/* SPDX-License-Identifier: MIT */
/* src/study/study.h - a study as written in its YAML file: corpora, models, tuning, what is trained
 * and scored, analyses, claims and report.
 *
 * Everything lives in the arena of the study, as long as the study. Nothing here depends on files
 * other than the study itself, except that globs of test sets are expanded. */
#ifndef RELA_STUDY_STUDY_H
#define RELA_STUDY_STUDY_H

#include "study/tree.h"

#include <stdint.h>

/* An option of a command: --name value. */
typedef struct rela_study_setting {
    const char *name, *value;
    size_t line;
} rela_study_setting;

typedef struct rela_study_settings {
    const rela_study_setting *items;
    size_t n;
} rela_study_settings;

typedef struct rela_study_names {
    const char *const *items;
    size_t n;
} rela_study_names;

/* A file on each side. src NULL: there is none. */
typedef struct rela_study_pair {
    const char *name; /* of a test set; otherwise "" */
    const char *src, *tgt;
    size_t line;
} rela_study_pair;

/* `data:` */
typedef struct rela_study_data {
    const char *name;
    size_t line;
    const char *src, *tgt; /* language codes */
    bool generated;        /* `corpus:` made by `rela corpus` with these options */
    rela_study_settings corpus;
    bool reverse; /* `corpus: {reverse: true}`: target to source, German to English */
    rela_study_pair train, valid;
    const rela_study_pair *tests; /* sorted by name; of a generated corpus one: "test" */
    size_t n_tests;
    rela_study_settings text;   /* options of train that prepare text */
    rela_study_pair gold, tags; /* text that has gold links, and text that has tags */
    const char *gold_links, *tags_file;
    bool gold_reverse;
    int64_t gold_base;        /* number of the first word in the links */
    rela_study_pair noise;    /* pairs of mixed quality, to rank */
    const char *noise_labels; /* one word per pair, "ok" for a good one; NULL: none */
    rela_study_pair examples; /* tokenised sentences of our own, for maps of attention */
} rela_study_data;

/* `models:`; options of train. */
typedef struct rela_study_model {
    const char *name, *title; /* title: name, unless `title:` says more */
    size_t line;
    rela_study_settings settings;
    const char *tuned_as; /* model whose tuned settings it takes: its own name if it is tuned, NULL
                             if there is no tuning for it */
} rela_study_model;

/* `tuning:`; data NULL: there is none. Every tuned model has the same number of settings. */
typedef struct rela_study_tuning {
    const char *data;
    size_t line;
    rela_study_names models;
    const rela_study_settings *const *settings; /* [model][n_settings] */
    size_t n_settings;
    rela_study_settings train; /* options of these runs: updates ... */
    int64_t seed;
    const char *by; /* "nll" or "bleu" */
} rela_study_tuning;

/* An item of `train:`. */
typedef struct rela_study_row {
    const char *stage, *data;
    size_t line;
    rela_study_names models;
    const int64_t *seeds;
    size_t n_seeds;
    rela_study_settings train; /* options of these runs only */
} rela_study_row;

/* An item of `analyses:`. */
typedef struct rela_study_analysis {
    const char *data;
    size_t line;
    rela_study_names models, what;
    int64_t limit;         /* pairs; 0: all */
    int64_t layers, heads; /* of which there are maps */
} rela_study_analysis;

/* A comparison of `plan:`. */
typedef struct rela_study_comparison {
    const char *a, *b;
    size_t line;
} rela_study_comparison;

/* An item of `speed:`: `rela bench WHAT` with options. */
typedef struct rela_study_speed {
    const char *what; /* train, translate, attention ... */
    size_t line;
    rela_study_settings settings;
} rela_study_speed;

typedef struct rela_study_plan {
    const char *primary; /* measure: one of the scores */
    const rela_study_comparison *comparisons;
    size_t n_comparisons;
    double level;
    int64_t samples;
    char hash[33]; /* of this section, the scores and the seeds; goes to ledger.tsv */
} rela_study_plan;

typedef struct rela_study {
    rela_arena *arena;
    const char *path, *name, *scale; /* scale "" if the study has none */
    const rela_tree *tree;           /* all of it, merged with the scale */
    rela_study_settings defaults;    /* of every training */
    const int64_t *seeds;            /* of rows that have none of their own */
    size_t n_seeds;
    rela_study_data *data;
    size_t n_data;
    rela_study_model *models;
    size_t n_models;
    rela_study_tuning tuning;
    rela_study_row *rows;
    size_t n_rows;
    rela_study_names scores;       /* bleu, bleu-tokenised, chrf */
    rela_study_settings translate; /* options of rela translate */
    rela_study_analysis *analyses;
    size_t n_analyses;
    rela_study_speed *speed;
    size_t n_speed;
    rela_study_plan plan;
    const rela_tree *claims; /* a list of maps, unread; NULL: none */
    const rela_tree *report; /* a map, unread; NULL: none */
} rela_study;

/* scale NULL or "": the file as it is; a file with scales then needs one. Checks everything that
 * can be checked without running: keys, names that refer to others, numbers of settings. Files of
 * corpora are checked by rela_study_check_files. Destroys nothing on failure but what it made. */
rela_status rela_study_read(rela_study **out, const char *path, const char *scale,
                            rela_tree_sets sets, rela_error *err);
void rela_study_destroy(rela_study *s); /* NULL is fine */

/* RELA_FORMAT with file and line if a file that the study names does not exist. */
rela_status rela_study_check_files(const rela_study *s, rela_error *err);

/* NULL: no such entry. */
const rela_study_data *rela_study_find_data(const rela_study *s, const char *name);
const rela_study_model *rela_study_find_model(const rela_study *s, const char *name);
/* The value of a setting, of the last that has this name; NULL: not set. */
const char *rela_study_setting_of(rela_study_settings s, const char *name);

#endif

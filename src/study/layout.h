/* SPDX-License-Identifier: MIT */
/* src/study/layout.h - what a report shows: `report:` of a study as a list of exhibits, and the
 * numbers they contain.
 *
 * An exhibit is a table or a figure. Everything that one shows as a number is a cell, from which
 * report.tsv and report.json are written too. */
#ifndef RELA_STUDY_LAYOUT_H
#define RELA_STUDY_LAYOUT_H

#include "study/study.h"

/* clang-format off */
#define RELA_EXHIBIT_MAP(X)                                                           \
    X(SCORES,     "scores")     /* models by scores, each against a baseline */       \
    X(PAIRS,      "pairs")      /* models by corpora */                               \
    X(MEANS,      "means")      /* models by measures, averaged over layers */        \
    X(LAYERS,     "layers")     /* curves of measures over layers */                  \
    X(SPEED,      "speed")      /* parameters, speed relative to a baseline */        \
    X(LENGTHS,    "lengths")    /* curves of speed over the length of sentences */    \
    X(OPERATIONS, "operations") /* operations by length */                            \
    X(TAGS,       "tags")       /* null rate after each part of speech */             \
    X(RANKING,    "ranking")    /* a corpus sorted by null rate */                    \
    X(MAPS,       "maps")       /* attention of example sentences */
/* clang-format on */

typedef enum rela_exhibit_kind {
#define RELA_X(name, text) RELA_EXHIBIT_##name,
    RELA_EXHIBIT_MAP(RELA_X)
#undef RELA_X
        RELA_EXHIBIT_KINDS
} rela_exhibit_kind;

/* A column or a panel: one measure in one place. */
typedef struct rela_exhibit_part {
    const char *title, *measure, *place, *second; /* second: a dashed curve of this measure */
    const char *unit;
    double factor; /* values are shown multiplied by it */

} rela_exhibit_part;

typedef struct rela_exhibit {
    const char *id, *name, *title, *note, *says; /* says: what the paper says about it */
    const char *against, *data;
    rela_exhibit_kind kind;
    rela_study_names models, measures;
    const rela_exhibit_part *parts;
    size_t n_parts;
    const rela_tree *published; /* a map: model to a list of numbers; NULL: none */
    rela_study_names published_columns;
    size_t line;
} rela_exhibit;

typedef struct rela_layout {
    const char *title, *question;
    const char *a, *b, *data; /* the comparison at the head of the report; NULL: none */
    const rela_tree *titles;  /* names of corpora for people; NULL: none */
    const rela_exhibit *items;
    size_t n;
} rela_layout;

/* Reads `report:`; without it, or without `show:`, the report has a table of scores for each corpus
 * that is trained on. RELA_FORMAT with the line of a mistake. */
rela_status rela_layout_read(rela_layout *out, const rela_study *study, rela_error *err);

const char *rela_exhibit_kind_name(rela_exhibit_kind kind);
/* The name of a corpus for people. */
const char *rela_layout_data_title(const rela_layout *s, const char *data);

#endif

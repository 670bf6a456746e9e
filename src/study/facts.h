/* SPDX-License-Identifier: MIT */
/* src/study/facts.h - what the jobs of a study have found, as one flat table of numbers.
 *
 * Tables, figures and claims of a report read this and nothing else. Scores of translations are
 * kept as statistics per sentence, and measures that exist per sentence as columns of values, so
 * that they can be resampled. Texts and arrays live in the arena. */
#ifndef RELA_STUDY_FACTS_H
#define RELA_STUDY_FACTS_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a number is about. "" and -1: does not apply. In a query, NULL and RELA_FACT_ANY: whatever
 * it is; RELA_FACT_EACH: any number that applies. */
typedef struct rela_fact_key {
    const char *measure, *data, *model, *place, *tag, *test;
    int64_t seed, layer, head; /* from 0; a length of sentences is a tag */
} rela_fact_key;

enum { RELA_FACT_NONE = -1, RELA_FACT_ANY = -2, RELA_FACT_EACH = -3 };

typedef struct rela_fact {
    rela_fact_key key;
    double value;
    const char *job; /* key of the job it came from */
    bool timing;     /* differs from run to run */
} rela_fact;

/* Statistics per sentence of one metric, on one test set. */
typedef struct rela_fact_scores {
    rela_fact_key key; /* measure: "bleu" ... */
    const uint32_t *stats;
    size_t n, k; /* sentences; statistics of each */
    const char *job;
} rela_fact_scores;

/* A measure of every sentence of a text; its tags, if they have any, are labels of sentences. */
typedef struct rela_fact_column {
    rela_fact_key key;
    const double *values;
    const char *const *labels;           /* NULL: none */
    const char *const *src, *const *tgt; /* the texts; NULL: not kept */
    size_t n;
    const char *job;
} rela_fact_column;

/* The attention of one head on one sentence pair. */
typedef struct rela_fact_map {
    rela_fact_key key;
    size_t sentence;                          /* from 0 */
    const char *const *rows, *const *columns; /* target and source words */
    size_t n_rows, n_columns;
    const double *weights; /* (n_rows, n_columns) */
    bool of_corpus;        /* the words are those of a corpus, not our own */
    const char *job;
} rela_fact_map;

typedef struct rela_facts {
    rela_arena *arena;
    rela_fact *items;
    size_t n, cap;
    rela_fact_scores *scores;
    size_t n_scores, cap_scores;
    rela_fact_column *columns;
    size_t n_columns, cap_columns;
    rela_fact_map *maps;
    size_t n_maps, cap_maps;
} rela_facts;

rela_status rela_facts_init(rela_facts *f, rela_error *err);
void rela_facts_deinit(rela_facts *f);

/* A query of any number of this measure. */
rela_fact_key rela_fact_any(const char *measure);

/* Texts of the key are copied; job is lent. */
rela_status rela_facts_add(rela_facts *f, const rela_fact *fact, rela_error *err);
rela_status rela_facts_add_scores(rela_facts *f, const rela_fact_scores *s, rela_error *err);
rela_status rela_facts_add_column(rela_facts *f, const rela_fact_column *c, rela_error *err);
rela_status rela_facts_add_map(rela_facts *f, const rela_fact_map *m, rela_error *err);
/* A copy in the arena; NULL when out of memory. */
const char *rela_facts_text(rela_facts *f, const char *text, size_t len);

bool rela_fact_matches(const rela_fact_key *key, const rela_fact_key *query);
/* The first match from number `from` on; NULL: none is left. *at is its number. */
const rela_fact *rela_facts_next(const rela_facts *f, const rela_fact_key *query, size_t *at);
/* The mean of all matches, which differ in what the query leaves open; NAN: there are none. *n:
 * their number, may be NULL. */
double rela_facts_mean(const rela_facts *f, const rela_fact_key *query, size_t *n);

#endif

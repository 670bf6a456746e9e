/* SPDX-License-Identifier: MIT */
/* src/study/results.c - see results.h. */
#include "study/results.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "study/results_maps.h"
#include "study/table_file.h"

#include <math.h>
#include <string.h>

/* What is being loaded. */
typedef struct loader {
    rela_facts *facts;
    const rela_study_job *job;
    const char *results, *dir, *key; /* key: the first twelve digits */
    rela_error *err;
} loader;

static rela_status load_job(loader *l);
static rela_status load_training(loader *l);
static rela_status load_scores(loader *l);
static rela_status load_analysis(loader *l);
static rela_status load_speed(loader *l);
static rela_status read_table(rela_table_file *t, const loader *l, const char *name);

rela_status rela_study_results_load(rela_facts *facts, const rela_study_jobs *jobs,
                                    const char *results, const char *dir, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < jobs->n && st == RELA_OK; i++) {
        const rela_study_job *job = &jobs->items[i];
        if (job->state != RELA_STUDY_DONE)
            continue;
        loader l = { facts, job, results, dir, rela_facts_text(facts, job->key, 12), err };
        st = l.key ? load_job(&l) : rela_fail(err, RELA_NOMEM, "no memory for results");
    }
    return st;
}

static rela_status load_job(loader *l)
{
    switch (l->job->kind) {
    case RELA_STUDY_TUNE:
    case RELA_STUDY_TRAIN:
        return load_training(l);
    case RELA_STUDY_SCORE:
        return load_scores(l);
    case RELA_STUDY_ANALYSE:
        return load_analysis(l);
    case RELA_STUDY_SPEED:
        return load_speed(l);
    default:
        return RELA_OK;
    }
}

static rela_fact_key key_of(const loader *l, const char *measure)
{
    return (rela_fact_key){ .measure = measure,
                            .data = l->job->data,
                            .model = l->job->model,
                            .seed = l->job->seed,
                            .layer = RELA_FACT_NONE,
                            .head = RELA_FACT_NONE };
}

static rela_status add(loader *l, rela_fact_key key, double value, bool timing)
{
    const rela_fact fact = { .key = key, .value = value, .job = l->key, .timing = timing };
    return rela_facts_add(l->facts, &fact, l->err);
}

static rela_status read_table(rela_table_file *t, const loader *l, const char *name)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_study_result_path(&path, l->results, l->job, name, l->err);
    st = st ? st : rela_table_file_read(t, l->facts->arena, path.data, l->err);
    rela_buffer_free(&path);
    return st;
}

/* ---- training ---- */

/* The best loss on validation text; and the curve, with the update in the place of a layer. */
static rela_status load_training(loader *l)
{
    rela_table_file t = { 0 };
    rela_status st = read_table(&t, l, "valid.tsv");
    const bool tuning = l->job->kind == RELA_STUDY_TUNE;
    const size_t nll = rela_table_file_column(&t, "nll");
    const size_t update = rela_table_file_column(&t, "update");
    double best = INFINITY;
    for (size_t i = 0; i < t.n_rows && st == RELA_OK; i++) {
        double value, at;
        if (!rela_table_file_number(&value, &t, i, nll) ||
            !rela_table_file_number(&at, &t, i, update))
            continue;
        best = value < best ? value : best;
        rela_fact_key key = key_of(l, "nll-at");
        key.layer = (int64_t)at;
        if (!tuning)
            st = add(l, key, value, false);
    }
    rela_fact_key key = key_of(l, tuning ? "tune-nll" : "valid-nll");
    key.layer = tuning ? l->job->setting : RELA_FACT_NONE;
    return st || t.n_rows == 0 ? st : add(l, key, best, false);
}

/* ---- scores ---- */

/* Columns METRIC:0, METRIC:1 ... of all metrics side by side. */
static rela_status add_metric(loader *l, const rela_table_file *t, size_t first, size_t k,
                              const char *metric)
{
    uint32_t *stats = rela_arena_alloc(l->facts->arena, (t->n_rows * k + 1) * sizeof *stats);
    if (!stats)
        return rela_fail(l->err, RELA_NOMEM, "no memory for the scores of %zu sentences",
                         t->n_rows);
    for (size_t i = 0; i < t->n_rows; i++)
        for (size_t j = 0; j < k; j++) {
            double value;
            if (!rela_table_file_number(&value, t, i, first + j) || value < 0 || value > UINT32_MAX)
                return rela_fail(l->err, RELA_FORMAT, "%s: stats.tsv.gz: line %zu is damaged",
                                 l->job->name, i + 2);
            stats[i * k + j] = (uint32_t)value;
        }
    rela_fact_scores s = {
        .key = key_of(l, metric), .stats = stats, .n = t->n_rows, .k = k, .job = l->key
    };
    s.key.test = l->job->test;
    return rela_facts_add_scores(l->facts, &s, l->err);
}

static rela_status load_scores(loader *l)
{
    rela_table_file t = { 0 };
    rela_status st = read_table(&t, l, "stats.tsv.gz");
    for (size_t i = 0; i < t.n_columns && st == RELA_OK;) {
        const char *colon = strchr(t.columns[i], ':');
        const size_t len = colon ? (size_t)(colon - t.columns[i]) : 0;
        size_t k = 1;
        if (!colon)
            return rela_fail(l->err, RELA_FORMAT, "%s: stats.tsv.gz: column '%s' has no metric",
                             l->job->name, t.columns[i]);
        while (i + k < t.n_columns && strncmp(t.columns[i + k], t.columns[i], len + 1) == 0)
            k++;
        const char *metric = rela_facts_text(l->facts, t.columns[i], len);
        st = metric ? add_metric(l, &t, i, k, metric)
                    : rela_fail(l->err, RELA_NOMEM, "no memory for scores");
        i += k;
    }
    return st;
}

/* ---- analyses ---- */

/* Every column of numbers becomes a measure; gold text gives alignment errors and nothing else. */
static rela_status add_measures(loader *l, const rela_table_file *t, bool layers, bool heads)
{
    const bool gold = l->job->test && strcmp(l->job->test, "gold") == 0;
    rela_status st = RELA_OK;
    for (size_t row = 0; row < t->n_rows && st == RELA_OK; row++) {
        rela_fact_key key = key_of(l, "");
        double number;
        key.place = rela_table_file_text(t, row, "place");
        if (layers && rela_table_file_number(&number, t, row, rela_table_file_column(t, "layer")))
            key.layer = (int64_t)number;
        if (heads && rela_table_file_number(&number, t, row, rela_table_file_column(t, "head")))
            key.head = (int64_t)number;
        for (size_t i = 2; i < t->n_columns && st == RELA_OK; i++) {
            const char *name = t->columns[i];
            const bool error = strncmp(name, "aer", 3) == 0 || strncmp(name, "AoL", 3) == 0 ||
                               strncmp(name, "AoH", 3) == 0;
            if (error != gold || strcmp(name, "layer") == 0 || strcmp(name, "head") == 0 ||
                !rela_table_file_number(&number, t, row, i))
                continue;
            key.measure = name;
            st = add(l, key, number, false);
        }
    }
    return st;
}

/* null_rate_2 becomes pair_null of layer 2; permuted pairs have the tag "permuted". */
static rela_status add_pairs(loader *l, const rela_table_file *t)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < t->n_columns && st == RELA_OK; i++) {
        static const char NULLS[] = "null_rate", PERMUTED[] = "_permuted";
        const char *name = t->columns[i];
        int64_t layer = RELA_FACT_NONE;
        if (strncmp(name, NULLS, sizeof NULLS - 1) != 0)
            continue;
        name += sizeof NULLS - 1;
        const bool permuted = strncmp(name, PERMUTED, sizeof PERMUTED - 1) == 0;
        name += permuted ? sizeof PERMUTED - 1 : 0;
        if (*name && (*name != '_' || !rela_parse_i64(&layer, name + 1)))
            continue;
        double *values = rela_arena_alloc(l->facts->arena, (t->n_rows + 1) * sizeof *values);
        if (!values)
            return rela_fail(l->err, RELA_NOMEM, "no memory for %zu pairs", t->n_rows);
        rela_fact_column c = { .key = key_of(l, "pair_null"), .values = values, .job = l->key };
        c.key.place = "cross";
        c.key.tag = permuted ? "permuted" : "text";
        c.key.layer = layer;
        for (size_t row = 0; row < t->n_rows; row++)
            c.n += rela_table_file_number(&values[c.n], t, row, i);
        if (c.n)
            st = rela_facts_add_column(l->facts, &c, l->err);
    }
    return st;
}

static rela_status add_tags(loader *l, const rela_table_file *t)
{
    const size_t layer = rela_table_file_column(t, "layer"),
                 head = rela_table_file_column(t, "head"),
                 rate = rela_table_file_column(t, "null_rate");
    rela_status st = RELA_OK;
    for (size_t row = 0; row < t->n_rows && st == RELA_OK; row++) {
        rela_fact_key key = key_of(l, "tag-null");
        double at_layer, at_head, value;
        if (!rela_table_file_number(&at_layer, t, row, layer) ||
            !rela_table_file_number(&at_head, t, row, head) ||
            !rela_table_file_number(&value, t, row, rate))
            continue;
        key.place = "cross";
        key.layer = (int64_t)at_layer;
        key.head = (int64_t)at_head;
        key.tag = rela_table_file_text(t, row, "after");
        st = add(l, key, value, false);
    }
    return st;
}

static rela_status load_analysis(loader *l)
{
    static const struct {
        const char *name;
        bool layers, heads;
    } MEASURES[] = { { "models.tsv", false, false },
                     { "layers.tsv", true, false },
                     { "heads.tsv", true, true } };
    const char *what = l->job->test ? l->job->test : "";
    rela_table_file t = { 0 };
    rela_status st = RELA_OK;
    if (strcmp(what, "tags") == 0) {
        st = read_table(&t, l, "tags.tsv");
        return st ? st : add_tags(l, &t);
    }
    if (strcmp(what, "ranking") == 0)
        return rela_results_ranking(l->facts, l->job, l->results, l->dir, l->key, l->err);
    if (strcmp(what, "maps") == 0)
        return rela_results_maps(l->facts, l->job, l->results, l->key, l->err);
    for (size_t i = 0; i < sizeof MEASURES / sizeof MEASURES[0] && st == RELA_OK; i++) {
        st = read_table(&t, l, MEASURES[i].name);
        st = st ? st : add_measures(l, &t, MEASURES[i].layers, MEASURES[i].heads);
    }
    if (st != RELA_OK || strcmp(what, "gold") == 0)
        return st;
    st = read_table(&t, l, "pairs.tsv");
    return st ? st : add_pairs(l, &t);
}

/* ---- speed ---- */

/* The median first, then the lowest and the highest round. */
static rela_status add_rounds(loader *l, const rela_table_file *t, size_t row, const char *measure,
                              const char *tag)
{
    static const char *const COLUMNS[] = { "speed", "speed_low", "speed_high" };
    rela_status st = RELA_OK;
    for (size_t i = 0; i < 3 && st == RELA_OK; i++) {
        rela_fact_key key = key_of(l, measure);
        double value;
        key.model = rela_table_file_text(t, row, "kind");
        key.tag = tag;
        key.seed = (int64_t)i + 1;
        if (rela_table_file_number(&value, t, row, rela_table_file_column(t, COLUMNS[i])))
            st = add(l, key, value, true);
    }
    return st;
}

/* Translation as in the paper: one sentence at a time, beam 4, fp32. */
static bool as_published(const rela_table_file *t, size_t row)
{
    return strcmp(rela_table_file_text(t, row, "form"), "fp32") == 0 &&
           strcmp(rela_table_file_text(t, row, "batch"), "1") == 0 &&
           strcmp(rela_table_file_text(t, row, "beam"), "4") == 0;
}

static rela_status add_operations(loader *l, const rela_table_file *t, size_t row)
{
    static const char *const COLUMNS[][2] = { { "softmax_flops", "softmax-flops" },
                                              { "rela_flops", "rela-flops" },
                                              { "flops_ratio", "flops-ratio" },
                                              { "softmax_us", "softmax-us" },
                                              { "rela_us", "rela-us" },
                                              { "time_ratio", "time-ratio" } };
    rela_status st = RELA_OK;
    for (size_t i = 0; i < 6 && st == RELA_OK; i++) {
        rela_fact_key key = key_of(l, COLUMNS[i][1]);
        double value;
        key.tag = rela_table_file_text(t, row, "length");
        if (rela_table_file_number(&value, t, row, rela_table_file_column(t, COLUMNS[i][0])))
            st = add(l, key, value, i >= 3);
    }
    return st;
}

static rela_status load_speed(loader *l)
{
    rela_table_file t = { 0 };
    rela_status st = read_table(&t, l, "train.tsv");
    for (size_t i = 0; i < t.n_rows && st == RELA_OK; i++)
        st = add_rounds(l, &t, i, "train-speed", "");
    st = st ? st : read_table(&t, l, "translate.tsv");
    for (size_t i = 0; i < t.n_rows && st == RELA_OK; i++)
        if (as_published(&t, i))
            st = add_rounds(l, &t, i, "decode-speed", "");
    st = st ? st : read_table(&t, l, "lengths.tsv");
    for (size_t i = 0; i < t.n_rows && st == RELA_OK; i++)
        st = add_rounds(l, &t, i, "length-speed", rela_table_file_text(&t, i, "length"));
    st = st ? st : read_table(&t, l, "table4.tsv");
    for (size_t i = 0; i < t.n_rows && st == RELA_OK; i++)
        st = add_operations(l, &t, i);
    return st;
}

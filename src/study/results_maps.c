/* SPDX-License-Identifier: MIT */
/* src/study/results_maps.c - see results_maps.h. */
#include "study/results_maps.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "study/table_file.h"

#include <stdlib.h>
#include <string.h>

/* Lines of a small file; words: each is cut at its blanks. */
typedef struct text_file {
    const char **lines;
    size_t n;
} text_file;

static rela_status read_lines(text_file *out, rela_facts *f, const rela_study_job *job,
                              const char *results, const char *name, rela_error *err);
static rela_status read_text(text_file *out, rela_facts *f, const char *dir, const char *key,
                             const char *name, rela_error *err);
static rela_status read_path(text_file *out, rela_facts *f, const char *path, rela_error *err);
static rela_status cut_words(const char ***words, size_t *n, rela_facts *f, const char *line,
                             rela_error *err);
static rela_status add_map(rela_facts *f, rela_fact_map *m, const char *links, rela_error *err);

static rela_fact_key key_of(const rela_study_job *job, const char *measure)
{
    return (rela_fact_key){ .measure = measure,
                            .data = job->data,
                            .model = job->model,
                            .place = "cross",
                            .seed = job->seed,
                            .layer = RELA_FACT_NONE,
                            .head = RELA_FACT_NONE };
}

rela_status rela_results_ranking(rela_facts *facts, const rela_study_job *job, const char *results,
                                 const char *dir, const char *key, rela_error *err)
{
    rela_table_file t;
    text_file labels, src, tgt;
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_study_result_path(&path, results, job, "ranks.tsv", err);
    st = st ? st : rela_table_file_read(&t, facts->arena, path.data, err);
    rela_buffer_free(&path);
    st = st ? st : read_lines(&labels, facts, job, results, "labels.txt", err);
    st = st ? st : read_text(&src, facts, dir, key, "src", err);
    st = st ? st : read_text(&tgt, facts, dir, key, "tgt", err);
    if (st != RELA_OK || t.n_rows == 0)
        return st;
    double *values = rela_arena_alloc(facts->arena, t.n_rows * sizeof *values);
    const char **parts[3];
    for (size_t k = 0; k < 3; k++)
        parts[k] = rela_arena_alloc(facts->arena, t.n_rows * sizeof(char *));
    if (!values || !parts[0] || !parts[1] || !parts[2])
        return rela_fail(err, RELA_NOMEM, "no memory for %zu pairs", t.n_rows);
    const size_t column = rela_table_file_column(&t, "null");
    size_t n = 0;
    for (size_t i = 0; i < t.n_rows; i++) {
        int64_t line = 0;
        if (!rela_table_file_number(&values[n], &t, i, column) ||
            !rela_parse_i64(&line, rela_table_file_text(&t, i, "line")))
            continue;
        const size_t at = (size_t)line;
        parts[0][n] = at < labels.n ? labels.lines[at] : "pair";
        parts[1][n] = at < src.n ? src.lines[at] : "";
        parts[2][n++] = at < tgt.n ? tgt.lines[at] : "";
    }
    rela_fact_column c = {
        .key = key_of(job, "rank-null"), .values = values, .labels = parts[0], .n = n, .job = key
    };
    if (src.n && tgt.n) {
        c.src = parts[1];
        c.tgt = parts[2];
    }
    return rela_facts_add_column(facts, &c, err);
}

/* links-LAYER-HEAD.txt */
static bool links_of(long *layer, long *head, const char *name)
{
    static const char START[] = "links-";
    char *end = NULL;
    if (strncmp(name, START, strlen(START)) != 0)
        return false;
    *layer = strtol(name + strlen(START), &end, 10);
    if (*end != '-')
        return false;
    *head = strtol(end + 1, &end, 10);
    return strcmp(end, ".txt") == 0;
}

rela_status rela_results_maps(rela_facts *facts, const rela_study_job *job, const char *results,
                              const char *key, rela_error *err)
{
    text_file src, tgt;
    rela_status st = read_lines(&src, facts, job, results, "examples.src.txt", err);
    st = st ? st : read_lines(&tgt, facts, job, results, "examples.tgt.txt", err);
    for (size_t i = 0; i < job->n_outputs && st == RELA_OK; i++) {
        long layer = 0, head = 0;
        const char *name = job->outputs[i].name;
        text_file links;
        if (!links_of(&layer, &head, name))
            continue;
        st = read_lines(&links, facts, job, results, name, err);
        for (size_t k = 0; k < links.n && k < src.n && k < tgt.n && st == RELA_OK; k++) {
            const char **rows = NULL, **columns = NULL;
            rela_fact_map m = { .key = key_of(job, "map"), .sentence = k, .job = key };
            m.key.layer = layer - 1;
            m.key.head = head - 1;
            st = cut_words(&columns, &m.n_columns, facts, src.lines[k], err);
            st = st ? st : cut_words(&rows, &m.n_rows, facts, tgt.lines[k], err);
            m.rows = rows;
            m.columns = columns;
            st = st ? st : add_map(facts, &m, links.lines[k], err);
        }
    }
    return st;
}

/* "0-1:0.25 2-2:1": source, target and weight. */
static rela_status add_map(rela_facts *f, rela_fact_map *m, const char *links, rela_error *err)
{
    const size_t n = m->n_rows * m->n_columns;
    double *weights = rela_arena_alloc(f->arena, (n + 1) * sizeof *weights);
    if (!weights)
        return rela_fail(err, RELA_NOMEM, "no memory for a map");
    memset(weights, 0, (n + 1) * sizeof *weights);
    const char *at = links, *end = links + strlen(links);
    for (rela_span word; rela_next_word(&word, &at, end);) {
        char *rest = NULL;
        const unsigned long src = strtoul(word.text, &rest, 10);
        const unsigned long tgt = *rest == '-' ? strtoul(rest + 1, &rest, 10) : m->n_rows;
        if (src < m->n_columns && tgt < m->n_rows && *rest == ':')
            weights[tgt * m->n_columns + src] = rela_scan_f64(rest + 1, &rest);
    }
    m->weights = weights;
    return rela_facts_add_map(f, m, err);
}

static rela_status read_lines(text_file *out, rela_facts *f, const rela_study_job *job,
                              const char *results, const char *name, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_study_result_path(&path, results, job, name, err);
    *out = (text_file){ .n = 0 };
    st = st ? st : read_path(out, f, path.data, err);
    rela_buffer_free(&path);
    return st;
}

/* A big output, which only the work folder has. */
static rela_status read_text(text_file *out, rela_facts *f, const char *dir, const char *key,
                             const char *name, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    *out = (text_file){ .n = 0 };
    if (!dir)
        return RELA_OK;
    rela_status st = rela_buffer_printf(&path, err, "%s/jobs/%s/out/%s", dir, key, name);
    st = st ? st : read_path(out, f, path.data, err);
    rela_buffer_free(&path);
    return st;
}

/* A file that does not exist has no lines. */
static rela_status read_path(text_file *out, rela_facts *f, const char *path, rela_error *err)
{
    char *text = NULL;
    size_t len = 0, n = 0;
    if (!rela_file_exists(path))
        return RELA_OK;
    const rela_status st = rela_file_read(&text, &len, path, 0, err);
    if (st != RELA_OK)
        return st;
    for (size_t i = 0; i < len; i++)
        n += text[i] == '\n';
    out->lines = rela_arena_alloc(f->arena, (n + 1) * sizeof(char *));
    const char *at = text, *end = text + len;
    for (rela_span line; out->lines && rela_next_line(&line, &at, end);) {
        const char *copy = rela_facts_text(f, line.text, line.len);
        if (!copy || out->n > n)
            break;
        out->lines[out->n++] = copy;
    }
    rela_mem_free(text);
    return out->lines ? RELA_OK : rela_fail(err, RELA_NOMEM, "%s: no memory to read it", path);
}

static rela_status cut_words(const char ***words, size_t *n, rela_facts *f, const char *line,
                             rela_error *err)
{
    const char *at = line, *end = line + strlen(line);
    *words = rela_arena_alloc(f->arena, (strlen(line) / 2 + 2) * sizeof(char *));
    *n = 0;
    if (!*words)
        return rela_fail(err, RELA_NOMEM, "no memory for words");
    for (rela_span word; rela_next_word(&word, &at, end); ++*n) {
        (*words)[*n] = rela_facts_text(f, word.text, word.len);
        if (!(*words)[*n])
            return rela_fail(err, RELA_NOMEM, "no memory for words");
    }
    return RELA_OK;
}

/* SPDX-License-Identifier: MIT */
/* src/train/curves.c - see curves.h. */
#include "train/curves.h"

#include "base/mem.h"
#include "figure/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of valid.tsv, see rela_report_head. */
enum { UPDATE, LOSS, NLL, PERPLEXITY, BLEU, BEST, ZEROS };

enum {
    SERIES_MAX = RELA_STACKS_MAX + RELA_SOURCES_MAX,
    COLUMNS = ZEROS + SERIES_MAX,
    LABEL_MAX = 32,
    LOG_MAX = 1 << 30
};

typedef struct table {
    double *column[COLUMNS];
    size_t n, cap[COLUMNS];
} table;

static rela_status read_records(table *t, const rela_run *run, rela_error *err);
static rela_status read_valid(table *t, const rela_run *run, rela_error *err);
static rela_status read_rows(table *t, const rela_run *run, const char *name, size_t n_columns,
                             void (*parse)(double *row, const char *line), rela_error *err);
static void parse_record(double *row, const char *line);
static void parse_valid(double *row, const char *line);
static rela_status save(const rela_run *run, const rela_plot *p, const char *name, rela_error *err);
static void table_free(table *t);

/* The last columns: sparsity of each stack, then null rate of each cross attention. */
static size_t list_zeros(rela_series *series, char labels[][LABEL_MAX], const table *t,
                         const rela_block_list *list)
{
    size_t n = 0;
    for (int null = 0; null < 2; null++)
        for (size_t i = 0; i < list->n_stacks; i++) {
            if (null && !rela_attn_stack_cross(&list->stacks[i]))
                continue;
            rela_format_text(labels[n], LABEL_MAX, "%s%s", list->stacks[i].label,
                             null ? ", null rate" : ", sparsity");
            series[n] = (rela_series){ labels[n], t->column[UPDATE], t->column[ZEROS + n], t->n };
            n++;
        }
    return n;
}

/* With softmax, which has nothing to show. */
static bool all_zero(const rela_series *series, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < series[i].n; k++)
            if (series[i].y[k] != 0)
                return false;
    return true;
}

rela_status rela_train_figures(const rela_run *run, const rela_block_list *list, rela_error *err)
{
    rela_series zeros[SERIES_MAX];
    char labels[SERIES_MAX][LABEL_MAX];
    table train = { .n = 0 }, valid = { .n = 0 };
    if (!rela_plot_available())
        return RELA_OK;
    rela_status st = read_records(&train, run, err);
    if (st == RELA_OK)
        st = read_valid(&valid, run, err);
    const rela_series loss[] = { { "training", train.column[0], train.column[1], train.n },
                                 { "validation", valid.column[UPDATE], valid.column[LOSS],
                                   valid.n } };
    /* updates are many, validations few */
    static const rela_style LOSS_STYLES[] = { { .colour = 0 },
                                              { .colour = 1, .dash = 1, .markers = true } };
    const rela_series bleu[] = { { NULL, valid.column[UPDATE], valid.column[BLEU], valid.n } };
    const rela_plot plots[] = {
        { .title = "Loss",
          .x_label = "update",
          .y_label = "label-smoothed cross entropy",
          .series = loss,
          .styles = LOSS_STYLES,
          .n_series = valid.n ? 2 : 1 },
        { .title = "Translation of the validation set",
          .x_label = "update",
          .y_label = "BLEU",
          .series = bleu,
          .n_series = 1,
          .markers = true },
        { .title = "Sparsity and null rate of attention",
          .x_label = "update",
          .y_label = "share",
          .series = zeros,
          .n_series = list_zeros(zeros, labels, &valid, list),
          .markers = true,
          .y_high = 1 },
    };
    static const char *const NAMES[] = { "loss", "bleu", "sparsity" };
    const int n = !valid.n ? 1 : all_zero(zeros, plots[2].n_series) ? 2 : 3;
    for (int i = 0; i < n && st == RELA_OK; i++)
        st = save(run, &plots[i], NAMES[i], err);
    table_free(&train);
    table_free(&valid);
    return st;
}

static rela_status read_records(table *t, const rela_run *run, rela_error *err)
{
    return read_rows(t, run, "train.jsonl", 2, parse_record, err);
}

static rela_status read_valid(table *t, const rela_run *run, rela_error *err)
{
    return read_rows(t, run, "valid.tsv", COLUMNS, parse_valid, err);
}

static rela_status read_rows(table *t, const rela_run *run, const char *name, size_t n_columns,
                             void (*parse)(double *row, const char *line), rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    char *text = NULL;
    size_t len = 0;
    rela_status st = rela_run_path(&path, run, name, err);
    if (st == RELA_OK)
        st = rela_file_read(&text, &len, path.data, LOG_MAX, err);
    const char *at = text, *end = text ? text + len : NULL;
    for (rela_span line; st == RELA_OK && text && rela_next_line(&line, &at, end);) {
        double row[COLUMNS] = { 0 };
        parse(row, line.text);
        if (row[0] <= 0) /* a header */
            continue;
        for (size_t i = 0; i < n_columns && st == RELA_OK; i++) {
            double *column = rela_mem_grow(t->column[i], &t->cap[i], t->n + 1, sizeof *column);
            if (!column) {
                st = rela_fail(err, RELA_NOMEM, "no memory for the curves");
                break;
            }
            t->column[i] = column;
            column[t->n] = row[i];
        }
        t->n += st == RELA_OK;
    }
    rela_mem_free(text);
    rela_buffer_free(&path);
    return st;
}

/* The records are our own; "loss" is null if all updates were skipped. */
static void parse_record(double *row, const char *line)
{
    const char *loss = strstr(line, "\"loss\": ");
    const char *update = strstr(line, "\"update\": ");
    row[0] = update ? rela_scan_f64(update + strlen("\"update\": "), NULL) : 0;
    row[1] = (double)NAN;
    if (loss && strncmp(loss + strlen("\"loss\": "), "null", 4) != 0)
        row[1] = rela_scan_f64(loss + strlen("\"loss\": "), NULL);
}

static void parse_valid(double *row, const char *line)
{
    char *at = NULL;
    for (int i = 0; i < COLUMNS; i++) {
        row[i] = rela_scan_f64(line, &at);
        if (at == line || *at != '\t')
            break;
        line = at + 1;
    }
    if (row[BLEU] < 0) /* not measured */
        row[BLEU] = (double)NAN;
}

static rela_status save(const rela_run *run, const rela_plot *p, const char *name, rela_error *err)
{
    static const char *const ENDINGS[] = { "svg", "png" };
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_run_path(&path, run, "figures", err);
    if (st == RELA_OK)
        st = rela_dir_make(path.data, err);
    for (int i = 0; i < 2 && st == RELA_OK; i++) {
        char file[64];
        (void)snprintf(file, sizeof file, "figures/%s.%s", name, ENDINGS[i]);
        st = rela_run_path(&path, run, file, err);
        if (st == RELA_OK)
            st = rela_plot_save(p, NULL, path.data, err);
    }
    rela_buffer_free(&path);
    return st;
}

static void table_free(table *t)
{
    for (int i = 0; i < COLUMNS; i++)
        rela_mem_free(t->column[i]);
}

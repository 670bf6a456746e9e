/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_table.h - tables of results, written as text, TSV and JSON.
 *
 * A table owns its cells. Texts in cells are lent and must outlive it. A non-finite number means a
 * missing value: "-" in text, nothing in TSV, null in JSON. */
#ifndef RELA_BENCH_BENCH_TABLE_H
#define RELA_BENCH_BENCH_TABLE_H

#include "base/str.h"

#include <stddef.h>

enum { RELA_BENCH_ROUNDS_MAX = 99 };

/* Summary of several measurements of the same thing. */
typedef struct rela_bench_spread {
    double median, low, high;
} rela_bench_spread;

/* Sorts x. n is not 0. */
rela_bench_spread rela_bench_spread_of(double *x, size_t n);
/* Spread of the quotients scale * a[i] / b[i]; n <= RELA_BENCH_ROUNDS_MAX. a NULL: scale / b[i]. */
rela_bench_spread rela_bench_quotients(double scale, const double *a, const double *b, size_t n);

typedef enum rela_bench_type {
    RELA_BENCH_TEXT,
    RELA_BENCH_NUMBER, /* only the median is used */
    RELA_BENCH_SPREAD /* three columns in TSV and JSON: key, key_low, key_high; in text the last two
                       * are in brackets, unless equal */
} rela_bench_type;

typedef struct rela_bench_column {
    const char *key;     /* in TSV and JSON */
    const char *heading; /* in text */
    rela_bench_type type;
    int digits; /* after the decimal point, in text */
} rela_bench_column;

typedef struct rela_bench_cell {
    const char *text;
    rela_bench_spread value;
} rela_bench_cell;

typedef struct rela_bench_table {
    const char *name;                 /* of the file and the JSON key */
    const char *title;                /* what was measured, one or two lines */
    const rela_bench_column *columns; /* lent */
    size_t n_columns;
    rela_bench_cell *cells; /* (n_rows, n_columns) */
    size_t n_rows, cap;
} rela_bench_table;

rela_bench_cell rela_bench_text(const char *text);
rela_bench_cell rela_bench_number(double value);
rela_bench_cell rela_bench_value(rela_bench_spread value);

/* row (n) is copied; n is the number of columns. */
rela_status rela_bench_table_add(rela_bench_table *s, const rela_bench_cell *row, size_t n,
                                 rela_error *err);
void rela_bench_table_deinit(rela_bench_table *s);

rela_status rela_bench_table_text(rela_buffer *out, const rela_bench_table *s, rela_error *err);
rela_status rela_bench_table_tsv(rela_buffer *out, const rela_bench_table *s, rela_error *err);
/* An array of objects. */
rela_status rela_bench_table_json(rela_buffer *out, const rela_bench_table *s, rela_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_table.c - see bench_table.h. */
#include "bench/bench_table.h"

#include "base/json.h"
#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_TEXT = 96, COLUMNS_MAX = 24, GAP = 2 };

static rela_status append_padded(rela_buffer *out, const char *text, size_t width, bool left,
                                 rela_error *err);
static void cell_text(char out[CELL_TEXT], const rela_bench_column *c, const rela_bench_cell *x);
static rela_status json_value(rela_buffer *out, const char *key, const char *suffix, double x,
                              rela_error *err);

static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

rela_bench_spread rela_bench_spread_of(double *x, size_t n)
{
    qsort(x, n, sizeof *x, rising);
    const double middle = n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
    return (rela_bench_spread){ middle, x[0], x[n - 1] };
}

rela_bench_spread rela_bench_quotients(double scale, const double *a, const double *b, size_t n)
{
    double x[RELA_BENCH_ROUNDS_MAX];
    assert(n && n <= RELA_BENCH_ROUNDS_MAX);
    for (size_t i = 0; i < n; i++)
        x[i] = scale * (a ? a[i] : 1) / b[i];
    return rela_bench_spread_of(x, n);
}

rela_bench_cell rela_bench_text(const char *text)
{
    return (rela_bench_cell){ .text = text };
}

rela_bench_cell rela_bench_number(double value)
{
    return (rela_bench_cell){ .value = { value, value, value } };
}

rela_bench_cell rela_bench_value(rela_bench_spread value)
{
    return (rela_bench_cell){ .value = value };
}

rela_status rela_bench_table_add(rela_bench_table *s, const rela_bench_cell *row, size_t n,
                                 rela_error *err)
{
    assert(n == s->n_columns && n <= COLUMNS_MAX);
    const size_t have = s->n_rows * s->n_columns;
    rela_bench_cell *cells =
        rela_mem_grow(s->cells, &s->cap, have + s->n_columns, sizeof *s->cells);
    if (!cells)
        return rela_fail(err, RELA_NOMEM, "no memory for table %s", s->name);
    s->cells = cells;
    memcpy(cells + have, row, s->n_columns * sizeof *row);
    s->n_rows++;
    return RELA_OK;
}

void rela_bench_table_deinit(rela_bench_table *s)
{
    rela_mem_free(s->cells);
    s->cells = NULL;
    s->n_rows = s->cap = 0;
}

/* ---- text ---- */

rela_status rela_bench_table_text(rela_buffer *out, const rela_bench_table *s, rela_error *err)
{
    size_t width[COLUMNS_MAX] = { 0 };
    char text[CELL_TEXT];
    rela_status st = rela_buffer_printf(out, err, "%s: %s\n", s->name, s->title);
    for (size_t c = 0; c < s->n_columns; c++) {
        width[c] = strlen(s->columns[c].heading);
        for (size_t r = 0; r < s->n_rows; r++) {
            cell_text(text, &s->columns[c], &s->cells[r * s->n_columns + c]);
            width[c] = strlen(text) > width[c] ? strlen(text) : width[c];
        }
    }
    for (size_t r = 0; r < s->n_rows + 1 && st == RELA_OK; r++) {
        for (size_t c = 0; c < s->n_columns && st == RELA_OK; c++) {
            const rela_bench_column *column = &s->columns[c];
            if (r == 0)
                rela_format_text(text, sizeof text, "%s", column->heading);
            else
                cell_text(text, column, &s->cells[(r - 1) * s->n_columns + c]);
            st = append_padded(out, text, width[c] + (c ? GAP : 0),
                               c == 0 && column->type == RELA_BENCH_TEXT, err);
        }
        while (out->len && out->data[out->len - 1] == ' ')
            out->len--;
        st = st ? st : rela_buffer_append_char(out, '\n', err);
    }
    return st;
}

static rela_status append_padded(rela_buffer *out, const char *text, size_t width, bool left,
                                 rela_error *err)
{
    return rela_buffer_printf(out, err, left ? "%-*s" : "%*s", (int)width, text);
}

static void cell_text(char out[CELL_TEXT], const rela_bench_column *c, const rela_bench_cell *x)
{
    const rela_bench_spread *v = &x->value;
    if (c->type == RELA_BENCH_TEXT)
        rela_format_text(out, CELL_TEXT, "%s", x->text);
    else if (!isfinite(v->median))
        rela_format_text(out, CELL_TEXT, "-");
    else if (c->type == RELA_BENCH_NUMBER || v->low == v->high)
        rela_format_text(out, CELL_TEXT, "%.*f", c->digits, v->median);
    else
        rela_format_text(out, CELL_TEXT, "%.*f (%.*f-%.*f)", c->digits, v->median, c->digits,
                         v->low, c->digits, v->high);
}

/* ---- TSV and JSON ---- */

rela_status rela_bench_table_tsv(rela_buffer *out, const rela_bench_table *s, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t c = 0; c < s->n_columns && st == RELA_OK; c++) {
        const rela_bench_column *column = &s->columns[c];
        st = rela_buffer_printf(out, err, "%s%s", c ? "\t" : "", column->key);
        if (st == RELA_OK && column->type == RELA_BENCH_SPREAD)
            st = rela_buffer_printf(out, err, "\t%s_low\t%s_high", column->key, column->key);
    }
    st = st ? st : rela_buffer_append_char(out, '\n', err);
    for (size_t i = 0; i < s->n_rows * s->n_columns && st == RELA_OK; i++) {
        const rela_bench_type type = s->columns[i % s->n_columns].type;
        const rela_bench_cell *x = &s->cells[i];
        const double *numbers[] = { &x->value.median, &x->value.low, &x->value.high };
        if (i % s->n_columns)
            st = rela_buffer_append_char(out, '\t', err);
        if (st == RELA_OK && type == RELA_BENCH_TEXT)
            st = rela_buffer_append_text(out, x->text, err);
        for (size_t k = 0; k < (type == RELA_BENCH_SPREAD ? 3 : type == RELA_BENCH_NUMBER); k++) {
            st = st || !k ? st : rela_buffer_append_char(out, '\t', err);
            if (st == RELA_OK && isfinite(*numbers[k]))
                st = rela_buffer_printf(out, err, "%.6g", *numbers[k]);
        }
        if (st == RELA_OK && (i + 1) % s->n_columns == 0)
            st = rela_buffer_append_char(out, '\n', err);
    }
    return st;
}

rela_status rela_bench_table_json(rela_buffer *out, const rela_bench_table *s, rela_error *err)
{
    rela_status st = rela_buffer_append_char(out, '[', err);
    for (size_t i = 0; i < s->n_rows * s->n_columns && st == RELA_OK; i++) {
        const rela_bench_column *c = &s->columns[i % s->n_columns];
        const rela_bench_cell *x = &s->cells[i];
        if (i % s->n_columns)
            st = rela_buffer_append_text(out, ", ", err);
        else
            st = rela_buffer_append_text(out, i ? ",\n  {" : "\n  {", err);
        if (c->type == RELA_BENCH_TEXT) {
            st = st ? st : rela_buffer_printf(out, err, "\"%s\": ", c->key);
            st = st ? st : rela_json_quote(out, x->text, strlen(x->text), err);
        } else {
            st = st ? st : json_value(out, c->key, "", x->value.median, err);
        }
        if (c->type == RELA_BENCH_SPREAD) {
            st = st ? st : rela_buffer_append_text(out, ", ", err);
            st = st ? st : json_value(out, c->key, "_low", x->value.low, err);
            st = st ? st : rela_buffer_append_text(out, ", ", err);
            st = st ? st : json_value(out, c->key, "_high", x->value.high, err);
        }
        if (st == RELA_OK && (i + 1) % s->n_columns == 0)
            st = rela_buffer_append_char(out, '}', err);
    }
    return st ? st : rela_buffer_append_char(out, ']', err);
}

static rela_status json_value(rela_buffer *out, const char *key, const char *suffix, double x,
                              rela_error *err)
{
    if (!isfinite(x))
        return rela_buffer_printf(out, err, "\"%s%s\": null", key, suffix);
    return rela_buffer_printf(out, err, "\"%s%s\": %.6g", key, suffix, x);
}

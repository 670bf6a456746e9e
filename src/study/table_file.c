/* SPDX-License-Identifier: MIT */
/* src/study/table_file.c - see table_file.h. */
#include "study/table_file.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <string.h>

static size_t count(const char *text, size_t len, char c)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += text[i] == c;
    return n;
}

/* Cuts a line at its tabs, in place; the number of cells. */
static size_t cut(const char **cells, size_t max, char *line)
{
    size_t n = 0;
    for (char *at = line; at; n++) {
        char *tab = strchr(at, '\t');
        if (tab)
            *tab = '\0';
        if (n < max)
            cells[n] = at;
        at = tab ? tab + 1 : NULL;
    }
    return n;
}

static rela_status fill(rela_table_file *out, rela_arena *arena, char *text, size_t len,
                        const char *path, rela_error *err)
{
    const size_t lines = count(text, len, '\n') + 1;
    char *end = strchr(text, '\n');
    const size_t width = count(text, end ? (size_t)(end - text) : len, '\t') + 1;
    out->columns = rela_arena_alloc(arena, (width + 1) * sizeof(char *));
    out->cells = rela_arena_alloc(arena, (lines * width + 1) * sizeof(char *));
    if (!out->columns || !out->cells)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to read it", path);
    for (char *at = text; at && *at;) {
        char *next = strchr(at, '\n');
        if (next)
            *next = '\0';
        const bool head = out->n_columns == 0;
        const char **cells = head ? out->columns : out->cells + out->n_rows * width;
        if (cut(cells, width, at) != width)
            return rela_fail(err, RELA_FORMAT, "%s: line %zu: expected %zu columns", path,
                             out->n_rows + 2, width);
        if (head)
            out->n_columns = width;
        else
            out->n_rows++;
        at = next ? next + 1 : NULL;
    }
    return RELA_OK;
}

rela_status rela_table_file_read(rela_table_file *out, rela_arena *arena, const char *path,
                                 rela_error *err)
{
    char *text = NULL;
    size_t len = 0;
    *out = (rela_table_file){ .n_rows = 0 };
    if (!rela_file_exists(path))
        return RELA_OK;
    rela_status st = rela_file_read(&text, &len, path, 0, err);
    char *copy = st == RELA_OK ? rela_arena_alloc(arena, len + 1) : NULL;
    if (st == RELA_OK && !copy)
        st = rela_fail(err, RELA_NOMEM, "%s: no memory to read it", path);
    if (st == RELA_OK) {
        memcpy(copy, text, len);
        copy[len] = '\0';
        st = fill(out, arena, copy, len, path, err);
    }
    rela_mem_free(text);
    return st;
}

size_t rela_table_file_column(const rela_table_file *t, const char *name)
{
    size_t i = 0;
    while (i < t->n_columns && strcmp(t->columns[i], name) != 0)
        i++;
    return i;
}

const char *rela_table_file_text(const rela_table_file *t, size_t row, const char *column)
{
    const size_t i = rela_table_file_column(t, column);
    return i < t->n_columns ? t->cells[row * t->n_columns + i] : "";
}

bool rela_table_file_number(double *out, const rela_table_file *t, size_t row, size_t column)
{
    return column < t->n_columns && rela_parse_f64(out, t->cells[row * t->n_columns + column]);
}

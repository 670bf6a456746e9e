/* SPDX-License-Identifier: MIT */
/* src/study/table_file.h - a TSV file whose columns are found by name. */
#ifndef RELA_STUDY_TABLE_FILE_H
#define RELA_STUDY_TABLE_FILE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct rela_table_file {
    const char **columns;
    const char **cells; /* (n_rows, n_columns) */
    size_t n_columns, n_rows;
} rela_table_file;

/* Everything lives in the arena. A file that does not exist is a table without columns; rows of
 * another length are RELA_FORMAT. */
rela_status rela_table_file_read(rela_table_file *out, rela_arena *arena, const char *path,
                                 rela_error *err);
/* The number of a column, or n_columns. */
size_t rela_table_file_column(const rela_table_file *t, const char *name);
/* "" if there is no such column. */
const char *rela_table_file_text(const rela_table_file *t, size_t row, const char *column);
/* False if the cell is empty or no number. */
bool rela_table_file_number(double *out, const rela_table_file *t, size_t row, size_t column);

#endif

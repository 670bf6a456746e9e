/* SPDX-License-Identifier: MIT */
/* cli/columns.h - splits parallel text in tab-separated columns into one file per column, as the
 * library reads it. */
#ifndef RELA_CLI_COLUMNS_H
#define RELA_CLI_COLUMNS_H

#include "base/file.h"
#include "rela/rela.h"

enum { RELA_CLI_COLUMNS_MAX = RELA_SOURCES_MAX + 1 };

/* All zero to start with. */
typedef struct rela_cli_columns {
    char *paths[RELA_CLI_COLUMNS_MAX];
    size_t n;
} rela_cli_columns;

/* Writes stem.1, stem.2, ... n: columns; 0: as many as the first line has, 2 to
 * RELA_CLI_COLUMNS_MAX. An empty line is empty in all columns. RELA_FORMAT, naming the line, if a
 * line has another number of columns. */
rela_status rela_cli_columns_split(rela_cli_columns *out, const char *path, const char *stem,
                                   size_t n, rela_error *err);
void rela_cli_columns_free(rela_cli_columns *c);

#endif

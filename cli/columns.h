/* SPDX-License-Identifier: MIT */
/* cli/columns.h - parallel text in one file of tab-separated columns, taken apart into a file for
 * each column, which is what the library reads. */
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

/* Writes stem.1, stem.2, ...; n 0: as many as the first line has, 2 to RELA_CLI_COLUMNS_MAX. An
 * empty line is empty in all columns; another number of columns is RELA_FORMAT with the line. */
rela_status rela_cli_columns_split(rela_cli_columns *out, const char *path, const char *stem,
                                   size_t n, rela_error *err);
void rela_cli_columns_free(rela_cli_columns *c);

#endif

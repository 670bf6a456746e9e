/* SPDX-License-Identifier: MIT */
/* cli/train_texts.h - the files that a model is trained on: a list for each side, or files with all
 * sides as columns, which are taken apart first. */
#ifndef RELA_CLI_TRAIN_TEXTS_H
#define RELA_CLI_TRAIN_TEXTS_H

#include "columns.h"

#include "base/option.h"
#include "rela/train.h"

#define RELA_CLI_NO_OUT "no directory for the run: option --out"

/* What options say; the rest is all zero to start with. */
typedef struct rela_cli_texts {
    rela_list src[RELA_SOURCES_MAX], tgt, tsv;
    const char *valid_tsv;
    /* private */
    rela_cli_columns *columns, valid; /* files made of those with columns */
    const char **names;               /* (sides, n) */
    size_t n;
    rela_train_text *list;
} rela_cli_texts;

/* Puts files of single sides in the place of those with columns; o has the directory of the run. */
rela_status rela_cli_texts_split(rela_cli_texts *t, rela_train_options *o, rela_error *err);
/* The lists as o wants them; t must outlive it. */
rela_status rela_cli_texts_take(rela_train_options *o, rela_cli_texts *t, rela_error *err);
void rela_cli_texts_free(rela_cli_texts *t);

#endif

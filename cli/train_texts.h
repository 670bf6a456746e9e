/* SPDX-License-Identifier: MIT */
/* cli/train_texts.h - training files: a list for each side, or TSV files with all sides, which are
 * split first. */
#ifndef RELA_CLI_TRAIN_TEXTS_H
#define RELA_CLI_TRAIN_TEXTS_H

#include "columns.h"

#include "base/option.h"
#include "rela/train.h"

#define RELA_CLI_NO_OUT "no directory for the run: option --out"

/* The option table fills the public fields; the rest starts as all zero. */
typedef struct rela_cli_texts {
    rela_list src[RELA_SOURCES_MAX], tgt, tsv;
    const char *valid_tsv;
    /* private */
    rela_cli_columns *columns, valid; /* files split from TSV */
    const char **names;               /* (sides, n) */
    size_t n;
    rela_train_text *list;
    const char **sources; /* (n, RELA_SOURCES_MAX) what the list points to */
} rela_cli_texts;

/* Splits TSV files into one file per side under o->out, and uses these instead. */
rela_status rela_cli_texts_split(rela_cli_texts *t, rela_train_options *o, rela_error *err);
/* Sets the training files of o; t must outlive o. */
rela_status rela_cli_texts_take(rela_train_options *o, rela_cli_texts *t, rela_error *err);
void rela_cli_texts_free(rela_cli_texts *t);

#endif

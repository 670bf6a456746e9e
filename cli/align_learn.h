/* SPDX-License-Identifier: MIT */
/* cli/align_learn.h - models for alignment of both directions, learned from the text itself. */
#ifndef RELA_CLI_ALIGN_LEARN_H
#define RELA_CLI_ALIGN_LEARN_H

#include "cli.h"

typedef struct rela_cli_learn {
    const char *src, *tgt; /* files, which are read several times */
    const char *src_lang, *tgt_lang;
    bool tokenise;
    int64_t merges, updates; /* 0: by the size of the text */
    const char *dir;         /* for the two runs of training; there already */
    const char *save;        /* where the pair of models goes */
} rela_cli_learn;

/* RELA_CANCEL after a signal that asks to stop (stop_signals.h). */
rela_status rela_cli_learn_links(rela_cli *cli, const rela_cli_learn *o, rela_error *err);

#endif

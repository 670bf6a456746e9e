/* SPDX-License-Identifier: MIT */
/* cli/align_learn.h - trains alignment models for both directions on the text to be aligned. */
#ifndef RELA_CLI_ALIGN_LEARN_H
#define RELA_CLI_ALIGN_LEARN_H

#include "cli.h"

typedef struct rela_cli_learn {
    const char *src, *tgt; /* files; read several times */
    const char *src_lang, *tgt_lang;
    bool tokenise;
    int64_t merges, updates; /* 0: by the size of the text */
    const char *dir;         /* for the two training runs; must exist */
    const char *save;        /* file for the pair of models */
} rela_cli_learn;

/* RELA_CANCEL after a signal that asks to stop (stop_signals.h). */
rela_status rela_cli_learn_links(rela_cli *cli, const rela_cli_learn *o, rela_error *err);

#endif

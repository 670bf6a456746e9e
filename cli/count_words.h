/* SPDX-License-Identifier: MIT */
/* cli/count_words.h - counting the words of the input, for the commands that start with it. */
#ifndef RELA_CLI_COUNT_WORDS_H
#define RELA_CLI_COUNT_WORDS_H

#include "cli.h"

#include "rela/vocab.h"

/* Adds the files of the operands, or standard input, and notes what looks wrong in them.
 * dictionary: they hold lines `word count`. */
rela_status rela_cli_count_words(rela_cli *cli, rela_word_counts *counts, bool dictionary,
                                 rela_error *err);

#endif

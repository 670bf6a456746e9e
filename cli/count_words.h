/* SPDX-License-Identifier: MIT */
/* cli/count_words.h - word counts of the input, for commands that start from them. */
#ifndef RELA_CLI_COUNT_WORDS_H
#define RELA_CLI_COUNT_WORDS_H

#include "cli.h"

#include "rela/vocab.h"

/* Counts the files of the operands, or standard input, and logs what looks wrong in them.
 * dictionary: lines are `word count`. */
rela_status rela_cli_count_words(rela_cli *cli, rela_word_counts *counts, bool dictionary,
                                 rela_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/blocks.h - blocks of lines, for commands that work on batches. */
#ifndef RELA_CLI_BLOCKS_H
#define RELA_CLI_BLOCKS_H

#include "cli.h"

/* All zero means empty. texts and lens (n) can be passed to the library. */
typedef struct rela_cli_block {
    rela_buffer bytes;
    const char **texts;
    size_t *lens;
    size_t n, cap_texts, cap_lens;
    uint64_t first; /* number of the first line */
} rela_cli_block;

void rela_cli_block_free(rela_cli_block *b);

/* Replaces the contents by the next lines, about want bytes. Reads less if no more input is ready
 * (a terminal, a slow pipe), so that output never waits for more input. n is 0 at the end. */
rela_status rela_cli_block_read(rela_cli_block *b, rela_reader *r, size_t want, rela_error *err);

/* Replaces the contents by the next n lines; fewer at the end. */
rela_status rela_cli_block_lines(rela_cli_block *b, rela_reader *r, size_t n, rela_error *err);

/* Replaces the contents by the next other->n lines of a parallel file. RELA_FORMAT if it has fewer,
 * or if other is empty and this file has not ended too. other_name: for messages. */
rela_status rela_cli_block_match(rela_cli_block *b, rela_reader *r, const rela_cli_block *other,
                                 const char *other_name, rela_error *err);

#endif

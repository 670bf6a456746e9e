/* SPDX-License-Identifier: MIT */
/* cli/blocks.h - many lines at a time, for commands that work on batches of them. */
#ifndef RELA_CLI_BLOCKS_H
#define RELA_CLI_BLOCKS_H

#include "cli.h"

/* All zero is empty. texts and lens are what the functions of the library take. */
typedef struct rela_cli_block {
    rela_buffer bytes;
    const char **texts;
    size_t *lens;
    size_t n, cap_texts, cap_lens;
    uint64_t first; /* number of the first line */
} rela_cli_block;

void rela_cli_block_free(rela_cli_block *b);

/* Replaces the contents by the next lines, about want bytes of them; less if no more are ready just
 * now (a terminal, a slow pipe), so that an answer never waits for more input. n 0 at the end. */
rela_status rela_cli_block_read(rela_cli_block *b, rela_reader *r, size_t want, rela_error *err);

/* Replaces the contents by so many lines; fewer at the end. */
rela_status rela_cli_block_lines(rela_cli_block *b, rela_reader *r, size_t n, rela_error *err);

/* Replaces the contents by the next n lines of a file that must have as many lines as another; n 0:
 * it must be at its end. other: what to call that one. */
rela_status rela_cli_block_match(rela_cli_block *b, rela_reader *r, const rela_cli_block *other,
                                 const char *other_name, rela_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/rank_jobs.h - a command on files as several ranks of mpirun: every rank reads all blocks of
 * lines and works on every n-th, and rank 0 writes the results in the order of the input. One
 * process is one rank, and writes directly. */
#ifndef RELA_CLI_RANK_JOBS_H
#define RELA_CLI_RANK_JOBS_H

#include "cli.h"

#include "dist/world.h"

/* All zero is closed. */
typedef struct rela_cli_ranks {
    /* On rank 0, in the order of the blocks: notes about one. May be NULL. */
    void (*on_notes)(void *ctx, const char *notes, size_t len);
    void *ctx;
    rela_buffer notes; /* the command appends to it what is to be noted of the own block */
    /* private */
    rela_cli *cli;
    rela_world *world;
    rela_writer *writer;
    rela_buffer text, all;
    uint64_t *sizes; /* (ranks, 2) of text and notes */
    size_t turn;     /* blocks of this round */
    rela_status own; /* of the own block */
    rela_error why;
} rela_cli_ranks;

/* Joins the ranks; all but rank 0 are quiet from now on, and threads are divided. */
rela_status rela_cli_ranks_open(rela_cli_ranks *r, rela_cli *cli, rela_error *err);
/* st: how the command ended; on all ranks the status of the first that failed. */
rela_status rela_cli_ranks_close(rela_cli_ranks *r, rela_status st, rela_error *err);

bool rela_cli_ranks_several(const rela_cli_ranks *r);
rela_status rela_cli_ranks_agree(rela_cli_ranks *r, rela_status st, rela_error *err);

/* The output is opened by rank 0 alone; it may replace a file that the others read until commit. */
rela_status rela_cli_ranks_output(rela_cli_ranks *r, const char *path, rela_error *err);
/* After the last block: what rank 0 adds. */
rela_status rela_cli_ranks_add(rela_cli_ranks *r, const rela_buffer *text, rela_error *err);
rela_status rela_cli_ranks_commit(rela_cli_ranks *r, rela_error *err);

/* Bytes of a block: as wanted, but on several ranks some blocks for each of an input of this size.
 */
size_t rela_cli_ranks_bytes(const rela_cli_ranks *r, int64_t want, uint64_t size);
/* Whether the block that was read is this rank's to work on. */
bool rela_cli_ranks_turn(rela_cli_ranks *r);
/* What it makes of it. */
rela_status rela_cli_ranks_write(rela_cli_ranks *r, const rela_buffer *text, rela_error *err);
/* After every block, and once more at the end of the input (more false). read: how reading went,
 * own: how the work on the block. Results before a failure are written. */
rela_status rela_cli_ranks_next(rela_cli_ranks *r, rela_status read, rela_status own, bool more,
                                rela_error *err);

#endif

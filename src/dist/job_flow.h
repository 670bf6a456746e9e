/* SPDX-License-Identifier: MIT */
/* src/dist/job_flow.h - the blocks of a job: read in order, worked on by the threads of all ranks,
 * and finished in order by rank 0.
 *
 * The result of a block is bytes: to `finish` it makes no difference whether they come from this
 * process, another rank, or the record that an earlier process left. Rank 0 reads all of the text;
 * the other ranks seek to the places that it names and read their own blocks. */
#ifndef RELA_DIST_JOB_FLOW_H
#define RELA_DIST_JOB_FLOW_H

#include "dist/world.h"
#include "rela/job.h"

enum { RELA_PLACE_FILES = 8 };

/* Where a block begins. */
typedef struct rela_job_place {
    uint64_t line;                    /* lines before it */
    uint64_t bytes[RELA_PLACE_FILES]; /* of each file, see rela_reader_place */
} rela_job_place;

typedef struct rela_flow {
    size_t block_size; /* of the caller's struct of a block, which starts as all zero */
    void (*free_block)(void *block); /* frees what it holds; may be NULL */
    /* Reads the next block of `want` lines, or of any size if want is 0. *n: lines read, 0 at the
     * end. */
    rela_status (*read)(void *ctx, void *block, uint64_t want, uint64_t *n, rela_error *err);
    void (*place)(void *ctx, rela_job_place *out); /* of the block that is read next */
    rela_status (*seek)(void *ctx, const rela_job_place *at, rela_error *err);
    uint64_t (*hash)(void *ctx,
                     const void *block); /* of its text; NULL: a setting of the job covers it */
    /* Called on any thread; result is empty on entry. */
    rela_status (*work)(void *ctx, void *block, rela_buffer *result, int thread, rela_error *err);
    /* Called on rank 0, in the order of the blocks. */
    rela_status (*finish)(void *ctx, void *block, const rela_buffer *result, rela_error *err);
    bool partial;  /* a failed block is finished too, if it has a result */
    int n_threads; /* that call work; 1 if it has threads of its own */
    void *ctx;
} rela_flow;

/* Runs from the current place to the end of the text. j NULL: this process alone. Collective. */
rela_status rela_job_run(rela_job *j, const rela_flow *f, rela_error *err);

rela_world *rela_job_world(const rela_job *j); /* NULL: one process */

/* Names an output, a file or a directory. With a record, what an earlier process of the job was
 * writing there when it was killed is removed before work begins. */
rela_status rela_job_output(rela_job *j, const char *path, rela_error *err);

#endif

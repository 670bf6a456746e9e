/* SPDX-License-Identifier: MIT */
/* src/dist/job_parts.h - what the files of a job share: its struct, and the two ways to run a flow.
 */
#ifndef RELA_DIST_JOB_PARTS_H
#define RELA_DIST_JOB_PARTS_H

#include "dist/job_flow.h"
#include "dist/job_record.h"

struct rela_job {
    rela_world *world;
    rela_job_options o;
    char *path;          /* of the record, or NULL */
    rela_record *record; /* on rank 0, once work has begun */
    rela_buffer settings;
    bool begun;
    uint64_t run;
};

/* A block with what was made of it. */
typedef struct rela_job_slot {
    void *block;
    uint64_t lines;
    rela_place place;
    rela_buffer result;
    rela_status st; /* of the work, if it failed and is finished all the same */
    rela_error why;
} rela_job_slot;

rela_job_slot *rela_job_slots_create(const rela_flow *f, size_t n, rela_error *err);
void rela_job_slots_destroy(rela_job_slot *s, const rela_flow *f, size_t n); /* NULL is fine */

/* Work on a block, and the end of one: it is recorded, unless its work has failed, and finished. */
rela_status rela_job_work(const rela_flow *f, rela_job_slot *s, int thread, rela_error *err);
rela_status rela_job_finish(rela_job *j, const rela_flow *f, rela_job_slot *s, rela_error *err);

/* All blocks that are left, by all ranks. */
rela_status rela_job_run_ranks(rela_job *j, const rela_flow *f, rela_error *err);

#endif

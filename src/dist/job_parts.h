/* SPDX-License-Identifier: MIT */
/* src/dist/job_parts.h - shared by the files of a job: its struct, and both ways to run a flow. */
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
    rela_buffer outputs; /* paths, each ended by a NUL */
    bool begun;
    uint64_t run;
};

/* A block and its result. */
typedef struct rela_job_slot {
    void *block;
    uint64_t lines;
    rela_job_place place;
    rela_buffer result;
    rela_status st; /* of the work, if rela_flow.partial let a failure pass */
    rela_error why;
} rela_job_slot;

rela_job_slot *rela_job_slots_create(const rela_flow *f, size_t n, rela_error *err);
void rela_job_slots_destroy(rela_job_slot *s, const rela_flow *f, size_t n); /* NULL is fine */

/* The work on a block; and its end, on rank 0: records the result, unless the work failed, and
 * finishes the block. */
rela_status rela_job_work(const rela_flow *f, rela_job_slot *s, int thread, rela_error *err);
rela_status rela_job_finish(rela_job *j, const rela_flow *f, rela_job_slot *s, rela_error *err);

/* Runs the remaining blocks on all ranks. Collective. */
rela_status rela_job_run_ranks(rela_job *j, const rela_flow *f, rela_error *err);

#endif

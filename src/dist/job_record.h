/* SPDX-License-Identifier: MIT */
/* src/dist/job_record.h - the file that keeps the results of a job, block after block, so that it
 * can go on from there. docs/formats.md describes it.
 *
 * A block that was not written to its end, as by a process that was killed, is cut off when the
 * file is opened again: every block has a hash. A file that is something else is never changed. */
#ifndef RELA_DIST_JOB_RECORD_H
#define RELA_DIST_JOB_RECORD_H

#include "base/str.h"

typedef struct rela_record rela_record;

/* What is known of a block beside its result. */
typedef struct rela_record_head {
    uint64_t run;   /* of the job; blocks of one run follow each other */
    uint64_t lines; /* of the text */
    uint64_t text;  /* hash of them */
} rela_record_head;

/* Makes the file with these settings, or opens the one that is there: then they must be those it
 * was made with, or it is RELA_STATE with both values. RELA_STATE too while another process has it.
 */
rela_status rela_record_open(rela_record **out, const char *path, const char *settings,
                             rela_error *err);
void rela_record_close(rela_record *r); /* NULL is fine */
/* The job is complete. */
rela_status rela_record_remove(const rela_record *r, rela_error *err);

/* The next block of a run; *there false if there is none. The result replaces the contents. */
rela_status rela_record_next(rela_record *r, rela_record_head *known, rela_buffer *result,
                             uint64_t run, bool *there, rela_error *err);
/* After all that are there were taken. */
rela_status rela_record_add(rela_record *r, const rela_record_head *known,
                            const rela_buffer *result, rela_error *err);
const char *rela_record_path(const rela_record *r); /* lent */

#endif

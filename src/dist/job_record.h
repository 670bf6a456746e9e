/* SPDX-License-Identifier: MIT */
/* src/dist/job_record.h - the file that keeps the results of a job, block by block, so that it can
 * be resumed. docs/formats.md describes it.
 *
 * Every block has a hash: one that was only partly written, as by a process that was killed, is cut
 * off when the file is reopened. A file that is not a record is never changed. */
#ifndef RELA_DIST_JOB_RECORD_H
#define RELA_DIST_JOB_RECORD_H

#include "base/str.h"

typedef struct rela_record rela_record;

/* What is stored of a block besides its result. */
typedef struct rela_record_head {
    uint64_t run;   /* which run of the job; its blocks are consecutive */
    uint64_t lines; /* of the text */
    uint64_t text;  /* hash of them */
} rela_record_head;

/* Creates the file with these settings, or opens an existing one, which must have been made with
 * the same: otherwise RELA_STATE with both values. RELA_STATE too while another process has it
 * open. */
rela_status rela_record_open(rela_record **out, const char *path, const char *settings,
                             rela_error *err);
void rela_record_close(rela_record *r); /* NULL is fine */
/* Deletes the file of a job that is complete. */
rela_status rela_record_remove(const rela_record *r, rela_error *err);

/* The next block of a run; *there is false if there is none. Overwrites the contents of result. */
rela_status rela_record_next(rela_record *r, rela_record_head *known, rela_buffer *result,
                             uint64_t run, bool *there, rela_error *err);
/* Appends a block. RELA_STATE unless all existing blocks have been taken. */
rela_status rela_record_add(rela_record *r, const rela_record_head *known,
                            const rela_buffer *result, rela_error *err);
const char *rela_record_path(const rela_record *r); /* lent */

#endif

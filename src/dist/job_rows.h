/* SPDX-License-Identifier: MIT */
/* src/dist/job_rows.h - base/line_rows.h as a job. */
#ifndef RELA_DIST_JOB_ROWS_H
#define RELA_DIST_JOB_ROWS_H

#include "base/line_rows.h"
#include "rela/job.h"

/* Like rela_steps_run, on all ranks of the job and with its record. work must put all of its output
 * into rows->out; rows->extra is not used. done is called on rank 0, which reads all lines. *n_rows
 * (NULL is fine) is meaningful on rank 0 only. Collective. */
rela_status rela_job_rows(uint64_t *n_rows, rela_job *j, const rela_steps *s, rela_error *err);

#endif

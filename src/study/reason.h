/* SPDX-License-Identifier: MIT */
/* src/study/reason.h - why a job is to be run, or is not. */
#ifndef RELA_STUDY_REASON_H
#define RELA_STUDY_REASON_H

#include "study/study_job.h"

typedef struct rela_study_reasons rela_study_reasons;

/* dir may be NULL. */
rela_status rela_study_reasons_open(rela_study_reasons **out, const rela_study_jobs *jobs,
                                    const char *dir, const char *results, rela_error *err);
/* Appends one line without its end: "never run", "lr 0.005 -> 0.003; input train-src changed",
 * "waits for choose/rela-g", "done". */
rela_status rela_study_reason(rela_buffer *out, rela_study_reasons *r, const rela_study_job *job,
                              rela_error *err);
void rela_study_reasons_close(rela_study_reasons *r); /* NULL is fine */

#endif

/* SPDX-License-Identifier: MIT */
/* src/study/ledger.h - RESULTS/ledger.tsv: when test text was first read, under which plan.
 *
 * One row per job that reads test text: time, hash of the plan, data, test set, key of the job. */
#ifndef RELA_STUDY_LEDGER_H
#define RELA_STUDY_LEDGER_H

#include "study/study_job.h"

/* Adds a row if the job reads test text and has none yet. */
rela_status rela_study_ledger_note(const rela_study *s, const rela_study_job *job,
                                   const char *results, rela_error *err);

#endif

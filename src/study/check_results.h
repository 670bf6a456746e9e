/* SPDX-License-Identifier: MIT */
/* src/study/check_results.h - whether results are what manifests say, and results made before under
 * another key. */
#ifndef RELA_STUDY_CHECK_RESULTS_H
#define RELA_STUDY_CHECK_RESULTS_H

#include "study/job_folder.h"

typedef struct rela_study_check {
    size_t files;  /* whose hashes were computed */
    size_t absent; /* big outputs that are not in DIR: they can be made again */
    size_t bad;
} rela_study_check;

/* Recomputes the hashes of all outputs of a job that is done; appends a line per file that is not
 * what it should be. */
rela_status rela_study_check_job(rela_buffer *out, rela_study_check *check,
                                 const rela_study_job *job, rela_study_folders where,
                                 rela_error *err);

/* Takes the results that key has for those of job: for a change that is known to change nothing.
 * job, whose key is known, becomes DONE. */
rela_status rela_study_adopt(rela_study_job *job, const rela_study *s, const char *key,
                             rela_study_folders where, rela_error *err);

#endif

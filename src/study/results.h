/* SPDX-License-Identifier: MIT */
/* src/study/results.h - the small outputs of jobs that are done, as facts. */
#ifndef RELA_STUDY_RESULTS_H
#define RELA_STUDY_RESULTS_H

#include "study/facts.h"
#include "study/study_job.h"

/* dir: work folder, where texts of ranked pairs may be; NULL: there is none. Adds what RESULTS has
 * of each job that is done. A file that is missing is left out; one that cannot be read is
 * RELA_FORMAT with its name. jobs and study must outlive the facts. */
rela_status rela_study_results_load(rela_facts *facts, const rela_study_jobs *jobs,
                                    const char *results, const char *dir, rela_error *err);

#endif

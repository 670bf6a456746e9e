/* SPDX-License-Identifier: MIT */
/* src/study/results_maps.h - ranked pairs and attention of example sentences, for results.c. */
#ifndef RELA_STUDY_RESULTS_MAPS_H
#define RELA_STUDY_RESULTS_MAPS_H

#include "study/facts.h"
#include "study/study_job.h"

/* ranks.tsv, with labels.txt if it is there, and with the texts if the work folder dir has them. */
rela_status rela_results_ranking(rela_facts *facts, const rela_study_job *job, const char *results,
                                 const char *dir, const char *key, rela_error *err);
/* links-L-H.txt of every layer and head, with the examples. */
rela_status rela_results_maps(rela_facts *facts, const rela_study_job *job, const char *results,
                              const char *key, rela_error *err);

#endif

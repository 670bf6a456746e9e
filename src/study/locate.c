/* SPDX-License-Identifier: MIT */
/* src/study/locate.c - keys of jobs, and which of them are done. */
#include "study/study_job.h"

rela_status rela_study_locate(rela_study_jobs *jobs, const char *dir, const char *results,
                              const rela_study_normaliser *normaliser, rela_error *err)
{
    (void)normaliser;
    return rela_fail(err, RELA_UNSUP, "%zu jobs in %s and %s are not located", jobs->n,
                     dir ? dir : "-", results);
}

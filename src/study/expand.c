/* SPDX-License-Identifier: MIT */
/* src/study/expand.c - the jobs of a study. */
#include "study/study_job.h"

rela_status rela_study_expand(rela_study_jobs *out, rela_study *s, rela_error *err)
{
    *out = (rela_study_jobs){ .study = s };
    return rela_fail(err, RELA_UNSUP, "%s: not expanded", s->path);
}

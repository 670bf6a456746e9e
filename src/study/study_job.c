/* SPDX-License-Identifier: MIT */
/* src/study/study_job.c - names of kinds and states, and the job of a name, for study_job.h. */
#include "study/study_job.h"

#include "base/str.h"

#include <string.h>

const char *rela_study_kind_name(rela_study_kind kind)
{
    static const char *const NAMES[] = { "corpus", "tune",    "choose", "train",
                                         "score",  "analyse", "speed" };
    _Static_assert(sizeof NAMES / sizeof NAMES[0] == RELA_STUDY_KINDS, "a name for every kind");
    return NAMES[kind];
}

const char *rela_study_state_name(rela_study_state state)
{
    static const char *const NAMES[] = { "pending", "ready",   "running", "stopped",
                                         "failed",  "blocked", "done" };
    return NAMES[state];
}

int rela_study_find_job(const rela_study_jobs *jobs, const char *name)
{
    enum { DIGITS_LEAST = 4 };
    const size_t len = strlen(name);
    int found = RELA_STUDY_NO_JOB;
    for (size_t i = 0; i < jobs->n; i++) {
        const rela_study_job *j = &jobs->items[i];
        if (strcmp(j->name, name) == 0)
            return (int)i;
        if (len >= DIGITS_LEAST && strncmp(j->key, name, len) == 0)
            found = (int)i;
    }
    return found;
}

rela_status rela_study_result_path(rela_buffer *out, const char *results, const rela_study_job *job,
                                   const char *name, rela_error *err)
{
    return rela_buffer_printf(out, err, "%s/%.*s/%s", results, RELA_STUDY_FOLDER_DIGITS, job->key,
                              name);
}

/* SPDX-License-Identifier: MIT */
/* src/study/job_folder.h - the folder of a job: made ready for its commands, and what they leave
 * put in its place.
 *
 * DIR/jobs/<12 digits>/ has job.yml (commands and options), inputs.tsv, claim, state, log and
 * work/, where the commands run: in/ROLE are links to the inputs, out/ the outputs, run/ a
 * training run. When they have ended, out/ is moved next to work/, small outputs are copied to
 * RESULTS/<12 digits>/, and a manifest is written there last. A process may be killed anywhere: the
 * same job can be made ready again. */
#ifndef RELA_STUDY_JOB_FOLDER_H
#define RELA_STUDY_JOB_FOLDER_H

#include "study/study_job.h"

typedef struct rela_study_folders {
    const char *dir, *results;
} rela_study_folders;

/* The job that has to be run first as one of its outputs, which is big, is not in DIR;
 * RELA_STUDY_NO_JOB: none. */
int rela_study_missing_maker(const rela_study_jobs *jobs, const rela_study_job *job,
                             const char *dir, rela_error *err);

/* Of a job whose key is known and which is claimed. The folder with the commands' working directory
 * is DIR/jobs/<12 digits>/work. */
rela_status rela_study_folder_prepare(const rela_study_jobs *jobs, const rela_study_job *job,
                                      rela_study_folders where, rela_error *err);

/* After the last command. job becomes DONE. If it was done before, as for an output that was not
 * there any more, its outputs must be the same again. time: rows of time.tsv. */
rela_status rela_study_folder_finish(const rela_study_jobs *jobs, rela_study_job *job,
                                     rela_study_folders where, const char *time, rela_error *err);

/* The contents of job.yml and of inputs.tsv. */
rela_status rela_study_job_record(rela_buffer *out, const rela_study_job *job, rela_error *err);
rela_status rela_study_job_inputs(rela_buffer *out, const rela_study_job *job, rela_error *err);

/* The last lines of a log, at most n; appended to out, each after indent. */
rela_status rela_study_log_tail(rela_buffer *out, const char *dir, const rela_study_job *job,
                                size_t n, const char *indent, rela_error *err);

#endif

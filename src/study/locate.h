/* SPDX-License-Identifier: MIT */
/* src/study/locate.h - keys and states of jobs, one by one, for those that run them. */
#ifndef RELA_STUDY_LOCATE_H
#define RELA_STUDY_LOCATE_H

#include "study/study_job.h"

typedef struct rela_study_locator rela_study_locator;

/* dir and results are lent until it is closed. */
rela_status rela_study_locator_open(rela_study_locator **out, rela_study_jobs *jobs,
                                    const char *dir, const char *results,
                                    const rela_study_normaliser *normaliser, rela_error *err);
/* Brings key, state and outputs of a job up to date. Those that it needs come first. */
rela_status rela_study_locator_job(rela_study_locator *l, size_t number, rela_error *err);
/* All jobs. */
rela_status rela_study_locator_all(rela_study_locator *l, rela_error *err);
/* Also keeps the hashes of files for the next time, as far as it can. */
void rela_study_locator_close(rela_study_locator *l); /* NULL is fine */

/* DIR/jobs/<12 digits>, or a file there. */
rela_status rela_study_job_path(rela_buffer *out, const char *dir, const rela_study_job *job,
                                const char *name, rela_error *err);

/* The first line of DIR/jobs/KEY/state: a word and what follows it. */
typedef struct rela_study_note {
    char word[16];  /* "running", "stopped", "failed", "done", or "" */
    char rest[240]; /* "exit code 1", "signal 15" ... */
} rela_study_note;
void rela_study_note_read(rela_study_note *out, const char *dir, const rela_study_job *job);
rela_status rela_study_note_write(const char *dir, const rela_study_job *job, const char *word,
                                  const char *rest, rela_error *err);

#endif

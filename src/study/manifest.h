/* SPDX-License-Identifier: MIT */
/* src/study/manifest.h - what a job has left: reading, writing and checking its manifest.
 *
 * manifest.tsv has a row per output, sorted by name: name, size, hash, place. place is "small" for
 * what is in RESULTS, "big" for what is in DIR only, "timing" for figures that differ from run to
 * run; their hash is "-" and their size 0. */
#ifndef RELA_STUDY_MANIFEST_H
#define RELA_STUDY_MANIFEST_H

#include "study/study_job.h"

/* Lists the files below folder. timings: all of them are. */
rela_status rela_study_manifest_make(rela_study_output **out, size_t *n, rela_arena *arena,
                                     const char *folder, bool timings, rela_error *err);
/* durable: waits until it is. */
rela_status rela_study_manifest_write(const char *path, const rela_study_output *outputs, size_t n,
                                      bool durable, rela_error *err);
/* RELA_FORMAT with file and line for one that is damaged. */
rela_status rela_study_manifest_read(rela_study_output **out, size_t *n, rela_arena *arena,
                                     const char *path, rela_error *err);
/* NULL: there is no such output. */
const rela_study_output *rela_study_find_output(const rela_study_job *job, const char *name);

/* RESULTS/names.tsv: job and key, of jobs that are done. */
typedef struct rela_study_key_names {
    const char **names, **keys;
    size_t n;
} rela_study_key_names;
/* Empty if there is no file. Sorted by name. */
rela_status rela_study_names_read(rela_study_key_names *out, rela_arena *arena, const char *results,
                                  rela_error *err);
const char *rela_study_names_find(const rela_study_key_names *names, const char *name);
/* Adds and replaces the rows of these jobs that are done; rows of others stay. */
rela_status rela_study_names_update(const rela_study_jobs *jobs, const char *results,
                                    rela_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* src/study/key.h - keys of jobs, and hashes of files.
 *
 * A key is a hash of all that decides the bytes of the outputs: commands with the version of their
 * algorithm, options in full, and the contents of inputs. Fields are framed by their lengths. */
#ifndef RELA_STUDY_KEY_H
#define RELA_STUDY_KEY_H

#include "study/study_job.h"

/* Version of what a command computes: to be raised when its results change. */
int rela_study_algorithm(const char *command);

/* Fills options and settings of a job. Memoises nothing. */
rela_status rela_study_set_options(rela_study_job *job, const rela_study *s,
                                   const rela_study_normaliser *normaliser, rela_error *err);
/* After a failure to do so: which option of the study is wrong by itself? Replaces the message by
 * one with its line. False: none, so it is the combination. */
bool rela_study_blame(const rela_study *s, const rela_study_normaliser *normaliser,
                      rela_error *err);
/* The key, from settings and the hashes of all inputs. */
void rela_study_set_key(rela_study_job *job);

/* Hash of a file as 32 hex digits. */
rela_status rela_study_hash_file(char out[RELA_STUDY_KEY_SIZE], uint64_t *size, const char *path,
                                 rela_error *err);
void rela_study_hash_text(char out[RELA_STUDY_KEY_SIZE], const char *text, size_t len);

/* Hashes of files that do not change, by path and mark, kept in a file. */
typedef struct rela_study_hashes rela_study_hashes;
/* path NULL: kept nowhere. A file that cannot be read is as good as none. */
rela_status rela_study_hashes_open(rela_study_hashes **out, const char *path, rela_error *err);
rela_status rela_study_hashes_find(char out[RELA_STUDY_KEY_SIZE], uint64_t *size,
                                   rela_study_hashes *h, const char *file, rela_error *err);
/* Writes the file if there is something new. */
rela_status rela_study_hashes_save(rela_study_hashes *h, rela_error *err);
void rela_study_hashes_close(rela_study_hashes *h); /* NULL is fine */

#endif

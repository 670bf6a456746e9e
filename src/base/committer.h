/* SPDX-License-Identifier: MIT */
/* src/base/committer.h - commits written files in the background, in order.
 *
 * Making a large file durable takes longer than writing it; meanwhile the caller goes on. All
 * functions must be called from one thread. */
#ifndef RELA_BASE_COMMITTER_H
#define RELA_BASE_COMMITTER_H

#include "base/file.h"

typedef struct rela_committer rela_committer;

rela_status rela_committer_create(rela_committer **out, rela_error *err);
/* Waits for all files. NULL is fine. */
void rela_committer_destroy(rela_committer *c);

/* Takes w, which must be completely written. If an earlier file has failed, w is aborted instead.
 * Waits while many files are pending; if no thread can start, commits before it returns. */
void rela_committer_add(rela_committer *c, rela_writer *w);
/* Whether all files have been committed, or one has failed. */
bool rela_committer_done(rela_committer *c);
/* Waits for all files: the first failure since the last call, or RELA_OK. */
rela_status rela_committer_wait(rela_committer *c, rela_error *err);

#endif

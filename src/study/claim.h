/* SPDX-License-Identifier: MIT */
/* src/study/claim.h - who works on a job: a file that only one process can create.
 *
 * A claim whose holder is on this machine ends with its process. One of another machine ends when
 * it has shown no sign of life for ten minutes. Double work is safe: both write the same bytes. */
#ifndef RELA_STUDY_CLAIM_H
#define RELA_STUDY_CLAIM_H

#include "base/error.h"

#include <stdbool.h>

enum { RELA_CLAIM_SILENT = 600 /* seconds */, RELA_CLAIM_HOLDER_SIZE = 200 };

/* *got: this process has the claim now. holder: who has it otherwise, or from whom it was taken
 * over; "" if there was none. */
rela_status rela_claim_take(bool *got, char holder[RELA_CLAIM_HOLDER_SIZE], const char *path,
                            rela_error *err);
/* Is it held by a process that is alive? */
bool rela_claim_held(const char *path);
/* Is there a process of this number on this machine that has not ended? */
bool rela_claim_process_alive(long pid);
rela_status rela_claim_beat(const char *path, rela_error *err); /* a sign of life */
rela_status rela_claim_drop(const char *path, rela_error *err);

#endif

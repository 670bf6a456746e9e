/* SPDX-License-Identifier: MIT */
/* src/base/temporary.h - files under a temporary name in the directory of their target, for
 * file_*.c.
 *
 * Existing ones are kept in a list, so that rela_file_abort_all (file.h) can remove them when a
 * signal ends the process. */
#ifndef RELA_BASE_TEMPORARY_H
#define RELA_BASE_TEMPORARY_H

#include "base/error.h"

#include <sys/stat.h>

typedef struct rela_temporary {
    struct rela_temporary *next, *previous;
    char *name;
} rela_temporary;

/* Creates a file in the directory of target, open for reading and writing. The caller frees *out
 * with rela_temporary_free. */
rela_status rela_temporary_open(int *fd, rela_temporary **out, const char *target, mode_t mode,
                                rela_error *err);

/* Call it after the file was renamed or removed. NULL is fine. */
void rela_temporary_free(rela_temporary *t);

#endif

/* SPDX-License-Identifier: MIT */
/* src/base/temporary.h - files under a temporary name beside their target, for file_*.c.
 *
 * Those that are there are kept in a list, so that rela_file_abort_all (file.h) can remove them
 * when a signal ends the process. */
#ifndef RELA_BASE_TEMPORARY_H
#define RELA_BASE_TEMPORARY_H

#include "base/error.h"

#include <sys/stat.h>

typedef struct rela_temporary {
    struct rela_temporary *next, *previous;
    char *name;
} rela_temporary;

/* Opens a new file in the directory of target, to write and read. *out is given. */
rela_status rela_temporary_open(int *fd, rela_temporary **out, const char *target, mode_t mode,
                                rela_error *err);

/* To be called once the file is renamed or removed. NULL is fine. */
void rela_temporary_free(rela_temporary *t);

#endif

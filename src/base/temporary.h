/* SPDX-License-Identifier: MIT */
/* src/base/temporary.h - files under a temporary name beside their target, for file_write.c.
 *
 * The names of those that are open are remembered, so that rela_file_abort_all (file.h) can
 * remove them when a signal ends the process. */
#ifndef RELA_BASE_TEMPORARY_H
#define RELA_BASE_TEMPORARY_H

#include "base/error.h"

#include <sys/stat.h>

/* Opens a new file in the directory of target. *name is given, freed with rela_mem_free. */
rela_status rela_temporary_open(int *fd, char **name, const char *target, mode_t mode,
                                rela_error *err);

/* Must be called once the file is renamed or removed. */
void rela_temporary_forget(const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/* src/base/temporary.h - files under a temporary name in the directory of their target, and
 * temporary directories, for file_*.c.
 *
 * Existing ones are kept in a list, so that rela_file_abort_all (file.h) can remove them when a
 * signal ends the process. */
#ifndef RELA_BASE_TEMPORARY_H
#define RELA_BASE_TEMPORARY_H

#include "base/file.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>

typedef struct rela_temporary {
    struct rela_temporary *next, *previous;
    char *name;
    bool is_dir; /* removed with all its contents */
} rela_temporary;

/* Creates a file in the directory of target, open for reading and writing. The caller frees *out
 * with rela_temporary_free. */
rela_status rela_temporary_open(int *fd, rela_temporary **out, const char *target, mode_t mode,
                                rela_error *err);

/* Creates a directory that only this user can access. pattern ends in XXXXXX, which is replaced; it
 * is copied. */
rela_status rela_temporary_dir(char *pattern, rela_error *err);
/* Removes the directory of this name from the list, if it is there. */
void rela_temporary_forget_dir(const char *name);

/* Call it after the file was renamed or removed. NULL is fine. */
void rela_temporary_free(rela_temporary *t);

/* Makes the rename of a temporary file to target durable: otherwise a power failure may bring back
 * the old file. */
rela_status rela_temporary_settle(const char *target, rela_error *err);

/* Between these two, rela_file_abort_all of another thread waits, and this one gets no signals. */
void rela_temporary_hold(sigset_t *old);
void rela_temporary_release(const sigset_t *old);

/* Gives t, a complete file that is to be called target, to a set; path is what the caller of the
 * writer called it. */
rela_status rela_file_set_take(rela_file_set *s, const char *path, const char *target,
                               rela_temporary *t, rela_error *err);

#endif

/* SPDX-License-Identifier: MIT */
/* src/base/sys.h - file system calls with fault injection and EINTR handled.
 *
 * For stream.c and the file_*.c only. Failure is -1 with errno set. */
#ifndef RELA_BASE_SYS_H
#define RELA_BASE_SYS_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

int rela_sys_open(const char *path, int flags, mode_t mode);
int rela_sys_close(int fd);
ssize_t rela_sys_read(int fd, void *bytes, size_t len); /* one call, may be short */
int rela_sys_seek(int fd, uint64_t at);
int rela_sys_write(int fd, const void *bytes, size_t len);               /* all of it */
int rela_sys_pwrite(int fd, const void *bytes, size_t len, uint64_t at); /* all of it */
ssize_t rela_sys_pread(int fd, void *bytes, size_t len, uint64_t at);    /* until len or the end */
int rela_sys_stat(int fd, struct stat *out);
/* Maps the first len bytes read-only; NULL on failure. */
void *rela_sys_map(int fd, size_t len);
void rela_sys_unmap(void *p, size_t len); /* NULL is fine */
int rela_sys_sync(int fd);
int rela_sys_rename(const char *from, const char *to);
/* No fault injection: they are what cleans up. */
int rela_sys_unlink(const char *path);
int rela_sys_rename_back(const char *from, const char *to);
/* A directory with all its contents; links in it are not followed. No fault injection, no memory,
 * async-signal-safe. */
int rela_sys_remove_tree(const char *path);
int rela_sys_mkdir(const char *path, mode_t mode);
int rela_sys_lock(int fd); /* exclusive, does not block */
int rela_sys_truncate(int fd, uint64_t bytes);
int rela_sys_opendir(DIR **out, const char *path);
int rela_sys_readdir(const char **name, DIR *dir); /* *name NULL at the end; lent */
int rela_sys_ready(int fd);                        /* 1 if a read would not block */

#endif

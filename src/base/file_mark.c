/* SPDX-License-Identifier: MIT */
/* src/base/file_mark.c - parts of file.h for folders that several processes share: marks of files,
 * files that only one can create, links. */
#include "base/file.h"
#include "base/mem.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool rela_file_look(rela_file_mark *out, const char *path)
{
    enum { NANO = 1000000000 };
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    *out =
        (rela_file_mark){ .size = (uint64_t)info.st_size,
                          .inode = (uint64_t)info.st_ino,
                          .changed = (int64_t)info.st_mtim.tv_sec * NANO + info.st_mtim.tv_nsec };
    return true;
}

rela_status rela_file_create(bool *taken, const char *path, const char *bytes, size_t len,
                             rela_error *err)
{
    const int fd = rela_sys_open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    *taken = fd < 0 && errno == EEXIST;
    if (*taken)
        return RELA_OK;
    rela_status st = fd < 0 ? rela_fail_errno(err, errno, "%s", path) : RELA_OK;
    if (st == RELA_OK && rela_sys_write(fd, bytes, len) != 0)
        st = rela_fail_errno(err, errno, "%s: cannot be written", path);
    if (fd >= 0 && rela_sys_close(fd) != 0 && st == RELA_OK)
        st = rela_fail_errno(err, errno, "%s: cannot be written", path);
    if (st != RELA_OK && fd >= 0)
        (void)rela_sys_unlink(path);
    return st;
}

rela_status rela_file_touch(const char *path, rela_error *err)
{
    return utimensat(AT_FDCWD, path, NULL, 0) == 0 ? RELA_OK
                                                   : rela_fail_errno(err, errno, "%s", path);
}

rela_status rela_file_note(const char *path, const char *bytes, size_t len, rela_error *err)
{
    char other[PATH_MAX];
    bool taken = false;
    if (snprintf(other, sizeof other, "%s.%ld", path, (long)getpid()) >= (int)sizeof other)
        return rela_fail(err, RELA_ARG, "%s: the name is too long", path);
    (void)rela_sys_unlink(other);
    rela_status st = rela_file_create(&taken, other, bytes, len, err);
    if (st == RELA_OK && rela_sys_rename(other, path) != 0) {
        st = rela_fail_errno(err, errno, "%s", path);
        (void)rela_sys_unlink(other);
    }
    return st;
}

rela_status rela_file_link(const char *target, const char *path, rela_error *err)
{
    struct stat info;
    char other[PATH_MAX];
    if (lstat(path, &info) == 0 && !S_ISLNK(info.st_mode))
        return rela_fail(err, RELA_STATE, "%s: not a link, so it is left alone", path);
    if (snprintf(other, sizeof other, "%s.%ld", path, (long)getpid()) >= (int)sizeof other)
        return rela_fail(err, RELA_ARG, "%s: the name is too long", path);
    (void)rela_sys_unlink(other);
    if (symlink(target, other) != 0)
        return rela_fail_errno(err, errno, "%s", path);
    if (rela_sys_rename(other, path) == 0)
        return RELA_OK;
    const rela_status st = rela_fail_errno(err, errno, "%s", path);
    (void)rela_sys_unlink(other);
    return st;
}

rela_status rela_file_sync(const char *path, rela_error *err)
{
    const int fd = rela_sys_open(path, O_RDONLY, 0);
    rela_status st = RELA_OK;
    if (fd < 0 || rela_sys_sync(fd) != 0)
        st = rela_fail_errno(err, errno, "%s", path);
    if (fd >= 0)
        (void)rela_sys_close(fd);
    return st;
}

rela_status rela_file_copy(const char *from, const char *to, rela_error *err)
{
    enum { COPY_BLOCK = 1 << 18 };
    char other[PATH_MAX];
    if (snprintf(other, sizeof other, "%s.%ld", to, (long)getpid()) >= (int)sizeof other)
        return rela_fail(err, RELA_ARG, "%s: the name is too long", to);
    char *block = rela_mem_alloc(COPY_BLOCK);
    const int in = rela_sys_open(from, O_RDONLY, 0);
    rela_status st = !block   ? rela_fail(err, RELA_NOMEM, "%s: no memory to copy it", from)
                     : in < 0 ? rela_fail_errno(err, errno, "%s", from)
                              : RELA_OK;
    const int out = st ? -1 : rela_sys_open(other, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (st == RELA_OK && out < 0)
        st = rela_fail_errno(err, errno, "%s", to);
    for (ssize_t n = 1; st == RELA_OK && n > 0;) {
        if ((n = rela_sys_read(in, block, COPY_BLOCK)) < 0)
            st = rela_fail_errno(err, errno, "%s", from);
        else if (rela_sys_write(out, block, (size_t)n) != 0)
            st = rela_fail_errno(err, errno, "%s: cannot be written", to);
    }
    if (st == RELA_OK && rela_sys_sync(out) != 0)
        st = rela_fail_errno(err, errno, "%s: cannot be written", to);
    if (in >= 0)
        (void)rela_sys_close(in);
    if (out >= 0 && rela_sys_close(out) != 0 && st == RELA_OK)
        st = rela_fail_errno(err, errno, "%s: cannot be written", to);
    if (st == RELA_OK && rela_sys_rename(other, to) != 0)
        st = rela_fail_errno(err, errno, "%s", to);
    if (st != RELA_OK && out >= 0)
        (void)rela_sys_unlink(other);
    rela_mem_free(block);
    return st;
}

rela_status rela_file_absolute(rela_buffer *out, const char *path, rela_error *err)
{
    char whole[PATH_MAX];
    rela_buffer_clear(out);
    return realpath(path, whole) ? rela_buffer_append_text(out, whole, err)
                                 : rela_fail_errno(err, errno, "%s", path);
}

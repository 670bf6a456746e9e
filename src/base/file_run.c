/* SPDX-License-Identifier: MIT */
/* src/base/file_run.c - parts of file.h for run directories: locks, appending, listing. */
#include "base/file.h"
#include "base/mem.h"
#include "base/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { HOLDER_MAX = 200 };

struct rela_lock {
    int fd;
};

struct rela_appender {
    int fd;
    char *name;
};

static rela_status refuse(int fd, const char *path, rela_error *err);
static bool is_signed(int fd);
static rela_status sign(int fd, const char *path, rela_error *err);

rela_status rela_lock_open(rela_lock **out, const char *path, rela_error *err)
{
    *out = NULL;
    rela_lock *l = rela_mem_zalloc(sizeof *l);
    if (!l)
        return rela_fail(err, RELA_NOMEM, "%s: no memory for a lock", path);
    struct stat info;
    rela_status st = RELA_OK;
    /* Follow no link, and do not block on a pipe. */
    l->fd = rela_sys_open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (l->fd < 0)
        st = errno == ELOOP ? rela_fail(err, RELA_STATE, "%s: a link; expected a file", path)
                            : rela_fail_errno(err, errno, "%s", path);
    else if (rela_sys_stat(l->fd, &info) != 0)
        st = rela_fail_errno(err, errno, "%s", path);
    else if (!S_ISREG(info.st_mode))
        st = rela_fail(err, RELA_STATE, "%s: not a regular file", path);
    else if (rela_sys_lock(l->fd) != 0)
        st = errno == EWOULDBLOCK ? refuse(l->fd, path, err)
                                  : rela_fail_errno(err, errno, "%s", path);
    else if (info.st_size > 0 && !is_signed(l->fd))
        st = rela_fail(err, RELA_STATE, "%s: not written by a run, so it is left alone", path);
    else
        st = sign(l->fd, path, err);
    if (st != RELA_OK) {
        rela_lock_close(l);
        return st;
    }
    *out = l;
    return RELA_OK;
}

bool rela_lock_left(const char *path)
{
    struct stat info;
    const int fd = rela_sys_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    const bool left =
        fd >= 0 && rela_sys_stat(fd, &info) == 0 && S_ISREG(info.st_mode) && is_signed(fd);
    if (fd >= 0)
        (void)rela_sys_close(fd);
    return left;
}

void rela_lock_close(rela_lock *l)
{
    if (!l)
        return;
    if (l->fd >= 0)
        (void)rela_sys_close(l->fd);
    rela_mem_free(l);
}

rela_status rela_appender_open(rela_appender **out, const char *path, uint64_t keep,
                               rela_error *err)
{
    *out = NULL;
    rela_appender *a = rela_mem_zalloc(sizeof *a);
    if (!a)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to write it", path);
    struct stat info;
    rela_status st = RELA_OK;
    a->name = rela_str_copy(path, strlen(path));
    a->fd = a->name ? rela_sys_open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    if (!a->name)
        st = rela_fail(err, RELA_NOMEM, "%s: no memory to write it", path);
    else if (a->fd < 0 || rela_sys_stat(a->fd, &info) != 0 ||
             (keep < (uint64_t)info.st_size && rela_sys_truncate(a->fd, keep) != 0))
        st = rela_fail_errno(err, errno, "%s: cannot be written", path);
    if (st != RELA_OK) {
        rela_appender_close(a);
        return st;
    }
    *out = a;
    return RELA_OK;
}

rela_status rela_appender_write(rela_appender *a, const char *bytes, size_t len, rela_error *err)
{
    if (rela_sys_write(a->fd, bytes, len) == 0)
        return RELA_OK;
    return rela_fail_errno(err, errno, "%s: cannot be written", a->name);
}

rela_status rela_appender_lock(rela_appender *a, rela_error *err)
{
    if (rela_sys_lock(a->fd) == 0)
        return RELA_OK;
    return errno == EWOULDBLOCK
               ? rela_fail(err, RELA_STATE, "%s: in use by another process", a->name)
               : rela_fail_errno(err, errno, "%s", a->name);
}

rela_status rela_appender_cut(rela_appender *a, uint64_t keep, rela_error *err)
{
    if (rela_sys_truncate(a->fd, keep) == 0)
        return RELA_OK;
    return rela_fail_errno(err, errno, "%s: cannot be cut", a->name);
}

void rela_appender_close(rela_appender *a)
{
    if (!a)
        return;
    if (a->fd >= 0)
        (void)rela_sys_close(a->fd);
    rela_mem_free(a->name);
    rela_mem_free(a);
}

rela_status rela_dir_list(const char *path,
                          rela_status (*on_name)(void *ctx, const char *name, rela_error *err),
                          void *ctx, rela_error *err)
{
    DIR *dir = NULL;
    if (rela_sys_opendir(&dir, path) != 0)
        return rela_fail_errno(err, errno, "%s", path);
    rela_status st = RELA_OK;
    const char *name = "";
    while (st == RELA_OK && name) {
        if (rela_sys_readdir(&name, dir) != 0)
            st = rela_fail_errno(err, errno, "%s: cannot be listed", path);
        else if (name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            st = on_name(ctx, name, err);
    }
    (void)closedir(dir);
    return st;
}

uint64_t rela_disk_free(const char *path)
{
    struct statvfs v;
    return statvfs(path, &v) == 0 ? (uint64_t)v.f_bavail * v.f_frsize : 0;
}

static rela_status refuse(int fd, const char *path, rela_error *err)
{
    char holder[HOLDER_MAX] = "";
    const ssize_t n = rela_sys_pread(fd, holder, sizeof holder - 1, 0);
    holder[n > 0 ? n : 0] = '\0';
    holder[strcspn(holder, "\n")] = '\0';
    return rela_fail(err, RELA_STATE, "%s: in use by %s", path,
                     *holder ? holder : "another process");
}

/* One line like "process 12 on host", and nothing else. */
static bool is_signed(int fd)
{
    char text[HOLDER_MAX + 64];
    const ssize_t n = rela_sys_pread(fd, text, sizeof text - 1, 0);
    if (n <= 0 || (size_t)n == sizeof text - 1 || memchr(text, '\0', (size_t)n))
        return false;
    text[n] = '\0';
    static const char HEAD[] = "process ", MIDDLE[] = " on ";
    const char *at = text + sizeof HEAD - 1;
    if (strncmp(text, HEAD, sizeof HEAD - 1) != 0)
        return false;
    const size_t digits = strspn(at, "0123456789");
    at += digits;
    return digits > 0 && strncmp(at, MIDDLE, sizeof MIDDLE - 1) == 0 &&
           strcspn(at, "\n") + 1 == strlen(at);
}

static rela_status sign(int fd, const char *path, rela_error *err)
{
    char host[HOLDER_MAX] = "this host";
    rela_buffer text = RELA_BUFFER_INIT;
    (void)gethostname(host, sizeof host - 1);
    rela_status st = rela_buffer_printf(&text, err, "process %ld on %s\n", (long)getpid(), host);
    if (st == RELA_OK &&
        (rela_sys_truncate(fd, 0) != 0 || rela_sys_pwrite(fd, text.data, text.len, 0) != 0))
        st = rela_fail_errno(err, errno, "%s: cannot be written", path);
    rela_buffer_free(&text);
    return st;
}

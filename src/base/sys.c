/* SPDX-License-Identifier: MIT */
/* src/base/sys.c - see sys.h. */
#include "base/sys.h"

#include "base/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TREE_ROUNDS = 100, TREE_DEPTH = 16 };

static int faulty(int error_number);
static size_t clip(size_t len);
static int again(int fd, short events);

int rela_sys_open(const char *path, int flags, mode_t mode)
{
    if (faulty(EMFILE))
        return -1;
    int fd = -1;
    do
        fd = open(path, flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int rela_sys_close(int fd)
{
    const int bad = faulty(EIO);
    /* On Linux the descriptor is closed even after EINTR: never close twice. */
    const int got = close(fd);
    if (bad)
        errno = EIO;
    return bad || (got < 0 && errno != EINTR) ? -1 : 0;
}

ssize_t rela_sys_read(int fd, void *bytes, size_t len)
{
    if (faulty(EIO))
        return -1;
    ssize_t n = 0;
    do
        n = read(fd, bytes, clip(len));
    while (n < 0 && again(fd, POLLIN));
    return n;
}

int rela_sys_write(int fd, const void *bytes, size_t len)
{
    const char *p = bytes;
    while (len > 0) {
        if (faulty(ENOSPC))
            return -1;
        const ssize_t n = write(fd, p, clip(len));
        if (n < 0 && again(fd, POLLOUT))
            continue;
        if (n < 0)
            return -1;
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

int rela_sys_pwrite(int fd, const void *bytes, size_t len, uint64_t at)
{
    const char *p = bytes;
    while (len > 0) {
        if (faulty(ENOSPC))
            return -1;
        const ssize_t n = pwrite(fd, p, clip(len), (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        p += n;
        at += (uint64_t)n;
        len -= (size_t)n;
    }
    return 0;
}

ssize_t rela_sys_pread(int fd, void *bytes, size_t len, uint64_t at)
{
    size_t done = 0;
    while (done < len) {
        if (faulty(EIO))
            return -1;
        const ssize_t n = pread(fd, (char *)bytes + done, clip(len - done), (off_t)(at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

void *rela_sys_map(int fd, size_t len)
{
    if (faulty(ENOMEM))
        return NULL;
    void *p = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

void rela_sys_unmap(void *p, size_t len)
{
    if (p)
        (void)munmap(p, len);
}

int rela_sys_stat(int fd, struct stat *out)
{
    return faulty(EIO) ? -1 : fstat(fd, out);
}

int rela_sys_sync(int fd)
{
    if (faulty(EIO))
        return -1;
    int got = 0;
    do
        got = fsync(fd);
    while (got < 0 && errno == EINTR);
    return got;
}

int rela_sys_rename(const char *from, const char *to)
{
    return faulty(EIO) ? -1 : rename(from, to);
}

int rela_sys_unlink(const char *path)
{
    return unlink(path);
}

int rela_sys_rename_back(const char *from, const char *to)
{
    return rename(from, to);
}

/* opendir would allocate, which a signal handler must not: entries are read as the kernel returns
 * them. What is removed meanwhile may move others past the place that is read next, and another
 * thread may make new ones: so it starts again while there is something left. */
static int remove_below(int parent, const char *name, int depth)
{
    char entries[2048] __attribute__((aligned(8)));
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    for (int round = 0; round < TREE_ROUNDS; round++) {
        ssize_t n = 0;
        (void)lseek(fd, 0, SEEK_SET);
        while ((n = getdents64(fd, entries, sizeof entries)) > 0)
            for (ssize_t at = 0; at < n;) {
                const struct dirent64 *e = (const void *)(entries + at);
                at += e->d_reclen;
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                    continue;
                if (unlinkat(fd, e->d_name, 0) != 0 && depth < TREE_DEPTH)
                    (void)remove_below(fd, e->d_name, depth + 1);
            }
        if (unlinkat(parent, name, AT_REMOVEDIR) == 0) {
            (void)close(fd);
            return 0;
        }
    }
    (void)close(fd);
    return -1;
}

int rela_sys_remove_tree(const char *path)
{
    return remove_below(AT_FDCWD, path, 0);
}

int rela_sys_mkdir(const char *path, mode_t mode)
{
    return faulty(EACCES) ? -1 : mkdir(path, mode);
}

int rela_sys_lock(int fd)
{
    return faulty(EIO) ? -1 : flock(fd, LOCK_EX | LOCK_NB);
}

int rela_sys_seek(int fd, uint64_t at)
{
    return faulty(EIO) || lseek(fd, (off_t)at, SEEK_SET) < 0 ? -1 : 0;
}

int rela_sys_truncate(int fd, uint64_t bytes)
{
    return faulty(EIO) ? -1 : ftruncate(fd, (off_t)bytes);
}

int rela_sys_opendir(DIR **out, const char *path)
{
    *out = faulty(EMFILE) ? NULL : opendir(path);
    return *out ? 0 : -1;
}

int rela_sys_readdir(const char **name, DIR *dir)
{
    *name = NULL;
    if (faulty(EIO))
        return -1;
    errno = 0; /* the only way to distinguish the end from a failure */
    const struct dirent *entry = readdir(dir);
    if (!entry)
        return errno ? -1 : 0;
    *name = entry->d_name;
    return 0;
}

int rela_sys_ready(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    return poll(&p, 1, 0) != 0; /* the following read reports errors */
}

static int faulty(int error_number)
{
    const int number = rela_fault_signal();
    if (number)
        (void)kill(getpid(), number);
    if (!rela_fault_hit(RELA_FAULT_FILE))
        return 0;
    errno = error_number;
    return 1;
}

/* True if a call must be retried: it was interrupted, or the descriptor is non-blocking (another
 * program that shares it may have set that), in which case it waits here until it is ready. */
static int again(int fd, short events)
{
    if (errno == EINTR)
        return 1;
    if (errno != EAGAIN && errno != EWOULDBLOCK)
        return 0;
    struct pollfd p = { .fd = fd, .events = events };
    return poll(&p, 1, -1) >= 0 || errno == EINTR;
}

static size_t clip(size_t len)
{
    const size_t most = rela_fault_short();
    return most && most < len ? most : len;
}

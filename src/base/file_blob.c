/* SPDX-License-Identifier: MIT */
/* src/base/file_blob.c - random-access files of file.h. */
#include "base/file.h"
#include "base/mem.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

_Static_assert(sizeof(off_t) >= 8, "files beyond 4 GiB need 64-bit offsets");

struct rela_blob {
    int fd;
    char *name;
    uint64_t size;
    void *map;         /* NULL: not mapped */
    const char *bytes; /* of a blob in memory, otherwise NULL */
    void *copy;        /* of these, if it is mapped: bytes may lie at any address */
};

enum { PAGE = 4096 }; /* what a map is aligned to at least */

static rela_status blob_start(rela_blob *b, const char *path, rela_error *err);

rela_status rela_blob_open(rela_blob **out, const char *path, rela_error *err)
{
    *out = NULL;
    if (!*path)
        return rela_fail(err, RELA_ARG, "the name of an input file is empty");
    rela_blob *b = rela_mem_zalloc(sizeof *b);
    if (!b)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to open it", path);
    b->fd = -1;
    const rela_status st = blob_start(b, path, err);
    if (st != RELA_OK) {
        rela_blob_close(b);
        return st;
    }
    *out = b;
    return RELA_OK;
}

rela_status rela_blob_open_memory(rela_blob **out, const char *name, const char *bytes, size_t len,
                                  rela_error *err)
{
    *out = NULL;
    rela_blob *b = rela_mem_zalloc(sizeof *b);
    if (b) {
        b->fd = -1;
        b->bytes = bytes ? bytes : "";
        b->size = len;
        b->name = rela_str_copy(name, strlen(name));
    }
    if (!b || !b->name) {
        rela_blob_close(b);
        return rela_fail(err, RELA_NOMEM, "%s: no memory to open it", name);
    }
    *out = b;
    return RELA_OK;
}

static size_t read_memory(const rela_blob *b, void *bytes, size_t len, uint64_t at)
{
    const size_t rest = at < b->size ? (size_t)(b->size - at) : 0, n = len < rest ? len : rest;
    if (n)
        memcpy(bytes, b->bytes + at, n);
    return n;
}

rela_status rela_blob_read(const rela_blob *b, void *bytes, size_t len, uint64_t at,
                           rela_error *err)
{
    const ssize_t n =
        b->bytes ? (ssize_t)read_memory(b, bytes, len, at) : rela_sys_pread(b->fd, bytes, len, at);
    if (n < 0)
        return rela_fail_errno(err, errno, "%s", b->name);
    if ((size_t)n != len)
        return rela_fail(err, RELA_FORMAT,
                         "%s: ends after %" PRIu64 " bytes; it had %" PRIu64 " when opened",
                         b->name, at + (uint64_t)n, b->size);
    return RELA_OK;
}

rela_status rela_blob_map(rela_blob *b, const char **bytes, rela_error *err)
{
    if (b->bytes && !b->copy) {
        b->copy = rela_mem_alloc((size_t)b->size + PAGE);
        if (!b->copy)
            return rela_fail(err, RELA_NOMEM, "%s: no memory for a copy", b->name);
        char *at = (char *)b->copy + (PAGE - (uintptr_t)b->copy % PAGE);
        (void)read_memory(b, at, (size_t)b->size, 0);
        b->bytes = at;
    }
    if (b->bytes) {
        *bytes = b->bytes;
        return RELA_OK;
    }
    if (!b->map && !(b->map = rela_sys_map(b->fd, (size_t)b->size)))
        return rela_fail_errno(err, errno, "%s", b->name);
    *bytes = b->map;
    return RELA_OK;
}

rela_status rela_blob_check(const rela_blob *b, rela_error *err)
{
    struct stat info;
    if (b->bytes)
        return RELA_OK;
    if (rela_sys_stat(b->fd, &info) != 0)
        return rela_fail_errno(err, errno, "%s", b->name);
    if ((uint64_t)info.st_size != b->size)
        return rela_fail(err, RELA_FORMAT,
                         "%s: changed from %" PRIu64 " to %" PRIu64 " bytes while it was read",
                         b->name, b->size, (uint64_t)info.st_size);
    return RELA_OK;
}

void rela_blob_close(rela_blob *b)
{
    if (!b)
        return;
    rela_sys_unmap(b->map, (size_t)b->size);
    if (b->fd >= 0)
        (void)rela_sys_close(b->fd);
    rela_mem_free(b->copy);
    rela_mem_free(b->name);
    rela_mem_free(b);
}

uint64_t rela_blob_size(const rela_blob *b)
{
    return b->size;
}

const char *rela_blob_name(const rela_blob *b)
{
    return b->name;
}

bool rela_dir_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static rela_status blob_start(rela_blob *b, const char *path, rela_error *err)
{
    b->name = rela_str_copy(path, strlen(path));
    if (!b->name)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to open it", path);
    b->fd = rela_sys_open(path, O_RDONLY | O_NONBLOCK, 0); /* opening a pipe must not block */
    struct stat info;
    if (b->fd < 0 || rela_sys_stat(b->fd, &info) != 0)
        return rela_fail_errno(err, errno, "%s", path);
    if (S_ISDIR(info.st_mode))
        return rela_fail_errno(err, EISDIR, "%s", path);
    if (!S_ISREG(info.st_mode))
        return rela_fail(err, RELA_IO, "%s: not a regular file", path);
    b->size = (uint64_t)info.st_size;
    return RELA_OK;
}

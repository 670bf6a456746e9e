/* SPDX-License-Identifier: MIT */
/* src/base/file_scratch.c - anonymous scratch files of file.h, for sorting and shuffling on disk.
 */
#include "base/file.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct rela_scratch {
    int fd;
    char *dir; /* for messages */
};

static rela_status open_nameless(int *fd, const char *dir, rela_error *err);

rela_status rela_scratch_open(rela_scratch **out, const char *dir, rela_error *err)
{
    const char *temporary = getenv("TMPDIR");
    *out = NULL;
    if (!dir)
        dir = temporary && *temporary ? temporary : "/tmp";
    rela_scratch *s = rela_mem_zalloc(sizeof *s);
    if (!s)
        return rela_fail(err, RELA_NOMEM, "no memory for a scratch file");
    s->fd = -1;
    s->dir = rela_str_copy(dir, strlen(dir));
    const rela_status st = s->dir ? open_nameless(&s->fd, dir, err)
                                  : rela_fail(err, RELA_NOMEM, "no memory for a scratch file");
    if (st != RELA_OK) {
        rela_scratch_close(s);
        return st;
    }
    *out = s;
    return RELA_OK;
}

rela_status rela_scratch_write(rela_scratch *s, const void *bytes, size_t len, uint64_t at,
                               rela_error *err)
{
    if (rela_sys_pwrite(s->fd, bytes, len, at) == 0)
        return RELA_OK;
    return rela_fail_errno(err, errno, "scratch file in %s: cannot be written", s->dir);
}

rela_status rela_scratch_read(rela_scratch *s, void *bytes, size_t len, uint64_t at,
                              rela_error *err)
{
    const ssize_t n = rela_sys_pread(s->fd, bytes, len, at);
    if (n < 0)
        return rela_fail_errno(err, errno, "scratch file in %s: cannot be read", s->dir);
    if ((size_t)n != len)
        return rela_fail(err, RELA_IO, "scratch file in %s: ends too early", s->dir);
    return RELA_OK;
}

void rela_scratch_close(rela_scratch *s)
{
    if (!s)
        return;
    if (s->fd >= 0)
        (void)rela_sys_close(s->fd);
    rela_mem_free(s->dir);
    rela_mem_free(s);
}

/* Created without a name where the system supports it, otherwise unlinked at once. */
static rela_status open_nameless(int *fd, const char *dir, rela_error *err)
{
#ifdef O_TMPFILE
    *fd = rela_sys_open(dir, O_TMPFILE | O_RDWR, 0600);
    if (*fd >= 0)
        return RELA_OK;
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
        return rela_fail_errno(err, errno, "scratch file in %s", dir);
#endif
    rela_buffer target = RELA_BUFFER_INIT;
    rela_temporary *t = NULL;
    rela_status st = rela_buffer_printf(&target, err, "%s/rela-scratch", dir);
    if (st == RELA_OK)
        st = rela_temporary_open(fd, &t, target.data, 0600, err);
    if (st == RELA_OK)
        (void)rela_sys_unlink(t->name);
    else
        st = rela_fail_in(err, st, "scratch file");
    rela_temporary_free(t);
    rela_buffer_free(&target);
    return st;
}

/* SPDX-License-Identifier: MIT */
/* src/base/file_write.c - writing half of file.h: atomic, durable, compressed by name. */
#include "base/file.h"
#include "base/mem.h"
#include "base/stream.h"
#include "base/sys.h"
#include "base/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum {
    PLAIN_SIZE = 256 << 10,  /* bytes buffered before they are compressed and written */
    STORED_SIZE = 256 << 10, /* buffer for compressed bytes */
    GZIP_WINDOW = 15 + 16,
    GZIP_MEMORY = 8
};

typedef enum coding { CODING_PLAIN, CODING_GZIP, CODING_ZSTD } coding;

struct rela_writer {
    int fd;
    bool own_fd;
    char *name;                /* for messages */
    char *target;              /* final path; NULL: written directly */
    rela_file_set *set;        /* that gives it this path; NULL: none */
    rela_temporary *temporary; /* until it is renamed; NULL: none */
    rela_status failed;        /* status of the first failed write; later ones fail too */
    coding coding;
    bool gz_live;
    z_stream gz;
    ZSTD_CCtx *zst;
    char *plain;
    size_t n_plain;
    char *stored;
};

static rela_status open_target(rela_writer *w, const char *path, rela_error *err);
static rela_status open_temporary(rela_writer *w, const char *path, const struct stat *old,
                                  rela_error *err);
static rela_status start_coding(rela_writer *w, const char *path, rela_error *err);
static rela_status put(rela_writer *w, const char *bytes, size_t len, bool finish, rela_error *err);
static rela_status put_zstd(rela_writer *w, const char *bytes, size_t len, bool finish,
                            rela_error *err);
static rela_status put_gzip(rela_writer *w, const char *bytes, size_t len, bool finish,
                            rela_error *err);
static rela_status put_stored(rela_writer *w, const char *bytes, size_t len, rela_error *err);
static rela_status finish_file(rela_writer *w, rela_error *err);
static bool is_dir(const char *path);
static bool ends_with(const char *s, const char *tail);
static void writer_free(rela_writer *w);

rela_status rela_writer_open(rela_writer **out, const char *path, rela_error *err)
{
    return rela_writer_open_in(out, NULL, path, err);
}

rela_status rela_writer_open_in(rela_writer **out, rela_file_set *set, const char *path,
                                rela_error *err)
{
    *out = NULL;
    if (!*path)
        return rela_fail(err, RELA_ARG, "the name of an output file is empty");
    const bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard output" : path;
    rela_writer *w = rela_mem_zalloc(sizeof *w);
    if (!w)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to write it", name);
    rela_status st = RELA_OK;
    w->set = set;
    w->fd = standard ? STDOUT_FILENO : -1;
    w->name = rela_str_copy(name, strlen(name));
    w->plain = rela_mem_alloc(PLAIN_SIZE);
    if (!w->name || !w->plain)
        st = rela_fail(err, RELA_NOMEM, "%s: no memory to write it", name);
    if (st == RELA_OK && !standard)
        st = open_target(w, path, err);
    if (st == RELA_OK)
        st = start_coding(w, path, err);
    if (st != RELA_OK) {
        rela_writer_abort(w);
        return st;
    }
    *out = w;
    return RELA_OK;
}

rela_status rela_writer_write(rela_writer *w, const char *bytes, size_t len, rela_error *err)
{
    if (w->failed == RELA_OK && len < PLAIN_SIZE - w->n_plain) {
        if (len)
            memcpy(w->plain + w->n_plain, bytes, len);
        w->n_plain += len;
        return RELA_OK;
    }
    const size_t had = w->n_plain;
    w->n_plain = 0;
    const rela_status st = put(w, w->plain, had, false, err);
    if (st != RELA_OK || len >= PLAIN_SIZE)
        return st == RELA_OK ? put(w, bytes, len, false, err) : st;
    memcpy(w->plain, bytes, len);
    w->n_plain = len;
    return RELA_OK;
}

rela_status rela_writer_flush(rela_writer *w, rela_error *err)
{
    const size_t n = w->n_plain;
    w->n_plain = 0;
    return put(w, w->plain, n, false, err);
}

rela_status rela_writer_commit(rela_writer *w, rela_error *err)
{
    rela_status st = put(w, w->plain, w->n_plain, true, err);
    if (st == RELA_OK)
        st = finish_file(w, err);
    rela_writer_abort(w);
    return st;
}

void rela_writer_abort(rela_writer *w)
{
    if (!w)
        return;
    if (w->own_fd)
        (void)rela_sys_close(w->fd);
    if (w->temporary) {
        (void)rela_sys_unlink(w->temporary->name);
        rela_temporary_free(w->temporary);
    }
    writer_free(w);
}

rela_status rela_writer_finish(rela_writer *w, rela_status st, rela_error *err)
{
    if (st == RELA_OK)
        return rela_writer_commit(w, err);
    rela_writer_abort(w);
    return st;
}

rela_status rela_file_write(const char *path, const char *bytes, size_t len, rela_error *err)
{
    return rela_file_write_in(NULL, path, bytes, len, err);
}

rela_status rela_file_write_in(rela_file_set *set, const char *path, const char *bytes, size_t len,
                               rela_error *err)
{
    rela_writer *w = NULL;
    const rela_status st = rela_writer_open_in(&w, set, path, err);
    return st ? st : rela_writer_finish(w, rela_writer_write(w, bytes, len, err), err);
}

rela_status rela_dir_make(const char *path, rela_error *err)
{
    if (!*path)
        return rela_fail(err, RELA_ARG, "the name of a directory is empty");
    char *copy = rela_str_copy(path, strlen(path));
    if (!copy)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to make it", path);
    rela_status st = RELA_OK;
    for (char *p = copy + 1; st == RELA_OK; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        const char old = *p;
        *p = '\0';
        if (rela_sys_mkdir(copy, 0777) != 0) {
            const int why = errno; /* EROFS even for an existing directory */
            if (!is_dir(copy))
                st =
                    rela_fail_errno(err, why == EEXIST ? ENOTDIR : why, "%s: cannot be made", copy);
        }
        *p = old;
        if (old == '\0')
            break;
    }
    rela_mem_free(copy);
    return st;
}

bool rela_file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

rela_status rela_file_remove(const char *path, rela_error *err)
{
    if (rela_sys_unlink(path) == 0 || errno == ENOENT)
        return RELA_OK;
    return rela_fail_errno(err, errno, "%s: cannot be removed", path);
}

rela_status rela_file_rename(const char *from, const char *to, rela_error *err)
{
    if (rela_sys_rename(from, to) == 0)
        return RELA_OK;
    return rela_fail_errno(err, errno, "%s: cannot be renamed to %s", from, to);
}

static rela_status open_target(rela_writer *w, const char *path, rela_error *err)
{
    struct stat info;
    const bool there = stat(path, &info) == 0;
    if (!there && errno != ENOENT)
        return rela_fail_errno(err, errno, "%s: cannot be written", path);
    if (there && S_ISDIR(info.st_mode))
        return rela_fail_errno(err, EISDIR, "%s", path);
    if (!there || S_ISREG(info.st_mode))
        return open_temporary(w, path, there ? &info : NULL, err);
    w->fd = rela_sys_open(path, O_WRONLY, 0);
    if (w->fd < 0)
        return rela_fail_errno(err, errno, "%s: cannot be written", path);
    w->own_fd = true;
    return RELA_OK;
}

/* old: the file that will be replaced, or NULL. */
static rela_status open_temporary(rela_writer *w, const char *path, const struct stat *old,
                                  rela_error *err)
{
    char resolved[PATH_MAX];
    if (old && access(path, W_OK) != 0) /* rename would replace a read-only file */
        return rela_fail_errno(err, errno, "%s: cannot be written", path);
    if (old && realpath(path, resolved)) /* replace the target of a link, not the link */
        path = resolved;
    w->target = rela_str_copy(path, strlen(path));
    if (!w->target)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to write it", path);
    const mode_t mode = old ? old->st_mode & 0777 : 0666;
    const rela_status st = rela_temporary_open(&w->fd, &w->temporary, path, mode, err);
    w->own_fd = st == RELA_OK;
    if (st == RELA_OK && old)
        (void)fchmod(w->fd, mode); /* undo the umask */
    return st;
}

static rela_status start_coding(rela_writer *w, const char *path, rela_error *err)
{
    w->coding = ends_with(path, ".gz")    ? CODING_GZIP
                : ends_with(path, ".zst") ? CODING_ZSTD
                                          : CODING_PLAIN;
    if (w->coding == CODING_PLAIN)
        return RELA_OK;
    w->stored = rela_mem_alloc(STORED_SIZE);
    bool good = w->stored != NULL;
    if (good && w->coding == CODING_GZIP) {
        w->gz = (z_stream){ .zalloc = rela_zlib_alloc, .zfree = rela_zlib_free };
        good = w->gz_live = deflateInit2(&w->gz, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
                                         GZIP_MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
    } else if (good) {
        w->zst = ZSTD_createCCtx();
        good = w->zst && !ZSTD_isError(ZSTD_CCtx_setParameter(w->zst, ZSTD_c_checksumFlag, 1));
    }
    return good ? RELA_OK : rela_fail(err, RELA_NOMEM, "%s: no memory to compress it", path);
}

static rela_status put(rela_writer *w, const char *bytes, size_t len, bool finish, rela_error *err)
{
    if (w->failed != RELA_OK)
        return rela_fail(err, w->failed, "%s: an earlier part could not be written", w->name);
    w->failed = w->coding == CODING_ZSTD   ? put_zstd(w, bytes, len, finish, err)
                : w->coding == CODING_GZIP ? put_gzip(w, bytes, len, finish, err)
                                           : put_stored(w, bytes, len, err);
    return w->failed;
}

static rela_status put_zstd(rela_writer *w, const char *bytes, size_t len, bool finish,
                            rela_error *err)
{
    rela_status st = RELA_OK;
    ZSTD_inBuffer from = { bytes, len, 0 };
    size_t left = 1;
    while (st == RELA_OK && (finish ? left != 0 : from.pos < from.size)) {
        ZSTD_outBuffer to = { w->stored, STORED_SIZE, 0 };
        left = ZSTD_compressStream2(w->zst, &to, &from, finish ? ZSTD_e_end : ZSTD_e_continue);
        st = ZSTD_isError(left)
                 ? rela_fail(err, RELA_NOMEM, "%s: %s", w->name, ZSTD_getErrorName(left))
                 : put_stored(w, w->stored, to.pos, err);
    }
    return st;
}

static rela_status put_gzip(rela_writer *w, const char *bytes, size_t len, bool finish,
                            rela_error *err)
{
    rela_status st = RELA_OK;
    bool last = false;
    while (st == RELA_OK && !last && (len > 0 || finish)) {
        const unsigned part = (unsigned)(len < PLAIN_SIZE ? len : PLAIN_SIZE);
        last = finish && part == len;
        w->gz.next_in = (const unsigned char *)bytes;
        w->gz.avail_in = part;
        do {
            w->gz.next_out = (unsigned char *)w->stored;
            w->gz.avail_out = STORED_SIZE;
            (void)deflate(&w->gz, last ? Z_FINISH : Z_NO_FLUSH);
            st = put_stored(w, w->stored, STORED_SIZE - w->gz.avail_out, err);
        } while (st == RELA_OK && w->gz.avail_out == 0);
        bytes += part;
        len -= part;
    }
    return st;
}

static rela_status put_stored(rela_writer *w, const char *bytes, size_t len, rela_error *err)
{
    if (len == 0 || rela_sys_write(w->fd, bytes, len) == 0)
        return RELA_OK;
    return rela_fail_errno(err, errno, "%s: cannot be written", w->name);
}

/* All bytes are written: makes them durable and gives the file its final name, or to its set. */
static rela_status finish_file(rela_writer *w, rela_error *err)
{
    if (w->temporary && rela_sys_sync(w->fd) != 0)
        return rela_fail_errno(err, errno, "%s: cannot be made durable", w->name);
    if (w->own_fd) {
        w->own_fd = false;
        if (rela_sys_close(w->fd) != 0)
            return rela_fail_errno(err, errno, "%s: cannot be written", w->name);
    }
    if (!w->temporary)
        return RELA_OK;
    if (w->set) {
        const rela_status st = rela_file_set_take(w->set, w->name, w->target, w->temporary, err);
        if (st == RELA_OK)
            w->temporary = NULL; /* given */
        return st;
    }
    if (rela_sys_rename(w->temporary->name, w->target) != 0)
        return rela_fail_errno(err, errno, "%s: cannot be written", w->name);
    rela_temporary_free(w->temporary);
    w->temporary = NULL;
    return rela_temporary_settle(w->target, err);
}

static bool is_dir(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool ends_with(const char *s, const char *tail)
{
    const size_t n = strlen(s), m = strlen(tail);
    return n > m && strcmp(s + n - m, tail) == 0;
}

static void writer_free(rela_writer *w)
{
    if (w->gz_live)
        (void)deflateEnd(&w->gz);
    ZSTD_freeCCtx(w->zst);
    rela_mem_free(w->stored);
    rela_mem_free(w->plain);
    rela_mem_free(w->target);
    rela_mem_free(w->name);
    rela_mem_free(w);
}

/* SPDX-License-Identifier: MIT */
/* src/base/stream.c - see stream.h. */
#include "base/stream.h"

#include "base/mem.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    STORED_SIZE = 256 << 10, /* bytes per read */
    INFLATE_MAX = 1 << 30,   /* zlib has 32-bit counts */
    RATIO_FREE = 16 << 20,   /* decoded bytes before the ratio is checked */
    RATIO_MAX = 200,
    WINDOW_LOG_MAX = 27, /* zstd: 128 MiB */
    MAGIC_MAX = 4,
    GZIP_WINDOW = 15 + 16
};

typedef enum coding { CODING_UNKNOWN, CODING_PLAIN, CODING_GZIP, CODING_ZSTD } coding;

struct rela_byte_stream {
    int fd;
    bool own_fd;
    char *name;
    uint32_t max_ratio; /* 0: no limit */
    coding coding;
    z_stream gz;
    ZSTD_DCtx *zst;
    bool frame_open; /* inside a gzip member or zstd frame: if the file ends here it is truncated */
    bool stored_end;
    uint64_t stored_total, decoded_total;
    uint64_t size; /* at open, regular files only */
    unsigned char *stored;
    size_t stored_at, stored_len;
};

static rela_status open_file(rela_byte_stream *s, const char *path, rela_error *err);
static rela_status recognise(rela_byte_stream *s, rela_error *err);
static rela_status fill_stored(rela_byte_stream *s, rela_error *err);
static rela_status decode_plain(rela_byte_stream *s, char *out, size_t size, size_t *got,
                                rela_error *err);
static rela_status decode_gzip(rela_byte_stream *s, char *out, size_t size, size_t *got,
                               rela_error *err);
static rela_status decode_zstd(rela_byte_stream *s, char *out, size_t size, size_t *got,
                               rela_error *err);
static rela_status check_ratio(const rela_byte_stream *s, rela_error *err);
static rela_status check_size(const rela_byte_stream *s, rela_error *err);
static rela_status no_memory(const rela_byte_stream *s, rela_error *err);

rela_status rela_byte_stream_open(rela_byte_stream **out, const char *path, uint32_t max_ratio,
                                  bool any_ratio, rela_error *err)
{
    *out = NULL;
    if (!*path)
        return rela_fail(err, RELA_ARG, "the name of an input file is empty");
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    rela_byte_stream *s = rela_mem_zalloc(sizeof *s);
    if (!s)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to read it", name);
    s->max_ratio = any_ratio ? 0 : max_ratio ? max_ratio : RATIO_MAX;
    s->name = rela_str_copy(name, strlen(name));
    s->stored = rela_mem_alloc(STORED_SIZE);
    const rela_status st = s->name && s->stored
                               ? open_file(s, path, err)
                               : rela_fail(err, RELA_NOMEM, "%s: no memory to read it", name);
    if (st != RELA_OK) {
        rela_byte_stream_close(s);
        return st;
    }
    *out = s;
    return RELA_OK;
}

void rela_byte_stream_close(rela_byte_stream *s)
{
    if (!s)
        return;
    if (s->own_fd)
        (void)rela_sys_close(s->fd);
    if (s->coding == CODING_GZIP)
        (void)inflateEnd(&s->gz);
    (void)ZSTD_freeDCtx(s->zst);
    rela_mem_free(s->stored);
    rela_mem_free(s->name);
    rela_mem_free(s);
}

rela_status rela_byte_stream_bytes(rela_byte_stream *s, char *out, size_t size, size_t *got,
                                   rela_error *err)
{
    *got = 0;
    rela_status st = s->coding == CODING_UNKNOWN ? recognise(s, err) : RELA_OK;
    if (st != RELA_OK || size == 0)
        return st;
    if (s->coding == CODING_PLAIN)
        return decode_plain(s, out, size, got, err);
    st = s->coding == CODING_GZIP ? decode_gzip(s, out, size, got, err)
                                  : decode_zstd(s, out, size, got, err);
    s->decoded_total += *got;
    return st == RELA_OK ? check_ratio(s, err) : st;
}

bool rela_byte_stream_plain(const rela_byte_stream *s)
{
    return s->coding == CODING_PLAIN && s->own_fd && s->size > 0;
}

rela_status rela_byte_stream_seek(rela_byte_stream *s, uint64_t at, rela_error *err)
{
    const rela_status st = s->coding == CODING_UNKNOWN ? recognise(s, err) : RELA_OK;
    if (st != RELA_OK)
        return st;
    if (!rela_byte_stream_plain(s) || at > s->size)
        return rela_fail(err, RELA_IO, "%s: no byte %llu in a plain file", s->name,
                         (unsigned long long)at);
    if (rela_sys_seek(s->fd, at) != 0)
        return rela_fail_errno(err, errno, "%s", s->name);
    s->stored_at = s->stored_len = 0;
    s->stored_total = at;
    s->stored_end = false;
    return RELA_OK;
}

bool rela_byte_stream_waits(const rela_byte_stream *s)
{
    return s->stored_at == s->stored_len && !s->stored_end && !rela_sys_ready(s->fd);
}

const char *rela_byte_stream_name(const rela_byte_stream *s)
{
    return s->name;
}

uint64_t rela_byte_stream_position(const rela_byte_stream *s)
{
    return s->stored_total - (s->stored_len - s->stored_at);
}

uint64_t rela_byte_stream_size(const rela_byte_stream *s)
{
    return s->size;
}

static rela_status open_file(rela_byte_stream *s, const char *path, rela_error *err)
{
    struct stat info;
    if (strcmp(path, "-") == 0) {
        s->fd = STDIN_FILENO;
    } else {
        s->fd = rela_sys_open(path, O_RDONLY, 0);
        s->own_fd = s->fd >= 0;
    }
    if (s->fd < 0 || rela_sys_stat(s->fd, &info) != 0)
        return rela_fail_errno(err, errno, "%s", s->name);
    if (S_ISDIR(info.st_mode))
        return rela_fail_errno(err, EISDIR, "%s", s->name);
    s->size = S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
    return RELA_OK;
}

/* Whether the n bytes at m may be the start of a stream with this magic number, ignoring the bits
 * of mask in the first byte. */
static bool starts(const unsigned char *m, size_t n, const char *magic, size_t len, unsigned mask)
{
    if (n == 0 || (m[0] & ~mask) != ((unsigned char)magic[0] & ~mask))
        return false;
    n = n < len ? n : len;
    return memcmp(m + 1, magic + 1, n - 1) == 0;
}

static rela_status recognise(rela_byte_stream *s, rela_error *err)
{
    static const char GZIP[] = "\x1F\x8B", ZSTD[] = "\x28\xB5\x2F\xFD", SKIP[] = "\x50\x2A\x4D\x18";
    size_t n = 0;
    bool gzip = false, zstd = false;
    do { /* stop as early as possible: a short line typed at a terminal must not wait for more */
        const rela_status st = fill_stored(s, err);
        if (st != RELA_OK)
            return st;
        n = s->stored_len;
        gzip = starts(s->stored, n, GZIP, 2, 0);
        zstd =
            starts(s->stored, n, ZSTD, MAGIC_MAX, 0) || starts(s->stored, n, SKIP, MAGIC_MAX, 0x0F);
    } while (!s->stored_end && ((gzip && n < 2) || (zstd && n < MAGIC_MAX)));
    if (gzip && n >= 2) {
        s->gz = (z_stream){ .zalloc = rela_zlib_alloc, .zfree = rela_zlib_free };
        if (inflateInit2(&s->gz, GZIP_WINDOW) != Z_OK)
            return no_memory(s, err);
        s->coding = CODING_GZIP;
    } else if (zstd && n >= MAGIC_MAX) {
        s->zst = ZSTD_createDCtx();
        if (!s->zst ||
            ZSTD_isError(ZSTD_DCtx_setParameter(s->zst, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
            return no_memory(s, err);
        s->coding = CODING_ZSTD;
    } else {
        s->coding = CODING_PLAIN;
    }
    return RELA_OK;
}

/* Moves the unread rest to the front and reads more stored bytes after it. */
static rela_status fill_stored(rela_byte_stream *s, rela_error *err)
{
    const size_t rest = s->stored_len - s->stored_at;
    if (rest)
        memmove(s->stored, s->stored + s->stored_at, rest);
    s->stored_at = 0;
    s->stored_len = rest;
    const ssize_t n = rela_sys_read(s->fd, s->stored + rest, STORED_SIZE - rest);
    if (n < 0)
        return rela_fail_errno(err, errno, "%s", s->name);
    s->stored_len += (size_t)n;
    s->stored_total += (uint64_t)n;
    s->stored_end = n == 0;
    return s->stored_end ? check_size(s, err) : RELA_OK;
}

static rela_status decode_plain(rela_byte_stream *s, char *out, size_t size, size_t *got,
                                rela_error *err)
{
    if (s->stored_at == s->stored_len && !s->stored_end) {
        const rela_status st = fill_stored(s, err);
        if (st != RELA_OK)
            return st;
    }
    const size_t have = s->stored_len - s->stored_at;
    *got = have < size ? have : size;
    memcpy(out, s->stored + s->stored_at, *got);
    s->stored_at += *got;
    return RELA_OK;
}

static rela_status decode_gzip(rela_byte_stream *s, char *out, size_t size, size_t *got,
                               rela_error *err)
{
    const unsigned room = (unsigned)(size < INFLATE_MAX ? size : INFLATE_MAX);
    s->gz.next_out = (unsigned char *)out;
    s->gz.avail_out = room;
    while (*got == 0) {
        if (s->stored_at == s->stored_len && !s->stored_end) {
            const rela_status st = fill_stored(s, err);
            if (st != RELA_OK)
                return st;
        }
        if (s->stored_at == s->stored_len)
            return s->frame_open
                       ? rela_fail(err, RELA_FORMAT, "%s: compressed data is cut off", s->name)
                       : RELA_OK;
        if (!s->frame_open && s->decoded_total > 0 && s->stored[s->stored_at] != 0x1F)
            return rela_fail(err, RELA_FORMAT, "%s: garbage after the compressed data", s->name);
        s->gz.next_in = s->stored + s->stored_at;
        s->gz.avail_in = (unsigned)(s->stored_len - s->stored_at);
        s->frame_open = true;
        const int z = inflate(&s->gz, Z_NO_FLUSH);
        s->stored_at = s->stored_len - s->gz.avail_in;
        *got = room - s->gz.avail_out;
        if (z == Z_STREAM_END) {
            s->frame_open = false;
            (void)inflateReset(&s->gz); /* the next member, if any */
        } else if (z == Z_MEM_ERROR) {
            return no_memory(s, err);
        } else if (z != Z_OK && z != Z_BUF_ERROR) {
            return rela_fail(err, RELA_FORMAT, "%s: damaged gzip data (%s)", s->name,
                             s->gz.msg ? s->gz.msg : "bad stream");
        }
    }
    return RELA_OK;
}

static rela_status decode_zstd(rela_byte_stream *s, char *out, size_t size, size_t *got,
                               rela_error *err)
{
    ZSTD_outBuffer to = { out, size, 0 };
    while (to.pos == 0) {
        if (s->stored_at == s->stored_len && !s->stored_end) {
            const rela_status st = fill_stored(s, err);
            if (st != RELA_OK)
                return st;
        }
        const bool dry = s->stored_at == s->stored_len;
        if (dry && !s->frame_open)
            return RELA_OK;
        ZSTD_inBuffer from = { s->stored, s->stored_len, s->stored_at };
        const size_t z = ZSTD_decompressStream(s->zst, &to, &from);
        s->stored_at = from.pos;
        *got = to.pos;
        if (ZSTD_getErrorCode(z) == ZSTD_error_memory_allocation)
            return no_memory(s, err);
        if (ZSTD_isError(z))
            return rela_fail(err, RELA_FORMAT, "%s: damaged zstd data (%s)", s->name,
                             ZSTD_getErrorName(z));
        s->frame_open = z != 0;
        if (dry && to.pos == 0)
            return rela_fail(err, RELA_FORMAT, "%s: compressed data is cut off", s->name);
    }
    return RELA_OK;
}

static rela_status check_ratio(const rela_byte_stream *s, rela_error *err)
{
    if (s->max_ratio == 0 || s->decoded_total <= RATIO_FREE ||
        s->decoded_total / s->max_ratio <= rela_byte_stream_position(s))
        return RELA_OK;
    return rela_fail(err, RELA_FORMAT,
                     "%s: expands more than %u times; refused as a decompression bomb", s->name,
                     (unsigned)s->max_ratio);
}

static rela_status check_size(const rela_byte_stream *s, rela_error *err)
{
    if (s->size == 0 || !s->own_fd || s->stored_total == s->size)
        return RELA_OK;
    return rela_fail(err, RELA_IO, "%s: changed size while it was read (%llu, then %llu bytes)",
                     s->name, (unsigned long long)s->size, (unsigned long long)s->stored_total);
}

static rela_status no_memory(const rela_byte_stream *s, rela_error *err)
{
    return rela_fail(err, RELA_NOMEM, "%s: no memory to decompress it", s->name);
}

void *rela_zlib_alloc(void *ctx, unsigned n, unsigned size)
{
    (void)ctx;
    return rela_mem_array(n, size);
}

void rela_zlib_free(void *ctx, void *p)
{
    (void)ctx;
    rela_mem_free(p);
}

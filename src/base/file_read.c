/* SPDX-License-Identifier: MIT */
/* src/base/file_read.c - reading half of file.h: bytes, lines and blocks of plain, gzip and zstd
 * streams. */
#include "base/file.h"
#include "base/mem.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum {
    STORED_SIZE = 256 << 10,  /* bytes read from the system at once */
    DECODED_SIZE = 256 << 10, /* bytes decoded at once for lines */
    RATIO_FREE = 16 << 20,    /* decoded bytes before the ratio counts */
    RATIO_MAX = 200,
    WINDOW_LOG_MAX = 27, /* zstd: 128 MiB */
    MAGIC_SIZE = 4,
    GZIP_WINDOW = 15 + 16
};

typedef enum coding { CODING_UNKNOWN, CODING_PLAIN, CODING_GZIP, CODING_ZSTD } coding;

struct rela_reader {
    int fd;
    bool own_fd;
    char *name;
    rela_reader_options options;
    coding coding;
    z_stream gz;
    ZSTD_DCtx *zst;
    bool frame_open; /* inside a gzip member or zstd frame: an end here is a truncation */
    bool stored_end;
    uint64_t stored_total, decoded_total;
    uint64_t size; /* at open, regular files only */
    unsigned char *stored;
    size_t stored_at, stored_len;
    char *decoded; /* for lines and blocks */
    size_t decoded_at, decoded_len, decoded_cap;
    bool decoded_end;
    bool had_mark;
    uint64_t n_lines;
};

static rela_status fill_stored(rela_reader *r, rela_error *err);
static rela_status recognise(rela_reader *r, rela_error *err);
static rela_status decode(rela_reader *r, char *out, size_t size, size_t *got, rela_error *err);
static rela_status decode_plain(rela_reader *r, char *out, size_t size, size_t *got,
                                rela_error *err);
static rela_status decode_gzip(rela_reader *r, char *out, size_t size, size_t *got,
                               rela_error *err);
static rela_status decode_zstd(rela_reader *r, char *out, size_t size, size_t *got,
                               rela_error *err);
static rela_status check_ratio(const rela_reader *r, rela_error *err);
static rela_status check_size(const rela_reader *r, rela_error *err);
static rela_status more_decoded(rela_reader *r, rela_error *err);
static rela_status drop_mark(rela_reader *r, rela_error *err);
static rela_status skip_rest(rela_reader *r, rela_error *err);

rela_status rela_reader_open(rela_reader **out, const char *path,
                             const rela_reader_options *options, rela_error *err)
{
    rela_status st = RELA_OK;
    *out = NULL;
    if (!*path)
        return rela_fail(err, RELA_ARG, "the name of an input file is empty");
    const bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    rela_reader *r = rela_mem_zalloc(sizeof *r);
    if (!r)
        return rela_fail(err, RELA_NOMEM, "cannot open %s", name);
    r->fd = standard ? STDIN_FILENO : -1;
    if (options)
        r->options = *options;
    if (r->options.max_line == 0)
        r->options.max_line = RELA_LINE_MAX;
    if (r->options.max_ratio == 0)
        r->options.max_ratio = RATIO_MAX;
    r->name = rela_str_copy(name, strlen(name));
    r->stored = rela_mem_alloc(STORED_SIZE);
    if (!r->name || !r->stored) {
        st = rela_fail(err, RELA_NOMEM, "%s: no memory to read it", name);
        goto out;
    }
    if (!standard) {
        r->fd = rela_sys_open(path, O_RDONLY, 0);
        r->own_fd = r->fd >= 0;
        if (r->fd < 0) {
            st = rela_fail_errno(err, errno, "%s", name);
            goto out;
        }
    }
    struct stat info;
    if (rela_sys_stat(r->fd, &info) != 0)
        st = rela_fail_errno(err, errno, "%s", name);
    else if (S_ISDIR(info.st_mode))
        st = rela_fail_errno(err, EISDIR, "%s", name);
    else if (S_ISREG(info.st_mode))
        r->size = (uint64_t)info.st_size;
    if (st != RELA_OK)
        goto out;
    *out = r;
    r = NULL;
out:
    rela_reader_close(r);
    return st;
}

void rela_reader_close(rela_reader *r)
{
    if (!r)
        return;
    if (r->own_fd)
        (void)rela_sys_close(r->fd);
    if (r->coding == CODING_GZIP)
        (void)inflateEnd(&r->gz);
    ZSTD_freeDCtx(r->zst);
    rela_mem_free(r->decoded);
    rela_mem_free(r->stored);
    rela_mem_free(r->name);
    rela_mem_free(r);
}

rela_status rela_reader_bytes(rela_reader *r, char *out, size_t size, size_t *got, rela_error *err)
{
    *got = r->decoded_len - r->decoded_at;
    if (*got > 0) { /* what the line functions have decoded already comes first */
        *got = *got < size ? *got : size;
        memcpy(out, r->decoded + r->decoded_at, *got);
        r->decoded_at += *got;
        return RELA_OK;
    }
    return decode(r, out, size, got, err);
}

rela_status rela_reader_line(rela_reader *r, rela_line *line, rela_error *err)
{
    *line = (rela_line){ .number = r->n_lines + 1 };
    rela_status st = r->n_lines == 0 ? drop_mark(r, err) : RELA_OK;
    size_t scanned = 0;
    while (st == RELA_OK) {
        char *start = r->decoded + r->decoded_at;
        const size_t have = r->decoded_len - r->decoded_at;
        char *end = have > scanned ? memchr(start + scanned, '\n', have - scanned) : NULL;
        if (!end && !r->decoded_end && have <= r->options.max_line) {
            scanned = have;
            st = more_decoded(r, err);
            continue;
        }
        if (!end && have == 0)
            return RELA_OK; /* the end */
        size_t len = end ? (size_t)(end - start) : have;
        line->text = start;
        r->n_lines++;
        r->decoded_at += end ? len + 1 : len;
        if (len > r->options.max_line) {
            const size_t offset = (size_t)(start - r->decoded);
            line->too_long = true;
            line->len = r->options.max_line;
            st = end ? RELA_OK : skip_rest(r, err);
            line->text = r->decoded + offset; /* the bytes may have moved */
            return st;
        }
        line->had_cr = len && start[len - 1] == '\r' && end;
        line->len = len - line->had_cr;
        return RELA_OK;
    }
    return st;
}

rela_status rela_reader_block(rela_reader *r, rela_buffer *block, uint64_t *first, size_t want,
                              rela_error *err)
{
    rela_status st = r->n_lines == 0 ? drop_mark(r, err) : RELA_OK;
    size_t scanned = 0;
    const char *last = NULL; /* the last line end found so far */
    rela_buffer_clear(block);
    *first = r->n_lines + 1;
    while (st == RELA_OK) {
        const char *start = r->decoded + r->decoded_at;
        const size_t have = r->decoded_len - r->decoded_at;
        const char *found = have > scanned ? memrchr(start + scanned, '\n', have - scanned) : NULL;
        last = found ? found : last;
        const size_t whole = last ? (size_t)(last - start) + 1 : 0;
        scanned = have;
        if (have - whole > r->options.max_line)
            return rela_fail(err, RELA_FORMAT, "%s: line %llu: longer than %zu bytes", r->name,
                             (unsigned long long)(r->n_lines + 1), r->options.max_line);
        const bool waits = whole > 0 && r->stored_at == r->stored_len && !rela_sys_ready(r->fd);
        if (!r->decoded_end && whole < want && !waits) {
            const size_t at = whole;
            st = more_decoded(r, err); /* may move the bytes */
            last = at ? r->decoded + r->decoded_at + at - 1 : NULL;
            continue;
        }
        const size_t len = r->decoded_end ? have : whole;
        st = rela_buffer_append(block, start, len, err);
        if (st == RELA_OK && len > 0 && start[len - 1] != '\n')
            st = rela_buffer_append_char(block, '\n', err);
        r->decoded_at += len;
        for (const char *p = block->data; st == RELA_OK && p && p < block->data + block->len; p++) {
            p = memchr(p, '\n', (size_t)(block->data + block->len - p));
            r->n_lines++;
        }
        return st;
    }
    return st;
}

const char *rela_reader_name(const rela_reader *r)
{
    return r->name;
}

uint64_t rela_reader_position(const rela_reader *r)
{
    return r->stored_total - (r->stored_len - r->stored_at);
}

uint64_t rela_reader_size(const rela_reader *r)
{
    return r->size;
}

bool rela_reader_had_mark(const rela_reader *r)
{
    return r->had_mark;
}

bool rela_next_line(rela_span *line, const char **at, const char *end)
{
    if (*at >= end)
        return false;
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    const char *p = stop ? stop : end;
    *line = (rela_span){ *at, (size_t)(p - *at) };
    if (stop && line->len && p[-1] == '\r')
        line->len--;
    *at = stop ? stop + 1 : end;
    return true;
}

rela_status rela_file_read(char **out, size_t *len, const char *path, size_t max_size,
                           rela_error *err)
{
    rela_reader *r = NULL;
    rela_buffer all = RELA_BUFFER_INIT;
    *out = NULL;
    *len = 0;
    rela_status st = rela_reader_open(&r, path, NULL, err);
    if (st == RELA_OK && r->size) /* one allocation for a plain file */
        st = rela_buffer_reserve(
            &all, max_size && r->size > max_size ? max_size : (size_t)r->size + 1, err);
    size_t got = 1;
    while (st == RELA_OK && got > 0) {
        if ((st = rela_buffer_reserve(&all, STORED_SIZE, err)) != RELA_OK)
            break;
        st = rela_reader_bytes(r, all.data + all.len, all.cap - all.len - 1, &got, err);
        all.len += got;
        if (st == RELA_OK && max_size && all.len > max_size)
            st = rela_fail(err, RELA_FORMAT, "%s: more than %zu bytes", r->name, max_size);
    }
    rela_reader_close(r);
    if (st != RELA_OK) {
        rela_buffer_free(&all);
        return st;
    }
    all.data[all.len] = '\0';
    *out = all.data;
    *len = all.len;
    return RELA_OK;
}

/* Moves the unread rest to the front and reads more stored bytes behind it. */
static rela_status fill_stored(rela_reader *r, rela_error *err)
{
    const size_t rest = r->stored_len - r->stored_at;
    if (rest)
        memmove(r->stored, r->stored + r->stored_at, rest);
    r->stored_at = 0;
    r->stored_len = rest;
    const ssize_t n = rela_sys_read(r->fd, r->stored + rest, STORED_SIZE - rest);
    if (n < 0)
        return rela_fail_errno(err, errno, "%s", r->name);
    r->stored_len += (size_t)n;
    r->stored_total += (uint64_t)n;
    r->stored_end = n == 0;
    return n == 0 ? check_size(r, err) : RELA_OK;
}

static rela_status recognise(rela_reader *r, rela_error *err)
{
    while (!r->stored_end && r->stored_len < MAGIC_SIZE) {
        const rela_status st = fill_stored(r, err);
        if (st != RELA_OK)
            return st;
    }
    const unsigned char *m = r->stored;
    if (r->stored_len >= 2 && m[0] == 0x1F && m[1] == 0x8B) {
        if (inflateInit2(&r->gz, GZIP_WINDOW) != Z_OK)
            return rela_fail(err, RELA_NOMEM, "%s: no memory to decompress it", r->name);
        r->coding = CODING_GZIP;
        return RELA_OK;
    }
    const bool frame =
        r->stored_len >= MAGIC_SIZE && m[0] == 0x28 && m[1] == 0xB5 && m[2] == 0x2F && m[3] == 0xFD;
    const bool skippable = r->stored_len >= MAGIC_SIZE && (m[0] & 0xF0) == 0x50 && m[1] == 0x2A &&
                           m[2] == 0x4D && m[3] == 0x18;
    if (frame || skippable) {
        r->zst = ZSTD_createDCtx();
        if (!r->zst ||
            ZSTD_isError(ZSTD_DCtx_setParameter(r->zst, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
            return rela_fail(err, RELA_NOMEM, "%s: no memory to decompress it", r->name);
        r->coding = CODING_ZSTD;
        return RELA_OK;
    }
    r->coding = CODING_PLAIN;
    return RELA_OK;
}

static rela_status decode(rela_reader *r, char *out, size_t size, size_t *got, rela_error *err)
{
    *got = 0;
    if (r->coding == CODING_UNKNOWN) {
        const rela_status st = recognise(r, err);
        if (st != RELA_OK)
            return st;
    }
    rela_status st = r->coding == CODING_PLAIN  ? decode_plain(r, out, size, got, err)
                     : r->coding == CODING_GZIP ? decode_gzip(r, out, size, got, err)
                                                : decode_zstd(r, out, size, got, err);
    r->decoded_total += *got;
    if (st == RELA_OK && r->coding != CODING_PLAIN)
        st = check_ratio(r, err);
    return st;
}

static rela_status decode_plain(rela_reader *r, char *out, size_t size, size_t *got,
                                rela_error *err)
{
    if (r->stored_at == r->stored_len && !r->stored_end) {
        const rela_status st = fill_stored(r, err);
        if (st != RELA_OK)
            return st;
    }
    const size_t have = r->stored_len - r->stored_at;
    *got = have < size ? have : size;
    memcpy(out, r->stored + r->stored_at, *got);
    r->stored_at += *got;
    return RELA_OK;
}

static rela_status decode_gzip(rela_reader *r, char *out, size_t size, size_t *got, rela_error *err)
{
    r->gz.next_out = (unsigned char *)out;
    r->gz.avail_out = (unsigned)(size < DECODED_SIZE ? size : DECODED_SIZE);
    const unsigned room = r->gz.avail_out;
    while (r->gz.avail_out == room) {
        if (r->stored_at == r->stored_len && !r->stored_end) {
            const rela_status st = fill_stored(r, err);
            if (st != RELA_OK)
                return st;
        }
        if (r->stored_at == r->stored_len)
            return r->frame_open || r->stored_total == 0
                       ? rela_fail(err, RELA_FORMAT, "%s: compressed data is cut off", r->name)
                       : RELA_OK;
        if (!r->frame_open && r->decoded_total > 0 && r->stored[r->stored_at] != 0x1F)
            return rela_fail(err, RELA_FORMAT, "%s: garbage after the compressed data", r->name);
        r->gz.next_in = r->stored + r->stored_at;
        r->gz.avail_in = (unsigned)(r->stored_len - r->stored_at);
        r->frame_open = true;
        const int z = inflate(&r->gz, Z_NO_FLUSH);
        r->stored_at = r->stored_len - r->gz.avail_in;
        *got = room - r->gz.avail_out;
        if (z == Z_STREAM_END) {
            r->frame_open = false;
            (void)inflateReset(&r->gz); /* the next member, if any */
        } else if (z != Z_OK && z != Z_BUF_ERROR) {
            return rela_fail(err, RELA_FORMAT, "%s: damaged gzip data (%s)", r->name,
                             r->gz.msg ? r->gz.msg : "bad stream");
        }
    }
    return RELA_OK;
}

static rela_status decode_zstd(rela_reader *r, char *out, size_t size, size_t *got, rela_error *err)
{
    ZSTD_outBuffer to = { out, size, 0 };
    while (to.pos == 0) {
        if (r->stored_at == r->stored_len && !r->stored_end) {
            const rela_status st = fill_stored(r, err);
            if (st != RELA_OK)
                return st;
        }
        const bool dry = r->stored_at == r->stored_len;
        if (dry && !r->frame_open)
            return RELA_OK;
        ZSTD_inBuffer from = { r->stored, r->stored_len, r->stored_at };
        const size_t z = ZSTD_decompressStream(r->zst, &to, &from);
        r->stored_at = from.pos;
        *got = to.pos;
        if (ZSTD_isError(z))
            return rela_fail(err, RELA_FORMAT, "%s: damaged zstd data (%s)", r->name,
                             ZSTD_getErrorName(z));
        r->frame_open = z != 0;
        if (dry && to.pos == 0)
            return rela_fail(err, RELA_FORMAT, "%s: compressed data is cut off", r->name);
    }
    return RELA_OK;
}

static rela_status check_ratio(const rela_reader *r, rela_error *err)
{
    if (r->options.any_ratio || r->decoded_total <= RATIO_FREE ||
        r->decoded_total / r->options.max_ratio <= rela_reader_position(r))
        return RELA_OK;
    return rela_fail(err, RELA_FORMAT,
                     "%s: expands more than %u times; refused as a decompression bomb", r->name,
                     (unsigned)r->options.max_ratio);
}

static rela_status check_size(const rela_reader *r, rela_error *err)
{
    if (r->size == 0 || !r->own_fd || r->stored_total == r->size)
        return RELA_OK;
    return rela_fail(err, RELA_IO, "%s: changed size while it was read (%llu, then %llu bytes)",
                     r->name, (unsigned long long)r->size, (unsigned long long)r->stored_total);
}

/* Appends decoded bytes behind the unread ones. */
static rela_status more_decoded(rela_reader *r, rela_error *err)
{
    const size_t rest = r->decoded_len - r->decoded_at;
    if (r->decoded_at > 0 && rest)
        memmove(r->decoded, r->decoded + r->decoded_at, rest);
    r->decoded_at = 0;
    r->decoded_len = rest;
    char *p = rela_mem_grow(r->decoded, &r->decoded_cap, rest + DECODED_SIZE, 1);
    if (!p)
        return rela_fail(err, RELA_NOMEM, "%s: line %llu: no memory for %zu bytes", r->name,
                         (unsigned long long)(r->n_lines + 1), rest + DECODED_SIZE);
    r->decoded = p;
    size_t got = 0;
    const rela_status st = decode(r, r->decoded + rest, DECODED_SIZE, &got, err);
    r->decoded_len = rest + got;
    r->decoded_end = st == RELA_OK && got == 0;
    return st;
}

static rela_status drop_mark(rela_reader *r, rela_error *err)
{
    static const char MARK[3] = "\xEF\xBB\xBF";
    while (!r->decoded_end && r->decoded_len - r->decoded_at < sizeof MARK) {
        if (r->decoded_len > r->decoded_at &&
            memcmp(r->decoded + r->decoded_at, MARK, r->decoded_len - r->decoded_at) != 0)
            return RELA_OK; /* cannot become a mark: do not wait for more */
        const rela_status st = more_decoded(r, err);
        if (st != RELA_OK)
            return st;
    }
    if (r->decoded_total == r->decoded_len - r->decoded_at && r->decoded_total >= sizeof MARK &&
        memcmp(r->decoded + r->decoded_at, MARK, sizeof MARK) == 0) {
        r->decoded_at += sizeof MARK;
        r->had_mark = true;
    }
    return RELA_OK;
}

/* Throws away what follows of an over-long line; its beginning stays where it is. */
static rela_status skip_rest(rela_reader *r, rela_error *err)
{
    char *spare = rela_mem_alloc(DECODED_SIZE);
    if (!spare)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to skip a line", r->name);
    rela_status st = RELA_OK;
    const char *end = NULL;
    size_t got = 1;
    while (st == RELA_OK && got > 0 && !end) {
        st = decode(r, spare, DECODED_SIZE, &got, err);
        end = got ? memchr(spare, '\n', got) : NULL;
    }
    r->decoded_end = st == RELA_OK && got == 0;
    if (st == RELA_OK && end) { /* what follows the line is the next thing to be read */
        const size_t rest = got - (size_t)(end + 1 - spare);
        char *p = rela_mem_grow(r->decoded, &r->decoded_cap, r->decoded_len + rest, 1);
        if (p) {
            r->decoded = p;
            memcpy(p + r->decoded_len, end + 1, rest);
            r->decoded_len += rest;
        } else {
            st = rela_fail(err, RELA_NOMEM, "%s: no memory to skip a line", r->name);
        }
    }
    rela_mem_free(spare);
    return st;
}

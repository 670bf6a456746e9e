/* SPDX-License-Identifier: MIT */
/* src/base/file_read.c - reading half of file.h: lines, blocks of lines and whole files. */
#include "base/file.h"
#include "base/mem.h"
#include "base/stream.h"

#include <string.h>

enum { DECODED_SIZE = 256 << 10 }; /* bytes decoded at once */

struct rela_reader {
    rela_byte_stream *source;
    size_t max_line;
    char *decoded; /* bytes decoded_at .. decoded_len are still unread */
    size_t decoded_at, decoded_len, decoded_cap;
    bool decoded_end;
    bool started; /* the byte order mark has been dealt with */
    bool had_mark;
    uint64_t n_lines;
};

static rela_status start(rela_reader *r, rela_error *err);
static rela_status more_decoded(rela_reader *r, rela_error *err);
static rela_status find_line(rela_reader *r, size_t *len, bool *has_end, rela_error *err);
static rela_status skip_rest(rela_reader *r, rela_error *err);
static rela_status gather(rela_reader *r, size_t *whole, size_t want, rela_error *err);
static size_t good_lines(const rela_reader *r, size_t whole, uint64_t *n);
static size_t line_length(const char *line, size_t len);

rela_status rela_reader_open(rela_reader **out, const char *path,
                             const rela_reader_options *options, rela_error *err)
{
    static const rela_reader_options DEFAULTS = { .max_line = 0 };
    *out = NULL;
    const rela_reader_options *o = options ? options : &DEFAULTS;
    rela_reader *r = rela_mem_zalloc(sizeof *r);
    if (!r)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to read it", path);
    r->max_line = o->max_line ? o->max_line : RELA_LINE_MAX;
    const rela_status st = rela_byte_stream_open(&r->source, path, o->max_ratio, o->any_ratio, err);
    if (st != RELA_OK) {
        rela_reader_close(r);
        return st;
    }
    *out = r;
    return RELA_OK;
}

void rela_reader_close(rela_reader *r)
{
    if (!r)
        return;
    rela_byte_stream_close(r->source);
    rela_mem_free(r->decoded);
    rela_mem_free(r);
}

rela_status rela_reader_bytes(rela_reader *r, char *out, size_t size, size_t *got, rela_error *err)
{
    r->started = true; /* here a byte order mark is data */
    *got = r->decoded_len - r->decoded_at;
    if (*got == 0)
        return rela_byte_stream_bytes(r->source, out, size, got, err);
    *got = *got < size ? *got : size; /* first what line reads have buffered */
    if (*got)
        memcpy(out, r->decoded + r->decoded_at, *got);
    r->decoded_at += *got;
    return RELA_OK;
}

rela_status rela_reader_line(rela_reader *r, rela_line *line, rela_error *err)
{
    size_t len = 0;
    bool has_end = false;
    *line = (rela_line){ .number = r->n_lines + 1 };
    rela_status st = start(r, err);
    if (st == RELA_OK)
        st = find_line(r, &len, &has_end, err);
    if (st != RELA_OK || (len == 0 && !has_end))
        return st; /* failure or end of input */
    const size_t at = r->decoded_at;
    r->n_lines++;
    r->decoded_at += len + has_end;
    line->len = line_length(r->decoded + at, len);
    line->had_cr = line->len < len;
    if (line->len > r->max_line) {
        line->too_long = true;
        line->len = r->max_line;
        st = has_end ? RELA_OK : skip_rest(r, err);
    }
    line->text = r->decoded + at; /* skip_rest may have moved the buffer */
    return st;
}

rela_status rela_reader_block(rela_reader *r, rela_buffer *block, uint64_t *first, size_t want,
                              rela_error *err)
{
    size_t whole = 0;
    rela_buffer_clear(block);
    *first = r->n_lines + 1;
    rela_status st = start(r, err);
    if (st == RELA_OK)
        st = gather(r, &whole, want, err);
    if (st != RELA_OK || whole == 0)
        return st;
    uint64_t n = 0;
    const size_t good = good_lines(r, whole, &n);
    if (good == 0) /* an earlier call has returned the lines before it */
        return rela_fail(err, RELA_FORMAT, "%s: line %llu: longer than %zu bytes",
                         rela_reader_name(r), (unsigned long long)*first, r->max_line);
    st = rela_buffer_append(block, r->decoded + r->decoded_at, good, err);
    if (st == RELA_OK && block->data[good - 1] != '\n')
        st = rela_buffer_append_char(block, '\n', err);
    if (st != RELA_OK)
        return st;
    r->decoded_at += good;
    r->n_lines += n;
    return RELA_OK;
}

uint64_t rela_reader_place(const rela_reader *r)
{
    return rela_byte_stream_plain(r->source)
               ? rela_byte_stream_position(r->source) - (r->decoded_len - r->decoded_at)
               : UINT64_MAX;
}

uint64_t rela_reader_lines(const rela_reader *r)
{
    return r->n_lines;
}

rela_status rela_reader_seek(rela_reader *r, uint64_t place, uint64_t lines, rela_error *err)
{
    const uint64_t here = rela_reader_place(r), rest = r->decoded_len - r->decoded_at;
    rela_status st = RELA_OK;
    if (place == UINT64_MAX) {
        for (rela_line line = { .text = "" }; st == RELA_OK && line.text && r->n_lines < lines;)
            st = rela_reader_line(r, &line, err);
        return st;
    }
    if (here != UINT64_MAX && place >= here && place - here <= rest) {
        r->decoded_at += (size_t)(place - here);
    } else {
        st = rela_byte_stream_seek(r->source, place, err);
        r->decoded_at = r->decoded_len = 0;
        r->decoded_end = false;
    }
    r->started = place > 0;
    r->n_lines = lines;
    return st;
}

const char *rela_reader_name(const rela_reader *r)
{
    return rela_byte_stream_name(r->source);
}

uint64_t rela_reader_position(const rela_reader *r)
{
    return rela_byte_stream_position(r->source);
}

uint64_t rela_reader_size(const rela_reader *r)
{
    return rela_byte_stream_size(r->source);
}

bool rela_reader_had_mark(const rela_reader *r)
{
    return r->had_mark;
}

bool rela_next_line(rela_span *line, const char **at, const char *end)
{
    if (*at == end)
        return false;
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    const size_t len = (size_t)((stop ? stop : end) - *at);
    *line = (rela_span){ *at, line_length(*at, len) };
    *at = stop ? stop + 1 : end;
    return true;
}

/* Removes a byte order mark, without reading more bytes than needed to recognise it. */
static rela_status start(rela_reader *r, rela_error *err)
{
    static const char MARK[3] = "\xEF\xBB\xBF";
    rela_status st = r->decoded ? RELA_OK : more_decoded(r, err); /* allocates the buffer */
    while (st == RELA_OK && !r->started) {
        const size_t have = r->decoded_len - r->decoded_at;
        const size_t n = have < sizeof MARK ? have : sizeof MARK;
        const bool same = memcmp(r->decoded + r->decoded_at, MARK, n) == 0;
        if (same && n < sizeof MARK && !r->decoded_end) {
            st = more_decoded(r, err);
            continue;
        }
        r->had_mark = same && n == sizeof MARK;
        r->decoded_at += r->had_mark ? n : 0;
        r->started = true;
    }
    return st;
}

/* Appends decoded bytes after the unread ones, which move to the front. */
static rela_status more_decoded(rela_reader *r, rela_error *err)
{
    const size_t rest = r->decoded_len - r->decoded_at;
    if (r->decoded && r->decoded_at > 0 && rest)
        memmove(r->decoded, r->decoded + r->decoded_at, rest);
    r->decoded_at = 0;
    r->decoded_len = rest;
    char *p = rela_mem_grow(r->decoded, &r->decoded_cap, rest + DECODED_SIZE, 1);
    if (!p)
        return rela_fail(err, RELA_NOMEM, "%s: line %llu: no memory for %zu bytes",
                         rela_reader_name(r), (unsigned long long)r->n_lines + 1,
                         rest + DECODED_SIZE);
    r->decoded = p;
    size_t got = 0;
    const rela_status st = rela_byte_stream_bytes(r->source, p + rest, DECODED_SIZE, &got, err);
    r->decoded_len = rest + got;
    r->decoded_end = st == RELA_OK && got == 0;
    return st;
}

/* Length of the next line without LF; of one that is over-long or lacks LF, the bytes buffered. */
static rela_status find_line(rela_reader *r, size_t *len, bool *has_end, rela_error *err)
{
    for (size_t scanned = 0;;) {
        const char *at = r->decoded + r->decoded_at;
        const size_t have = r->decoded_len - r->decoded_at;
        const char *end = have > scanned ? memchr(at + scanned, '\n', have - scanned) : NULL;
        *len = end ? (size_t)(end - at) : have;
        *has_end = end != NULL;
        /* One byte over the limit may be the CR of a line end. */
        if (end || r->decoded_end || have > r->max_line + 1)
            return RELA_OK;
        scanned = have;
        const rela_status st = more_decoded(r, err);
        if (st != RELA_OK)
            return st;
    }
}

/* Discards the rest of an over-long line; its beginning stays in the buffer. */
static rela_status skip_rest(rela_reader *r, rela_error *err)
{
    char *spare = rela_mem_alloc(DECODED_SIZE);
    if (!spare)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to skip a line", rela_reader_name(r));
    rela_status st = RELA_OK;
    const char *end = NULL;
    size_t got = 1;
    while (st == RELA_OK && got > 0 && !end) {
        st = rela_byte_stream_bytes(r->source, spare, DECODED_SIZE, &got, err);
        end = got ? memchr(spare, '\n', got) : NULL;
    }
    r->decoded_end = st == RELA_OK && got == 0;
    if (st == RELA_OK && end) { /* keep what follows the line for the next read */
        const size_t rest = got - (size_t)(end + 1 - spare);
        char *p = rela_mem_grow(r->decoded, &r->decoded_cap, r->decoded_len + rest, 1);
        if (p) {
            r->decoded = p;
            memcpy(p + r->decoded_len, end + 1, rest);
            r->decoded_len += rest;
        } else {
            st = rela_fail(err, RELA_NOMEM, "%s: no memory to skip a line", rela_reader_name(r));
        }
    }
    rela_mem_free(spare);
    return st;
}

/* Reads until there are whole lines of about want bytes, or some lines and reading on would block,
 * or the input ends, or a line is too long. *whole: bytes of these lines, the last of which lacks
 * its LF only if the input has ended or it is too long. */
static rela_status gather(rela_reader *r, size_t *whole, size_t want, rela_error *err)
{
    *whole = 0;
    for (size_t scanned = 0;;) {
        const char *at = r->decoded + r->decoded_at;
        const size_t have = r->decoded_len - r->decoded_at;
        const char *last = have > scanned ? memrchr(at + scanned, '\n', have - scanned) : NULL;
        *whole = last ? (size_t)(last - at) + 1 : *whole;
        if (want > 0 && *whole >= want) { /* end at the first line end past want */
            *whole =
                (size_t)((const char *)memchr(at + want - 1, '\n', *whole - want + 1) - at) + 1;
            return RELA_OK;
        }
        if (*whole > 0 && rela_byte_stream_waits(r->source))
            return RELA_OK;
        if (r->decoded_end || have - *whole > r->max_line + 1) {
            *whole = have;
            return RELA_OK;
        }
        scanned = have;
        const rela_status st = more_decoded(r, err);
        if (st != RELA_OK)
            return st;
    }
}

/* Bytes of the lines before the first over-long one, and their number. */
static size_t good_lines(const rela_reader *r, size_t whole, uint64_t *n)
{
    const char *start = r->decoded + r->decoded_at, *at = start, *end = start + whole;
    for (rela_span line; at < end; ++*n) {
        const char *line_start = at;
        (void)rela_next_line(&line, &at, end);
        if (line.len > r->max_line)
            return (size_t)(line_start - start);
    }
    return whole;
}

/* Without the CR of a line end. */
static size_t line_length(const char *line, size_t len)
{
    return len > 0 && line[len - 1] == '\r' ? len - 1 : len;
}

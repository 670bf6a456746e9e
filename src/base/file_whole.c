/* SPDX-License-Identifier: MIT */
/* src/base/file_whole.c - parts of file.h that read a whole file into memory. */
#include "base/file.h"
#include "base/mem.h"
#include "base/stream.h"
#include "base/utf8.h"

#include <string.h>

enum {
    CHUNK = 1 << 20, /* bytes read between checks of lines */
    AROUND = 4       /* bytes of a byte order mark and a CR, which do not count */
};

/* A file while it is read, and the lines checked so far. */
typedef struct whole {
    rela_byte_stream *stream;
    rela_buffer all;
    size_t max_size, max_line; /* 0: any */
    size_t line_at;            /* offset of the first incomplete line */
    size_t n_lines;            /* complete lines before it */
} whole;

static rela_status read_all(whole *w, rela_error *err);
static rela_status check_lines(whole *w, bool ended, rela_error *err);

rela_status rela_file_read(char **out, size_t *len, const char *path, size_t max_size,
                           rela_error *err)
{
    return rela_file_read_lines(out, len, path, max_size, 0, err);
}

rela_status rela_file_read_lines(char **out, size_t *len, const char *path, size_t max_size,
                                 size_t max_line, rela_error *err)
{
    whole w = { .max_size = max_size, .max_line = max_line };
    *out = NULL;
    *len = 0;
    rela_status st = rela_byte_stream_open(&w.stream, path, 0, false, err);
    if (st == RELA_OK)
        st = read_all(&w, err);
    rela_byte_stream_close(w.stream);
    if (st != RELA_OK) {
        rela_buffer_free(&w.all);
        return st;
    }
    w.all.data[w.all.len] = '\0';
    *out = w.all.data;
    *len = w.all.len;
    return RELA_OK;
}

rela_status rela_file_count_lines(uint64_t *n, const char *path, rela_error *err)
{
    rela_reader *r = NULL;
    rela_line line = { .text = "" };
    rela_status st = rela_reader_open(&r, path, NULL, err);
    for (*n = 0; st == RELA_OK && line.text; *n += line.text != NULL)
        st = rela_reader_line(r, &line, err);
    rela_reader_close(r);
    return st;
}

static rela_status read_all(whole *w, rela_error *err)
{
    rela_buffer *all = &w->all;
    const uint64_t size = rela_byte_stream_size(w->stream);
    const uint64_t most = w->max_size ? w->max_size : UINT64_MAX;
    /* One allocation for a plain file; its size is only a hint. */
    rela_status st = rela_buffer_reserve(all, (size_t)(size < most ? size : most), err);
    size_t got = 1;
    while (st == RELA_OK && got > 0) {
        if (all->cap - all->len < 2 && (st = rela_buffer_reserve(all, all->len, err)) != RELA_OK)
            break;
        const size_t room = all->cap - all->len - 1;
        const size_t want = w->max_line && room > CHUNK ? CHUNK : room;
        st = rela_byte_stream_bytes(w->stream, all->data + all->len, want, &got, err);
        all->len += got;
        if (st == RELA_OK && w->max_size && all->len > w->max_size)
            st = rela_fail(err, RELA_FORMAT, "%s: more than %zu bytes",
                           rela_byte_stream_name(w->stream), w->max_size);
        if (st == RELA_OK && w->max_line)
            st = check_lines(w, got == 0, err);
    }
    return st;
}

static rela_status check_lines(whole *w, bool ended, rela_error *err)
{
    const char *wrong = NULL;
    char longer[64];
    while (!wrong && w->line_at < w->all.len) {
        const char *line = w->all.data + w->line_at;
        const size_t rest = w->all.len - w->line_at;
        const char *end = memchr(line, '\n', rest);
        const size_t len = end ? (size_t)(end - line) : rest;
        if (len > w->max_line + AROUND) {
            rela_format_text(longer, sizeof longer, "longer than %zu bytes", w->max_line);
            wrong = longer;
        } else if (!end && !ended) {
            return RELA_OK;
        } else if (rela_utf8_valid(line, len) != len) {
            wrong = "not valid UTF-8";
        } else {
            w->line_at += len + (end != NULL);
            w->n_lines++;
        }
    }
    if (!wrong)
        return RELA_OK;
    return rela_fail(err, RELA_FORMAT, "%s: line %zu: %s", rela_byte_stream_name(w->stream),
                     w->n_lines + 1, wrong);
}

/* SPDX-License-Identifier: MIT */
/* cli/columns.c - see columns.h. */
#include "columns.h"

#include "base/mem.h"

#include <string.h>

static rela_status open_files(rela_cli_columns *c, rela_file_set *set, rela_writer **writers,
                              const char *stem, rela_error *err);
static rela_status write_line(rela_writer **writers, size_t n, const rela_line *line,
                              rela_error *err);
static size_t count_columns(const rela_line *line);

rela_status rela_cli_columns_split(rela_cli_columns *out, const char *path, const char *stem,
                                   size_t n, rela_error *err)
{
    rela_writer *writers[RELA_CLI_COLUMNS_MAX] = { NULL };
    rela_reader *reader = NULL;
    rela_line line;
    out->n = n;
    rela_file_set *set = NULL;
    rela_status st = rela_file_set_create(&set, err);
    st = st ? st : rela_reader_open(&reader, path, NULL, err);
    while (st == RELA_OK && (st = rela_reader_line(reader, &line, err)) == RELA_OK && line.text) {
        const size_t found = line.len ? count_columns(&line) : out->n;
        if (!out->n && found >= 2 && found <= RELA_CLI_COLUMNS_MAX)
            out->n = found;
        if (line.too_long || found != out->n || found == 0)
            st = rela_fail(err, RELA_FORMAT, "%s: line %llu: %zu column%s; expected %s%zu",
                           rela_reader_name(reader), (unsigned long long)line.number, found,
                           found == 1 ? "" : "s", out->n ? "" : "2 to ",
                           out->n ? out->n : (size_t)RELA_CLI_COLUMNS_MAX);
        if (st == RELA_OK && !writers[0])
            st = open_files(out, set, writers, stem, err);
        if (st == RELA_OK)
            st = write_line(writers, out->n, &line, err);
    }
    if (st == RELA_OK && !writers[0])
        st = rela_fail(err, RELA_FORMAT, "%s: no lines", rela_reader_name(reader));
    for (size_t i = 0; i < out->n && writers[i]; i++)
        st = rela_writer_finish(writers[i], st, err);
    st = rela_file_set_finish(set, st, err);
    rela_reader_close(reader);
    return st;
}

void rela_cli_columns_free(rela_cli_columns *c)
{
    for (size_t i = 0; i < RELA_CLI_COLUMNS_MAX; i++)
        rela_mem_free(c->paths[i]);
    *c = (rela_cli_columns){ .n = 0 };
}

static rela_status open_files(rela_cli_columns *c, rela_file_set *set, rela_writer **writers,
                              const char *stem, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < c->n && st == RELA_OK; i++) {
        rela_buffer name = RELA_BUFFER_INIT;
        st = rela_buffer_printf(&name, err, "%s.%zu", stem, i + 1);
        c->paths[i] = st == RELA_OK ? name.data : NULL;
        st = st ? st : rela_writer_open_in(&writers[i], set, c->paths[i], err);
    }
    return st;
}

static rela_status write_line(rela_writer **writers, size_t n, const rela_line *line,
                              rela_error *err)
{
    const char *at = line->text, *end = at + line->len;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        const char *tab = memchr(at, '\t', (size_t)(end - at));
        const char *stop = tab ? tab : end;
        st = rela_writer_write(writers[i], at, (size_t)(stop - at), err);
        st = st ? st : rela_writer_write(writers[i], "\n", 1, err);
        at = tab ? tab + 1 : end;
    }
    return st;
}

static size_t count_columns(const rela_line *line)
{
    size_t n = 1;
    for (size_t i = 0; i < line->len; i++)
        n += line->text[i] == '\t';
    return n;
}

/* SPDX-License-Identifier: MIT */
/* src/study/manifest.c - see manifest.h. */
#include "study/manifest.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "study/arena_text.h"
#include "study/key.h"

#include <stdlib.h>
#include <string.h>

enum { MANIFEST_MAX = 16 << 20, FIELDS = 4 };

static const char HEADER[] = "name\tsize\thash\tplace\n";

typedef struct making {
    rela_arena *arena;
    rela_buffer path; /* of the folder that is listed, with a slash */
    size_t base;      /* bytes of it that are not part of names */
    rela_study_output *items;
    size_t n, room;
    bool timings;
} making;

static rela_status add_entry(void *ctx, const char *name, rela_error *err);
static rela_status add_file(making *m, rela_error *err);
static bool is_small(const char *name);
static int compare(const void *a, const void *b);
static rela_status read_row(rela_study_output *o, rela_arena *arena, rela_span line,
                            const char *path, size_t number, rela_error *err);

rela_status rela_study_manifest_make(rela_study_output **out, size_t *n, rela_arena *arena,
                                     const char *folder, bool timings, rela_error *err)
{
    making m = { .arena = arena, .timings = timings };
    rela_status st = rela_buffer_printf(&m.path, err, "%s/", folder);
    m.base = m.path.len;
    *out = NULL;
    *n = 0;
    st = st ? st : rela_dir_list(folder, add_entry, &m, err);
    if (st == RELA_OK) {
        if (m.n)
            qsort(m.items, m.n, sizeof *m.items, compare);
        *out = rela_arena_array(arena, m.n, sizeof **out);
        if (!*out)
            st = rela_fail(err, RELA_NOMEM, "%s: no memory to list it", folder);
        else if (m.n)
            memcpy(*out, m.items, m.n * sizeof **out);
        *n = m.n;
    }
    rela_mem_free(m.items);
    rela_buffer_free(&m.path);
    return st;
}

static rela_status add_entry(void *ctx, const char *name, rela_error *err)
{
    making *m = ctx;
    const size_t len = m->path.len;
    rela_status st = rela_buffer_append_text(&m->path, name, err);
    if (st == RELA_OK && rela_dir_exists(m->path.data)) {
        st = rela_buffer_append_char(&m->path, '/', err);
        st = st ? st : rela_dir_list(m->path.data, add_entry, m, err);
    } else if (st == RELA_OK && !rela_file_temporary(name)) {
        st = add_file(m, err);
    }
    m->path.len = len;
    if (m->path.data)
        m->path.data[len] = '\0';
    return st;
}

static rela_status add_file(making *m, rela_error *err)
{
    if (m->n == m->room) {
        rela_study_output *grown = rela_mem_grow(m->items, &m->room, m->n + 1, sizeof *grown);
        if (!grown)
            return rela_fail(err, RELA_NOMEM, "%s: no memory to list it", m->path.data);
        m->items = grown;
    }
    rela_study_output *o = &m->items[m->n];
    *o = (rela_study_output){ .hash = "-" };
    o->name = rela_arena_copy(m->arena, m->path.data + m->base, m->path.len - m->base);
    if (!o->name)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to list it", m->path.data);
    if (strpbrk(o->name, "\t\n"))
        return rela_fail(err, RELA_FORMAT, "%s: a tab or line end in the name", m->path.data);
    o->small = m->timings || is_small(o->name);
    m->n++;
    return m->timings ? RELA_OK : rela_study_hash_file(o->hash, &o->size, m->path.data, err);
}

/* Tables and figures of a few kilobytes; text of corpora never ends like this. */
static bool is_small(const char *name)
{
    static const char *const ENDS[] = { ".tsv", ".tsv.gz", ".json", ".yml", ".txt" };
    const size_t len = strlen(name);
    for (size_t i = 0; i < sizeof ENDS / sizeof ENDS[0]; i++) {
        const size_t end = strlen(ENDS[i]);
        if (len > end && strcmp(name + len - end, ENDS[i]) == 0)
            return true;
    }
    return false;
}

static int compare(const void *a, const void *b)
{
    const rela_study_output *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static const char *place_of(const rela_study_output *o)
{
    return strcmp(o->hash, "-") == 0 ? "timing" : o->small ? "small" : "big";
}

rela_status rela_study_manifest_write(const char *path, const rela_study_output *outputs, size_t n,
                                      bool durable, rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_append_text(&text, HEADER, err);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = rela_buffer_printf(&text, err, "%s\t%llu\t%s\t%s\n", outputs[i].name,
                                (unsigned long long)outputs[i].size, outputs[i].hash,
                                place_of(&outputs[i]));
    if (st == RELA_OK)
        st = durable ? rela_file_write(path, text.data, text.len, err)
                     : rela_file_note(path, text.data, text.len, err);
    rela_buffer_free(&text);
    return st;
}

rela_status rela_study_manifest_read(rela_study_output **out, size_t *n, rela_arena *arena,
                                     const char *path, rela_error *err)
{
    char *text = NULL;
    size_t len = 0, lines = 0, number = 0;
    *out = NULL;
    *n = 0;
    rela_status st = rela_file_read(&text, &len, path, MANIFEST_MAX, err);
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    rela_span line;
    const char *at = text;
    if (st == RELA_OK && (len < sizeof HEADER - 1 || memcmp(text, HEADER, sizeof HEADER - 1) != 0))
        st = rela_fail(err, RELA_FORMAT, "%s: line 1: not a manifest", path);
    if (st == RELA_OK && !(*out = rela_arena_array(arena, lines, sizeof **out)))
        st = rela_fail(err, RELA_NOMEM, "%s: no memory to read it", path);
    while (st == RELA_OK && rela_next_line(&line, &at, text + len))
        if (++number > 1)
            st = read_row(&(*out)[(*n)++], arena, line, path, number, err);
    rela_mem_free(text);
    return st;
}

static rela_status read_row(rela_study_output *o, rela_arena *arena, rela_span line,
                            const char *path, size_t number, rela_error *err)
{
    rela_span fields[FIELDS];
    size_t n = 0;
    const char *start = line.text, *end = line.text + line.len;
    for (const char *p = start; p <= end; p++)
        if (p == end || *p == '\t') {
            if (n < FIELDS)
                fields[n] = (rela_span){ start, (size_t)(p - start) };
            n++;
            start = p + 1;
        }
    int64_t size = 0;
    char digits[32] = "";
    const bool fits = n == FIELDS && fields[1].len < sizeof digits &&
                      fields[2].len < RELA_STUDY_KEY_SIZE && fields[0].len > 0;
    if (fits)
        memcpy(digits, fields[1].text, fields[1].len);
    const bool small = fits && rela_span_is(fields[3], "small");
    const bool big = fits && rela_span_is(fields[3], "big");
    const bool timing = fits && rela_span_is(fields[3], "timing");
    if (!fits || !rela_parse_i64(&size, digits) || size < 0 || !(small || big || timing) ||
        (!timing && fields[2].len != RELA_STUDY_KEY_SIZE - 1))
        return rela_fail(err, RELA_FORMAT, "%s: line %zu: expected name, size, hash and place",
                         path, number);
    *o = (rela_study_output){ .size = (uint64_t)size, .small = small || timing };
    memcpy(o->hash, fields[2].text, fields[2].len);
    o->name = rela_arena_copy(arena, fields[0].text, fields[0].len);
    return o->name ? RELA_OK : rela_fail(err, RELA_NOMEM, "%s: no memory to read it", path);
}

const rela_study_output *rela_study_find_output(const rela_study_job *job, const char *name)
{
    for (size_t i = 0; i < job->n_outputs; i++)
        if (strcmp(job->outputs[i].name, name) == 0)
            return &job->outputs[i];
    return NULL;
}
